/* Finding the command, and the ways in which one is answered. */
#include "cli/cli_private.h"

#include "base/clean.h"

#include <stdio.h>
#include <stdlib.h>

int cli_complain(const struct error *err, const struct command_line *line)
{
	char *words = error_line(err, "weir", line && line->is_json);

	fflush(stdout);
	if (line && line->is_json)
		fputs(words, stderr);
	else
		cli_fold_lines(stderr, words);
	free(words);
	return error_policies[err->kind].exit_status;
}

int cli_fail(const struct error *err)
{
	return cli_complain(err, NULL);
}

void cli_note(void *context, const char *note)
{
	OWNED(text) line = text_new(8192);

	(void)context;
	text_add_format(line, "weir: %s", note);
	cli_fold(stderr, line->at, 0, 0);
}

void cli_print_json(const json_t *object)
{
	char *line = json_line(object);

	fputs(line ? line : "", stdout);
	free(line);
}

void cli_print_text(const char *text)
{
	OWNED(text) clean = text_new(4u << 20);

	clean_text(clean, span_of(text ? text : ""));
	fputs(clean->at, stdout);
}

struct output {
	bool has_answer; /* at least one object came */
	const struct command_line *line;
	struct printer_state state;
	void (*print)(const json_t *object, struct printer_state *state);
};

static void on_line(void *context, const json_t *object)
{
	struct output *output = context;

	output->has_answer = true;
	if (output->line->is_json || !output->print) {
		cli_print_json(object);
		/* Lines that come one by one are wanted when they come. */
		if (json_is_true(json_object_get(output->line->args, "follow")))
			fflush(stdout);
	} else {
		output->print(object, &output->state);
	}
}

static bool call_once(const struct home *home, const struct command_line *line, const char *call,
                      const struct client_hooks *hooks, int *out_status, struct error *err)
{
	struct client *client = client_open_or_start(home, hooks, err);
	bool is_fine = client && client_call(client, call, json_incref(line->args), hooks, out_status, err);

	client_close(client);
	return is_fine;
}

/* A list that may be long is a page on a terminal; pipes and scripts get all of it. */
static const struct {
	enum command_id command;
	int lines_each;
} paged[] = { { COMMAND_dlq_groups, 1 }, { COMMAND_dlq_list, 2 } };

static void set_page(const struct command_line *line)
{
	for (size_t i = 0; i < sizeof(paged) / sizeof(paged[0]); i++) {
		int64_t rows = cli_page_rows(paged[i].lines_each);

		if (line->command == &command_table[paged[i].command] && rows && !line->is_json &&
		    !json_object_get(line->args, "limit"))
			json_object_set_new(line->args, "limit", json_integer(rows));
	}
}

int cli_engine_command(const struct home *home, const struct command_line *line, const char *call)
{
	struct output output = { .line = line, .state.args = line->args,
		                 .print = printer_find((enum command_id)(line->command - command_table)) };
	struct client_hooks hooks = { .on_line = on_line, .on_note = cli_note, .context = &output };
	struct error err = { 0 };
	long pid = engine_pid(home);
	int status = 0;
	bool is_fine;

	set_page(line);
	is_fine = call_once(home, line, call, &hooks, &status, &err);
	/* The engine went away before it said anything: a question may be put to the next one, an act only where the engine was
	 * about to end, and has taken up nothing any more. */
	if (!is_fine && !output.has_answer && strcmp(err.code, "connection_lost") == 0 &&
	    (line->command->access == VIEW || engine_has_left(home, pid))) {
		err = (struct error){ 0 };
		is_fine = call_once(home, line, call, &hooks, &status, &err);
	}
	if (!is_fine)
		return cli_complain(&err, line);
	if (!line->is_json && !output.state.count && output.print)
		output.print(NULL, &output.state);
	cli_list_end(&output.state.list);
	return status;
}

/* Commands with something of their own; the others are plain calls. */
static int dispatch(const struct home *home, struct command_line *line, int argc, char **argv)
{
	enum command_id id = (enum command_id)(line->command - command_table);

	if (id == COMMAND_job_create || id == COMMAND_job_set)
		cli_make_absolute(home, line);
	if (id == COMMAND_run || id == COMMAND_bench)
		return cli_run(home, line, argc, argv);
	if (id == COMMAND_check)
		return cli_check(home, line);
	if (id == COMMAND_debug_bundle)
		return cli_bundle(home, line);
	if (id == COMMAND_dlq_export)
		return cli_export(home, line);
	if (id == COMMAND_dlq_replay)
		return cli_replay(home, line);
	if (id == COMMAND_dlq_show)
		return cli_show(home, line);
	if (id == COMMAND_secret_put || id == COMMAND_secret_unlock || id == COMMAND_secret_seal)
		return cli_secret(home, line);
	if (id == COMMAND_keys)
		return cli_keys(home, line);
	if (id == COMMAND_themes)
		return cli_themes(home, line);
	if (id == COMMAND_engine_start)
		return cli_engine_start(home, line);
	if (id == COMMAND_engine_status)
		return cli_engine_status(home, line);
	if (id == COMMAND_engine_stop)
		return cli_engine_stop(home, line);
	return cli_engine_command(home, line, line->command->call);
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct command_line line;
	struct error err = { 0 };
	struct home *home;
	int status;

	if (!command_line_parse(command, argc, argv, &line, &err)) {
		status = cli_complain(&err, &line);
	} else if (line.wants_help) {
		cli_command_help(command);
		status = 0;
	} else if (command == &command_table[COMMAND_explain]) {
		status = cli_explain(&line);
	} else if (command == &command_table[COMMAND_version]) {
		status = cli_version(&line);
	} else if (!(home = home_find(&err))) {
		status = cli_complain(&err, &line);
	} else {
		status = dispatch(home, &line, argc, argv);
		home_free(home);
	}
	json_decref(line.args);
	return status;
}

int cli_main(int argc, char **argv)
{
	int words = 0;
	const struct command *command = command_find(argc, argv, &words);

	if (!command)
		return cli_help(argc, argv);
	return run_command(command, argc - words, argv + words);
}
