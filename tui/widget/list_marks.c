/* Marked rows of a list, by their keys: they stay marked when the rows change. */
#include "base/arena.h"
#include "widget/list_private.h"

#include <stdlib.h>

static size_t mark_place(const struct list *list, const char *key, bool *out_is_there)
{
	size_t low = 0, high = list->mark_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(list->marks[middle], key);

		if (order == 0) {
			*out_is_there = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*out_is_there = false;
	return low;
}

bool marks_have(const struct list *list, const char *key)
{
	bool is_there;

	mark_place(list, key, &is_there);
	return is_there;
}

static bool mark_set(struct list *list, const char *key, bool is_marked)
{
	bool is_there;
	size_t at = mark_place(list, key, &is_there);

	if (is_there == is_marked)
		return true;
	if (!is_marked) {
		free(list->marks[at]);
		memmove(list->marks + at, list->marks + at + 1, (--list->mark_count - at) * sizeof(*list->marks));
		return true;
	}
	if (list->mark_count == LIST_MARKS_MAX)
		return false;
	if (!list->marks)
		list->marks = memory_alloc(LIST_MARKS_MAX * sizeof(*list->marks));
	memmove(list->marks + at + 1, list->marks + at, (list->mark_count++ - at) * sizeof(*list->marks));
	list->marks[at] = strdup(key);
	return true;
}

static void marks_say(const struct list *list, bool is_whole, struct text *say)
{
	if (!is_whole)
		text_add_format(say, "at most %d rows can be marked", LIST_MARKS_MAX);
	else
		text_add_format(say, "%zu marked", list->mark_count);
}

static size_t place_of(const struct list *list, const struct list_source *source, const char *key)
{
	for (size_t place = 0; place < list->shown; place++) {
		char other[LIST_KEY_BYTES];

		source->key(source->context, list->order[place], other);
		if (strcmp(other, key) == 0)
			return place;
	}
	return LIST_NONE;
}

/* From where `v` was pressed first to here. */
static bool marks_range(struct list *list, const struct list_source *source, size_t from, size_t to)
{
	bool is_whole = true;

	if (from == LIST_NONE)
		from = to;
	for (size_t place = from < to ? from : to; place <= (from < to ? to : from); place++) {
		char key[LIST_KEY_BYTES];

		source->key(source->context, list->order[place], key);
		is_whole &= mark_set(list, key, true);
	}
	return is_whole;
}

static void range_act(struct list *list, const struct list_source *source, struct text *say)
{
	if (!list->is_ranging) {
		snprintf(list->range_key, sizeof(list->range_key), "%s", list->key);
		list->is_ranging = true;
		text_add(say, "range begins here; press it again where it ends");
		return;
	}
	list->is_ranging = false;
	marks_say(list, marks_range(list, source, place_of(list, source, list->range_key), list->place), say);
}

bool marks_act(struct list *list, const struct list_source *source, enum action_id action, struct text *say)
{
	if (action == ACTION_mark_none) {
		list->is_everything_marked = false;
		while (list->mark_count)
			free(list->marks[--list->mark_count]);
		list->is_ranging = false;
		text_add(say, "nothing marked");
		return true;
	}
	if (action != ACTION_mark && action != ACTION_mark_range && action != ACTION_mark_all)
		return false;
	if (!list->shown) {
		text_add(say, "no row to mark");
	} else if (list->is_everything_marked) {
		text_add(say, "all are marked; U takes the marks away");
	} else if (action == ACTION_mark) {
		marks_say(list, mark_set(list, list->key, !marks_have(list, list->key)), say);
	} else if (action == ACTION_mark_all) {
		marks_say(list, marks_range(list, source, 0, list->shown - 1), say);
	} else {
		range_act(list, source, say);
	}
	return true;
}

void list_mark_everything(struct list *list)
{
	list->is_everything_marked = true;
}

bool list_is_everything_marked(const struct list *list)
{
	return list->is_everything_marked;
}

size_t list_mark_count(const struct list *list)
{
	return list->mark_count;
}

bool list_is_marked(const struct list *list, const struct list_source *source, size_t row)
{
	char key[LIST_KEY_BYTES];

	if (list->is_everything_marked)
		return true;
	if (!list->mark_count)
		return false;
	source->key(source->context, row, key);
	return marks_have(list, key);
}

static size_t marked_rows(const struct list *list, const struct list_source *source, size_t *out_rows)
{
	size_t count = 0;

	for (size_t row = 0; row < source->count; row++) {
		if (list_is_marked(list, source, row))
			out_rows[count++] = row;
	}
	return count;
}

size_t list_chosen(const struct list *list, const struct list_source *source, size_t *out_rows, enum chosen *out_how)
{
	size_t marked = marked_rows(list, source, out_rows);

	*out_how = marked ? CHOSEN_MARKED : list->filter ? CHOSEN_FILTERED : CHOSEN_ONE;
	if (marked)
		return marked;
	if (list->filter && list->shown) {
		memcpy(out_rows, list->order, list->shown * sizeof(*out_rows));
		return list->shown;
	}
	if (list->shown)
		out_rows[0] = list->order[list->place];
	return list->shown > 0;
}
