/*
 * A shape is the order in which a table's columns come in a message, with what
 * each needs to be read. Rows of one table and schema block nearly always have
 * the shape of the row before; then no name is looked up and no duplicate can
 * hide, because a shape was checked when it was made.
 */
#include "transform/debezium_private.h"

void shape_free(struct shape *shape)
{
	if (shape)
		arena_free(shape->arena);
}

void table_forget_shapes(struct table *table)
{
	for (size_t i = 0; i < SHAPES_MAX; i++) {
		shape_free(table->shapes[i]);
		table->shapes[i] = NULL;
	}
}

static void table_keep_shape(struct table *table, struct shape *shape)
{
	shape_free(table->shapes[SHAPES_MAX - 1]);
	memmove(&table->shapes[1], &table->shapes[0], (SHAPES_MAX - 1) * sizeof(table->shapes[0]));
	table->shapes[0] = shape;
}

static const struct block_row *event_block_row(const struct event *e)
{
	if (!e->block)
		return NULL;
	return e->is_flattened ? &e->block->flat : &e->block->row;
}

const struct source_field *block_field(const struct event *e, struct span name)
{
	const struct block_row *row = event_block_row(e);

	for (size_t i = 0; row && i < row->count; i++) {
		if (span_equal(row->fields[i].name, name))
			return &row->fields[i];
	}
	return NULL;
}

/* A name that the owner's file lists is a column, even if it looks like a field of the SMT. */
static bool is_skipped(const struct event *e, struct span name)
{
	if (e->skips_metadata && mapped_is_metadata(name))
		return true;
	return e->is_flattened && is_smt_field(name) && column_find(e->table, name) < 0;
}

static bool may_add(const struct debezium *d, bool is_first)
{
	return is_first || d->options->schema_changes == SCHEMA_ADD;
}

/* All columns of the block, so that they stand in the block's order and NULLs have their type. */
static bool shape_take_block(struct debezium *d, struct event *e, bool is_first)
{
	const struct block_row *row = event_block_row(e);

	for (size_t i = 0; row && i < row->count; i++) {
		const struct source_field *field = &row->fields[i];
		int column = column_find(e->table, field->name);

		if (column >= 0) {
			column_adopt(d, e, column, &field->type);
			continue;
		}
		if (is_skipped(e, field->name) || !may_add(d, is_first))
			continue;
		column = column_add_filled(d, e, field, is_first ? NOTHING : row->defaults[i]);
		if (column < 0)
			return false;
		if (is_first)
			column_first_default(d, e, column, &field->type, row->defaults[i]);
	}
	if (row && !is_first)
		first_fills_find(e);
	return true;
}

static bool member_resolve(struct debezium *d, struct event *e, uint32_t token, bool is_first, struct member *out)
{
	struct span name = json_text(e->doc, token, e->batch->arena);
	const struct source_field *field = block_field(e, name);

	out->from = field ? &field->type : NULL;
	out->has_default = field && event_block_row(e)->defaults[field - event_block_row(e)->fields].len;
	if (is_skipped(e, name)) {
		out->column = MEMBER_SKIPPED;
		return true;
	}
	out->column = column_find(e->table, name);
	if (out->column < 0) {
		if (!may_add(d, is_first)) {
			out->column = MEMBER_UNKNOWN;
			return true;
		}
		out->column = column_add(d, e, name, out->from);
		if (out->column < 0)
			return false;
	}
	column_tell_case(e, out->column, name);
	const struct column_more *more = &e->table->more[out->column];

	if (more->from && (more->is_encoded || !out->from))
		out->from = more->from;
	return true;
}

/* Two members for one column: the same name twice, or names that differ only by case. */
static bool member_is_second(struct event *e, uint32_t token, const struct shape *shape, size_t i)
{
	struct span name = json_text(e->doc, token, e->batch->arena);
	const struct column *column = &e->table->columns[shape->members[i].column];

	for (size_t k = 0; k < i; k++) {
		if (shape->members[k].column == shape->members[i].column && span_equal(shape->members[k].name, shape->members[i].name)) {
			REFUSE(e, "duplicate_key", column->name, NOTHING, "the row has column %.*s twice", SPAN_ARG(name));
			return true;
		}
	}
	REFUSE_MAP(e, "column_case_collision", column->name, NOTHING,
	           "two columns of the row differ only by case, and the destination's names have none: %.*s and %.*s",
	           SPAN_ARG(column->source_name), SPAN_ARG(name));
	return true;
}

