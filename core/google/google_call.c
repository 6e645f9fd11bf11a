/* Calls with a token, by gRPC and by REST: what goes with each, and the second try of one whose token was not taken. */
#include "google/google_private.h"

#include "base/arena.h"
#include "base/clock.h"
#include "google/grpc_private.h"
#include "google/wait.h"

#include <assert.h>
#include <stdlib.h>

#define BEARER "Bearer "
#define OWN_PAIRS 3 /* authorization, x-goog-request-params, x-goog-user-project */

/* What a call carries besides its own. To be freed when the call has copied it. */
struct ticket {
	char *authorization;  /* NULL: emulators get none */
	const char *quota_project;
	uint64_t number;      /* of the token; 0: none */
};

static void ticket_free(struct ticket *ticket)
{
	if (ticket->authorization)
		explicit_bzero(ticket->authorization, strlen(ticket->authorization));
	free(ticket->authorization);
}

static bool ticket_get(struct google *google, const struct endpoint *endpoint, struct ticket *out, struct error *err)
{
	struct credentials *credentials;
	struct token_lease lease;
	size_t len;

	*out = (struct ticket){ .quota_project = google_own_quota_project(google) };
	if (endpoint->is_emulator)
		return true;
	credentials = google_credentials(google, err);
	if (!credentials || !credentials_token(credentials, &lease, err))
		return false;
	len = secret_length(lease.value);
	out->authorization = memory_zalloc(sizeof(BEARER) + len);
	memcpy(out->authorization, BEARER, sizeof(BEARER) - 1);
	memcpy(out->authorization + sizeof(BEARER) - 1, secret_look(lease.value), len);
	if (!out->quota_project)
		out->quota_project = credentials_quota_project(credentials);
	out->number = lease.number;
	token_lease_free(&lease);
	return true;
}

static struct grpc_pair *add_pair(struct grpc_pair *at, const char *name, const char *value)
{
	if (value)
		*at++ = (struct grpc_pair){ name, value };
	return at;
}

struct grpc_call *google_start(struct google *google, enum google_service service, const struct grpc_request *request,
                               const char *params, uint64_t *out_token, struct error *err)
{
	struct grpc_client *client = google_grpc(google, service, err);
	struct grpc_request whole = *request;
	struct grpc_pair pairs[GRPC_PAIRS_MAX], *end = pairs;
	const struct endpoint *endpoint;
	struct ticket ticket;
	struct grpc_call *call;

	assert(request->metadata_count + OWN_PAIRS <= GRPC_PAIRS_MAX);
	if (!client || !google_endpoint(google, service, &endpoint, err) || !ticket_get(google, endpoint, &ticket, err))
		return NULL;
	for (size_t i = 0; i < request->metadata_count; i++)
		*end++ = request->metadata[i];
	end = add_pair(end, "authorization", ticket.authorization);
	end = add_pair(end, "x-goog-request-params", params);
	end = add_pair(end, "x-goog-user-project", ticket.quota_project);
	whole.metadata = pairs;
	whole.metadata_count = (size_t)(end - pairs);
	call = grpc_start(client, &whole);
	*out_token = ticket.number;
	ticket_free(&ticket);
	return call;
}

bool google_ended(struct google *google, uint64_t token, enum grpc_code code)
{
	struct answer_facts facts = { .code = code };
	struct credentials *credentials = token ? google_credentials(google, NULL) : NULL;

	if (!credentials)
		return false;
	if (code == GRPC_UNAUTHENTICATED)
		return credentials_refused(credentials, token, 0);
	/* The server has read the call; whether it liked it is not the token's matter. */
	if (code == GRPC_OK || !answer_judge(&facts)->may_renew_token)
		credentials_accepted(credentials, token);
	return false;
}

/* A call that never reached a server says nothing of its token. */
static bool tell_end(struct google *google, uint64_t token, struct grpc_call *call)
{
	struct grpc_result result = grpc_result(call);

	return (result.http_status || result.code == GRPC_OK) && google_ended(google, token, result.code);
}

/* One try; *out_again: its token was not taken. */
static bool unary_once(struct google *google, enum google_service service, const struct grpc_request *request,
                       const char *params, const char *what, struct span message, struct grpc_message **out,
                       struct google_status *out_status, bool *out_again, struct error *err)
{
	uint64_t token;
	struct grpc_call *call = google_start(google, service, request, params, &token, err);
	bool is_fine;

