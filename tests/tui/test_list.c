/* Lists: the selection stays on its row, columns leave in their order, sorting, marks, ranges, filters, nothing at all. */
#include "base/arena.h"
#include "term/cells.h"
#include "widget/list.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#undef fail

#define ROWS_MOST 20000

struct thing {
	char name[320];
	double size; /* < 0: none */
};

static struct thing *things;
static struct list_source source;
static struct list *list;
static struct text *say;

static void cell(const void *context, size_t row, size_t column, struct text *out)
{
	(void)context;
	if (column == 0)
		text_add(out, things[row].name);
	else if (column == 1 && things[row].size >= 0)
		text_add_format(out, "%.0f", things[row].size);
	else
		text_add_format(out, "%c", (char)('A' + column));
}

static bool number(const void *context, size_t row, size_t column, double *out)
{
	(void)context;
	*out = things[row].size;
	return column == 1 && *out >= 0;
}

static void key(const void *context, size_t row, char out[LIST_KEY_BYTES])
{
	(void)context;
	snprintf(out, LIST_KEY_BYTES, "%s", things[row].name);
}

static const struct list_column columns[] = {
	{ "NAME", "name", 20, -1, 0, 0, true, 'n' },
	{ "SIZE", "size", 6, 1, 3, 0, false, 's' },
	{ "FIRST", NULL, 20, -1, 1, 0, false, 0 },
	{ "SECOND", NULL, 20, -1, 2, 0, false, 0 },
	{ "WIDE", NULL, 5, -1, 0, 90, false, 0 },
};

static int begin(void **state)
{
	(void)state;
	things = memory_zalloc(ROWS_MOST * sizeof(*things));
	list = list_new();
	say = text_new(4096);
	source = (struct list_source){ .columns = columns, .column_count = 5, .cell = cell, .number = number, .key = key };
	return 0;
}

static int end(void **state)
{
	(void)state;
	list_free(list);
	text_free(say);
	free(things);
	return 0;
}

/* "b=2 a c=10": the rows from now on. */
static void rows(const char *words)
{
	source.count = 0;
	for (; *words; words += strspn(words, " ")) {
		struct thing *thing = &things[source.count++];
		size_t len = strcspn(words, " "), name = strcspn(words, " =");

		snprintf(thing->name, sizeof(thing->name), "%.*s", (int)name, words);
		thing->size = name < len ? strtod(words + name + 1, NULL) : -1;
		words += len;
	}
	source.generation++;
	list_update(list, &source);
}

static bool act(enum action_id action)
{
	text_clear(say);
	return list_act(list, &source, action, "", say);
}

static const char *selected(void)
{
	size_t row = list_selected(list);

	return row == LIST_NONE ? "" : things[row].name;
}

/* Names as they are shown, "a b c". */
static const char *shown(void)
{
	static char out[400];

	out[0] = '\0';
	for (size_t place = 0; place < list_shown(list); place++)
		snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s%s", place ? " " : "", things[list_row_at(list, place)].name);
	return out;
}

static void filter(const char *text)
{
	struct error err = { 0 };

	assert_true(list_filter(list, &source, text, &err));
}

static const char *status(void)
{
	text_clear(say);
	list_status(list, &source, say);
	return say->at;
}

static void sort(const char *letter)
{
	text_clear(say);
	assert_true(list_act(list, &source, ACTION_sort, letter, say));
}

static void the_selection_stays_on_its_row(void **state)
{
	(void)state;
	rows("a b c d");
	assert_string_equal(selected(), "a");
	act(ACTION_down);
	act(ACTION_down);
	assert_string_equal(selected(), "c");
	rows("x y c a b d");
	assert_string_equal(selected(), "c");
	assert_int_equal(list_place(list), 3);
	rows("x y a b d"); /* gone: the place stays */
	assert_string_equal(selected(), "a");
	rows("x");
	assert_string_equal(selected(), "x");
	rows("a b x");
	assert_string_equal(selected(), "x");
}

