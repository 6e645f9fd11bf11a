/* Requests to google.pubsub.v1.Publisher/Publish: begun when due, judged when answered, tried again as the spec says. */
#include "source/publisher_private.h"

#include "base/clock.h"
#include "google/proto.h"

#include <stdlib.h>
#include <unistd.h>

#define BIT(code) (1u << GRPC_##code)
/* What Google's own clients try again. */
#define RETRIED                                                                                                        \
	(BIT(ABORTED) | BIT(CANCELLED) | BIT(INTERNAL) | BIT(RESOURCE_EXHAUSTED) | BIT(UNKNOWN) | BIT(UNAVAILABLE) |        \
	 BIT(DEADLINE_EXCEEDED))

/* On the gRPC client's thread. */
static void ring(void *context)
{
	const struct publisher *publisher = context;
	uint64_t one = 1;

	if (write(publisher->bell, &one, sizeof(one)) < 0)
		return; /* it rings already */
}

void publish_batch_free(struct publish_batch *batch)
{
	grpc_call_free(batch->call);
	text_free(batch->request);
	free(batch->tags);
	free(batch);
}

static void batch_over(struct publisher *publisher, struct publish_batch *batch)
{
	publisher->counts.outstanding_messages -= batch->count;
	publisher->counts.outstanding_bytes -= batch->bytes;
	if (batch->call)
		publisher->calls--;
	publish_batch_free(batch);
}

void publish_batch_fail(struct publisher *publisher, struct publish_batch *batch, const struct error *why)
{
	for (size_t i = 0; i < batch->count; i++)
		publisher->setup.on_done(publisher->setup.context, batch->tags[i], span_make("", 0), why);
	publisher->counts.failed += batch->count;
	batch_over(publisher, batch);
}

/*
 * Sending
 */

/* NULL of a call: no token, no address; err says. */
static bool batch_begin(struct publisher *publisher, struct publish_batch *batch, int64_t now_ms, struct error *err)
{
	struct grpc_request request = {
		.path = "/google.pubsub.v1.Publisher/Publish",
		.deadline_ms = PUBLISH_CALL_MS,
		.unsent_bytes = PUBLISH_MESSAGE_MAX + (1u << 20),
		.on_ready = ring,
		.context = publisher,
	};

	if (!batch->begun_ms)
		batch->begun_ms = now_ms;
	batch->call = google_start(publisher->setup.google, SERVICE_PUBSUB, &request, publisher->params->at, &batch->token, err);
	if (!batch->call)
		return false;
	publisher->calls++;
	publisher->counts.requests++;
	grpc_send(batch->call, text_span(batch->request), true, -1);
	return true;
}

static bool is_due(const struct publisher *publisher, const struct publish_batch *batch, int64_t now_ms, bool sends_all)
{
	if (batch->call)
		return false;
	if (batch->begun_ms)
		return batch->due_ms <= now_ms;
	return sends_all || batch->next || batch->count >= publisher->setup.batch_messages ||
	       batch->bytes >= publisher->setup.batch_bytes || now_ms - batch->opened_ms >= publisher->setup.delay_ms;
}

/*
 * Answers
 */

static void batch_published(struct publisher *publisher, struct publish_batch *batch, struct span answer)
{
	struct proto_reader reader = proto_open(answer);
	struct proto_field field;
	size_t i = 0;

	while (i < batch->count && proto_next(&reader, &field)) {
		if (field.number == 1)
			publisher->setup.on_done(publisher->setup.context, batch->tags[i++], proto_bytes(&field), NULL);
	}
	/* It took them all, or it would have failed: ids that are missing are only not known. */
	for (; i < batch->count; i++)
		publisher->setup.on_done(publisher->setup.context, batch->tags[i], span_make("", 0), NULL);
	publisher->counts.published += batch->count;
	batch_over(publisher, batch);
}

/* Is there another try in it? Then when. */
static bool plan_again(struct publisher *publisher, struct publish_batch *batch, enum grpc_code code, bool renews,
                       int64_t asked_ms, int64_t now_ms)
{
	int64_t wait_ms;

	if (renews && !batch->was_renewed) {
		batch->was_renewed = true;
		batch->due_ms = now_ms;
		return true;
	}
	if (code < 0 || code > 31 || !(RETRIED >> code & 1))
		return false;
	wait_ms = backoff_next(&batch->wait, asked_ms > 0 ? asked_ms : 0);
	batch->due_ms = now_ms + wait_ms;
	return batch->due_ms < batch->begun_ms + publisher->setup.give_up_ms;
}

static void call_end(struct publisher *publisher, struct publish_batch *batch)
{
	grpc_call_free(batch->call);
	batch->call = NULL;
	publisher->calls--;
}

enum outcome { STILL, AGAIN, OVER };

