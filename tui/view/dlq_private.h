/* The list of groups inside: its columns and the pane under it. For dlq*.c only. */
#ifndef WEIR_TUI_VIEW_DLQ_PRIVATE_H
#define WEIR_TUI_VIEW_DLQ_PRIVATE_H

#include "view/rows.h"

#define DLQ_STEPS_ROWS 4           /* the rule and the steps */
#define DLQ_SAMPLE_ROWS 4
#define DLQ_PANE_ROWS (2 + DLQ_SAMPLE_ROWS + DLQ_STEPS_ROWS)

/* dlq_columns.c */
extern const struct list_column dlq_columns[];
extern const size_t dlq_column_count;
bool dlq_number(const json_t *row, size_t column, double *out);
void dlq_cell(const struct console *console, const json_t *row, size_t column, struct text *out);
enum role dlq_role(const struct console *console, const json_t *row, size_t column);
bool dlq_is_open(const json_t *row);
/* Has it come since the groups were looked at last? Holds for the list that has called dlq_see last. */
bool dlq_is_new(const json_t *row);
void dlq_see(const json_t *before);

/* dlq_pane.c: the group's first letter, its newest where there is room, and what can be done. */
void dlq_pane(struct view *view, const json_t *group, struct area area);
/* The command of the n-th step, from 1. */
void dlq_step_text(const json_t *group, int number, struct text *out);

#endif
