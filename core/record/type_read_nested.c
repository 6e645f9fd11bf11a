/*
 * Readers of arrays, structs and maps. Inside, every value is canonical: as in
 * fullRecord, numbers and truth stay JSON, all else is a JSON string.
 */
#include "record/schema.h"
#include "record/type_decimal_private.h"
#include "record/type_time_private.h"

/* Elements or fields on their way into one JSON text. */
struct nest {
	struct cell *cells;
	struct bq_type *types;
	const struct span *names; /* of a struct */
	size_t count;
	enum convert_result result;
};

static size_t child_count(const struct json_doc *doc, uint32_t parent)
{
	size_t count = 0;

	for (uint32_t t = parent + 1; t < doc->tokens[parent].next; t = doc->tokens[t].next)
		count++;
	return count;
}

static struct nest nest_new(struct reading *r, size_t count)
{
	struct nest nest = { .count = count };

	nest.cells = arena_zalloc(r->arena, (count + 1) * sizeof(*nest.cells));
	nest.types = arena_zalloc(r->arena, (count + 1) * sizeof(*nest.types));
	return nest;
}

static void nest_write(struct reading *r, const struct nest *nest, struct cell *out)
{
	size_t room = 2;
	char *text, *at;

	for (size_t i = 0; i < nest->count; i++)
		room += cell_json_room(&nest->cells[i]) + 2 + (nest->names ? nest->names[i].len * 6 + 3 : 0);
	text = at = arena_bytes(r->arena, room);
	*at++ = nest->names ? '{' : '[';
	*out = (struct cell){ .kind = CELL_JSON };
	for (size_t i = 0; i < nest->count; i++) {
		if (i)
			*at++ = ',';
		if (nest->names) {
			at = json_put_string(nest->names[i], at);
			*at++ = ':';
		}
		at = cell_json_value(&nest->cells[i], &nest->types[i], at);
		if (nest->cells[i].kind == CELL_JSON)
			out->number += nest->cells[i].number;
		else if (!nest->names && nest->cells[i].kind == CELL_NULL)
			out->number++;
	}
	*at++ = nest->names ? '}' : ']';
	arena_shrink(r->arena, text, room, (size_t)(at - text));
	out->text = span_make(text, (size_t)(at - text));
}

/* A column of JSON gets the text alone: its bytes for BigQuery are a string, not fields. */
static void nest_is_json(struct reading *r, struct cell *out)
{
	out->kind = CELL_TEXT;
	out->number = 0;
	r->got = (struct bq_type){ .kind = BQ_JSON };
}

/* Out of range goes on, so that a clamped whole can be had; the first fault is the one reported. */
static bool nest_read(struct reading *r, struct nest *nest, size_t i, const struct source_type *from, uint32_t token,
                      struct span path)
{
	struct convert_fault first = *r->fault;
	enum convert_result result =
		reading_inside(r, from, &nest->types[i], token, path, &nest->cells[i]);

	if (result == CONVERT_OUT_OF_RANGE && nest->result == CONVERT_OUT_OF_RANGE)
		*r->fault = first;
	if (result != CONVERT_OK)
		nest->result = result;
	return result != CONVERT_MISMATCH;
}

static struct bq_type element_type(struct reading *r, const struct source_type *element)
{
	struct bq_type type = *r->to;

	if (!type.is_array)
		return type_default_of(element, r->arena);
	type.is_array = false;
	return type;
}

static struct source_type vector_element(const struct reading *r)
{
	struct source_type element = { .row = type_row_find(SPAN(""), SPAN("double")) };

	return r->from->element ? *r->from->element : element;
}

enum convert_result read_array(struct reading *r, uint32_t token, struct cell *out)
{
	struct source_type element = vector_element(r);
	struct nest nest;
	size_t i = 0;

	if (!json_is(r->doc, token, JSON_ARRAY))
		return reading_mismatch(r, "no array where an array is meant");
	nest = nest_new(r, child_count(r->doc, token));
	nest.types[0] = element_type(r, &element);
	for (uint32_t t = token + 1; t < r->doc->tokens[token].next; t = r->doc->tokens[t].next, i++) {
		nest.types[i] = nest.types[0];
		if (!nest_read(r, &nest, i, &element, t, span_of(arena_printf(r->arena, "[%zu]", i))))
			return CONVERT_MISMATCH;
	}
	nest_write(r, &nest, out);
	if (r->to->is_array)
		r->got = *r->to;
	else
		nest_is_json(r, out);
	return nest.result;
}

