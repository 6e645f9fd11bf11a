/* Pages of words: breaking between words, scrolling, searching, and an end. */
#include "base/arena.h"
#include "term/cells.h"
#include "widget/lines.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail

static struct lines *lines;
static struct text *say;

static int begin(void **state)
{
	(void)state;
	lines = lines_new();
	say = text_new(4096);
	return 0;
}

static int end(void **state)
{
	(void)state;
	lines_free(lines);
	text_free(say);
	return 0;
}

static const char *paragraph(int cols, int indent, const char *text)
{
	static char out[4000];
	OWNED(text) all = text_new(1u << 20);

	lines_begin(lines, cols);
	lines_paragraph(lines, ROLE_text, indent, text);
	lines_text(lines, all);
	snprintf(out, sizeof(out), "%s", all->at);
	return out;
}

/* The first row of a screen of so many rows. */
static const char *top(int rows)
{
	static char out[400];
	struct canvas *canvas = canvas_new(rows, 40);
	OWNED(text) all = text_new(1u << 16);

	lines_draw(lines, area_whole(canvas));
	canvas_text(canvas, all);
	snprintf(out, sizeof(out), "%.*s", (int)strcspn(all->at, "\n"), all->at);
	canvas_free(canvas);
	return out;
}

static void page(int count)
{
	lines_begin(lines, 40);
	for (int i = 1; i <= count; i++)
		lines_add(lines, ROLE_text, "line %d%s", i, i % 10 == 0 ? " Ten" : "");
}

static void it_breaks_between_words(void **state)
{
	(void)state;
	assert_string_equal(paragraph(10, 0, "one two three four"), "one two\nthree four\n");
	assert_string_equal(paragraph(10, 2, "one two three"), "  one two\n  three\n");
	assert_string_equal(paragraph(10, 0, "one\n\ntwo"), "one\n\ntwo\n");
	assert_string_equal(paragraph(4, 0, "abcdefghij k"), "abcd\nefgh\nij k\n");
	assert_string_equal(paragraph(6, 0, "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2"),
	                    "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\n\xe6\xbc\xa2\n");
	assert_string_equal(paragraph(10, 0, ""), "");
}

/* Narrower than its indent: a line stays whole instead of never ending. */
static void a_width_of_nothing_ends(void **state)
{
	(void)state;
	assert_string_equal(paragraph(2, 4, "ab cd"), "    ab cd\n");
	assert_string_equal(paragraph(0, 0, "ab cd"), "ab cd\n");
	assert_string_equal(paragraph(1, 0, "  a  b"), " \na\nb\n");
}

static void it_scrolls_to_its_ends(void **state)
{
	(void)state;
	page(50);
	assert_string_equal(top(10), "line 1");
	lines_act(lines, ACTION_up, say);
	assert_string_equal(top(10), "line 1");
	lines_act(lines, ACTION_page_down, say);
	assert_string_equal(top(10), "line 11");
	lines_act(lines, ACTION_half_up, say);
	assert_string_equal(top(10), "line 6");
	lines_act(lines, ACTION_last, say);
	assert_string_equal(top(10), "line 41");
	lines_act(lines, ACTION_down, say);
	assert_string_equal(top(10), "line 41");
	lines_status(lines, say);
	assert_string_equal(say->at, "41-50 of 50");
	page(5); /* made anew, and shorter */
	assert_string_equal(top(10), "line 1");
	assert_false(lines_act(lines, ACTION_mark, say));
}

static void a_search_goes_to_its_hits(void **state)
{
	(void)state;
	page(50);
	top(10);
	assert_int_equal(lines_search(lines, "ten"), 5);
	assert_string_equal(top(10), "line 10 Ten");
	lines_act(lines, ACTION_next, say);
	assert_string_equal(top(10), "line 20 Ten");
	lines_act(lines, ACTION_previous, say);
	lines_act(lines, ACTION_previous, say); /* round to the last, which is where the page ends */
	assert_string_equal(top(10), "line 41");
	assert_int_equal(lines_search(lines, "eleven"), 0);
	lines_act(lines, ACTION_next, say);
	assert_string_equal(say->at, "no line has that");
	text_clear(say);
	lines_search(lines, "");
	lines_act(lines, ACTION_next, say);
	assert_string_equal(say->at, "nothing is searched for; / begins");
}

static void an_empty_page_is_drawn(void **state)
{
	(void)state;
	lines_begin(lines, 40);
	assert_string_equal(top(3), "");
	lines_act(lines, ACTION_last, say);
	lines_act(lines, ACTION_next, say);
	text_clear(say);
	lines_status(lines, say);
	assert_string_equal(say->at, "");
	assert_false(lines_text(lines, say));
}

static void a_page_has_an_end(void **state)
{
	OWNED(text) all = text_new(1u << 22);

	(void)state;
	lines_begin(lines, 40);
	for (int i = 0; i < LINES_MAX + 10; i++) {
		lines_add(lines, ROLE_text, "x");
		lines_rule(lines, "title", "note");
	}
	lines_status(lines, say);
	assert_non_null(strstr(say->at, "of 20000"));
	lines_text(lines, all);
	assert_int_equal(all->len, LINES_MAX / 2 * (2 + 6));
}

#define WITH_LINES(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LINES(it_breaks_between_words),
		WITH_LINES(a_width_of_nothing_ends),
		WITH_LINES(it_scrolls_to_its_ends),
		WITH_LINES(a_search_goes_to_its_hits),
		WITH_LINES(an_empty_page_is_drawn),
		WITH_LINES(a_page_has_an_end),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	cells_set_utf8(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
