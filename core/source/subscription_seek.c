/* Seek and snapshots of google.pubsub.v1.Subscriber. */
#include "source/subscription_private.h"

#include "google/proto.h"

#include <stdio.h>

#define SUBSCRIBER "/google.pubsub.v1.Subscriber/"

static bool seek(struct google *google, const char *name, const struct text *message, int64_t wait_ms, struct error *err)
{
	OWNED(text) what = text_new(1024);
	struct admin_call call = { SUBSCRIBER "Seek", NULL, "subscription", name, message, RETRY_READS, wait_ms };

	text_add_format(what, "seeking subscription %s", name);
	call.what = what->at;
	return admin_call_only(google, &call, NULL, err);
}

bool subscription_seek_time(struct google *google, const char *name, int64_t utc_us, int64_t wait_ms, struct error *err)
{
	OWNED(text) message = text_new(2 * PUBSUB_NAME_BYTES);
	size_t mark;

	proto_put_text(message, 1, name);
	mark = proto_begin(message, 2);
	proto_put_int(message, 1, utc_us / 1000000);
	if (utc_us % 1000000)
		proto_put_int(message, 2, utc_us % 1000000 * 1000);
	proto_end(message, mark);
	return seek(google, name, message, wait_ms, err);
}

bool subscription_seek_snapshot(struct google *google, const char *name, const char *snapshot, int64_t wait_ms,
                                struct error *err)
{
	OWNED(text) message = text_new(3 * PUBSUB_NAME_BYTES);

	proto_put_text(message, 1, name);
	proto_put_text(message, 3, snapshot);
	return seek(google, name, message, wait_ms, err);
}

static bool read_snapshot(struct span bytes, struct snapshot *out)
{
	struct proto_reader reader = proto_open(bytes);
	struct proto_field field;

	*out = (struct snapshot){ 0 };
	while (proto_next(&reader, &field)) {
		struct proto_time time = { 0 };

		if (field.number == 1)
			snprintf(out->name, sizeof(out->name), "%.*s", SPAN_ARG(proto_bytes(&field)));
		else if (field.number == 2)
			snprintf(out->topic, sizeof(out->topic), "%.*s", SPAN_ARG(proto_bytes(&field)));
		else if (field.number == 3 && proto_time(&reader, &field, &time))
			out->expires_us = time.seconds * 1000000 + time.nanos / 1000;
	}
	return !reader.is_broken;
}

static bool call_for_snapshot(struct google *google, const struct admin_call *call, struct snapshot *out,
                              struct error *err)
{
	struct grpc_message *answer = NULL;
	bool is_whole;

	if (!admin_call(google, call, &answer, NULL, err))
		return false;
	is_whole = read_snapshot(span_make(answer->bytes, answer->len), out);
	grpc_message_free(answer);
	return is_whole || admin_broken(call->what, err);
}

bool snapshot_make(struct google *google, const char *name, const char *subscription, int64_t wait_ms,
                   struct snapshot *out, struct error *err)
{
	OWNED(text) message = text_new(3 * PUBSUB_NAME_BYTES);
	OWNED(text) what = text_new(2048);
	struct admin_call call = { SUBSCRIBER "CreateSnapshot", NULL, "name", name, message, RETRY_UNAVAILABLE, wait_ms };

	proto_put_text(message, 1, name);
	proto_put_text(message, 2, subscription);
	text_add_format(what, "making snapshot %s of subscription %s", name, subscription);
	call.what = what->at;
	return call_for_snapshot(google, &call, out, err);
}

bool snapshot_get(struct google *google, const char *name, int64_t wait_ms, struct snapshot *out, struct error *err)
{
	OWNED(text) message = text_new(2 * PUBSUB_NAME_BYTES);
	OWNED(text) what = text_new(1024);
	struct admin_call call = { SUBSCRIBER "GetSnapshot", NULL, "snapshot", name, message, RETRY_READS, wait_ms };

	proto_put_text(message, 1, name);
	text_add_format(what, "looking at snapshot %s", name);
	call.what = what->at;
	return call_for_snapshot(google, &call, out, err);
}

bool snapshot_remove(struct google *google, const char *name, int64_t wait_ms, struct error *err)
{
	OWNED(text) message = text_new(2 * PUBSUB_NAME_BYTES);
	OWNED(text) what = text_new(1024);
	struct admin_call call = { SUBSCRIBER "DeleteSnapshot", NULL, "snapshot", name, message, RETRY_UNAVAILABLE, wait_ms };

	proto_put_text(message, 1, name);
	text_add_format(what, "removing snapshot %s", name);
	call.what = what->at;
	return admin_call_only(google, &call, NULL, err);
}
