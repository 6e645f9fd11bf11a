/* The overview's state, shared by its rooms: rows and their cells, the head and the preview, the view. */
#ifndef WEIR_VIEW_OVERVIEW_PRIVATE_H
#define WEIR_VIEW_OVERVIEW_PRIVATE_H

#include "view/view.h"
#include "widget/list.h"

#include <jansson.h>

#define OVERVIEW_LINE_BYTES 2048
#define OVERVIEW_PREVIEW_COLS 100 /* from so many columns and rows on */
#define OVERVIEW_PREVIEW_ROWS 28
#define OVERVIEW_JOBS_COLS 72     /* under it the verdict and the short head stand alone */

struct overview_row {
	const json_t *job, *table; /* table NULL: the job's own row */
};

struct overview {
	struct list *list;
	struct overview_row *rows;
	size_t count, room, folded;
	unsigned generation;
	bool is_unfolded;
	bool is_placed; /* the cursor was put on the worst table, or somebody moved it */
};

/* What a cell is drawn from. */
struct overview_glance {
	const struct overview *overview;
	const struct console *console;
};

/* overview_rows.c */
const struct answer *overview_ask(struct model *model);
/* The rows point into the answer, which the next step of the model may replace: made anew before each use. */
struct list_source overview_rows(struct view *view, struct overview_glance *glance);
/* NULL: no row. Lent until the model's next step. */
const struct overview_row *overview_selected(struct view *view);
/* The table of a row, or its job; what it is called, how it is. */
const json_t *overview_thing(const struct overview_row *row);
const char *overview_name(const struct overview_row *row);
/* A job that was told to end, or whose feed has ended: its worst table gives the state that is shown. */
bool overview_is_stopped(const json_t *job);
const char *overview_state(const struct overview_row *row);

/* overview_head.c */
/* The whole engine's numbers. Gives the rows taken, with the rule. */
int overview_head(struct view *view, struct area area);
/* What is wrong with the selected row, in words. Gives the rows taken. */
int overview_preview(struct view *view, const struct overview_row *row, struct area area);

#endif
