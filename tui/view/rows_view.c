/* Views that are one list; see rows_view.h. */
#include "view/rows_view.h"

#include <stdlib.h>

struct rows *rows_view_rows(struct view *view)
{
	return ((struct rows_state *)view->state)->rows;
}

bool rows_view_filter(struct view *view, const char *text, bool is_taken, struct error *err)
{
	(void)is_taken;
	return rows_filter(view, rows_view_rows(view), text, err);
}

const char *rows_view_filter_text(struct view *view)
{
	return rows_filter_text(rows_view_rows(view));
}

const char *const *rows_view_fields(struct view *view)
{
	return rows_fields(rows_view_rows(view));
}

void rows_view_close(struct view *view)
{
	rows_free(rows_view_rows(view));
	free(view->state);
}

void rows_view_nothing(struct area area, const struct answer *answer, const char *empty)
{
	if (answer->error.kind != ERROR_NONE)
		draw_paragraph(area, 0, 1, area.cols - 2, 3, ROLE_error, span_of(answer->error.message));
	else
		draw_paragraph(area, 0, 1, area.cols - 2, 3, ROLE_text, span_of(answer->is_known ? empty : "asking the engine ..."));
}
