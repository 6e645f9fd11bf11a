/*
 * What kind of message is it? An envelope is read here; rows without one,
 * schema changes and empty bodies have rooms of their own. Order of the
 * questions: spec/types.md 3.5.
 */
#include "transform/debezium_private.h"

static bool event_filter(struct event *e)
{
	e->message->fate = MESSAGE_FILTERED;
	return true;
}

static bool is_there(const struct event *e, enum field field)
{
	return e->top[field].doc != NULL;
}

/* before and after: an object, or null, or not there. */
static bool envelope_row(struct event *e, enum field field, const char *name, uint32_t *out_object)
{
	*out_object = NO_ROW;
	if (value_is_null(&e->top[field]))
		return true;
	if (!value_is(&e->top[field], JSON_OBJECT))
		return REFUSE(e, "bad_envelope", NOTHING, span_of(name), "'%s' is neither an object nor null", name);
	*out_object = e->top[field].token;
	return true;
}

static bool refuse_duplicate(struct event *e, uint32_t object, const char *what)
{
	struct span name;

	if (!object_duplicate(e->doc, object, e->batch->arena, &name))
		return false;
	REFUSE(e, "duplicate_key", NOTHING, NOTHING, "the %s has member '%.*s' twice", what, SPAN_ARG(name));
	return true;
}

static bool envelope_transaction(struct debezium *d, struct event *e)
{
	bool is_new;

	if (!value_is(&e->top[FIELD_TRANSACTION], JSON_OBJECT))
		return true;
	struct value fields[FIELDS];

	memory_clear(fields, sizeof(fields));
	fields_read(&d->transaction_order, source_fields, e->doc, e->top[FIELD_TRANSACTION].token, fields, e->batch->arena,
	            &is_new);
	e->fields[FIELD_TOTAL_ORDER] = fields[FIELD_TOTAL_ORDER];
	e->fields[FIELD_TRANSACTION_EPOCH] = fields[FIELD_TRANSACTION_EPOCH];
	e->fields[FIELD_TRANSACTION_RANK] = fields[FIELD_TRANSACTION_RANK];
	return true;
}

static bool source_read(struct debezium *d, struct event *e)
{
	struct field_plan *plan = field_plan_choose(d->source_plans, e->doc);
	uint32_t object = e->top[FIELD_SOURCE].token;
	bool is_new;

	if (field_plan_read(plan, e->doc, object, e->fields))
		return true;
	size_t members = fields_read(&d->source_order, source_fields, e->doc, object, e->fields, e->batch->arena, &is_new);

	if (is_new && refuse_duplicate(e, object, "source block")) {
		d->source_order.count = 0;
		return false;
	}
	if (!is_new)
		field_plan_make(plan, e->doc, object, members, e->fields);
	return true;
}

static bool envelope_source(struct debezium *d, struct event *e)
{

	if (!is_there(e, FIELD_SOURCE))
		return REFUSE(e, "no_source_table", NOTHING, NOTHING, "there is no source block: the table is unknown");
	if (!value_is(&e->top[FIELD_SOURCE], JSON_OBJECT))
		return REFUSE(e, "bad_envelope", NOTHING, SPAN("source"), "'source' is no object");
	return source_read(d, e) && envelope_transaction(d, e);
}

/* "incremental" rows come between streamed ones and are placed like these. */
bool is_snapshot(const struct event *e)
{
	const struct value *value = &e->fields[FIELD_SNAPSHOT];

	if (e->op == 'r' || value_is(value, JSON_TRUE))
		return true;
	if (!value_is(value, JSON_STRING))
		return false;
	struct span text = json_raw(value->doc, value->token);

	return !span_is(text, "false") && !span_is(text, "incremental") && text.len;
}

static bool is_operation(char op)
{
	return op == 'c' || op == 'u' || op == 'd' || op == 'r' || op == 't' || op == 'm';
}

static bool envelope_op(struct event *e)
{
	struct span op = NOTHING;

	if (value_is(&e->top[FIELD_OP], JSON_STRING))
		op = json_raw(e->doc, e->top[FIELD_OP].token);
	if (op.len != 1 || !is_operation(*op.at))
		return REFUSE(e, "unknown_op", NOTHING, SPAN("op"), "'op' is none of \"c\", \"u\", \"d\", \"r\", \"t\", \"m\"");
	e->op = *op.at;
	return true;
}

