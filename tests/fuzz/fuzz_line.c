/*
 * Any bytes as a `:` line: splitting it and completing it never crash, at any cursor;
 * a match that is taken leaves the words before it as they were, and is then a word.
 * Reaches tui/prompt/words.c, complete.c and matches.c.
 */
#include "base/arena.h"
#include "prompt/prompt.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void each(void *context, const char *kind, const char *job, void (*add)(void *, const char *, const char *), void *to)
{
	(void)context;
	add(to, kind, job);
	add(to, "a b\"'\\c", "paused");
	add(to, "", NULL);
}

static const struct prompt_names names = { each, NULL };

static void check_match(const char *line, const struct matches *matches, const char *word)
{
	OWNED(text) taken = text_new(20000);
	char **before, **after;
	size_t count_before, count_after;
	char *begun = memory_string_of(span_make(line, matches->from));

	assert(words_split(begun, &before, &count_before));
	text_add_format(taken, "%s%s", begun, word);
	assert(words_split(taken->at, &after, &count_after));
	assert(count_after == count_before + 1 || count_before >= 200);
	for (size_t i = 0; i < count_before; i++)
		assert(strcmp(before[i], after[i]) == 0);
	words_free(before, count_before);
	words_free(after, count_after);
	free(begun);
}

static void check_completion(const char *line, size_t point)
{
	struct matches matches;

	complete_line(line, point, &names, &matches);
	assert(matches.title && matches.effect);
	assert(matches.from <= point && matches.count <= MATCHES_MAX && matches.count <= matches.all);
	for (size_t i = 0; i < matches.count; i++) {
		assert(matches.match[i].note);
		check_match(line, &matches, matches.match[i].text);
	}
	matches_clear(&matches);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *line;
	char **words;
	size_t count, len;

	if (size < 1 || size >= PROMPT_BYTES_MAX)
		return 0;
	line = memory_string_of(span_make((const char *)data + 1, size - 1));
	len = strlen(line);
	if (words_split(line, &words, &count))
		words_free(words, count);
	check_completion(line, len);
	check_completion(line, len ? data[0] % (len + 1) : 0);
	free(line);
	return 0;
}
