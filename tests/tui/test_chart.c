/* Charts and numbers: gaps, zero, one sample, huge ones, in each kind of picture. */
#include "widget/chart.h"

#include "term/cells.h"
#include "term/term.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void expect(int rows, int cols, enum chart_glyphs glyphs, const struct chart *chart, const char *text, const char *roles)
{
	struct canvas *canvas = canvas_new(rows, cols);
	struct text *out = text_new(10000);

	glyphs_set(true, glyphs);
	for (int row = 0; row < rows; row++)
		draw_text(area_whole(canvas), row, 0, ROLE_text, "old old old old old");
	chart_draw(area_whole(canvas), chart);
	assert_true(canvas_text(canvas, out));
	assert_string_equal(out->at, text);
	text_clear(out);
	assert_true(canvas_roles(canvas, out));
	if (roles)
		assert_string_equal(out->at, roles);
	text_free(out);
	canvas_free(canvas);
}

static void gaps_zeros_and_little_ones_differ(void **state)
{
	static const double samples[] = { 0, CHART_GAP, 0.01, 30, 60, 90 };
	struct chart chart = { samples, COUNT(samples), 90, ROLE_chart_1, false, 0 };

	(void)state;
	expect(1, 6, CHART_ASCII, &chart, "_ ..:#\n", "yuuuuu\n");
	expect(2, 6, CHART_ASCII, &chart, "    .#\n_ .:##\n", NULL);
	expect(1, 6, CHART_BLOCKS, &chart, "_ \xe2\x96\x81\xe2\x96\x83\xe2\x96\x85\xe2\x96\x88\n", "yuuuuu\n");
	expect(1, 3, CHART_BRAILLE, &chart, "\xe2\xa1\x80\xe2\xa3\x80\xe2\xa3\xbe\n", "yuu\n");
}

static void the_newest_sample_stands_right(void **state)
{
	static const double one[] = { 5 }, many[] = { 9, 9, 9, 1, 9 };
	struct chart chart = { one, 1, 5, ROLE_chart_2, false, 0 };

	(void)state;
	expect(1, 4, CHART_ASCII, &chart, "   #\n", "vvvv\n");
	chart = (struct chart){ many, COUNT(many), 9, ROLE_chart_2, false, 0 };
	expect(1, 3, CHART_ASCII, &chart, "#.#\n", NULL);
	chart.count = 0;
	expect(1, 3, CHART_ASCII, &chart, "\n", NULL);
}

static void a_sweep_writes_over_its_oldest(void **state)
{
	static const double ring[] = { 9, 9, 9, 9, 9, 9 };
	struct chart chart = { ring, COUNT(ring), 9, ROLE_chart_1, true, 2 };

	(void)state;
	expect(1, 6, CHART_ASCII, &chart, "### ##\n", NULL);
	chart.now = 5;
	expect(1, 6, CHART_ASCII, &chart, " #####\n", NULL);
	chart.now = 0; /* left half of the first cell: its right half and the next cell are old */
	expect(1, 3, CHART_BRAILLE, &chart, "\xe2\xa1\x87 \xe2\xa3\xbf\n", NULL);
	chart.count = 2;
	chart.now = 1;
	expect(1, 6, CHART_ASCII, &chart, "##\n", NULL);
}

/* A piece stands in its column until the sweep comes round again. */
static void pieces_of_a_ring_stay_where_they_are(void **state)
{
	double before[5], after[5];
	double values[10];
	size_t was = 0, now;

	(void)state;
	for (uint64_t newest = 9; newest < 60; newest += 2) { /* a piece is two values */
		for (uint64_t i = 0; i < 10; i++)
			values[i] = (double)((newest - 9 + i) / 2);
		chart_pieces(values, 10, newest, after, 5);
		now = chart_ring(after, 5, 10, newest);
		assert_true(after[now] == (double)(newest / 2));
		for (size_t i = 0; newest > 9 && i < 5; i++)
			assert_true(i == now || after[i] == before[i]);
		assert_true(newest == 9 || now == (was + 1) % 5);
		memcpy(before, after, sizeof(before));
		was = now;
	}
	assert_int_equal(chart_ring(after, 0, 0, 0), 0);
}

static void wild_samples_stay_in_the_picture(void **state)
{
	static const double wild[] = { INFINITY, NAN, 1e300, -7, 5e-324 };
	struct chart chart = { wild, COUNT(wild), 0, ROLE_chart_1, false, 0 };

	(void)state;
	assert_true(isfinite(chart_ceiling(wild, COUNT(wild), 0)));
	expect(1, 5, CHART_ASCII, &chart, "# # .\n", NULL);
	expect(1, 5, CHART_BLOCKS, &chart, "\xe2\x96\x88 \xe2\x96\x88 \xe2\x96\x81\n", NULL);
}

static void the_scale_grows_at_once_and_shrinks_late(void **state)
{
	static const double samples[] = { 3, CHART_GAP, 60 };

	(void)state;
	assert_true(chart_ceiling(NULL, 0, 0) == 1);
	assert_true(chart_ceiling(samples, 1, 0) == 5);
	assert_true(chart_ceiling(samples, 3, 0) == 100);
	assert_true(chart_ceiling(samples, 3, 50) == 100);
	assert_true(chart_ceiling(samples, 1, 5) == 5);
	assert_true(chart_ceiling((double[]){ 9 }, 1, 10) == 10);
	assert_true(chart_ceiling((double[]){ 4 }, 1, 10) == 5);
	assert_true(chart_ceiling((double[]){ 11 }, 1, 20) == 20);
	assert_true(chart_ceiling((double[]){ 20 }, 1, 0) == 20);
}

