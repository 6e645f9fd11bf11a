/*
 * Shapes of tables: the changelog's, made from the columns of its source table,
 * and what any of them is in the words of REST.
 */
#include "sink/bigquery_table_private.h"

/* The template's columns, and ours (engine.md "The local warehouse"). Numbers as transform/proto.c writes them. */
enum { FULL_RECORD = 1, PRIMARY_KEY = 2 };
static const struct changelog_field {
	const char *name;
	enum bq_kind kind;
	uint32_t number;
} changelog_fields[] = {
	{ "fullRecord", BQ_STRUCT, FULL_RECORD },
	{ "primaryKey", BQ_STRUCT, PRIMARY_KEY },
	{ "operation", BQ_STRING, 3 },
	{ "timestampMs", BQ_INT64, 4 },
	{ "tableName", BQ_STRING, 5 },
	{ "_weir_position", BQ_BYTES, 6 },
	{ "_weir_key", BQ_BYTES, 7 },
	{ "_weir_old_key", BQ_BYTES, 8 },
	{ "_weir_unavailable", BQ_JSON, 9 },
	{ "_weir_received", BQ_INT64, CHANGELOG_RECEIVED },
	{ "_weir_change", BQ_JSON, CHANGELOG_CHANGE },
};
#define CHANGELOG_FIELDS (sizeof(changelog_fields) / sizeof(changelog_fields[0]))

static const struct table_field *fields_of_type(struct arena *arena, const struct bq_type *type)
{
	struct table_field *fields;

	if (type->kind != BQ_STRUCT)
		return NULL;
	fields = arena_zalloc(arena, type->field_count * sizeof(*fields));
	for (size_t i = 0; i < type->field_count; i++) {
		const struct bq_field *from = &type->fields[i];

		fields[i] = (struct table_field){
			.name = arena_copy(arena, from->name), .kind = from->type.kind, .is_array = from->type.is_array,
			.is_required = from->is_required, .number = (uint32_t)i + 1, .fields = fields_of_type(arena, &from->type),
			.field_count = from->type.kind == BQ_STRUCT ? from->type.field_count : 0,
		};
	}
	return fields;
}

static void field_of_column(struct table_field *field, struct arena *arena, const struct column *column, size_t at)
{
	*field = (struct table_field){
		.name = arena_copy(arena, column->name), .kind = column->type.kind, .is_array = column->type.is_array,
		.is_required = column->told & TOLD_REQUIRED, .is_relaxed = column->told & TOLD_RELAXED, .number = (uint32_t)at + 1, .fields = fields_of_type(arena, &column->type),
		.field_count = column->type.kind == BQ_STRUCT ? column->type.field_count : 0,
	};
}

/* A column of which only NULL was seen has no type yet, and BigQuery never changes one: it comes with its first value. */
static void record_fields(struct table_field *field, struct arena *arena, const struct table_schema *schema, const bool *is_absent)
{
	struct table_field *fields = arena_zalloc(arena, schema->count * sizeof(*fields));

	for (size_t i = 0; i < schema->count; i++) {
		if (!schema->columns[i].is_provisional && !(is_absent && is_absent[i]))
			field_of_column(&fields[field->field_count++], arena, &schema->columns[i], i);
	}
	field->fields = fields;
}

static bool was_key_only(const struct column *column)
{
	return column->was_key && !column->key_ordinal && !column->is_provisional;
}

/* Key columns of now, then those of before a rename: a row of then that comes late has the key of then. */
static void key_fields(struct table_field *field, struct arena *arena, const struct table_schema *schema)
{
	struct table_field *fields = arena_zalloc(arena, (schema->key_count + schema->count) * sizeof(*fields));
	size_t count = schema->key_count;

	for (size_t k = 0; k < schema->key_count; k++)
		field_of_column(&fields[k], arena, &schema->columns[schema->keys[k]], k);
	for (size_t i = 0; count && i < schema->count; i++) {
		if (was_key_only(&schema->columns[i]))
			field_of_column(&fields[count++], arena, &schema->columns[i], KEY_COLUMNS_MAX + i);
	}
	field->fields = fields;
	field->field_count = count;
}

