/*
 * `weir run`: in the engine that answers on this home, else by becoming
 * `weird --run`. `weir bench` becomes `weird --bench`.
 */
#include "cli/cli_private.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define STOP_WAIT_MS 30000

static void leave_way_back(void)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return;
	self[n] = '\0';
	setenv(WEIR_JOIN, self, 1);
}

static int become_engine(const struct command_line *line, const char *how, int argc, char **argv)
{
	struct error err = { 0 };
	char *program = engine_program(&err);
	char **words = memory_zalloc(((size_t)argc + 3) * sizeof(*words));

	if (program) {
		words[0] = program;
		words[1] = memory_string(how);
		memcpy(words + 2, argv, (size_t)argc * sizeof(*words));
		execv(program, words);
		fail_errno(&err, errno, "cannot execute '%s'", program);
		free(words[1]);
	}
	free(program);
	free(words);
	return cli_complain(&err, line);
}

/* The engine's working folder is not ours: what names a file becomes absolute before it is sent. */
static char *absolute(const char *path)
{
	char here[4096];

	if (path[0] == '/' || !getcwd(here, sizeof(here)))
		return memory_string(path);
	return path_join(here, path);
}

static const struct option *find_option(const char *param, size_t len)
{
	for (size_t i = 0; i < job_option_count; i++) {
		if (strlen(job_option_table[i].name) == len && strncmp(job_option_table[i].name, param, len) == 0)
			return &job_option_table[i];
	}
	return NULL;
}

static json_t *absolute_param(const char *param)
{
	size_t len = strcspn(param, "=");
	const struct option *option = find_option(param, len);
	const char *value = param[len] ? param + len + 1 : "";
	OWNED(text) out = text_new(65536);
	char *path;

	if (!option || strcmp(option_type_name(option), "path") != 0 || !*value || strcmp(value, "-") == 0)
		return json_string(param);
	path = absolute(value);
	text_add_format(out, "%s=%s", option->name, path);
	free(path);
	return json_string(out->at);
}

static void make_list_absolute(json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		json_array_set_new(list, i, absolute_param(json_string_value(json_array_get(list, i))));
}

static void make_member_absolute(json_t *args, const char *member)
{
	char *path = absolute(json_string_value(json_object_get(args, member)));

	json_object_set_new(args, member, json_string(path));
	free(path);
}

bool cli_names_file(const struct home *home, const char *word)
{
	OWNED(text) registered = text_new(8192);
	struct stat info;

	if (strpbrk(word, "./"))
		return true;
	text_add_format(registered, "%s/%s.json", home->jobs_config, word);
	/* A folder that happens to have a job's name is not meant. */
	return access(registered->at, F_OK) != 0 && stat(word, &info) == 0 && !S_ISDIR(info.st_mode);
}

void cli_make_absolute(const struct home *home, const struct command_line *line)
{
	json_t *args = line->args;
	const char *job = json_string_value(json_object_get(args, "job"));

	if (job && strstr(line->command->args, "FILE|JOB") && cli_names_file(home, job))
		make_member_absolute(args, "job");
	if (json_object_get(args, "file"))
		make_member_absolute(args, "file");
	make_list_absolute(json_object_get(args, "params"));
	make_list_absolute(json_object_get(args, "name=values"));
}

/* Does the job read our standard input? The engine has none of ours. */
static bool reads_stdin(const struct home *home, const json_t *args)
{
	const char *params[256];
	size_t count = 0;
	struct option_problems problems = { 0 };
	OWNED(text) path = text_new(8192);
	const char *job = json_string_value(json_object_get(args, "job"));
	struct job_options *options;
	bool is_stdin;

	for (; count < json_array_size(json_object_get(args, "params")) && count < 256; count++)
		params[count] = json_string_value(json_array_get(json_object_get(args, "params"), count));
	if (strchr(job, '/'))
		text_add(path, job);
	else
		text_add_format(path, "%s/%s.json", home->jobs_config, job);
	options = job_options_load(path->at, params, count, &problems);
	is_stdin = options && options->input_file && strcmp(options->input_file, "-") == 0;
	job_options_free(options);
	option_problems_free(&problems);
	return is_stdin;
}

