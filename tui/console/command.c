/*
 * What a typed line does: places and words of the console itself, looks that have a
 * screen, and commands of the engine, which are acts. The words are those of the shell
 * without `weir`; nothing is ever given to a shell.
 */
#include "base/clean.h"
#include "console/console_private.h"
#include "view/names.h"

#include <stdlib.h>

#define SAID_BYTES 400

struct words {
	char **word;
	size_t count;
};

static const char *word_at(const struct words *words, size_t i)
{
	return i < words->count ? words->word[i] : "";
}

static void rest_text(const struct words *words, size_t from, struct text *out)
{
	for (size_t i = from; i < words->count; i++)
		text_add_format(out, "%s%s", i > from ? " " : "", words->word[i]);
}

/*
 * Lines of the console's own.
 */
static void line_quit(struct console *console, const struct words *words)
{
	(void)words;
	console->is_ending = true;
}

static void line_messages(struct console *console, const struct words *words)
{
	(void)words;
	console_go(console, "messages", "");
}

static void line_help(struct console *console, const struct words *words)
{
	console_go(console, "help", words->count > 1 ? words->word[1] : console_view(console)->ops->table);
}

/* Text and roles of the screen before the line was opened: useful in bug reports. */
static void line_save_screen(struct console *console, const struct words *words)
{
	OWNED(text) out = text_new(4u << 20);
	FILE *file;

	if (words->count < 2) {
		console_say(console, "usage: save-screen FILE");
		return;
	}
	frame_draw(console);
	canvas_text(console->canvas, out);
	text_add(out, "\n");
	canvas_roles(console->canvas, out);
	file = fopen(words->word[1], "wx");
	if (!file || fwrite(out->at, 1, out->len, file) != out->len || fclose(file) != 0)
		console_say(console, "cannot write '%s': %m", words->word[1]);
	else
		console_say(console, "the screen is in '%s'", words->word[1]);
}

static void line_note(struct console *console, const struct words *words)
{
	struct view *view = console_view(console);
	struct subject subject = { 0 };
	OWNED(text) said = text_new(SAID_BYTES * 4);
	OWNED(text) line = text_new(SAID_BYTES * 16);
	json_t *args = json_object();

	if (words->count < 2) {
		console_say(console, "usage: note TEXT");
		json_decref(args);
		return;
	}
	rest_text(words, 1, said);
	text_add(line, "note ");
	shell_quote(line, text_span(said));
	json_object_set_new(args, "text", json_string(said->at));
	if (view->ops->subject && view->ops->subject(view, &subject)) {
		if (subject.job[0]) {
			json_object_set_new(args, "job", json_string(subject.job));
			text_add(line, " --job ");
			shell_quote(line, span_of(subject.job));
		}
		if (subject.table[0]) {
			json_object_set_new(args, "table", json_string(subject.table));
			text_add(line, " --table ");
			shell_quote(line, span_of(subject.table));
		}
	}
	model_act(console->model, line->at, "note", args);
}

static const struct {
	const char *name;
	void (*run)(struct console *console, const struct words *words);
} own_lines[] = {
	{ "q", line_quit },
	{ "quit", line_quit },
	{ "messages", line_messages },
	{ "help", line_help },
	{ "save-screen", line_save_screen },
	{ "note", line_note },
};

static bool run_own(struct console *console, const struct words *words)
{
	for (size_t i = 0; i < sizeof(own_lines) / sizeof(*own_lines); i++) {
		if (strcmp(own_lines[i].name, word_at(words, 0)) == 0) {
			own_lines[i].run(console, words);
			return true;
		}
	}
	return false;
}

/*
 * Commands that only look and have a screen.
 */
static const char *arg_text(const json_t *args, const char *name)
{
	const char *text = json_string_value(json_object_get(args, name));

	return text ? text : "";
}

