/* Looking at jobs and waiting for them; what state a job is in, running or not. */
#include "base/clock.h"
#include "dlq/dlq.h"
#include "engine/job_private.h"
#include "pipeline/pipeline.h"
#include "runner/runner.h"

#include <stdlib.h>
#include <unistd.h>

struct job *job_find_locked(struct engine *engine, const char *name)
{
	for (struct job *job = engine->jobs; job; job = job->next) {
		if (strcmp(job->name, name) == 0)
			return job;
	}
	return NULL;
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
	job = job_find_locked(engine, name);
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

		clock_gettime(CLOCK_MONOTONIC, &until);
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

bool job_kept_standing(const struct home *home, const char *name, struct job_standing *out)
{
	char state[32] = "stopped";
	struct error failure = { 0 };
	struct job_paths paths;
	struct dlq *dlq = NULL;
	bool is_known;

	job_paths_make(&paths, home, name);
	/* No store: the job has never run. */
	is_known = access(paths.store, F_OK) != 0 || (dlq = dlq_open(paths.store, DLQ_READ, &failure)) != NULL;
	job_paths_clear(&paths);
	is_known = is_known && (!dlq || dlq_job_state(dlq, state, out->code, out->sentence, &failure));
	dlq_close(dlq);
	if (is_known) {
		out->is_hoped = strcmp(state, HOPE_WORD) == 0;
		out->state = out->is_hoped ? STATE_NEEDS_YOU : state_named(state);
		return true;
	}
	out->state = STATE_STOPPED;
	snprintf(out->code, sizeof(out->code), "%s", failure.code);
	out->sentence[0] = '\0';
	return false;
}

enum job_state job_running_state(const struct job *job, const struct progress_view *view)
{
	if (atomic_load(&job->wish) == RUN_DRAIN)
		return STATE_DRAINING;
	return view->state == STATE_STOPPED ? STATE_OK : progress_state_shown(view);
}

void job_standing(struct engine *engine, const char *name, struct job_standing *out)
{
	struct job *job = job_find_running(engine, name);
	struct progress_view view;
	struct progress *progress;

	*out = (struct job_standing){ .state = STATE_STOPPED, .is_running = job != NULL };
	out->is_replay = job && job_replay_run(job);
	if (!job) {
		job_kept_standing(engine->home, name, out);
		return;
	}
	progress = job_progress(job);
	progress_look(progress, &view);
	progress_free(progress);
	out->state = job_running_state(job, &view);
	snprintf(out->code, sizeof(out->code), "%s", view.code);
	snprintf(out->sentence, sizeof(out->sentence), "%s", view.sentence);
}