/* Names of 300 bytes that differ only at their end are two rows. */
static void long_names_are_told_apart(void **state)
{
	(void)state;
	rows("a b c");
	for (int i = 0; i < 3; i++) {
		memset(things[i].name, 't', 299);
		things[i].name[299] = (char)('0' + i);
	}
	source.generation++;
	list_update(list, &source);
	act(ACTION_down);
	act(ACTION_down);
	source.generation++;
	list_update(list, &source);
	assert_int_equal(list_place(list), 3);
}

static void it_moves_within_its_rows(void **state)
{
	struct canvas *canvas = canvas_new(5, 40); /* four rows a page */

	(void)state;
	rows("a b c d e f g h i j");
	list_draw(list, &source, area_whole(canvas), true);
	act(ACTION_up);
	assert_string_equal(selected(), "a");
	act(ACTION_page_down);
	assert_string_equal(selected(), "e");
	act(ACTION_half_down);
	assert_string_equal(selected(), "g");
	act(ACTION_page_down);
	assert_string_equal(selected(), "j");
	act(ACTION_last);
	act(ACTION_page_up);
	assert_string_equal(selected(), "f");
	act(ACTION_first);
	assert_string_equal(selected(), "a");
	assert_false(act(ACTION_quit));
	canvas_free(canvas);
}

static const char *heads(int cols)
{
	static char out[400];
	struct canvas *canvas = canvas_new(4, cols);
	OWNED(text) text = text_new(4096);

	list_draw(list, &source, area_whole(canvas), true);
	canvas_text(canvas, text);
	snprintf(out, sizeof(out), "%.*s", (int)strcspn(text->at, "\n"), text->at);
	canvas_free(canvas);
	for (char *from = out, *to = out;; from++) { /* one blank between words */
		if (*from != ' ' || (to > out && to[-1] != ' '))
			*to++ = *from;
		if (!*from)
			return out;
	}
}

static void columns_leave_in_their_order(void **state)
{
	(void)state;
	rows("a=1");
	assert_string_equal(heads(100), "NAME SIZE FIRST SECOND WIDE");
	assert_string_equal(heads(80), "NAME SIZE FIRST SECOND");
	assert_string_equal(heads(60), "NAME SIZE SECOND");
	assert_string_equal(heads(40), "NAME SIZE");
	assert_string_equal(heads(25), "NAME");
	assert_string_equal(heads(3), ".");
}

/* Largest numbers first, what has none behind; text by the alphabet; equal ones as they came. */
static void rows_are_sorted_by_a_column(void **state)
{
	(void)state;
	rows("b=2 none a=10 C=2");
	sort("s");
	assert_string_equal(shown(), "a b C none");
	assert_string_equal(say->at, "sorted by SIZE");
	act(ACTION_sort_reverse);
	assert_string_equal(say->at, "order reversed");
	assert_string_equal(shown(), "none b C a");
	sort("N");
	assert_string_equal(shown(), "a b C none");
	sort("z");
	assert_string_equal(say->at, "sort: o and one of n (NAME) s (SIZE)");
	assert_string_equal(shown(), "a b C none");
}

static void the_source_order_can_be_reversed(void **state)
{
	(void)state;
	rows("c a b");
	act(ACTION_sort_reverse);
	assert_string_equal(shown(), "b a c");
	assert_string_equal(selected(), "c");
	act(ACTION_sort_reverse);
	assert_string_equal(shown(), "c a b");
}

static void a_filter_shows_its_rows_and_says_of_how_many(void **state)
{
	struct error err = { 0 };

	(void)state;
	rows("apple=1 pear=5 plum=9");
	filter("size:>4");
	assert_string_equal(shown(), "pear plum");
	assert_string_equal(status(), "1 of 2, filtered of 3");
	assert_string_equal(list_filter_text(list), "size:>4");
	assert_false(list_filter(list, &source, "size:>", &err));
	assert_int_not_equal(err.kind, ERROR_NONE);
	assert_string_equal(shown(), "pear plum"); /* the last good one stays */
	filter("");
	assert_string_equal(shown(), "apple pear plum");
	assert_string_equal(status(), "2 of 3");
}

