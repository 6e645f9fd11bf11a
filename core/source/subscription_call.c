/*
 * One call of Pub/Sub's administration: made again while what failed passes and there is time
 * (0.1 s, 1.3 times longer each, as the services' own retry configuration says).
 */
#include "source/subscription_private.h"

#include "base/clock.h"
#include "google/wait.h"

#define FIRST_WAIT_MS 100
#define MOST_WAIT_MS 60000
#define TRIES 5

static bool passes(enum grpc_code code, unsigned retried)
{
	return code >= 0 && code < 32 && (retried >> code & 1);
}

/* What was asked for is kept to, also when it is more than there is time for: then there is no more try. */
static int64_t pause_ms(struct backoff *backoff, const struct google_status *status)
{
	return backoff_next(backoff, status->retry_delay_ms > 0 ? status->retry_delay_ms : 0);
}

bool admin_call(struct google *google, const struct admin_call *call, struct grpc_message **out, enum grpc_code *out_code,
                struct error *err)
{
	struct backoff backoff = BACKOFF(FIRST_WAIT_MS, MOST_WAIT_MS, 1.3);
	int64_t until_ms = clock_mono_ms() + call->wait_ms;
	OWNED(text) params = text_new(3 * PUBSUB_NAME_BYTES + 64);
	struct google_status status;
	struct error failure;

	pubsub_params(params, call->key, call->name);
	for (int tries = 1;; tries++) {
		int64_t left_ms = until_ms - clock_mono_ms(), wait_ms;
		struct grpc_request request = { .path = call->path, .deadline_ms = left_ms > 1 ? left_ms : 1 };

		failure = (struct error){ 0 };
		if (google_unary(google, SERVICE_PUBSUB, &request, params->at, call->what, text_span(call->message), out, &status,
		                 &failure)) {
			if (out_code)
				*out_code = GRPC_OK;
			return true;
		}
		wait_ms = pause_ms(&backoff, &status);
		if (tries == TRIES || !passes(status.code, call->retried) || clock_mono_ms() + wait_ms >= until_ms)
			break;
		clock_sleep_ms(wait_ms);
	}
	if (out_code)
		*out_code = status.code;
	if (err)
		*err = failure;
	return false;
}

bool admin_call_only(struct google *google, const struct admin_call *call, enum grpc_code *out_code, struct error *err)
{
	struct grpc_message *answer = NULL;
	bool is_fine = admin_call(google, call, &answer, out_code, err);

	if (is_fine)
		grpc_message_free(answer);
	return is_fine;
}

bool admin_broken(const char *what, struct error *err)
{
	return fail(err, ERROR_TRANSIENT, "google_bad_answer", "%s: the answer cannot be read", what);
}