/* A STRUCT without a field cannot be a column of BigQuery, and nothing can be said about it. */
const struct table_shape *changelog_shape(struct arena *arena, const struct table_schema *schema)
{
	struct table_shape *shape = arena_zalloc(arena, sizeof(*shape));
	struct table_field *fields = arena_zalloc(arena, CHANGELOG_FIELDS * sizeof(*fields));

	for (size_t i = 0; i < CHANGELOG_FIELDS; i++) {
		struct table_field *field = &fields[shape->count];

		*field = (struct table_field){ .name = span_of(changelog_fields[i].name), .kind = changelog_fields[i].kind,
		                               .number = changelog_fields[i].number };
		if (field->number == FULL_RECORD)
			record_fields(field, arena, schema, NULL);
		else if (field->number == PRIMARY_KEY)
			key_fields(field, arena, schema);
		shape->count += field->kind != BQ_STRUCT || field->field_count > 0;
	}
	shape->fields = fields;
	shape->description = arena_printf(arena, "Changelog Table for %.*s", SPAN_ARG(schema->source));
	return shape;
}

const struct table_shape *row_shape_of(struct arena *arena, const struct table_schema *schema, const bool *is_absent,
                                       bool adds_nothing)
{
	struct table_shape *shape = arena_zalloc(arena, sizeof(*shape));
	struct table_field row = { .fields = NULL };

	record_fields(&row, arena, schema, is_absent);
	shape->adapts = true;
	shape->adds_nothing = adds_nothing;
	shape->fields = row.fields;
	shape->count = row.field_count;
	return shape;
}

static const struct table_field *fields_copy(struct arena *arena, const struct table_field *fields, size_t count)
{
	struct table_field *copy = arena_zalloc(arena, count * sizeof(*copy));

	for (size_t i = 0; i < count; i++) {
		copy[i] = fields[i];
		copy[i].name = arena_copy(arena, fields[i].name);
		copy[i].fields = fields_copy(arena, fields[i].fields, fields[i].field_count);
	}
	return copy;
}

static const struct span *keys_copy(struct arena *arena, const struct table_shape *shape)
{
	struct span *keys = arena_zalloc(arena, shape->key_count * sizeof(*keys));

	for (size_t i = 0; i < shape->key_count; i++)
		keys[i] = arena_copy(arena, shape->keys[i]);
	return keys;
}

const struct table_shape *shape_copy(struct arena *arena, const struct table_shape *shape)
{
	struct table_shape *copy = arena_zalloc(arena, sizeof(*copy));

	copy->fields = fields_copy(arena, shape->fields, shape->count);
	copy->count = shape->count;
	copy->adapts = shape->adapts;
	copy->adds_nothing = shape->adds_nothing;
	copy->keys = keys_copy(arena, shape);
	copy->key_count = shape->key_count;
	if (shape->description)
		copy->description = arena_string(arena, span_of(shape->description));
	return copy;
}

static bool fields_equal(const struct table_field *a, const struct table_field *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (a[i].kind != b[i].kind || a[i].is_array != b[i].is_array || a[i].number != b[i].number ||
		    a[i].field_count != b[i].field_count || a[i].is_required != b[i].is_required ||
		    a[i].is_relaxed != b[i].is_relaxed || !span_equal(a[i].name, b[i].name) ||
		    !fields_equal(a[i].fields, b[i].fields, a[i].field_count))
			return false;
	}
	return true;
}

bool shape_equal(const struct table_shape *a, const struct table_shape *b)
{
	return a->count == b->count && fields_equal(a->fields, b->fields, a->count);
}

static size_t fields_count(const struct table_field *fields, size_t count)
{
	size_t sum = count;

	for (size_t i = 0; i < count; i++)
		sum += fields_count(fields[i].fields, fields[i].field_count);
	return sum;
}

size_t shape_columns(const struct table_shape *shape)
{
	return fields_count(shape->fields, shape->count);
}
