/* What comes over a subscription's stream: its messages are held, and handed on to the reader where they lie. */
#include "source/pubsub_private.h"

#define HEAD_BYTES 384         /* of a message: its ack id, and where its body begins */
#define AHEAD 5                /* messages; fewer are reached before their memory */

/* Numbers of fields (spec/apis-grpc.md 4.2). */
enum { PULLED_RECEIVED = 1, PULLED_PROPERTIES = 4 };
enum { PROPERTY_EXACTLY_ONCE = 1 };

static void take_properties(struct channel *channel, struct proto_reader *outer, const struct proto_field *at)
{
	struct proto_reader properties = proto_enter(outer, at);
	struct proto_field field;

	while (proto_next(&properties, &field)) {
		if (field.number == PROPERTY_EXACTLY_ONCE)
			channel->is_exactly_once = proto_bool(&field);
	}
	if (proto_leave(outer, &properties) && channel->is_exactly_once && channel->lease.least_ms < EXACTLY_ONCE_LEASE_MS)
		channel->lease.least_ms = EXACTLY_ONCE_LEASE_MS;
}

static void hand_on(struct channel *channel, struct grpc_message *message, uint64_t first)
{
	struct pubsub *pubsub = channel->of;
	struct arrival *arrival = memory_zalloc(sizeof(*arrival));

	atomic_init(&arrival->holders, 1);
	arrival->message = message;
	arrival->channel = channel->index;
	arrival->first = first;
	arrival->received_us = channel->last_us;
	*pubsub->fresh_end = arrival;
	pubsub->fresh_end = &arrival->next;
	pubsub->fresh_bytes += message->len;
}

/* Messages of one response are mostly about as large as each other: where the head of one of the next should be. */
static void look_ahead_of(const struct proto_reader *reader, size_t len)
{
	if (len * AHEAD < (size_t)(reader->end - reader->at))
		look_ahead(reader->at + len * AHEAD - 2 * MEMORY_LINE, HEAD_BYTES);
}

bool channel_take(struct channel *channel, struct grpc_message *message, int64_t now_ms)
{
	struct held *held = &channel->of->held;
	struct proto_reader reader = proto_open(span_make(message->bytes, message->len));
	uint64_t first = held->next_number;
	struct proto_field field;
	struct received received;

	while (proto_next(&reader, &field)) {
		if (field.number == PULLED_PROPERTIES)
			take_properties(channel, &reader, &field);
		if (field.number != PULLED_RECEIVED)
			continue;
		if (!received_read(&reader, &field, &received))
			break;
		look_ahead_of(&reader, field.bytes.len);
		held_add(held, channel->index, received.ack_id, received.message.len, channel->told_lease_ms, now_ms);
	}
	channel->received += held->next_number - first;
	if (held->next_number != first)
		channel->received_ms = now_ms;
	if (held->next_number == first)
		grpc_message_free(message);
	else
		hand_on(channel, message, first);
	return !reader.is_broken;
}