static enum outcome batch_take(struct publisher *publisher, struct publish_batch *batch, int64_t now_ms, struct error *why)
{
	struct grpc_message *answer = NULL;
	struct google_status status;
	enum grpc_outcome outcome = grpc_receive(batch->call, &answer, 0);
	bool renews;

	if (outcome == GRPC_TIMEOUT)
		return STILL;
	if (outcome == GRPC_DONE) {
		google_ended(publisher->setup.google, batch->token, GRPC_OK);
		batch_published(publisher, batch, span_make(answer->bytes, answer->len));
		grpc_message_free(answer);
		return OVER;
	}
	grpc_status(batch->call, &status);
	renews = google_ended(publisher->setup.google, batch->token, status.code);
	if (grpc_check(batch->call, "publishing", why))
		fail(why, ERROR_TRANSIENT, "google_bad_answer", "publishing: the call ended without an answer");
	call_end(publisher, batch);
	if (!plan_again(publisher, batch, status.code, renews, status.retry_delay_ms, now_ms))
		return OVER;
	publisher->counts.retries++;
	return AGAIN;
}

/* The key stops at what could not be published: all that waits behind it is told of, in order. */
static void lane_fail(struct publisher *publisher, struct publish_lane *lane, struct publish_batch *batch,
                      const struct error *why)
{
	struct publish_batch *rest = batch->next;
	struct error behind = { 0 };

	publish_batch_fail(publisher, batch, why);
	if (!lane->key_len)
		return;
	lane->is_paused = true;
	fail(&behind, ERROR_TRANSIENT, "ordering_key_paused", "an earlier message of the ordering key could not be published: %s",
	     why->message);
	while (rest) {
		struct publish_batch *next = rest->next;

		publish_batch_fail(publisher, rest, &behind);
		rest = next;
	}
	lane->first = lane->last = NULL;
}

/* Takes a batch out of its lane; `at` is the pointer to it. */
static void unlink_batch(struct publish_lane *lane, struct publish_batch **at)
{
	struct publish_batch *batch = *at, *last = NULL;

	*at = batch->next;
	for (struct publish_batch *each = lane->first; each; each = each->next)
		last = each;
	lane->last = last;
}

/* One look at a batch. True: it is over (freed), and it was answered. */
static bool batch_move(struct publisher *publisher, struct publish_lane *lane, struct publish_batch **at, int64_t now_ms,
                       bool sends_all)
{
	struct publish_batch *batch = *at, *next = batch->next;
	struct error why = { 0 };
	uint64_t published = publisher->counts.published;

	if (batch->call) {
		unlink_batch(lane, at);
		if (batch_take(publisher, batch, now_ms, &why) == OVER) {
			if (publisher->counts.published == published)
				batch->next = next, lane_fail(publisher, lane, batch, &why);
			return true;
		}
		batch->next = next;
		*at = batch;
		if (!next)
			lane->last = batch;
		return false;
	}
	if (publisher->calls >= PUBLISH_CALLS_MAX || !is_due(publisher, batch, now_ms, sends_all) ||
	    batch_begin(publisher, batch, now_ms, &why))
		return false;
	/* Without a token or an address there may be one later. */
	if (why.kind == ERROR_TRANSIENT || why.kind == ERROR_UNREACHABLE) {
		if (plan_again(publisher, batch, GRPC_UNAVAILABLE, false, 0, now_ms))
			return false;
	}
	unlink_batch(lane, at);
	batch->next = next;
	lane_fail(publisher, lane, batch, &why);
	return true;
}

bool publisher_move(struct publisher *publisher, int64_t now_ms, bool sends_all)
{
	bool was_answered = false;

	for (struct publish_lane *lane = publisher->lanes; lane; lane = lane->next) {
		struct publish_batch **at = &lane->first;

		while (*at) {
			if (batch_move(publisher, lane, at, now_ms, sends_all)) {
				was_answered = true;
				at = &lane->first;
				continue;
			}
			/* Of a key one request is under way, and nothing overtakes it. */
			if (lane->key_len)
				break;
			at = &(*at)->next;
		}
	}
	return was_answered;
}

int64_t publisher_due_ms(const struct publisher *publisher)
{
	int64_t due_ms = INT64_MAX;

	for (const struct publish_lane *lane = publisher->lanes; lane; lane = lane->next) {
		for (const struct publish_batch *batch = lane->first; batch; batch = batch->next) {
			int64_t at_ms = batch->begun_ms ? batch->due_ms : batch->opened_ms + publisher->setup.delay_ms;

			if (!batch->call && publisher->calls < PUBLISH_CALLS_MAX && at_ms < due_ms)
				due_ms = at_ms;
			if (lane->key_len)
				break;
		}
	}
	return due_ms;
}
