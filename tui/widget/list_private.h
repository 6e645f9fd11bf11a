/* The list's inside. */
#ifndef WEIR_TUI_WIDGET_LIST_PRIVATE_H
#define WEIR_TUI_WIDGET_LIST_PRIVATE_H

#include "model/filter.h"
#include "widget/list.h"

struct list {
	struct filter *filter;
	size_t *order;            /* rows of the source, filtered and sorted */
	size_t shown, room;
	size_t place;             /* of the selected one in `order` */
	char key[LIST_KEY_BYTES]; /* of the selected one; "" none */
	size_t top;               /* first row on screen */
	int page;                 /* rows on screen when it was drawn last */
	int sort_column;          /* -1: as the source has them */
	bool is_reversed, is_known;
	unsigned generation;
	size_t filtered_from;     /* rows before the filter, after the fold */
	char **marks;             /* keys, sorted */
	size_t mark_count;
	bool is_everything_marked;
	bool is_ranging;
	char range_key[LIST_KEY_BYTES];
};

/* list_order.c */
void order_make(struct list *list, const struct list_source *source);
/* list_marks.c */
bool marks_act(struct list *list, const struct list_source *source, enum action_id action, struct text *say);
bool marks_have(const struct list *list, const char *key);

#endif
