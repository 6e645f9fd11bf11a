/* Samples as dots, blocks or signs; see chart.h. */
#include "widget/chart.h"
#include "term/term.h"

#include <math.h>

#define DOTS_HIGH 4 /* of a braille cell */

double chart_ceiling(const double *samples, size_t count, double last)
{
	double most = 0, step = 1;
	static const double ladder[] = { 2, 2.5, 2 };

	for (size_t i = 0; i < count; i++)
		most = samples[i] > most ? samples[i] : most;
	for (size_t i = 0; step < most; i++)
		step *= ladder[i % 3];
	return step < last && most > last / 2 ? last : step;
}

size_t chart_samples(int cols)
{
	return cols <= 0 ? 0 : (size_t)cols * (glyphs_charts() == CHART_BRAILLE ? 2 : 1);
}

void chart_pieces(const double *values, size_t count, double *out, size_t want)
{
	for (size_t piece = 0; piece < want; piece++) {
		size_t from = piece * count / want, to = (piece + 1) * count / want;
		double sum = 0;
		size_t known = 0;

		if (to == from && from < count)
			to = from + 1; /* fewer values than pieces: each is shown more than once */
		for (size_t i = from; i < to; i++) {
			if (values[i] >= 0) {
				sum += values[i];
				known++;
			}
		}
		out[piece] = known ? sum / (double)known : CHART_GAP;
	}
}

/* Height of a sample in units of a row's parts; a value above zero has at least one, zero none, a gap -1. */
static int height_of(double sample, double ceiling, int most)
{
	int height;

	if (sample < 0 || isnan(sample))
		return -1;
	height = (int)lround(sample / ceiling * most);
	return sample > 0 && height < 1 ? 1 : height > most ? most : height;
}

static double sample_at(const struct chart *chart, size_t column, size_t columns)
{
	size_t missing = columns > chart->count ? columns - chart->count : 0;

	if (column < missing)
		return CHART_GAP;
	return chart->samples[chart->count - columns + missing + column - missing];
}

/* Dots of one of the two columns of a braille cell, from the lowest up. */
static unsigned braille_bits(int column, int dots)
{
	static const unsigned bit[2][DOTS_HIGH] = { { 0x40, 0x04, 0x02, 0x01 }, { 0x80, 0x20, 0x10, 0x08 } };
	unsigned bits = 0;

	for (int i = 0; i < dots && i < DOTS_HIGH; i++)
		bits |= bit[column][i];
	return bits;
}

static void put_code(struct area area, int row, int col, enum role role, unsigned code)
{
	char text[4] = { (char)(0xe0 | code >> 12), (char)(0x80 | (code >> 6 & 0x3f)), (char)(0x80 | (code & 0x3f)), '\0' };

	draw_text(area, row, col, role, text);
}

static void draw_braille(struct area area, const struct chart *chart)
{
	size_t columns = chart_samples(area.cols);

	for (int col = 0; col < area.cols; col++) {
		for (int row = 0; row < area.rows; row++) {
			int below = (area.rows - 1 - row) * DOTS_HIGH;
			unsigned bits = 0;

			for (int half = 0; half < 2; half++) {
				int height = height_of(sample_at(chart, (size_t)col * 2 + (size_t)half, columns), chart->ceiling,
				                       area.rows * DOTS_HIGH);

				bits |= braille_bits(half, height - below);
			}
			if (bits)
				put_code(area, row, col, chart->role, 0x2800 + bits);
		}
	}
}

static void draw_steps(struct area area, const struct chart *chart, int steps)
{
	static const char ascii[] = ".:#";
	size_t columns = chart_samples(area.cols);

	for (int col = 0; col < area.cols; col++) {
		int height = height_of(sample_at(chart, (size_t)col, columns), chart->ceiling, area.rows * steps);

		for (int row = 0; row < area.rows; row++) {
			int part = height - (area.rows - 1 - row) * steps;
			char sign[2] = { part > 0 ? ascii[(part < 3 ? part : 3) - 1] : ' ', '\0' };

			if (part <= 0)
				continue;
			if (steps == 3)
				draw_text(area, row, col, chart->role, sign);
			else
				put_code(area, row, col, chart->role, 0x2580 + (unsigned)(part < steps ? part : steps));
		}
	}
}

void chart_draw(struct area area, const struct chart *chart)
{
	struct chart scaled = *chart;

	if (scaled.ceiling <= 0)
		scaled.ceiling = chart_ceiling(chart->samples, chart->count, 0);
	switch (glyphs_charts()) {
	case CHART_BRAILLE: draw_braille(area, &scaled); break;
	case CHART_BLOCKS: draw_steps(area, &scaled, 8); break;
	case CHART_ASCII: draw_steps(area, &scaled, 3); break;
	}
}
