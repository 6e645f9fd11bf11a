/*
 * A running job: its thread, how it ends, what is kept of it. The thread opens
 * the job again (RUN_AGAIN) when its options or its paused tables have changed.
 */
#include "base/clock.h"
#include "dlq/dlq.h"
#include "engine/engine.h"
#include "pipeline/pipeline.h"
#include "pipeline/replay.h"
#include "runner/runner.h"

#include <stdlib.h>
#include <unistd.h>

bool job_keep_state(const struct home *home, const char *name, enum job_state state, const char *code,
                    const char *sentence, struct error *err)
{
	struct job_paths paths;
	struct dlq *dlq;
	bool is_fine;

	job_paths_make(&paths, home, name);
	dlq = dlq_open(paths.store, DLQ_WRITE, err);
	job_paths_clear(&paths);
	is_fine = dlq && dlq_set_job_state(dlq, progress_state_name(state), code, sentence, err);
	dlq_close(dlq);
	return is_fine;
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
		.context = job,
		.desk = job->desk,
		.is_replay = job->run.is_replay,
		.out_note = &job->note,
	};

	job->note = (struct error){ 0 };
	return run_local(&setup, &job->failure);
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
	job->run.from_start = false;
	return true;
}

/* Takes the wish to begin again; a later wish (stop, drain) stands. */
static bool takes_again(struct job *job)
{
	int again = RUN_AGAIN;

	return atomic_compare_exchange_strong(&job->wish, &again, RUN_ON);
}

static void *job_main(void *context)
{
	struct job *job = context;
	struct engine *engine = job->engine;
	struct progress_view view;

	if (!job->run.is_replay)
		job_tell_begin(job);
	while (run_once(job) && takes_again(job) && reopen(job))
		continue;
	progress_look(job->progress, &view);
	job->has_run = view.state != STATE_STOPPED;
	keep_end(job);
	if (!job->run.is_replay)
		job_tell_end(job);
	progress_set_state(job->progress, job->failure.kind != ERROR_NONE ? STATE_NEEDS_YOU : STATE_STOPPED,
	                   job->failure.code, job->failure.message);
	pthread_mutex_lock(&engine->lock);
	job->is_running = false;
	engine->running_jobs--;
	pthread_cond_broadcast(&engine->job_ended);
	pthread_mutex_unlock(&engine->lock);
	engine_wake(engine);
	return NULL;
}

/*
 * The list
 */

static struct job *find_locked(struct engine *engine, const char *name)
{
	for (struct job *job = engine->jobs; job; job = job->next) {
		if (strcmp(job->name, name) == 0)
			return job;
	}
	return NULL;
}

/* An ended job of that name is taken anew; its last thread has nothing more to do. */
static struct job *renew_locked(struct engine *engine, struct job *job, struct job_options *options)
{
	if (!job) {
		job = memory_zalloc(sizeof(*job));
		job->engine = engine;
		snprintf(job->name, sizeof(job->name), "%s", options->name);
		job->desk = replay_desk_new();
		job->next = engine->jobs;
		engine->jobs = job;
	} else {
		pthread_join(job->thread, NULL);
		job_options_free(job->options);
		progress_free(job->progress);
	}
	job->options = options;
	job->progress = progress_new();
	job->failure = job->note = (struct error){ 0 };
	job->has_run = false;
	return job;
}

struct job *job_begin(struct engine *engine, struct job_options *options, const struct job_run *run,
                      struct error *err)
{
	struct job *job;

	pthread_mutex_lock(&engine->lock);
	job = find_locked(engine, options->name);
	if (job && job->is_running) {
		pthread_mutex_unlock(&engine->lock);
		fail(err, ERROR_CONFIG, "job_running", "job '%s' already runs in this engine", options->name);
		job_options_free(options);
		return NULL;
	}
	job = renew_locked(engine, job, options);
	job->run = *run;
	job->is_running = job->has_thread = true;
	atomic_store(&job->wish, atomic_load(&engine->is_stopping) ? RUN_DRAIN : RUN_ON);
	engine->running_jobs++;
	pthread_create(&job->thread, NULL, job_main, job);
	pthread_mutex_unlock(&engine->lock);
	return job;
}

bool job_runs(struct job *job)
{
	bool runs;

	pthread_mutex_lock(&job->engine->lock);
	runs = job->is_running;
	pthread_mutex_unlock(&job->engine->lock);
	return runs;
}

struct job *job_find_running(struct engine *engine, const char *name)
{
	struct job *job;

	pthread_mutex_lock(&engine->lock);
	job = find_locked(engine, name);
	if (job && !job->is_running)
		job = NULL;
	pthread_mutex_unlock(&engine->lock);
	return job;
}

struct progress *job_progress(struct job *job)
{
	struct progress *progress;

