/*
 * Samples as dots, blocks or signs (console.md 6). A column of the picture has one
 * or two samples; each is so many parts high, and a row has so many parts. Zero is
 * a base line in the colour of axes, so that it is not taken for a gap or for a
 * little.
 */
#include "widget/chart.h"

#include "base/arena.h"
#include "term/cells.h"
#include "term/term.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CEILING_MOST 1e18
#define GAP (-1)

/* How each kind of picture is made: samples a column, parts a row. */
static const struct grain {
	int samples, parts;
} grains[] = {
	[CHART_BRAILLE] = { 2, 4 },
	[CHART_BLOCKS] = { 1, 8 },
	[CHART_ASCII] = { 1, 3 },
};

static enum chart_glyphs chart_kind(void)
{
	return cells_is_utf8() ? glyphs_charts() : CHART_ASCII;
}

double chart_ceiling(const double *samples, size_t count, double last)
{
	static const double ladder[] = { 2, 2.5, 2 };
	double most = 0, step = 1;

	for (size_t i = 0; i < count; i++)
		most = samples[i] > most ? samples[i] : most;
	for (size_t i = 0; step < most && step < CEILING_MOST; i++)
		step *= ladder[i % 3];
	return step < last && most > last / 2 ? last : step;
}

size_t chart_samples(int cols)
{
	return cols <= 0 ? 0 : (size_t)cols * (size_t)grains[chart_kind()].samples;
}

static double mean_of(const double *values, size_t count)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		if (!(values[i] >= 0))
			continue;
		sum += values[i];
		known++;
	}
	return known ? sum / (double)known : CHART_GAP;
}

/* Fewer values than pieces: each is shown more than once. */
static double piece_of(const double *values, size_t count, uint64_t oldest, uint64_t from, uint64_t to)
{
	to = to == from ? from + 1 : to;
	from = from < oldest ? oldest : from;
	to = to > oldest + count ? oldest + count : to;
	return from < to ? mean_of(values + (from - oldest), (size_t)(to - from)) : CHART_GAP;
}

/* Which piece the newest value lies in, counted from the clock's own zero. */
static uint64_t newest_piece(size_t want, size_t count, uint64_t newest)
{
	newest = newest + 1 < count ? count - 1 : newest;
	return ((newest + 1) * want - 1) / count;
}

void chart_pieces(const double *values, size_t count, uint64_t newest, double *out, size_t want)
{
	uint64_t oldest, first;

	for (size_t i = 0; i < want; i++)
		out[i] = CHART_GAP;
	if (!count || !want)
		return;
	newest = newest + 1 < count ? count - 1 : newest;
	oldest = newest + 1 - count;
	/* The piece in which the newest lies is the last; pieces are counted from the clock's own zero. */
	first = newest_piece(want, count, newest) + 1 - want;
	for (size_t i = 0; i < want; i++)
		out[i] = piece_of(values, count, oldest, (first + i) * count / want, (first + i + 1) * count / want);
}

size_t chart_ring(double *pieces, size_t want, size_t count, uint64_t newest)
{
	double *ring = memory_alloc((want + 1) * sizeof(*ring));
	uint64_t last = count && want ? newest_piece(want, count, newest) : 0;

	for (size_t i = 0; i < want; i++)
		ring[(last + 1 + i) % want] = pieces[i];
	memcpy(pieces, ring, want * sizeof(*ring));
	free(ring);
	return want ? (size_t)(last % want) : 0;
}

static bool sweeps;

void charts_set_sweep(bool is_sweep)
{
	sweeps = is_sweep;
}

bool charts_sweep(void)
{
	return sweeps;
}

/* Sweep: what stands right of the newest sample, to the end of the next column, is about to be written over. */
static bool is_swept(const struct chart *chart, size_t slot, size_t slots)
{
	size_t each = (size_t)grains[chart_kind()].samples, newest = chart->now % slots;
	size_t next = (newest / each + 1) * each % slots;

	return (slot > newest && slot / each == newest / each) || slot / each == next / each;
}

