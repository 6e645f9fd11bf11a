/*
 * The merger's thread: it sleeps until changes have waited updateFrequencySecs,
 * or 100,000 of them wait, or the job ends; then it merges until nothing waits.
 * While the source is behind it lets more gather, up to a whole step: what can be
 * seen is old anyway, and a step writes nearly every page of a large table, however
 * many changes it has. Meanwhile it reads ahead.
 */
#include "base/clock.h"
#include "pipeline/witness.h"
#include "runner/runner_private.h"
#include "sink/sink.h"

#include <pthread.h>
#include <stdlib.h>

#define MERGE_CHANGES 100000
#define AHEAD_CHANGES 32768  /* so many more that wait are read, though a merge is not due */
#define GATHER_MS 10000      /* at most, or as long as the last merge took */
#define GATHER_MOST_MS 60000
#define REMEMBER_MS 5000 /* while it merges without a rest */

struct merge_thread {
	const struct run_setup *setup;
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct dlq *dlq;      /* the thread's own connection */
	uint64_t *told_lost;  /* lent: of which lost replicas the journal has been told */
	int64_t remembered_ms; /* when the job's store was told last how far the replicas are; 0: never */
	bool has_news;
	uint64_t waiting;     /* changes committed since the last merge began */
	uint64_t ahead;       /* of these, when they were read last */
	int64_t since_ms;     /* when the oldest of them came */
	bool is_behind;       /* the source has more than was taken */
	int64_t gather_ms;    /* how long more of them are waited for meanwhile */
	bool has_begun;       /* the job is open */
	bool is_resting;      /* it waits for work */
	bool is_ending;
	bool has_failed;
	struct error failure;
};

static void set_failed(struct merge_thread *merge, const struct error *failure)
{
	pthread_mutex_lock(&merge->lock);
	merge->has_failed = true;
	merge->failure = *failure;
	pthread_mutex_unlock(&merge->lock);
}

