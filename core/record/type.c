/*
 * The type table and what follows from it: reading a schema node, the default
 * column of a source type, and guesses where there is no schema.
 */
#include "record/type_private.h"

#include "base/hash.h"
#include "base/name.h"
#include "record/schema.h"

static const struct type_row type_rows[] = {
#define TYPE(name, literal, kind, is_array, reader, unit, note) \
	{ (name), (literal), BQ_##kind, (is_array), (reader), (unit), (note) },
#include "record/types.def"
#undef TYPE
};

#define TYPE_ROWS (sizeof(type_rows) / sizeof(type_rows[0]))

/* A struct of a struct of a struct: BigQuery nests 15 levels. */
#define NESTING_MAX 15

const struct type_row *type_row_find(struct span name, struct span literal)
{
	for (size_t i = 0; i < TYPE_ROWS; i++) {
		const struct type_row *row = &type_rows[i];

		if (name.len ? span_is(name, row->name) : !*row->name && span_is(literal, row->literal))
			return row;
	}
	return NULL;
}

bool source_type_named(const char *name, struct source_type *out)
{
	const struct type_row *row = type_row_find(span_of(name), span_of(name));

	if (!row)
		row = type_row_find(SPAN(""), span_of(name));
	if (!row)
		return false;
	*out = (struct source_type){ .row = row };
	return true;
}

const char *source_type_name(const struct source_type *type)
{
	return *type->row->name ? type->row->name : type->row->literal;
}

bool source_type_is_open_decimal(const struct source_type *type)
{
	return type->row->read == read_variable_decimal || (type->row->read == read_decimal && type->precision <= 0);
}

bool source_type_equal(const struct source_type *a, const struct source_type *b)
{
	if (a->row != b->row || a->scale != b->scale || a->precision != b->precision || a->length != b->length ||
	    a->field_count != b->field_count || !a->element != !b->element)
		return false;
	if (a->element && !source_type_equal(a->element, b->element))
		return false;
	for (size_t i = 0; i < a->field_count; i++) {
		if (!span_equal(a->fields[i].name, b->fields[i].name) ||
		    !source_type_equal(&a->fields[i].type, &b->fields[i].type))
			return false;
	}
	return true;
}

/* NUMERIC where it fits, then BIGNUMERIC, then text; without precision BIGNUMERIC and a look at each value. */
static enum bq_kind decimal_default(int64_t precision, int64_t scale)
{
	if (precision <= 0)
		return scale > 38 ? BQ_STRING : BQ_BIGNUMERIC;
	if (scale < 0) {
		precision -= scale;
		scale = 0;
	}
	if (scale <= 9 && precision - scale <= 29)
		return BQ_NUMERIC;
	return scale <= 38 && precision - scale <= 38 ? BQ_BIGNUMERIC : BQ_STRING;
}

/* A name that needs no quotes where a type is written. */
static bool is_plain_name(struct span name)
{
	if (!name_is_allowed(NAME_COLUMN, name) || (name.at[0] >= '0' && name.at[0] <= '9'))
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.at[i];

		if (!((c | 32) >= 'a' && (c | 32) <= 'z') && !(c >= '0' && c <= '9') && c != '_')
			return false;
	}
	return true;
}

static const struct bq_field point_fields[] = {
	{ { "x", 1 }, { .kind = BQ_FLOAT64 } },
	{ { "y", 1 }, { .kind = BQ_FLOAT64 } },
};

static struct bq_type default_at(const struct source_type *from, struct arena *arena, unsigned depth);

/* Fields of a STRUCT have no case, as columns have none. */
static bool is_field_twice(const struct source_type *from, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (name_equal(from->fields[k].name, from->fields[i].name))
			return true;
	}
	return false;
}

/* A STRUCT if its fields can be columns, else JSON. */
static struct bq_type struct_default(const struct source_type *from, struct arena *arena, unsigned depth)
{
	struct bq_type json = { .kind = BQ_JSON };
	struct bq_field *fields;

	if (from->row->read == read_point)
		return (struct bq_type){ .kind = BQ_STRUCT, .fields = point_fields, .field_count = 2 };
	if (from->field_count == 0 || depth >= NESTING_MAX)
		return json;
	fields = arena_zalloc(arena, from->field_count * sizeof(*fields));
	for (size_t i = 0; i < from->field_count; i++) {
		if (!is_plain_name(from->fields[i].name) || is_field_twice(from, i))
			return json;
		fields[i].name = arena_copy(arena, from->fields[i].name);
		fields[i].type = default_at(&from->fields[i].type, arena, depth + 1);
	}
	return (struct bq_type){ .kind = BQ_STRUCT, .fields = fields, .field_count = from->field_count };
}

static struct bq_type default_at(const struct source_type *from, struct arena *arena, unsigned depth)
{
	struct bq_type type = { .kind = from->row->kind };

	if (from->row->read == read_decimal)
		type.kind = decimal_default(from->precision, from->scale);
	if (from->row->kind == BQ_STRUCT)
		return struct_default(from, arena, depth);
	if (!from->row->is_array || (from->row->kind == BQ_JSON && !from->element))
		return type;
	if (from->row->kind == BQ_JSON)
		type = default_at(from->element, arena, depth + 1);
	if (type.is_array || depth >= NESTING_MAX) /* no ARRAY of ARRAY */
		return (struct bq_type){ .kind = BQ_JSON };
	type.is_array = true;
	return type;
}

struct bq_type type_default_of(const struct source_type *from, struct arena *arena)
{
	return default_at(from, arena, 0);
}

void type_default(const struct source_type *from, struct arena *arena, struct bq_type *out)
{
	*out = default_at(from, arena, 0);
}