/* Spanner may capture the changed columns alone; where it captures their old values too, they can be told. */
static bool is_partial(struct event *e, bool *out_is_told)
{
	struct span captured;

	if (e->op != 'u' || value_text(&e->fields[FIELD_VALUE_CAPTURE_TYPE], e->batch->arena, &captured) != READ_OK)
		return false;
	*out_is_told = span_is(captured, "OLD_AND_NEW_VALUES");
	return *out_is_told || span_is(captured, "NEW_VALUES");
}

static bool envelope_write_row(struct debezium *d, struct event *e, uint32_t after, uint32_t before)
{
	bool is_told = false;

	if (after == NO_ROW)
		return REFUSE(e, "bad_envelope", NOTHING, SPAN("after"), "op '%c' without a row in 'after'", e->op);
	if (is_partial(e, &is_told)) {
		if (!is_told || before == NO_ROW)
			return REFUSE(e, "partial_row", NOTHING, SPAN("after"),
			              "the change stream captures new values of changed columns only: which ones they are cannot be told");
		e->is_partial = true;
	}
	return event_write_row(d, e, after, before);
}

/* Op, before, after and what the source block says are there. */
bool envelope_write(struct debezium *d, struct event *e)
{
	uint32_t before, after;

	if (!envelope_op(e))
		return false;
	if (e->op == 'm')
		return event_filter(e);
	e->is_snapshot = is_snapshot(e);
	if (has_document(e))
		return document_apply(d, e);
	if (!envelope_row(e, FIELD_BEFORE, "before", &before) || !envelope_row(e, FIELD_AFTER, "after", &after))
		return false;
	if (e->op == 't')
		return event_write_table(d, e, OP_TRUNCATE);
	if (e->op == 'd')
		return event_write_delete(d, e, before);
	return envelope_write_row(d, e, after, before);
}

bool envelope_apply(struct debezium *d, struct event *e)
{
	return envelope_op(e) && (e->op == 'm' || envelope_source(d, e)) && envelope_write(d, e);
}

/* Fields of the SMT in the row, or in its attributes: only a flattened row has them. */
static bool is_marked_flattened(const struct event *e)
{
	uint32_t end = e->doc->tokens[e->root].next;
	bool is_found = is_there(e, FIELD_DELETED);

	for (uint32_t at = e->root + 1; at < end && !is_found; at = e->doc->tokens[at + 1].next)
		is_found = is_smt_field(json_raw(e->doc, at));
	if (!is_found)
		message_attribute(e->message, "__table", &is_found);
	return is_found;
}

/* An envelope's op, source, before and after; but a table may have columns of these names. */
static bool is_envelope(const struct event *e)
{
	if (is_there(e, FIELD_OP) && value_is(&e->top[FIELD_SOURCE], JSON_OBJECT) && !is_there(e, FIELD_DELETED))
		return true;
	if (is_there(e, FIELD_OP) || is_there(e, FIELD_SOURCE) || is_there(e, FIELD_BEFORE) || is_there(e, FIELD_AFTER))
		return !is_marked_flattened(e);
	return false;
}

/* Messages about the stream. A table may have columns of their members' names, and its rows are not to be lost. */
static bool is_no_row(const struct event *e, size_t members)
{
	if (is_there(e, FIELD_TS_MS) && members == 1)
		return true; /* heartbeat */
	if (!is_there(e, FIELD_ID))
		return false;
	if ((is_there(e, FIELD_STATUS) && is_there(e, FIELD_EVENT_COUNT)) || is_there(e, FIELD_AGGREGATE_TYPE))
		return !is_marked_flattened(e); /* transaction, notification */
	return false;
}

