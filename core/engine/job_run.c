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

	/* Who begins the job holds the lock until all of it is there. */
	pthread_mutex_lock(&engine->lock);
	pthread_mutex_unlock(&engine->lock);
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

/*
 * Names
 */

struct taken_name {
	struct taken_name *next;
	bool is_deleted;
	char name[JOB_NAME_MAX + 1];
};

static struct taken_name **find_taken_locked(struct engine *engine, const char *name)
{
	struct taken_name **at = &engine->taken_names;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

static bool is_free_locked(struct engine *engine, const char *name, struct error *err)
{
	const struct taken_name *taken = *find_taken_locked(engine, name);
	const struct job *job = find_locked(engine, name);

	if (job && job->is_running)
		return fail(err, ERROR_CONFIG, "job_running", "job '%s' already runs in this engine", name);
	if (taken && taken->is_deleted)
		return fail(err, ERROR_CONFIG, "wrong_state", "job '%s' is being deleted", name);
	return !taken || fail(err, ERROR_CONFIG, "job_running", "job '%s' is being started", name);
}

bool job_take_name(struct engine *engine, const char *name, bool deletes, struct error *err)
{
	bool is_free;

	pthread_mutex_lock(&engine->lock);
	is_free = is_free_locked(engine, name, err);
	if (is_free) {
		struct taken_name *taken = memory_zalloc(sizeof(*taken));

		taken->is_deleted = deletes;
		snprintf(taken->name, sizeof(taken->name), "%s", name);
		taken->next = engine->taken_names;
		engine->taken_names = taken;
	}
	pthread_mutex_unlock(&engine->lock);
	return is_free;
}

static void give_locked(struct engine *engine, const char *name)
{
	struct taken_name **at = find_taken_locked(engine, name);
	struct taken_name *taken = *at;

	if (!taken)
		return;
	*at = taken->next;
	free(taken);
}

void job_give_name(struct engine *engine, const char *name)
{
	pthread_mutex_lock(&engine->lock);
	give_locked(engine, name);
	pthread_mutex_unlock(&engine->lock);
}

/*
 * Beginning
 */

static struct job *job_new(struct engine *engine, const char *name)
{
	struct job *job = memory_zalloc(sizeof(*job));

	job->engine = engine;
	snprintf(job->name, sizeof(job->name), "%s", name);
	job->desk = replay_desk_new();
	return job;
}

static void job_free(struct job *job)
{
	job_options_free(job->options);
	progress_free(job->progress);
	replay_desk_free(job->desk);
	metrics_free(job->metrics);
	free(job);
}

/* An ended job of that name is taken anew; its last thread has nothing more to do. */
static void renew_locked(struct job *job, pthread_t thread, struct job_options *options, const struct job_run *run)
{
	struct engine *engine = job->engine;

	if (job->has_thread)
		pthread_join(job->thread, NULL);
	job_options_free(job->options);
	progress_free(job->progress);
	job->options = options;
	job->progress = progress_new();
	job->failure = job->note = (struct error){ 0 };
	job->has_run = false;
	job->run = *run;
	job->run_number++;
	job->thread = thread;
	job->is_running = job->has_thread = true;
	atomic_store(&job->wish, atomic_load(&engine->is_stopping) ? RUN_DRAIN : RUN_ON);
	engine->running_jobs++;
}

/* The thread comes first: it waits for the lock, and without it nothing is touched. The name is ours. */
static struct job *begin_locked(struct engine *engine, struct job_options *options, const struct job_run *run,
                                const struct replay_wish *wish, struct error *err)
{
	struct job *known = find_locked(engine, options->name);
	struct job *job = known ? known : job_new(engine, options->name);
	struct replay_view ignored;
	pthread_t thread;
	int failed;

	/* The desk may hold the end of a replay that nobody has looked at yet. */
	if (wish && !replay_desk_ask(job->desk, wish, err))
		return NULL;
	if ((failed = pthread_create(&thread, NULL, job_main, job)) != 0) {
		fail(err, ERROR_TRANSIENT, "no_threads", "cannot make a thread for job '%s': %s", job->name,
		     strerror(failed));
		if (wish)
			replay_desk_leave(job->desk, &ignored);
		if (!known)
			job_free(job);
		return NULL;
	}
	renew_locked(job, thread, options, run);
	if (!known) {
		job->next = engine->jobs;
		engine->jobs = job;
	}
	return job;
}

static void kept_standing(const struct home *home, const char *name, struct job_standing *out);

/* The name is ours. Its start is written down first: who was told that the job runs finds it running after a kill. */
static struct job *begin_taken(struct engine *engine, struct job_options *options, const struct job_run *run,
                               const struct replay_wish *wish, struct error *err)
{
	struct job_standing before = { 0 };
	struct error ignored = { 0 };
	struct job *job;

	if (!job_is_registered(engine->home, options->name, err))
		return NULL;
	if (run->is_kept) {
		kept_standing(engine->home, options->name, &before);
		if (!job_keep_state(engine->home, options->name, STATE_OK, "", "", err))
			return NULL;
	}
	pthread_mutex_lock(&engine->lock);
	job = begin_locked(engine, options, run, wish, err);
	/* In one step: whoever looks finds the name taken or the job running. */
	if (job)
		give_locked(engine, job->name);
	pthread_mutex_unlock(&engine->lock);
	if (!job && run->is_kept)
		job_keep_state(engine->home, options->name, before.state, before.code, before.sentence, &ignored);
	return job;
}

static struct job *begin(struct engine *engine, struct job_options *options, const struct job_run *run,
                         const struct replay_wish *wish, struct error *err)
{
	bool is_ours = job_take_name(engine, options->name, false, err);
	struct job *job = is_ours ? begin_taken(engine, options, run, wish, err) : NULL;

	if (job)
		return job;
	if (is_ours)
		job_give_name(engine, options->name);
	job_options_free(options);
	return NULL;
}

struct job *job_begin(struct engine *engine, struct job_options *options, const struct job_run *run,
                      struct error *err)
{
	return begin(engine, options, run, NULL, err);
}

/*
 * Replays
 */

struct job *job_replay(struct engine *engine, struct job_options *options, const struct replay_wish *wish,
                       struct error *err)
{
	struct job_run run = { .is_replay = true };
	struct job *job;
	bool runs, is_fine = true;

