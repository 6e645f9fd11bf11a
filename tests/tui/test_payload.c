/* The piece of a payload that an error points at, cut to the screen, with marks under the value. */
#include "view/payload.h"
#include "base/arena.h"
#include "term/cells.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ROW "{\"id\":7,\"name\":\"Zo\xc3\xab\",\"phone\":\"555-0100\",\"note\":null}"

static void check(const char *payload, const char *path, int cols, const char *line, const char *marks)
{
	json_t *letter = json_pack("{s:s, s:s}", "payload", payload, "path", path);
	OWNED(text) shown = text_new(4096);
	OWNED(text) under = text_new(4096);

	assert_true(payload_excerpt(letter, cols, shown, under));
	assert_string_equal(shown->at, line);
	assert_string_equal(under->len ? under->at : "", marks);
	json_decref(letter);
}

static void the_row_is_shown_and_the_value_marked(void **state)
{
	(void)state;
	check("{\"before\":null,\"after\":" ROW "}", "after.phone", 80, ROW, "                             ^^^^^^^^^^");
}

static void a_schema_block_is_stepped_over(void **state)
{
	(void)state;
	check("{\"schema\":{},\"payload\":{\"after\":" ROW "}}", "after.id", 80, ROW, "      ^");
}

static void what_is_too_long_is_cut_so_that_the_value_stands_on_it(void **state)
{
	(void)state;
	check("{\"after\":" ROW "}", "after.phone", 30, "..\"phone\":\"555-0100\",\"note\":..", "          ^^^^^^^^^^");
	check("{\"after\":" ROW "}", "after.id", 20, "{\"id\":7,\"name\":\"Zo..", "      ^");
}

static void without_a_path_the_row_is_shown_without_marks(void **state)
{
	(void)state;
	check("{\"after\":{\"id\":7}}", "", 80, "{\"id\":7}", "");
	check("no JSON at all", "", 80, "no JSON at all", "");
	check("{\"after\":{\"id\":7}}", "after.gone", 80, "{\"id\":7}", "");
}

static void a_column_without_a_path_is_looked_for_in_the_row(void **state)
{
	json_t *letter = json_pack("{s:s, s:n, s:s}", "payload", "{\"before\":{\"b\":1},\"after\":{\"a\":1,\"b\":2}}", "path", "column", "b");
	OWNED(text) shown = text_new(4096);
	OWNED(text) under = text_new(4096);

	(void)state;
	assert_true(payload_excerpt(letter, 80, shown, under));
	assert_string_equal(shown->at, "{\"a\":1,\"b\":2}");
	assert_string_equal(under->at, "           ^");
	json_decref(letter);
}

static void bytes_that_are_no_text_have_no_excerpt(void **state)
{
	json_t *letter = json_pack("{s:s, s:n}", "payload_b64", "/w==", "path");
	OWNED(text) shown = text_new(4096);
	OWNED(text) under = text_new(4096);

	(void)state;
	assert_false(payload_excerpt(letter, 80, shown, under));
	json_decref(letter);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	cells_set_utf8(true);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_row_is_shown_and_the_value_marked),
		cmocka_unit_test(a_schema_block_is_stepped_over),
		cmocka_unit_test(what_is_too_long_is_cut_so_that_the_value_stands_on_it),
		cmocka_unit_test(without_a_path_the_row_is_shown_without_marks),
		cmocka_unit_test(a_column_without_a_path_is_looked_for_in_the_row),
		cmocka_unit_test(bytes_that_are_no_text_have_no_excerpt),
	};

	return cmocka_run_group_tests_name("payload", tests, NULL, NULL);
}
