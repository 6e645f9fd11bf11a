/*
 * Batches: messages and the records made of them, their schema changes and
 * notes, all with one lifetime.
 */
#include "record/batch.h"

#include "base/clean.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ARENA_BLOCK_BYTES (1u << 20)
#define RECORDS_ROOM ((size_t)BATCH_RECORDS_MAX * 2 + BATCH_RECORDS_SPARE)

const char *const operation_names[OPERATIONS] = {
	[OP_INSERT] = "INSERT", [OP_UPDATE] = "UPDATE",     [OP_DELETE] = "DELETE",
	[OP_READ] = "READ",     [OP_TRUNCATE] = "TRUNCATE", [OP_DROP] = "DROP",
	[OP_ALTER] = "ALTER",   [OP_RENAME] = "RENAME",
};

struct batch *batch_new(void)
{
	struct batch *batch = memory_zalloc(sizeof(*batch));

	batch->arena = arena_new(ARENA_BLOCK_BYTES);
	batch->messages = memory_alloc(BATCH_RECORDS_MAX * sizeof(*batch->messages));
	batch->records = memory_alloc(RECORDS_ROOM * sizeof(*batch->records));
	batch_reset(batch);
	return batch;
}

void batch_free(struct batch *batch)
{
	if (!batch)
		return;
	arena_free(batch->arena);
	free(batch->messages);
	free(batch->records);
	free(batch);
}

void batch_reset(struct batch *batch)
{
	arena_reset(batch->arena);
	batch->message_count = 0;
	batch->record_count = 0;
	batch->changes = NULL;
	batch->changes_end = &batch->changes;
	batch->notes = NULL;
	batch->end = (struct source_position){ .offset = 0 };
	batch->opened_ms = 0;
	batch->is_last = batch->has_more = false;
	batch->replay = 0;
	batch->ends_replay = batch->has_rows_committed = false;
}

/* Never for an empty batch: a batch holds at least one record, however large. */
bool batch_is_full(const struct batch *batch)
{
	return batch->message_count == BATCH_RECORDS_MAX ||
	       (batch->message_count && arena_used(batch->arena) >= BATCH_BYTES_MAX);
}

struct message *batch_add_message(struct batch *batch)
{
	struct message *message = &batch->messages[batch->message_count];

	assert(batch->message_count < BATCH_RECORDS_MAX);
	batch->message_count++;
	memory_clear(message, sizeof(*message));
	message->table = TABLE_NONE;
	message->fate = MESSAGE_OPEN;
	return message;
}

struct record *batch_add_record(struct batch *batch, struct message *of)
{
	struct record *record = &batch->records[batch->record_count];
	size_t index = (size_t)(of - batch->messages);

	assert(index < batch->message_count);
	assert(batch->record_count < RECORDS_ROOM);
	assert(!of->record_count || of->first_record + of->record_count == batch->record_count);
	if (!of->record_count)
		of->first_record = (uint32_t)batch->record_count;
	of->record_count++;
	batch->record_count++;
	memory_clear(record, sizeof(*record));
	record->message = (uint32_t)index;
	record->table = of->table;
	return record;
}

struct schema_change *batch_add_change(struct batch *batch, uint32_t table, const struct table_schema *schema,
                                       const char *why)
{
	struct schema_change *change = arena_zalloc(batch->arena, sizeof(*change));

	change->before = (uint32_t)batch->record_count;
	change->table = table;
	change->schema = schema ? schema_copy(batch->arena, schema) : NULL;
	change->why = arena_string(batch->arena, span_of(why));
	change->message = MESSAGE_NONE;
	*batch->changes_end = change;
	batch->changes_end = &change->next;
	return change;
}

/* The last note of the same kind, so that counts add up instead of making a list. */
static struct batch_note **note_place(struct batch *batch, uint32_t table, struct span column, const char *code)
{
	struct batch_note **place = &batch->notes;

	while (*place && ((*place)->table != table || strcmp((*place)->code, code) != 0 ||
	                  !span_equal((*place)->column, column)))
		place = &(*place)->next;
	return place;
}

__attribute__((format(printf, 2, 0)))
static const char *print_text(struct arena *arena, const char *format, va_list args)
{
	va_list again;
	int len;
	char *text;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	text = arena_bytes(arena, (size_t)len + 1);
	vsnprintf(text, (size_t)len + 1, format, args);
	return text;
}

void batch_add_note(struct batch *batch, uint32_t table, struct span column, const char *code, uint64_t count,
                    const char *format, ...)
{
	struct batch_note **place = note_place(batch, table, column, code), *note = *place;
	va_list args;

	if (!note) {
		note = *place = arena_zalloc(batch->arena, sizeof(*note));
		note->table = table;
		note->code = arena_string(batch->arena, span_of(code));
		note->column = arena_copy(batch->arena, column);
	}
	note->count += count;
	va_start(args, format);
	note->text = print_text(batch->arena, format, args);
	va_end(args);
}

/* A message with records keeps them: its newest is refused, the others are written. */
bool message_refuse(struct batch *batch, struct message *message, const char *stage, const char *code,
                    struct span column, struct span path, const char *format, ...)
{
	struct refusal *refusal = arena_zalloc(batch->arena, sizeof(*refusal));
	va_list args;

	va_start(args, format);
	refusal->message = print_text(batch->arena, format, args);
	va_end(args);
	refusal->stage = arena_string(batch->arena, span_of(stage));
	refusal->code = arena_string(batch->arena, span_of(code));
	refusal->column = arena_copy(batch->arena, column);
	refusal->path = arena_copy(batch->arena, path);
	if (!message->refusal)
		message->refusal = refusal;
	if (message->record_count) {
		struct record *record = &batch->records[message->first_record + message->record_count - 1];

		record->verdict = VERDICT_REFUSED;
		record->refusal = refusal;
	} else {
		message->fate = MESSAGE_REFUSED;
	}
	return false;
}

struct span message_attribute(const struct message *message, const char *name, bool *out_found)
{
	for (size_t i = 0; i < message->attr_count; i++) {
		if (span_is(message->attrs[i].name, name)) {
			if (out_found)
				*out_found = true;
			return message->attrs[i].value;
		}
	}
	if (out_found)
		*out_found = false;
	return SPAN("");
}

void message_attributes_text(const struct message *message, struct text *out)
{
	text_add_char(out, '[');
	for (size_t i = 0; i < message->attr_count; i++) {
		text_add(out, i ? ",{\"key\":" : "{\"key\":");
		json_quote(out, message->attrs[i].name);
		text_add(out, ",\"value\":");
		json_quote(out, message->attrs[i].value);
		text_add_char(out, '}');
	}
	text_add_char(out, ']');
}
