/*
 * Any bytes as a filter: reading it never crashes, a failure has a code and a message,
 * what is read holds or does not hold for rows with any text; completing it never
 * crashes either. Reaches tui/model/filter*.c and tui/prompt/complete_filter.c.
 */
#include "base/arena.h"
#include "base/reason.h"
#include "model/filter.h"
#include "prompt/prompt.h"

#include <assert.h>
#include <locale.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static const char *const fields[] = { "code", "tries", "none", NULL };

static const char *get(const void *row, size_t field)
{
	return field == 2 ? NULL : row;
}

static bool number(const void *row, size_t field, double *out)
{
	*out = (double)strlen(row);
	return field == 1;
}

static void check_filter(const char *text, const char *value)
{
	struct error err = { 0 };
	struct filter *filter = filter_read(text, fields, &err);
	struct filter_row row = { fields, get, number, value };

	if (!filter) {
		assert(err.kind == ERROR_NONE || (err.message[0] && reason_find(err.code)));
		return;
	}
	assert(err.kind == ERROR_NONE);
	assert(strcmp(filter_text(filter), text) == 0);
	assert(filter_holds(filter, &row) == filter_holds(filter, &row) || filter_is_too_slow(filter));
	filter_free(filter);
}

static void check_completion(const char *text)
{
	struct matches matches;

	complete_filter(text, strlen(text), fields, NULL, &matches);
	assert(matches.from <= strlen(text));
	matches_clear(&matches);
}

/* The filter, a newline, and the text of a row. */
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text, *value;

	setlocale(LC_CTYPE, "C.UTF-8");
	if (size > 1000)
		return 0;
	text = memory_string_of(span_make((const char *)data, size));
	value = strchr(text, '\n');
	if (value)
		*value++ = '\0';
	check_filter(text, value ? value : "some text");
	check_completion(text);
	free(text);
	return 0;
}
