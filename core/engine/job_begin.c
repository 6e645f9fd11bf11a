/* A job begins: by a start, for a replay alone, or because it ran when the last engine ended; and all of them end. */
#include "base/clock.h"
#include "engine/job_private.h"
#include "pipeline/pipeline.h"
#include "pipeline/replay.h"
#include "pipeline/witness.h"
#include "runner/runner.h"

#include <stdlib.h>

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
	job->has_start = false;
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
	struct job *known = job_find_locked(engine, options->name);
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

/* Writing down a start makes the store of a job that has never run, not of one whose store is away. */
static bool may_make_store(struct engine *engine, const struct job_options *options, struct error *err)
{
	const struct sink_setup looking = { .options = options, .warehouse = engine->home->warehouse };
	struct job_paths paths;
	bool may;

	job_paths_make(&paths, engine->home, options->name);
	may = witness_may_make_store(paths.store, &looking, err);
	job_paths_clear(&paths);
	return may;
}

/* The name is ours. Its start is written down first: who was told that the job runs finds it running after a kill. */
static struct job *begin_taken(struct engine *engine, struct job_options *options, const struct job_run *run,
                               const struct replay_wish *wish, struct error *err)
{
	struct job_standing before = { 0 };
	struct error ignored = { 0 };
	struct job *job;

	if (!job_is_registered(engine->home, options->name, err) || (!run->from_start && !may_make_store(engine, options, err)))
		return NULL;
	if (run->is_kept) {
		job_kept_standing(engine->home, options->name, &before);
		if (!job_keep_state(engine->home, options->name, STATE_OK, "", "", err))
			return NULL;
	}
	pthread_mutex_lock(&engine->lock);
	job = begin_locked(engine, options, run, wish, err);
	/* In one step: whoever looks finds the name taken or the job running. */
	if (job)
		job_give_name_locked(engine, job->name);
	pthread_mutex_unlock(&engine->lock);
	if (!job && run->is_kept)
		job_keep_standing(engine->home, options->name, &before, &ignored);
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

bool job_only_replays_locked(const struct job *job)
{
	return job && job->is_running && job->run.is_replay && !job->has_start;
}

/* True: the job runs for a replay alone, and takes the start when it looks next. */
static bool hand_start_over(struct engine *engine, const char *name, const struct job_run *run)
{
	struct job *job;
	bool takes_it;

	pthread_mutex_lock(&engine->lock);
	job = job_find_locked(engine, name);
	takes_it = job_only_replays_locked(job) && !run_is_ending(&job->wish);
	if (takes_it) {
		job->start = *run;
		job->has_start = true;
		/* From here on it is that run: who stops it waits for that. */
		job->run_number++;
		run_wish_first(&job->wish, RUN_AGAIN);
		pthread_cond_broadcast(&engine->job_ended);
	}
	pthread_mutex_unlock(&engine->lock);
	return takes_it;
}

/* The replay goes on in the job that is started. NULL without an error: no job runs for a replay alone (any more). */
static struct job *start_replaying(struct engine *engine, const char *name, const struct job_run *run,
                                   struct error *err)
{
	struct job_standing before = { 0 };
	struct error ignored = { 0 };
	struct job *job = job_find_running(engine, name);

	if (!job || !job_replay_run(job))
		return NULL;
	if (run->is_kept) {
		job_kept_standing(engine->home, name, &before);
		if (!job_keep_state(engine->home, name, STATE_OK, "", "", err))
			return NULL;
	}
	if (hand_start_over(engine, name, run))
		return job;
	if (run->is_kept)
		job_keep_standing(engine->home, name, &before, &ignored);
	return NULL;
}

struct job *job_begin(struct engine *engine, struct job_options *options, const struct job_run *run,
                      struct error *err)
{
	struct error failure = { 0 };
	struct job *job = start_replaying(engine, options->name, run, &failure);

	if (!job && failure.kind == ERROR_NONE)
		return begin(engine, options, run, NULL, err);
	job_options_free(options);
	if (!job)
		*err = failure;
	return job;
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
	job = job_find_locked(engine, options->name);
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
	number = job_only_replays_locked(job) ? job->run_number : 0;
	pthread_mutex_unlock(&job->engine->lock);
	return number;
}

/*
 * The engine's own beginning and end
 */

/* Calls may still begin jobs. Who takes a thread joins it. */
static bool take_thread(struct engine *engine, pthread_t *out)
{
	struct job *job;
	bool has_thread;

	pthread_mutex_lock(&engine->lock);
	for (job = engine->jobs; job && !job->has_thread; job = job->next)
		continue;
	has_thread = job != NULL;
	if (has_thread) {
		*out = job->thread;
		job->has_thread = false;
	}
	pthread_mutex_unlock(&engine->lock);
	return has_thread;
}

void jobs_close(struct engine *engine)
{
	pthread_t thread;

	if (engine->has_restorer)
		pthread_join(engine->restorer, NULL);
	engine->has_restorer = false;
	while (take_thread(engine, &thread))
		pthread_join(thread, NULL);
}

void jobs_free(struct engine *engine)
{
	while (engine->jobs) {
		struct job *job = engine->jobs;

		engine->jobs = job->next;
		job_free(job);
	}
}

static void tell_refused(struct engine *engine, const char *name, const struct error *why)
{
	struct job_standing standing = { .state = STATE_NEEDS_YOU, .is_hoped = true };
	struct error ignored = { 0 };

	if (!job_hold_registered(engine, name, &ignored))
		return;
	job_tell_refused(engine, name, why);
	snprintf(standing.code, sizeof(standing.code), "%s", why->code);
	snprintf(standing.sentence, sizeof(standing.sentence), "%s", why->message);
	job_keep_standing(engine->home, name, &standing, &ignored);
	job_let_name(engine, name);
	job_hope(engine, name, why->code, false);
}

/* Nobody can tell whether it ran, until its store is back. */
static bool store_is_away(struct engine *engine, const char *name)
{
	struct error why = { 0 }, ignored = { 0 };
	struct job_options *options = job_load_named(engine->home, name, &ignored);
	bool is_away = options && !may_make_store(engine, options, &why) && strcmp(why.code, "ledger_mismatch") == 0;

	job_options_free(options);
	return is_away;
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

		if (!job_kept_standing(engine->home, json_string_value(name), &standing))
			job_hope(engine, json_string_value(name), standing.code, true);
		else if (store_is_away(engine, json_string_value(name)))
			job_hope(engine, json_string_value(name), "ledger_mismatch", true);
		if (standing.is_hoped)
			job_hope(engine, json_string_value(name), standing.code, false);
		if (standing.state != STATE_OK || atomic_load(&engine->is_stopping))
			continue;
		options = job_load(engine->home, json_string_value(name), NULL, 0, &err);
		if (options && job_options_startable(options, &err))
			job_begin(engine, options, &run, &err);
		else
			job_options_free(options);
		if (err.kind != ERROR_NONE) {
			tell_refused(engine, json_string_value(name), &err);
		}
	}
	json_decref(names);
	return NULL;
}

void jobs_restore(struct engine *engine)
{
	engine->has_restorer = pthread_create(&engine->restorer, NULL, restore_main, engine) == 0;
}