/* Refused while it is typed; when rows come later for which it takes too long, the status says so. */
static void a_regex_that_takes_too_long_is_said(void **state)
{
	struct error err = { 0 };

	(void)state;
	rows("apple pear");
	filter("name:/^(a+)+$|p/");
	assert_string_equal(shown(), "apple pear");
	memset(things[0].name, 'a', 60);
	snprintf(things[0].name + 60, 2, "b");
	source.generation++;
	list_update(list, &source);
	assert_string_equal(status(), "0 of 0, filtered of 2: regex_too_slow");
	filter("");
	assert_false(list_filter(list, &source, "name:/^(a+)+$/", &err));
	assert_string_equal(err.code, "regex_too_slow");
	assert_string_equal(list_filter_text(list), "");
	assert_int_equal(list_shown(list), 2);
}

/* While a filter is typed it may show nothing for a moment. */
static void a_filter_that_shows_nothing_forgets_nothing(void **state)
{
	(void)state;
	rows("a b c");
	act(ACTION_last);
	filter("name:nothing");
	assert_int_equal(list_selected(list), LIST_NONE);
	assert_int_equal(list_place(list), 0);
	act(ACTION_mark);
	assert_string_equal(say->at, "no row to mark");
	act(ACTION_down);
	filter("");
	assert_string_equal(selected(), "c");
}

static void marks_stay_on_their_rows(void **state)
{
	size_t chosen[10];
	enum chosen how;

	(void)state;
	rows("a b c d");
	act(ACTION_mark);
	act(ACTION_last);
	act(ACTION_mark);
	assert_string_equal(say->at, "2 marked");
	rows("d c b x"); /* a is gone */
	assert_true(list_is_marked(list, &source, 0));
	assert_false(list_is_marked(list, &source, 1));
	assert_int_equal(list_chosen(list, &source, chosen, &how), 1);
	assert_int_equal(how, CHOSEN_MARKED);
	assert_int_equal(chosen[0], 0);
	assert_string_equal(selected(), "d");
	act(ACTION_mark); /* once more: not marked */
	act(ACTION_mark_none);
	assert_int_equal(list_mark_count(list), 0);
}

static void a_range_is_marked_from_either_end(void **state)
{
	(void)state;
	rows("a b c d e");
	act(ACTION_last);
	act(ACTION_mark_range);
	act(ACTION_up);
	act(ACTION_up);
	act(ACTION_mark_range);
	assert_string_equal(say->at, "3 marked");
	assert_true(list_is_marked(list, &source, 2));
	assert_false(list_is_marked(list, &source, 1));
	act(ACTION_mark_none);
	act(ACTION_mark_range);
	rows("x y"); /* where it began is gone: only this one */
	act(ACTION_mark_range);
	assert_string_equal(say->at, "1 marked");
}

/* A filter's rows are chosen where none is marked; marks count also where the filter hides them. */
static void what_an_act_is_on(void **state)
{
	size_t chosen[10];
	enum chosen how;

	(void)state;
	rows("a=1 b=2 c=3");
	act(ACTION_down);
	assert_int_equal(list_chosen(list, &source, chosen, &how), 1);
	assert_int_equal(how, CHOSEN_ONE);
	assert_int_equal(chosen[0], 1);
	filter("size:>1");
	assert_int_equal(list_chosen(list, &source, chosen, &how), 2);
	assert_int_equal(how, CHOSEN_FILTERED);
	filter("");
	act(ACTION_first);
	act(ACTION_mark);
	filter("size:>1");
	assert_int_equal(list_chosen(list, &source, chosen, &how), 1);
	assert_int_equal(how, CHOSEN_MARKED);
	assert_int_equal(chosen[0], 0);
	act(ACTION_mark_none);
	filter("name:nothing");
	assert_int_equal(list_chosen(list, &source, chosen, &how), 0);
}