static void keep_line(void *context, const json_t *line)
{
	json_t **kept = context;

	json_decref(*kept);
	*kept = json_incref((json_t *)line);
}

/* An engine without work makes room for one that has our standard input; one with work is not disturbed. */
static bool make_room(struct client *client, const struct home *home, struct error *err)
{
	json_t *status = NULL;
	struct client_hooks hooks = { .on_line = keep_line, .context = &status };
	int64_t until_ms = clock_mono_ms() + STOP_WAIT_MS;
	int ignored;
	bool is_free;

	if (!client_call(client, "engine.status", json_object(), &hooks, &ignored, err))
		return false;
	is_free = json_integer_value(json_object_get(status, "running_jobs")) == 0;
	if (!is_free)
		fail(err, ERROR_CONFIG, "stdin_busy_engine", "an engine with running jobs answers on this home; it cannot read this program's standard input");
	is_free = is_free && client_call(client, "engine.stop", json_object(), &hooks, &ignored, err);
	json_decref(status);
	while (is_free && access(home->socket, F_OK) == 0 && clock_mono_ms() < until_ms)
		clock_sleep_ms(20);
	return is_free;
}

static volatile sig_atomic_t interrupts;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	/* The second C-c leaves the job running: only we end. */
	if (++interrupts > 1)
		_exit(1);
}

static bool wants_cancel(void *context)
{
	bool *was_sent = context;
	bool wants = interrupts > 0 && !*was_sent;

	*was_sent = *was_sent || wants;
	return wants;
}

static void print_result(void *context, const json_t *result)
{
	OWNED(text) words = text_new(16u << 20);

	(void)context;
	run_result_text(result, cli_columns(stdout), words);
	fputs(words->at, stdout);
}

static void print_result_json(void *context, const json_t *result)
{
	(void)context;
	cli_print_json(result);
}

/* -1: the engine was about to end and has left without a word; whoever comes next may do it. */
static int run_there(struct client *client, const struct home *home, const struct command_line *line)
{
	bool cancel_sent = false;
	long pid = engine_pid(home);
	struct client_hooks hooks = {
		.on_line = line->is_json ? print_result_json : print_result,
		.on_note = cli_note,
		.wants_cancel = wants_cancel,
		.context = &cancel_sent,
	};
	struct error err = { 0 };
	int status = 0;

	signal(SIGINT, on_interrupt);
	if (client_call(client, "run", json_incref(line->args), &hooks, &status, &err))
		return status;
	if (strcmp(err.code, "connection_lost") == 0 && !interrupts && engine_has_left(home, pid))
		return -1;
	return cli_complain(&err, line);
}

static int run_or_become(const struct home *home, struct command_line *line, int argc, char **argv)
{
	struct error err = { 0 };
	struct client *client = client_open(home, &err);
	int status;

	if (!client && strcmp(err.code, "engine_not_running") != 0)
		return cli_complain(&err, line);
	if (!client)
		return become_engine(line, "--run", argc, argv);
	cli_make_absolute(home, line);
	if (reads_stdin(home, line->args)) {
		bool has_room = make_room(client, home, &err);

		client_close(client);
		return has_room ? become_engine(line, "--run", argc, argv) : cli_complain(&err, line);
	}
	status = run_there(client, home, line);
	client_close(client);
	return status;
}

int cli_run(const struct home *home, struct command_line *line, int argc, char **argv)
{
	int status;

	if (line->command == &command_table[COMMAND_bench])
		return become_engine(line, "--bench", argc, argv);
	leave_way_back();
	while ((status = run_or_become(home, line, argc, argv)) < 0)
		continue;
	return status;
}