/* The sample of a slot, counted from the left edge. */
static double sample_at(const struct chart *chart, size_t slot, size_t slots)
{
	size_t missing = slots > chart->count ? slots - chart->count : 0;

	if (chart->is_sweep)
		return slot < chart->count && !is_swept(chart, slot, slots) ? chart->samples[slot] : CHART_GAP;
	return slot < missing ? CHART_GAP : chart->samples[chart->count + slot - slots];
}

/* In parts; GAP: no sample. */
static int height_of(double sample, double ceiling, int most)
{
	if (!(sample >= 0))
		return GAP;
	if (sample >= ceiling)
		return most;
	int height = (int)lround(sample / ceiling * most);

	return sample > 0 && height < 1 ? 1 : height;
}

/* Dots of one half of a braille cell, from the lowest up. */
static unsigned braille_bits(int half, int dots)
{
	static const unsigned bit[2][4] = { { 0x40, 0x04, 0x02, 0x01 }, { 0x80, 0x20, 0x10, 0x08 } };
	unsigned bits = 0;

	for (int i = 0; i < dots && i < 4; i++)
		bits |= bit[half][i];
	return bits;
}

static void put_code(struct area area, int row, int col, enum role role, unsigned code)
{
	char text[4] = { (char)(0xe0 | code >> 12), (char)(0x80 | (code >> 6 & 0x3f)), (char)(0x80 | (code & 0x3f)), '\0' };

	draw_text(area, row, col, role, text);
}

/* One cell of which the samples reach so many parts into its row. */
static void cell_draw(struct area area, int row, int col, enum role role, const int parts[2])
{
	static const char *const signs[] = { " ", ".", ":", "#" };
	enum chart_glyphs kind = chart_kind();
	unsigned bits = braille_bits(0, parts[0]) | braille_bits(1, parts[1]);

	if (parts[0] <= 0 && parts[1] <= 0)
		draw_blank(area, row, col, 1, role);
	else if (kind == CHART_BRAILLE)
		put_code(area, row, col, role, 0x2800 + bits);
	else if (kind == CHART_BLOCKS)
		put_code(area, row, col, role, 0x2580 + (unsigned)(parts[0] < 8 ? parts[0] : 8));
	else
		draw_text(area, row, col, role, signs[parts[0] < 3 ? parts[0] : 3]);
}

/* The lowest cell of a column without a value above zero. */
static void base_draw(struct area area, int col, const int heights[2])
{
	int dots[2] = { heights[0] == 0, heights[1] == 0 };

	if (!dots[0] && !dots[1])
		return;
	if (chart_kind() == CHART_BRAILLE)
		cell_draw(area, area.rows - 1, col, ROLE_chart_axis, dots);
	else
		draw_text(area, area.rows - 1, col, ROLE_chart_axis, "_");
}

static void column_draw(struct area area, int col, enum role role, const int heights[2])
{
	int each = grains[chart_kind()].parts;

	for (int row = 0; row < area.rows; row++) {
		int below = (area.rows - 1 - row) * each;
		int parts[2] = { heights[0] - below, heights[1] - below };

		cell_draw(area, row, col, role, parts);
	}
	if (heights[0] <= 0 && heights[1] <= 0)
		base_draw(area, col, heights);
}

void chart_draw(struct area area, const struct chart *chart)
{
	const struct grain *grain = &grains[chart_kind()];
	double ceiling = chart->ceiling > 0 ? chart->ceiling : chart_ceiling(chart->samples, chart->count, 0);
	size_t slots = chart_samples(area.cols);

	for (int col = 0; col < area.cols; col++) {
		int heights[2] = { GAP, GAP };

		for (int i = 0; i < grain->samples; i++) {
			double sample = sample_at(chart, (size_t)(col * grain->samples + i), slots);

			heights[i] = height_of(sample, ceiling, area.rows * grain->parts);
		}
		column_draw(area, col, chart->role, heights);
	}
}
