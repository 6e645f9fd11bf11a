/* What a column's new type makes of its values: for every pair a cast, or a word about what is kept. */
#include "transform/ddl_private.h"
#include "transform/ddl_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#undef fail
#include <cmocka.h>

#define ZONE "it goes by the time zone of the source's session"
#define UNKNOWN "how the source converts it is not known here"
#define FORMATTED "how many digits its text has, only the source knows"
#define NUMBERED "it becomes the number of the value in the list"

static const struct {
	const char *was;  /* as it is told: a kind, or a name below */
	const char *now;
	const char *want; /* spec, or "kept: why" */
} rows[] = {
	{ "int", "bigint", "" },                   { "int", "int", "int:4" },                 { "int", "tinyint unsigned", "uint:1" },
	{ "int", "mediumint", "int:3" },           { "int", "decimal(5,2)", "" },             { "int", "double", "double" },
	{ "int", "float", "float" },               { "int", "year", "year" },                 { "int", "varchar(5)", "cut:5" },
	{ "int", "char(5)", "cut:5+trim" },        { "int", "text", "" },                     { "int", "enum('a','b')", "index:61:62" },
	{ "int", "date", "kept: " UNKNOWN },       { "int", "varbinary(9)", "kept: " UNKNOWN }, { "int", "bit(8)", "kept: " UNKNOWN },
	{ "int", "set('a')", "kept: " UNKNOWN },   { "int", "point", "kept: " UNKNOWN },
	{ "bit", "int", "truth" },                 { "bit", "tinyint(1)", "kept: its next row must tell whether it stays a truth value" }, { "bit", "tinyint(2)", "truth" },
	{ "bit", "varchar(3)", "kept: " UNKNOWN },
	{ "double", "int", "rint+int:4" },         { "double", "bigint unsigned", "rint+uint:8" }, { "double", "decimal(9,3)", "decimal:3" },
	{ "double", "double", "" },                { "double", "float", "float" },            { "double", "double(9,2)", "decimal:2+double" },
	{ "double", "float(9,2)", "float+decimal:2+float" }, { "double", "float(53)", "" },   { "double", "varchar(20)", "gtext+cut:20" },
	{ "double", "text", "gtext" },             { "double", "date", "kept: " UNKNOWN },
	{ "float", "double", "single" },           { "float", "decimal(9,3)", "single+decimal:3" }, { "float", "varchar(20)", "gtext:6+cut:20" },
	{ "float", "int", "rint+int:4" },
	{ "decimal", "int", "decimal:0+int:4" },   { "decimal", "decimal(9,1)", "decimal:1" }, { "decimal", "double", "double" },
	{ "decimal", "varchar(9)", "fixed:2+cut:9" }, { "decimal", "text", "fixed:2" },       { "decimal", "date", "kept: " UNKNOWN },
	{ "text", "int", "decimal:0+int:4" },      { "text", "decimal(9,1)", "decimal:1" },   { "text", "double", "double" },
	{ "text", "varchar(9)", "cut:9" },         { "text", "char(9)", "cut:9+trim" },       { "text", "longtext", "" },
	{ "text", "enum('a','b')", "enum:61:62" }, { "text", "set('a','b')", "set:61:62" },   { "text", "date", "dateup" },
	{ "text", "datetime(3)", "datetime+fractionup:3" }, { "text", "time", "fractionup:0" }, { "text", "timestamp", "kept: " UNKNOWN },
	{ "text", "blob", "kept: " UNKNOWN },      { "text", "json", "kept: " UNKNOWN },      { "text", "year", "kept: " UNKNOWN },
	{ "enum", "int", "kept: " NUMBERED },      { "enum", "varchar(9)", "cut:9" },         { "enum", "enum('A')", "enum:41" },
	{ "enum", "double", "kept: " NUMBERED },   { "enum", "decimal(5)", "kept: " NUMBERED },
	{ "bytes", "blob", "" },                   { "bytes", "binary(9)", "kept: " UNKNOWN }, { "bytes", "text", "kept: " UNKNOWN },
	{ "date", "datetime", "datetime" },        { "date", "date", "" },                    { "date", "int", "digits" },
	{ "date", "varchar(10)", "cut:10" },       { "date", "timestamp", "kept: " ZONE },    { "date", "time", "kept: " UNKNOWN },
	{ "datetime", "datetime", "fractionup:0" }, { "datetime", "datetime(6)", "" },        { "datetime", "date", "dateup" },
	{ "datetime", "timestamp", "kept: " ZONE }, { "datetime", "varchar(30)", "kept: " FORMATTED }, { "datetime", "bigint", "kept: " UNKNOWN },
	{ "time", "time(2)", "fractionup:2" },     { "time", "text", "kept: " FORMATTED },    { "time", "int", "kept: " UNKNOWN },
	{ "timestamp", "timestamp(3)", "fractionup:3" }, { "timestamp", "datetime", "kept: " ZONE }, { "timestamp", "char(30)", "kept: " ZONE },
	{ "json", "json", "" },                    { "json", "text", "kept: " UNKNOWN },
	{ "mariadb text", "json", "" },            { "mariadb datetime", "datetime", "fraction:0" }, { "mariadb datetime", "date", "date" },
	{ "int", "int as (a + 1)", "kept: it is computed by the source" },
	{ "untold float", "double", "kept: no row since the start has told what type it was" },
	{ "untold float", "float", "float" },
	{ "untold text", "int", "decimal:0+int:4, kept: no row since the start has told what type it was" },
	{ "untold text", "varchar(9)", "cut:9" },
	{ "untold decimal", "varchar(9)", "kept: " FORMATTED },
	{ "wide decimal", "varchar(99)", "fixed:2+cut:99" },
};

