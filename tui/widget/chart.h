/*
 * Charts of one number over time (console.md 6): the newest sample at the right, or,
 * as sweep, over the oldest one. Pure: samples in, cells out.
 */
#ifndef WEIR_TUI_WIDGET_CHART_H
#define WEIR_TUI_WIDGET_CHART_H

#include "term/canvas.h"

#include <stdint.h>

#define CHART_GAP (-1.0) /* no sample: blank; zero is the base line, in ROLE_chart_axis */

struct chart {
	const double *samples; /* oldest first; CHART_GAP where there is none */
	size_t count;
	double ceiling;        /* of the scale; 0: chart_ceiling of the samples */
	enum role role;
	bool is_sweep;
	size_t now;            /* sweep: index of the newest sample; `samples` are as they lie in the ring, the first one left */
};

/* 1-2-5 ladder: the least step that is not under the largest sample; 1 for none. It never goes under `last` while a
 * sample of the window is over half of it, so that the picture stands still. */
double chart_ceiling(const double *samples, size_t count, double last);
/* How many samples a chart of so many columns shows (two a column in braille, else one). */
size_t chart_samples(int cols);
/* Means of `count` values into `want` pieces; a piece without samples is a gap. `newest` numbers the last value on a clock
 * that counts values: where pieces begin depends on it alone, so a picture moves once a piece and not once a value. */
void chart_pieces(const double *values, size_t count, uint64_t newest, double *out, size_t want);
/* The same pieces as they lie in a ring, for a sweep: each stays in its column until it is written over. Gives where the newest
 * is. */
size_t chart_ring(double *pieces, size_t want, size_t count, uint64_t newest);
/* Whether the charts of this session sweep: on a slow link a picture that scrolls is the dearest thing on the screen. */
void charts_set_sweep(bool is_sweep);
bool charts_sweep(void);
/* Fills the area; a value above zero has at least the lowest dot. */
void chart_draw(struct area area, const struct chart *chart);
/* "4,566", "4.1 MB/s", "6.0k", "7m34s", "0.4s", "12 ms": as the screens write them. `out` gets text added. */
void number_text(int64_t number, struct text *out);        /* thousands marks */
/* "61,204" that has no room becomes "61k": half a number is another one. Other texts stay. */
void number_fit(struct text *number, int cols);
void number_short(double number, struct text *out);        /* at most five columns: 940, 6.0k, 1.2M */
void bytes_rate_text(double bytes_a_second, struct text *out);
void duration_text(int64_t ms, struct text *out);          /* 0.4s 4s 2m10s 7m34s 3h05m 4d */
void age_text(int64_t ms, struct text *out);               /* at most five columns, whole seconds: lists are read down */

#endif
