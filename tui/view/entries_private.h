/* A list of letters inside: its columns and the pane under it. For entries*.c only. */
#ifndef WEIR_TUI_VIEW_ENTRIES_PRIVATE_H
#define WEIR_TUI_VIEW_ENTRIES_PRIVATE_H

#include "view/rows.h"

#define ENTRIES_COLUMNS 15
#define ENTRIES_PANE_ROWS 8

/* entries_columns.c */
void entries_columns(bool is_of_group, bool is_of_job, struct list_column out[ENTRIES_COLUMNS]);
void entries_name_value(struct list_column list_columns[ENTRIES_COLUMNS], const json_t *row, char *head, size_t room);
bool entries_number(const json_t *row, size_t column, double *out);
void entries_cell(const struct console *console, const json_t *row, size_t column, struct text *out);

/* The selected letter in a few lines (entries_pane.c). */
void entries_pane(struct view *view, const json_t *row, struct area area);

#endif