static const struct {
	const char *name;
	struct ddl_was was;
} kinds[] = {
	{ "int", { .kind = BQ_INT64, .is_told = true, .scale = -1 } },
	{ "bit", { .kind = BQ_BOOL, .is_told = true, .scale = -1 } },
	{ "double", { .kind = BQ_FLOAT64, .is_told = true, .scale = -1 } },
	{ "float", { .kind = BQ_FLOAT64, .is_told = true, .is_single = true, .scale = -1 } },
	{ "decimal", { .kind = BQ_NUMERIC, .is_told = true, .scale = 2 } },
	{ "wide decimal", { .kind = BQ_STRING, .is_told = true, .scale = 2 } },
	{ "text", { .kind = BQ_STRING, .is_told = true, .scale = -1 } },
	{ "enum", { .kind = BQ_STRING, .is_told = true, .is_list = true, .scale = -1 } },
	{ "bytes", { .kind = BQ_BYTES, .is_told = true, .scale = -1 } },
	{ "date", { .kind = BQ_DATE, .is_told = true, .scale = -1 } },
	{ "datetime", { .kind = BQ_DATETIME, .is_told = true, .scale = -1 } },
	{ "time", { .kind = BQ_TIME, .is_told = true, .scale = -1 } },
	{ "timestamp", { .kind = BQ_TIMESTAMP, .is_told = true, .scale = -1 } },
	{ "json", { .kind = BQ_JSON, .is_told = true, .scale = -1 } },
	{ "mariadb text", { .kind = BQ_STRING, .is_told = true, .scale = -1, .is_mariadb = true } },
	{ "mariadb datetime", { .kind = BQ_DATETIME, .is_told = true, .scale = -1, .is_mariadb = true } },
	{ "untold float", { .kind = BQ_FLOAT64, .scale = -1 } },
	{ "untold text", { .kind = BQ_STRING, .scale = -1 } },
	{ "untold decimal", { .kind = BQ_BIGNUMERIC, .scale = -1 } },
};

static struct ddl_was was_named(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].was;
	}
	fail_msg("no kind %s", name);
	return kinds[0].was;
}

static const char *answer_of(const char *was_name, const char *now)
{
	static char out[512];
	struct arena *arena = arena_new(1024);
	struct ddl_was was = was_named(was_name);
	struct span spec;
	struct ddl ddl;
	const char *why;

	assert_true(ddl_read(span_of(arena_printf(arena, "alter table t modify c %s", now)), arena, &ddl, &why));
	why = ddl_convert(&was, &ddl.clauses->column, arena, &spec);
	snprintf(out, sizeof(out), "%.*s%s%s%s", SPAN_ARG(spec), spec.len && why ? ", " : "", why ? "kept: " : "", why ? why : "");
	arena_free(arena);
	return out;
}

static void every_pair_is_converted_or_said_to_be_kept(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcmp(answer_of(rows[i].was, rows[i].now), rows[i].want) != 0)
			fail_msg("%s to %s: %s, not %s", rows[i].was, rows[i].now, answer_of(rows[i].was, rows[i].now), rows[i].want);
	}
}

/* Whatever it was, a type that is not in the table is kept, and that is said. */
static void no_pair_is_passed_over_in_silence(void **state)
{
	static const char *const types[] = { "point", "inet6", "vector(3)", "geometry" };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		for (size_t k = 0; k < sizeof(types) / sizeof(*types); k++)
			assert_non_null(strstr(answer_of(kinds[i].name, types[k]), "kept: " UNKNOWN));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_is_converted_or_said_to_be_kept),
		cmocka_unit_test(no_pair_is_passed_over_in_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
