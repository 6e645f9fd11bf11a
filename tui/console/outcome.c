/* What acts have led to, told in the status row when they have ended. */
#include "console/console_private.h"

#include "base/arena.h"

#include <pwd.h>
#include <unistd.h>

#define LINE_BYTES 4096

static bool is_act(const struct act *act, enum command_id id)
{
	return strcmp(act->call, command_table[id].call) == 0;
}

/* "shop.orders" of an act on a table, "shop" of one on a job. */
static const char *act_subject(const struct act *act)
{
	const char *table = arg_text(act->args, "table");

	return *table ? table : arg_text(act->args, "job");
}

/* With the way back, which is the same key, and a way to say why. */
static void say_paused(struct console *console, const struct act *act)
{
	bool is_pause = is_act(act, COMMAND_pause);
	OWNED(text) key = text_new(64);

	keymap_key_of(console->keymap, console_view(console)->ops->table, ACTION_toggle_pause, NULL, key);
	console_say(console, is_pause ? "paused %s; %s resumes, :note says why" : "%s goes on; %s pauses it again, :note says why",
	            act_subject(act), key->at);
}

static void say_looks_only(struct console *console, const struct act *act)
{
	struct words words = { 0 };
	const struct command *command = NULL;
	const struct passwd *user = getpwuid(getuid());
	int taken;

	if (console->wishes->is_read_only) {
		console_say_read_only(console);
		return;
	}
	if (words_split(act->line, &words.word, &words.count))
		command = command_find((int)words.count, words.word, &taken);
	console_say(console, "not done: you only look (%s, uid %d); %s needs %s", user ? user->pw_name : "no name",
	            (int)getuid(), command ? command->name : "this", command ? access_name(command->access) : "more");
	words_free(words.word, words.count);
}

/* The engine tells how many it would be: the question comes with that number, as on the command line. */
static bool ask_for_replay(struct console *console, const struct act *act)
{
	OWNED(text) line = text_new(LINE_BYTES);
	struct act_lines *lines;

	if (strcmp(act->error.code, "replay_not_confirmed") != 0 || console->box.ops)
		return false;
	lines = memory_zalloc(sizeof(*lines));
	text_add_format(line, "%s --yes", act->line);
	snprintf(lines->title, sizeof(lines->title), "%.*s", (int)sizeof(lines->title) - 1, act->error.message);
	lines->line[lines->count++] = memory_string(line->at);
	box_ask_open(console, lines);
	return true;
}

/* A replay that has ended may have led to nothing: its counts say so. */
static void say_replayed(struct console *console, const struct act *act)
{
	const json_t *run = json_array_get(act->lines, json_array_size(act->lines) - 1);
	OWNED(text) words = text_new(LINE_BYTES);

	text_add_format(words, "group %lld: %lld done, %lld no effect, %lld failed again, %lld left",
	                (long long)member_int(run, "group"), (long long)member_int(run, "done"),
	                (long long)member_int(run, "no_effect"), (long long)member_int(run, "failed_again"),
	                (long long)member_int(run, "left"));
	if (act->notes->len)
		text_add_format(words, "; %.*s", (int)strcspn(act->notes->at, "\n"), act->notes->at);
	console_say(console, "%s", words->at);
}

/* What would come again, or comes again now; the list of acts has the lines of the others. */
static void say_sought(struct console *console, const struct act *act)
{
	const json_t *first = json_array_get(act->lines, 0);
	const json_t *repeats = json_object_get(first, "repeats");
	OWNED(text) words = text_new(LINE_BYTES);

	if (json_is_true(json_object_get(first, "sought"))) {
		console_say(console, "put to %s%s; wait a minute before you start the job", arg_text(act->args, "to"),
		            arg_text(act->args, "snapshot"));
		return;
	}
	if (repeats)
		text_add_format(words, "%lld ", (long long)json_integer_value(repeats));
	text_add_format(words, "%s; --confirm %s does it", member_text(first, "sentence"), arg_text(act->args, "job"));
	console_say(console, "%s", words->at);
}

static void act_say(struct console *console, const struct act *act)
{
	if (ask_for_replay(console, act))
		return;
	if (strcmp(act->error.code, "not_allowed") == 0 && model_reach(console->model).access == VIEW)
		say_looks_only(console, act);
	else if (act->error.kind != ERROR_NONE)
		console_complain(console, &act->error);
	else if (is_act(act, COMMAND_pause) || is_act(act, COMMAND_resume))
		say_paused(console, act);
	else if (is_act(act, COMMAND_note) && *act_subject(act))
		console_say(console, "noted on %s: %s", act_subject(act), arg_text(act->args, "text"));
	else if (is_act(act, COMMAND_dlq_replay) && json_array_size(act->lines))
		say_replayed(console, act);
	else if (is_act(act, COMMAND_seek) && json_array_size(act->lines))
		say_sought(console, act);
	else if (act->notes->len)
		console_say(console, "%.*s", (int)strcspn(act->notes->at, "\n"), act->notes->at);
	else
		console_say(console, "done: %s", act->line);
}

/* Of an act on many the sum is what counts; each has its line in the list of what was done here. */
static void many_say(struct console *console)
{
	const struct act *failed = NULL;
	unsigned bad = 0, all = console->many_to - console->many_from + 1;

	for (unsigned number = console->many_from; number <= console->many_to; number++) {
		const struct act *act = model_act_of(console->model, number);

		if (!act || act->error.kind == ERROR_NONE)
			continue;
		bad++;
		failed = failed ? failed : act;
	}
	if (failed)
		console_say(console, "%s: %u done, %u not: %s", console->many_title, all - bad, bad, failed->error.message);
	else
		console_say(console, "%s: done", console->many_title);
	console->many_from = console->many_to = 0;
	console->act_to_note = 0;
}

void outcomes_say(struct console *console)
{
	while (console->act_told < model_act_last(console->model)) {
		const struct act *act = model_act_of(console->model, console->act_told + 1);

		if (act && !act->is_done)
			return;
		console->act_told++;
		if (!act)
			continue;
		act_say(console, act);
		if (act->error.kind == ERROR_NONE && !is_act(act, COMMAND_note) && *arg_text(act->args, "job"))
			console->act_to_note = console->act_told;
		if (console->many_to && console->act_told >= console->many_to)
			many_say(console);
		model_refresh(console->model);
		console->is_dirty = true;
	}
}
