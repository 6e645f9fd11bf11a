/* What may come next in a filter: fields, and what a field holds. */
#include "base/arena.h"
#include "prompt/complete_private.h"

/* Where the word at the end begins, behind ! and ~; false: inside a regex or quotes, where nothing is known. */
static bool word_begins(const char *text, size_t *out_from)
{
	size_t from = 0;
	char open = 0;

	for (size_t i = 0; text[i]; i++) {
		bool is_begin = i == from || text[i - 1] == ':' || text[i - 1] == '!';

		if (open)
			open = text[i] == open && !(open == '/' && text[i - 1] == '\\') ? 0 : open;
		else if ((text[i] == '/' || text[i] == '"') && is_begin)
			open = text[i];
		else if (text[i] == ' ')
			from = i + 1;
	}
	from += text[from] == '!';
	from += text[from] == '~';
	*out_from = from;
	return !open;
}

static void add_fields(struct completing *completing, const char *const *fields)
{
	for (size_t i = 0; fields[i]; i++) {
		OWNED(text) whole = text_new(200);

		text_add_format(whole, "%s:", fields[i]);
		match_add(completing, whole->at, "", false);
	}
}

static void add_values(struct completing *completing, const char *const *fields, struct span field)
{
	for (size_t i = 0; fields[i]; i++) {
		if (strlen(fields[i]) == field.len && strncasecmp(fields[i], field.at, field.len) == 0)
			match_add_names(completing, fields[i], "");
	}
}

void complete_filter(const char *line, size_t point, const char *const *fields, const struct prompt_names *names,
                     struct matches *out)
{
	char *begun = memory_string_of(span_make(line, strnlen(line, point)));
	struct completing completing = { .names = names, .out = out, .command = "", .kind = "" };
	const char *colon;
	size_t from;

	*out = (struct matches){
		.title = memory_string(""),
		.effect = memory_string("field:value, > < compare, text or /regex/; ! first inverts; ~ first is fuzzy"),
		.from = strlen(begun),
	};
	if (word_begins(begun, &from)) {
		colon = strchr(begun + from, ':');
		out->from = colon ? (size_t)(colon + 1 - begun) : from;
		completing.word = begun + out->from;
		if (colon)
			add_values(&completing, fields, span_make(begun + from, (size_t)(colon - begun) - from));
		else
			add_fields(&completing, fields);
	}
	free(begun);
}
