/* Versions of tables as changes of columns. */
#include "base/arena.h"
#include "view/console.h"
#include "view/schema_changes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#undef fail

/* "time column change" a line, as the screen has them. */
static const char *changes(const char *tables)
{
	static char out[2000];
	json_t *read = json_loads(tables, 0, NULL), *made, *row;
	size_t i;

	assert_non_null(read);
	made = schema_changes(read);
	out[0] = '\0';
	json_array_foreach(made, i, row)
		snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s %s: %s%s%s\n", member_text(row, "time"),
		         member_text(row, "column"), member_text(row, "change"), *member_text(row, "did") ? " -- " : "",
		         member_text(row, "did"));
	json_decref(made);
	json_decref(read);
	return out;
}

#define VERSION(time, columns) "{\"time\":\"" time "\",\"change\":\"what it says\",\"columns\":[" columns "]}"
#define COLUMN(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\"}"
#define TABLE(name, versions) "{\"job\":\"j\",\"table\":\"" name "\",\"timeline\":[" versions "]}"

static void a_first_version_is_one_line(void **state)
{
	(void)state;
	assert_string_equal(changes("[" TABLE("t", VERSION("1", COLUMN("a", "INT64") "," COLUMN("b", "STRING"))) "]"),
	                    "1 : first seen, 2 columns -- made\n");
}

static void columns_come_go_and_change(void **state)
{
	(void)state;
	assert_string_equal(changes("[" TABLE("t", VERSION("1", COLUMN("a", "INT64") "," COLUMN("b", "STRING")) ","
	                                           VERSION("2", COLUMN("a", "STRING") "," COLUMN("c", "DATE"))) "]"),
	                    "2 a: INT64 -> STRING\n2 c: new, DATE\n2 b: gone from the source\n1 : first seen, 2 columns -- made\n");
}

/* Something else has changed: the engine's own word stands for it. */
static void the_same_columns_again_say_what_the_engine_says(void **state)
{
	(void)state;
	assert_string_equal(changes("[" TABLE("t", VERSION("1", COLUMN("a", "INT64")) "," VERSION("2", COLUMN("a", "INT64"))) "]"),
	                    "2 : what it says\n1 : first seen, 1 column -- made\n");
}

static void tables_are_mixed_newest_first(void **state)
{
	(void)state;
	assert_string_equal(changes("[" TABLE("t", VERSION("1", COLUMN("a", "INT64")) "," VERSION("3", "")) ","
	                                TABLE("u", VERSION("2", "")) "]"),
	                    "3 a: gone from the source\n2 : first seen, 0 columns -- made\n1 : first seen, 1 column -- made\n");
}

/* What the engine tells column by column goes before what two versions' columns say. */
static void steps_are_shown_as_they_are_told(void **state)
{
	(void)state;
	assert_string_equal(changes("[" TABLE("t", VERSION("1", COLUMN("a", "INT64")) ",{\"time\":\"2\",\"columns\":[],\"steps\":["
	                                "{\"column\":\"b\",\"change\":\"renamed from a\",\"did\":\"values carried over\",\"rows\":3},"
	                                "{\"column\":\"c\",\"change\":\"dropped\",\"did\":\"kept\"}]}") "]"),
	                    "2 b: renamed from a -- values carried over, 3 rows\n2 c: dropped -- kept\n1 : first seen, 1 column -- made\n");
}

/* An engine of another version may leave things out. */
static void what_is_missing_is_no_danger(void **state)
{
	(void)state;
	assert_string_equal(changes("[]"), "");
	assert_string_equal(changes("[{}, 7, null, {\"timeline\":null}, {\"timeline\":[]}]"), "");
	assert_string_equal(changes("[{\"timeline\":[{},{\"columns\":[{}, 5]}]}]"), " : first seen, 0 columns -- made\n : new, \n : new, \n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_first_version_is_one_line),
		cmocka_unit_test(columns_come_go_and_change),
		cmocka_unit_test(the_same_columns_again_say_what_the_engine_says),
		cmocka_unit_test(tables_are_mixed_newest_first),
		cmocka_unit_test(steps_are_shown_as_they_are_told),
		cmocka_unit_test(what_is_missing_is_no_danger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