static void look_go(struct console *console, enum command_id id, const json_t *args)
{
	OWNED(text) argument = text_new(1024);
	const char *job = arg_text(args, "job");
	json_int_t group = json_integer_value(json_object_get(args, "group"));

	text_add(argument, job);
	switch ((int)id) {
	case COMMAND_status: console_go(console, *job ? "job" : "overview", job); break;
	case COMMAND_job_list: console_go(console, "overview", ""); break;
	case COMMAND_job_show: console_go(console, "job", job); break;
	case COMMAND_tables:
		console_go(console, json_is_true(json_object_get(args, "schema")) ? "schema" : "tables", job);
		break;
	case COMMAND_why:
		text_clear(argument);
		text_add_format(argument, "%s %s", *job ? job : "-", arg_text(args, "table"));
		console_go(console, "why", argument->at);
		break;
	case COMMAND_explain: console_go(console, "explain", arg_text(args, "code")); break;
	case COMMAND_dlq_groups: console_go(console, "dlq", job); break;
	case COMMAND_dlq_list:
		text_add_format(argument, "%s%" JSON_INTEGER_FORMAT, *job ? " " : "- ", group);
		console_go(console, "entries", argument->at);
		break;
	case COMMAND_dlq_show:
		text_add_format(argument, "%s%" JSON_INTEGER_FORMAT, *job ? " " : "- ",
		                json_integer_value(json_object_get(args, "id")));
		console_go(console, "letter", argument->at);
		break;
	case COMMAND_journal: console_go(console, "journal", job); break;
	case COMMAND_logs: console_go(console, "logs", job); break;
	case COMMAND_engine_status: console_go(console, "health", ""); break;
	default: break;
	}
}

static bool has_screen(enum command_id id)
{
	static const enum command_id ids[] = {
		COMMAND_status, COMMAND_job_list, COMMAND_job_show, COMMAND_tables, COMMAND_why, COMMAND_explain,
		COMMAND_dlq_groups, COMMAND_dlq_list, COMMAND_dlq_show, COMMAND_journal, COMMAND_logs, COMMAND_engine_status,
	};

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

/*
 * Acts.
 */
static bool may_act(struct console *console, const struct command *command)
{
	struct reach reach = model_reach(console->model);

	if (console->wishes->is_read_only) {
		console_say(console, "not done: this console was started with --readonly");
		return false;
	}
	if (!reach.is_there) {
		console_say(console, "%s needs the engine: not reachable", command->name);
		return false;
	}
	return true; /* what this user may do is the engine's word, and the try is in its journal */
}

static void run_command(struct console *console, const struct command_line *parsed, const char *line)
{
	const struct command *command = parsed->command;
	enum command_id id = (enum command_id)(command - command_table);

	if (has_screen(id)) {
		look_go(console, id, parsed->args);
		return;
	}
	if (command->place != ENGINE || id == COMMAND_run || id == COMMAND_debug_bundle) {
		console_say(console, "%s runs in the shell: weir %s", command->name, line);
		return;
	}
	if (!may_act(console, command) || box_confirm_open(console, line))
		return;
	model_act(console->model, line, command->call, json_incref(parsed->args));
}

static void parse_command(struct console *console, const struct words *words, const char *line)
{
	struct command_line parsed = { 0 };
	struct error err = { 0 };
	int taken = 0;
	const struct command *command = command_find((int)words->count, words->word, &taken);

	if (!command) {
		console_say(console, "'%s' is no command; Tab lists them", word_at(words, 0));
		return;
	}
	if (!command_line_parse(command, (int)words->count - taken, words->word + taken, &parsed, &err))
		console_complain(console, &err);
	else if (parsed.wants_help)
		console_say(console, "%s %s: %s", command->name, command->args, command->help);
	else
		run_command(console, &parsed, line);
	json_decref(parsed.args);
}

void console_run(struct console *console, const char *line)
{
	struct words words = { 0 };
	OWNED(text) argument = text_new(4096);

	if (!words_split(line, &words.word, &words.count)) {
		console_say(console, "a quote is not closed: %s", line);
		return;
	}
	if (words.count && !run_own(console, &words)) {
		const struct view_ops *place = view_find(word_at(&words, 0));
		int taken;

		rest_text(&words, 1, argument);
		/* A command wins over a place of the same name: `why TABLE`, `tables --failing`. */
		if (place && !command_find((int)words.count, words.word, &taken))
			console_go(console, place->name, argument->at);
		else
			parse_command(console, &words, line);
	}
	words_free(words.word, words.count);
}

void console_ask(struct console *console, const char *question, const char *line)
{
	box_ask_open(console, question, line);
}

/*
 * What acts said, when they have ended.
 */
static void act_say(struct console *console, const struct act *act)
{
	if (act->error.kind != ERROR_NONE)
		console_complain(console, &act->error);
	else if (act->notes->len)
		console_say(console, "%.*s", (int)strcspn(act->notes->at, "\n"), act->notes->at);
	else
		console_say(console, "done: %s", act->line);
}

void command_results(struct console *console)
{
	while (console->act_told < model_act_last(console->model)) {
		const struct act *act = model_act_of(console->model, console->act_told + 1);

		if (act && !act->is_done)
			return;
		console->act_told++;
		if (!act)
			continue;
		act_say(console, act);
		model_refresh(console->model);
		console->is_dirty = true;
	}
}
