/*
 * MongoDB's events have a document as JSON text where others have a row. It
 * becomes a row of two columns: `_id`, and `document` as it was written. A row
 * that the source has as an object is read as any other.
 */
#include "transform/debezium_private.h"

#define DOCUMENT_ID "_id"
#define DOCUMENT "document"

static bool field_read(struct debezium *d, const char *node, const char *name, struct source_field *out)
{
	struct span text = span_of(node);
	size_t at;

	out->name = span_of(name);
	return json_parse(&d->other_doc, text, &at) == JSON_FINE &&
	       source_type_read(&d->other_doc, 0, d->arena, &out->type);
}

/* What a schema block would say of such a row. */
bool document_types(struct debezium *d)
{
	struct source_field *fields = arena_zalloc(d->arena, 2 * sizeof(*fields));

	d->document_block = (struct block){ .row = { .count = 2, .fields = fields } };
	d->document_block.row.defaults = arena_zalloc(d->arena, 2 * sizeof(*d->document_block.row.defaults));
	return field_read(d, "{\"type\":\"string\"}", DOCUMENT_ID, &fields[0]) &&
	       field_read(d, "{\"type\":\"string\",\"name\":\"io.debezium.data.Json\"}", DOCUMENT, &fields[1]);
}

bool has_document(const struct event *e)
{
	const struct value *before = &e->top[FIELD_BEFORE], *after = &e->top[FIELD_AFTER];
	const struct value *connector = &e->fields[FIELD_CONNECTOR];

	if (!value_is(connector, JSON_STRING) || !span_is(json_raw(connector->doc, connector->token), "mongodb"))
		return false;
	return value_is(before, JSON_STRING) || value_is(after, JSON_STRING) || (value_is_null(before) && value_is_null(after));
}

/* The key says it, as extended JSON in a text. */
static bool id_of_key(struct debezium *d, struct event *e, struct span *out)
{
	uint32_t id = message_key(d, e) ? json_member(&d->key_doc, e->key_object, SPAN("id")) : 0;
	struct arena *arena = e->batch->arena;
	size_t at;

	if (!id || json_is(&d->key_doc, id, JSON_NULL))
		return false;
	*out = json_is(&d->key_doc, id, JSON_STRING) ? json_text(&d->key_doc, id, arena) : json_slice(&d->key_doc, id);
	if (out->len && json_parse(&d->document_doc, *out, &at) == JSON_FINE)
		*out = document_id(&d->document_doc, 0, arena);
	return out->len > 0;
}

/* Or the document. */
static bool id_of_document(struct debezium *d, struct event *e, const struct value *value, struct span *out)
{
	struct arena *arena = e->batch->arena;
	struct span text = value_is_null(value) ? NOTHING : json_text(value->doc, value->token, arena);
	size_t at;

	if (!text.len)
		return REFUSE(e, "missing_key", SPAN(DOCUMENT_ID), NOTHING, "neither the message key nor a document tells the _id");
	enum json_fault fault = json_parse(&d->document_doc, text, &at);

	if (fault != JSON_FINE)
		return REFUSE(e, "bad_envelope", NOTHING, NOTHING, "the document is no JSON: %s at byte %zu", json_fault_text(fault), at);
	uint32_t id = json_is(&d->document_doc, 0, JSON_OBJECT) ? json_member(&d->document_doc, 0, SPAN(DOCUMENT_ID)) : 0;

	if (!id)
		return REFUSE(e, "missing_key", SPAN(DOCUMENT_ID), NOTHING, "the document has no _id, and no message key tells it");
	*out = document_id(&d->document_doc, id, arena);
	return true;
}

static char *put_quoted(char *at, struct span text)
{
	static const char hex[] = "0123456789abcdef";

	*at++ = '"';
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.at[i];

		if (c < 0x20) {
			memcpy(at, "\\u00", 4);
			at[4] = hex[c >> 4];
			at[5] = hex[c & 15];
			at += 6;
			continue;
		}
		if (c == '"' || c == '\\')
			*at++ = '\\';
		*at++ = (char)c;
	}
	*at++ = '"';
	return at;
}

static char *put_text(char *at, struct span text)
{
	memcpy(at, text.at, text.len);
	return at + text.len;
}

/* {"_id":"..","document":".."}: the document's text is the message's, escapes and all. */
static struct span row_text(struct event *e, struct span id, const struct value *document)
{
	struct span quoted = document ? json_slice(document->doc, document->token) : NOTHING;
	size_t room = id.len * 6 + quoted.len + 64;
	char *start = arena_bytes(e->batch->arena, room), *at = start;

	at = put_text(at, SPAN("{\"" DOCUMENT_ID "\":"));
	at = put_quoted(at, id);
	if (document) {
		at = put_text(at, SPAN(",\"" DOCUMENT "\":"));
		at = put_text(at, quoted);
	}
	*at++ = '}';
	arena_shrink(e->batch->arena, start, room, (size_t)(at - start));
	return span_make(start, (size_t)(at - start));
}

static bool document_row(struct debezium *d, struct event *e, const struct value *document)
{
	const struct value *told = value_is(&e->top[FIELD_AFTER], JSON_STRING) ? &e->top[FIELD_AFTER] : &e->top[FIELD_BEFORE];
	struct span id;
	size_t at;

	if (!id_of_key(d, e, &id) && !id_of_document(d, e, told, &id))
		return false;
	enum json_fault fault = json_parse(&d->row_doc, row_text(e, id, document), &at);

	if (fault != JSON_FINE)
		return REFUSE(e, json_fault_code(fault), NOTHING, NOTHING, "%s", json_fault_text(fault));
	e->doc = &d->row_doc;
	e->block = &d->document_block;
	e->is_document = true;
	return true;
}

bool document_apply(struct debezium *d, struct event *e)
{
	const struct value *after = &e->top[FIELD_AFTER];

	if (e->op == 't')
		return event_write_table(d, e, OP_TRUNCATE);
	if (e->op == 'd')
		return document_row(d, e, NULL) && event_write_delete(d, e, 0);
	if (!value_is(after, JSON_STRING))
		return REFUSE(e, "partial_row", NOTHING, SPAN("after"),
		              "op '%c' without the document: 'updateDescription' tells only what was changed in it", e->op);
	return document_row(d, e, after) && event_write_row(d, e, 0, NO_ROW);
}