/* A JSON row may have a name twice: the last value counts, as in the original. */
static bool member_takes_over(struct event *e, uint32_t object, uint32_t token, struct shape *shape, size_t i)
{
	struct span name = json_text(e->doc, token, e->batch->arena);
	uint32_t at = object + 1;

	for (size_t k = 0; k < i; k++, at = e->doc->tokens[at + 1].next) {
		if (shape->members[k].column != shape->members[i].column || !span_equal(json_text(e->doc, at, e->batch->arena), name))
			continue;
		shape->members[k].column = MEMBER_SKIPPED;
		return true;
	}
	return false;
}

static bool shape_fill(struct debezium *d, struct event *e, uint32_t object, struct shape *shape, bool is_first)
{
	uint32_t end = e->doc->tokens[object].next;
	bool *seen = arena_zalloc(e->batch->arena, columns_most(d));
	size_t i = 0;

	for (uint32_t at = object + 1; at < end; at = e->doc->tokens[at + 1].next, i++) {
		struct member *member = &shape->members[i];

		member->name = arena_copy(shape->arena, json_raw(e->doc, at));
		if (!member_resolve(d, e, at, is_first, member))
			return false;
		if (member->column < 0)
			continue;
		if (seen[member->column] && e->is_mapped && member_takes_over(e, object, at, shape, i))
			continue;
		if (seen[member->column] && member_is_second(e, at, shape, i))
			return false;
		seen[member->column] = true;
		shape->names_room += e->table->more[member->column].quoted.len + 1;
	}
	return true;
}

struct shape *shape_compile(struct debezium *d, struct event *e, uint32_t object)
{
	uint32_t end = e->doc->tokens[object].next;
	bool is_first = e->table->schema.count == 0;
	struct arena *arena = arena_new(2048);
	struct shape *shape = arena_zalloc(arena, sizeof(*shape));

	for (uint32_t at = object + 1; at < end; at = e->doc->tokens[at + 1].next)
		shape->count++;
	shape->arena = arena;
	shape->block = e->block;
	shape->members = arena_zalloc(arena, (shape->count + 1) * sizeof(*shape->members));
	if (!shape_take_block(d, e, is_first) || !shape_fill(d, e, object, shape, is_first)) {
		shape_free(shape);
		return NULL;
	}
	table_keep_shape(e->table, shape);
	return shape;
}

/* Decimals of the owner's file may have come as text; see cell_read. */
static const struct source_type *member_from(const struct debezium *d, const struct member *member,
                                             const struct column_more *more, const struct column *column)
{
	bool is_decimal = column->type.kind == BQ_NUMERIC || column->type.kind == BQ_BIGNUMERIC;

	if (d->decimals_are_text && is_decimal && member->from == more->from && !more->is_encoded)
		return &d->string;
	return member->from;
}

static void member_plan(const struct debezium *d, const struct table *table, struct member *member)
{
	const struct column *column = &table->columns[member->column];
	const struct column_more *more = &table->more[member->column];

	member->quick = (struct type_quick){ NULL, 0 };
	if (member->from)
		member->quick = type_quick(member_from(d, member, more, column), &column->type);
	else if (!column->is_provisional)
		member->quick = type_quick_untold(&column->type);
}

void shape_plan(struct debezium *d, const struct table *table, struct shape *shape)
{
	shape->type_version = table->type_version;
	for (size_t i = 0; i < shape->count; i++) {
		if (shape->members[i].column >= 0)
			member_plan(d, table, &shape->members[i]);
	}
}

void shape_find_keys(struct shape *shape, const struct event *e)
{
	const struct table *table = e->table;

	if (shape->key_members && !e->keys && shape->key_version == table->key_version)
		return;
	/* Those of before a rename are this event's alone. */
	shape->key_version = e->keys ? UINT32_MAX : table->key_version;
	if (!shape->key_members || shape->key_count < table->schema.key_count) {
		shape->key_count = table->schema.key_count;
		shape->key_members = arena_alloc(shape->arena, (shape->key_count + 1) * sizeof(*shape->key_members));
	}
	for (size_t k = 0; k < table->schema.key_count; k++) {
		shape->key_members[k] = -1;
		for (size_t i = 0; i < shape->count; i++) {
			if (shape->members[i].column == key_column(e, k))
				shape->key_members[k] = (int32_t)i;
		}
	}
}
