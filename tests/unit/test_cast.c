/* Steps of casts: what MySQL's fields make of each other's values, by the merger and, by other means, by the verification. */
#include "sink/verify_cast_private.h"
#include "sink/cast_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#undef fail
#include <cmocka.h>

static const struct {
	const char *text, *spec, *want; /* NULL: NULL */
} rows[] = {
	{ "1.445", "decimal:2", "1.45" },    { "-1.445", "decimal:2", "-1.45" },   { "2.5", "decimal:0", "3" },
	{ "-2.5", "decimal:0", "-3" },       { "0.4", "decimal:0", "0" },          { "-0.4", "decimal:0", "0" },
	{ "9.99", "decimal:1", "10" },       { "007", "decimal:0", "7" },          { "+5", "decimal:3", "5" },
	{ ".5", "decimal:0", "1" },          { "5.", "decimal:1", "5" },           { "1e2", "decimal:0", "100" },
	{ "1.25e-1", "decimal:2", "0.13" },  { "123e-5", "decimal:3", "0.001" },   { " 12 ", "decimal:0", "12" },
	{ "0", "decimal:5", "0" },           { "0.000", "decimal:2", "0" },        { "0.05", "decimal:1", "0.1" },
	{ "abc", "decimal:0", "abc" },       { "", "decimal:0", "" },              { "1.2.3", "decimal:0", "1.2.3" },
	{ "1e", "decimal:0", "1e" },         { "-", "decimal:0", "-" },            { "0x1F", "decimal:0", "0x1F" },
	{ "99999999999999999999999999999999999999.5", "decimal:0", "100000000000000000000000000000000000000" },
	{ "1.5", "fixed:2", "1.50" },        { "-0.5", "fixed:1", "-0.5" },        { "12", "fixed:3", "12.000" },
	{ "0", "fixed:2", "0.00" },          { "1200", "fixed:0", "1200" },        { "0.001", "fixed:2", "0.001" },
	{ "2.5", "rint", "2" },              { "3.5", "rint", "4" },               { "-2.5", "rint", "-2" },
	{ "-0.5", "rint", "0" },             { "1e+18", "rint", "1000000000000000000" }, { "1e30", "rint", "1e30" },
	{ "0.49999999999999994", "rint", "0" },
	{ "300", "int:1", "127" },           { "-300", "int:1", "-128" },          { "-129", "int:2", "-129" },
	{ "8388608", "int:3", "8388607" },   { "2147483648", "int:4", "2147483647" }, { "-2147483649", "int:4", "-2147483648" },
	{ "9223372036854775808", "int:8", "9223372036854775807" }, { "-1", "uint:4", "0" }, { "256", "uint:1", "255" },
	{ "18446744073709551616", "uint:8", "18446744073709551615" }, { "18446744073709551615", "uint:8", "18446744073709551615" },
	{ "x", "int:1", "x" },
	{ "9007199254740993", "double", "9007199254740992" }, { "1.50", "double", "1.5" }, { "0.1234567890123456789", "double", "0.12345678901234568" },
	{ "1e400", "double", "1e400" },      { "nan", "double", "nan" },
	{ "0.1", "float", "0.1" },           { "0.123456789", "float", "0.12345679" }, { "16777217", "float", "16777216" },
	{ "0.1", "single", "0.10000000149011612" }, { "0.5", "single", "0.5" },
	{ "0.1", "single+decimal:10", "0.1000000015" },
	{ "1.5", "gtext", "1.5" },           { "1000000000000000", "gtext", "1e15" }, { "123456789012345", "gtext", "123456789012345" },
	{ "1e-06", "gtext", "0.000001" },    { "1.25e+20", "gtext", "1.25e20" },   { "1e-15", "gtext", "0.000000000000001" },
	{ "1e-16", "gtext", "1e-16" },       { "-3.25", "gtext", "-3.25" },        { "0.12345679", "gtext:6", "0.123457" },
	{ "1.5e+200", "gtext", "1.5e200" },  { "1e+200", "decimal:0", "1e+200" },  { "1e-200", "double", "1e-200" },
	{ "true", "truth", "1" },            { "false", "truth", "0" },            { "1", "truth", "1" },
	{ "24", "year", "2024" },            { "70", "year", "1970" },             { "0", "year", "0" },             { "1999", "year", "1999" },
	{ "2020-01-02T10:00:00", "date", "2020-01-02" }, { "2020-01-02T23:59:59.999999", "date", "2020-01-02" },
	{ "2020-01-02T23:59:59.499999", "dateup", "2020-01-02" }, { "2020-02-29T23:59:59.500000", "dateup", "2020-03-01" },
	{ "2019-12-31 23:59:59.5", "dateup", "2020-01-01" }, { "9999-12-31T23:59:59.900000", "dateup", NULL },
	{ "2020-01-02", "date", "2020-01-02" }, { "10:00:00", "date", "10:00:00" }, { "2020-13-02T10:00:00", "date", "2020-13-02T10:00:00" },
	{ "2020-01-02", "datetime", "2020-01-02T00:00:00" }, { "2020-01-02 03:04:05", "datetime", "2020-01-02T03:04:05" },
	{ "2020-01-02 03:04:05.5", "datetime", "2020-01-02T03:04:05.500000" }, { "soon", "datetime", "soon" }, { "2023-02-29", "datetime", "2023-02-29" },
	{ "2020-01-02T03:04:05.123456", "fraction:3", "2020-01-02T03:04:05.123000" },
	{ "2020-01-02T03:04:05.123556", "fractionup:3", "2020-01-02T03:04:05.124000" },
	{ "2020-12-31T23:59:59.500000", "fractionup:0", "2021-01-01T00:00:00" }, { "2020-01-01 23:59:59.500000+00", "fractionup:0", "2020-01-02 00:00:00+00" },
	{ "10:00:00.6", "fractionup:0", "10:00:01" }, { "10:00:00.6", "fraction:0", "10:00:00" }, { "23:59:59.500000", "fractionup:0", NULL },
	{ "2020-01-02", "fraction:0", "2020-01-02" }, { "1900-02-28T23:59:59.999999", "fractionup:3", "1900-03-01T00:00:00" },
	{ "2020-01-02", "digits", "20200102" }, { "x", "digits", "x" },
	{ "abcdef", "cut:3", "abc" },        { "ab", "cut:3", "ab" },              { "stra\303\237e", "cut:5", "stra\303\237" }, { "ab ", "cut:9+trim", "ab" },
	{ "abc", "cut:0", "" },              { "OLD", "enum:6e6577:6f6c64", "old" }, { "new", "enum:6e6577:4e4557", "new" },
	{ "NEW", "enum:6e6577:4e4557", "NEW" }, { "other", "enum:6e6577", "other" }, { "", "enum:61:", "" },
	{ "b,A", "set:61:62:63", "a,b" },    { "b,x", "set:61:62", "b,x" },        { "", "set:61", "" },
	{ "2", "index:61:62", "b" },         { "3", "index:61:62", "3" },          { "0", "index:61:62", "0" },
	{ "2.7", "unheard:1+decimal:0", "3" },
};