/* A field's type in the column, by place; where the column is no STRUCT, its default. */
static struct bq_type field_type(struct reading *r, size_t i)
{
	const struct bq_type *to = r->to;

	if (to->kind == BQ_STRUCT && !to->is_array && i < to->field_count &&
	    span_equal(to->fields[i].name, r->from->fields[i].name))
		return to->fields[i].type;
	return type_default_of(&r->from->fields[i].type, r->arena);
}

typedef uint32_t member_finder(const struct reading *r, uint32_t object, struct span name);

static enum convert_result struct_read(struct reading *r, uint32_t token, member_finder *find, struct cell *out)
{
	size_t count = r->from->field_count;
	struct span *names;
	struct nest nest;

	if (!json_is(r->doc, token, JSON_OBJECT))
		return reading_mismatch(r, "no object where a struct is meant");
	if (!count)
		return read_object(r, token, out);
	nest = nest_new(r, count);
	names = arena_alloc(r->arena, count * sizeof(*names));
	nest.names = names;
	for (size_t i = 0; i < count; i++) {
		uint32_t member = find(r, token, r->from->fields[i].name);

		names[i] = r->from->fields[i].name;
		nest.types[i] = field_type(r, i);
		if (member && !nest_read(r, &nest, i, &r->from->fields[i].type, member,
		                         span_of(arena_printf(r->arena, ".%.*s", (int)names[i].len, names[i].at))))
			return CONVERT_MISMATCH;
	}
	nest_write(r, &nest, out);
	if (r->to->kind == BQ_STRUCT)
		r->got = *r->to;
	else
		nest_is_json(r, out);
	return nest.result;
}

static uint32_t member_of_source(const struct reading *r, uint32_t object, struct span name)
{
	return json_member(r->doc, object, name);
}

enum convert_result read_struct(struct reading *r, uint32_t token, struct cell *out)
{
	return struct_read(r, token, member_of_source, out);
}

/* As the destination compares names: without case. Of a name that stands twice the last counts, as in rows. */
static uint32_t member_of_column(const struct reading *r, uint32_t object, struct span name)
{
	uint32_t end = r->doc->tokens[object].next, found = 0;

	for (uint32_t at = object + 1; at < end; at = r->doc->tokens[at + 1].next) {
		if (name_equal(json_text(r->doc, at, r->arena), name))
			found = at + 1;
	}
	return found;
}

static enum convert_result any_array(struct reading *r, uint32_t token, struct cell *out);

/* The value as it stands; in a column of an array its elements. */
enum convert_result read_object(struct reading *r, uint32_t token, struct cell *out)
{
	struct span text = json_slice(r->doc, token);

	if (r->to->is_array && json_is(r->doc, token, JSON_ARRAY))
		return any_array(r, token, out);
	if (text.len >= 1000 && reading_json_text(r, text) != CONVERT_OK) /* only the depth can be wrong */
		return CONVERT_MISMATCH;
	out->kind = CELL_TEXT;
	out->text = text;
	r->got = (struct bq_type){ .kind = BQ_JSON };
	return CONVERT_OK;
}

/* Known structs that are kept as they stand: sparse vectors, circles, lines. */
enum convert_result read_members(struct reading *r, uint32_t token, struct cell *out)
{
	if (!json_is(r->doc, token, JSON_OBJECT))
		return reading_mismatch(r, "no object where one is meant");
	return read_object(r, token, out);
}

enum convert_result read_map(struct reading *r, uint32_t token, struct cell *out)
{
	if (!json_is(r->doc, token, JSON_OBJECT) && !json_is(r->doc, token, JSON_ARRAY))
		return reading_mismatch(r, "neither object nor pairs where a map is meant");
	return read_object(r, token, out);
}

/* "a,b" of a MySQL SET; the empty set has no parts. */
enum convert_result read_enum_set(struct reading *r, uint32_t token, struct cell *out)
{
	struct bq_type string = { .kind = BQ_STRING };
	struct span text;
	struct nest nest;
	size_t count = 0;

