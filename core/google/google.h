/*
 * What one job has of Google: its credentials, and one gRPC client a service. Both
 * come about with the first call that needs them: a job on an emulator never looks
 * for credentials, one without Google has no thread and no connection.
 *
 * Calls made here carry the token, the project that pays and the routing header;
 * one whose token was not taken is made once more with another. May be used by all
 * threads of the job at once (source, sink, checks); a REST client belongs to one
 * thread, so whoever calls REST brings its own (rest_open).
 */
#ifndef WEIR_GOOGLE_GOOGLE_H
#define WEIR_GOOGLE_GOOGLE_H

#include "google/credentials.h"
#include "google/grpc.h"
#include "google/rest.h"

struct google;

/* All is copied but allowed_hosts, which is lent until google_close. */
struct google_setup {
	const char *credentials_file;              /* NULL */
	const struct secret *credentials_content;  /* of such a file, from the vault; NULL. Neither: Google's default chain */
	const char *credentials_name;              /* in messages: "vault:prod-key" */
	const char *const *allowed_hosts;          /* for tokens; see credentials_setup */
	const char *project;                       /* the job's; NULL: the credentials' */
	const char *quota_project;                 /* pays for every call (x-goog-user-project); NULL: the credentials' */
	const char *ca_file;                       /* PEM: trusted instead of the system's; NULL */
};

/* Opens nothing yet. */
struct google *google_open(const struct google_setup *setup);
/* All calls and REST clients must have been given back. NULL is fine. */
void google_close(struct google *google);

/* Lent. False: an override that cannot be read, an emulator elsewhere. */
bool google_endpoint(struct google *google, enum google_service service, const struct endpoint **out, struct error *err);
/* The job's project, else the credentials'; lent, NULL: none is known. May look for credentials. */
const char *google_project(struct google *google);
/* The project that pays for calls: the job's quotaProject, else what the credentials name; lent, NULL: the project that the
 * account belongs to, or whose tables are written. May look for credentials. */
const char *google_quota_project(struct google *google);
/* PEM that is trusted instead of the system's, for a REST client of the caller's own; lent, NULL: the system's. */
const char *google_ca_file(const struct google *google);
/* Does this service lead to an emulator? Every screen shows it. */
bool google_is_emulated(struct google *google, enum google_service service);
/* What a screen says of the credentials; false: they have not been needed yet. */
bool google_look(struct google *google, struct credentials_view *out);

/* The client of a service, made when first asked for; lent until google_close. */
struct grpc_client *google_grpc(struct google *google, enum google_service service, struct error *err);

/* A call with a token. `params`: x-goog-request-params ("subscription=projects/p/subscriptions/s", values percent-encoded
 * by the caller where they need it), NULL none; the request's own metadata is added. *out_token is for google_ended. NULL:
 * no token to be had, no such endpoint. */
struct grpc_call *google_start(struct google *google, enum google_service service, const struct grpc_request *request,
                               const char *params, uint64_t *out_token, struct error *err);
/* Tells the credentials how the call ended (code OK, or any other). True: its token was not taken, and the call is worth
 * one more try. To be called once for each call of google_start, when it has ended or has had its first answer; once more if a
 * stream that had answers ends UNAUTHENTICATED: its token was over, or revoked, meanwhile. */
bool google_ended(struct google *google, uint64_t token, enum grpc_code code);
/* One message there, one back, which the caller frees; made again with another token if it was not taken. *out_status, if
 * not NULL, has code and details of the last try (also of one that worked). */
bool google_unary(struct google *google, enum google_service service, const struct grpc_request *request,
                  const char *params, const char *what, struct span message, struct grpc_message **out,
                  struct google_status *out_status, struct error *err);

/* A REST call to a service: request->url is the path behind the endpoint's base ("/projects/p/datasets/d/tables/t?x=y"),
 * filled in here with the token and the emulator's mark; everything else as rest.h says. rest_start alone: */
struct rest_call *google_rest_start(struct google *google, struct rest_client *client, enum google_service service,
                                    const struct rest_request *request, uint64_t *out_token, struct error *err);
/* rest_result, told to the credentials. *out_again, if not NULL: the token was not taken, one more try is worth it. */
bool google_rest_result(struct google *google, struct rest_call *call, uint64_t token, struct rest_answer *out,
                        bool *out_again, struct error *err);
/* One call and nothing else meanwhile, with the second try. The caller frees *out_call, which may be NULL. */
bool google_rest(struct google *google, struct rest_client *client, enum google_service service,
                 const struct rest_request *request, struct rest_call **out_call, struct rest_answer *out,
                 struct error *err);

#endif
