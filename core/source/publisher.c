/* The publisher as its caller sees it: messages into batches, lanes, flow control. */
#include "source/publisher_private.h"

#include "base/arena.h"
#include "base/clock.h"
#include "google/proto.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define DELAY_MS 10
#define OUTSTANDING_MESSAGES 10000
#define OUTSTANDING_BYTES (64u << 20)
#define GIVE_UP_MS 600000
#define FRAMING_BYTES 32 /* of a message within a request */
#define LANES_MAX 10000  /* keys that are remembered; idle ones are forgotten first */

static void set_defaults(struct publisher_setup *setup)
{
	setup->batch_messages = setup->batch_messages ? setup->batch_messages : PUBLISH_MESSAGES_MAX;
	setup->batch_bytes = setup->batch_bytes ? setup->batch_bytes : PUBLISH_BYTES_MAX;
	setup->delay_ms = setup->delay_ms ? setup->delay_ms : DELAY_MS;
	setup->outstanding_messages = setup->outstanding_messages ? setup->outstanding_messages : OUTSTANDING_MESSAGES;
	setup->outstanding_bytes = setup->outstanding_bytes ? setup->outstanding_bytes : OUTSTANDING_BYTES;
	setup->give_up_ms = setup->give_up_ms ? setup->give_up_ms : GIVE_UP_MS;
}

struct publisher *publisher_open(const struct publisher_setup *setup, struct error *err)
{
	int bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct publisher *publisher;

	if (bell < 0) {
		fail_errno(err, errno, "publishing to %s", setup->topic);
		return NULL;
	}
	publisher = memory_zalloc(sizeof(*publisher));
	publisher->setup = *setup;
	set_defaults(&publisher->setup);
	publisher->bell = bell;
	snprintf(publisher->topic, sizeof(publisher->topic), "%s", setup->topic);
	publisher->params = text_new(3 * PUBSUB_NAME_BYTES + 64);
	pubsub_params(publisher->params, "topic", publisher->topic);
	return publisher;
}

static void lane_free(struct publisher *publisher, struct publish_lane *lane, const struct error *why)
{
	while (lane->first) {
		struct publish_batch *batch = lane->first;

		lane->first = batch->next;
		publish_batch_fail(publisher, batch, why);
	}
	free(lane->key);
	free(lane);
}

void publisher_close(struct publisher *publisher)
{
	struct error why = { 0 };

	if (!publisher)
		return;
	fail(&why, ERROR_CANCELLED, "cancelled", "publishing to %s was given up", publisher->topic);
	while (publisher->lanes) {
		struct publish_lane *lane = publisher->lanes;

		publisher->lanes = lane->next;
		lane_free(publisher, lane, &why);
	}
	text_free(publisher->params);
	close(publisher->bell);
	free(publisher);
}

/*
 * Lanes
 */

static struct publish_lane **lane_find(struct publisher *publisher, struct span key)
{
	struct publish_lane **at = &publisher->lanes;

	while (*at && !span_equal(span_make((*at)->key, (*at)->key_len), key))
		at = &(*at)->next;
	return at;
}

/* Keys through which nothing goes any more, and that are not paused, need not be remembered. */
static void forget_idle(struct publisher *publisher)
{
	struct publish_lane **at = &publisher->lanes;

	while (*at) {
		struct publish_lane *lane = *at;

		if (lane->first || lane->is_paused) {
			at = &lane->next;
			continue;
		}
		*at = lane->next;
		lane_free(publisher, lane, NULL);
	}
}

static struct publish_lane *lane_of(struct publisher *publisher, struct span key)
{
	struct publish_lane *lane = *lane_find(publisher, key);

	if (lane)
		return lane;
	forget_idle(publisher);
	lane = memory_zalloc(sizeof(*lane));
	lane->key = memory_string_of(key);
	lane->key_len = key.len;
	lane->next = publisher->lanes;
	publisher->lanes = lane;
	return lane;
}

void publisher_resume(struct publisher *publisher, struct span ordering_key)
{
	struct publish_lane *lane = *lane_find(publisher, ordering_key);

	if (lane)
		lane->is_paused = false;
}

/*
 * Messages
 */

static size_t message_bytes(const struct publish_message *message)
{
	size_t bytes = message->data.len + message->ordering_key.len + FRAMING_BYTES;

	for (size_t i = 0; i < message->attribute_count; i++)
		bytes += message->attributes[i].name.len + message->attributes[i].value.len + FRAMING_BYTES;
	return bytes;
}

static bool is_fine(const struct publish_message *message, struct error *err)
{
	if (message_bytes(message) > PUBLISH_MESSAGE_MAX)
		return fail(err, ERROR_RECORD, "message_too_large", "a message of %zu bytes is more than a topic takes (%d)",
		            message_bytes(message), PUBLISH_MESSAGE_MAX);
	if (!message->data.len && !message->attribute_count)
		return fail(err, ERROR_RECORD, "bad_message", "a message without data and without an attribute cannot be published");
	if (message->attribute_count > PUBLISH_ATTRIBUTES_MAX || message->ordering_key.len > PUBLISH_KEY_MAX)
		return fail(err, ERROR_RECORD, "bad_message", "a message has at most %d attributes and an ordering key of %d bytes",
		            PUBLISH_ATTRIBUTES_MAX, PUBLISH_KEY_MAX);
	return true;
}

