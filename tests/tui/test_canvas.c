/* Drawing: nothing outside of its area, no half characters, cuts, rules, paragraphs, and what becomes of it as text. */
#include "term/canvas.h"

#include "term/cells.h"
#include "term/term.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define HAN "\xe6\xbc\xa2"

static struct canvas *canvas;
static struct area all;

static int begin(void **state)
{
	(void)state;
	canvas = canvas_new(4, 12);
	all = area_whole(canvas);
	return 0;
}

static int end(void **state)
{
	(void)state;
	canvas_free(canvas);
	return 0;
}

static void expect(const char *text)
{
	struct text *out = text_new(100000);

	assert_true(canvas_text(canvas, out));
	assert_string_equal(out->at, text);
	text_free(out);
}

static void expect_roles(const char *roles)
{
	struct text *out = text_new(100000);

	assert_true(canvas_roles(canvas, out));
	assert_string_equal(out->at, roles);
	text_free(out);
}

/* A wide character has its right half, a half has its character: in every cell. */
static void expect_whole(void)
{
	for (int i = 0; i < canvas->rows * canvas->cols; i++) {
		const struct cell *cell = &canvas->cells[i];
		int col = i % canvas->cols;

		if (cell->width == 2)
			assert_true(col + 1 < canvas->cols && cell[1].width == 0 && !cell[1].text[0]);
		else if (cell->width == 0)
			assert_true(col > 0 && cell[-1].width == 2);
		else
			assert_true(cell->width == 1 && cell->text[0]);
	}
}

static void text_is_cut_at_the_edge(void **state)
{
	(void)state;
	assert_int_equal(draw_text(all, 0, 9, ROLE_ok, "abcdef"), 3);
	assert_int_equal(draw_text(all, 1, -2, ROLE_ok, "abcd"), 4);
	assert_int_equal(draw_text(all, 2, 12, ROLE_ok, "abcd"), 0);
	draw_text(all, -1, 0, ROLE_ok, "no");
	draw_text(all, 4, 0, ROLE_ok, "no");
	expect("         abc\ncd\n\n\n");
}

static void a_part_keeps_to_itself(void **state)
{
	struct area part = area_part(all, 1, 3, 2, 4);

	(void)state;
	draw_text(part, 0, 0, ROLE_text, "abcdefgh");
	draw_text(part, 2, 0, ROLE_text, "below");
	draw_text(part, 1, -1, ROLE_text, "xyz");
	draw_text(area_part(part, 1, 3, 9, 9), 0, 0, ROLE_text, "12");
	draw_text(area_part(part, -1, -1, 2, 2), 0, 0, ROLE_dim, "Q");
	draw_text(area_part(all, 2147483647, 2147483647, 2147483647, 2147483647), 0, 0, ROLE_dim, "no");
	draw_text(area_part(all, 0, 0, -1, -5), 0, 0, ROLE_dim, "no");
	expect("\n   Qbcd\n   yz 1\n\n");
}

static void half_of_a_wide_character_is_a_blank(void **state)
{
	(void)state;
	assert_int_equal(draw_text(all, 0, 11, ROLE_ok, HAN), 1);
	draw_text(all, 0, -1, ROLE_ok, HAN "a");
	draw_text(all, 1, 0, ROLE_text, HAN HAN HAN);
	draw_text(all, 1, 1, ROLE_text, "xx");
	draw_text(area_part(all, 1, 5, 1, 1), 0, 0, ROLE_text, "y");
	expect(" a\n xx  y\n\n\n");
	expect_whole();
}

static void an_escape_that_does_not_fit_is_left_out_whole(void **state)
{
	(void)state;
	draw_text(all, 0, 0, ROLE_text, "............");
	draw_text(all, 0, 7, ROLE_text, "\xe2\x80\xae");
	draw_text(all, 1, 6, ROLE_text, "\xe2\x80\xae");
	expect(".......\n      \\u202e\n\n\n");
}

static void every_text_at_every_place_leaves_whole_characters(void **state)
{
	static const char *const texts[] = { HAN HAN, "a" HAN "b", "e\xcc\x81" HAN, "\x1b" HAN, "\xcc\x81", "\xf0\x9f\x98\x80x" };

	(void)state;
	for (unsigned i = 0; i < 6 * 14 * 3; i++) {
		struct area part = area_part(all, (int)(i % 3), (int)(i % 5), 2, (int)(i % 7));

		draw_text(part, (int)(i % 2), (int)(i / 6 % 14) - 2, ROLE_text, texts[i % 6]);
		draw_field(all, (int)(i % 4), (int)(i / 3 % 14) - 2, (int)(i % 9), (int)(i % 3) - 1, ROLE_dim, span_of(texts[i % 6]));
		expect_whole();
	}
}

