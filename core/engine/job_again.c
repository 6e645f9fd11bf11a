/*
 * A job that broke and was not stopped goes on by itself when the cause is gone: a state file is back, a feed is the old
 * one again, a folder may be written. Until then it needs somebody, and this thread looks from time to time by opening
 * what the job would open, as the job would, without a word in the journal. Only what is found whole is begun.
 */
#include "base/clock.h"
#include "engine/job_private.h"
#include "engine/journal.h"
#include "engine/result_private.h"
#include "google/google.h"
#include "pipeline/pipeline.h"

#include <stdio.h>
#include <stdlib.h>

#define LOOK_FIRST_MS 1000
#define LOOK_MOST_MS 30000
#define SOON_MS (10 * 60 * 1000)      /* who breaks again sooner was not mended: it is looked at less often, */
#define BROKEN_MOST_MS (10 * 60 * 1000) /* down to this */

struct hope {
	struct hope *next;
	char name[JOB_NAME_MAX + 1];
	char code[40];
	int64_t wait_ms, due_ms;
	int64_t begun_ms;  /* by us; 0: not yet, or it has been well since */
	bool is_unread;    /* its store could not be read: it may be one that did not run */
	bool is_begun;     /* it runs, as far as we know */
};

struct again {
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct hope *hopes;
	bool is_ending;
};

/* What nobody mends from outside: the job would only break again. */
static const char *const lasting[] = { "park_full", "internal_error", "cancelled" };

static bool may_pass(const char *code)
{
	for (size_t i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++) {
		if (strcmp(lasting[i], code) == 0)
			return false;
	}
	return true;
}

/*
 * Hopes
 */

static struct hope **find_locked(struct again *again, const char *name)
{
	struct hope **at = &again->hopes;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

static struct hope *find_or_make_locked(struct again *again, const char *name)
{
	struct hope *hope = *find_locked(again, name);

	if (hope)
		return hope;
	hope = memory_zalloc(sizeof(*hope));
	snprintf(hope->name, sizeof(hope->name), "%s", name);
	hope->next = again->hopes;
	again->hopes = hope;
	return hope;
}

static void set_locked(struct hope *hope, const char *code, bool is_unread)
{
	int64_t now_ms = clock_mono_ms();
	bool is_soon = hope->begun_ms && now_ms - hope->begun_ms < SOON_MS;

	if (!is_soon)
		hope->wait_ms = LOOK_FIRST_MS;
	else if ((hope->wait_ms *= 2) > BROKEN_MOST_MS)
		hope->wait_ms = BROKEN_MOST_MS;
	snprintf(hope->code, sizeof(hope->code), "%s", code);
	hope->is_unread = is_unread;
	hope->is_begun = false;
	hope->due_ms = now_ms + hope->wait_ms;
}

static void *again_main(void *context);

void job_hope(struct engine *engine, const char *name, const char *code, bool is_unread)
{
	struct again *again = engine->again;

	if (!again || !may_pass(code))
		return;
	pthread_mutex_lock(&again->lock);
	if (!again->is_ending) {
		set_locked(find_or_make_locked(again, name), code, is_unread);
		if (!again->has_thread)
			again->has_thread = pthread_create(&again->thread, NULL, again_main, engine) == 0;
		pthread_cond_signal(&again->wake);
	}
	pthread_mutex_unlock(&again->lock);
}

void job_give_up(struct engine *engine, const char *name)
{
	struct again *again = engine->again;
	struct hope **at, *hope;

	if (!again)
		return;
	pthread_mutex_lock(&again->lock);
	at = find_locked(again, name);
	hope = *at;
	if (hope)
		*at = hope->next;
	pthread_mutex_unlock(&again->lock);
	free(hope);
}

bool jobs_hope(struct engine *engine)
{
	struct again *again = engine->again;
	const struct hope *hope = NULL;

	if (!again)
		return false;
	pthread_mutex_lock(&again->lock);
	for (hope = again->hopes; hope && hope->is_begun; hope = hope->next)
		continue;
	pthread_mutex_unlock(&again->lock);
	return hope != NULL;
}

/*
 * Looking
 */

/* Read only first: of a job that has run, what is missing must not be made. Then as the job does it, the feed too. */
static bool opens(struct engine *engine, const struct job_options *options, struct google *google, struct error *err)
{
	struct pipeline_setup setup = { .options = options, .home = engine->home, .is_followed = true, .google = google };
	struct job_files files = { 0 };
	struct pipeline *pipeline;

	if (!files_open(&files, engine->home, options, err))
		return false;
	files_close(&files);
	setup.progress = progress_new();
	pipeline = pipeline_open(&setup, err);
	pipeline_close(pipeline);
	progress_free(setup.progress);
	return pipeline != NULL;
}

/* NULL: not yet. The name is looked at meanwhile: who wants to begin or delete the job waits for that moment. */
static struct job_options *look(struct engine *engine, const char *name, struct error *err)
{
	struct google *google = NULL;
	struct job_options *options;
	bool is_fine;

