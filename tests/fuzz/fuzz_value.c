/*
 * Any value as any type into any column: "SCHEMA NODE, LF, column, LF, value". What
 * converts can be written and read again; its canonical text means the same value;
 * the nearest value fits; a column of text holds whatever is only out of range; quick
 * readers say what the slow ones say. Reaches the readers of core/record.
 */
#include "record/type.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition) do { if (!(condition)) abort(); } while (0)
#define INPUT_MOST 20000

static const struct bq_type text_column = { .kind = BQ_STRING };

struct given {
	struct arena *arena;
	struct source_type from;
	struct bq_type to;
	struct json_doc value;
};

static bool line_take(struct span *rest, struct span *out)
{
	const char *end = rest->len ? memchr(rest->at, '\n', rest->len) : NULL;

	if (!end)
		return false;
	*out = span_make(rest->at, (size_t)(end - rest->at));
	*rest = span_make(end + 1, rest->len - out->len - 1);
	return true;
}

static bool given_read(struct given *g, struct span rest)
{
	struct json_doc node = { .tokens = NULL };
	struct span head, column;
	size_t at;
	bool is_fine;

	if (!line_take(&rest, &head) || !line_take(&rest, &column))
		return false;
	is_fine = json_parse(&node, head, &at) == JSON_FINE && source_type_read(&node, 0, g->arena, &g->from);
	json_doc_free(&node);
	if (!is_fine && !source_type_named(arena_string(g->arena, head), &g->from))
		return false;
	if (!column.len)
		type_default(&g->from, g->arena, &g->to);
	else if (!bq_type_parse(column, g->arena, &g->to))
		return false;
	return json_parse(&g->value, rest, &at) == JSON_FINE;
}

static enum convert_result convert(struct given *g, const struct source_type *from, const struct bq_type *to,
                                   const struct json_doc *doc, struct cell *out)
{
	struct convert_fault fault = { 0 };
	enum convert_result result = type_convert(from, to, doc, 0, SPAN("__debezium_unavailable_value"), g->arena, out, &fault);

	MUST((result == CONVERT_OK) || (fault.code && *fault.code && fault.message));
	return result;
}

/* Both forms stay in their rooms, and the JSON is JSON. */
static void check_forms(struct given *g, const struct cell *cell)
{
	char *json = arena_bytes(g->arena, cell_json_room(cell)), *proto = arena_bytes(g->arena, cell_proto_room(cell));
	size_t len = (size_t)(cell_json(cell, &g->to, json) - json), at;
	struct json_doc doc = { .tokens = NULL };

	MUST(len <= cell_json_room(cell));
	MUST(json_parse(&doc, span_make(json, len), &at) == JSON_FINE);
	json_doc_free(&doc);
	MUST((size_t)(cell_proto(cell, &g->to, 7, proto) - proto) <= cell_proto_room(cell));
}

/* The canonical text, as a source of text would write it, is the same value. */
static void check_text(struct given *g, const struct cell *cell)
{
	struct source_type text_type;
	struct cell again, quoted = { .kind = CELL_TEXT };
	struct json_doc doc = { .tokens = NULL };
	struct span text, back;
	size_t at;
	char *json;

	if (!cell_text(cell, &g->to, g->arena, &text) || g->to.is_array || g->to.kind == BQ_STRUCT)
		return;
	quoted.text = text;
	json = arena_bytes(g->arena, cell_json_room(&quoted));
	MUST(json_parse(&doc, span_make(json, (size_t)(cell_json(&quoted, &text_column, json) - json)), &at) == JSON_FINE);
	MUST(source_type_named("string", &text_type));
	MUST(convert(g, &text_type, &g->to, &doc, &again) == CONVERT_OK);
	if (again.kind != CELL_UNAVAILABLE)
		MUST(cell_text(&again, &g->to, g->arena, &back) && span_equal(text, back));
	json_doc_free(&doc);
}

static void check_quick(struct given *g, enum convert_result result, const struct cell *cell)
{
	struct type_quick quick = type_quick(&g->from, &g->to);
	struct span a, b;
	struct cell quickly;

	if (!quick.read || cell->kind == CELL_UNAVAILABLE || json_is(&g->value, 0, JSON_NULL) ||
	    !quick.read(&quick, &g->value, 0, g->arena, &quickly))
		return;
	MUST(result == CONVERT_OK);
	MUST(cell_text(cell, &g->to, g->arena, &a) && cell_text(&quickly, &g->to, g->arena, &b) && span_equal(a, b));
}

static void check(struct given *g)
{
	struct cell cell, as_text;
	enum convert_result result = convert(g, &g->from, &g->to, &g->value, &cell);

	check_quick(g, result, &cell);
	if (result == CONVERT_MISMATCH)
		return;
	check_forms(g, &cell);
	check_text(g, &cell);
	/* Decimals without end are the one thing that text has no room for. */
	if (result == CONVERT_OUT_OF_RANGE && convert(g, &g->from, &text_column, &g->value, &as_text) != CONVERT_OK)
		MUST(source_type_is_open_decimal(&g->from) || strstr(source_type_name(&g->from), "Decimal") || g->from.element);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct given g = { .arena = arena_new(4096) };

	if (size < INPUT_MOST && given_read(&g, span_make((const char *)data, size)))
		check(&g);
	json_doc_free(&g.value);
	arena_free(g.arena);
	return 0;
}
