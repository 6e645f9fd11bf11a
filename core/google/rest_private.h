/* What the rooms of REST share. */
#ifndef WEIR_GOOGLE_REST_PRIVATE_H
#define WEIR_GOOGLE_REST_PRIVATE_H

#include "google/endpoint.h"
#include "google/rest.h"
#include "google/wait.h"

#include <curl/curl.h>
#include <stdatomic.h>

#define REST_HEADERS_MAX 65536
#define REST_TEXT_BYTES 300

enum rest_state { REST_TRYING, REST_RESTING, REST_DONE, REST_TAKEN };

struct rest_call {
	struct rest_client *client;
	struct rest_call *before, *after; /* of the client's */
	enum rest_state state;
	CURL *easy;
	struct curl_slist *headers;
	char *what, *method, *url;
	char *body_bytes;
	struct span body;
	struct rest_request request;      /* its texts are the copies above */
	struct text *answer;
	size_t header_bytes;
	bool is_too_large, is_not_local;
	char error[CURL_ERROR_SIZE];

	unsigned tries;
	int64_t begun_ms, deadline_at_ms, next_try_ms;
	struct backoff backoff;

	/* What came of the last try. */
	int status;
	struct google_status said;        /* of the body, if it said anything */
	const struct answer_row *row;
	int64_t retry_after_ms;           /* asked for; -1 not */
};

struct rest_client {
	struct rest_setup setup;
	char *ca_file, *proxy, *user_agent;
	CURLM *multi;
	atomic_bool is_woken;
	struct rest_call *calls;
};

/* One try (rest_try.c). */
void rest_try_prepare(struct rest_call *call);
void rest_try_begin(struct rest_call *call);
/* What it came to: status, row, retry_after_ms. */
void rest_try_judge(struct rest_call *call, CURLcode result);

#endif