	if (!job_look_name(engine, name, err))
		return NULL;
	options = job_load_named(engine->home, name, err);
	is_fine = options && job_options_startable(options, err) && secrets_serve(engine, options, &google, err) &&
	          opens(engine, options, google, err);
	google_close(google);
	job_let_look(engine, name);
	if (is_fine)
		return options;
	job_options_free(options);
	return NULL;
}

/* A store that could not be read when the engine started: does it say that the job ran? */
static bool is_wanted(struct engine *engine, const struct hope *hope)
{
	struct job_standing standing = { 0 };

	job_kept_standing(engine->home, hope->name, &standing);
	return !hope->is_unread || standing.is_hoped || standing.state == STATE_OK;
}

static void begin(struct engine *engine, const struct hope *hope, struct job_options *options)
{
	struct job_run run = { .is_kept = true };
	struct error failure = { 0 };
	char words[160];

	snprintf(words, sizeof(words), "the cause has gone (%s): the job goes on by itself", hope->code);
	journal_event(engine, hope->name, NULL, "job_goes_on", words);
	if (!job_begin(engine, options, &run, &failure))
		job_hope(engine, hope->name, failure.code, false);
}

/* It is looked at again later, unless somebody has done something about it meanwhile. */
static void put_off(struct again *again, const char *name)
{
	struct hope *hope;

	pthread_mutex_lock(&again->lock);
	hope = *find_locked(again, name);
	if (hope) {
		/* One that breaks whenever it is begun keeps its long wait. */
		if (hope->wait_ms < LOOK_MOST_MS && (hope->wait_ms *= 2) > LOOK_MOST_MS)
			hope->wait_ms = LOOK_MOST_MS;
		hope->due_ms = clock_mono_ms() + hope->wait_ms;
	}
	pthread_mutex_unlock(&again->lock);
}

/* False: somebody has stopped the job while it was looked at. */
static bool take_up(struct again *again, const char *name)
{
	struct hope *hope;

	pthread_mutex_lock(&again->lock);
	hope = *find_locked(again, name);
	if (hope) {
		hope->is_begun = true;
		hope->begun_ms = clock_mono_ms();
	}
	pthread_mutex_unlock(&again->lock);
	return hope != NULL;
}

static void try_one(struct engine *engine, const struct hope *hope)
{
	struct job *job = job_find_running(engine, hope->name);
	struct error why = { 0 };
	struct job_options *options;

	/* One that runs for a replay alone is still broken behind it. */
	if (job && job_replay_run(job)) {
		put_off(engine->again, hope->name);
		return;
	}
	if (job) {
		job_give_up(engine, hope->name);
		return;
	}
	options = look(engine, hope->name, &why);
	/* Also of one that is not there: a folder that cannot be read has no jobs. Who deletes it gives it up. */
	if (!options)
		put_off(engine->again, hope->name);
	else if (!is_wanted(engine, hope))
		job_give_up(engine, hope->name);
	else if (take_up(engine->again, hope->name)) {
		begin(engine, hope, options);
		return;
	}
	job_options_free(options);
}

static void wait_locked(struct again *again, int64_t due_ms)
{
	struct timespec until = { .tv_sec = due_ms / 1000, .tv_nsec = due_ms % 1000 * 1000000 };

	if (due_ms == INT64_MAX)
		pthread_cond_wait(&again->wake, &again->lock);
	else
		pthread_cond_timedwait(&again->wake, &again->lock, &until);
}

/* A copy: the hope itself may be given up meanwhile. */
static bool next_due(struct again *again, struct hope *out)
{
	bool has_one = false;

	pthread_mutex_lock(&again->lock);
	while (!again->is_ending && !has_one) {
		int64_t due_ms = INT64_MAX;

		for (const struct hope *h = again->hopes; h; h = h->next) {
			if (!h->is_begun && h->due_ms < due_ms) {
				due_ms = h->due_ms;
				*out = *h;
			}
		}
		has_one = due_ms <= clock_mono_ms();
		if (!has_one)
			wait_locked(again, due_ms);
	}
	pthread_mutex_unlock(&again->lock);
	return has_one;
}

static void *again_main(void *context)
{
	struct engine *engine = context;
	struct hope hope;

	while (next_due(engine->again, &hope))
		try_one(engine, &hope);
	return NULL;
}

/*
 * The engine's own beginning and end
 */

void again_open(struct engine *engine)
{
	struct again *again = memory_zalloc(sizeof(*again));

	pthread_mutex_init(&again->lock, NULL);
	clock_cond_init(&again->wake);
	engine->again = again;
}

void again_end(struct engine *engine)
{
	struct again *again = engine->again;

	pthread_mutex_lock(&again->lock);
	again->is_ending = true;
	pthread_cond_signal(&again->wake);
	pthread_mutex_unlock(&again->lock);
	if (again->has_thread)
		pthread_join(again->thread, NULL);
	again->has_thread = false;
}

void again_close(struct engine *engine)
{
	struct again *again = engine->again;

	while (again->hopes)
		job_give_up(engine, again->hopes->name);
	pthread_cond_destroy(&again->wake);
	pthread_mutex_destroy(&again->lock);
	free(again);
	engine->again = NULL;
}
