/*
 * google.rpc.Status: code, message and details, from grpc-status-details-bin or
 * from within an answer; and the same from the JSON of REST. What is kept of the
 * details has a limit at birth; unknown ones are passed over.
 */
#ifndef WEIR_GOOGLE_STATUS_H
#define WEIR_GOOGLE_STATUS_H

#include "google/answer.h"
#include "google/proto.h"

#define STATUS_VIOLATIONS 8 /* of a request, a quota or a precondition: the first ones are shown */

struct status_violation {
	char subject[160]; /* field, quota's subject, precondition's type */
	char text[320];
};

struct google_status {
	enum grpc_code code;       /* GRPC_ANY: not said */
	char message[512];
	char reason[64];           /* ErrorInfo, or the first of REST's "errors" */
	char domain[128];
	int64_t retry_delay_ms;    /* RetryInfo; -1: none */
	struct status_violation violations[STATUS_VIOLATIONS]; /* BadRequest, QuotaFailure, PreconditionFailure */
	size_t violation_count;    /* there may have been more */
	char resource[256];        /* ResourceInfo: "type name" */
	char request_id[80];       /* RequestInfo, for a question to Google */
	char help_url[256];
	int32_t storage_code;      /* StorageError of the Storage Write API; 0: none */
	char storage_entity[256];
	char storage_message[320];
};

/* The serialised message. False: broken (then *out is not touched). */
bool status_read(struct span bytes, struct google_status *out);
/* The value of a grpc-status-details-bin header: base64, padded or not; of several joined by commas the first. */
bool status_read_header(struct span value, struct google_status *out);
/* The body of a REST answer: {"error":{...}}, or that in a list of one. False: it is neither. Limits as above. */
bool status_read_json(struct span body, struct google_status *out);

/* ErrorInfo's metadata one by one (Pub/Sub says there what became of each acknowledgement): `bytes` is the serialised
 * Status. False: broken. */
bool status_metadata(struct span bytes, void (*on_pair)(void *context, struct span key, struct span value), void *context);
/* The same of a grpc-status-details-bin header (grpc_result.details). */
bool status_metadata_header(struct span value, void (*on_pair)(void *context, struct span key, struct span value),
                            void *context);

#endif
