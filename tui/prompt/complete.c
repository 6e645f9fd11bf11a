/* What may come next on the `:` line, from the tables of commands, places and lines; see prompt.h. */
#include "action/places.h"
#include "base/arena.h"
#include "control/control.h"
#include "prompt/complete_private.h"

/* The line up to the word at the cursor, and what is typed of that word. */
struct typed {
	char **words;
	size_t count, from;
	char *word;
};

/* Where the last word begins, the quote that it leaves open, or 0. */
static size_t last_word(const char *line, char *out_open)
{
	size_t from = 0;
	char open = 0;

	for (size_t i = 0; line[i]; i++) {
		if (open) {
			i += open == '"' && line[i] == '\\' && (line[i + 1] == '"' || line[i + 1] == '\\');
			open = line[i] == open ? 0 : open;
		} else if (line[i] == '\\' && line[i + 1]) {
			i++;
		} else if (words_json_begins(i ? line[i - 1] : 0, line + i)) {
			const char *end = words_json_end(line + i);

			i = end ? (size_t)(end - line) - 1 : strlen(line) - 1;
		} else if (line[i] == '\'' || line[i] == '"') {
			open = line[i];
		} else if (line[i] == ' ' || line[i] == '\t') {
			from = i + 1;
		}
	}
	*out_open = open;
	return from;
}

static char *unquoted(const char *word, char open)
{
	OWNED(text) closed = text_new(PROMPT_BYTES_MAX * 2);
	char **words;
	size_t count;
	char *out;

	text_add(closed, word);
	if (open)
		text_add_char(closed, open);
	if (!words_split(closed->at, &words, &count))
		return memory_string(word); /* JSON that is still typed */
	out = memory_string(count ? words[0] : "");
	words_free(words, count);
	return out;
}

static bool typed_read(const char *line, size_t point, struct typed *out)
{
	char *begun = memory_string_of(span_make(line, strnlen(line, point))), open;
	bool is_read;

	out->from = last_word(begun, &open);
	out->word = unquoted(begun + out->from, open);
	begun[out->from] = '\0';
	is_read = words_split(begun, &out->words, &out->count);
	free(begun);
	if (!is_read)
		free(out->word);
	return is_read;
}

static void typed_clear(struct typed *typed)
{
	words_free(typed->words, typed->count);
	free(typed->word);
}

static struct span first_word(const char *name)
{
	return span_make(name, strcspn(name, " "));
}

/* "dlq": "groups, list, show, .."; once for all its commands. */
static void add_family(struct completing *completing, int row)
{
	struct span family = first_word(command_table[row].name);
	OWNED(text) members = text_new(400);
	char *name;

	if (row && span_equal(family, first_word(command_table[row - 1].name)))
		return;
	for (; row < COMMANDS && span_equal(family, first_word(command_table[row].name)); row++)
		text_add_format(members, "%s%s", members->len ? ", " : "", command_table[row].name + family.len + 1);
	name = memory_string_of(family);
	match_add(completing, name, members->at, false);
	free(name);
}

static bool is_command(const char *name)
{
	for (int i = 0; i < COMMANDS; i++) {
		if (span_is(first_word(command_table[i].name), name))
			return true;
	}
	return false;
}

static void add_first_words(struct completing *completing)
{
	for (int i = 0; i < COMMANDS; i++) {
		if (strchr(command_table[i].name, ' '))
			add_family(completing, i);
		else
			match_add(completing, command_table[i].name, command_table[i].help, false);
	}
	for (size_t i = 0; i < place_count; i++) {
		if (place_table[i].exists && !is_command(place_table[i].name))
			match_add(completing, place_table[i].name, place_table[i].help, false);
	}
	for (size_t i = 0; i < console_line_count; i++)
		match_add(completing, console_line_table[i].name, console_line_table[i].help, false);
}

