/*
 * Any bytes through the Debezium transform: it never crashes, each message gets
 * exactly one fate, and the batch is consistent. Reaches core/transform and the
 * readers of core/record. The first byte chooses the job: with or without a
 * sourceSchema, schemaChanges, proto; the rest is message key, LF, body; more
 * messages follow a byte 0.
 */
#include "base/file.h"
#include "transform/transform.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition) do { if (!(condition)) abort(); } while (0)
#define MESSAGES_MAX 32

static const char schema[] =
	"{\"t\":{\"primary_key\":[\"id\"],\"columns\":{\"id\":{\"bigquery\":\"INT64\"},\"n\":{\"bigquery\":\"NUMERIC\","
	"\"debezium\":{\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"2\"}}},"
	"\"d\":{\"debezium\":{\"type\":\"int32\",\"name\":\"io.debezium.time.Date\"}}}}}";

/* What an earlier run has seen of the source's logs: the first key, for it may be damaged too. */
static struct transform *open_job(struct job_options *options, uint8_t choice, struct span logs)
{
	char path[] = "/tmp/weir-fuzz-event-XXXXXX";
	struct error err;

	options->template = TEMPLATE_CDC;
	options->schema_changes = choice >> 1 & 3 ? (enum schema_changes)((choice >> 1 & 3) - 1) : SCHEMA_ADD;
	options->on_unrepresentable[0] = UNREPRESENTABLE_DEAD_LETTER;
	options->on_unrepresentable[1] = (enum unrepresentable)(choice >> 3 & 3);
	if (choice & 1) {
		int file = mkstemp(path);

		MUST(file >= 0 && write(file, schema, sizeof(schema) - 1) == (ssize_t)sizeof(schema) - 1);
		close(file);
		options->source_schema = path;
	}
	struct transform_setup setup = { .options = options, .logs = choice & 128 ? logs : SPAN(""), .wants_proto = choice & 32,
		.wants_json = choice & 64 };
	struct transform *transform = transform_debezium.open(&setup, &err);

	if (choice & 1)
		unlink(path);
	options->source_schema = NULL;
	MUST(transform);
	return transform;
}

static void check(const struct batch *batch, const struct message *message)
{
	MUST(message->fate != MESSAGE_OPEN || message->record_count);
	MUST((message->fate == MESSAGE_REFUSED) == (message->refusal && message->refusal->code[0]));
	MUST(message->fate != MESSAGE_REFUSED || !message->record_count);
	for (uint32_t i = 0; i < message->record_count; i++) {
		const struct record *record = &batch->records[message->first_record + i];

		MUST(&batch->messages[record->message] == message);
		MUST(record->table != TABLE_NONE && record->operation < OPERATIONS);
		MUST(record->verdict == VERDICT_PENDING || record->verdict == VERDICT_PARKED);
		bool is_row = record->operation <= OP_READ;

		MUST(!is_row || record->verdict == VERDICT_PARKED || record->key.len);
		if (!record->full_record.len)
			continue;
		struct json_doc doc = { 0 };
		size_t at;

		MUST(json_parse(&doc, record->full_record, &at) == JSON_FINE && json_is(&doc, 0, JSON_OBJECT));
		json_doc_free(&doc);
	}
}

/* Key and body of the next message. */
static bool message_take(struct span *rest, struct span *out_key, struct span *out_body)
{
	const char *end, *line;

	if (!rest->len)
		return false;
	end = memchr(rest->at, 0, rest->len);
	struct span one = { rest->at, end ? (size_t)(end - rest->at) : rest->len };
	size_t used = one.len + (end ? 1 : 0);

	line = one.len ? memchr(one.at, '\n', one.len) : NULL;
	*out_key = line ? span_make(one.at, (size_t)(line - one.at)) : SPAN("");
	*out_body = line ? span_make(line + 1, one.len - out_key->len - 1) : one;
	*rest = span_make(rest->at + used, rest->len - used);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct job_options options = { 0 };
	struct span rest = { (const char *)data + 1, size ? size - 1 : 0 }, first = rest, key = SPAN(""), body;

	if (!size)
		return 0;
	message_take(&first, &key, &body);
	struct transform *transform = open_job(&options, data[0], key);
	struct batch *batch = batch_new();

	for (size_t i = 0; i < MESSAGES_MAX && message_take(&rest, &key, &body); i++) {
		struct message *message = batch_add_message(batch);
		struct attribute attrs[] = { { SPAN("__op"), SPAN("\"d\"") }, { SPAN("__table"), SPAN("t") },
			{ SPAN("__debezium.oldkey"), key } };

		message->body = body;
		message->key = key;
		message->line = i + 1;
		message->attrs = attrs;
		message->attr_count = key.len % 4;
		transform->ops->apply(transform, batch, message);
		message->attrs = NULL;
		message->attr_count = 0;
		check(batch, message);
	}
	transform->ops->finish(transform, batch);
	transform->ops->close(transform);
	transform = open_job(&options, 128, batch->end.logs);
	transform->ops->close(transform);
	batch_free(batch);
	return 0;
}
