/*
 * weird: the engine. People and scripts use weir, which starts it.
 *
 *   weird --serve [--end-when-idle] [--tell-ready]   answer on the socket; tell whoever started us (control.h: ready_print)
 *   weird --run FILE|JOB ...          run one job, answer meanwhile; the options are those of `weir run`
 *   weird --bench [NAME] ...          measure; the options are those of `weir bench`
 *   weird --version                   versions as one JSON object
 */
#include "base/clock.h"
#include "base/file.h"
#include "base/secret.h"
#include "bench/bench.h"
#include "control/control.h"
#include "engine/engine.h"
#include "engine/exhausted.h"
#include "engine/live_line_private.h"
#include "engine/version.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KEPT_BYTES (8 << 20) /* a piece that is smaller, and what a heap has free at its end, stays */
#define LOCK_WAIT_MS 1000
#define JOIN_WAIT_MS 10000
#define LOCK_LOOK_MS 20
#define READER_LOOK_MS 200
#define READER_STOPPED_MS 1000

static int complain(const struct error *err, bool is_json)
{
	char *line = error_line(err, "weir", is_json);

	fflush(stdout);
	if (is_json)
		fputs(line, stderr);
	else
		terminal_say(line);
	free(line);
	return error_policies[err->kind].exit_status;
}

/* A thread that does not end must not see freed what it uses. What is committed is safe. */
static void end_engine(struct engine *engine, int status)
{
	if (engine_close(engine))
		return;
	fflush(NULL);
	_exit(status);
}

struct serve_wish {
	bool ends_when_idle, tells_ready;
};

/* Who started us reads one line and goes; standard output is not used after it. */
static void tell_ready(const struct serve_wish *wish, const struct error *err)
{
	char *line;
	int null_fd;

	if (!wish->tells_ready)
		return;
	line = ready_print(err);
	fputs(line, stdout);
	fflush(stdout);
	free(line);
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null_fd >= 0) {
		dup2(null_fd, STDOUT_FILENO);
		close(null_fd);
	}
}

static int refuse(const struct serve_wish *wish, const struct error *err)
{
	tell_ready(wish, err);
	return complain(err, false);
}

static int serve(const struct home *home, const struct serve_wish *wish)
{
	struct engine engine;
	struct error err = { 0 };

	if (!engine_open(&engine, home, &err))
		return refuse(wish, &err);
	tell_ready(wish, NULL);
	engine.ends_when_idle = wish->ends_when_idle;
	jobs_restore(&engine);
	engine_loop(&engine, NULL);
	end_engine(&engine, 0);
	return 0;
}

/*
 * --run: the call of `weir run`, answered on our own standard output.
 */
struct own_run {
	struct call call;
	bool is_json;
	struct live_line live;
	atomic_bool is_done;
	bool is_fine;
	struct error err;
};

/* Waits until standard output takes something; false: it takes nothing, and this engine has been asked to end. */
static bool reader_waits(const struct engine *engine)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	int64_t stopped_ms = 0;

	while (poll(&out, 1, READER_LOOK_MS) <= 0) {
		if (!atomic_load(&engine->is_stopping))
			continue;
		if (!stopped_ms)
			stopped_ms = clock_mono_ms();
		if (clock_mono_ms() - stopped_ms >= READER_STOPPED_MS)
			return false;
	}
	return true;
}

/* A result that nobody reads is waited with, as any program's, but not longer than the engine is wanted: it has the home. In
 * pieces that a pipe takes whole once it takes anything. */
static bool put_result(const struct engine *engine, struct span text)
{
	while (text.len) {
		ssize_t n = reader_waits(engine) ? write(STDOUT_FILENO, text.at, text.len < PIPE_BUF ? text.len : PIPE_BUF) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return true; /* who has gone is no reader */
		if (n == 0)
			return false;
		text = span_make(text.at + n, text.len - (size_t)n);
	}
	return true;
}

static bool print_result(struct call *call, json_t *result)
{
	struct own_run *own = call->context;
	OWNED(text) words = text_new(16u << 20);
	char *line = own->is_json ? json_line(result) : NULL;

	live_line_end(&own->live);
	if (!own->is_json)
		run_result_text(result, terminal_columns(STDOUT_FILENO), words);
	if (!put_result(call->engine, line ? span_of(line) : text_span(words)))
		terminal_say("weir: nobody has read the result; weir job show has it");
	free(line);
	json_decref(result);
	return true;
}

static void print_note(struct call *call, const char *sentence)
{
	struct own_run *own = call->context;

	live_line_note(&own->live, sentence);
}

static void show_progress(struct call *call, const char *job_name, const struct progress_view *view)
{
	struct own_run *own = call->context;

	live_line_show(&own->live, job_name, view);
}

static void *own_main(void *context)
{
	struct own_run *own = context;

	own->is_fine = call_dispatch(&own->call, "run", &own->err);
	live_line_end(&own->live);
	atomic_store(&own->is_done, true);
	engine_wake(own->call.engine);
	return NULL;
}

/*
 * The lock is somebody's: of an engine that was killed, until the kernel has buried it, or of one that was started while
 * `weir run` was becoming us. It sent us on because nobody answered; when one does now, it is the one to go on with.
 */

