/*
 * A PubsubMessage becomes a message: body, attributes, id and key are looks into the
 * bytes in which it came. They are not copied: the batch holds them until it is reset.
 */
#include "base/clock.h"
#include "base/hash.h"
#include "record/json.h"
#include "source/pubsub_private.h"

#include <stdlib.h>

#define ATTRIBUTES_MAX 100
#define ATTRIBUTE_BYTES_MAX 1024
#define PUBLISH_ROOM 40
#define PUBLISH_SECOND_MAX INT64_C(253402300799) /* the last of the year 9999 */
#define AHEAD_BYTES_MAX 2048

enum { RECEIVED_ACK_ID = 1, RECEIVED_MESSAGE = 2, RECEIVED_ATTEMPT = 3 };
enum { MESSAGE_DATA = 1, MESSAGE_ATTRIBUTES = 2, MESSAGE_ID = 3, MESSAGE_PUBLISHED = 4, MESSAGE_KEY = 5 };
enum { PAIR_NAME = 1, PAIR_VALUE = 2 };
enum { RESPONSE_RECEIVED = 1 };

void arrival_drop(void *what)
{
	struct arrival *arrival = what;

	if (!arrival || atomic_fetch_sub_explicit(&arrival->holders, 1, memory_order_acq_rel) > 1)
		return;
	grpc_message_free(arrival->message);
	free(arrival);
}

bool received_read(struct proto_reader *outer, const struct proto_field *field, struct received *out)
{
	struct proto_reader reader = proto_enter(outer, field);
	struct proto_field at;

	*out = (struct received){ 0 };
	while (proto_next(&reader, &at)) {
		if (at.number == RECEIVED_ACK_ID)
			out->ack_id = proto_bytes(&at);
		else if (at.number == RECEIVED_MESSAGE)
			out->message = proto_bytes(&at);
		else if (at.number == RECEIVED_ATTEMPT)
			out->attempt = proto_int32(&at);
	}
	if (!out->ack_id.len || out->ack_id.len > ACK_ID_BYTES_MAX)
		reader.is_broken = true;
	return proto_leave(outer, &reader);
}

/*
 * Parts of a message
 */

/* The same for each delivery of a message, so that its letter and its repeats are known again: a number is itself, which
 * Google's ids are; of others their hash. */
static uint64_t place_of(struct span id)
{
	unsigned char hash[SHA256_BYTES];
	uint64_t number = 0;

	if (span_uint64(id, &number) && number < UINT64_C(1) << 62)
		return number;
	sha256(id, hash);
	for (size_t i = 0; i < 8; i++)
		number = number << 8 | hash[i];
	return (number >> 2) | UINT64_C(1) << 62;
}

/* As JSON writes a Timestamp: no fraction, or three, six or nine digits. */
static struct span publish_text(struct pubsub *pubsub, struct arena *arena, const struct proto_time *time)
{
	char *at = arena_bytes(arena, PUBLISH_ROOM);
	int32_t number = time->nanos;
	int digits = number % 1000 ? 9 : number % 1000000 ? 6 : number ? 3 : 0;
	size_t len = sizeof("2026-11-30T02:37:30") - 1;

	if (time->seconds != pubsub->publish_second || !pubsub->publish_text[0]) {
		pubsub->publish_second = time->seconds;
		clock_text(time->seconds * 1000000, pubsub->publish_text);
	}
	memcpy(at, pubsub->publish_text, len);
	if (digits)
		at[len++] = '.';
	for (int32_t place = 100000000; digits--; place /= 10)
		at[len++] = (char)('0' + number / place % 10);
	at[len++] = 'Z';
	arena_shrink(arena, at, PUBLISH_ROOM, len);
	return span_make(at, len);
}

/* As its text says it; 0, as where there is none, for times that no text can say. */
static int64_t publish_us(const struct proto_time *time)
{
	if (time->seconds <= 0 || time->seconds > PUBLISH_SECOND_MAX || time->nanos < 0 || time->nanos >= 1000000000)
		return 0;
	return time->seconds * 1000000 + time->nanos / 1000;
}

static bool read_pair(struct proto_reader *outer, const struct proto_field *field, struct attribute *out)
{
	struct proto_reader reader = proto_enter(outer, field);
	struct proto_field at;

	*out = (struct attribute){ SPAN(""), SPAN("") };
	while (proto_next(&reader, &at)) {
		if (at.number == PAIR_NAME)
			out->name = proto_bytes(&at);
		else if (at.number == PAIR_VALUE)
			out->value = proto_bytes(&at);
	}
	return proto_leave(outer, &reader);
}

static size_t count_attributes(struct span whole)
{
	struct proto_reader reader = proto_open(whole);
	struct proto_field field;
	size_t count = 0;

	while (proto_next(&reader, &field))
		count += field.number == MESSAGE_ATTRIBUTES;
	return count;
}

/*
 * The message
 */

struct reading {
	struct pubsub *pubsub;
	struct batch *into;
	struct message *message;
	struct attribute *attrs;
	size_t room;
};

