/* Subscriptions and topics: looked at, made, removed. google.pubsub.v1.Subscriber and Publisher. */
#include "source/subscription_private.h"

#include "google/proto.h"

#include <stdio.h>

#define SUBSCRIBER "/google.pubsub.v1.Subscriber/"
#define PUBLISHER "/google.pubsub.v1.Publisher/"

/* A request that is but a name in its first field. */
static struct text *named(const char *name)
{
	struct text *message = text_new(2 * PUBSUB_NAME_BYTES);

	proto_put_text(message, 1, name);
	return message;
}

bool subscription_get(struct google *google, const char *name, int64_t wait_ms, struct subscription *out,
                      enum grpc_code *out_code, struct error *err)
{
	OWNED(text) message = named(name);
	OWNED(text) what = text_new(1024);
	struct admin_call call = { SUBSCRIBER "GetSubscription", NULL, "subscription", name, message, RETRY_READS, wait_ms };
	struct grpc_message *answer = NULL;
	bool is_whole;

	text_add_format(what, "looking at subscription %s", name);
	call.what = what->at;
	if (!admin_call(google, &call, &answer, out_code, err))
		return false;
	is_whole = subscription_read(span_make(answer->bytes, answer->len), out);
	grpc_message_free(answer);
	return is_whole || admin_broken(what->at, err);
}

/*
 * Making and removing
 */

static void put_duration(struct text *out, uint32_t number, int64_t seconds)
{
	size_t mark = proto_begin(out, number);

	proto_put_int(out, 1, seconds);
	proto_end(out, mark);
}

/* Labels are lower case; a job's name may not be. */
static void put_label(struct text *out, const char *name, const char *job)
{
	size_t mark = proto_begin(out, 9);
	char value[64];
	size_t i;

	for (i = 0; job[i] && i < sizeof(value) - 1; i++)
		value[i] = (char)(job[i] >= 'A' && job[i] <= 'Z' ? job[i] | 0x20 : job[i]);
	value[i] = '\0';
	proto_put_text(out, 1, name);
	proto_put_text(out, 2, value);
	proto_end(out, mark);
}

static struct text *wished(const struct subscription_wish *wish)
{
	struct text *message = named(wish->name);

	proto_put_text(message, 2, wish->topic);
	proto_put_int(message, 5, wish->ack_deadline_s);
	if (wish->keeps_acked)
		proto_put_bool(message, 7, true);
	put_duration(message, 8, wish->retention_s);
	if (wish->label)
		put_label(message, "weir-job", wish->label);
	if (wish->store)
		put_label(message, "weir-store", wish->store);
	if (wish->is_ordered)
		proto_put_bool(message, 10, true);
	proto_end(message, proto_begin(message, 11)); /* a policy without a time: it never expires */
	return message;
}

bool subscription_make(struct google *google, const struct subscription_wish *wish, int64_t wait_ms, bool *out_was_there,
                       struct error *err)
{
	OWNED(text) message = wished(wish);
	OWNED(text) what = text_new(2048);
	struct admin_call call = { SUBSCRIBER "CreateSubscription", NULL, "name", wish->name, message, RETRY_READS, wait_ms };
	enum grpc_code code;
	struct error failure = { 0 };
	bool is_made;

	text_add_format(what, "making subscription %s of topic %s", wish->name, wish->topic);
	call.what = what->at;
	is_made = admin_call_only(google, &call, &code, &failure);
	if (is_made || code == GRPC_ALREADY_EXISTS) {
		*out_was_there = !is_made;
		return true;
	}
	if (err)
		*err = failure;
	return false;
}

bool subscription_remove(struct google *google, const char *name, int64_t wait_ms, struct error *err)
{
	OWNED(text) message = named(name);
	OWNED(text) what = text_new(1024);
	struct admin_call call = { SUBSCRIBER "DeleteSubscription", NULL, "subscription", name, message, RETRY_UNAVAILABLE,
		                       wait_ms };
	enum grpc_code code;
	struct error failure = { 0 };

	text_add_format(what, "removing subscription %s", name);
	call.what = what->at;
	if (admin_call_only(google, &call, &code, &failure) || code == GRPC_NOT_FOUND)
		return true;
	if (err)
		*err = failure;
	return false;
}

/*
 * Topics
 */

static bool read_topic(struct span bytes, struct topic_facts *out)
{
	struct proto_reader reader = proto_open(bytes);
	struct proto_field field;

	*out = (struct topic_facts){ .retention_ms = -1 };
	while (proto_next(&reader, &field)) {
		struct proto_time time = { 0 };

		if (field.number == 1)
			snprintf(out->name, sizeof(out->name), "%.*s", SPAN_ARG(proto_bytes(&field)));
		else if (field.number == 8 && proto_time(&reader, &field, &time))
			out->retention_ms = time.seconds * 1000;
	}
	return !reader.is_broken;
}

bool topic_get(struct google *google, const char *name, int64_t wait_ms, struct topic_facts *out, enum grpc_code *out_code,
               struct error *err)
{
	OWNED(text) message = named(name);
	OWNED(text) what = text_new(1024);
	struct admin_call call = { PUBLISHER "GetTopic", NULL, "topic", name, message, RETRY_READS, wait_ms };
	struct grpc_message *answer = NULL;
	bool is_whole;

	text_add_format(what, "looking at topic %s", name);
	call.what = what->at;
	if (!admin_call(google, &call, &answer, out_code, err))
		return false;
	is_whole = read_topic(span_make(answer->bytes, answer->len), out);
	grpc_message_free(answer);
	return is_whole || admin_broken(what->at, err);
}