static void all_that_is_shown_can_be_marked_up_to_a_limit(void **state)
{
	(void)state;
	for (source.count = 0; source.count < ROWS_MOST; source.count++)
		snprintf(things[source.count].name, sizeof(things->name), "%05zu", source.count);
	source.generation++;
	list_update(list, &source);
	act(ACTION_mark_all);
	assert_string_equal(say->at, "at most 10000 rows can be marked");
	assert_int_equal(list_mark_count(list), LIST_MARKS_MAX);
	act(ACTION_mark_none);
	filter("name:00001");
	act(ACTION_mark_all);
	assert_string_equal(say->at, "1 marked");
}

/* rows that are not here are marked too: the view knows which */
static void everything_is_marked_until_none_is(void **state)
{
	size_t chosen[10];
	enum chosen how;

	(void)state;
	rows("a b c d");
	act(ACTION_mark);
	list_mark_everything(list);
	for (size_t row = 0; row < source.count; row++)
		assert_true(list_is_marked(list, &source, row));
	assert_int_equal(list_chosen(list, &source, chosen, &how), 4);
	assert_int_equal(how, CHOSEN_MARKED);
	act(ACTION_mark);
	assert_string_equal(say->at, "all are marked; U takes the marks away");
	act(ACTION_mark_none);
	assert_false(list_is_everything_marked(list));
	assert_false(list_is_marked(list, &source, 0));
}

static void an_empty_list_is_drawn_and_acted_on(void **state)
{
	static const enum action_id actions[] = { ACTION_down, ACTION_up, ACTION_first, ACTION_last, ACTION_page_down,
		                                  ACTION_half_up, ACTION_mark, ACTION_mark_all, ACTION_mark_range,
		                                  ACTION_mark_none, ACTION_sort_reverse };
	struct canvas *canvas = canvas_new(1, 1);

	(void)state;
	rows("");
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		assert_true(act(actions[i]));
	list_draw(list, &source, area_whole(canvas), true);
	list_draw(list, &source, area_part(area_whole(canvas), 0, 0, 0, 0), true);
	assert_int_equal(list_selected(list), LIST_NONE);
	assert_string_equal(status(), "0 of 0");
	assert_int_equal(canvas->cursor_row, -1);
	canvas_free(canvas);
}

/* A click picks one of the rows that are on the screen, not the heads and not what lies below. */
static void the_rows_on_the_screen_can_be_picked(void **state)
{
	struct canvas *canvas = canvas_new(10, 40);

	(void)state;
	rows("a b c");
	act(ACTION_last);
	list_draw(list, &source, area_part(area_whole(canvas), 2, 0, 8, 40), true);
	assert_int_equal(canvas->pick_from, 3);
	assert_int_equal(canvas->pick_to, 6);
	assert_int_equal(canvas->cursor_row, 5);
	canvas_clear(canvas);
	list_draw(list, &source, area_whole(canvas), false);
	assert_int_equal(canvas->pick_to, 0);
	canvas_free(canvas);
}

#define WITH_LIST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LIST(the_selection_stays_on_its_row),
		WITH_LIST(long_names_are_told_apart),
		WITH_LIST(it_moves_within_its_rows),
		WITH_LIST(columns_leave_in_their_order),
		WITH_LIST(rows_are_sorted_by_a_column),
		WITH_LIST(the_source_order_can_be_reversed),
		WITH_LIST(a_filter_shows_its_rows_and_says_of_how_many),
		WITH_LIST(a_regex_that_takes_too_long_is_said),
		WITH_LIST(a_filter_that_shows_nothing_forgets_nothing),
		WITH_LIST(marks_stay_on_their_rows),
		WITH_LIST(a_range_is_marked_from_either_end),
		WITH_LIST(what_an_act_is_on),
		WITH_LIST(all_that_is_shown_can_be_marked_up_to_a_limit),
		WITH_LIST(everything_is_marked_until_none_is),
		WITH_LIST(an_empty_list_is_drawn_and_acted_on),
		WITH_LIST(the_rows_on_the_screen_can_be_picked),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	cells_set_utf8(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
