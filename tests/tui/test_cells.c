/* Text as a terminal shows it: hostile bytes, marks, wide characters, and cuts at each width. */
#include "term/cells.h"

#include "base/clean.h"
#include "term/canvas.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define HAN "\xe6\xbc\xa2"
#define ACUTE "\xcc\x81"
#define CIRCLE "\xe2\x97\x8c"

/* All glyphs, one behind the other, with their columns. */
static int shown(struct span text, struct text *out)
{
	struct glyph glyph;
	int cols = 0;

	for (size_t at = 0; glyph_next(text, at, &glyph); at += glyph.taken) {
		assert_int_equal(strlen(glyph.text), glyph.len);
		text_add(out, glyph.text);
		cols += glyph.width;
	}
	return cols;
}

static void check(struct span text, const char *expected, int cols)
{
	struct text *out = text_new(100000);

	assert_int_equal(shown(text, out), cols);
	assert_string_equal(out->at, expected);
	assert_int_equal(cells_width(text), cols);
	text_free(out);
}

static void a_terminal_gets_nothing_to_obey(void **state)
{
	(void)state;
	check(SPAN("\x1b[2J"), "\\x1b[2J", 7);
	check(SPAN("a\tb\nc\0d\x7f"), "a\\x09b\\x0ac\\x00d\\x7f", 20);
	check(SPAN("\xc2\x9b" "31m"), "\\u009b31m", 9);
	check(SPAN("\xe2\x80\xae" "abc"), "\\u202eabc", 9);
	check(SPAN("a\xe2\x80\x8b" "b"), "a\\u200bb", 8);
	check(SPAN("\xef\xb8\x8f"), "\\ufe0f", 6);
	check(SPAN("\xf3\xa0\x81\xa1"), "\\ue0061", 7);
	check(SPAN("\xff\xc3(\xed\xa0\x80"), "\\xff\\xc3(\\xed\\xa0\\x80", 21);
	check(SPAN("\xf0\x9f\x98"), "\\xf0\\x9f\\x98", 12);
	check(SPAN("\xef\xbf\xbf"), "\\uffff", 6); /* no character */
}

static void what_stays_is_as_the_command_line_shows_it(void **state)
{
	static const char text[] = "Z\xc3\xbcrich " HAN " \x1b\x07 \xe2\x80\x8f\xff \xd7\xa9 \xe2\x80\xa8 \xf0\x9f\x98\x80";
	struct text *cells = text_new(1000), *clean = text_new(1000);

	(void)state;
	shown(SPAN(text), cells);
	assert_true(clean_text(clean, SPAN(text)));
	assert_string_equal(cells->at, clean->at);
	text_free(cells);
	text_free(clean);
}

static void scripts_have_their_columns(void **state)
{
	(void)state;
	check(SPAN("Z\xc3\xbcrich"), "Z\xc3\xbcrich", 6);
	check(SPAN(HAN HAN), HAN HAN, 4);
	check(SPAN("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80", 2);
	check(SPAN("\xd7\xa9\xd7\x9c"), "\xd7\xa9\xd7\x9c", 2);
	check(SPAN("\xe2\xa3\xa4\xe2\x94\x80"), "\xe2\xa3\xa4\xe2\x94\x80", 2);
}

static void marks_stay_with_their_base(void **state)
{
	struct glyph glyph;

	(void)state;
	assert_true(glyph_next(SPAN("e" ACUTE "\xcc\x82x"), 0, &glyph));
	assert_string_equal(glyph.text, "e" ACUTE "\xcc\x82");
	assert_int_equal(glyph.width, 1);
	assert_int_equal(glyph.taken, 5);
	assert_true(glyph_next(SPAN(HAN ACUTE), 0, &glyph));
	assert_int_equal(glyph.width, 2);
	assert_int_equal(glyph.taken, 5);
}

static void a_mark_without_base_gets_one(void **state)
{
	(void)state;
	check(SPAN(ACUTE "a"), CIRCLE ACUTE "a", 2);
	check(SPAN("\x1b" ACUTE), "\\x1b" CIRCLE ACUTE, 5);
}

static void a_thousand_marks_are_seen_and_stay_small(void **state)
{
	struct text *text = text_new(4000);
	struct glyph glyph;
	size_t at = 0, marks = 0;

	(void)state;
	text_add(text, "e");
	for (int i = 0; i < 1000; i++)
		text_add(text, ACUTE);
	for (; glyph_next(text_span(text), at, &glyph); at += glyph.taken) {
		assert_true(glyph.len < CELL_BYTES);
		assert_true(glyph.taken > 0);
		marks += at ? glyph.taken / 2 : (glyph.taken - 1) / 2;
	}
	assert_int_equal(at, text->len);
	assert_int_equal(marks, 1000);
	assert_true(cells_width(text_span(text)) <= 201);
	text_free(text);
}

static void without_utf8_all_is_ascii(void **state)
{
	(void)state;
	cells_set_utf8(false);
	check(SPAN("\xc3\xbc" HAN "e" ACUTE "\xff"), "\\u00fc\\u6f22e\\u0301\\xff", 23);
	cells_set_utf8(true);
}

static void a_cut_never_goes_through_a_character(void **state)
{
	static const struct span text = { "a" HAN "e" ACUTE "\x1b" "z", 9 };
	static const struct row {
		int cols, taken;
		size_t bytes;
	} rows[] = { { -1, 0, 0 }, { 0, 0, 0 }, { 1, 1, 1 }, { 2, 1, 1 }, { 3, 3, 4 }, { 4, 4, 7 }, { 5, 4, 7 },
		     { 7, 4, 7 },  { 8, 8, 8 }, { 9, 9, 9 }, { 99, 9, 9 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int taken = -1;

		assert_int_equal(cells_fit(text, rows[i].cols, &taken), rows[i].bytes);
		assert_int_equal(taken, rows[i].taken);
	}
}

/* What emulators draw in different widths, and what they agree upon: letters, ideographs, our own lines. */
static void pictographs_and_marks_are_doubtful(void **state)
{
	static const struct {
		struct cell cell;
		bool is_doubtful;
	} rows[] = {
		{ { "a", 1, 0 }, false }, { { "\u00fc", 1, 0 }, false }, { { HAN, 2, 0 }, false }, { { "\u2500", 1, 0 }, false },
		{ { "\u28ff", 1, 0 }, false }, { { "\u0416", 1, 0 }, false }, { { "", 0, 0 }, false },
		{ { "e" ACUTE, 1, 0 }, true }, { { "\U0001f600", 2, 0 }, true }, { { "\u2714", 1, 0 }, true },
		{ { "\u0915", 1, 0 }, true }, { { "\ue0b0", 1, 0 }, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(cell_is_doubtful(&rows[i].cell), rows[i].is_doubtful);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_terminal_gets_nothing_to_obey),
		cmocka_unit_test(what_stays_is_as_the_command_line_shows_it),
		cmocka_unit_test(scripts_have_their_columns),
		cmocka_unit_test(marks_stay_with_their_base),
		cmocka_unit_test(a_mark_without_base_gets_one),
		cmocka_unit_test(a_thousand_marks_are_seen_and_stay_small),
		cmocka_unit_test(without_utf8_all_is_ascii),
		cmocka_unit_test(a_cut_never_goes_through_a_character),
		cmocka_unit_test(pictographs_and_marks_are_doubtful),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
