/* A line as words, split as a shell would; see prompt.h. */
#include "base/arena.h"
#include "prompt/complete_private.h"

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

const char *words_json_end(const char *at)
{
	int depth = 0;
	bool in_text = false;

	for (; *at; at++) {
		if (in_text && *at == '\\' && at[1]) {
			at++;
		} else if (in_text) {
			in_text = *at != '"';
		} else if (*at == '"') {
			in_text = true;
		} else if (*at == '{' || *at == '[') {
			depth++;
		} else if ((*at == '}' || *at == ']') && --depth == 0) {
			return at + 1;
		}
	}
	return NULL;
}

bool words_json_begins(char before, const char *at)
{
	return before == '=' && (*at == '{' || *at == '[');
}

/* Behind NAME= a JSON value is taken as it stands: its quotes are its own, and blanks in it part nothing. */
static const char *take_json(const char *at, struct text *word)
{
	const char *end = words_json_end(at);

	if (end)
		text_add_span(word, span_make(at, (size_t)(end - at)));
	return end;
}

/* One word; NULL: a quote or a bracket is not closed. */
static const char *take_word(const char *at, struct text *word)
{
	while (at && *at && *at != ' ' && *at != '\t') {
		if (words_json_begins(word->len ? word->at[word->len - 1] : 0, at)) {
			at = take_json(at, word);
		} else if (*at == '\'' || *at == '"') {
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