static const char *merged(struct arena *arena, const char *text, const char *spec)
{
	struct span out = cast_text(span_of(spec), span_of(text), arena);

	return out.at ? arena_string(arena, out) : NULL;
}

static const char *verified(sqlite3 *db, struct arena *arena, const char *text, const char *spec)
{
	sqlite3_stmt *stmt;
	const char *out = NULL;

	assert_int_equal(sqlite3_prepare_v2(db, "SELECT weir_casts(?1, ?2, 'STRING')", -1, &stmt, NULL), SQLITE_OK);
	sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 2, spec, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	if (sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		out = arena_string(arena, span_of((const char *)sqlite3_column_text(stmt, 0)));
	sqlite3_finalize(stmt);
	return out;
}

static const char *shown(const char *text)
{
	return text ? text : "NULL";
}

static void every_step_does_as_the_table_says(void **state)
{
	struct arena *arena = arena_new(1024);
	sqlite3 *db;

	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_non_null(verify_functions(db));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *a = merged(arena, rows[i].text, rows[i].spec), *b = verified(db, arena, rows[i].text, rows[i].spec);

		assert_true(cast_is_fine(span_of(rows[i].spec)));
		if (strcmp(shown(a), shown(rows[i].want)) != 0 || strcmp(shown(b), shown(rows[i].want)) != 0)
			fail_msg("'%s' %s: merger %s, verification %s, not %s", rows[i].text, rows[i].spec, shown(a), shown(b),
			         shown(rows[i].want));
	}
	sqlite3_close(db);
	arena_free(arena);
}

static uint64_t dice_state;

static unsigned dice(unsigned sides)
{
	dice_state = dice_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(dice_state >> 33) % sides;
}

/* Something near what a step reads: a number, a time, or signs of both. '#' is any digit, 'N' are some. */
static void random_text(char out[64])
{
	static const char *const forms[] = { "N.N", "N", "-N.#", "Ne-#", "0.N#", "2020-0#-2#T23:59:59.######", "1#:59:59.##", "N.5", "NEN", ".#",
		                             "1##################", "2019-12-##", "2#:#9:59", "9999-12-31 23:59:59.9##", "2024-02-29T#0:00:00" };
	const char *form = forms[dice(sizeof(forms) / sizeof(*forms))];
	size_t len = 0;

	for (; *form; form++) {
		for (unsigned i = *form == 'N' ? 1 + dice(5) : *form == '#'; i; i--)
			out[len++] = (char)('0' + dice(10));
		if (*form != 'N' && *form != '#')
			out[len++] = *form;
	}
	out[len] = '\0';
	if (dice(10) == 0)
		out[dice((unsigned)len)] = "+-.eT: 9"[dice(8)];
}

static void both_ways_agree_on_random_texts(void **state)
{
	static const char *const specs[] = { "decimal:0", "decimal:2", "fixed:3", "rint", "rint+int:2", "double", "float", "single", "gtext", "gtext:6",
		                             "date", "dateup", "datetime", "fraction:2", "fractionup:0", "fractionup:5", "decimal:0+uint:1", "digits", "year" };
	struct arena *arena = arena_new(1024);
	sqlite3 *db;
	char text[64];

	(void)state;
	dice_state = getenv("WEIR_SEED") ? strtoull(getenv("WEIR_SEED"), NULL, 10) : 1;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_non_null(verify_functions(db));
	for (int i = 0; i < 50000; i++) {
		const char *spec = specs[dice(sizeof(specs) / sizeof(*specs))], *a, *b;

		random_text(text);
		a = merged(arena, text, spec);
		b = verified(db, arena, text, spec);
		if (strcmp(shown(a), shown(b)) != 0)
			fail_msg("'%s' %s: merger %s, verification %s", text, spec, shown(a), shown(b));
		arena_reset(arena);
	}
	sqlite3_close(db);
	arena_free(arena);
}

static void specs_that_are_none_are_told(void **state)
{
	(void)state;
	assert_false(cast_is_fine(span_of("")));
	assert_false(cast_is_fine(span_of("a'b")));
	assert_false(cast_is_fine(span_of("A")));
	assert_true(cast_is_fine(span_of("gtext:6+cut:9+trim")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_step_does_as_the_table_says),
		cmocka_unit_test(both_ways_agree_on_random_texts),
		cmocka_unit_test(specs_that_are_none_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
