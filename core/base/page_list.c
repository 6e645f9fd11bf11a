/* Lists that fit their page: columns shrink, then the least wanted ones go. */
#include "base/page.h"

#include "base/clean.h"

#define CELL_BYTES (4u << 20)

/* With a blank between any two. */
static size_t list_width(const struct page_list *list)
{
	size_t width = 0, shown = 0;

	for (size_t i = 0; i < list->count; i++) {
		width += (size_t)list->widths[i];
		shown += list->widths[i] > 0;
	}
	return shown ? width + shown - 1 : 0;
}

/* By how much the list is too wide. */
static int list_excess(const struct page_list *list)
{
	size_t width = list_width(list);

	return width > list->page ? (int)(width - list->page) : 0;
}

static void shrink(struct page_list *list, size_t column)
{
	const struct page_column *of = &list->columns[column];
	int room = of->least ? of->width - of->least : 0;
	int excess = list_excess(list);

	if (list->widths[column])
		list->widths[column] = of->width - (excess < room ? excess : room);
}

static void widen(struct page_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		list->widths[i] = list->widths[i] ? list->columns[i].width : 0;
}

static void shrink_all(struct page_list *list)
{
	widen(list);
	for (size_t i = 0; i < list->count && list_excess(list); i++)
		shrink(list, i);
}

static bool drop(struct page_list *list, int rank)
{
	bool was_dropped = false;

	for (size_t i = 0; i < list->count; i++) {
		if (list->columns[i].rank != rank)
			continue;
		list->widths[i] = 0;
		was_dropped = true;
	}
	return was_dropped;
}

/* On wide paper half of what is left goes to the name that may shrink on a narrow one. */
static void give_spare(struct page_list *list)
{
	size_t width = list_width(list);

	for (size_t i = 0; i < list->count && list->page != PAGE_ENDLESS && width < list->page; i++) {
		if (!list->columns[i].least || list->widths[i] < list->columns[i].width)
			continue;
		list->widths[i] += (int)(list->page - width) / 2;
		return;
	}
}

void page_list_fit(struct page_list *out, const struct page_column *columns, size_t count, size_t page)
{
	*out = (struct page_list){ .columns = columns, .count = count, .page = page };
	for (size_t i = 0; i < count; i++)
		out->widths[i] = columns[i].width;
	shrink_all(out);
	for (int rank = 1; list_excess(out) && drop(out, rank); rank++)
		shrink_all(out);
	give_spare(out);
}

static size_t last_shown(const struct page_list *list)
{
	size_t last = 0;

	for (size_t i = 0; i < list->count; i++)
		last = list->widths[i] ? i : last;
	return last;
}

static void drop_blanks(struct text *out)
{
	while (out->len && out->at[out->len - 1] == ' ')
		out->at[--out->len] = '\0';
}

/* `at`: the column that the next cell begins in. */
static void add_cell(const struct page_list *list, size_t column, const char *clean, bool is_last, size_t *at,
                     struct text *out)
{
	size_t wide = page_width(span_of(clean)), width = (size_t)list->widths[column];
	int blanks = wide < width ? (int)(width - wide) : 0;

	*at += width + 1;
	if (list->columns[column].is_number)
		text_add_format(out, "%*s%s ", blanks, "", clean);
	else
		text_add_format(out, "%s%*s ", clean, blanks, "");
	/* Behind a name that is too long the others still stand below their titles. */
	if (is_last || wide <= width || list->page == PAGE_ENDLESS || list->columns[column].is_number)
		return;
	drop_blanks(out);
	text_add_format(out, "\n%*s", (int)*at, "");
}

/* One that does not fit behind the others goes below them, to the right. */
static void add_last(const struct page_list *list, size_t column, const char *clean, size_t *at, struct text *out)
{
	size_t wide = page_width(span_of(clean));

	if (*at && wide <= list->page && *at + wide > list->page && list->page != PAGE_ENDLESS) {
		drop_blanks(out);
		text_add_format(out, "\n%*s", (int)(list->page - wide), "");
		*at = 0;
	}
	add_cell(list, column, clean, true, at, out);
}

void page_list_row(const struct page_list *list, const char *const *cells, struct text *out)
{
	size_t last = last_shown(list), at = 0;

	for (size_t i = 0; i <= last; i++) {
		OWNED(text) clean = text_new(CELL_BYTES);

		if (!list->widths[i])
			continue;
		clean_text(clean, span_of(cells[i] && *cells[i] ? cells[i] : "-"));
		if (i == last)
			add_last(list, i, clean->at, &at, out);
		else
			add_cell(list, i, clean->at, false, &at, out);
	}
	drop_blanks(out);
	text_add_char(out, '\n');
}

void page_list_head(const struct page_list *list, struct text *out)
{
	const char *titles[PAGE_COLUMNS_MAX];

	for (size_t i = 0; i < list->count; i++)
		titles[i] = list->columns[i].title;
	page_list_row(list, titles, out);
}

void page_list_left_out(const struct page_list *list, struct text *out)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!list->widths[i])
			text_add_format(out, "%s%s", out->len ? ", " : "", list->columns[i].title);
	}
}
