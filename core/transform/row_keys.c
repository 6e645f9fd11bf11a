/*
 * The key of one row: from the row, and from the message key where the row is
 * silent; and key changes.
 */
#include "transform/debezium_private.h"

/* {"id":7}, or {"schema":..,"payload":{"id":7}}; "default" and other texts are no key. */
static bool key_parse(struct json_doc *doc, struct span text, uint32_t *out_object)
{
	size_t at;
	uint32_t payload;

	if (text.len == 0 || json_parse(doc, text, &at) != JSON_FINE || !json_is(doc, 0, JSON_OBJECT))
		return false;
	*out_object = 0;
	payload = json_member(doc, 0, SPAN("payload"));
	if (payload && json_member(doc, 0, SPAN("schema"))) {
		if (!json_is(doc, payload, JSON_OBJECT))
			return false;
		*out_object = payload;
	}
	return doc->tokens[*out_object].next > *out_object + 1;
}

bool message_key(struct debezium *d, struct event *e)
{
	if (!e->is_key_parsed) {
		e->is_key_parsed = true;
		e->has_key = key_parse(&d->key_doc, e->message->key, &e->key_object);
	}
	return e->has_key;
}

/* MongoDB's connector calls the key of its messages "id", and the column "_id". */
struct span key_column_name(const struct event *e, struct span name)
{
	bool is_mongodb = e->is_document || !value_is_null(&e->fields[FIELD_ORD]);

	if (!span_is(name, "id"))
		return name;
	if (!is_mongodb && (column_find(e->table, name) >= 0 || column_find(e->table, SPAN("_id")) < 0))
		return name;
	return SPAN("_id");
}

uint32_t key_member(const struct json_doc *doc, uint32_t object, struct arena *arena, struct span name)
{
	uint32_t end = doc->tokens[object].next, found = 0;

	for (uint32_t at = object + 1; at < end; at = doc->tokens[at + 1].next) {
		struct span member = json_text(doc, at, arena);

		if (span_equal(member, name))
			return at + 1;
		if (!found && span_same_word(member, name))
			found = at + 1;
	}
	if (!found && span_is(name, "_id")) /* see key_column_name */
		return json_member(doc, object, SPAN("id"));
	return found;
}

/* Two keys that differ by nanoseconds would be one: refused, as a key outside the column's range is. */
static bool key_is_whole(struct event *e, uint16_t column, const struct source_type *from, const struct json_doc *doc,
                         uint32_t token)
{
	const struct column *c = &e->table->columns[column];

	if (!from || c->type.kind == BQ_INT64 || !source_time_is_cut(from, doc, token))
		return true;
	return REFUSE_MAP(e, "timestamp_out_of_range", c->name, NOTHING, "key column %.*s has digits below a microsecond, which "
	                  "would be cut: two keys could become one; columnTypes INT64 keeps the number of a NanoTimestamp",
	                  SPAN_ARG(c->name));
}

/* Only SQL Server's positions have this member and its tables this type. */
static bool has_upper_uuids(const struct event *e)
{
	return e->fields[FIELD_CHANGE_LSN].doc || e->fields[FIELD_COMMIT_LSN].doc;
}

static bool key_cell_of_json(struct debezium *d, struct event *e, const struct json_doc *doc, uint32_t object,
                             uint16_t column, struct cell *out)
{
	struct span name = e->table->columns[column].source_name;
	uint32_t token = key_member(doc, object, e->batch->arena, name);
	const struct source_field *field = block_field(e, name);
	const struct column_more *more = &e->table->more[column];

	*out = (struct cell){ .kind = CELL_ABSENT };
	if (!token)
		return true;
	const struct source_type *from = more->is_encoded || !field ? more->from : &field->type;

	if (!key_is_whole(e, column, from, doc, token) || !cell_read(d, e, column, from, doc, token, out))
		return false;
	key_spell(out, from, has_upper_uuids(e), e->batch->arena);
	return true;
}

static bool key_cell_of_row(struct debezium *d, struct event *e, const struct row *row, size_t k, struct cell *out)
{
	int32_t member = row->shape->key_members[k];

	*out = (struct cell){ .kind = CELL_ABSENT };
	if (member < 0)
		return true;
	const struct source_type *from = row->shape->members[member].from;

	if (!key_is_whole(e, key_column(e, k), from, row->doc, row->tokens[member]))
		return false;
	if (row->is_converted) {
		*out = row->cells[member];
		return true;
	}
	if (!cell_read(d, e, key_column(e, k), from, row->doc, row->tokens[member], out))
		return false;
	key_spell(out, from, has_upper_uuids(e), e->batch->arena);
	return true;
}

/* The row says of its key what the key says. */
void row_spell_key(struct event *e, struct row *row)
{
	shape_find_keys(row->shape, e);
	for (size_t k = 0; k < e->table->schema.key_count; k++) {
		int32_t member = row->shape->key_members[k];

		if (member < 0)
			continue;
		row->text_bytes -= row->cells[member].text.len;
		key_spell(&row->cells[member], row->shape->members[member].from, has_upper_uuids(e), e->batch->arena);
		row->text_bytes += row->cells[member].text.len;
	}
}

