/*
 * Records that the transform makes once: what a schema change does to rows, and the
 * rows of a message that is itself no row. While their message is parked, or is a
 * letter for their sake, they lie beside it, packed, and come back with it.
 */
#include "record/kept.h"

#include <assert.h>

/* Of one record, as it lies in the packed bytes; this machine's byte order, for no other reads the job's store. */
struct kept_head {
	uint32_t table, operation;
	int64_t timestamp_ms;
	uint64_t json_len, proto_len;
	unsigned char position[POSITION_BYTES];
};

static bool is_kept(const struct message *message, const struct record *record, enum verdict verdict)
{
	return record->verdict == verdict && (message->fate == MESSAGE_FILTERED || record->operation == OP_ALTER);
}

static size_t kept_bytes(const struct batch *batch, const struct message *message, enum verdict verdict)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < message->record_count; i++) {
		const struct record *record = &batch->records[message->first_record + i];

		if (is_kept(message, record, verdict))
			bytes += sizeof(struct kept_head) + record->full_record.len + record->proto.len;
	}
	return bytes;
}

static char *bytes_put(char *to, const void *from, size_t len)
{
	if (len)
		memcpy(to, from, len);
	return to + len;
}

static char *record_put(char *to, const struct record *record)
{
	struct kept_head head;

	/* A table event has no key. */
	assert(!record->key.len && !record->old_key.len && !record->primary_key.len && !record->unavailable.len);
	memset(&head, 0, sizeof(head)); /* what lies between its members is stored too */
	head.table = record->table;
	head.operation = (uint32_t)record->operation;
	head.timestamp_ms = record->timestamp_ms;
	head.json_len = record->full_record.len;
	head.proto_len = record->proto.len;
	memcpy(head.position, record->position, sizeof(head.position));
	to = bytes_put(to, &head, sizeof(head));
	to = bytes_put(to, record->full_record.at, record->full_record.len);
	return bytes_put(to, record->proto.at, record->proto.len);
}

struct span kept_pack(const struct batch *batch, const struct message *message, enum verdict verdict)
{
	size_t bytes = kept_bytes(batch, message, verdict);
	char *packed, *end;

	if (!bytes)
		return SPAN("");
	packed = end = arena_bytes(batch->arena, bytes + 1);
	*end++ = (char)message->fate;
	for (uint32_t i = 0; i < message->record_count; i++) {
		const struct record *record = &batch->records[message->first_record + i];

		if (is_kept(message, record, verdict))
			end = record_put(end, record);
	}
	return span_make(packed, (size_t)(end - packed));
}

static struct span bytes_take(struct span *rest, uint64_t len)
{
	struct span taken = span_make(rest->at, (size_t)len);

	*rest = span_make(rest->at + len, rest->len - (size_t)len);
	return taken;
}

static bool record_take(struct batch *batch, struct message *message, struct span *rest)
{
	struct kept_head head;
	struct record *record;

	if (rest->len < sizeof(head))
		return false;
	memcpy(&head, bytes_take(rest, sizeof(head)).at, sizeof(head));
	if (head.operation >= OPERATIONS || head.json_len > rest->len || head.proto_len > rest->len - head.json_len)
		return false;
	record = batch_add_record(batch, message);
	record->table = head.table;
	record->operation = (enum operation)head.operation;
	record->timestamp_ms = head.timestamp_ms;
	memcpy(record->position, head.position, sizeof(record->position));
	record->full_record = bytes_take(rest, head.json_len);
	record->proto = bytes_take(rest, head.proto_len);
	return true;
}

bool kept_unpack(struct batch *batch, struct message *message)
{
	struct span rest = message->kept;

	if (!rest.len)
		return true;
	message->fate = *bytes_take(&rest, 1).at == MESSAGE_FILTERED ? MESSAGE_FILTERED : MESSAGE_OPEN;
	while (rest.len) {
		if (!record_take(batch, message, &rest))
			return false;
	}
	return true;
}
