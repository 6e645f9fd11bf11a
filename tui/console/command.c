/*
 * What a typed line does: places and words of the console itself, looks that have a
 * screen, and commands of the engine, which are acts. The words are those of the shell
 * without `weir`; nothing is ever given to a shell.
 */
#include "base/clean.h"
#include "console/console_private.h"
#include "view/known_names.h"
#include "view/names.h"

#define LINE_BYTES 8192

const char *word_at(const struct words *words, size_t i)
{
	return i < words->count ? words->word[i] : "";
}

static void rest_text(const struct words *words, size_t from, struct text *out)
{
	for (size_t i = from; i < words->count; i++)
		text_add_format(out, "%s%s", i > from ? " " : "", words->word[i]);
}

/*
 * Commands that only look and have a screen.
 */
const char *arg_text(const json_t *args, const char *name)
{
	const char *text = json_string_value(json_object_get(args, name));

	return text ? text : "";
}

/* `tables shop` is the place with a job, as `job shop` is; a table has a page of its own, and one of its columns. */
static void tables_go(struct console *console, const json_t *args, const char *job)
{
	const char *table = arg_text(args, "table");
	bool is_schema = json_is_true(json_object_get(args, "schema"));
	struct error none = { 0 };
	OWNED(text) argument = text_new(1024);

	if (*table && !*job && known_job(console, table, &none)) {
		job = table;
		table = "";
	}
	text_add_format(argument, "%s%s%s", *table && !*job ? "-" : job, *table ? " " : "", table);
	console_go(console, is_schema ? "schema" : *table ? "why" : "tables", argument->at);
}

