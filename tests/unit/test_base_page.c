/* Text on pages of some columns: what is folded where, which columns go first. */
#include "base/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void folded(const char *text, size_t width, size_t from, size_t indent, const char *want)
{
	OWNED(text) out = text_new(4096);

	page_fold(out, text, width, from, indent);
	assert_string_equal(out->at, want);
}

static void test_words_are_never_cut(void **state)
{
	(void)state;
	folded("one two three", 7, 0, 0, "one two\nthree");
	folded("one two three", 6, 0, 0, "one\ntwo\nthree");
	folded("a /a/very/long/path b", 6, 0, 0, "a\n/a/very/long/path\nb");
	folded("one two", PAGE_ENDLESS, 0, 0, "one two");
	folded("", 5, 0, 0, "");
}

static void test_folded_lines_are_indented_and_begin_where_they_are_told(void **state)
{
	(void)state;
	folded("one two three", 10, 3, 3, "one two\n   three");
	/* A label is longer than the indent: the first word may move below it. */
	folded("sentence", 10, 6, 2, "\n  sentence");
	/* At the indent itself there is no better place. */
	folded("sentence", 6, 2, 2, "sentence");
}

static void test_blanks_between_words_stay_and_characters_count_once(void **state)
{
	(void)state;
	folded("a  b", 4, 0, 0, "a  b");
	folded("\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9", 5, 0, 0, "\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9");
	assert_int_equal(page_width(span_of("\xc3\xa9t\xc3\xa9")), 3);
}

static const struct page_column columns[] = {
	{ "NAME", 8, 6, 0, false },
	{ "N", 4, 0, 2, true },
	{ "STATE", 5, 0, 1, false },
	{ "LAST", 4, 0, 0, false },
};

static void list_is(size_t page, const char *name, const char *want, const char *left_out)
{
	const char *const cells[] = { name, "12", "ok", "end" };
	OWNED(text) out = text_new(4096);
	OWNED(text) without = text_new(64);
	struct page_list list;

	page_list_fit(&list, columns, 4, page);
	page_list_head(&list, out);
	page_list_row(&list, cells, out);
	assert_string_equal(out->at, want);
	page_list_left_out(&list, without);
	assert_string_equal(without->at, left_out);
}

static void test_columns_shrink_and_then_go_by_rank(void **state)
{
	(void)state;
	list_is(24, "orders", "NAME        N STATE LAST\norders     12 ok    end\n", "");
	list_is(23, "orders", "NAME       N STATE LAST\norders    12 ok    end\n", "");
	list_is(19, "orders", "NAME        N LAST\norders     12 end\n", "STATE");
	list_is(14, "orders", "NAME     LAST\norders   end\n", "N, STATE");
	/* Half of what is left over is for the name. */
	list_is(44, "orders", "NAME                  N STATE LAST\norders               12 ok    end\n", "");
	/* What must stay stays. */
	list_is(2, "orders", "NAME   LAST\norders end\n", "N, STATE");
}

static void test_a_long_name_is_never_cut(void **state)
{
	const char *const long_end[] = { "orders", "12", "ok", "endlessly" };
	OWNED(text) out = text_new(4096);
	struct page_list list;

	(void)state;
	list_is(24, "customers", "NAME        N STATE LAST\ncustomers\n           12 ok    end\n", "");
	/* The last one too: below, to the right. */
	page_list_fit(&list, columns, 4, 24);
	page_list_row(&list, long_end, out);
	assert_string_equal(out->at, "orders     12 ok\n               endlessly\n");
	list_is(PAGE_ENDLESS, "customers", "NAME        N STATE LAST\ncustomers   12 ok    end\n", "");
}

static void test_cells_are_cleaned_and_empty_ones_are_seen(void **state)
{
	(void)state;
	list_is(PAGE_ENDLESS, "a\033b", "NAME        N STATE LAST\na\\x1bb     12 ok    end\n", "");
	list_is(PAGE_ENDLESS, "", "NAME        N STATE LAST\n-          12 ok    end\n", "");
	list_is(PAGE_ENDLESS, NULL, "NAME        N STATE LAST\n-          12 ok    end\n", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_are_never_cut),
		cmocka_unit_test(test_folded_lines_are_indented_and_begin_where_they_are_told),
		cmocka_unit_test(test_blanks_between_words_stay_and_characters_count_once),
		cmocka_unit_test(test_columns_shrink_and_then_go_by_rank),
		cmocka_unit_test(test_a_long_name_is_never_cut),
		cmocka_unit_test(test_cells_are_cleaned_and_empty_ones_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