static struct publish_batch *batch_new(struct publisher *publisher)
{
	struct publish_batch *batch = memory_zalloc(sizeof(*batch));

	batch->request = text_new(PUBLISH_MESSAGE_MAX + (1u << 20));
	batch->tags = memory_alloc(publisher->setup.batch_messages * sizeof(*batch->tags));
	batch->opened_ms = clock_mono_ms();
	batch->wait = (struct backoff)BACKOFF(100, 60000, 4);
	proto_put_text(batch->request, 1, publisher->topic);
	return batch;
}

/* The one that takes it: not begun yet, and with room. */
static struct publish_batch *batch_for(struct publisher *publisher, struct publish_lane *lane, size_t bytes)
{
	struct publish_batch *batch = lane->last;

	if (batch && !batch->begun_ms && batch->count < publisher->setup.batch_messages &&
	    batch->bytes + bytes <= publisher->setup.batch_bytes)
		return batch;
	batch = batch_new(publisher);
	if (lane->first)
		lane->last->next = batch;
	else
		lane->first = batch;
	return lane->last = batch;
}

static void put_message(struct text *out, const struct publish_message *message)
{
	size_t mark = proto_begin(out, 2);

	if (message->data.len)
		proto_put_bytes(out, 1, message->data);
	for (size_t i = 0; i < message->attribute_count; i++) {
		size_t pair = proto_begin(out, 2);

		proto_put_bytes(out, 1, message->attributes[i].name);
		proto_put_bytes(out, 2, message->attributes[i].value);
		proto_end(out, pair);
	}
	if (message->ordering_key.len)
		proto_put_bytes(out, 5, message->ordering_key);
	proto_end(out, mark);
}

static bool has_room(const struct publisher *publisher, size_t bytes)
{
	const struct publisher_counts *now = &publisher->counts;

	/* One is always taken, however large it is. */
	return !now->outstanding_messages || (now->outstanding_messages < publisher->setup.outstanding_messages &&
	                                      now->outstanding_bytes + bytes <= publisher->setup.outstanding_bytes);
}

enum published publisher_add(struct publisher *publisher, const struct publish_message *message, int64_t wait_ms,
                             struct error *err)
{
	int64_t until_ms = clock_mono_ms() + wait_ms, left_ms;
	size_t bytes = message_bytes(message);
	struct publish_lane *lane;
	struct publish_batch *batch;

	if (!is_fine(message, err))
		return PUBLISH_REFUSED;
	while (!has_room(publisher, bytes)) {
		left_ms = until_ms - clock_mono_ms();
		if (left_ms <= 0)
			return PUBLISH_FULL;
		publisher_step(publisher, left_ms);
	}
	lane = lane_of(publisher, message->ordering_key);
	if (lane->is_paused) {
		fail(err, ERROR_TRANSIENT, "ordering_key_paused", "ordering key '%.*s' is paused: an earlier message of it could not be "
		     "published", (int)(message->ordering_key.len < 100 ? message->ordering_key.len : 100), message->ordering_key.at);
		return PUBLISH_REFUSED;
	}
	batch = batch_for(publisher, lane, bytes);
	put_message(batch->request, message);
	batch->tags[batch->count++] = message->tag;
	batch->bytes += bytes;
	publisher->counts.outstanding_messages++;
	publisher->counts.outstanding_bytes += bytes;
	return PUBLISH_TAKEN;
}

/*
 * Moving
 */

static void wait_for_news(struct publisher *publisher, int64_t until_ms)
{
	int64_t due_ms = publisher_due_ms(publisher), now_ms = clock_mono_ms();
	struct pollfd bell = { .fd = publisher->bell, .events = POLLIN };
	uint64_t rung;

	due_ms = due_ms < until_ms ? due_ms : until_ms;
	if (poll(&bell, 1, due_ms > now_ms ? (int)(due_ms - now_ms) : 0) > 0 && read(publisher->bell, &rung, sizeof(rung)) < 0)
		return; /* somebody else's wake-up: the next look finds nothing */
}

static bool step_until(struct publisher *publisher, int64_t until_ms, bool sends_all)
{
	for (;;) {
		if (publisher_move(publisher, clock_mono_ms(), sends_all))
			return true;
		if (clock_mono_ms() >= until_ms)
			return false;
		wait_for_news(publisher, until_ms);
	}
}

void publisher_step(struct publisher *publisher, int64_t wait_ms)
{
	step_until(publisher, clock_mono_ms() + wait_ms, false);
}

bool publisher_flush(struct publisher *publisher, int64_t wait_ms)
{
	int64_t until_ms = clock_mono_ms() + wait_ms;

	while (publisher->counts.outstanding_messages) {
		if (!step_until(publisher, until_ms, true))
			return false;
	}
	return true;
}

struct publisher_counts publisher_counts(const struct publisher *publisher)
{
	return publisher->counts;
}