static bool somebody_answers(const struct home *home)
{
	struct error ignored = { 0 };
	struct client *client = client_open(home, &ignored);

	client_close(client);
	return client != NULL;
}

/* Returns only if it cannot. */
static void join(const char *weir, int argc, char **argv)
{
	char name[] = "weir", run[] = "run";
	char **words = memory_zalloc(((size_t)argc + 3) * sizeof(*words));

	words[0] = name;
	words[1] = run;
	memcpy(words + 2, argv, (size_t)argc * sizeof(*words));
	execv(weir, words);
	free(words);
}

static bool open_own(struct engine *engine, const struct home *home, int argc, char **argv, struct error *err)
{
	char *weir = getenv(WEIR_JOIN) ? memory_string(getenv(WEIR_JOIN)) : NULL;
	int64_t until_ms = clock_mono_ms() + (weir ? JOIN_WAIT_MS : LOCK_WAIT_MS);
	struct error failure = { 0 };
	bool is_open, is_taken = true;

	unsetenv(WEIR_JOIN);
	while (!(is_open = engine_open(engine, home, &failure)) && is_taken && clock_mono_ms() < until_ms) {
		is_taken = strcmp(failure.code, "engine_running") == 0;
		if (is_taken && weir && somebody_answers(home))
			join(weir, argc, argv);
		if (is_taken) {
			failure = (struct error){ 0 };
			clock_sleep_ms(LOCK_LOOK_MS);
		}
	}
	free(weir);
	if (!is_open)
		*err = failure;
	return is_open;
}

static int run_own(const struct home *home, const struct command_line *line, int argc, char **argv)
{
	struct engine engine;
	struct own_run own = { .is_json = line->is_json };
	bool has_live = live_line_open(&own.live) && !line->is_json;
	pthread_t thread;
	int status, failed;

	if (!open_own(&engine, home, argc, argv, &own.err))
		return complain(&own.err, line->is_json);
	own.call = (struct call){
		.engine = &engine,
		.args = line->args,
		.access = ADMIN,
		.send_line = print_result,
		.send_note = print_note,
		.show_progress = has_live ? show_progress : NULL,
		.context = &own,
	};
	own.call.peer = (struct peer){ .uid = geteuid(), .pid = getpid() };
	peer_set_ssh(&own.call.peer, getenv("SSH_CONNECTION"));
	failed = pthread_create(&thread, NULL, own_main, &own);
	if (failed == 0) {
		engine_loop(&engine, &own.is_done);
		pthread_join(thread, NULL);
	} else {
		fail(&own.err, ERROR_TRANSIENT, "no_threads", "cannot make a thread for the run: %s", strerror(failed));
	}
	status = own.is_fine ? own.call.exit : complain(&own.err, line->is_json);
	end_engine(&engine, status);
	return status;
}

static int run_command_line(enum command_id id, int argc, char **argv)
{
	struct command_line line;
	struct error err = { 0 };
	struct home *home;
	int status;

	if (!command_line_parse(&command_table[id], argc, argv, &line, &err))
		status = complain(&err, line.is_json);
	else if (!(home = home_find(&err)))
		status = complain(&err, line.is_json);
	else {
		status = id == COMMAND_run ? run_own(home, &line, argc, argv) : bench_main(home, &line);
		home_free(home);
	}
	json_decref(line.args);
	return status;
}

static int serve_command(int argc, char **argv)
{
	struct serve_wish wish = { 0 };
	struct error err = { 0 };
	struct home *home;
	int status;

	for (int i = 0; i < argc; i++) {
		wish.ends_when_idle = wish.ends_when_idle || strcmp(argv[i], "--end-when-idle") == 0;
		wish.tells_ready = wish.tells_ready || strcmp(argv[i], "--tell-ready") == 0;
	}
	/* Who started us may be gone before it has read our line. */
	signal(SIGPIPE, SIG_IGN);
	home = home_find(&err);
	status = home ? serve(home, &wish) : refuse(&wish, &err);
	home_free(home);
	return status;
}

/* Requests and responses of a few MiB come and go all the time. Were their memory given back in between, each page of it
 * would be cleared anew: a fifth of the system's time of a job at full speed. At rest it is given back (memory_give_back). */
static void keep_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!streams_hold())
		return error_policies[ERROR_BUG].exit_status;
	keep_memory();
	json_set_alloc_funcs(memory_alloc, secret_copies_free);

	/* Only the characters' encoding comes from the locale: numbers and times never do. */
	setlocale(LC_CTYPE, "");
	if (strcmp(what, "--serve") == 0) {
		exhausted_prepare(argv);
		return serve_command(argc - 2, argv + 2);
	}
	if (strcmp(what, "--run") == 0)
		return run_command_line(COMMAND_run, argc - 2, argv + 2);
	if (strcmp(what, "--bench") == 0)
		return run_command_line(COMMAND_bench, argc - 2, argv + 2);
	if (strcmp(what, "--version") == 0)
		return version_print(argc > 2 && strcmp(argv[2], "--json") == 0);
	fprintf(stderr, "weird is the engine of weir; use: weir --help\n");
	return 2;
}
