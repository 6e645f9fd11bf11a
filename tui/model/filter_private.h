/* A filter inside: its terms, and the CPU that regexes may use. For filter*.c only. */
#ifndef WEIR_TUI_MODEL_FILTER_PRIVATE_H
#define WEIR_TUI_MODEL_FILTER_PRIVATE_H

#include "base/regex.h"
#include "model/filter.h"

#define FILTER_TERMS_MAX 16
#define FILTER_BYTES_MAX 4096
#define FIELD_ANY SIZE_MAX

enum term_kind { TERM_CONTAINS, TERM_FUZZY, TERM_REGEX, TERM_COMPARES };

struct term {
	enum term_kind kind;
	bool is_not;
	size_t field;        /* or FIELD_ANY */
	char *word;          /* what stands to the right, without its signs */
	char *folded;        /* the word without its case; NULL: it is ASCII, and the library's search will do */
	struct regex *regex; /* of TERM_REGEX, else NULL */
	int least, most;     /* of TERM_COMPARES: which signs of (row's number - number) hold, -1 to 1 */
	bool is_integer;     /* of TERM_CONTAINS: the word is one, of a field that is named */
	double number;
};

struct filter {
	char *text;
	struct term terms[FILTER_TERMS_MAX];
	size_t count;
	int64_t *cpu_ns;     /* of regexes since it began; apart, for holding changes nothing else */
};

/* The text with all letters in lower case, which the caller frees. */
char *filter_fold(const char *text);
/* "2", "1.5h", "10k": false if it is no number with a unit of time or size. */
bool filter_number(const char *text, double *out);
#endif