static void read_field(struct reading *r, struct proto_reader *reader, const struct proto_field *field)
{
	struct message *message = r->message;
	struct proto_time time;

	switch (field->number) {
	case MESSAGE_DATA:
		message->body = proto_bytes(field);
		break;
	case MESSAGE_ATTRIBUTES:
		if (!r->attrs) {
			r->room = 1 + count_attributes(span_make(reader->at, (size_t)(reader->end - reader->at)));
			r->attrs = arena_alloc(r->into->arena, r->room * sizeof(*r->attrs));
			message->attrs = r->attrs;
		}
		if (message->attr_count < r->room && read_pair(reader, field, &r->attrs[message->attr_count]))
			message->attr_count++;
		break;
	case MESSAGE_ID:
		message->id = proto_bytes(field);
		break;
	case MESSAGE_PUBLISHED:
		if (proto_time(reader, field, &time)) {
			message->publish = publish_text(r->pubsub, r->into->arena, &time);
			message->publish_us = publish_us(&time);
		}
		break;
	case MESSAGE_KEY:
		message->key = proto_bytes(field);
		break;
	default:
		break;
	}
}

static bool has_too_large_attributes(const struct message *message)
{
	if (message->attr_count > ATTRIBUTES_MAX)
		return true;
	for (size_t i = 0; i < message->attr_count; i++) {
		if (message->attrs[i].name.len > ATTRIBUTE_BYTES_MAX || message->attrs[i].value.len > ATTRIBUTE_BYTES_MAX)
			return true;
	}
	return false;
}

/* Nothing of what is refused here is lost: the letter has the body, or all bytes where they cannot be read. */
static void refuse_unfit(struct reading *r, struct span whole, bool is_broken)
{
	struct message *message = r->message;
	const struct span none = SPAN("");

	if (is_broken) {
		message->body = whole;
		message->attr_count = 0;
		message_refuse(r->into, message, "source", "google_bad_answer", none, none,
		               "the message is no PubsubMessage; its body here is all of it");
	} else if (message->body.len > r->pubsub->record_bytes_max) {
		message_refuse(r->into, message, "source", "record_too_large", none, none,
		               "the body has %zu bytes, maxRecordBytes is %zu", message->body.len,
		               r->pubsub->record_bytes_max);
	} else if (has_too_large_attributes(message)) {
		message_refuse(r->into, message, "source", "attributes_too_large", none, none,
		               "more than %d attributes, or one with more than %d bytes", ATTRIBUTES_MAX,
		               ATTRIBUTE_BYTES_MAX);
	}
}

/* A redelivery is told by the count that comes with it, where the subscription counts, else by the ids of late. */
static void note_redelivery(struct pubsub *pubsub, const struct message *message)
{
	uint64_t id = (message->offset ^ (uint64_t)message->channel << 48) + 1, *seen; /* 0: nothing was there */

	if (!pubsub->ids_seen)
		pubsub->ids_seen = memory_zalloc(IDS_SEEN * sizeof(*pubsub->ids_seen));
	seen = &pubsub->ids_seen[id % IDS_SEEN]; /* neighbours are next to each other: mostly it is in the cache */
	if (message->attempt > 1 || *seen == id)
		atomic_fetch_add_explicit(&pubsub->channels[message->channel].redelivered, 1, memory_order_relaxed);
	*seen = id;
}

/* An arrival may have messages for several batches, and each holds all of it. */
static void lend(struct pubsub *pubsub, struct batch *into)
{
	if (into->message_count && pubsub->lent_to == into)
		return;
	pubsub->lent_to = into;
	atomic_fetch_add_explicit(&pubsub->current->holders, 1, memory_order_relaxed);
	arena_keep(into->arena, pubsub->current, arrival_drop);
}

static void take(struct pubsub *pubsub, const struct received *received, struct batch *into)
{
	struct span whole = received->message;

	lend(pubsub, into);
	arena_count(into->arena, whole.len);

	struct reading reading = { .pubsub = pubsub, .into = into, .message = batch_add_message(into) };
	struct proto_reader reader = proto_open(whole);
	struct message *message = reading.message;
	struct proto_field field;

	message->channel = pubsub->current->channel;
	message->receipt = pubsub->next_number++;
	message->attempt = received->attempt > 0 ? (uint32_t)received->attempt : 0;
	while (proto_next(&reader, &field))
		read_field(&reading, &reader, &field);
	message->offset = place_of(message->id);
	refuse_unfit(&reading, whole, reader.is_broken);
	note_redelivery(pubsub, message);
}

/* All of the next one, if it is about as large as this one. */
static void look_ahead_of(const struct proto_reader *cursor, size_t len)
{
	size_t left = (size_t)(cursor->end - cursor->at);

	len = len < left ? len : left;
	look_ahead(cursor->at, len < AHEAD_BYTES_MAX ? len : AHEAD_BYTES_MAX);
}

bool arrival_next(struct pubsub *pubsub, struct batch *into)
{
	struct received received;
	struct proto_field field;

	while (proto_next(&pubsub->cursor, &field)) {
		if (field.number != RESPONSE_RECEIVED)
			continue;
		if (!received_read(&pubsub->cursor, &field, &received))
			return false;
		look_ahead_of(&pubsub->cursor, field.bytes.len);
		take(pubsub, &received, into);
		return true;
	}
	return false;
}
