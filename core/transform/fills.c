/*
 * A column that first appears with a default in the schema block: rows that were
 * there before it have that value, and the source sends none of them again. (With
 * schema-change messages the column is known before its first row; schema_alter.c.)
 */
#include "transform/statements_private.h"

#include "base/clean.h"

#define FIRST_DEFAULTS_BYTES_MAX (64u << 10) /* what does not fit is forgotten with the run */

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

static void step_filled(struct event *e, int column, const char *change, const struct position *at, struct span json)
{
	OWNED(text) did = text_new(4096);

	text_add(did, "added ");
	bq_type_print(did, &e->table->columns[column].type);
	text_add(did, ", rows before it have ");
	text_add_span(did, json.len > 80 ? span_make(json.at, 80) : json);
	e->table->step_at = at;
	table_step(e->table, e->table->columns[column].name, change, did->at);
	e->table->step_at = NULL;
}

static void fill_add(struct text **fills, struct span name, struct span json)
{
	if (!*fills)
		*fills = text_new(1u << 20);
	text_add(*fills, (*fills)->len ? "," : "");
	json_quote(*fills, name);
	text_add_char(*fills, ':');
	text_add_span(*fills, json);
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
	fill_add(&table->fills, table->columns[column].name, json);
	table->steps->len = steps;
	table->steps->at[steps] = '\0';
	step_filled(e, column, arena_printf(e->batch->arena, "new, %s, with a default", source_type_name(&field->type)),
	            &e->position, json);
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

void column_first_default(struct debezium *d, struct event *e, int column, const struct source_type *from, struct span default_json)
{
	struct table *table = e->table;

	table->first_at = e->position;
	if (default_json.len)
		table->more[column].first_default = arena_copy(table->arena, default_read(d, e, column, from, default_json));
	table->is_first_changed |= table->more[column].first_default.len > 0;
}

/* "epochs\nposition", what life_text says, of each column " number length default", then what former_keys_text says; only the
 * epochs where there is nothing of all that. */
struct span first_defaults_text(const struct table *table, struct span epochs)
{
	OWNED(text) out = text_new(FIRST_DEFAULTS_BYTES_MAX + epochs.len);
	size_t head;

	text_add_span(out, epochs);
	text_add_char(out, '\n');
	position_keep(out, &table->first_at);
	head = out->len;
	life_text(table, out);
	for (size_t i = 0; i < table->schema.count; i++) {
		struct span json = table->more[i].first_default;

		if (json.len)
			text_add_format(out, " %zu %zu %.*s", i, json.len, SPAN_ARG(json));
	}
	former_keys_text(table, out);
	return out->len > head ? arena_copy(table->arena, text_span(out)) : epochs;
}

void first_defaults_read(struct table *table, struct span text)
{
	const char *at = arena_string(table->arena, text), *end = at + text.len;
	uint64_t column, len;

	if (!kept_position(&at, &table->first_at) || !life_read(table, &at))
		return;
	while (kept_char(&at, ' ') && kept_number(&at, 10, &column) && kept_char(&at, ' ') && kept_number(&at, 10, &len) && kept_char(&at, ' ') &&
	       column < table->schema.count && len <= (size_t)(end - at)) {
		table->more[column].first_default = span_make(at, len);
		at += len;
	}
	former_keys_read(table, at);
}

bool is_below(const struct position *a, const struct position *b)
{
	unsigned char one[POSITION_BYTES], other[POSITION_BYTES];

	position_pack(a, one);
	position_pack(b, other);
	return memcmp(one, other, POSITION_BYTES) < 0;
}

void first_fills_find(struct event *e)
{
	struct table *table = e->table;

	for (size_t i = 0; i < table->schema.count; i++) {
		struct span json = table->more[i].first_default;

		if (!json.len || !is_below(&e->position, &table->first_at) || block_field(e, table->columns[i].source_name))
			continue;
		table->more[i].first_default = NOTHING;
		table->is_first_changed = true;
		fill_add(&table->first_fills, table->columns[i].name, json);
		step_filled(e, (int)i, "is new since the first row that came, with a default", &table->first_at, json);
		table_change(table, "older rows lack column", table->columns[i].name);
	}
}

/* What did not fit whole is no JSON any more. */
static void fills_write(struct debezium *d, struct event *e, struct text *fills, const struct position *at)
{
	struct record *record;

	if (!fills || !fills->len)
		return;
	record = fills->is_full ? NULL : schema_record(d, e, OP_ALTER);
	if (record) {
		position_pack(at, record->position);
		record->full_record = span_of(arena_printf(e->batch->arena, "{\"move\":{},\"set\":{},\"fill\":{%s}}", fills->at));
		if (d->wants_proto)
			record->proto = record_proto(e, record, NULL, NULL);
	}
	if (record || fills->is_full)
		text_clear(fills);
}

void fills_put(struct debezium *d, struct event *e)
{
	fills_write(d, e, e->table->fills, &e->position);
	fills_write(d, e, e->table->first_fills, &e->table->first_at);
}