	if (!r->to->is_array || r->to->kind != BQ_STRING || !json_is(r->doc, token, JSON_STRING))
		return read_text(r, token, out);
	text = json_text(r->doc, token, r->arena);
	nest = nest_new(r, text.len + 1);
	for (size_t from = 0, at = 0; text.len && at <= text.len; at++) {
		if (at < text.len && text.at[at] != ',')
			continue;
		nest.types[count] = string;
		nest.cells[count++] = (struct cell){ .kind = CELL_TEXT, .text = span_make(text.at + from, at - from) };
		from = at + 1;
	}
	nest.count = count;
	nest_write(r, &nest, out);
	r->got = *r->to;
	return CONVERT_OK;
}

/* A number in a DATE is days, as every connector writes them. Of other times nobody tells the unit, and a guess would be
 * wrong by a factor of a thousand. */
static enum convert_result any_number(struct reading *r, uint32_t token, struct cell *out)
{
	bool is_time = bq_value_group(r->to) == GROUP_TIME && !r->to->is_array;

	if (r->to->kind == BQ_NUMERIC || r->to->kind == BQ_BIGNUMERIC)
		return reading_decimal_text(r, json_raw(r->doc, token), out);
	if (is_time && r->to->kind != BQ_DATE)
		return reading_mismatch(r, "a number whose unit nobody tells where a time is meant");
	if (is_time) {
		r->got = *r->to;
		return read_days(r, token, out);
	}
	r->got = (struct bq_type){ .kind = BQ_FLOAT64 };
	if (r->to->kind == BQ_FLOAT64 || r->doc->tokens[token].flags & JSON_IS_FRACTION)
		return read_real(r, token, out);
	r->got.kind = BQ_INT64;
	return read_int(r, token, out);
}

/* Elements of an array whose kind nobody told. */
static enum convert_result any_array(struct reading *r, uint32_t token, struct cell *out)
{
	const struct source_type element = { .row = type_row_find(SPAN("weir.Any"), SPAN("")) };
	const struct source_type from = { .row = type_row_find(SPAN(""), SPAN("array")), .element = &element };
	const struct source_type *any = r->from;
	enum convert_result result;

	if (!r->to->is_array)
		return read_object(r, token, out);
	r->from = &from;
	result = read_array(r, token, out);
	r->from = any;
	return result;
}

/* An object: a decimal of its own scale, the fields of a STRUCT, else JSON. */
static enum convert_result any_object(struct reading *r, uint32_t token, struct cell *out)
{
	struct source_type from = { .row = type_row_find(SPAN(""), SPAN("struct")), .field_count = r->to->field_count };
	const struct source_type *any = r->from;
	struct source_field *fields;
	enum convert_result result;

	if (r->to->kind == BQ_NUMERIC || r->to->kind == BQ_BIGNUMERIC)
		return read_variable_decimal(r, token, out);
	if (r->to->kind != BQ_STRUCT || r->to->is_array)
		return read_object(r, token, out);
	fields = arena_alloc(r->arena, from.field_count * sizeof(*fields));
	for (size_t i = 0; i < from.field_count; i++)
		fields[i] = (struct source_field){ r->to->fields[i].name, { .row = any->row } };
	from.fields = fields;
	r->from = &from;
	result = struct_read(r, token, member_of_column, out);
	r->from = any;
	return result;
}

enum convert_result read_any(struct reading *r, uint32_t token, struct cell *out)
{
	switch (r->doc->tokens[token].kind) {
	case JSON_STRING:
		r->got = (struct bq_type){ .kind = BQ_STRING };
		return read_text(r, token, out);
	case JSON_NUMBER:
		return any_number(r, token, out);
	case JSON_TRUE:
	case JSON_FALSE:
		r->got = (struct bq_type){ .kind = BQ_BOOL };
		return read_bool(r, token, out);
	case JSON_ARRAY:
		return any_array(r, token, out);
	case JSON_OBJECT:
		return any_object(r, token, out);
	default:
		break;
	}
	out->kind = CELL_NULL;
	return CONVERT_OK;
}