static void pieces_are_means(void **state)
{
	static const double values[] = { 1, 3, CHART_GAP, CHART_GAP, 0, CHART_GAP };
	double out[6];

	(void)state;
	chart_pieces(values, 6, 5, out, 3);
	assert_true(out[0] == 2 && out[1] == CHART_GAP && out[2] == 0);
	chart_pieces(values, 2, 1, out, 4);
	assert_true(out[0] == 1 && out[1] == 1 && out[2] == 3 && out[3] == 3);
	chart_pieces(values, 0, 0, out, 2);
	assert_true(out[0] == CHART_GAP && out[1] == CHART_GAP);
}

/* Of 600 values in 176 pieces a new one moves nothing but the last piece, until it begins a piece of its own. */
static void pieces_move_once_a_piece(void **state)
{
	double values[700], before[176], after[176];
	int moved = 0;

	(void)state;
	for (int i = 0; i < 700; i++)
		values[i] = i * i % 97;
	chart_pieces(values, 600, 1000 + 599, before, 176);
	for (uint64_t i = 1; i <= 60; i++) {
		bool is_same, is_shifted;

		chart_pieces(values + i, 600, 1000 + 599 + i, after, 176);
		is_same = memcmp(before + 1, after + 1, 174 * sizeof(double)) == 0;
		is_shifted = memcmp(before + 2, after + 1, 173 * sizeof(double)) == 0;
		assert_true(is_same || is_shifted);
		moved += is_shifted;
		memcpy(before, after, sizeof(before));
	}
	assert_in_range(moved, 60 * 176 / 600, 60 * 176 / 600 + 1);
}

/* "61,.." is read as 61. What is no number, or a name, is left to be cut. */
static void a_number_without_room_is_a_short_one(void **state)
{
	static const struct {
		const char *text, *fitted;
		int cols;
	} rows[] = {
		{ "9,999", "9,999", 5 },       { "61,204", "61k", 5 },      { "1,234,567", "1.2M", 8 },
		{ "1,234,567", "1,234,567", 9 }, { "1234567", "1234567", 5 }, { "12 of 3,000", "12 of 3,000", 5 },
		{ "9,999,999,999,999,999,999,999", "9,999,999,999,999,999,999,999", 5 },
	};
	struct text *out = text_new(100);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		text_clear(out);
		text_add(out, rows[i].text);
		number_fit(out, rows[i].cols);
		assert_string_equal(out->at, rows[i].fitted);
	}
	text_free(out);
}

static void numbers_are_as_the_screens_write_them(void **state)
{
	static const struct {
		double number;
		const char *brief, *rate;
	} rows[] = {
		{ 0, "0", "0 B/s" },           { 0.001, "0.1", "0.1 B/s" },    { 0.94, "0.9", "0.9 B/s" },   { 940, "940", "940 B/s" },
		{ 999.4, "999", "999 B/s" },   { 999.6, "1.0k", "1.0 kB/s" },  { 6000, "6.0k", "6.0 kB/s" }, { 9960, "10k", "10 kB/s" },
		{ 4.1e6, "4.1M", "4.1 MB/s" }, { -6000, "-6.0k", "-6.0 kB/s" }, { 5e18, ">999P", ">999 GB/s" }, { NAN, "-", "-" },
	};
	struct text *out = text_new(100);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		text_clear(out);
		number_short(rows[i].number, out);
		assert_string_equal(out->at, rows[i].brief);
		assert_true(out->len <= 5);
		text_clear(out);
		bytes_rate_text(rows[i].number, out);
		assert_string_equal(out->at, rows[i].rate);
	}
	text_free(out);
}

static void whole_numbers_and_durations(void **state)
{
	static const struct {
		int64_t number;
		const char *marks, *duration;
	} rows[] = {
		{ 0, "0", "0.0s" },
		{ 400, "400", "0.4s" },
		{ 4566, "4,566", "4s" },
		{ 130000, "130,000", "2m10s" },
		{ 11100000, "11,100,000", "3h05m" },
		{ 345600000, "345,600,000", "4d" },
		{ -1234, "-1,234", "-" },
		{ INT64_MIN, "-9,223,372,036,854,775,808", "-" },
	};
	struct text *out = text_new(100);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		text_clear(out);
		number_text(rows[i].number, out);
		assert_string_equal(out->at, rows[i].marks);
		text_clear(out);
		duration_text(rows[i].number, out);
		assert_string_equal(out->at, rows[i].duration);
	}
	text_free(out);
}

static void ages_fit_five_columns(void **state)
{
	static const struct {
		int64_t ms;
		const char *text;
	} rows[] = {
		{ 400, "0s" }, { 59999, "59s" }, { 599999, "9m59s" }, { 754000, "12m" }, { 35999999, "9h59m" }, { 36000000, "10h" },
		{ 86399999, "23h" }, { 86400000, "1d" }, { -1, "-" },
	};
	struct text *out = text_new(100);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		text_clear(out);
		age_text(rows[i].ms, out);
		assert_string_equal(out->at, rows[i].text);
		assert_true(out->len <= 5);
	}
	text_free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_zeros_and_little_ones_differ),
		cmocka_unit_test(the_newest_sample_stands_right),
		cmocka_unit_test(a_sweep_writes_over_its_oldest),
		cmocka_unit_test(pieces_of_a_ring_stay_where_they_are),
		cmocka_unit_test(wild_samples_stay_in_the_picture),
		cmocka_unit_test(the_scale_grows_at_once_and_shrinks_late),
		cmocka_unit_test(pieces_are_means),
		cmocka_unit_test(pieces_move_once_a_piece),
		cmocka_unit_test(a_number_without_room_is_a_short_one),
		cmocka_unit_test(numbers_are_as_the_screens_write_them),
		cmocka_unit_test(whole_numbers_and_durations),
		cmocka_unit_test(ages_fit_five_columns),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
