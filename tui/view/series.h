/*
 * Series of the engine's history (`weir status JOB --history --json`) as charts: what
 * is counted becomes a rate, what is measured stays.
 */
#ifndef WEIR_TUI_VIEW_SERIES_H
#define WEIR_TUI_VIEW_SERIES_H

#include "view/view.h"

/* What is charted: ten minutes in seconds or, of a table, in tens of them; longer ones in minutes. */
struct series_range {
	const char *name;    /* "10 min" */
	const char *axis[2]; /* at the left end, in the middle */
	int seconds, step_s, table_step_s;
};

/* What `:range` has chosen. */
const struct series_range *series_range(const struct console *console);

struct series {
	const json_t *values; /* lent by the answer; NULL: there is no history */
	uint64_t newest;      /* number of the newest slot */
	size_t count;         /* slots of the whole range */
	int step_s;
};

/* Asks for those of a job, or of one of its tables. */
struct series series_ask(struct console *console, const char *job, const char *table);
/* The top of the scale of a chart of so many columns. */
double series_ceiling(const struct series *series, const char *name, int cols);
void series_draw(const struct series *series, const char *name, struct area area, enum role role, double ceiling);
/* "-10m        -5m        now" */
void series_axis(const struct series_range *range, struct area area, int row);

#endif