static void look_go(struct console *console, enum command_id id, const json_t *args)
{
	OWNED(text) argument = text_new(1024);
	const char *job = arg_text(args, "job");

	text_add(argument, job);
	switch ((int)id) {
	case COMMAND_status: console_go(console, *job ? "job" : "overview", job); break;
	case COMMAND_job_list: console_go(console, "overview", ""); break;
	case COMMAND_job_show: console_go(console, "job", job); break;
	case COMMAND_tables: tables_go(console, args, job); break;
	case COMMAND_why:
		text_clear(argument);
		text_add_format(argument, "%s %s", *job ? job : "-", arg_text(args, "table"));
		console_go(console, "why", argument->at);
		break;
	case COMMAND_explain: console_go(console, "explain", arg_text(args, "code")); break;
	case COMMAND_dlq_groups: console_go(console, "dlq", job); break;
	case COMMAND_dlq_list:
		entries_argument(args, argument);
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
/* Under --readonly the engine knows that this console only looks: it refuses the act and writes the try into its journal. One
 * that does not know the wish is sent nothing. */
static bool may_act(struct console *console, const struct command *command)
{
	struct reach reach = model_reach(console->model);
	OWNED(text) since = text_new(64);

	if (console->wishes->is_read_only && (!reach.is_there || reach.is_other || reach.access != VIEW)) {
		console_say_read_only(console);
		return false;
	}
	if (reach.is_other && command->access > VIEW && command != &command_table[COMMAND_engine_stop]) {
		console_say(console, "%s is off: the engine is of another version", command->name);
		return false;
	}
	if (reach.is_asked) {
		console_say(console, "%s needs the engine, which has not answered yet", command->name);
		return false;
	}
	if (!reach.is_there) {
		frame_clock(console, console->blind_us, true, since);
		if (strcmp(reach.error->code, "protocol_differs") == 0)
			console_say(console, "%s is off: %s", command->name, reach.error->message);
		else
			console_say(console, "%s needs the engine: not reachable since %s", command->name, since->at);
		return false;
	}
	return true; /* what this user may do is the engine's word, and the try is in its journal */
}

/* What a note is about, where it does not say: the act that was done last, once; else what is selected. */
static void note_subject(struct console *console, json_t *args, struct text *line)
{
	struct view *view = console_view(console);
	const struct act *act = model_act_of(console->model, console->act_to_note);
	struct subject subject = { 0 };
	const char *job = act ? arg_text(act->args, "job") : "", *table = act ? arg_text(act->args, "table") : "";

	if (json_object_get(args, "job") || json_object_get(args, "table"))
		return;
	if (!act && view->ops->subject && view->ops->subject(view, &subject)) {
		job = subject.job;
		table = subject.table;
	}
	if (*job) {
		json_object_set_new(args, "job", json_string(job));
		text_add(line, " --job ");
		shell_quote(line, span_of(job));
	}
	if (*table) {
		json_object_set_new(args, "table", json_string(table));
		text_add(line, " --table ");
		shell_quote(line, span_of(table));
	}
	console->act_to_note = 0;
}

static void act_begin(struct console *console, const struct command *command, const char *typed, json_t *args)
{
	OWNED(text) line = text_new(LINE_BYTES);

	text_add(line, typed);
	if (command == &command_table[COMMAND_note])
		note_subject(console, args, line);
	model_act(console->model, line->at, command->call, json_incref(args));
}

/* What needs a standard input or output of its own, or a value that must not stand in a line and its history. */
static bool is_of_the_shell(enum command_id id)
{
	return id == COMMAND_run || id == COMMAND_check || id == COMMAND_debug_bundle || id == COMMAND_secret_put || id == COMMAND_secret_unlock ||
	       id == COMMAND_secret_seal;
}

static void run_command(struct console *console, const struct command_line *parsed, const char *line)
{
	const struct command *command = parsed->command;
	enum command_id id = (enum command_id)(command - command_table);

	if (has_screen(id)) {
		look_go(console, id, parsed->args);
		return;
	}
	if (command->place != ENGINE || is_of_the_shell(id)) {
		console_say(console, "%s runs in the shell: weir %s", command->name, line);
		return;
	}
	if (!may_act(console, command))
		return;
	/* Nothing is asked for what the engine will refuse; but it is told, for its journal. */
	if (model_reach(console->model).access >= command->access && box_confirm_open(console, line))
		return;
	act_begin(console, command, line, parsed->args);
}

/* What is missing may be what a box asks for. */
static void line_incomplete(struct console *console, const struct command *command, const char *line, const struct error *err)
{
	struct command_line parsed = { 0 };

	if (!box_is_lossy(line)) {
		console_complain(console, err);
	} else if (may_act(console, command)) {
		if (model_reach(console->model).access >= command->access)
			box_confirm_open(console, line);
		else if (box_lossy_parse(line, &parsed))
			act_begin(console, command, line, parsed.args);
		json_decref(parsed.args);
	}
}

/* `tables shop`, `why shop shop.orders`: what no command of that name takes, its place may. */
static bool place_takes(struct console *console, const struct words *words)
{
	const struct view_ops *place = view_find(word_at(words, 0));
	OWNED(text) argument = text_new(4096);

	if (!place || words->count < 2)
		return false;
	for (size_t i = 1; i < words->count; i++) {
		if (words->word[i][0] == '-' && words->word[i][1])
			return false;
	}
	rest_text(words, 1, argument);
	console_go(console, place->name, argument->at);
	return true;
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
	if (!command_line_parse(command, (int)words->count - taken, words->word + taken, &parsed, &err)) {
		if (taken > 1 || !place_takes(console, words))
			line_incomplete(console, command, line, &err);
	} else if (parsed.wants_help) {
		console_say(console, "%s %s: %s", command->name, command->args, command->help);
	} else {
		run_command(console, &parsed, line);
	}
	json_decref(parsed.args);
}

/* A note is a sentence: "note can't be today" needs no quotes, up to an option. */
static bool note_quoted(const char *line, struct text *out)
{
	const char *text = line + strlen("note "), *option;

	if (strncmp(line, "note ", strlen("note ")) != 0 || strchr("'\"-", *text))
		return false;
	option = strstr(text, " --");
	text_add(out, "note ");
	shell_quote(out, option ? span_make(text, (size_t)(option - text)) : span_of(text));
	return text_add(out, option ? option : "");
}

void console_run(struct console *console, const char *typed)
{
	struct words words = { 0 };
	OWNED(text) argument = text_new(4096);
	OWNED(text) note = text_new(LINE_BYTES);
	const char *line = note_quoted(typed, note) ? note->at : typed;

	if (!words_split(line, &words.word, &words.count)) {
		console_say(console, "a quote or a bracket is not closed: %s", line);
		return;
	}
	if (words.count && !line_run(console, &words)) {
		const struct view_ops *place = view_find(word_at(&words, 0));
		int taken;

		rest_text(&words, 1, argument);
		if (place && strcmp(place->name, "help") == 0 && !argument->len)
			text_add(argument, console_view(console)->ops->table);
		/* A command wins over a place of the same name: `why TABLE`, `tables --failing`. */
		if (place && !command_find((int)words.count, words.word, &taken))
			console_go(console, place->name, argument->at);
		else
			parse_command(console, &words, line);
	}
	words_free(words.word, words.count);
}

void console_run_lines(struct console *console, const struct act_lines *lines)
{
	unsigned before = model_act_last(console->model);

	for (size_t i = 0; i < lines->count; i++)
		console_run(console, lines->line[i]);
	if (lines->count < 2) /* one says itself how it went */
		return;
	console->many_from = before + 1;
	console->many_to = model_act_last(console->model);
	snprintf(console->many_title, sizeof(console->many_title), "%s", lines->title);
}