static void wait_until_ms(struct merge_thread *merge, int64_t due_ms)
{
	int64_t left_ms = due_ms - clock_mono_ms();
	struct timespec until;

	if (left_ms <= 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += left_ms / 1000;
	until.tv_nsec += left_ms % 1000 * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(&merge->wake, &merge->lock, &until);
}

/* False: it was ended before. */
static bool wait_for_beginning(struct merge_thread *merge)
{
	bool has_begun;

	pthread_mutex_lock(&merge->lock);
	while (!merge->has_begun && !merge->is_ending)
		pthread_cond_wait(&merge->wake, &merge->lock);
	has_begun = merge->has_begun;
	pthread_mutex_unlock(&merge->lock);
	return has_begun;
}

/* When the next merge begins unless more changes come. */
static int64_t next_merge_ms(const struct merge_thread *merge)
{
	int64_t patience_ms = merge->setup->options->update_frequency_secs * 1000;
	int64_t asked_ms = merge->since_ms + (merge->waiting < MERGE_CHANGES ? patience_ms : 0);
	int64_t gathered_ms = merge->since_ms + merge->gather_ms;

	return merge->is_behind && asked_ms < gathered_ms ? gathered_ms : asked_ms;
}

/* A processor that would rest meanwhile reads what the merge will need. */
static void read_ahead(struct merge_thread *merge, struct merger *merger)
{
	merge->ahead = merge->waiting;
	pthread_mutex_unlock(&merge->lock);
	merger_read_ahead(merger);
	pthread_mutex_lock(&merge->lock);
}

/* Waits for work. False: the job ends (after a last merge). */
static bool wait_for_work(struct merge_thread *merge, struct merger *merger)
{
	bool goes_on;

	progress_do(merge->setup->progress, THREAD_MERGER, ACTIVITY_RESTING, 0);
	pthread_mutex_lock(&merge->lock);
	merge->is_resting = true;
	while (!merge->is_ending && merge->waiting < LOCAL_STEP_CHANGES) {
		if (!merge->waiting)
			pthread_cond_wait(&merge->wake, &merge->lock);
		else if (clock_mono_ms() >= next_merge_ms(merge))
			break;
		else if (merge->waiting - merge->ahead >= AHEAD_CHANGES)
			read_ahead(merge, merger);
		else
			wait_until_ms(merge, next_merge_ms(merge));
	}
	merge->is_resting = false;
	merge->waiting = merge->ahead = 0;
	goes_on = !merge->is_ending;
	pthread_mutex_unlock(&merge->lock);
	return goes_on;
}

static bool step_once(struct merge_thread *merge, struct merger *merger, struct merge_result *result,
                      struct error *failure)
{
	struct progress *progress = merge->setup->progress;
	int64_t began_us = clock_utc_us();

	progress_do(progress, THREAD_MERGER, ACTIVITY_MERGING, 0);
	if (!merger_step(merger, NULL, result, failure))
		return false;
	if (!result->table[0])
		return true;
	merge->has_news = true;
	progress_merged(progress, result->table, result->changes, began_us, result->is_all);
	return true;
}

/* One step; a full disk or a locked file is waited for. */
static bool step_with_patience(struct merge_thread *merge, struct merger *merger, struct merge_result *result)
{
	struct patience patience = { .setup = merge->setup, .thread = THREAD_MERGER };
	struct error failure = { 0 };

	while (!step_once(merge, merger, result, &failure)) {
		if (!patience_wait(&patience, &failure)) {
			set_failed(merge, &failure);
			return false;
		}
		if (run_should_leave(merge->setup))
			return false;
		failure = (struct error){ 0 };
	}
	patience_over(&patience);
	return true;
}

/* What fails is told later: until then the store remembers less than there is. */
static void remember(struct merge_thread *merge, struct merger *merger, bool is_now)
{
	int64_t now_ms = clock_mono_ms();
	struct error ignored = { 0 };

	if (!merge->has_news || (!is_now && merge->remembered_ms && now_ms - merge->remembered_ms < REMEMBER_MS))
		return;
	if (!witness_keep_replicas(merge->dlq, merge->setup->options, merger, &ignored))
		return;
	merge->has_news = false;
	merge->remembered_ms = now_ms;
}

static int64_t within(int64_t number, int64_t least, int64_t most)
{
	return number < least ? least : number > most ? most : number;
}

static void gather_set(struct merge_thread *merge, int64_t took_ms)
{
	pthread_mutex_lock(&merge->lock);
	merge->gather_ms = within(took_ms, GATHER_MS, GATHER_MOST_MS);
	pthread_mutex_unlock(&merge->lock);
}

static bool merge_all(struct merge_thread *merge, struct merger *merger)
{
	struct merge_result result = { .has_more = true };
	int64_t began_us = clock_utc_us(), began_ms = clock_mono_ms();
	bool is_fine = true;

	while (is_fine && result.has_more && !run_should_leave(merge->setup)) {
		is_fine = step_with_patience(merge, merger, &result);
		remember(merge, merger, false);
	}
	if (is_fine && !result.has_more)
		progress_merged_all(merge->setup->progress, began_us);
	gather_set(merge, clock_mono_ms() - began_ms);
	remember(merge, merger, true);
	return is_fine;
}

static void *merge_main(void *context)
{
	struct merge_thread *merge = context;
	struct sink_setup setup = {
		.options = merge->setup->options,
		.warehouse = merge->setup->home->warehouse,
		.cache_bytes = merge->setup->options->local_cache_bytes / 2,
	};
	struct error failure = { 0 };
	struct arena *arena;
	struct merger *merger;

	if (!wait_for_beginning(merge))
		return NULL;
	arena = arena_new(4096);
	merger = merge_open(&(struct merge_opening){ merge->setup, arena, merge->told_lost }, &setup, &merge->dlq, &failure);
	if (!merger) {
		if (failure.kind != ERROR_NONE)
			set_failed(merge, &failure);
		arena_free(arena);
		return NULL;
	}
	while (wait_for_work(merge, merger)) {
		if (!merge_all(merge, merger))
			break;
	}
	if (!merge->has_failed)
		merge_all(merge, merger);
	merger_close(merger);
	dlq_close(merge->dlq);
	arena_free(arena);
	return NULL;
}

static void merge_thread_free(struct merge_thread *merge)
{
	pthread_cond_destroy(&merge->wake);
	pthread_mutex_destroy(&merge->lock);
	free(merge);
}

struct merge_thread *merge_thread_start(const struct run_setup *setup, uint64_t *told_lost, struct error *err)
{
	struct merge_thread *merge = memory_zalloc(sizeof(*merge));

	merge->setup = setup;
	merge->told_lost = told_lost;
	pthread_mutex_init(&merge->lock, NULL);
	clock_cond_init(&merge->wake);
	/* What an earlier run left unmerged. Until the source has been looked at, more may come. */
	merge->waiting = MERGE_CHANGES;
	merge->since_ms = clock_mono_ms();
	merge->is_behind = true;
	merge->gather_ms = GATHER_MS;
	merge->has_thread = setup->options->replication_mode == REPLICATION_MERGE;
	if (!merge->has_thread || run_make_thread(setup, &merge->thread, merge_main, merge, err))
		return merge;
	merge_thread_free(merge);
	return NULL;
}

void merge_thread_begin(struct merge_thread *merge)
{
	pthread_mutex_lock(&merge->lock);
	merge->has_begun = true;
	pthread_cond_signal(&merge->wake);
	pthread_mutex_unlock(&merge->lock);
}

void merge_thread_wake(struct merge_thread *merge, uint64_t new_changes)
{
	pthread_mutex_lock(&merge->lock);
	if (!merge->waiting)
		merge->since_ms = clock_mono_ms();
	merge->waiting += new_changes;
	pthread_cond_signal(&merge->wake);
	pthread_mutex_unlock(&merge->lock);
}

void merge_thread_source(struct merge_thread *merge, bool has_more)
{
	pthread_mutex_lock(&merge->lock);
	if (merge->is_behind != has_more)
		pthread_cond_signal(&merge->wake);
	merge->is_behind = has_more;
	pthread_mutex_unlock(&merge->lock);
}

bool merge_thread_rests(struct merge_thread *merge)
{
	bool rests;

	pthread_mutex_lock(&merge->lock);
	rests = !merge->has_thread || merge->has_failed || (merge->is_resting && !merge->waiting);
	pthread_mutex_unlock(&merge->lock);
	return rests;
}

bool merge_thread_failed(struct merge_thread *merge, struct error *out_err)
{
	bool has_failed;

	pthread_mutex_lock(&merge->lock);
	has_failed = merge->has_failed;
	if (has_failed)
		*out_err = merge->failure;
	pthread_mutex_unlock(&merge->lock);
	return has_failed;
}

bool merge_thread_finish(struct merge_thread *merge, struct error *err)
{
	bool is_fine;

	pthread_mutex_lock(&merge->lock);
	merge->is_ending = true;
	pthread_cond_signal(&merge->wake);
	pthread_mutex_unlock(&merge->lock);
	if (merge->has_thread)
		pthread_join(merge->thread, NULL);
	is_fine = !merge->has_failed;
	if (!is_fine && err)
		*err = merge->failure;
	merge_thread_free(merge);
	return is_fine;
}
