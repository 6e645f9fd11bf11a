/*
 * Schema-change messages are no rows, but they change rows: what they do to the
 * rows of a table is a record of the filtered message, with its position.
 */
#include "transform/statements_private.h"

/* Takes one part of a quoted name: "a"."b", `a`.`b` or [a].[b]; or a bare word. */
static bool part_take(struct span *rest, struct arena *arena, struct span *out)
{
	char open = rest->len ? *rest->at : 0;
	char close = open == '[' ? ']' : open;
	char *name = arena_bytes(arena, rest->len + 1);
	size_t len = 0, at = 0;

	if (open == '"' || open == '`' || open == '[') {
		for (at = 1; at < rest->len; at++) {
			if (rest->at[at] == close && (at + 1 == rest->len || rest->at[at + 1] != close))
				break;
			at += rest->at[at] == close; /* doubled: the character itself */
			name[len++] = rest->at[at];
		}
		if (at++ >= rest->len)
			return false;
	} else {
		while (at < rest->len && !strchr(" \t\r\n,;.()", rest->at[at]))
			name[len++] = rest->at[at++];
	}
	*rest = span_make(rest->at + at, rest->len - at);
	*out = span_make(name, len);
	return len > 0;
}

/* "db"."table" to db.table, as tables are known. */
bool schema_name_take(struct span *rest, struct arena *arena, struct span *out, size_t *out_parts)
{
	struct span parts[3] = { NOTHING, NOTHING, NOTHING };
	size_t count = 0;

	do {
		if (count == 3 || !part_take(rest, arena, &parts[count++]))
			return false;
	} while (rest->len && *rest->at == '.' && (*rest = span_make(rest->at + 1, rest->len - 1), true));
	*out_parts = count;
	*out = source_name(arena, parts[0], parts[1], parts[2]);
	return true;
}

struct record *schema_record(struct debezium *d, struct event *e, enum operation operation)
{
	size_t message = (size_t)(e->message - e->batch->messages);

	if (e->batch->record_count >= 2 * message + BATCH_RECORDS_SPARE)
		return NULL;
	table_flush(d, e);
	struct record *record = batch_add_record(e->batch, e->message);

	position_pack(&e->position, record->position);
	record->table = e->table->number;
	record->operation = operation;
	record->timestamp_ms = e->timestamp_ms;
	return record;
}

/* Only their DDL is read, and only their log has all schema changes in the order of rows. */
bool is_mysql(const struct event *e)
{
	const struct value *connector = &e->fields[FIELD_CONNECTOR];

	return value_is(connector, JSON_STRING) && (span_is(json_raw(connector->doc, connector->token), "mysql") ||
	                                            span_is(json_raw(connector->doc, connector->token), "mariadb"));
}

/* A filtered message whatever it holds; one whose position cannot be read drops nothing. */
bool schema_change_apply(struct debezium *d, struct event *e)
{
	bool is_new;
	struct span ddl;
	uint64_t ms;

	e->op = 's';
	e->message->fate = MESSAGE_FILTERED;
	if (!value_is(&e->top[FIELD_SOURCE], JSON_OBJECT) || !value_is(&e->top[FIELD_TABLE_CHANGES], JSON_ARRAY))
		return true;
	fields_read(&d->source_order, source_fields, e->doc, e->top[FIELD_SOURCE].token, e->fields, e->batch->arena,
	            &is_new);
	d->has_ddl |= is_mysql(e);
	e->is_snapshot = is_snapshot(e);
	if (value_uint(&e->top[FIELD_TS_MS], &ms) == READ_OK && ms <= INT64_MAX)
		e->timestamp_ms = (int64_t)ms;
	if (!event_locate(d, e)) {
		e->message->fate = MESSAGE_FILTERED;
		e->message->refusal = NULL;
		return true;
	}
	bool has_ddl = value_text(&e->top[FIELD_DDL], e->batch->arena, &ddl) == READ_OK;

	changes_drop(d, e, &e->top[FIELD_TABLE_CHANGES]);
	if (has_ddl && is_mysql(e))
		ddl_apply(d, e, ddl);
	if (!is_mysql(e))
		columns_follow(d, e);
	e->message->table = TABLE_NONE;
	return true;
}
