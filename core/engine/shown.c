/*
 * What the topics know of a job's tables. Which of them needs somebody, or is paused,
 * stands in the job's files, and topics are made from memory by a thread that may not
 * wait for a disk. So a thread of its own looks at the files once something has
 * happened that may have changed it, by the same function as `weir status`.
 */
#include "base/clock.h"
#include "engine/commands_private.h"
#include "engine/metrics_private.h"
#include "engine/result_private.h"
#include "pipeline/replay.h"

#include <stdlib.h>

#define AGAIN_MS 10000 /* what happened without a sign is seen then */

struct shown {
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_wanted, is_ending;
};

void shown_open(struct engine *engine)
{
	struct shown *shown = memory_zalloc(sizeof(*shown));

	pthread_mutex_init(&shown->lock, NULL);
	pthread_cond_init(&shown->wake, NULL);
	engine->shown = shown;
}

/* Signs that a table may stand otherwise. */
static struct shown_signs signs_locked(const struct job *job)
{
	struct progress_view view;
	struct replay_view replay;

	progress_look(job->progress, &view);
	replay_desk_look(job->desk, &replay);
	return (struct shown_signs){
		.run_number = job->run_number,
		.dead_lettered = view.total.dead_lettered,
		.parked = view.total.parked,
		.acts = atomic_load(&job->engine->acts),
		.replay_phase = (int)replay.phase,
		.is_running = job->is_running,
	};
}

/* More letters make nothing worse of what needs somebody already. */
static bool is_news(const struct job_shown *shown, const struct shown_signs *now)
{
	const struct shown_signs *then = &shown->signs;
	bool has_more = now->dead_lettered != then->dead_lettered || now->parked != then->parked;

	return !shown->is_known || now->run_number != then->run_number || now->acts != then->acts ||
	       now->replay_phase != then->replay_phase || now->is_running != then->is_running ||
	       (has_more && shown->tables != STATE_NEEDS_YOU) || clock_mono_ms() - shown->looked_ms >= AGAIN_MS;
}

/* The signs go first: what changes while the files are read is news again. */
static bool next_job(struct engine *engine, char out_name[JOB_NAME_MAX + 1])
{
	struct job *job;

	pthread_mutex_lock(&engine->lock);
	for (job = engine->jobs; job; job = job->next) {
		struct shown_signs signs = signs_locked(job);

		if (!is_news(&job->shown, &signs))
			continue;
		snprintf(out_name, JOB_NAME_MAX + 1, "%s", job->name);
		job->shown.signs = signs;
		job->shown.looked_ms = clock_mono_ms();
		job->shown.is_known = true;
		break;
	}
	pthread_mutex_unlock(&engine->lock);
	return job != NULL;
}

static void set_tables(struct engine *engine, const char *name, enum job_state tables)
{
	struct job *job;

	pthread_mutex_lock(&engine->lock);
	job = live_find(engine, name);
	if (job)
		job->shown.tables = tables;
	pthread_mutex_unlock(&engine->lock);
}

/* Files that cannot be read now leave what was known. */
static void look_at(struct engine *engine, const char *name)
{
	struct call call = { .engine = engine };
	struct error ignored = { 0 };
	struct job_options *options = job_load_named(engine->home, name, &ignored);
	json_t *line = options ? job_line(&call, options, false, &ignored) : NULL;

	if (line)
		set_tables(engine, name, result_tables_state(line));
	json_decref(line);
	job_options_free(options);
}

static bool wait_for_wish(struct shown *shown)
{
	bool goes_on;

	pthread_mutex_lock(&shown->lock);
	while (!shown->is_wanted && !shown->is_ending)
		pthread_cond_wait(&shown->wake, &shown->lock);
	shown->is_wanted = false;
	goes_on = !shown->is_ending;
	pthread_mutex_unlock(&shown->lock);
	return goes_on;
}

static void *shown_main(void *context)
{
	struct engine *engine = context;
	char name[JOB_NAME_MAX + 1];

	while (wait_for_wish(engine->shown)) {
		while (!atomic_load(&engine->is_stopping) && next_job(engine, name))
			look_at(engine, name);
	}
	return NULL;
}

void shown_want(struct engine *engine)
{
	struct shown *shown = engine->shown;

	if (!shown->has_thread)
		shown->has_thread = pthread_create(&shown->thread, NULL, shown_main, engine) == 0;
	pthread_mutex_lock(&shown->lock);
	shown->is_wanted = true;
	pthread_cond_signal(&shown->wake);
	pthread_mutex_unlock(&shown->lock);
}

void shown_close(struct engine *engine)
{
	struct shown *shown = engine->shown;

	if (!shown)
		return;
	pthread_mutex_lock(&shown->lock);
	shown->is_ending = true;
	pthread_cond_signal(&shown->wake);
	pthread_mutex_unlock(&shown->lock);
	if (shown->has_thread)
		pthread_join(shown->thread, NULL);
	pthread_cond_destroy(&shown->wake);
	pthread_mutex_destroy(&shown->lock);
	free(shown);
	engine->shown = NULL;
}
