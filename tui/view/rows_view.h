/*
 * The functions of a view that is one list, for its table of functions: each takes the
 * rows from the view's state, whose first member must be `struct rows *`.
 */
#ifndef WEIR_TUI_VIEW_ROWS_VIEW_H
#define WEIR_TUI_VIEW_ROWS_VIEW_H

#include "view/rows.h"

struct rows_state {
	struct rows *rows;
};

bool rows_view_filter(struct view *view, const char *text, bool is_taken, struct error *err);
const char *rows_view_filter_text(struct view *view);
const char *const *rows_view_fields(struct view *view);
void rows_view_close(struct view *view);
struct rows *rows_view_rows(struct view *view);
/* What a list says in place of its rows: the answer's error, that it is being asked, or `empty`. */
void rows_view_nothing(struct area area, const struct answer *answer, const char *empty);

#endif
