/* Matches: gathered, bounded, quoted; what each kind of word may be. */
#include "base/arena.h"
#include "base/reason.h"
#include "options/options.h"
#include "prompt/complete_private.h"

void matches_clear(struct matches *matches)
{
	for (size_t i = 0; i < matches->count; i++) {
		free(matches->match[i].text);
		free(matches->match[i].note);
	}
	free(matches->match);
	free(matches->title);
	free(matches->effect);
	*matches = (struct matches){ 0 };
}

static bool needs_quotes(const char *text)
{
	return !*text || text[strcspn(text, " \t'\"\\")] != '\0';
}

static char *quoted(const char *text)
{
	OWNED(text) out = text_new(PROMPT_BYTES_MAX);

	text_add_char(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			text_add_char(out, '\\');
		text_add_char(out, *text);
	}
	text_add_char(out, '"');
	return text_take(out);
}

/* Takes the text. */
static void match_keep(struct matches *out, char *text, const char *note, bool is_off)
{
	out->all++;
	if (out->count == MATCHES_MAX) {
		free(text);
		return;
	}
	if (!out->match)
		out->match = memory_zalloc(MATCHES_MAX * sizeof(*out->match));
	out->match[out->count++] = (struct match){ .text = text, .note = memory_string(note ? note : ""), .is_off = is_off };
}

void match_add(struct completing *completing, const char *text, const char *note, bool is_off)
{
	if (strncasecmp(text, completing->word, strlen(completing->word)) == 0)
		match_keep(completing->out, needs_quotes(text) ? quoted(text) : memory_string(text), note, is_off);
}

void match_add_line(struct completing *completing, const char *line, const char *note)
{
	match_keep(completing->out, memory_string(line), note, false);
}

/* What a command cannot do to a thing in the state that its note begins with; or only does to one in that state. A job
 * is never off for pause and resume because it is paused or not: a table of it may follow. */
static const struct { const char *command, *kind, *state; bool is_wanted; } wants[] = {
	{ "pause", "JOB", "stopped", false },
	{ "pause", "TABLE", "paused", false },
	{ "resume", "TABLE", "paused", true },
	{ "start", "JOB", "stopped", true },
	{ "drain", "JOB", "stopped", false },
	{ "stop", "JOB", "stopped", false },
};

static bool is_off(const struct completing *completing, const char *note)
{
	for (size_t i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		bool has_state = strncmp(note, wants[i].state, strlen(wants[i].state)) == 0;

		if (strcmp(wants[i].command, completing->command) == 0 && strcmp(wants[i].kind, completing->kind) == 0 &&
		    has_state != wants[i].is_wanted && *note)
			return true;
	}
	return false;
}

static void add_name(void *to, const char *name, const char *note)
{
	struct completing *completing = to;
	OWNED(text) why = text_new(400);
	bool off = is_off(completing, note ? note : "");

	text_add_format(why, "%.300s%s", note ? note : "", off ? ", off" : "");
	match_add(completing, name, why->at, off);
}

void match_add_names(struct completing *completing, const char *kind, const char *job)
{
	completing->kind = kind;
	if (completing->names)
		completing->names->each(completing->names->context, kind, job, add_name, completing);
}

static void add_codes(struct completing *completing)
{
	for (size_t i = 0; i < reason_count; i++)
		match_add(completing, reasons[i].code, reasons[i].summary, false);
}

/* "NAME=": its choices, or in words what it may be. */
static void add_choices(struct completing *completing, const char *equals)
{
	char *name = memory_string_of(span_make(completing->word, (size_t)(equals - completing->word)));
	const struct option *option = option_find(name);
	OWNED(text) allowed = text_new(1000);

	if (option) {
		option_allowed(option, allowed);
		free(completing->out->effect);
		completing->out->effect = memory_string(allowed->at);
	}
	for (size_t i = 0; option && option->choices && option->choices[i]; i++) {
		OWNED(text) whole = text_new(400);
		bool is_default = option->fallback && strcmp(option->fallback, option->choices[i]) == 0;

		text_add_format(whole, "%s=%s", name, option->choices[i]);
		match_add(completing, whole->at, is_default ? "default" : "", false);
	}
	free(name);
}

static void add_parameters(struct completing *completing)
{
	const char *equals = strchr(completing->word, '=');

	if (equals) {
		add_choices(completing, equals);
		return;
	}
	for (size_t i = 0; i < job_option_count; i++) {
		OWNED(text) whole = text_new(400);

		text_add_format(whole, "%s=", job_option_table[i].name);
		match_add(completing, whole->at, job_option_table[i].label, false);
	}
}

/* "on|off" */
static void add_alternatives(struct completing *completing, const char *slot)
{
	while (*slot) {
		size_t len = strcspn(slot, "|");
		char *word = memory_string_of(span_make(slot, len));

		match_add(completing, word, "", false);
		free(word);
		slot += len + (slot[len] == '|');
	}
}

void match_add_values(struct completing *completing, const char *slot, const char *job)
{
	static const struct { const char *slot, *kind; } kinds[] = {
		{ "job", "JOB" }, { "table", "TABLE" }, { "group", "GROUP" }, { "theme", "THEME" },
	};

	if (strchr(slot, '|'))
		add_alternatives(completing, slot);
	else if (strcmp(slot, "code") == 0)
		add_codes(completing);
	else if (strcmp(slot, "name=value") == 0 || strcmp(slot, "param") == 0)
		add_parameters(completing);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].slot, slot) == 0)
			match_add_names(completing, kinds[i].kind, job);
	}
}