	*out_again = false;
	if (!call)
		return false;
	grpc_send(call, message, true, -1);
	is_fine = grpc_take_only(call, what, out, err);
	*out_again = tell_end(google, token, call) && !is_fine;
	if (out_status)
		grpc_status(call, out_status);
	grpc_call_free(call);
	return is_fine;
}

bool google_unary(struct google *google, enum google_service service, const struct grpc_request *request,
                  const char *params, const char *what, struct span message, struct grpc_message **out,
                  struct google_status *out_status, struct error *err)
{
	struct error failure = { 0 };
	bool again;

	if (out_status)
		*out_status = (struct google_status){ .code = GRPC_ANY, .retry_delay_ms = -1 };
	if (unary_once(google, service, request, params, what, message, out, out_status, &again, &failure))
		return true;
	if (again) {
		failure = (struct error){ 0 };
		if (unary_once(google, service, request, params, what, message, out, out_status, &again, &failure))
			return true;
	}
	if (err)
		*err = failure;
	return false;
}

/*
 * REST
 */

static bool url_make(const struct endpoint *endpoint, const struct rest_request *request, struct text *out, struct error *err)
{
	if (request->is_from_root)
		text_add_format(out, "%s://%s", endpoint->is_plain ? "http" : "https", endpoint->authority);
	else
		text_add(out, request->goes_up ? endpoint->upload : endpoint->base);
	if (text_add(out, request->url))
		return true;
	return fail(err, ERROR_BUG, "internal_error", "%s: the address is longer than 8 KiB", request->what);
}

struct rest_call *google_rest_start(struct google *google, struct rest_client *client, enum google_service service,
                                    const struct rest_request *request, uint64_t *out_token, struct error *err)
{
	struct rest_request whole = *request;
	struct rest_pair pairs[GRPC_PAIRS_MAX];
	const struct endpoint *endpoint;
	struct ticket ticket;
	struct rest_call *call;
	OWNED(text) url = text_new(8192);

	assert(request->header_count + 1 <= GRPC_PAIRS_MAX);
	if (!google_endpoint(google, service, &endpoint, err) || !url_make(endpoint, request, url, err))
		return NULL;
	if (!ticket_get(google, endpoint, &ticket, err))
		return NULL;
	for (size_t i = 0; i < request->header_count; i++)
		pairs[i] = request->headers[i];
	if (ticket.quota_project)
		pairs[whole.header_count++] = (struct rest_pair){ "x-goog-user-project", ticket.quota_project };
	whole.url = url->at;
	whole.headers = pairs;
	whole.authorization = ticket.authorization;
	whole.is_local = endpoint->is_emulator;
	call = rest_start(client, &whole);
	*out_token = ticket.number;
	ticket_free(&ticket);
	return call;
}

static int64_t date_of(struct rest_call *call)
{
	const char *date = rest_header(call, "date");
	int64_t utc_s = 0;

	return date && wait_read_date(span_of(date), clock_utc_us(), &utc_s) ? utc_s : 0;
}

bool google_rest_result(struct google *google, struct rest_call *call, uint64_t token, struct rest_answer *out,
                        bool *out_again, struct error *err)
{
	bool is_fine = rest_result(call, out, err), again = false;
	struct credentials *credentials = token ? google_credentials(google, NULL) : NULL;

	if (credentials && !is_fine && out->row->may_renew_token)
		again = credentials_refused(credentials, token, date_of(call));
	else if (credentials && out->status)
		credentials_accepted(credentials, token);
	if (out_again)
		*out_again = again;
	return is_fine;
}

static bool rest_once(struct google *google, struct rest_client *client, enum google_service service,
                      const struct rest_request *request, struct rest_call **out_call, struct rest_answer *out,
                      bool *out_again, struct error *err)
{
	uint64_t token;
	struct rest_call *call = *out_call = google_rest_start(google, client, service, request, &token, err);

	*out_again = false;
	if (!call)
		return false;
	rest_finish(client, call);
	return google_rest_result(google, call, token, out, out_again, err);
}

bool google_rest(struct google *google, struct rest_client *client, enum google_service service,
                 const struct rest_request *request, struct rest_call **out_call, struct rest_answer *out,
                 struct error *err)
{
	struct error failure = { 0 };
	bool again, is_fine = rest_once(google, client, service, request, out_call, out, &again, &failure);

	if (!is_fine && again) {
		rest_call_free(*out_call);
		failure = (struct error){ 0 };
		is_fine = rest_once(google, client, service, request, out_call, out, &again, &failure);
	}
	if (!is_fine && err)
		*err = failure;
	return is_fine;
}