static bool object_apply(struct debezium *d, struct event *e, size_t members, bool is_new)
{
	if (is_there(e, FIELD_TABLE_CHANGES) && value_is(&e->top[FIELD_SOURCE], JSON_OBJECT) && !is_there(e, FIELD_OP))
		return schema_change_apply(d, e);
	if (is_there(e, FIELD_SPECVERSION) && !is_there(e, FIELD_OP) && !is_marked_flattened(e))
		return cloud_event_apply(d, e);
	if (is_envelope(e)) {
		if (is_new && refuse_duplicate(e, e->root, "envelope")) {
			order_choose(d->root_orders, e->doc, e->root)->count = 0;
			return false;
		}
		return envelope_apply(d, e);
	}
	if (members == 0)
		return REFUSE(e, "bad_envelope", NOTHING, NOTHING, "an empty object: no kind of message can be told");
	if (is_no_row(e, members))
		return event_filter(e);
	return flattened_apply(d, e);
}

static bool refuse_root(struct event *e)
{
	return REFUSE(e, "unexpected_root", NOTHING, NOTHING, "the message is no object but %s",
	              json_is(e->doc, e->root, JSON_ARRAY) ? "an array" : "a single value");
}

bool event_learn_block(struct debezium *d, struct event *e, const struct value *schema)
{
	bool is_emptied;
	void *block = NULL;

	if (e->block || !value_is(schema, JSON_OBJECT))
		return true;
	size_t start = schema->doc->tokens[schema->token].start;

	if (block_recognise(d->blocks, span_make(schema->doc->text.at + start, schema->doc->text.len - start), &block)) {
		e->block = block;
		return true;
	}
	e->block = block_learn(d->blocks, schema->doc, schema->token, &is_emptied);
	for (size_t i = 0; is_emptied && i < d->table_count; i++)
		table_forget_shapes(d->tables[i]);
	return true;
}

/* {"schema":..,"payload":..}: the payload is the message. */
static bool unwrap(struct debezium *d, struct event *e, bool *out_is_tombstone)
{
	struct value payload = e->top[FIELD_PAYLOAD];

	*out_is_tombstone = value_is(&payload, JSON_NULL);
	if (*out_is_tombstone)
		return true;
	e->root = payload.token;
	if (!value_is(&payload, JSON_OBJECT))
		return refuse_root(e);
	return event_learn_block(d, e, &e->top[FIELD_SCHEMA_BLOCK]);
}

/* The members of the message, or of the payload behind a schema block. */
static size_t root_read(struct debezium *d, struct event *e, bool *out_new)
{
	struct field_plan *plan = field_plan_choose(d->root_plans, e->doc);
	size_t members = field_plan_read(plan, e->doc, e->root, e->top);

	*out_new = false;
	if (members)
		return members;
	struct member_order *order = order_choose(d->root_orders, e->doc, e->root);

	members = fields_read(order, envelope_fields, e->doc, e->root, e->top, e->batch->arena, out_new);
	/* Of what stands around a payload there is nothing to remember: the plan is the payload's. */
	if (!*out_new && !(is_there(e, FIELD_SCHEMA_BLOCK) && is_there(e, FIELD_PAYLOAD)))
		field_plan_make(plan, e->doc, e->root, members, e->top);
	return members;
}

bool event_apply(struct debezium *d, struct event *e)
{
	bool is_new, is_tombstone = false;

	if (json_is(e->doc, 0, JSON_NULL)) {
		empty_apply(d, e);
		return e->message->fate != MESSAGE_REFUSED;
	}
	if (!json_is(e->doc, 0, JSON_OBJECT))
		return refuse_root(e);
	size_t members = root_read(d, e, &is_new);

	if (is_there(e, FIELD_SCHEMA_BLOCK) && members == 1 && !value_is(&e->top[FIELD_SCHEMA_BLOCK], JSON_STRING))
		return REFUSE(e, "bad_envelope", NOTHING, NOTHING, "a schema without its payload");
	if (is_there(e, FIELD_SCHEMA_BLOCK) && is_there(e, FIELD_PAYLOAD) && members == 2) {
		if (!unwrap(d, e, &is_tombstone))
			return false;
		if (is_tombstone) {
			empty_apply(d, e);
			return e->message->fate != MESSAGE_REFUSED;
		}
		memory_clear(e->top, sizeof(e->top));
		members = root_read(d, e, &is_new);
	}
	return object_apply(d, e, members, is_new);
}
