/*
 * A list of rows with columns: filtered, sorted, marked, with one row selected. It
 * keeps the selection on the same row (by its key) when the rows change, and gives
 * up columns in a stated order where the screen is narrow. The rows are
 * the view's; a list knows them through `struct list_source`.
 */
#ifndef WEIR_TUI_WIDGET_LIST_H
#define WEIR_TUI_WIDGET_LIST_H

#include "action/action.h"
#include "base/error.h"
#include "term/canvas.h"

#define LIST_COLUMNS_MAX 16
#define LIST_HIDDEN 255 /* as `wide`: no screen is, so the column is filtered by and not shown */
#define LIST_LEAVES_LAST 255
#define LIST_KEY_BYTES 400 /* a job (63) and a table (300): names that differ at their end are two rows */
#define LIST_MARKS_MAX 10000

struct list_column {
	const char *head;
	const char *field;  /* name in the filter; NULL: not filtered */
	uint8_t width;      /* without the blank before it; a flexible one: at least */
	int8_t align;       /* < 0 left, > 0 right */
	uint8_t leave;      /* order of leaving where it is narrow, from 1; 0 stays */
	uint8_t wide;       /* shown only from so many columns of screen on; 0 always */
	bool is_flex;       /* takes what is left (one of them) */
	char sort;          /* letter after `o`; 0: not sorted by */
};

struct list_source {
	const struct list_column *columns;
	size_t column_count;
	size_t count;                                /* rows */
	const void *context;
	/* The cell as it is shown. */
	void (*cell)(const void *context, size_t row, size_t column, struct text *out);
	/* Its number for sorting and `>`; false: sorted as text. May be NULL. */
	bool (*number)(const void *context, size_t row, size_t column, double *out);
	/* Stays the same while the row is the same thing. */
	void (*key)(const void *context, size_t row, char out[LIST_KEY_BYTES]);
	enum role (*role)(const void *context, size_t row, size_t column); /* NULL: text */
	/* Rows that a fold hides; NULL: none. Headings that stay whatever the filter says are none of ours. */
	bool (*is_hidden)(const void *context, size_t row);
	unsigned generation;                         /* another one: the rows may have changed */
};

struct list;

struct list *list_new(void);
void list_free(struct list *list);

/* Filter, order, selection anew from the rows as they are; before drawing and acting. `filter` as filter.h; a wrong one
 * is told in *err and the last good one stays. */
void list_update(struct list *list, const struct list_source *source);
bool list_filter(struct list *list, const struct list_source *source, const char *filter, struct error *err);
const char *list_filter_text(const struct list *list); /* "" for none */

/* Heads in the first row, rows below; puts the cursor on the selected one when `has_focus`. */
void list_draw(struct list *list, const struct list_source *source, struct area area, bool has_focus);
/* Movements, marks, sorting. True: it was one for a list. `say` gets what the status row should say, or stays empty. */
bool list_act(struct list *list, const struct list_source *source, enum action_id action, const char *argument,
              struct text *say);

#define LIST_NONE ((size_t)-1)
size_t list_selected(const struct list *list);          /* row of the source, or LIST_NONE */
bool list_select(struct list *list, const struct list_source *source, const char *key);
void list_select_row(struct list *list, const struct list_source *source, size_t row);
size_t list_place(const struct list *list);             /* 1.. of those shown; 0: none */
size_t list_shown(const struct list *list);             /* rows that filter and fold leave */
size_t list_row_at(const struct list *list, size_t place); /* row of the source at that place, from 0 */
size_t list_mark_count(const struct list *list);
/* Marks every row, also those that are not among the source's now: the view knows which. Until `mark_none`. */
void list_mark_everything(struct list *list);
bool list_is_everything_marked(const struct list *list);
bool list_is_marked(const struct list *list, const struct list_source *source, size_t row);
/* Which rows an act is on: those that are marked and still there (whatever the filter says), else those that a filter shows,
 * else the selected one. `out_rows` has room for source->count. Gives how many. */
enum chosen { CHOSEN_ONE, CHOSEN_MARKED, CHOSEN_FILTERED };
size_t list_chosen(const struct list *list, const struct list_source *source, size_t *out_rows, enum chosen *out_how);
/* "2 of 8", "12 of 4,901 filtered", with marks. */
void list_status(const struct list *list, const struct list_source *source, struct text *out);

#endif
