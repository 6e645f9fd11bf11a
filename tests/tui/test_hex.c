/* Bytes in rows: what is drawn where, scrolling to the ends, and finding bytes. */
#include "term/cells.h"
#include "widget/hex.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#undef fail

static char bytes[1000];
static struct hex hex;

static int begin(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	hex = (struct hex){ .bytes = span_make(bytes, sizeof(bytes)) };
	return 0;
}

/* The screen as text, of so many rows. */
static struct text *drawn(int rows)
{
	struct canvas *canvas = canvas_new(rows, 80);
	struct text *out = text_new(1u << 16);

	hex_draw(&hex, area_whole(canvas));
	canvas_text(canvas, out);
	canvas_free(canvas);
	return out;
}

static void bytes_are_offset_hex_and_text(void **state)
{
	OWNED(text) screen = NULL;

	(void)state;
	hex.bytes = SPAN("ab\0\n\xff\x1b[2J and so on");
	screen = drawn(3);
	assert_string_equal(screen->at, " 000000 61 62 00 0a ff 1b 5b 32  4a 20 61 6e 64 20 73 6f   ab....[2J and so\n"
	                                " 000010 20 6f 6e                                            on\n\n");
}

static void it_scrolls_to_its_ends_and_no_further(void **state)
{
	(void)state;
	text_free(drawn(10)); /* 63 rows, ten a page */
	assert_true(hex_act(&hex, ACTION_up));
	assert_int_equal(hex.top, 0);
	hex_act(&hex, ACTION_last);
	assert_int_equal(hex.top, 53);
	hex_act(&hex, ACTION_page_down);
	assert_int_equal(hex.top, 53);
	hex_act(&hex, ACTION_half_up);
	assert_int_equal(hex.top, 48);
	hex_act(&hex, ACTION_first);
	assert_int_equal(hex.top, 0);
	assert_false(hex_act(&hex, ACTION_mark));
}

static void nothing_has_no_rows(void **state)
{
	OWNED(text) screen = NULL;

	(void)state;
	hex.bytes = SPAN("");
	screen = drawn(2);
	assert_string_equal(screen->at, "\n\n");
	assert_true(hex_act(&hex, ACTION_last));
	assert_int_equal(hex.top, 0);
	assert_false(hex_search(&hex, SPAN("a")));
}

/* Other bytes in its place may be fewer: nothing is drawn from behind their end, and the next key is back among them. */
static void fewer_bytes_in_its_place_are_no_danger(void **state)
{
	(void)state;
	text_free(drawn(10));
	hex_act(&hex, ACTION_last);
	hex_search(&hex, SPAN("\xe0\xe1"));
	hex.bytes = SPAN("few");
	text_free(drawn(10));
	hex_act(&hex, ACTION_down);
	assert_int_equal(hex.top, 0);
	assert_true(hex_search(&hex, SPAN("e")));
	assert_int_equal(hex.from, 1);
}

static void a_search_goes_on_and_round(void **state)
{
	(void)state;
	hex.bytes = SPAN("one two one");
	assert_true(hex_search(&hex, SPAN("one")));
	assert_int_equal(hex.from, 0);
	assert_int_equal(hex.to, 3);
	assert_true(hex_search(&hex, SPAN("one")));
	assert_int_equal(hex.from, 8);
	assert_true(hex_search(&hex, SPAN("one")));
	assert_int_equal(hex.from, 0);
	assert_false(hex_search(&hex, SPAN("three")));
	assert_false(hex_search(&hex, SPAN("")));
	assert_false(hex_search(&hex, SPAN("one two one and more")));
}

static void where_it_is_narrow_a_row_has_eight_bytes_and_the_place_stays(void **state)
{
	struct canvas *canvas = canvas_new(4, 60);
	OWNED(text) screen = text_new(1u << 16);

	(void)state;
	hex_point(&hex, 0x141, 0x143);
	assert_int_equal(hex.top, 0x14 - 4);
	hex_draw(&hex, area_whole(canvas));
	assert_int_equal(hex.top, 2 * (0x14 - 4));
	canvas_text(canvas, screen);
	assert_non_null(strstr(screen->at, " 000100 00 01 02 03 04 05 06 07    ........\n 000108"));
	canvas_free(canvas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(where_it_is_narrow_a_row_has_eight_bytes_and_the_place_stays, begin),
		cmocka_unit_test_setup(bytes_are_offset_hex_and_text, begin),
		cmocka_unit_test_setup(it_scrolls_to_its_ends_and_no_further, begin),
		cmocka_unit_test_setup(nothing_has_no_rows, begin),
		cmocka_unit_test_setup(fewer_bytes_in_its_place_are_no_danger, begin),
		cmocka_unit_test_setup(a_search_goes_on_and_round, begin),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	cells_set_utf8(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
