/* `weir dlq replay`: asks once with the count on a terminal; C-c stops it and what was done is said. */
#include "cli/cli_private.h"

#include "base/clean.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupts;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	interrupts++;
}

struct replay_call {
	const struct command_line *line;
	struct printer_state state;
	bool was_cancelled;
};

static void on_line(void *context, const json_t *object)
{
	struct replay_call *replay = context;

	if (replay->line->is_json)
		cli_print_json(object);
	else
		printer_find(COMMAND_dlq_replay)(object, &replay->state);
}

static bool wants_cancel(void *context)
{
	struct replay_call *replay = context;
	bool wants = interrupts > 0 && !replay->was_cancelled;

	replay->was_cancelled = replay->was_cancelled || wants;
	return wants;
}

/* Only a person at a terminal is asked; a script says --yes. */
static bool agrees(const struct error *err, const struct command_line *line)
{
	OWNED(text) clean = text_new(8192);
	char answer[16];

	if (strcmp(err->code, "replay_not_confirmed") != 0 || line->is_json || !isatty(STDIN_FILENO) ||
	    !isatty(STDERR_FILENO))
		return false;
	clean_text(clean, span_of(err->message));
	fprintf(stderr, "weir: %s; replay them? [y/N] ", clean->at);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

int cli_replay(const struct home *home, struct command_line *line)
{
	struct replay_call replay = { .line = line };
	struct client_hooks hooks = { .on_line = on_line, .on_note = cli_note, .wants_cancel = wants_cancel,
		                      .context = &replay };
	struct error err = { 0 };
	struct client *client = client_open_or_start(home, &hooks, &err);
	int status = 0;
	bool is_fine;

	if (json_is_true(json_object_get(line->args, "yes")))
		signal(SIGINT, on_interrupt);
	is_fine = client && client_call(client, line->command->call, json_incref(line->args), &hooks, &status, &err);

	if (!is_fine && agrees(&err, line)) {
		err = (struct error){ 0 };
		json_object_set_new(line->args, "yes", json_true());
		signal(SIGINT, on_interrupt);
		is_fine = client_call(client, line->command->call, json_incref(line->args), &hooks, &status, &err);
	}
	client_close(client);
	return is_fine ? status : cli_complain(&err, line);
}