static void a_field_is_exactly_its_width(void **state)
{
	(void)state;
	assert_int_equal(draw_field(all, 0, 1, 6, -1, ROLE_text, SPAN("ab")), 6);
	draw_field(all, 0, 7, 5, 1, ROLE_text, SPAN("12"));
	draw_field(all, 1, 0, 5, -1, ROLE_text, SPAN("abcdefgh"));
	draw_field(all, 1, 6, 5, 1, ROLE_text, SPAN("12,345,678"));
	draw_field(all, 2, 0, 5, 0, ROLE_text, SPAN("mid"));
	draw_field(all, 2, 6, 4, -1, ROLE_text, SPAN("a" HAN HAN));
	draw_field(all, 3, 0, 2, -1, ROLE_text, SPAN("abc"));
	draw_field(all, 3, 3, 1, -1, ROLE_text, SPAN("abc"));
	draw_field(all, 3, 8, 9, -1, ROLE_text, SPAN("reaches out"));
	expect(" ab       12\nabc.. 12,..\n mid  a..\n.. .    re..\n");
}

static void a_name_is_cut_in_its_middle(void **state)
{
	(void)state;
	draw_field(all, 0, 0, 12, ALIGN_NAME, ROLE_text, SPAN("shop.order_items"));
	draw_field(all, 1, 0, 12, ALIGN_NAME, ROLE_text, SPAN("shop.orders1"));
	draw_field(all, 2, 0, 11, ALIGN_NAME, ROLE_text, SPAN("a" HAN "bcdefgh" HAN HAN));
	draw_field(all, 3, 0, 6, ALIGN_NAME, ROLE_text, SPAN("shop.orders"));
	expect("sho..r_items\nshop.orders1\na" HAN "..gh" HAN HAN "\nshop..\n");
	expect_whole();
}

static void a_rule_parts_panes(void **state)
{
	(void)state;
	glyphs_set(false, CHART_ASCII);
	draw_rule(all, 0, "", "");
	draw_rule(all, 1, "abc", NULL);
	draw_rule(all, 2, "a", "z");
	draw_rule(all, 3, "much too long", "note");
	expect("------------\n-- abc -----\n-- a -- z --\n-- much t..\n");
}

static void a_paragraph_breaks_between_words(void **state)
{
	(void)state;
	assert_int_equal(draw_paragraph(all, 0, 1, 10, 4, ROLE_text, SPAN("one two three four")), 2);
	assert_int_equal(draw_paragraph(all, 2, 0, 6, 2, ROLE_text, SPAN("longestword and more")), 2);
	expect(" one two\n three four\nlonges\ntwor..\n");
	canvas_clear(canvas);
	assert_int_equal(draw_paragraph(all, 0, 0, 1, 3, ROLE_text, SPAN(HAN "a")), 2);
	assert_int_equal(draw_paragraph(all, 0, 0, 0, 3, ROLE_text, SPAN("a")), 0);
	assert_int_equal(draw_paragraph(all, 0, 0, 5, 3, ROLE_text, SPAN("   ")), 0);
	expect("\na\n\n\n");
}

static void roles_are_letters(void **state)
{
	(void)state;
	draw_text(all, 0, 0, ROLE_dim, "ab");
	draw_text(all, 0, 3, ROLE_json_string, "c");
	draw_text(all, 1, 0, ROLE_text, "plain");
	draw_blank(all, 2, 0, 2, ROLE_selection);
	draw_role(all, 1, -3, 5, ROLE_match);
	expect_roles("bbaD\nkkaaa\nii\n\n");
}

static void a_copy_is_equal_until_it_is_drawn_on(void **state)
{
	struct canvas *copy = canvas_new(1, 1);

	(void)state;
	draw_text(all, 0, 0, ROLE_ok, HAN "x");
	draw_text(all, 0, 0, ROLE_ok, "longer");
	cursor_put(all, 2, 3);
	canvas_copy(copy, canvas);
	assert_true(canvas_equal(copy, canvas));
	assert_int_equal(copy->cursor_col, 3);
	draw_role(all, 3, 11, 1, ROLE_dim);
	assert_false(canvas_equal(copy, canvas));
	cursor_put(all, 9, 9); /* outside: it stays */
	assert_int_equal(canvas->cursor_row, 2);
	canvas_free(copy);
}

static void sizes_have_limits(void **state)
{
	struct canvas *small = canvas_new(0, -5), *large = canvas_new(1 << 30, 1 << 30);

	(void)state;
	assert_int_equal(small->rows, 1);
	assert_int_equal(small->cols, 1);
	assert_int_equal(large->rows, CANVAS_ROWS_MAX);
	assert_int_equal(large->cols, CANVAS_COLS_MAX);
	canvas_free(small);
	canvas_free(large);
}

#define WITH_CANVAS(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CANVAS(text_is_cut_at_the_edge),
		WITH_CANVAS(a_part_keeps_to_itself),
		WITH_CANVAS(half_of_a_wide_character_is_a_blank),
		WITH_CANVAS(an_escape_that_does_not_fit_is_left_out_whole),
		WITH_CANVAS(every_text_at_every_place_leaves_whole_characters),
		WITH_CANVAS(a_field_is_exactly_its_width),
		WITH_CANVAS(a_name_is_cut_in_its_middle),
		WITH_CANVAS(a_rule_parts_panes),
		WITH_CANVAS(a_paragraph_breaks_between_words),
		WITH_CANVAS(roles_are_letters),
		WITH_CANVAS(a_copy_is_equal_until_it_is_drawn_on),
		cmocka_unit_test(sizes_have_limits),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
