/* google.pubsub.v1.Subscription, read whole; the numbers are its fields'. */
#include "source/subscription.h"

#include "google/proto.h"

#include <stdio.h>

#define DAY_MS INT64_C(86400000)

static void copy(char *out, size_t room, struct span from)
{
	snprintf(out, room, "%.*s", (int)(from.len < room ? from.len : room - 1), from.at ? from.at : "");
}

/* A Duration; nobody sets one beyond what fits. */
static int64_t duration_ms(struct proto_reader *outer, const struct proto_field *field)
{
	struct proto_time time = { 0 };

	if (!proto_time(outer, field, &time) || time.seconds > INT64_MAX / 1000 - 1)
		return -1;
	return time.seconds * 1000 + time.nanos / 1000000;
}

/* A message of which one text counts (push_endpoint, table, bucket: field 1); an empty one is as if it were not there. */
static void read_delivery(struct proto_reader *outer, const struct proto_field *field, enum delivery delivery,
                          struct subscription *s)
{
	struct proto_reader inner = proto_enter(outer, field);
	struct proto_field each;

	while (proto_next(&inner, &each)) {
		if (each.number != 1 || !proto_bytes(&each).len)
			continue;
		s->delivery = delivery;
		copy(s->endpoint, sizeof(s->endpoint), proto_bytes(&each));
	}
	proto_leave(outer, &inner);
}

static void read_expiration(struct proto_reader *outer, const struct proto_field *field, struct subscription *s)
{
	struct proto_reader inner = proto_enter(outer, field);
	struct proto_field each;

	s->never_expires = true;
	while (proto_next(&inner, &each)) {
		if (each.number != 1)
			continue;
		s->expires_after_ms = duration_ms(&inner, &each);
		s->never_expires = s->expires_after_ms <= 0;
	}
	proto_leave(outer, &inner);
}

static void read_dead_letters(struct proto_reader *outer, const struct proto_field *field, struct subscription *s)
{
	struct proto_reader inner = proto_enter(outer, field);
	struct proto_field each;

	s->delivery_attempts_max = 5;
	while (proto_next(&inner, &each)) {
		if (each.number == 1)
			copy(s->dead_letter_topic, sizeof(s->dead_letter_topic), proto_bytes(&each));
		else if (each.number == 2 && proto_int32(&each))
			s->delivery_attempts_max = proto_int32(&each);
	}
	proto_leave(outer, &inner);
}

static void read_retries(struct proto_reader *outer, const struct proto_field *field, struct subscription *s)
{
	struct proto_reader inner = proto_enter(outer, field);
	struct proto_field each;

	s->has_retry_policy = true;
	s->retry_least_ms = 10000;
	s->retry_most_ms = 600000;
	while (proto_next(&inner, &each)) {
		if (each.number == 1)
			s->retry_least_ms = duration_ms(&inner, &each);
		else if (each.number == 2)
			s->retry_most_ms = duration_ms(&inner, &each);
	}
	proto_leave(outer, &inner);
}

static enum subscription_state state_of(int32_t number)
{
	return number == 1 ? SUBSCRIPTION_ACTIVE : number == 2 ? SUBSCRIPTION_RESOURCE_ERROR : SUBSCRIPTION_STATE_UNKNOWN;
}

/* One pair of the map of labels. */
static void read_label(struct proto_reader *outer, const struct proto_field *field, struct subscription *s)
{
	struct proto_reader inner = proto_enter(outer, field);
	struct span name = SPAN(""), value = SPAN("");
	struct proto_field each;

	while (proto_next(&inner, &each)) {
		if (each.number == 1)
			name = proto_bytes(&each);
		else if (each.number == 2)
			value = proto_bytes(&each);
	}
	if (proto_leave(outer, &inner) && span_equal(name, SPAN("weir-store")))
		copy(s->store, sizeof(s->store), value);
}

static void read_field(struct proto_reader *reader, const struct proto_field *field, struct subscription *s)
{
	switch (field->number) {
	case 1: copy(s->name, sizeof(s->name), proto_bytes(field)); return;
	case 2: copy(s->topic, sizeof(s->topic), proto_bytes(field)); return;
	case 4: read_delivery(reader, field, DELIVERY_PUSH, s); return;
	case 5: s->ack_deadline_ms = INT64_C(1000) * proto_int32(field); return;
	case 7: s->keeps_acked = proto_bool(field); return;
	case 8: s->retention_ms = duration_ms(reader, field); return;
	case 9: read_label(reader, field, s); return;
	case 10: s->is_ordered = proto_bool(field); return;
	case 11: read_expiration(reader, field, s); return;
	case 12: copy(s->filter, sizeof(s->filter), proto_bytes(field)); return;
	case 13: read_dead_letters(reader, field, s); return;
	case 14: read_retries(reader, field, s); return;
	case 15: s->is_detached = proto_bool(field); return;
	case 16: s->is_exactly_once = proto_bool(field); return;
	case 17: s->topic_retention_ms = duration_ms(reader, field); return;
	case 18: read_delivery(reader, field, DELIVERY_BIGQUERY, s); return;
	case 19: s->state = state_of(proto_int32(field)); return;
	case 22: read_delivery(reader, field, DELIVERY_CLOUD_STORAGE, s); return;
	case 25: s->transforms++; return;
	case 27: read_delivery(reader, field, DELIVERY_BIGTABLE, s); return;
	}
}

bool subscription_read(struct span message, struct subscription *out)
{
	struct proto_reader reader = proto_open(message);
	struct proto_field field;

	*out = (struct subscription){
		.ack_deadline_ms = 10000,
		.retention_ms = 7 * DAY_MS,
		.topic_retention_ms = -1,
		.expires_after_ms = 31 * DAY_MS,
	};
	while (proto_next(&reader, &field))
		read_field(&reader, &field, out);
	if (out->ack_deadline_ms <= 0)
		out->ack_deadline_ms = 10000;
	if (out->retention_ms <= 0)
		out->retention_ms = 7 * DAY_MS;
	return !reader.is_broken;
}

bool subscription_can_pull(const struct subscription *s, struct error *err)
{
	static const char *const words[] = {
		[DELIVERY_PUSH] = "pushes to", [DELIVERY_BIGQUERY] = "writes into the BigQuery table",
		[DELIVERY_CLOUD_STORAGE] = "writes into the bucket", [DELIVERY_BIGTABLE] = "writes into the Bigtable table",
	};

	if (s->is_detached)
		return fail(err, ERROR_CONFIG, "subscription_detached",
		            "subscription %s is detached from its topic: nothing can be pulled of it any more", s->name);
	if (s->delivery != DELIVERY_PULL)
		return fail(err, ERROR_CONFIG, "subscription_not_pull", "subscription %s %s %s, so nothing can be pulled of it",
		            s->name, words[s->delivery], s->endpoint);
	return true;
}
