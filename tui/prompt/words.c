/* A line as words, split as a shell would; see prompt.h. */
#include "base/arena.h"
#include "prompt/prompt.h"

#include <stdlib.h>

#define WORDS_MAX 200

void words_free(char **words, size_t count)
{
	while (count)
		free(words[--count]);
	free(words);
}

static const char *take_quoted(const char *at, char quote, struct text *word)
{
	for (at++; *at && *at != quote; at++) {
		if (quote == '"' && *at == '\\' && (at[1] == '"' || at[1] == '\\'))
			at++;
		text_add_char(word, *at);
	}
	return *at ? at + 1 : NULL;
}

/* One word; NULL: a quote is not closed. */
static const char *take_word(const char *at, struct text *word)
{
	while (at && *at && *at != ' ' && *at != '\t') {
		if (*at == '\'' || *at == '"') {
			at = take_quoted(at, *at, word);
		} else {
			at += *at == '\\' && at[1];
			text_add_char(word, *at++);
		}
	}
	return at;
}

bool words_split(const char *line, char ***out_words, size_t *out_count)
{
	char **words = memory_zalloc(WORDS_MAX * sizeof(*words));
	const char *at = line + strspn(line, " \t");
	size_t count = 0;

	while (at && *at && count < WORDS_MAX) {
		OWNED(text) word = text_new(PROMPT_BYTES_MAX);

		at = take_word(at, word);
		words[count++] = memory_string(word->at);
		if (at)
			at += strspn(at, " \t");
	}
	if (!at) {
		words_free(words, count);
		return false;
	}
	*out_words = words;
	*out_count = count;
	return true;
}
