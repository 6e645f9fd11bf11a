/* Line and column of a value in a configuration file. */
#include "base/json_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char job[] =
	"{\n"
	"  \"name\": \"orders\",\n"
	"  \"parameters\": {\n"
	"    \"primaryKey\": {\"orders\": [ \"id\",\n"
	"        \"line\" ], \"shop.items\": [\"x\"]},\n"
	"\t\"numWorkers\": -1.5e3, \"flag\": true, \"nothing\":null\n"
	"  },\n"
	"  \"a\\\"b\": 1, \"\\u00fc\\ud83d\\ude00\\n\": {\"\": 2}, \"e\": {}, \"l\": []\n"
	"}\n";

struct row {
	const char *path;
	int line, column;
};

static void rows_check(const char *text, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct json_spot spot = json_path_find(span_of(text), rows[i].path);

		if (spot.line != rows[i].line || spot.column != rows[i].column)
			fail_msg("%s: %d:%d instead of %d:%d", rows[i].path, spot.line, spot.column, rows[i].line,
			         rows[i].column);
	}
}

#define ROWS_CHECK(text, rows) rows_check(text, rows, sizeof(rows) / sizeof((rows)[0]))

static void a_value_is_found(void **state)
{
	static const struct row rows[] = {
		{ "", 1, 1 },
		{ "name", 2, 11 },
		{ "@name", 2, 3 },
		{ "parameters", 3, 17 },
		{ "parameters.primaryKey.orders", 4, 30 },
		{ "parameters.primaryKey.orders.0", 4, 32 },
		{ "parameters.primaryKey.orders.1", 5, 9 },
		{ "@parameters.primaryKey.orders.1", 5, 9 },
		{ "parameters.numWorkers", 6, 16 },
		{ "@parameters.numWorkers", 6, 2 },
		{ "parameters.flag", 6, 32 },
		{ "parameters.nothing", 6, 48 },
		{ "e", 8, 52 },
	};

	(void)state;
	ROWS_CHECK(job, rows);
}

static void a_name_is_matched_after_unescaping(void **state)
{
	static const struct row rows[] = {
		{ "a\"b", 8, 11 },
		{ "\xc3\xbc\xf0\x9f\x98\x80\n", 8, 38 },
		{ "\xc3\xbc\xf0\x9f\x98\x80\n.", 8, 43 },
		{ "a\\\"b", 0, 0 },
	};
	static const char text[] = "{\"\\b\\f\\n\\r\\t\\/\\\\\\u0041\"          :1, \"\\ud800\\u0041\":2, \"\\u12\":3, \"late\": 4}";

	(void)state;
	ROWS_CHECK(job, rows);
	assert_int_equal(json_path_find(span_of(text), "\b\f\n\r\t/\\A").line, 1);
	assert_int_equal(json_path_find(span_of(text), "late").column, (int)(strlen(text) - 1));
}

static void a_name_may_hold_dots(void **state)
{
	static const struct row rows[] = {
		{ "parameters.primaryKey.shop.items", 5, 33 },
		{ "parameters.primaryKey.shop.items.0", 5, 34 },
		{ "parameters.primaryKey.shop", 0, 0 },
	};
	static const struct row both[] = {
		{ "a.x", 1, 11 },
		{ "a.b", 1, 20 },
		{ "a.b.c", 1, 25 },
	};

	(void)state;
	ROWS_CHECK(job, rows);
	ROWS_CHECK("{\"a\":{\"x\":1},\"a.b\":{\"c\":2}}", both);
}

static void what_is_not_there_is_not_found(void **state)
{
	static const struct row rows[] = {
		{ "nam", 0, 0 },
		{ "names", 0, 0 },
		{ "name.x", 0, 0 },
		{ "name.", 0, 0 },
		{ "parameters.primaryKey.orders.2", 0, 0 },
		{ "parameters.primaryKey.orders.x", 0, 0 },
		{ "parameters.primaryKey.orders.", 0, 0 },
		{ "parameters.primaryKey.orders.-1", 0, 0 },
		{ "parameters.primaryKey.orders.00000000000000000000", 0, 0 },
		{ "e.x", 0, 0 },
		{ "l.0", 0, 0 },
		{ "0", 0, 0 },
	};

	(void)state;
	ROWS_CHECK(job, rows);
	assert_int_equal(json_path_find(span_make(NULL, 0), "a").line, 0);
	assert_int_equal(json_path_find(SPAN("  "), "").line, 0);
}

