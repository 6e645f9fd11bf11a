/* `weir engine start`: an engine that answers, whoever started it. `status` and `stop` never start one only to ask or end it. */
#include "cli/cli_private.h"

#include "base/clean.h"

#include <stdio.h>

struct answer {
	const struct command_line *line;
	bool has_started;
};

static void print_engine(void *context, const json_t *status)
{
	const struct answer *answer = context;
	OWNED(text) home = text_new(8192);

	if (!json_object_get(status, "pid"))
		return; /* a line of its health: `weir engine status` shows those */
	if (answer->line->is_json) {
		json_t *line = json_copy((json_t *)status);

		json_object_set_new(line, "started", json_boolean(answer->has_started));
		cli_print_json(line);
		json_decref(line);
		return;
	}
	clean_text(home, span_of(cli_word(status, "home")));
	printf("%s, pid %lld, %lld running jobs\nhome %s\n", answer->has_started ? "engine started" : "the engine runs already",
	       (long long)json_integer_value(json_object_get(status, "pid")),
	       (long long)json_integer_value(json_object_get(status, "running_jobs")), home->at);
}

int cli_engine_start(const struct home *home, const struct command_line *line)
{
	struct answer answer = { .line = line };
	struct client_hooks hooks = { .on_line = print_engine, .on_note = cli_note, .context = &answer };
	struct error err = { 0 };
	struct client *client = client_start(home, &hooks, &answer.has_started, &err);
	int status = 0;
	bool is_fine = client && client_call(client, "engine_status", json_object(), &hooks, &status, &err);

	client_close(client);
	return is_fine ? status : cli_complain(&err, line);
}

int cli_engine_status(const struct home *home, const struct command_line *line)
{
	struct error err = { 0 };
	struct client *client = client_open(home, &err);

	if (!client)
		return cli_complain(&err, line);
	client_close(client);
	return cli_engine_command(home, line, line->command->call);
}

/* What is done next (another engine, the home removed) finds nothing of this one any more. */
int cli_engine_stop(const struct home *home, const struct command_line *line)
{
	long pid = engine_pid(home);
	int status = cli_engine_status(home, line);

	fflush(stdout);
	if (status == 0)
		engine_wait_end(home, pid);
	return status;
}
