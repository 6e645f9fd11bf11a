/* How a call ended, in the words of those who ask: result, status, error. */
#include "google/grpc_private.h"

#include "base/arena.h"

#include <stdlib.h>

struct grpc_result grpc_result(struct grpc_call *call)
{
	struct grpc_result result;

	pthread_mutex_lock(&call->client->lock);
	result = (struct grpc_result){
		.code = call->code,
		.http_status = call->http_status,
		.reason = call->reason,
		.message = call->message,
		.was_begun = call->was_begun,
		.details = span_of(call->details ? call->details : ""),
	};
	client_unlock(call->client);
	return result;
}

/* Code and message are the trailers': what the details repeat of them is not looked at. */
void grpc_status(struct grpc_call *call, struct google_status *out)
{
	struct grpc_result result = grpc_result(call);
	struct google_status status;

	if (!result.details.len || !status_read_header(result.details, &status))
		status = (struct google_status){ .retry_delay_ms = -1 };
	status.code = result.code;
	snprintf(status.message, sizeof(status.message), "%s", result.message);
	if (result.reason[0])
		snprintf(status.reason, sizeof(status.reason), "%s", result.reason);
	*out = status;
}

bool grpc_check(struct grpc_call *call, const char *what, struct error *err)
{
	struct grpc_result result = grpc_result(call);
	struct google_status *status;
	struct answer_facts facts;

	if (result.code == GRPC_OK)
		return true;
	if (strcmp(result.reason, GIVEN_UP) == 0)
		return fail(err, ERROR_CANCELLED, "cancelled", "%s: the call was given up", what);
	/* Its details make it large; a caller's stack may be small. */
	status = memory_alloc(sizeof(*status));
	grpc_status(call, status);
	facts = (struct answer_facts){ result.http_status, result.code, span_of(status->reason) };
	answer_fail(err, answer_judge(&facts), what, span_of(status->message),
	            status->retry_delay_ms > 0 ? status->retry_delay_ms : 0);
	free(status);
	return false;
}

bool grpc_take_only(struct grpc_call *call, const char *what, struct grpc_message **out, struct error *err)
{
	struct grpc_message *message = NULL, *second = NULL;
	enum grpc_outcome outcome = grpc_receive(call, &message, -1);

	if (outcome == GRPC_DONE)
		outcome = grpc_receive(call, &second, -1);
	if (outcome == GRPC_ENDED && grpc_check(call, what, err) && message) {
		*out = message;
		return true;
	}
	if (outcome == GRPC_DONE || grpc_result(call).code == GRPC_OK) {
		struct answer_facts facts = { .http_status = 200, .code = GRPC_ANY, .reason = SPAN("malformed") };

		answer_fail(err, answer_judge(&facts), what, span_of(second ? "two messages came" : "no message came"), 0);
	}
	grpc_message_free(second);
	grpc_message_free(message);
	return false;
}

bool grpc_unary(struct grpc_client *client, const struct grpc_request *request, const char *what, struct span message,
                struct grpc_message **out, struct error *err)
{
	struct grpc_call *call = grpc_start(client, request);
	bool is_fine;

	grpc_send(call, message, true, -1);
	is_fine = grpc_take_only(call, what, out, err);
	grpc_call_free(call);
	return is_fine;
}
