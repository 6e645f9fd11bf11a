/*
 * A filter over the rows of a list: words that must all hold.
 *
 *   orders            some shown field contains it (letters' case does not count)
 *   /reg.*ex/         base/regex.h: at most 256 characters, no back-references
 *   code:type_mismatch  that field contains it; tries:>2, age:>1h, bytes:<10k compare, and group:1 is 1, not 10
 *   !word             does not hold;  ~word  its letters in that order
 *   "two words"       a text with blanks; a regex may have some, and writes a slash as \/
 *
 * A regex is case-sensitive and looks at the first 16 KiB of a field. Units: ms s m h d w, k M G (thousands).
 */
#ifndef WEIR_TUI_MODEL_FILTER_H
#define WEIR_TUI_MODEL_FILTER_H

#include "base/error.h"
#include "base/text.h"

struct filter;

/* One row as the filter sees it: `get` gives the text of a field as it is shown, or NULL if the row has none such;
 * `number` its number (durations in seconds, sizes in bytes), false if it is none. */
struct filter_row {
	const char *const *fields; /* names, NULL after the last */
	const char *(*get)(const void *row, size_t field);
	bool (*number)(const void *row, size_t field, double *out);
	const void *row;
};

/* NULL with `bad_filter`: what, at which column, which fields there are. An empty text: NULL without an error. */
struct filter *filter_read(const char *text, const char *const *fields, struct error *err);
void filter_free(struct filter *filter);
const char *filter_text(const struct filter *filter);
bool filter_holds(const struct filter *filter, const struct filter_row *row);

/* Fields as bits, by their places. FILTER_EVERY: of a term that looks at all of them. */
#define FILTER_EVERY (UINT64_C(1) << 63)
uint64_t filter_fields(const struct filter *filter);
/* Do the terms that name one of these fields hold? The others are left out. */
bool filter_holds_in(const struct filter *filter, const struct filter_row *row, uint64_t fields);
/* All rows are about to be tried once more: they may take 200 ms of CPU for regexes again. */
void filter_begin(struct filter *filter);
/* Regexes took more since the filter began, or too much memory: it holds for nothing any more, nor when it begins again. */
bool filter_is_too_slow(const struct filter *filter);

#endif
