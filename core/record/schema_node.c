/*
 * Debezium's schema nodes ({"type","name","parameters",...}) as source types
 * (spec/types.md 3.1). A node may be the bare name of a type.
 */
#include "record/type_private.h"

/* Schema blocks come from outside: their nesting has an end. */
#define NODE_DEPTH_MAX 64

static struct span member_text(const struct json_doc *doc, uint32_t node, const char *name, struct arena *arena)
{
	uint32_t token = json_is(doc, node, JSON_OBJECT) ? json_member(doc, node, span_of(name)) : 0;

	if (!token || !json_is(doc, token, JSON_STRING))
		return SPAN("");
	return json_text(doc, token, arena);
}

/* Parameters are strings; configuration written by people may hold numbers. */
static int32_t parameter_number(const struct json_doc *doc, uint32_t parameters, const char *name, int32_t missing)
{
	uint32_t token = parameters ? json_member(doc, parameters, span_of(name)) : 0;
	int64_t number;

	if (!token || json_is(doc, token, JSON_OBJECT) || json_is(doc, token, JSON_ARRAY))
		return missing;
	if (!span_int64(json_raw(doc, token), &number) || number > INT32_MAX || number < INT32_MIN)
		return missing;
	return (int32_t)number;
}

static void read_parameters(const struct json_doc *doc, uint32_t node, struct source_type *out)
{
	uint32_t parameters = json_member(doc, node, SPAN("parameters"));

	if (parameters && !json_is(doc, parameters, JSON_OBJECT))
		parameters = 0;
	out->scale = parameter_number(doc, parameters, "scale", 0);
	out->precision = parameter_number(doc, parameters, "connect.decimal.precision", 0);
	out->length = parameter_number(doc, parameters, "length", 0);
}

static bool read_node(const struct json_doc *doc, uint32_t node, struct arena *arena, unsigned depth,
                      struct source_type *out);

static bool read_items(const struct json_doc *doc, uint32_t node, struct arena *arena, unsigned depth,
                       struct source_type *out)
{
	uint32_t items = json_member(doc, node, SPAN("items"));
	struct source_type *element = arena_zalloc(arena, sizeof(*element));

	if (!items || !read_node(doc, items, arena, depth + 1, element))
		return false;
	out->element = element;
	return true;
}

static size_t child_count(const struct json_doc *doc, uint32_t array)
{
	size_t count = 0;

	for (uint32_t t = array + 1; t < doc->tokens[array].next; t = doc->tokens[t].next)
		count++;
	return count;
}

static bool read_fields(const struct json_doc *doc, uint32_t node, struct arena *arena, unsigned depth,
                        struct source_type *out)
{
	uint32_t list = json_member(doc, node, SPAN("fields"));
	struct source_field *fields;
	size_t count = 0;

	if (!list || !json_is(doc, list, JSON_ARRAY))
		return false;
	fields = arena_zalloc(arena, (child_count(doc, list) + 1) * sizeof(*fields));
	for (uint32_t t = list + 1; t < doc->tokens[list].next; t = doc->tokens[t].next) {
		fields[count].name = arena_copy(arena, member_text(doc, t, "field", arena));
		if (!fields[count].name.len || !read_node(doc, t, arena, depth + 1, &fields[count].type))
			return false;
		count++;
	}
	out->fields = fields;
	out->field_count = count;
	return true;
}

static bool is_number_literal(struct span literal)
{
	return span_equal(span_make(literal.at, literal.len < 3 ? literal.len : 3), SPAN("int")) ||
	       span_is(literal, "double") || span_is(literal, "float");
}

/* Oracle writes some durations as double, and Kafka's Time is int32 in one place and int64 in the other: a
 * known name with another number type keeps its meaning. */
static bool row_takes(const struct type_row *row, struct span literal)
{
	return span_is(literal, row->literal) ||
	       (is_number_literal(span_of(row->literal)) && is_number_literal(literal));
}

static bool read_node(const struct json_doc *doc, uint32_t node, struct arena *arena, unsigned depth,
                      struct source_type *out)
{
	bool is_object = json_is(doc, node, JSON_OBJECT);
	struct span literal = is_object ? member_text(doc, node, "type", arena) : json_raw(doc, node);
	struct span name = member_text(doc, node, "name", arena);
	const struct type_row *row;

	if (depth > NODE_DEPTH_MAX || (!is_object && !json_is(doc, node, JSON_STRING)))
		return false;
	row = name.len ? type_row_find(name, literal) : NULL;
	if (!row || !row_takes(row, literal))
		row = type_row_find(SPAN(""), literal);
	if (!row)
		return false;
	*out = (struct source_type){ .row = row };
	if (!is_object)
		return !span_is(literal, "array") && !span_is(literal, "struct");
	read_parameters(doc, node, out);
	if (span_is(literal, "array"))
		return read_items(doc, node, arena, depth, out);
	return row->read != read_struct || read_fields(doc, node, arena, depth, out);
}

bool source_type_read(const struct json_doc *doc, uint32_t node, struct arena *arena, struct source_type *out)
{
	struct source_type type;

	if (!read_node(doc, node, arena, 0, &type))
		return false;
	*out = type;
	return true;
}
