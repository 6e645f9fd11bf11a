/* Lines that take something away; see lossy.h. */
#include "view/lossy.h"
#include "base/arena.h"
#include "base/clean.h"
#include "prompt/prompt.h"
#include "view/box.h"

#define LINE_BYTES 65536

static bool line_parse(const char *line, struct command_line *out)
{
	struct error err = { 0 };
	char **word = NULL;
	size_t count = 0;
	int taken = 0;
	bool is_parsed;

	*out = (struct command_line){ 0 };
	is_parsed = words_split(line, &word, &count) && (out->command = command_find((int)count, word, &taken)) &&
	            command_line_parse(out->command, (int)count - taken, word + taken, out, &err);
	words_free(word, count);
	if (!is_parsed) {
		json_decref(out->args);
		out->args = NULL;
	}
	return is_parsed;
}

/* What a box asks for, as little as it may be: the grammar wants --confirm and --why. */
static const char *const asked[] = { "", " --confirm 0", " --confirm 0 --why -" };
#define ASKED (sizeof(asked) / sizeof(*asked))

/* Which of them the line lacks; ASKED: it is wrong in another way, and `out` is untouched. */
static size_t parse_with_asked(const char *line, struct command_line *out)
{
	OWNED(text) whole = text_new(LINE_BYTES);
	size_t tried = 0;

	for (; tried < ASKED; tried++) {
		text_clear(whole);
		text_add_format(whole, "%s%s", line, asked[tried]);
		if (line_parse(whole->at, out))
			break;
	}
	return tried;
}

bool box_lossy_parse(const char *line, struct command_line *out)
{
	return parse_with_asked(line, out) < ASKED;
}

/* A line is lossy when all that it lacks is what the box asks for. */
bool lossy_read(const char *line, enum command_id *out_id, json_t **out_args)
{
	struct command_line parsed = { 0 };
	size_t tried = parse_with_asked(line, &parsed);

	if (tried == ASKED)
		return false;
	*out_id = (enum command_id)(parsed.command - command_table);
	if ((*out_id == COMMAND_dlq_discard && tried) ||
	    (*out_id == COMMAND_job_delete && !json_object_get(parsed.args, "yes"))) {
		if (tried == 2)
			json_object_del(parsed.args, "why");
		*out_args = parsed.args;
		return true;
	}
	json_decref(parsed.args);
	return false;
}

bool box_is_lossy(const char *line)
{
	enum command_id id;
	json_t *args = NULL;
	bool is = lossy_read(line, &id, &args);

	json_decref(args);
	return is;
}

/* What says which letters, in the order in which it is written. */
static const char *const choice_words[] = { "group", "id", "all", "table", "code", "state" };

json_t *lossy_choice(const json_t *args)
{
	json_t *choice = json_object();
	json_t *job = json_object_get(args, "job");

	for (size_t i = 0; i < sizeof(choice_words) / sizeof(*choice_words); i++) {
		json_t *value = json_object_get(args, choice_words[i]);

		if (value && !json_is_true(value))
			json_object_set(choice, choice_words[i], value);
	}
	if (job)
		json_object_set(choice, "job", job);
	return choice;
}

static void add_choice(struct text *line, const json_t *args)
{
	for (size_t i = 0; i < sizeof(choice_words) / sizeof(*choice_words); i++) {
		const json_t *value = json_object_get(args, choice_words[i]);

		if (!value)
			continue;
		text_add_format(line, " --%s", choice_words[i]);
		if (json_is_integer(value))
			text_add_format(line, " %lld", (long long)json_integer_value(value));
		if (!json_is_string(value))
			continue;
		text_add_char(line, ' ');
		shell_quote(line, span_of(json_string_value(value)));
	}
}

char *lossy_line(enum command_id id, const json_t *args)
{
	const char *job = member_text(args, "job");
	OWNED(text) line = text_new(LINE_BYTES);

	text_add(line, command_table[id].name);
	add_choice(line, args);
	if (*job) {
		text_add(line, id == COMMAND_job_delete ? " " : " --job ");
		shell_quote(line, span_of(job));
	}
	return text_take(line);
}
