/*
 * A running job: its thread, how it ends, what is kept of it. The thread opens
 * the job again (RUN_AGAIN) when its options or its paused tables have changed.
 */
#include "base/clock.h"
#include "dlq/dlq.h"
#include "engine/job_private.h"
#include "google/google.h"
#include "pipeline/pipeline.h"
#include "pipeline/replay.h"
#include "runner/runner.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define JOB_NICE 10 /* a tenth of the weight of a thread that answers somebody */

static bool keep_word(const struct home *home, const char *name, const char *word, const char *code,
                      const char *sentence, struct error *err)
{
	struct job_paths paths;
	struct dlq *dlq;
	bool is_kept, is_fine;

	job_paths_make(&paths, home, name);
	/* Only a start makes the store: of one that is away nothing is to be made in its place, and a job without any is
	 * stopped. */
	is_kept = strcmp(word, progress_state_name(STATE_OK)) == 0 || access(paths.store, F_OK) == 0;
	dlq = is_kept ? dlq_open(paths.store, DLQ_WRITE, err) : NULL;
	job_paths_clear(&paths);
	if (!is_kept)
		return true;
	is_fine = dlq && dlq_set_job_state(dlq, word, code, sentence, err);
	dlq_close(dlq);
	return is_fine;
}

bool job_keep_state(const struct home *home, const char *name, enum job_state state, const char *code,
                    const char *sentence, struct error *err)
{
	return keep_word(home, name, progress_state_name(state), code, sentence, err);
}

bool job_keep_standing(const struct home *home, const char *name, const struct job_standing *standing,
                       struct error *err)
{
	return keep_word(home, name, standing->is_hoped ? HOPE_WORD : progress_state_name(standing->state),
	                 standing->code, standing->sentence, err);
}

/* It failed, and nobody has stopped it: whoever has it opened anew, or ends the engine, wants it to go on. */
static bool job_breaks(const struct job *job)
{
	int wish = atomic_load(&job->wish);
	bool is_wanted = wish <= RUN_AGAIN || (wish == RUN_DRAIN && atomic_load(&job->engine->is_stopping));

	return job->failure.kind != ERROR_NONE && job->run.is_kept && is_wanted;
}

/* A kept job that the engine drained because it ends itself goes on with the next engine. */
static void keep_end(struct job *job)
{
	struct engine *engine = job->engine;
	struct error ignored = { 0 };
	bool has_failed = job->failure.kind != ERROR_NONE;
	int wish = atomic_load(&job->wish);

	if (job->run.is_replay)
		return;
	if (!has_failed && job->run.is_kept && atomic_load(&engine->is_stopping))
		return;
	if (job_breaks(job)) {
		keep_word(engine->home, job->options->name, HOPE_WORD, job->failure.code, job->failure.message, &ignored);
		return;
	}
	job_keep_state(engine->home, job->options->name,
	               has_failed ? STATE_NEEDS_YOU : wish == RUN_PAUSE ? STATE_PAUSED : STATE_STOPPED, job->failure.code,
	               job->failure.message, &ignored);
}

static bool run_once(struct job *job)
{
	struct run_setup setup = {
		.options = job->options,
		.home = job->engine->home,
		.progress = job->progress,
		.until_idle = job->run.until_idle,
		.from_start = job->run.from_start,
		.wish = &job->wish,
		.pace_messages_per_s = job->run.pace,
		.on_state = job_tell_state,
		.on_event = job_tell_event,
		.on_note = job_tell_note,
		.context = job,
		.desk = job->desk,
		.is_replay = job->run.is_replay,
		.out_note = &job->note,
	};
	bool is_fine;

	job->note = (struct error){ 0 };
	if (!secrets_serve(job->engine, job->options, &setup.google, &job->failure))
		return false;
	is_fine = run_local(&setup, &job->failure);
	google_close(setup.google);
	return is_fine;
}

/* Between two runs: the registered file is read again. False: the new content does not do. */
static bool reopen(struct job *job)
{
	struct job_options *options = job_load(job->engine->home, job->options->name, NULL, 0, &job->failure);
	struct job_options *old;

	if (!options || !job_options_startable(options, &job->failure)) {
		job_options_free(options);
		return false;
	}
	pthread_mutex_lock(&job->engine->lock);
	old = job->options;
	job->options = options;
	pthread_mutex_unlock(&job->engine->lock);
	job_options_free(old);
	return true;
}

/* Takes the wish to begin again; a later wish (stop, drain) stands. */
static bool takes_again(struct job *job)
{
	int again = RUN_AGAIN;

	if (!atomic_compare_exchange_strong(&job->wish, &again, RUN_ON))
		return false;
	job->run.from_start = false;
	return true;
}

/* It was started while it ran for a replay alone: the next round is that start's. */
static bool takes_start(struct job *job)
{
	int again = RUN_AGAIN;
	bool has_start;

	pthread_mutex_lock(&job->engine->lock);
	has_start = job->has_start;
	if (has_start) {
		job->run = job->start;
		job->has_start = false;
		job->failure = (struct error){ 0 };
	}
	pthread_mutex_unlock(&job->engine->lock);
	if (!has_start)
		return false;
	atomic_compare_exchange_strong(&job->wish, &again, RUN_ON);
	job_tell_begin(job);
	return true;
}

/* Round after round. */
static void run(struct job *job)
{
	bool is_fine;

	do
		is_fine = run_once(job);
	while ((takes_start(job) || (is_fine && takes_again(job))) && reopen(job));
}

static void finish(struct job *job)
{
	struct progress_view view;

	progress_look(job->progress, &view);
	job->has_run = view.state != STATE_STOPPED;
	keep_end(job);
	if (job_breaks(job))
		job_hope(job->engine, job->options->name, job->failure.code, false);
	if (!job->run.is_replay)
		job_tell_end(job);
	progress_set_state(job->progress, job->failure.kind != ERROR_NONE ? STATE_NEEDS_YOU : STATE_STOPPED,
	                   job->failure.code, job->failure.message);
}

/* False: it was started at the last moment. */
static bool leave(struct job *job)
{
	struct engine *engine = job->engine;
	bool has_start;

	pthread_mutex_lock(&engine->lock);
	has_start = job->has_start;
	if (!has_start) {
		job->is_running = false;
		engine->running_jobs--;
		pthread_cond_broadcast(&engine->job_ended);
	}
	pthread_mutex_unlock(&engine->lock);
	return !has_start;
}

/* A question must not stand in line behind sixty threads that are never done. It is this thread's own (setpriority, on
 * Linux) and goes to the threads that it makes; the control thread and calls keep theirs. Alone on its machine a job loses
 * nothing by it. */
static void let_others_first(void)
{
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + JOB_NICE);
}

void *job_main(void *context)
{
	struct job *job = context;
	struct engine *engine = job->engine;

	let_others_first();
	/* Who begins the job holds the lock until all of it is there. */
	pthread_mutex_lock(&engine->lock);
	pthread_mutex_unlock(&engine->lock);
	if (!job->run.is_replay)
		job_tell_begin(job);
	run(job);
	finish(job);
	while (!leave(job)) {
		if (takes_start(job) && reopen(job))
			run(job);
		finish(job);
	}
	engine_wake(engine);
	return NULL;
}