static void add_second_words(struct completing *completing, const char *family)
{
	for (int i = 0; i < COMMANDS; i++) {
		struct span first = first_word(command_table[i].name);

		if (span_is(first, family) && command_table[i].name[first.len])
			match_add(completing, command_table[i].name + first.len + 1, command_table[i].help, false);
	}
}

/* The arguments so far: which slots are taken, and which one waits for its value. */
struct arguments {
	struct usage_slot slots[USAGE_WORDS];
	bool is_given[USAGE_WORDS];
	size_t count;
	const struct usage_slot *waiting; /* a flag without its value yet, or NULL */
	const char *job;
};

static void take_flag(struct arguments *arguments, const char *word)
{
	for (size_t i = 0; i < arguments->count; i++) {
		if (strcmp(arguments->slots[i].flag, word) != 0)
			continue;
		arguments->is_given[i] = true;
		arguments->waiting = arguments->slots[i].has_value ? &arguments->slots[i] : NULL;
	}
}

static const struct usage_slot *next_place(const struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->count; i++) {
		if (!*arguments->slots[i].flag && (!arguments->is_given[i] || arguments->slots[i].is_list))
			return &arguments->slots[i];
	}
	return NULL;
}

static void take_argument(struct arguments *arguments, const char *word)
{
	const struct usage_slot *slot = arguments->waiting;

	if (!slot && strncmp(word, "--", 2) == 0) {
		take_flag(arguments, word);
		return;
	}
	slot = slot ? slot : next_place(arguments);
	arguments->waiting = NULL;
	if (!slot)
		return;
	arguments->is_given[slot - arguments->slots] = true;
	if (strcmp(slot->name, "job") == 0)
		arguments->job = word;
}

static void add_flags(struct completing *completing, const struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->count; i++) {
		const struct usage_slot *slot = &arguments->slots[i];

		if (*slot->flag && (!arguments->is_given[i] || slot->is_list))
			match_add(completing, slot->flag, slot->is_optional ? "" : "must be given", false);
	}
}

static void add_arguments(struct completing *completing, const struct typed *typed, size_t from, const char *usage)
{
	struct arguments arguments = { .job = "" };
	const struct usage_slot *slot;

	arguments.count = usage_read(usage, arguments.slots);
	for (size_t i = from; i < typed->count; i++)
		take_argument(&arguments, typed->words[i]);
	slot = arguments.waiting ? arguments.waiting : next_place(&arguments);
	if (slot && (arguments.waiting || *typed->word != '-'))
		match_add_values(completing, slot->name, arguments.job);
	if (!arguments.waiting)
		add_flags(completing, &arguments);
}

static void say(struct matches *out, const char *name, const char *usage, const char *help)
{
	OWNED(text) title = text_new(400);

	text_add_format(title, "%s%s%s", name, *usage ? " " : "", usage);
	free(out->title);
	free(out->effect);
	out->title = text_take(title);
	out->effect = memory_string(help);
}

static void add_next(struct completing *completing, const struct typed *typed)
{
	int words = 0;
	const struct command *command = command_find((int)typed->count, typed->words, &words);
	const struct console_line *line = typed->count ? console_line_find(span_of(typed->words[0])) : NULL;

	if (command) {
		completing->command = command->name;
		say(completing->out, command->name, command->args, command->help);
		add_arguments(completing, typed, (size_t)words, command->args);
	} else if (line) {
		say(completing->out, line->name, line->usage, line->help);
		add_arguments(completing, typed, 1, line->usage);
	} else if (typed->count == 0) {
		add_first_words(completing);
	} else if (typed->count == 1) {
		add_second_words(completing, typed->words[0]);
	}
}

void complete_line(const char *line, size_t point, const struct prompt_names *names, struct matches *out)
{
	struct typed typed;
	struct completing completing = { .names = names, .out = out, .command = "", .kind = "" };

	*out = (struct matches){ .title = memory_string(""), .effect = memory_string("") };
	if (!typed_read(line, point, &typed))
		return;
	out->from = typed.from;
	completing.word = typed.word;
	add_next(&completing, &typed);
	typed_clear(&typed);
}
