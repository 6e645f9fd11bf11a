/* Which rows of a list are shown, and in which order. */
#include "base/arena.h"
#include "widget/list_private.h"

#include <stdlib.h>
#include <strings.h>

#define CELL_TEXT_MAX 4096

struct sorting {
	const struct list_source *source;
	size_t column;
	bool is_reversed;
	struct text *a, *b;
};

/* qsort_r is not everywhere the same: one sort at a time, in the one thread that draws. */
static struct sorting sorting;

static int cell_compare(size_t a, size_t b)
{
	const struct list_source *source = sorting.source;
	double x = 0, y = 0;
	bool have_x = source->number && source->number(source->context, a, sorting.column, &x);
	bool have_y = source->number && source->number(source->context, b, sorting.column, &y);

	if (have_x != have_y)
		return have_x ? -1 : 1;
	if (have_x)
		return (y > x) - (y < x); /* the largest first */
	text_clear(sorting.a);
	text_clear(sorting.b);
	source->cell(source->context, a, sorting.column, sorting.a);
	source->cell(source->context, b, sorting.column, sorting.b);
	return strcasecmp(sorting.a->at, sorting.b->at);
}

/* Equal ones stay as the source has them. */
static int row_compare(const void *left, const void *right)
{
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	int order = cell_compare(a, b);

	if (sorting.is_reversed)
		order = -order;
	return order ? order : (a > b) - (a < b);
}

static void order_sort(struct list *list, const struct list_source *source)
{
	if (list->sort_column < 0) {
		for (size_t i = 0; list->is_reversed && i < list->shown / 2; i++) {
			size_t other = list->order[list->shown - 1 - i];

			list->order[list->shown - 1 - i] = list->order[i];
			list->order[i] = other;
		}
		return;
	}
	sorting = (struct sorting){ source, (size_t)list->sort_column, list->is_reversed, text_new(CELL_TEXT_MAX),
		                    text_new(CELL_TEXT_MAX) };
	if (list->shown) /* without a row there may be no array yet */
		qsort(list->order, list->shown, sizeof(*list->order), row_compare);
	text_free(sorting.a);
	text_free(sorting.b);
}

/*
 * The filter's look at a row: its fields are the columns that have a name there.
 */
struct row_look {
	const struct list_source *source;
	size_t row;
	struct text *text;
	size_t column_of[LIST_COLUMNS_MAX];
};

static const char *look_get(const void *context, size_t field)
{
	const struct row_look *look = context;

	text_clear(look->text);
	look->source->cell(look->source->context, look->row, look->column_of[field], look->text);
	return look->text->at;
}

static bool look_number(const void *context, size_t field, double *out)
{
	const struct row_look *look = context;

	return look->source->number && look->source->number(look->source->context, look->row, look->column_of[field], out);
}

static size_t fields_of(const struct list_source *source, const char *fields[LIST_COLUMNS_MAX + 1], struct row_look *look)
{
	size_t count = 0;

	for (size_t i = 0; i < source->column_count && count < LIST_COLUMNS_MAX; i++) {
		if (!source->columns[i].field)
			continue;
		fields[count] = source->columns[i].field;
		look->column_of[count++] = i;
	}
	fields[count] = NULL;
	return count;
}

static void order_room(struct list *list, size_t count)
{
	if (list->room >= count)
		return;
	free(list->order);
	list->room = count + count / 2 + 16;
	list->order = memory_alloc(list->room * sizeof(*list->order));
}

void order_make(struct list *list, const struct list_source *source)
{
	const char *fields[LIST_COLUMNS_MAX + 1];
	struct row_look look = { .source = source, .text = text_new(CELL_TEXT_MAX) };

	fields_of(source, fields, &look);
	order_room(list, source->count);
	list->shown = list->filtered_from = 0;
	if (list->filter)
		filter_begin(list->filter);
	for (size_t row = 0; row < source->count; row++) {
		struct filter_row filter_row = { fields, look_get, look_number, &look };

		look.row = row;
		if (source->is_hidden && source->is_hidden(source->context, row))
			continue;
		list->filtered_from++;
		if (!list->filter || filter_holds(list->filter, &filter_row))
			list->order[list->shown++] = row;
	}
	text_free(look.text);
	order_sort(list, source);
}

static void filter_take(struct list *list, const struct list_source *source, struct filter *filter)
{
	list->filter = filter;
	list->is_known = false;
	list_update(list, source);
}

bool list_filter(struct list *list, const struct list_source *source, const char *filter, struct error *err)
{
	const char *fields[LIST_COLUMNS_MAX + 1];
	struct row_look look;
	struct error failure = { 0 };
	struct filter *read, *before = list->filter;

	fields_of(source, fields, &look);
	read = filter_read(filter, fields, &failure);
	if (!read && failure.kind != ERROR_NONE) {
		*err = failure;
		return false;
	}
	filter_take(list, source, read);
	if (read && filter_is_too_slow(read)) {
		filter_take(list, source, before);
		filter_free(read);
		return fail(err, ERROR_USAGE, "regex_too_slow", "the regex takes too long for these rows");
	}
	filter_free(before);
	return true;
}

const char *list_filter_text(const struct list *list)
{
	return list->filter ? filter_text(list->filter) : "";
}
