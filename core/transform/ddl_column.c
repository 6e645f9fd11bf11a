/*
 * A column's definition: its type, and of its attributes those that tell what
 * rows have that were there before the column.
 */
#include "transform/ddl_private.h"

#include <stdlib.h>

static bool is_end(const struct ddl_scan *scan)
{
	return scan->now.kind == DDL_END || scan->now.kind == DDL_BROKEN;
}

static void read_values(struct ddl_scan *scan, struct ddl_column *out)
{
	struct ddl_value **end = &out->values;

	while (scan->now.kind == DDL_TEXT) {
		*end = arena_zalloc(scan->arena, sizeof(**end));
		(*end)->text = scan->now.text;
		end = &(*end)->next;
		ddl_next(scan);
		ddl_take_sign(scan, ',');
	}
}

/* (10, 2), ('a', 'b'), or anything else in parentheses. */
static void read_sizes(struct ddl_scan *scan, struct ddl_column *out)
{
	if (!ddl_is_sign(scan, '('))
		return;
	ddl_next(scan);
	read_values(scan, out);
	while (scan->now.kind == DDL_NUMBER && out->size_count < 2) {
		char digits[24] = "";

		if (scan->now.text.len < sizeof(digits))
			memcpy(digits, scan->now.text.at, scan->now.text.len);
		out->sizes[out->size_count++] = strtoull(digits, NULL, 10);
		ddl_next(scan);
		ddl_take_sign(scan, ',');
	}
	while (!is_end(scan) && !ddl_take_sign(scan, ')')) {
		if (ddl_is_sign(scan, '('))
			ddl_skip_parentheses(scan);
		else
			ddl_next(scan);
	}
}

/* Types of more than one word begin with a modifier; what counts is what they hold. */
static bool read_type(struct ddl_scan *scan, struct ddl_column *out)
{
	static const char *const second_words[] = { "precision", "varying", "char", "varchar", "varcharacter" };

	if (scan->now.kind != DDL_WORD)
		return false;
	out->type = scan->now.text;
	ddl_next(scan);
	for (size_t i = 0; i < sizeof(second_words) / sizeof(*second_words); i++)
		ddl_take_word(scan, second_words[i]);
	read_sizes(scan, out);
	return true;
}

static bool take_now(struct ddl_scan *scan)
{
	static const char *const names[] = { "current_timestamp", "now", "localtime", "localtimestamp" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!ddl_take_word(scan, names[i]))
			continue;
		if (ddl_is_sign(scan, '('))
			ddl_skip_parentheses(scan);
		return true;
	}
	return false;
}

static void set_default(struct ddl_column *out, enum ddl_default kind, struct span value)
{
	out->kind = kind;
	out->value = value;
}

/* A literal, with its sign. False: it is none. */
static bool take_literal(struct ddl_scan *scan, struct ddl_column *out)
{
	bool is_minus = ddl_take_sign(scan, '-');

	if (!is_minus)
		ddl_take_sign(scan, '+');
	if (scan->now.kind == DDL_NUMBER)
		set_default(out, DDL_LITERAL, is_minus ? span_of(arena_printf(scan->arena, "-%.*s", SPAN_ARG(scan->now.text)))
		                                       : scan->now.text);
	else if (scan->now.kind == DDL_TEXT && !is_minus)
		set_default(out, DDL_LITERAL, scan->now.text);
	else if (scan->now.kind == DDL_BLOB && !is_minus)
		set_default(out, DDL_BYTES, scan->now.text);
	else
		return false;
	ddl_next(scan);
	return true;
}

static bool take_named(struct ddl_scan *scan, struct ddl_column *out)
{
	if (ddl_take_word(scan, "null"))
		set_default(out, DDL_NULL, SPAN(""));
	else if (ddl_take_word(scan, "true"))
		set_default(out, DDL_LITERAL, SPAN("1"));
	else if (ddl_take_word(scan, "false"))
		set_default(out, DDL_LITERAL, SPAN("0"));
	else if (take_now(scan))
		set_default(out, DDL_NOW, SPAN(""));
	else
		return false;
	return true;
}

/* DATE '2020-01-01': the text behind the word. */
static bool take_typed(struct ddl_scan *scan, struct ddl_column *out)
{
	return (ddl_take_word(scan, "date") || ddl_take_word(scan, "time") || ddl_take_word(scan, "timestamp")) &&
	       scan->now.kind == DDL_TEXT && take_literal(scan, out);
}

