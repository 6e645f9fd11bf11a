/*
 * Types that change on the way, as the verification does them: every step of a cast
 * once more, by other means than the merger's (local_cast.c).
 */
#include "sink/verify_cast_private.h"

#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define LIST_MAX 65536

void cast_give(struct casting *c, const char *text)
{
	c->text = span_of(arena_printf(c->arena, "%s", text));
}

long cast_argument(const char *argument)
{
	return strtol(argument, NULL, 10);
}

static void verify_cut(struct casting *c)
{
	long left = cast_argument(c->argument);
	size_t at = 0;

	/* A character begins at every byte that continues none. */
	while (at < c->text.len && (left > 0 || ((unsigned char)c->text.at[at] & 0xc0) == 0x80)) {
		left -= ((unsigned char)c->text.at[at] & 0xc0) != 0x80;
		at++;
	}
	c->text.len = at;
}

static void verify_trim(struct casting *c)
{
	for (; c->text.len && c->text.at[c->text.len - 1] == ' '; c->text.len--)
		;
}

/* The n-th value of the list, from 1; NULL: it has fewer. */
static const char *value_at(const struct casting *c, long n)
{
	const char *at = c->argument;
	char *out = arena_zalloc(c->arena, strlen(at) / 2 + 1), *to = out;

	for (; n > 1; n--) {
		at = strchr(at, ':');
		if (!at)
			return NULL;
		at++;
	}
	if (n < 1)
		return NULL;
	for (unsigned byte; *at && *at != ':' && sscanf(at, "%2x", &byte) == 1; at += 2)
		*to++ = (char)byte;
	for (; to > out && to[-1] == ' '; to--)
		to[-1] = '\0';
	return out;
}

static void verify_enum(struct casting *c)
{
	const char *text, *value, *near = NULL;
	struct casting bare = *c;

	verify_trim(&bare);
	text = arena_string(c->arena, bare.text);
	for (long n = 1; (value = value_at(c, n)); n++) {
		if (span_is(c->text, value))
			return;
		if (!near && strcasecmp(text, value) == 0)
			near = value;
	}
	if (near)
		cast_give(c, near);
}

static void verify_set(struct casting *c)
{
	const char *text = arena_string(c->arena, c->text), *value;
	OWNED(text) out = text_new(LIST_MAX);
	size_t parts = *text != '\0', found = 0;

	for (const char *comma = text; (comma = strchr(comma, ',')); comma++)
		parts++;
	for (long n = 1; (value = value_at(c, n)); n++) {
		bool has_part = false;

		for (const char *part = text; *value && part; part = strchr(part, ',') ? strchr(part, ',') + 1 : NULL) {
			size_t len = strcspn(part, ",");

			while (len && part[len - 1] == ' ')
				len--;
			has_part = has_part || (len == strlen(value) && strncasecmp(part, value, len) == 0);
		}
		if (!has_part || (found && !text_add_char(out, ',')))
			continue;
		text_add(out, value);
		found++;
	}
	if (found == parts && strlen(text) == c->text.len)
		cast_give(c, found ? out->at : "");
}

static void verify_index(struct casting *c)
{
	bool is_number = c->text.len && c->text.len < 7 && strspn(arena_string(c->arena, c->text), "0123456789") == c->text.len;
	const char *value = is_number ? value_at(c, cast_argument(arena_string(c->arena, c->text))) : NULL;

	if (value)
		cast_give(c, value);
}

static const struct {
	const char *name;
	verify_step *step;
} steps[] = {
	{ "decimal", verify_decimal },
	{ "fixed", verify_fixed },
	{ "double", verify_double },
	{ "single", verify_single },
	{ "float", verify_float },
	{ "rint", verify_rint },
	{ "gtext", verify_gtext },
	{ "int", verify_int },
	{ "uint", verify_uint },
	{ "truth", verify_truth },
	{ "year", verify_year },
	{ "date", verify_date },
	{ "dateup", verify_dateup },
	{ "datetime", verify_datetime },
	{ "fraction", verify_fraction },
	{ "fractionup", verify_fractionup },
	{ "digits", verify_digits },
	{ "cut", verify_cut },
	{ "trim", verify_trim },
	{ "enum", verify_enum },
	{ "set", verify_set },
	{ "index", verify_index },
};

static void step_do(struct casting *c, char *step)
{
	char *colon = strchr(step, ':');

	c->argument = colon ? colon + 1 : "";
	if (colon)
		*colon = '\0';
	for (size_t i = 0; c->text.at && i < sizeof(steps) / sizeof(*steps); i++) {
		if (strcmp(step, steps[i].name) == 0)
			steps[i].step(c);
	}
}

static bool text_of(sqlite3_value *value, struct arena *arena, struct span *out)
{
	struct casting number = { .arena = arena };

	if (sqlite3_value_type(value) == SQLITE_FLOAT) {
		number.text = span_of(arena_printf(arena, "%.17g", sqlite3_value_double(value)));
		number.argument = "";
		verify_double(&number);
		*out = number.text;
		return true;
	}
	if (sqlite3_value_type(value) != SQLITE_TEXT && sqlite3_value_type(value) != SQLITE_INTEGER)
		return false;
	*out = span_make((const char *)sqlite3_value_text(value), (size_t)sqlite3_value_bytes(value));
	return true;
}

static void result_give(sqlite3_context *context, const struct casting *c, const char *type)
{
	char *copy = arena_string(c->arena, c->text), *end = copy;
	bool is_whole = strcmp(type, "INT64") == 0 || strcmp(type, "BOOL") == 0, is_real = strcmp(type, "FLOAT64") == 0;
	long long whole = is_whole ? strtoll(copy, &end, 10) : 0;
	double number = is_real ? strtod(copy, &end) : 0;

	if (!c->text.at)
		sqlite3_result_null(context);
	else if (is_whole && c->text.len && end == copy + c->text.len)
		sqlite3_result_int64(context, whole);
	else if (is_real && c->text.len && end == copy + c->text.len && isfinite(number))
		sqlite3_result_double(context, number);
	else
		sqlite3_result_text64(context, c->text.at, c->text.len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

void verify_casts_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *specs = (const char *)sqlite3_value_text(values[1]), *type = (const char *)sqlite3_value_text(values[2]);
	struct casting c = { .arena = arena_new(1024) };
	struct span was;
	char *step, *rest;

	(void)count;
	if (!specs || !*specs || !type || !text_of(values[0], c.arena, &was)) {
		sqlite3_result_value(context, values[0]);
		arena_free(c.arena);
		return;
	}
	c.text = was;
	for (step = strtok_r(arena_string(c.arena, span_of(specs)), " +", &rest); step; step = strtok_r(NULL, " +", &rest))
		step_do(&c, step);
	if (c.text.at && span_equal(was, c.text))
		sqlite3_result_value(context, values[0]);
	else
		result_give(context, &c, type);
	arena_free(c.arena);
}
