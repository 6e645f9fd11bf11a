/*
 * A subscription's stream: opened, kept alive, opened again; what comes of it. Who may
 * know first asks the subscription what it is (errand_ask), so that a lease is never
 * shorter than its own deadline.
 */
#include "base/clock.h"
#include "source/pubsub_private.h"

#include <stdlib.h>

#define STREAM_PATH "/google.pubsub.v1.Subscriber/StreamingPull"
#define PROTOCOL_VERSION 1     /* we understand the server's own keep-alives */
#define OK_LEAST_MS 100        /* a stream that the server ends sooner is not opened again at once */
#define HELD_BACK_LOOK_MS 20

/* Numbers of fields (spec/apis-grpc.md 4.2). */
enum { PULL_SUBSCRIPTION = 1, PULL_DEADLINE = 5, PULL_CLIENT = 6, PULL_MESSAGES = 7, PULL_BYTES = 8, PULL_VERSION = 10 };

void channel_begin(struct channel *channel, struct pubsub *of, uint32_t index, const char *name, const char *project)
{
	struct text *params = text_new(4 * PUBSUB_NAME_BYTES);

	channel->of = of;
	channel->index = index;
	snprintf(channel->name, sizeof(channel->name), "%s", name);
	channel->shown = pubsub_shown_name(channel->name, project);
	pubsub_params(params, "subscription", name);
	channel->params = text_take(params);
	text_free(params);
	channel->wait = (struct backoff)BACKOFF(100, 10000, 2);
	channel->has_dead_letters = true;
	channel->lease.least_ms = UNKNOWN_DEADLINE_MS;
	channel->acks = text_new(REQUEST_BYTES + ACK_ID_BYTES_MAX + PUBSUB_NAME_BYTES);
}

void channel_end(struct channel *channel)
{
	channel_stop(channel);
	text_free(channel->acks);
	free(channel->params);
}

void channel_stop(struct channel *channel)
{
	if (channel->stream && !channel->token_told)
		google_ended(channel->of->google, channel->token, GRPC_CANCELLED);
	grpc_call_free(channel->stream);
	channel->stream = NULL;
}

int64_t channel_lease_ms(const struct channel *channel)
{
	return lease_wanted_ms(&channel->lease, channel->of->latency_ms);
}

/*
 * How it goes
 */

bool failure_passes(const struct error *failure)
{
	return error_policies[failure->kind].batch == BATCH_RETRY;
}

static void is_up(struct channel *channel, int64_t now_ms)
{
	backoff_reset(&channel->wait);
	channel->failure = (struct error){ 0 };
	channel->down_ms = channel->down_us = 0;
	if (!channel->up_ms)
		channel->up_ms = now_ms;
}

void channel_fail(struct channel *channel, const struct error *failure, int64_t now_ms)
{
	int64_t asked_ms = failure->retry_after_ms;

	if (!failure_passes(failure)) {
		/* It may be another one when it is there again. */
		channel->is_known = false;
		asked_ms = asked_ms > 1000 ? asked_ms : 1000;
	}
	channel->failure = *failure;
	channel->up_ms = 0;
	if (!channel->down_ms) {
		channel->down_ms = now_ms;
		channel->down_us = clock_utc_us();
	}
	channel->retry_ms = now_ms + backoff_next(&channel->wait, asked_ms);
	channel->retry_utc_us = clock_utc_us() + (channel->retry_ms - now_ms) * 1000;
}

/*
 * Opening and keeping alive
 */

static int64_t share(int64_t of, size_t channels, int64_t least)
{
	return of / (int64_t)channels > least ? of / (int64_t)channels : least;
}

static void put_first_request(struct channel *channel, struct text *out)
{
	size_t channels = channel->of->channel_count;

	channel->told_lease_ms = channel_lease_ms(channel);
	proto_put_text(out, PULL_SUBSCRIPTION, channel->name);
	proto_put_int(out, PULL_DEADLINE, channel->told_lease_ms / 1000);
	proto_put_text(out, PULL_CLIENT, channel->of->client_id);
	proto_put_int(out, PULL_MESSAGES, share(OUTSTANDING_MESSAGES, channels, CHANNEL_MESSAGES_LEAST));
	proto_put_int(out, PULL_BYTES, share(OUTSTANDING_BYTES, channels, CHANNEL_BYTES_LEAST));
	proto_put_int(out, PULL_VERSION, PROTOCOL_VERSION);
}

static void open_stream(struct channel *channel, int64_t now_ms)
{
	OWNED(text) first = text_new(1024);
	struct error failure = { 0 };
	struct grpc_request request = {
		.path = STREAM_PATH,
		.on_ready = pubsub_on_ready,
		.context = channel->of,
	};

	channel->stream = google_start(channel->of->google, SERVICE_PUBSUB, &request, channel->params, &channel->token,
	                               &failure);
	if (!channel->stream) {
		channel_fail(channel, &failure, now_ms);
		return;
	}
	put_first_request(channel, first);
	grpc_send(channel->stream, text_span(first), false, 0);
	if (channel->of->was_killed && !channel->opened_ms)
		channel->lost_until_ms = now_ms + channel->told_lease_ms + LOST_MORE_MS;
	channel->token_told = channel->has_answered = false;
	channel->opened_ms = channel->pinged_ms = now_ms;
}

/* An empty request says that we live; a lease that has grown is told with it. */
static void ping(struct channel *channel, int64_t now_ms)
{
	OWNED(text) request = text_new(64);
	int64_t lease = channel_lease_ms(channel);

	if (lease != channel->told_lease_ms)
		proto_put_int(request, PULL_DEADLINE, lease / 1000);
	channel->told_lease_ms = lease;
	channel->pinged_ms = now_ms;
	grpc_send(channel->stream, text_span(request), false, 0);
}