static void of_two_members_the_last_counts(void **state)
{
	static const struct row rows[] = {
		{ "a", 1, 25 },
		{ "a.b", 1, 30 },
		{ "a.c", 1, 17 },
	};

	(void)state;
	ROWS_CHECK("{\"a\":{\"b\":1,\"c\":2}, \"a\":{\"b\":3}}", rows);
}

static void broken_text_is_searched_up_to_the_break(void **state)
{
	static const struct row rows[] = {
		{ "a", 1, 7 },
		{ "b", 0, 0 },
		{ "c", 0, 0 },
	};

	(void)state;
	ROWS_CHECK("{\"a\": 1, \"b\" 2, \"c\": 3}", rows);
	ROWS_CHECK("{\"a\": 1, \"b", rows);
	ROWS_CHECK("{\"a\": 1 \"c\": 3}", rows);
	ROWS_CHECK("{\"a\": 1, \"b\":", rows);
	ROWS_CHECK("{\"a\": 1, \"x\": ], \"c\": 2", rows);
	ROWS_CHECK("{\"a\": 1, \"x\": :, \"c\": 2", rows);
}

/* Cut at every byte, in a buffer of exactly that size: the sanitizer watches the edge. */
static void a_cut_text_is_not_read_beyond_its_end(void **state)
{
	static const char *const paths[] = { "parameters.nothing", "a\"b", "\xc3\xbc\xf0\x9f\x98\x80\n.", "parameters.primaryKey.orders.1" };

	(void)state;
	for (size_t len = 0; len < sizeof(job); len++) {
		char *copy = malloc(len ? len : 1);

		memcpy(copy, job, len);
		for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
			struct json_spot whole = json_path_find(SPAN(job), paths[i]);
			struct json_spot spot = json_path_find(span_make(copy, len), paths[i]);

			if (spot.line != 0) {
				assert_int_equal(spot.line, whole.line);
				assert_int_equal(spot.column, whole.column);
			}
		}
		free(copy);
	}
}

static void depth_does_not_matter(void **state)
{
	size_t deep = 200000;
	char *text = malloc(2 * deep + 32);
	size_t len = 0;

	(void)state;
	memcpy(text, "{\"a\":", 5);
	len = 5;
	memset(text + len, '[', deep);
	len += deep;
	memset(text + len, ']', deep);
	len += deep;
	memcpy(text + len, ",\n\"b\":1}", 8);
	len += 8;

	struct json_spot spot = json_path_find(span_make(text, len), "b");

	assert_int_equal(spot.line, 2);
	assert_int_equal(spot.column, 5);
	free(text);
}

static void value_check(const char *text, const char *path, const char *expected)
{
	struct span value = json_path_value(span_of(text), path);

	assert_int_equal(value.len, strlen(expected));
	assert_memory_equal(value.len ? value.at : "", expected, value.len);
}

static void the_bytes_of_a_value_are_found(void **state)
{
	static const char text[] = "{\"a\":{\"b\":\"x\\\"y\",\"c\":[1, {\"d\":-2.5}],\"e\":true}}";

	(void)state;
	value_check(text, "a.b", "\"x\\\"y\"");
	value_check(text, "@a.b", "\"b\"");
	value_check(text, "a.c", "[1, {\"d\":-2.5}]");
	value_check(text, "a.c.1.d", "-2.5");
	value_check(text, "a.e", "true");
	value_check(text, "a.f", "");
	value_check("", "a", "");
	value_check("{\"a\":\"bro", "a", "\"bro");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_found),
		cmocka_unit_test(a_name_is_matched_after_unescaping),
		cmocka_unit_test(a_name_may_hold_dots),
		cmocka_unit_test(what_is_not_there_is_not_found),
		cmocka_unit_test(of_two_members_the_last_counts),
		cmocka_unit_test(broken_text_is_searched_up_to_the_break),
		cmocka_unit_test(a_cut_text_is_not_read_beyond_its_end),
		cmocka_unit_test(depth_does_not_matter),
		cmocka_unit_test(the_bytes_of_a_value_are_found),
	};

	return cmocka_run_group_tests_name("base_json_path", tests, NULL, NULL);
}
