/*
 * Events in the form of CloudEvents (structured, JSON): before and after in
 * `data`, what the source block says in attributes whose names begin with
 * "iodebezium" and have lost their underscores.
 */
#include "transform/debezium_private.h"

#define PREFIX "iodebezium"
#define TRANSACTION "tx"

/* "iodebeziumtsms" is ts_ms: letters and digits of the name, without regard to case. */
static bool is_extension(struct span attribute, const char *name)
{
	size_t i = 0;

	for (; *name; name++) {
		if (*name == '_')
			continue;
		if (i == attribute.len || !span_same_word(span_make(attribute.at + i++, 1), span_make(name, 1)))
			return false;
	}
	return i == attribute.len;
}

static enum field extension_field(struct span attribute)
{
	for (const struct field_name *f = source_fields; f->name; f++) {
		if (is_extension(attribute, f->name))
			return f->field;
	}
	/* Of the transaction; its id has the name that txId has in the source block, but for case. */
	if (attribute.len > strlen(TRANSACTION) && memcmp(attribute.at, TRANSACTION, strlen(TRANSACTION)) == 0) {
		attribute = span_make(attribute.at + strlen(TRANSACTION), attribute.len - strlen(TRANSACTION));
		for (const struct field_name *f = source_fields; f->name; f++) {
			if (is_extension(attribute, f->name))
				return f->field;
		}
	}
	return FIELD_NONE;
}

static void extensions_read(struct event *e)
{
	uint32_t end = e->doc->tokens[e->root].next;

	for (uint32_t at = e->root + 1; at < end; at = e->doc->tokens[at + 1].next) {
		struct span name = json_raw(e->doc, at);

		if (name.len <= strlen(PREFIX) || memcmp(name.at, PREFIX, strlen(PREFIX)) != 0)
			continue;
		enum field field = extension_field(span_make(name.at + strlen(PREFIX), name.len - strlen(PREFIX)));

		if (field != FIELD_NONE && value_is_null(&e->fields[field]))
			e->fields[field] = (struct value){ e->doc, at + 1 };
	}
	e->top[FIELD_OP] = e->fields[FIELD_OP];
}

static struct value member_value(const struct json_doc *doc, uint32_t object, struct span name)
{
	uint32_t token = json_member(doc, object, name);

	return token ? (struct value){ doc, token } : (struct value){ NULL, 0 };
}

/* data is {before, after}, or that behind a schema block of its own. */
static bool data_read(struct debezium *d, struct event *e)
{
	struct value data = member_value(e->doc, e->root, SPAN("data"));

	if (!value_is(&data, JSON_OBJECT))
		return REFUSE(e, "bad_envelope", NOTHING, SPAN("data"),
		              "a CloudEvents message whose 'data' is no object: only JSON is read, not Avro");
	struct value schema = member_value(e->doc, data.token, SPAN("schema"));
	struct value payload = member_value(e->doc, data.token, SPAN("payload"));

	if (value_is(&schema, JSON_OBJECT) && value_is(&payload, JSON_OBJECT)) {
		event_learn_block(d, e, &schema);
		data = payload;
	}
	e->top[FIELD_BEFORE] = member_value(e->doc, data.token, SPAN("before"));
	e->top[FIELD_AFTER] = member_value(e->doc, data.token, SPAN("after"));
	return true;
}

bool cloud_event_apply(struct debezium *d, struct event *e)
{
	struct span name;

	if (object_duplicate(e->doc, e->root, e->batch->arena, &name))
		return REFUSE(e, "duplicate_key", NOTHING, NOTHING, "the CloudEvents message has member '%.*s' twice", SPAN_ARG(name));
	extensions_read(e);
	if (value_is_null(&e->top[FIELD_OP]))
		return REFUSE(e, "bad_envelope", NOTHING, SPAN(PREFIX "op"),
		              "a CloudEvents message that is no change event: it has no '" PREFIX "op'");
	return data_read(d, e) && envelope_write(d, e);
}