	pthread_mutex_lock(&engine->lock);
	job = find_locked(engine, options->name);
	runs = job && job->is_running;
	if (runs)
		is_fine = replay_desk_ask(job->desk, wish, err);
	if (runs && is_fine)
		run_wake(&job->wish);
	pthread_mutex_unlock(&engine->lock);
	if (!runs)
		return begin(engine, options, &run, wish, err);
	job_options_free(options);
	return is_fine ? job : NULL;
}

bool job_leave_replay(struct job *job, struct replay_view *out, struct error *out_failure)
{
	bool has_ended;

	pthread_mutex_lock(&job->engine->lock);
	has_ended = !job->is_running;
	if (has_ended) {
		replay_desk_leave(job->desk, out);
		*out_failure = job->failure;
	}
	pthread_mutex_unlock(&job->engine->lock);
	return has_ended;
}

uint64_t job_replay_run(struct job *job)
{
	uint64_t number;

	pthread_mutex_lock(&job->engine->lock);
	number = job->is_running && job->run.is_replay ? job->run_number : 0;
	pthread_mutex_unlock(&job->engine->lock);
	return number;
}

/*
 * Looking and waiting
 */

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

	if (job)
		run_wish_first(&job->wish, RUN_AGAIN);
}

static bool wait_locked(struct job *job, uint64_t run_number, int64_t wait_ms)
{
	int64_t until_ms = clock_mono_ms() + wait_ms;

	while (job->is_running && job->run_number == run_number && (wait_ms < 0 || clock_mono_ms() < until_ms)) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 50 * 1000 * 1000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&job->engine->job_ended, &job->engine->lock, &until);
	}
	return !job->is_running || job->run_number != run_number;
}

bool job_wait(struct job *job, int64_t wait_ms)
{
	bool has_ended;

	pthread_mutex_lock(&job->engine->lock);
	has_ended = wait_locked(job, job->run_number, wait_ms);
	pthread_mutex_unlock(&job->engine->lock);
	return has_ended;
}

bool job_wait_run(struct job *job, uint64_t run_number, int64_t wait_ms)
{
	bool has_ended;

	pthread_mutex_lock(&job->engine->lock);
	has_ended = wait_locked(job, run_number, wait_ms);
	pthread_mutex_unlock(&job->engine->lock);
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
		job_free(job);
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