/*
 * The end of a stream
 */

static void say_what(const struct channel *channel, char *out, size_t room)
{
	snprintf(out, room, "subscription %.300s", channel->shown);
}

/* What has lived is opened again without a word; servers end streams all the time. */
static void is_over(struct channel *channel, const struct error *failure, int64_t now_ms)
{
	bool has_lived = channel->has_answered || now_ms - channel->opened_ms >= SETTLED_MS;

	channel->restarts++;
	channel->lost_until_ms = now_ms + channel->told_lease_ms + LOST_MORE_MS;
	if (failure->kind == ERROR_NONE && now_ms - channel->opened_ms >= OK_LEAST_MS) {
		channel->retry_ms = now_ms;
	} else if (has_lived && (failure->kind == ERROR_NONE || failure_passes(failure))) {
		is_up(channel, now_ms);
		channel->retry_ms = now_ms + backoff_next(&channel->wait, failure->retry_after_ms);
	} else if (failure->kind == ERROR_NONE) {
		channel->retry_ms = now_ms + backoff_next(&channel->wait, 0);
	} else {
		channel_fail(channel, failure, now_ms);
	}
}

static void stream_ended(struct channel *channel, int64_t now_ms)
{
	struct error failure = { 0 };
	char what[400];
	bool again = false;

	say_what(channel, what, sizeof(what));
	grpc_check(channel->stream, what, &failure);
	/* A token may also be over, or revoked, while a stream that began with it lives. */
	if (!channel->token_told || grpc_result(channel->stream).code == GRPC_UNAUTHENTICATED)
		again = google_ended(channel->of->google, channel->token, grpc_result(channel->stream).code);
	grpc_call_free(channel->stream);
	channel->stream = NULL;
	if (again && !channel->was_renewed) {
		channel->was_renewed = true;
		channel->retry_ms = now_ms;
		return;
	}
	channel->was_renewed = false;
	is_over(channel, &failure, now_ms);
}

static void give_up(struct channel *channel, const char *code, const char *why, int64_t now_ms)
{
	struct error failure = { 0 };

	fail(&failure, ERROR_TRANSIENT, code, "subscription %.300s: %s", channel->shown, why);
	channel_stop(channel);
	channel->restarts++;
	channel->lost_until_ms = now_ms + channel->told_lease_ms + LOST_MORE_MS;
	channel_fail(channel, &failure, now_ms);
}

/*
 * What comes
 */

static void has_answered(struct channel *channel, int64_t now_ms)
{
	channel->answered_ms = now_ms;
	channel->last_us = clock_utc_us();
	if (!channel->token_told) {
		google_ended(channel->of->google, channel->token, GRPC_OK);
		channel->token_told = true;
	}
	channel->has_answered = true;
	channel->was_renewed = false;
	is_up(channel, now_ms);
}

/* The server keeps to what it was told (max_outstanding_bytes). One that does not is left to its window. */
static bool is_too_much(struct pubsub *pubsub)
{
	bool is_full;

	pthread_mutex_lock(&pubsub->lock);
	is_full = pubsub->queued_bytes + pubsub->fresh_bytes > 2 * OUTSTANDING_BYTES;
	pthread_mutex_unlock(&pubsub->lock);
	return is_full;
}

static void receive(struct channel *channel, int64_t now_ms)
{
	struct grpc_message *message;

	while (!(channel->is_held_back = is_too_much(channel->of))) {
		switch (grpc_receive(channel->stream, &message, 0)) {
		case GRPC_DONE:
			has_answered(channel, now_ms);
			if (channel_take(channel, message, now_ms))
				break;
			give_up(channel, "google_bad_answer", "what it sent cannot be read", now_ms);
			return;
		case GRPC_TIMEOUT:
			return;
		case GRPC_ENDED:
			stream_ended(channel, now_ms);
			return;
		}
	}
}

/*
 * One step
 */

static void keep_alive(struct channel *channel, int64_t now_ms)
{
	bool is_pinged = channel->pinged_ms > channel->opened_ms;

	if (is_pinged && channel->answered_ms < channel->pinged_ms && now_ms - channel->pinged_ms >= KEEP_ALIVE_ANSWER_MS &&
	    !channel->is_held_back) {
		give_up(channel, "google_timeout", "no answer to a keep-alive", now_ms);
		return;
	}
	if (now_ms - channel->pinged_ms >= KEEP_ALIVE_MS ||
	    channel_lease_ms(channel) > channel->told_lease_ms + channel->told_lease_ms / 4)
		ping(channel, now_ms);
	if (!channel->up_ms && now_ms - channel->opened_ms >= SETTLED_MS)
		is_up(channel, now_ms);
}

void channel_step(struct channel *channel, int64_t now_ms)
{
	if (channel->stream)
		receive(channel, now_ms);
	if (channel->stream)
		keep_alive(channel, now_ms);
	if (channel->stream || channel->is_asked || now_ms < channel->retry_ms)
		return;
	if (channel->is_known)
		open_stream(channel, now_ms);
	else
		errand_ask(channel, now_ms);
}

int64_t channel_due_ms(const struct channel *channel)
{
	if (!channel->stream)
		return channel->is_asked ? INT64_MAX : channel->retry_ms;
	if (channel->is_held_back)
		return clock_mono_ms() + HELD_BACK_LOOK_MS;
	if (!channel->up_ms)
		return channel->opened_ms + SETTLED_MS;
	if (channel->pinged_ms > channel->opened_ms && channel->answered_ms < channel->pinged_ms)
		return channel->pinged_ms + KEEP_ALIVE_ANSWER_MS;
	return channel->pinged_ms + KEEP_ALIVE_MS;
}
