/*
 * A column that first appears with a default in the schema block: rows that were
 * there before it have that value, and the source sends none of them again. (With
 * schema-change messages the column is known before its first row; schema_alter.c.)
 */
#include "transform/debezium_private.h"

#include "base/clean.h"

/* The default as the changelog has values of the column; empty: it is none that the column holds. */
static struct span default_read(struct debezium *d, struct event *e, int column, const struct source_type *from,
                                struct span text)
{
	const struct column_more *more = &e->table->more[column];
	const struct bq_type *type = &e->table->columns[column].type;
	struct arena *arena = e->batch->arena;
	struct convert_fault fault = { 0 };
	struct cell cell;
	size_t at;

	if (more->from && more->is_encoded)
		from = more->from;
	if (json_parse(&d->other_doc, text, &at) != JSON_FINE ||
	    type_convert(from, type, &d->other_doc, 0, NOTHING, arena, &cell, &fault) != CONVERT_OK ||
	    cell.kind == CELL_NULL || cell.kind == CELL_UNAVAILABLE || cell.kind == CELL_ABSENT)
		return NOTHING;
	char *json = arena_bytes(arena, cell_json_room(&cell));

	return span_make(json, (size_t)(cell_json(&cell, type, json) - json));
}

static void step_filled(struct event *e, int column, const struct source_type *from, struct span json)
{
	OWNED(text) did = text_new(4096);

	text_add(did, "added ");
	bq_type_print(did, &e->table->columns[column].type);
	text_add(did, ", rows before it have ");
	text_add_span(did, json.len > 80 ? span_make(json.at, 80) : json);
	e->table->step_at = &e->position;
	table_step(e->table, e->table->columns[column].name, arena_printf(e->batch->arena, "new, %s, with a default",
	           source_type_name(from)), did->at);
	e->table->step_at = NULL;
}

int column_add_filled(struct debezium *d, struct event *e, const struct source_field *field, struct span default_json)
{
	struct table *table = e->table;
	size_t steps = table->steps->len;
	int column = column_add(d, e, field->name, &field->type);
	struct span json;

	if (column < 0 || !default_json.len)
		return column;
	json = default_read(d, e, column, &field->type, default_json);
	if (!json.len)
		return column;
	if (!table->fills)
		table->fills = text_new(1u << 20);
	text_add(table->fills, table->fills->len ? "," : "");
	json_quote(table->fills, table->columns[column].name);
	text_add_char(table->fills, ':');
	text_add_span(table->fills, json);
	table->steps->len = steps;
	table->steps->at[steps] = '\0';
	step_filled(e, column, &field->type, json);
	return column;
}

struct span column_default(struct debezium *d, struct event *e, const struct block *block, int column)
{
	const struct block_row *row = e->is_flattened ? &block->flat : &block->row;
	struct span name = e->table->columns[column].source_name;

	for (size_t i = 0; i < row->count; i++) {
		if (span_equal(row->fields[i].name, name))
			return row->defaults[i].len ? default_read(d, e, column, &row->fields[i].type, row->defaults[i]) : NOTHING;
	}
	return NOTHING;
}

void fills_put(struct debezium *d, struct event *e)
{
	struct text *fills = e->table->fills;
	struct record *record;

	if (!fills || !fills->len)
		return;
	/* What did not fit whole is no JSON any more. */
	record = fills->is_full ? NULL : schema_record(d, e, OP_ALTER);
	if (record) {
		record->full_record = span_of(arena_printf(e->batch->arena, "{\"move\":{},\"set\":{},\"fill\":{%s}}", fills->at));
		if (d->wants_proto)
			record->proto = record_proto(e, record, NULL, NULL);
	}
	if (record || fills->is_full)
		text_clear(fills);
}
