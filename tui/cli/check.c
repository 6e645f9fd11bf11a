/*
 * `weir check`: every problem of a job file, a line each, with its place; they are found here, without an engine. What
 * Google has to say is the engine's to ask (core/engine/check.c).
 */
#include "cli/cli_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PARAMS_MAX 256

static size_t read_params(const struct command_line *line, const char *out[PARAMS_MAX])
{
	const json_t *params = json_object_get(line->args, "params");
	size_t count = json_array_size(params) < PARAMS_MAX ? json_array_size(params) : PARAMS_MAX;

	for (size_t i = 0; i < count; i++)
		out[i] = json_string_value(json_array_get(params, i));
	return count;
}

static char *job_file(const struct home *home, const char *name)
{
	OWNED(text) path = text_new(8192);

	if (cli_names_file(home, name))
		text_add(path, name);
	else
		text_add_format(path, "%s/%s.json", home->jobs_config, name);
	return text_take(path);
}

/* What was given beside the file is not the file's fault. */
static bool is_of_params(const struct option_problem *problem, const char *const *params, size_t count)
{
	size_t len = problem->parameter ? strlen(problem->parameter) : 0;

	for (size_t i = 0; len && i < count; i++) {
		if (strncmp(params[i], problem->parameter, len) == 0 && params[i][len] == '=')
			return true;
	}
	return false;
}

static void print_problem(const struct option_problem *problem, const char *path, bool is_of_file, bool is_json)
{
	OWNED(text) words = text_new(65536);

	if (is_json) {
		option_problem_json(problem, path, words);
		puts(words->at);
		return;
	}
	if (!is_of_file)
		text_add(words, "--param ");
	option_problem_line(problem, is_of_file ? path : NULL, words);
	cli_print_wrapped(words->at, 0);
}

static void print_level(const char *level, const struct error *err, const char *path, const char *fine, bool is_json)
{
	json_t *object;

	if (is_json) {
		object = json_pack("{s:s, s:s, s:s, s:s}", "level", level, "code", err ? err->code : "", "file", path, "message",
		                   err ? err->message : fine);
		cli_print_json(object);
		json_decref(object);
	} else {
		OWNED(text) words = text_new(65536);

		text_add_format(words, "%s: %s: %s", path, err ? err->code : "ok", err ? err->message : fine);
		cli_print_wrapped(words->at, 0);
	}
}

struct checked {
	const char *path;
	bool is_json;
};

static void print_warning(void *context, const char *sentence)
{
	const struct checked *checked = context;
	struct error warning = { .code = "column_type_unused" };

	snprintf(warning.message, sizeof(warning.message), "%s", sentence);
	print_level("warning", &warning, checked->path, NULL, checked->is_json);
}

static int check_startable(const struct job_options *options, const char *path, bool is_json)
{
	struct error err = { 0 };

	if (job_options_startable(options, &err)) {
		print_level("ok", NULL, path, "the job can start", is_json);
		return 0;
	}
	print_level("fails", &err, path, NULL, is_json);
	return err.kind == ERROR_ACCESS ? 77 : err.kind == ERROR_UNREACHABLE ? 69 : 78;
}

/*
 * What the engine asks
 */

/* Level, finding, and below it the command that helps, whole: it is there to be pasted. */
static void print_finding(void *context, const json_t *finding)
{
	const struct checked *checked = context;
	const char *fix = cli_word(finding, "fix");
	OWNED(text) words = text_new(65536);

	if (checked->is_json) {
		json_t *line = json_copy((json_t *)finding);

		json_object_set_new(line, "file", json_string(checked->path));
		cli_print_json(line);
		json_decref(line);
		return;
	}
	text_add_format(words, "%-8s %s", cli_word(finding, "level"), cli_word(finding, "message"));
	cli_fold(stdout, words->at, 0, 9);
	if (!*fix)
		return;
	printf("%9s", "");
	cli_print_text(fix);
	putchar('\n');
}

static int ask_engine(const struct home *home, const struct command_line *line, const char *path)
{
	struct checked checked = { path, line->is_json };
	struct client_hooks hooks = { .on_line = print_finding, .on_note = cli_note, .context = &checked };
	struct error err = { 0 };
	struct client *client = client_open_or_start(home, &hooks, &err);
	int status = 0;
	bool is_fine;

	cli_make_absolute(home, line);
	is_fine = client && client_call(client, line->command->call, json_incref(line->args), &hooks, &status, &err);
	client_close(client);
	return is_fine ? status : cli_complain(&err, line);
}

/* A word that is neither a file nor a job: the path that a job of that name would have says nothing to anybody. */
static bool is_anything(const struct home *home, const char *word, const char *path, struct error *err)
{
	if (cli_names_file(home, word) || access(path, F_OK) == 0)
		return true;
	return fail(err, ERROR_CONFIG, "job_unknown", "there is no job '%.100s', and no file of that name", word);
}

/* For what only the engine can ask or read: Google, the schema file as the job would read it, the folder that it writes to. */
static bool needs_engine(const struct job_options *options)
{
	struct error ignored = { 0 };

	return job_options_ask_google(options) ||
	       (((options->schema_file && options->auto_map_tables) || options->dead_letter_folder) &&
	        job_options_startable(options, &ignored));
}

int cli_check(const struct home *home, const struct command_line *line)
{
	const char *params[PARAMS_MAX];
	size_t count = read_params(line, params);
	struct option_problems problems = { 0 };
	const char *word = json_string_value(json_object_get(line->args, "job"));
	char *path = job_file(home, word);
	struct error err = { 0 };
	struct job_options *options = NULL;
	int status = 78;

	if (is_anything(home, word, path, &err))
		options = job_options_load(path, params, count, &problems);
	else
		print_level("fails", &err, word, NULL, line->is_json);
	for (size_t i = 0; i < problems.count; i++)
		print_problem(&problems.items[i], path, !is_of_params(&problems.items[i], params, count), line->is_json);
	if (options) {
		struct checked checked = { path, line->is_json };

		job_options_column_names(options, print_warning, &checked);
		status = needs_engine(options) ? ask_engine(home, line, path) : check_startable(options, path, line->is_json);
	}
	job_options_free(options);
	option_problems_free(&problems);
	free(path);
	return status;
}
