/*
 * Schema-change messages are no rows, but a dropped table's rows are gone: the
 * drop is remembered with its position, as a record of the filtered message.
 */
#include "transform/debezium_private.h"

#define DROPS_MAX 256

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

static void table_drop(struct debezium *d, struct event *e, struct table *table)
{
	struct record *record;

	if (!table || table->is_collided)
		return;
	e->table = table;
	if (table->is_met) { /* a table of a snapshot that begins anew is dropped before it is met */
		table_change(table, "dropped", NOTHING);
		table_step(table, NOTHING, "dropped", "kept readable until it is made again");
	}
	record = schema_record(d, e, OP_DROP);
	if (record && d->wants_proto)
		record->proto = record_proto(e, record, NULL, NULL);
}

static bool word_take(struct span *rest, const char *word)
{
	size_t len = strlen(word);

	while (rest->len && strchr(" \t\r\n,", *rest->at) && *rest->at)
		*rest = span_make(rest->at + 1, rest->len - 1);
	if (rest->len < len || !span_same_word(span_make(rest->at, len), span_of(word)))
		return false;
	if (rest->len > len && !strchr(" \t\r\n,;`\"[", rest->at[len]))
		return false;
	*rest = span_make(rest->at + len, rest->len - len);
	return true;
}

static void database_drop(struct debezium *d, struct event *e, struct span database)
{
	size_t most = d->table_count;

	for (size_t i = 0; i < most; i++) {
		struct span source = d->tables[i]->schema.source;

		if (source.len > database.len && source.at[database.len] == '.' &&
		    memcmp(source.at, database.at, database.len) == 0)
			table_drop(d, e, d->tables[i]);
	}
}

/* DDL is looked at only where tableChanges is silent: DROP DATABASE lists nothing there. */
static void ddl_drop(struct debezium *d, struct event *e, struct span ddl)
{
	struct span name, database = NOTHING;
	size_t parts;
	bool is_database;

	if (!word_take(&ddl, "drop"))
		return;
	is_database = word_take(&ddl, "database") || word_take(&ddl, "schema");
	if (!is_database && !word_take(&ddl, "table"))
		return;
	if (word_take(&ddl, "if"))
		word_take(&ddl, "exists");
	word_take(&ddl, ""); /* white space */
	value_text(&e->fields[FIELD_DB], e->batch->arena, &database);
	for (size_t i = 0; i < DROPS_MAX && schema_name_take(&ddl, e->batch->arena, &name, &parts); i++) {
		if (is_database) {
			database_drop(d, e, name);
			return;
		}
		table_drop(d, e, table_lookup(d, parts > 1 ? name : source_name(e->batch->arena, database, NOTHING, name)));
		while (ddl.len && strchr(" \t\r\n,", *ddl.at) && *ddl.at)
			ddl = span_make(ddl.at + 1, ddl.len - 1);
	}
}

static bool change_is_drop(const struct json_doc *doc, uint32_t change)
{
	uint32_t type = json_is(doc, change, JSON_OBJECT) ? json_member(doc, change, SPAN("type")) : 0;

	return type && json_is(doc, type, JSON_STRING) && span_is(json_raw(doc, type), "DROP");
}

static bool changes_drop(struct debezium *d, struct event *e, const struct value *changes)
{
	const struct json_doc *doc = changes->doc;
	uint32_t end = doc->tokens[changes->token].next;
	size_t parts, count = 0;

	for (uint32_t at = changes->token + 1; at < end; at = doc->tokens[at].next, count++) {
		uint32_t id = change_is_drop(doc, at) ? json_member(doc, at, SPAN("id")) : 0;
		struct span text, name;

		if (!id || !json_is(doc, id, JSON_STRING) || count >= DROPS_MAX)
			continue;
		text = json_text(doc, id, e->batch->arena);
		if (schema_name_take(&text, e->batch->arena, &name, &parts))
			table_drop(d, e, table_lookup(d, name));
	}
	return count > 0;
}

/* Only their DDL is read, and only their log has all schema changes in the order of rows. */
static bool is_mysql(const struct event *e)
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
	e->is_snapshot = is_snapshot(e);
	if (value_uint(&e->top[FIELD_TS_MS], &ms) == READ_OK && ms <= INT64_MAX)
		e->timestamp_ms = (int64_t)ms;
	if (!event_locate(d, e)) {
		e->message->fate = MESSAGE_FILTERED;
		e->message->refusal = NULL;
		return true;
	}
	bool has_ddl = value_text(&e->top[FIELD_DDL], e->batch->arena, &ddl) == READ_OK;

	if (!changes_drop(d, e, &e->top[FIELD_TABLE_CHANGES]) && has_ddl)
		ddl_drop(d, e, ddl);
	if (has_ddl && is_mysql(e))
		ddl_apply(d, e, ddl);
	e->message->table = TABLE_NONE;
	return true;
}
