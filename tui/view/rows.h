/*
 * A list whose rows are objects of an answer: what most screens are. A view collects
 * the rows each time it needs them (they belong to the model's answer and last until
 * its next step) and says by a spec what its columns show; selection, filter, sorting,
 * marks and their words are the same everywhere.
 */
#ifndef WEIR_TUI_VIEW_ROWS_H
#define WEIR_TUI_VIEW_ROWS_H

#include "view/view.h"
#include "widget/list.h"

struct rows;

struct rows_spec {
	const struct list_column *columns;
	size_t column_count;
	void (*cell)(const struct console *console, const json_t *row, size_t column, struct text *out);
	/* For sorting and `>`; false: the column is text there. May be NULL. */
	bool (*number)(const json_t *row, size_t column, double *out);
	void (*key)(const json_t *row, char out[LIST_KEY_BYTES]);
	/* NULL: text, and a column 0 named STATE by its state. */
	enum role (*role)(const struct console *console, const json_t *row, size_t column);
	/* Collects the rows: rows_add for each. */
	void (*collect)(struct view *view, struct rows *rows);
};

struct rows *rows_new(const struct rows_spec *spec);
void rows_free(struct rows *rows);
/* In collect: `row` is borrowed. */
void rows_add(struct rows *rows, const json_t *row);

/* Collects and draws; heads in the first row. */
void rows_draw(struct view *view, struct rows *rows, struct area area, bool has_focus);
/* Movements, marks and sorting, with what the status row says of them. True: it was one of these. */
bool rows_act(struct view *view, struct rows *rows, enum action_id action, const char *argument);
/* The selected row, or NULL. Valid until the model's next step. */
const json_t *rows_selected(struct view *view, struct rows *rows);
/* The n-th shown row from 0, or NULL. After rows_selected, rows_draw or rows_act. */
const json_t *rows_at(const struct rows *rows, size_t place);
bool rows_select(struct view *view, struct rows *rows, const char *key);
size_t rows_count(const struct rows *rows);         /* shown */
/* Are there rows, and the filter leaves none of them? */
bool rows_are_filtered_out(const struct rows *rows);
#define ROWS_FILTERED_OUT "the filter leaves none; Esc takes it away"
void rows_status(struct view *view, struct rows *rows, struct text *right);
bool rows_filter(struct view *view, struct rows *rows, const char *text, struct error *err);
const char *rows_filter_text(const struct rows *rows);
const char *const *rows_fields(struct rows *rows);
size_t rows_marked(struct view *view, struct rows *rows);
bool rows_is_marked(const struct rows *rows, const json_t *row);
/* The rows that an act is on, each made a subject by `subject_of`. */
void rows_chosen(struct view *view, struct rows *rows, void (*subject_of)(const json_t *row, struct subject *out),
                 struct subjects *out);
struct list *rows_list(struct rows *rows);

#endif
