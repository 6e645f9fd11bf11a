/* What flows into the selected table, under the list of all of them. */
#ifndef WEIR_TUI_VIEW_TABLES_CHART_H
#define WEIR_TUI_VIEW_TABLES_CHART_H

#include "view/series.h"

#define TABLES_CHART_ROWS 6

/* `row` as `weir tables` gives it. False: nothing has flowed through its job, or nothing is known yet. */
bool tables_chart_has(struct console *console, const json_t *row);
void tables_chart_draw(struct console *console, const json_t *row, struct area area);

#endif
