/*
 * Rows that ExtractNewRecordState has taken out of their envelope: table, op
 * and position stand in fields of the row or in attributes, if at all. And
 * bodies that are empty, where only the attributes can tell.
 */
#include "transform/debezium_private.h"

/* "__source_ts_ms" is ts_ms of the source block; "____tbl" is what "table:__tbl" becomes. */
static struct span smt_plain(struct span name)
{
	static const char *const prefixes[] = { "__", "__", "source_", "transaction_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t len = strlen(prefixes[i]);

		if (name.len > len && memcmp(name.at, prefixes[i], len) == 0)
			name = span_make(name.at + len, name.len - len);
	}
	return name;
}

/* Fields of Debezium that say nothing we need, but are no columns either. */
static const char *const other_fields[] = { "version", "ts_us", "ts_ns", "txId", "xmin", "origin", "origin_lsn",
	"gtid", "thread", "query", "id", "data_collection_order", "redo_thread", "user_name", "row_id", "lsid",
	"txnNumber", "wallTime", NULL };

static bool is_of_source(struct span name)
{
	return name.len >= strlen("__source_ts_ms") &&
	       memcmp(name.at + name.len - strlen("source_ts_ms"), "source_", 7) == 0;
}

static enum field smt_field(struct span name)
{
	struct span plain = smt_plain(name);

	for (const struct field_name *f = source_fields; f->name; f++) {
		if (!span_is(plain, f->name))
			continue;
		/* "__ts_ms" is when the connector read the change, "__source_ts_ms" when it was made. */
		return f->field == FIELD_TS_MS && !is_of_source(name) ? FIELD_CLOCK_MS : f->field;
	}
	return FIELD_NONE;
}

bool is_smt_field(struct span name)
{
	if (name.len < 3 || memcmp(name.at, "__", 2) != 0)
		return false;
	if (smt_field(name) != FIELD_NONE || (name.len > 4 && memcmp(name.at, "____", 4) == 0))
		return true;
	struct span plain = smt_plain(name);

	for (size_t i = 0; other_fields[i]; i++) {
		if (span_is(plain, other_fields[i]))
			return true;
	}
	return false;
}

static void field_take(struct event *e, enum field field, const struct json_doc *doc, uint32_t token)
{
	if (field != FIELD_NONE && value_is_null(&e->fields[field]))
		e->fields[field] = (struct value){ doc, token };
}

static void fields_of_object(struct event *e, const struct json_doc *doc, uint32_t object)
{
	uint32_t end = doc->tokens[object].next;

	for (uint32_t at = object + 1; at < end; at = doc->tokens[at + 1].next) {
		struct span raw = json_raw(doc, at);

		if (raw.len > 2 && raw.at[0] == '_' && raw.at[1] == '_')
			field_take(e, smt_field(raw), doc, at + 1);
	}
}

/* A header's value is JSON (quoted text, or with a schema block), or plain text. As JSON: */
static void attribute_json(struct debezium *d, struct text *out, struct span value)
{
	size_t at;
	uint32_t payload = 0;

	if (json_parse(&d->other_doc, value, &at) != JSON_FINE) {
		text_add_char(out, '"');
		for (size_t i = 0; i < value.len; i++) {
			unsigned char c = (unsigned char)value.at[i];

			if (c == '"' || c == '\\')
				text_add_char(out, '\\');
			text_add_char(out, c < 0x20 ? ' ' : (char)c);
		}
		text_add_char(out, '"');
		return;
	}
	if (json_is(&d->other_doc, 0, JSON_OBJECT))
		payload = json_member(&d->other_doc, 0, SPAN("payload"));
	text_add_span(out, json_slice(&d->other_doc, payload));
}

/* The attributes' Debezium fields as one object, so that they are read as a row's are. */
static void fields_of_attributes(struct debezium *d, struct event *e)
{
	const struct message *message = e->message;
	struct text *out = text_new(256 * 1024);
	size_t at;

	text_add_char(out, '{');
	for (size_t i = 0; i < message->attr_count; i++) {
		struct span name = message->attrs[i].name;

		if (!is_smt_field(name) || memchr(name.at, '"', name.len) || memchr(name.at, '\\', name.len))
			continue;
		text_add(out, out->len > 1 ? ",\"" : "\"");
		text_add_span(out, name);
		text_add(out, "\":");
		attribute_json(d, out, message->attrs[i].value);
	}
	text_add_char(out, '}');
	if (out->len > 2 && json_parse(&d->attribute_doc, arena_copy(e->batch->arena, text_span(out)), &at) == JSON_FINE)
		fields_of_object(e, &d->attribute_doc, 0);
	text_free(out);
}

static char flattened_op(struct event *e)
{
	struct span op, deleted;
	struct arena *arena = e->batch->arena;

	if (value_is(&e->fields[FIELD_DELETED], JSON_TRUE) ||
	    (value_text(&e->fields[FIELD_DELETED], arena, &deleted) == READ_OK && span_is(deleted, "true")))
		return 'd';
	if (value_text(&e->fields[FIELD_OP], arena, &op) != READ_OK)
		return 'u'; /* insert and update cannot be told apart: both put the row */
	return op.len == 1 && strchr("cudrt", *op.at) && *op.at ? *op.at : 0;
}

bool flattened_apply(struct debezium *d, struct event *e)
{
	e->is_flattened = true;
	fields_of_object(e, e->doc, e->root);
	if (e->message->attr_count)
		fields_of_attributes(d, e);
	e->op = flattened_op(e);
	if (!e->op)
		return REFUSE(e, "unknown_op", NOTHING, SPAN("__op"), "'__op' is none of \"c\", \"u\", \"d\", \"r\", \"t\"");
	e->is_snapshot = e->op == 'r';
	if (e->op == 't')
		return event_write_table(d, e, OP_TRUNCATE);
	if (e->op == 'd')
		return event_write_delete(d, e, e->root);
	return event_write_row(d, e, e->root, NO_ROW);
}

static bool has_debezium_attribute(const struct message *message)
{
	for (size_t i = 0; i < message->attr_count; i++) {
		struct span name = message->attrs[i].name;

		if (name.len > 2 && memcmp(name.at, "__", 2) == 0)
			return true;
	}
	return false;
}

/* No body. A delete if the attributes say so, the tombstone behind a delete if there is a key; else somebody's mistake. */
void empty_apply(struct debezium *d, struct event *e)
{
	struct message *message = e->message;

	e->is_flattened = true;
	if (message->attr_count)
		fields_of_attributes(d, e);
	e->op = value_is_null(&e->fields[FIELD_OP]) ? 0 : flattened_op(e);
	if (e->op == 'd' && !value_is_null(&e->fields[FIELD_TABLE]) && message->key.len) {
		event_write_delete(d, e, NO_ROW);
		return;
	}
	if (message->key.len || has_debezium_attribute(message)) {
		message->fate = MESSAGE_FILTERED;
		return;
	}
	if (message->body_is_null || message->body.len)
		REFUSE(e, "null_root", NOTHING, NOTHING, "the body is null, and neither key nor attributes tell of what");
	else
		REFUSE(e, "empty_message", NOTHING, NOTHING, "the body is empty, and neither key nor attributes tell of what");
}
