/* Selection, movement and drawing of a list; see list.h. */
#include "widget/list.h"
#include "base/arena.h"
#include "term/cells.h"
#include "widget/chart.h"
#include "widget/list_private.h"

#include <ctype.h>
#include <stdlib.h>

#define CELL_TEXT_MAX 4096
#define ROW_MARGIN 2 /* selection and mark */

struct list *list_new(void)
{
	struct list *list = memory_zalloc(sizeof(*list));

	list->sort_column = -1;
	list->page = 1;
	return list;
}

void list_free(struct list *list)
{
	if (!list)
		return;
	filter_free(list->filter);
	while (list->mark_count)
		free(list->marks[--list->mark_count]);
	free(list->marks);
	free(list->order);
	free(list);
}

/* The row with the selected key, else the place where it was. */
static void selection_keep(struct list *list, const struct list_source *source)
{
	char key[LIST_KEY_BYTES];

	for (size_t place = 0; list->key[0] && place < list->shown; place++) {
		source->key(source->context, list->order[place], key);
		if (strcmp(key, list->key) == 0) {
			list->place = place;
			return;
		}
	}
	if (!list->shown)
		return; /* a filter on its way to the right word: what was selected is so again when it is shown */
	if (list->place >= list->shown)
		list->place = list->shown - 1;
	source->key(source->context, list->order[list->place], list->key);
}

void list_update(struct list *list, const struct list_source *source)
{
	if (list->is_known && list->generation == source->generation)
		return;
	order_make(list, source);
	selection_keep(list, source);
	list->generation = source->generation;
	list->is_known = true;
}

size_t list_selected(const struct list *list)
{
	return list->shown ? list->order[list->place] : LIST_NONE;
}

size_t list_place(const struct list *list)
{
	return list->shown ? list->place + 1 : 0;
}

size_t list_shown(const struct list *list)
{
	return list->shown;
}

size_t list_row_at(const struct list *list, size_t place)
{
	return list->order[place];
}

static void place_set(struct list *list, const struct list_source *source, size_t place)
{
	if (!list->shown)
		return;
	list->place = place < list->shown ? place : list->shown - 1;
	source->key(source->context, list->order[list->place], list->key);
}

bool list_select(struct list *list, const struct list_source *source, const char *key)
{
	snprintf(list->key, sizeof(list->key), "%s", key);
	selection_keep(list, source);
	return strcmp(list->key, key) == 0;
}

void list_select_row(struct list *list, const struct list_source *source, size_t row)
{
	for (size_t place = 0; place < list->shown; place++) {
		if (list->order[place] == row) {
			place_set(list, source, place);
			return;
		}
	}
}

void list_status(const struct list *list, const struct list_source *source, struct text *out)
{
	(void)source;
	if (list->mark_count)
		text_add_format(out, "%zu marked  ", list->mark_count);
	number_text((int64_t)list_place(list), out);
	text_add(out, " of ");
	number_text((int64_t)list->shown, out);
	if (list->filter) {
		text_add(out, ", filtered of ");
		number_text((int64_t)list->filtered_from, out);
		if (filter_is_too_slow(list->filter)) /* by rows that came later: a new filter is not taken */
			text_add(out, ": regex_too_slow");
	}
}

/*
 * Columns.
 */
struct layout {
	int width[LIST_COLUMNS_MAX]; /* 0: not shown */
	int flex;                    /* its index, or -1 */
};

static int layout_width(const struct list_source *source, const struct layout *layout)
{
	int width = ROW_MARGIN;

	for (size_t i = 0; i < source->column_count; i++)
		width += layout->width[i] ? layout->width[i] + (width > ROW_MARGIN) : 0;
	return width;
}

static bool layout_leave(const struct list_source *source, struct layout *layout)
{
	size_t first = source->column_count;

	for (size_t i = 0; i < source->column_count; i++) {
		uint8_t leave = source->columns[i].leave;

		if (leave && layout->width[i] && (first == source->column_count || leave < source->columns[first].leave))
			first = i;
	}
	if (first == source->column_count)
		return false;
	layout->width[first] = 0;
	return true;
}

static void layout_make(const struct list_source *source, int cols, int screen_cols, struct layout *out)
{
	*out = (struct layout){ .flex = -1 };
	for (size_t i = 0; i < source->column_count && i < LIST_COLUMNS_MAX; i++) {
		const struct list_column *column = &source->columns[i];

		out->width[i] = column->wide > screen_cols ? 0 : column->width;
		if (column->is_flex)
			out->flex = (int)i;
	}
	while (layout_width(source, out) > cols && layout_leave(source, out))
		continue;
	if (out->flex >= 0 && out->width[out->flex]) {
		int spare = cols - layout_width(source, out);

		out->width[out->flex] += spare > 0 ? spare : 0;
	}
}