static bool cell_is_real(const struct cell *cell)
{
	return cell->kind != CELL_NULL && cell->kind != CELL_ABSENT && cell->kind != CELL_UNAVAILABLE;
}

static void key_room(struct debezium *d, size_t count)
{
	if (count <= d->key_room)
		return;
	d->key_room = count;
	d->key_cells = memory_grow(d->key_cells, count * sizeof(*d->key_cells));
}

static bool key_refuse(struct event *e, uint16_t column, const struct cell *cell)
{
	struct span name = e->table->columns[column].name;

	if (cell->kind == CELL_NULL)
		return REFUSE(e, "null_key", name, NOTHING, "key column %.*s is NULL, and the message key does not tell it",
		              SPAN_ARG(name));
	return REFUSE(e, "missing_key", name, NOTHING, "key column %.*s stands neither in the row nor in the message key",
	              SPAN_ARG(name));
}

static void key_finish(struct debezium *d, struct event *e, struct row_key *out)
{
	struct table_schema schema = schema_then(e);

	out->key = key_encode(&schema, d->key_cells, e->batch->arena);
	out->json = key_json(&schema, d->key_cells, e->batch->arena);
	out->proto = NOTHING;
	if (d->wants_proto)
		out->proto = proto_cells(e, e->table, d->key_cells);
}

bool key_of_row(struct debezium *d, struct event *e, const struct row *row, struct row_key *out)
{
	const struct table *table = e->table;

	key_room(d, table->schema.key_count);
	if (row)
		shape_find_keys(row->shape, e);
	for (size_t k = 0; k < table->schema.key_count; k++) {
		struct cell *cell = &d->key_cells[k], from_key;

		*cell = (struct cell){ .kind = CELL_ABSENT };
		if (row && !key_cell_of_row(d, e, row, k, cell))
			return false;
		if (cell_is_real(cell))
			continue;
		if (message_key(d, e)) {
			if (!key_cell_of_json(d, e, &d->key_doc, e->key_object, key_column(e, k), &from_key))
				return false;
			if (from_key.kind != CELL_ABSENT)
				*cell = from_key;
		}
		if (!cell_is_real(cell))
			return key_refuse(e, key_column(e, k), cell);
	}
	key_finish(d, e, out);
	return true;
}

/* The bytes of the key's values are the same in both rows: nothing changed, and nothing need be converted. */
static bool key_bytes_equal(const struct row *before, const struct row *after, size_t key_count)
{
	for (size_t k = 0; k < key_count; k++) {
		int32_t x = before->shape->key_members[k], y = after->shape->key_members[k];

		if (x < 0 || y < 0 ||
		    !span_equal(json_slice(before->doc, before->tokens[x]), json_slice(after->doc, after->tokens[y])))
			return false;
	}
	return true;
}

/* An update whose `before` really has the key, and another than `after`. A before that lacks it tells nothing. */
bool key_has_changed(struct debezium *d, struct event *e, const struct row *before, const struct row *after,
                     struct span after_key, struct row_key *out)
{
	const struct table *table = e->table;

	shape_find_keys(before->shape, e);
	shape_find_keys(after->shape, e);
	if (key_bytes_equal(before, after, table->schema.key_count))
		return false;
	key_room(d, table->schema.key_count);
	for (size_t k = 0; k < table->schema.key_count; k++) {
		int32_t member = before->shape->key_members[k];

		if (member < 0 || json_is(before->doc, before->tokens[member], JSON_NULL))
			return false;
		/* A value that cannot be read is no key; `after` was fine, so the event is. */
		if (!key_cell_of_row(d, e, before, k, &d->key_cells[k]) || !cell_is_real(&d->key_cells[k])) {
			e->message->fate = MESSAGE_OPEN;
			e->message->refusal = NULL;
			return false;
		}
	}
	key_finish(d, e, out);
	return !span_equal(out->key, after_key);
}

/* __debezium.oldkey: JSON like the message key. One that cannot be read is as good as none. */
bool key_of_attribute(struct debezium *d, struct event *e, const char *name, struct span *out_key)
{
	const struct table *table = e->table;
	bool is_found;
	uint32_t object;
	struct span text = message_attribute(e->message, name, &is_found);

	if (!is_found || !table->schema.key_count || !key_parse(&d->other_doc, text, &object))
		return false;
	key_room(d, table->schema.key_count);
	for (size_t k = 0; k < table->schema.key_count; k++) {
		if (!key_cell_of_json(d, e, &d->other_doc, object, key_column(e, k), &d->key_cells[k]) ||
		    !cell_is_real(&d->key_cells[k])) {
			e->message->fate = MESSAGE_OPEN;
			e->message->refusal = NULL;
			return false;
		}
	}
	struct table_schema schema = schema_then(e);

	*out_key = key_encode(&schema, d->key_cells, e->batch->arena);
	return out_key->len > 0;
}
