/* `weir run`: load, compare, register, run to the end, say the result. */
#include "base/arena.h"
#include "base/file.h"
#include "dlq/dlq.h"
#include "engine/commands_private.h"
#include "pipeline/pipeline.h"
#include "runner/runner.h"

#include <stdlib.h>

#define PARAMS_MAX 256

/* What happens while it runs goes to the caller as notes. */
static void say_state(void *context, enum job_state state, const char *code, const char *sentence)
{
	struct call *call = context;

	if (state == STATE_WAITING)
		call_note(call, "waiting: %s: %s", code, sentence);
	else if (state == STATE_OK && strcmp(sentence, "goes on") == 0)
		call_note(call, "goes on");
}

static size_t read_params(struct call *call, const char *out[PARAMS_MAX])
{
	const json_t *params = json_object_get(call->args, "params");
	size_t count = json_array_size(params);

	if (count > PARAMS_MAX)
		count = PARAMS_MAX;
	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(params, i));

		out[i] = text ? text : "";
	}
	return count;
}

/* A cancel (the first C-c) drains the job; run_local only looks at the flag. The same thread shows where the job is. */
struct cancel_watch {
	struct call *call;
	struct job *job;
	atomic_bool is_over;
	pthread_t thread;
};

static void show_progress(const struct cancel_watch *watch)
{
	struct progress_view view;

	if (!watch->call->show_progress)
		return;
	progress_look(watch->job->progress, &view);
	/* Not yet open: there is nothing to show. */
	if (view.state != STATE_STOPPED)
		watch->call->show_progress(watch->call, watch->job->options->name, &view);
}

static void *watch_cancel(void *context)
{
	struct cancel_watch *watch = context;
	struct timespec nap = { .tv_nsec = 50 * 1000 * 1000 };

	while (!atomic_load(&watch->is_over)) {
		if (atomic_load(&watch->call->is_cancelled))
			atomic_store(&watch->job->should_drain, true);
		show_progress(watch);
		nanosleep(&nap, NULL);
	}
	show_progress(watch);
	return NULL;
}

static bool run_watched(struct call *call, struct job *job, struct error *out_note, struct error *failure)
{
	struct cancel_watch watch = { .call = call, .job = job };
	struct run_setup setup = {
		.options = job->options,
		.home = call->engine->home,
		.progress = job->progress,
		.until_idle = call_flag(call, "until_idle"),
		.from_start = call_flag(call, "from_start"),
		.should_drain = &job->should_drain,
		.pace_messages_per_s = call_number(call, "pace", 0),
		.on_state = say_state,
		.context = call,
		.out_note = out_note,
	};
	bool is_fine;

	pthread_create(&watch.thread, NULL, watch_cancel, &watch);
	is_fine = run_local(&setup, failure);
	atomic_store(&watch.is_over, true);
	pthread_join(watch.thread, NULL);
	return is_fine;
}

/* The state outlives the engine: the next `weir tables` says why the job stands still. */
static void keep_state(const struct home *home, const struct job *job, const struct error *failure)
{
	struct error ignored = { 0 };
	struct job_paths paths;
	struct dlq *dlq;
	bool has_failed = failure->kind != ERROR_NONE;

	job_paths_make(&paths, home, job->options->name);
	dlq = dlq_open(paths.store, DLQ_WRITE, &ignored);
	job_paths_clear(&paths);
	if (!dlq)
		return;
	dlq_set_job_state(dlq, progress_state_name(has_failed ? STATE_NEEDS_YOU : STATE_STOPPED), failure->code,
	                  failure->message, &ignored);
	dlq_close(dlq);
}

static bool send_result(struct call *call, const struct job *job, const struct error *note,
                        const struct error *failure, struct error *err)
{
	struct progress_view view;
	struct run_facts facts = { .note = note, .failure = failure };
	json_t *result;

	progress_look(job->progress, &view);
	facts.this_run = &view.this_run;
	/* What was in flight when a job broke is not lost: it is received again at the next start. */
	facts.state = progress_state_name(failure->kind != ERROR_NONE ? STATE_NEEDS_YOU : STATE_STOPPED);
	result = result_make(call->engine->home, job->options, &facts, &call->exit, err);
	if (!result)
		return false;
	call->send_line(call, result);
	return true;
}

static bool run_job(struct call *call, struct job *job, struct error *err)
{
	struct error note = { 0 }, failure = { 0 };
	struct progress_view view;

	run_watched(call, job, &note, &failure);
	progress_look(job->progress, &view);
	keep_state(call->engine->home, job, &failure);
	if (failure.kind != ERROR_NONE && view.state == STATE_STOPPED) {
		/* It never ran: there is no result, only the reason. */
		*err = failure;
		return false;
	}
	if (!send_result(call, job, &note, &failure, err))
		return false;
	if (failure.kind == ERROR_NONE)
		return true;
	*err = failure;
	return false;
}

bool run_run(struct call *call, struct error *err)
{
	const struct home *home = call->engine->home;
	const char *params[PARAMS_MAX];
	size_t param_count = read_params(call, params);
	const char *what;
	struct job_options *options;
	struct job *job;
	bool is_fine;

	if (!call_text(call, "job", &what, err))
		return false;
	if (!(options = job_load(home, what, params, param_count, err)))
		return false;
	if (!job_options_startable(options, err) || !job_register(home, options, call_flag(call, "replace"), err)) {
		job_options_free(options);
		return false;
	}
	if (!(job = job_begin(call->engine, options, err)))
		return false;
	is_fine = run_job(call, job, err);
	job_end(call->engine, job);
	return is_fine;
}
