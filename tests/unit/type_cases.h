/* The table of tests/fixtures/types.def as C: one row a value. */
#ifndef WEIR_TESTS_TYPE_CASES_H
#define WEIR_TESTS_TYPE_CASES_H

#include "base/text.h"

enum end { WITHIN, LOWEST, HIGHEST, BELOW, ABOVE, ENDS };
enum outcome { IS_FINE, IS_OUT, IS_BAD, IS_UNREAD, IS_SUBJECT };

struct table_case {
	enum outcome outcome;
	enum end end;
	const char *node;    /* a subject's name where outcome is IS_SUBJECT */
	const char *column;  /* with or without "=" */
	const char *value;
	const char *code;
	struct span text;    /* canonical, or the nearest; "NULL" for none */
	struct span beyond;  /* in a column of text */
};

#define LITERAL(text) { (text), sizeof(text) - 1 }

static const struct table_case table_cases[] = {
#define SUBJECT(name) { .outcome = IS_SUBJECT, .node = name },
#define FINE(end, node, column, value, text) { IS_FINE, end, node, column, value, NULL, LITERAL(text), LITERAL("") },
#define OUT(end, node, column, value, code, nearest, text) \
	{ IS_OUT, end, node, column, value, code, LITERAL(nearest), LITERAL(text) },
#define BAD(end, node, column, value, code) { IS_BAD, end, node, column, value, code, LITERAL(""), LITERAL("") },
#define UNREAD(end, node, value, code) { IS_UNREAD, end, node, "STRING", value, code, LITERAL(""), LITERAL("") },
#include "../fixtures/types.def"
};

#define TABLE_CASES (sizeof(table_cases) / sizeof(table_cases[0]))

/* The column's type without the mark of a default. */
static inline const char *case_column(const struct table_case *c)
{
	return c->column + (*c->column == '=');
}

static inline bool case_is_null(const struct table_case *c)
{
	return span_is(c->text, "NULL");
}

#endif