	pthread_mutex_lock(&job->engine->lock);
	progress = progress_hold(job->progress);
	pthread_mutex_unlock(&job->engine->lock);
	return progress;
}

void job_end(struct job *job, struct job_end *out)
{
	pthread_mutex_lock(&job->engine->lock);
	*out = (struct job_end){
		.failure = job->failure,
		.note = job->note,
		.has_run = job->has_run,
		.is_paused = atomic_load(&job->wish) == RUN_PAUSE,
	};
	pthread_mutex_unlock(&job->engine->lock);
}

void job_open_again(struct engine *engine, const char *name)
{
	struct job *job = job_find_running(engine, name);
	int on = RUN_ON;

	if (job)
		atomic_compare_exchange_strong(&job->wish, &on, RUN_AGAIN);
}

bool job_wait(struct job *job, int64_t wait_ms)
{
	struct engine *engine = job->engine;
	int64_t until_ms = clock_mono_ms() + wait_ms;
	bool has_ended;

	pthread_mutex_lock(&engine->lock);
	while (job->is_running && (wait_ms < 0 || clock_mono_ms() < until_ms)) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 50 * 1000 * 1000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&engine->job_ended, &engine->lock, &until);
	}
	has_ended = !job->is_running;
	pthread_mutex_unlock(&engine->lock);
	return has_ended;
}

void jobs_close(struct engine *engine)
{
	if (engine->has_restorer)
		pthread_join(engine->restorer, NULL);
	engine->has_restorer = false;
	for (struct job *job = engine->jobs; job; job = job->next) {
		if (job->has_thread)
			pthread_join(job->thread, NULL);
		job->has_thread = false;
	}
}

void jobs_free(struct engine *engine)
{
	while (engine->jobs) {
		struct job *job = engine->jobs;

		engine->jobs = job->next;
		job_options_free(job->options);
		progress_free(job->progress);
		replay_desk_free(job->desk);
		metrics_free(job->metrics);
		free(job);
	}
}

/*
 * States
 */

static enum job_state state_named(const char *name)
{
	for (int i = 0; i < JOB_STATES; i++) {
		if (strcmp(progress_state_name((enum job_state)i), name) == 0)
			return (enum job_state)i;
	}
	return STATE_STOPPED;
}

static void kept_standing(const struct home *home, const char *name, struct job_standing *out)
{
	char state[32] = "stopped";
	struct error ignored = { 0 };
	struct job_paths paths;
	struct dlq *dlq = NULL;

	job_paths_make(&paths, home, name);
	if (access(paths.store, F_OK) == 0)
		dlq = dlq_open(paths.store, DLQ_READ, &ignored);
	job_paths_clear(&paths);
	if (dlq && !dlq_job_state(dlq, state, out->code, out->sentence, &ignored))
		snprintf(state, sizeof(state), "stopped");
	dlq_close(dlq);
	out->state = state_named(state);
}

void job_standing(struct engine *engine, const char *name, struct job_standing *out)
{
	struct job *job = job_find_running(engine, name);
	struct progress_view view;
	struct progress *progress;

	*out = (struct job_standing){ .state = STATE_STOPPED, .is_running = job != NULL };
	if (!job) {
		kept_standing(engine->home, name, out);
		return;
	}
	progress = job_progress(job);
	progress_look(progress, &view);
	progress_free(progress);
	out->state = view.state == STATE_STOPPED ? STATE_OK : progress_state_shown(&view);
	if (atomic_load(&job->wish) == RUN_DRAIN)
		out->state = STATE_DRAINING;
	snprintf(out->code, sizeof(out->code), "%s", view.code);
	snprintf(out->sentence, sizeof(out->sentence), "%s", view.sentence);
}

/* What the last engine was running, by the word of each job's store. */
static void *restore_main(void *context)
{
	struct engine *engine = context;
	json_t *names = job_names(engine->home);
	size_t i;
	json_t *name;

	json_array_foreach(names, i, name) {
		struct job_standing standing = { 0 };
		struct job_run run = { .is_kept = true };
		struct job_options *options;
		struct error err = { 0 };

		kept_standing(engine->home, json_string_value(name), &standing);
		if (standing.state != STATE_OK || atomic_load(&engine->is_stopping))
			continue;
		options = job_load(engine->home, json_string_value(name), NULL, 0, &err);
		if (options && job_options_startable(options, &err))
			job_begin(engine, options, &run, &err);
		else
			job_options_free(options);
		if (err.kind != ERROR_NONE) {
			job_tell_refused(engine, json_string_value(name), &err);
			job_keep_state(engine->home, json_string_value(name), STATE_NEEDS_YOU, err.code, err.message, &err);
		}
	}
	json_decref(names);
	return NULL;
}

void jobs_restore(struct engine *engine)
{
	engine->has_restorer = pthread_create(&engine->restorer, NULL, restore_main, engine) == 0;
}
