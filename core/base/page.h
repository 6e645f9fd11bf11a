/*
 * Text laid out for a page of some columns: words folded, lists without the columns that have no room. Pure: how wide the
 * page is says who prints. All text that goes in is clean (clean_text) but a list's cells, which are cleaned here.
 */
#ifndef WEIR_BASE_PAGE_H
#define WEIR_BASE_PAGE_H

#include "base/text.h"

/* Of a pipe or a file: nothing is folded, nothing left out. */
#define PAGE_ENDLESS SIZE_MAX
#define PAGE_COLUMNS_MAX 12

/* Columns of a terminal that the text takes; characters, not bytes. */
size_t page_width(struct span text);

/* Adds the words of `text`, which begins in column `from`, so that no line is longer than `width`; lines that follow begin in
 * column `indent`. A word longer than a line stays whole, for a cut path cannot be pasted. Gives the column it ends in. */
size_t page_fold(struct text *out, const char *text, size_t width, size_t from, size_t indent);

/*
 * Lists. On a page that is too narrow a column shrinks to its least, and then columns go in the order of their rank.
 */
struct page_column {
	const char *title;
	int width;      /* as it is where there is room */
	int least;      /* it may shrink to this; 0: never */
	int rank;       /* 1 goes first; 0: it stays */
	bool is_number; /* to the right */
};

struct page_list {
	const struct page_column *columns;
	size_t count, page;
	int widths[PAGE_COLUMNS_MAX]; /* as printed; 0: left out */
};

void page_list_fit(struct page_list *out, const struct page_column *columns, size_t count, size_t page);
/* Each adds a line with its newline, without blanks at its end. A name that is wider than its column is never cut: on a
 * page with an end the rest of its row follows on the next line. */
void page_list_head(const struct page_list *list, struct text *out);
void page_list_row(const struct page_list *list, const char *const *cells, struct text *out);
/* "FILTERED, PARKED"; nothing when all columns have room. */
void page_list_left_out(const struct page_list *list, struct text *out);

#endif