/* ('a') is a literal too; any other expression is the source's secret. */
static void read_parentheses(struct ddl_scan *scan, struct ddl_column *out)
{
	struct ddl_scan before = *scan;

	ddl_next(scan);
	if ((take_named(scan, out) || take_literal(scan, out)) && ddl_take_sign(scan, ')'))
		return;
	*scan = before;
	ddl_skip_parentheses(scan);
	set_default(out, DDL_EXPRESSION, SPAN(""));
}

static void read_default(struct ddl_scan *scan, struct ddl_column *out)
{
	if (ddl_is_sign(scan, '(')) {
		read_parentheses(scan, out);
		return;
	}
	if (take_named(scan, out) || take_typed(scan, out) || take_literal(scan, out))
		return;
	set_default(out, DDL_EXPRESSION, SPAN(""));
	ddl_next(scan);
	if (ddl_is_sign(scan, '('))
		ddl_skip_parentheses(scan);
}

static void read_not(struct ddl_scan *scan, struct ddl_column *out)
{
	out->is_not_null = ddl_take_word(scan, "null");
}

static void read_null(struct ddl_scan *scan, struct ddl_column *out)
{
	(void)scan;
	out->is_not_null = false;
}

static void read_unsigned(struct ddl_scan *scan, struct ddl_column *out)
{
	(void)scan;
	out->is_unsigned = true;
}

static void read_counter(struct ddl_scan *scan, struct ddl_column *out)
{
	(void)scan;
	out->is_counter = out->is_not_null = true;
}

static void read_primary(struct ddl_scan *scan, struct ddl_column *out)
{
	ddl_take_word(scan, "key");
	out->is_key = out->is_not_null = true;
}

static void read_unique(struct ddl_scan *scan, struct ddl_column *out)
{
	(void)out;
	ddl_take_word(scan, "key");
}

static void read_generated(struct ddl_scan *scan, struct ddl_column *out)
{
	out->is_generated = true;
	if (ddl_is_sign(scan, '('))
		ddl_skip_parentheses(scan);
}

/* GENERATED ALWAYS AS (..): the AS follows. */
static void read_always(struct ddl_scan *scan, struct ddl_column *out)
{
	ddl_take_word(scan, "always");
	out->is_generated = true;
}

/* ON UPDATE CURRENT_TIMESTAMP(6): a function's name, and what it is given. */
static void read_on(struct ddl_scan *scan, struct ddl_column *out)
{
	(void)out;
	ddl_next(scan);
	if (!ddl_is_clause_end(scan))
		ddl_next(scan);
	if (ddl_is_sign(scan, '('))
		ddl_skip_parentheses(scan);
}

/* A word that takes another: COLLATE latin1_bin, AFTER name, COMMENT 'text'. */
static void read_argument(struct ddl_scan *scan, struct ddl_column *out)
{
	(void)out;
	ddl_take_sign(scan, '=');
	if (!ddl_is_clause_end(scan))
		ddl_next(scan);
}

static const struct attribute_word {
	const char *word;
	void (*read)(struct ddl_scan *scan, struct ddl_column *out);
} attribute_words[] = {
	{ "not", read_not },           { "null", read_null },          { "default", read_default },
	{ "unsigned", read_unsigned }, { "zerofill", read_unsigned },  { "auto_increment", read_counter },
	{ "primary", read_primary },   { "key", read_primary },        { "unique", read_unique },
	{ "as", read_generated },      { "generated", read_always },   { "on", read_on },
	{ "collate", read_argument },  { "charset", read_argument },   { "set", read_argument },
	{ "comment", read_argument },  { "after", read_argument },     { "constraint", read_argument },
	{ "storage", read_argument },  { "srid", read_argument },      { "column_format", read_argument },
};

static void read_attribute(struct ddl_scan *scan, struct ddl_column *out)
{
	for (size_t i = 0; i < sizeof(attribute_words) / sizeof(*attribute_words); i++) {
		if (ddl_take_word(scan, attribute_words[i].word)) {
			attribute_words[i].read(scan, out);
			return;
		}
	}
	if (ddl_is_sign(scan, '('))
		ddl_skip_parentheses(scan);
	else
		ddl_next(scan);
}

bool ddl_read_column(struct ddl_scan *scan, struct ddl_column *out)
{
	const char *begin = scan->now.begin;

	if (!read_type(scan, out))
		return false;
	while (!ddl_is_clause_end(scan) && scan->now.kind != DDL_BROKEN)
		read_attribute(scan, out);
	if (scan->now.kind == DDL_BROKEN)
		return false;
	out->definition = span_make(begin, (size_t)(scan->last_end - begin));
	return true;
}
