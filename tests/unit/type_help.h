/* One value at a time through the type table: a schema node, a column's type, a JSON value. */
#ifndef WEIR_TESTS_TYPE_HELP_H
#define WEIR_TESTS_TYPE_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "record/type.h"

/* Behind our headers: its fail() is a macro. */
#include <cmocka.h>

#define PLACEHOLDER "__debezium_unavailable_value"

struct trial {
	struct arena *arena;
	struct source_type from;
	struct bq_type to;
	struct cell cell;
	struct convert_fault fault;
	enum convert_result result;
	struct json_doc value;
};

/* `node`: a schema node as JSON, or the name of a row. `column` NULL: the default. */
static inline void trial_run(struct trial *t, const char *node, const char *column, const char *value)
{
	struct json_doc schema = { .tokens = NULL };
	size_t at;

	*t = (struct trial){ .arena = arena_new(4096) };
	if (*node == '{') {
		assert_int_equal(json_parse(&schema, span_of(node), &at), JSON_FINE);
		assert_true(source_type_read(&schema, 0, t->arena, &t->from));
		json_doc_free(&schema);
	} else {
		assert_true(source_type_named(node, &t->from));
	}
	if (column)
		assert_true(bq_type_parse(span_of(column), t->arena, &t->to));
	else
		type_default(&t->from, t->arena, &t->to);
	assert_int_equal(json_parse(&t->value, span_of(value), &at), JSON_FINE);
	t->result = type_convert(&t->from, &t->to, &t->value, 0, SPAN(PLACEHOLDER), t->arena, &t->cell, &t->fault);
}

static inline void trial_end(struct trial *t)
{
	json_doc_free(&t->value);
	arena_free(t->arena);
}

/* Canonical text, or "NULL", "UNAVAILABLE". */
static inline const char *trial_text(struct trial *t)
{
	struct span text;

	if (cell_text(&t->cell, &t->to, t->arena, &text))
		return arena_string(t->arena, text);
	return t->cell.kind == CELL_UNAVAILABLE ? "UNAVAILABLE" : "NULL";
}

/* A row of a table of cases. `code` NULL: converts. Else the code, and `text` is the clamped value (or NULL:
 * a mismatch, which has none). */
struct type_case {
	const char *node, *column, *value, *text, *code;
};

static inline void check_case(const struct type_case *c)
{
	struct trial t;

	trial_run(&t, c->node, c->column, c->value);
	if (c->code) {
		if (t.result == CONVERT_OK)
			fail_msg("%s into %s: %s was accepted", c->node, c->column ? c->column : "default", c->value);
		assert_string_equal(t.fault.code, c->code);
		assert_true(t.fault.message && *t.fault.message);
		assert_int_equal(t.result, c->text ? CONVERT_OUT_OF_RANGE : CONVERT_MISMATCH);
	} else if (t.result != CONVERT_OK) {
		fail_msg("%s into %s: %s: %s (%s)", c->node, c->column ? c->column : "default", c->value, t.fault.code,
		         t.fault.message);
	}
	if (c->text)
		assert_string_equal(trial_text(&t), c->text);
	trial_end(&t);
}

#define CHECK_CASES(table)                                                  \
	do {                                                                \
		for (size_t i_ = 0; i_ < sizeof(table) / sizeof((table)[0]); i_++) \
			check_case(&(table)[i_]);                           \
	} while (0)

#endif