static void draw_heads(const struct list *list, const struct list_source *source, const struct layout *layout,
                       struct area area)
{
	int col = ROW_MARGIN;

	for (size_t i = 0; i < source->column_count; i++) {
		const struct list_column *column = &source->columns[i];
		enum role role = (int)i == list->sort_column ? ROLE_tab_current : ROLE_head;

		if (!layout->width[i])
			continue;
		draw_field(area, 0, col, layout->width[i], column->align, role, span_of(column->head));
		col += layout->width[i] + 1;
	}
}

static void draw_row(struct list *list, const struct list_source *source, const struct layout *layout, struct area area,
                     int at, size_t place)
{
	size_t row = list->order[place];
	bool is_selected = place == list->place;
	int col = ROW_MARGIN;
	OWNED(text) cell = text_new(CELL_TEXT_MAX);

	draw_text(area, at, 0, ROLE_text, is_selected ? ">" : " ");
	draw_text(area, at, 1, ROLE_mark, list_is_marked(list, source, row) ? "*" : " ");
	for (size_t i = 0; i < source->column_count; i++) {
		enum role role = source->role ? source->role(source->context, row, i) : ROLE_text;

		if (!layout->width[i])
			continue;
		text_clear(cell);
		source->cell(source->context, row, i, cell);
		if (source->columns[i].align > 0)
			number_fit(cell, layout->width[i]);
		draw_field(area, at, col, layout->width[i], source->columns[i].align, role, text_span(cell));
		col += layout->width[i] + 1;
	}
	if (is_selected)
		draw_role(area, at, 0, area.cols, ROLE_selection);
}

static void scroll(struct list *list, int rows)
{
	list->page = rows > 0 ? rows : 1;
	if (list->place < list->top)
		list->top = list->place;
	if (list->place >= list->top + (size_t)list->page)
		list->top = list->place - (size_t)list->page + 1;
	if (list->top + (size_t)list->page > list->shown)
		list->top = list->shown > (size_t)list->page ? list->shown - (size_t)list->page : 0;
}

void list_draw(struct list *list, const struct list_source *source, struct area area, bool has_focus)
{
	struct layout layout;

	layout_make(source, area.cols, area.canvas->cols, &layout);
	draw_heads(list, source, &layout, area);
	scroll(list, area.rows - 1);
	for (int at = 1; at < area.rows && list->top + (size_t)at - 1 < list->shown; at++)
		draw_row(list, source, &layout, area, at, list->top + (size_t)at - 1);
	if (!has_focus || !list->shown)
		return;
	pick_rows(area, 1, list->shown - list->top < (size_t)list->page ? (int)(list->shown - list->top) : list->page);
	cursor_put(area, 1 + (int)(list->place - list->top), 0);
}

/*
 * Keys.
 */
static size_t moved(const struct list *list, enum action_id action)
{
	size_t page = (size_t)list->page, half = page > 1 ? page / 2 : 1, last = list->shown ? list->shown - 1 : 0;

	switch ((int)action) {
	case ACTION_down: return list->place + 1;
	case ACTION_up: return list->place ? list->place - 1 : 0;
	case ACTION_first: return 0;
	case ACTION_last: return last;
	case ACTION_half_down: return list->place + half;
	case ACTION_half_up: return list->place > half ? list->place - half : 0;
	case ACTION_page_down: return list->place + page;
	case ACTION_page_up: return list->place > page ? list->place - page : 0;
	default: return LIST_NONE;
	}
}

static void sort_by(struct list *list, const struct list_source *source, const char *letter, struct text *say)
{
	for (size_t i = 0; i < source->column_count; i++) {
		if (!*letter || source->columns[i].sort != tolower((unsigned char)*letter))
			continue;
		list->is_reversed = false;
		list->sort_column = (int)i;
		text_add_format(say, "sorted by %s", source->columns[i].head);
		return;
	}
	text_add(say, "sort: o and one of");
	for (size_t i = 0; i < source->column_count; i++) {
		if (source->columns[i].sort)
			text_add_format(say, " %c (%s)", source->columns[i].sort, source->columns[i].head);
	}
}

static bool sort_act(struct list *list, const struct list_source *source, enum action_id action, const char *argument,
                     struct text *say)
{
	if (action == ACTION_sort_reverse) {
		list->is_reversed = !list->is_reversed;
		text_add(say, list->is_reversed ? "order reversed" : "order as before");
	} else if (action == ACTION_sort) {
		sort_by(list, source, argument, say);
	} else {
		return false;
	}
	list->is_known = false;
	list_update(list, source);
	return true;
}

bool list_act(struct list *list, const struct list_source *source, enum action_id action, const char *argument,
              struct text *say)
{
	size_t place = moved(list, action);

	list_update(list, source);
	if (place != LIST_NONE) {
		place_set(list, source, place);
		return true;
	}
	return sort_act(list, source, action, argument, say) || marks_act(list, source, action, say);
}
