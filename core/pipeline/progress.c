/* What a running job shows: a few numbers behind one lock. */
#include "pipeline/progress_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEHIND_MS 3000 /* a source that has had more to read for so long is behind */

static const char *const thread_names[JOB_THREADS] = {
	[THREAD_READER] = "reader",
	[THREAD_WRITER] = "writer",
	[THREAD_MERGER] = "merger",
};

/* With "%": the number follows. */
static const char *const activity_words[ACTIVITIES] = {
	[ACTIVITY_NONE] = "nothing",
	[ACTIVITY_READING] = "reading",
	[ACTIVITY_HANDING_ON] = "waiting for the writer",
	[ACTIVITY_WRITING] = "writing batch %",
	[ACTIVITY_EXPECTING] = "waiting for records",
	[ACTIVITY_MERGING] = "merging",
	[ACTIVITY_RESTING] = "waiting for changes",
	[ACTIVITY_WATCHING] = "waiting for new messages",
};

const char *job_thread_name(enum job_thread thread)
{
	return thread_names[thread];
}

struct progress *progress_new(void)
{
	struct progress *progress = memory_zalloc(sizeof(*progress));

	pthread_mutex_init(&progress->lock, NULL);
	pthread_mutex_init(&progress->source_lock, NULL);
	atomic_store(&progress->holders, 1);
	progress->view.state = progress->own.state = STATE_STOPPED;
	words_begin_locked(progress);
	progress->view.lag_us = -1;
	progress->tables = memory_zalloc(sizeof(*progress->tables));
	progress->tables[0].view.lag_us = -1;
	return progress;
}

struct progress *progress_hold(struct progress *progress)
{
	atomic_fetch_add(&progress->holders, 1);
	return progress;
}

void progress_free(struct progress *progress)
{
	if (!progress || atomic_fetch_sub(&progress->holders, 1) > 1)
		return;
	tables_free(progress);
	pthread_mutex_destroy(&progress->lock);
	pthread_mutex_destroy(&progress->source_lock);
	free(progress);
}

void progress_begin(struct progress *progress)
{
	pthread_mutex_lock(&progress->lock);
	progress->view.in_flight = progress->view.queued = 0;
	progress->is_resting = false;
	progress->idle_ms = clock_mono_ms();
	words_begin_locked(progress);
	tables_begin_locked(progress);
	pthread_mutex_unlock(&progress->lock);
}

void progress_set_total(struct progress *progress, const struct ledger *total)
{
	pthread_mutex_lock(&progress->lock);
	progress->view.total = *total;
	progress->view.version++;
	pthread_mutex_unlock(&progress->lock);
}

struct sink_figures *progress_figures(struct progress *progress)
{
	return &progress->figures;
}

void progress_taken(struct progress *progress, uint64_t messages, uint64_t bytes)
{
	if (!messages)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->view.in_flight += messages;
	progress->view.queued++;
	progress->view.bytes += bytes;
	progress->view.version++;
	pthread_mutex_unlock(&progress->lock);
}

void progress_set_source(struct progress *progress, struct source *source)
{
	pthread_mutex_lock(&progress->source_lock);
	progress->source = source;
	pthread_mutex_unlock(&progress->source_lock);
}

bool progress_source(struct progress *progress, struct source_view *out)
{
	bool has_view;

	pthread_mutex_lock(&progress->source_lock);
	has_view = progress->source && progress->source->ops->look;
	if (has_view)
		progress->source->ops->look(progress->source, out);
	pthread_mutex_unlock(&progress->source_lock);
	return has_view;
}

void progress_idle(struct progress *progress)
{
	pthread_mutex_lock(&progress->lock);
	progress->idle_ms = clock_mono_ms();
	pthread_mutex_unlock(&progress->lock);
}

void progress_committed(struct progress *progress, const struct ledger *sum, const struct ledger *added, size_t count,
                        const struct batch_times *times)
{
	struct progress_view *view = &progress->view;

	pthread_mutex_lock(&progress->lock);
	ledger_add(&view->total, sum);
	ledger_add(&view->this_run, sum);
	view->in_flight -= sum->received < view->in_flight ? sum->received : view->in_flight;
	view->queued -= view->queued > 0 && sum->received;
	view->batches += sum->received > 0;
	view->version++;
	tables_committed_locked(progress, added, count);
	measured_locked(progress, times, added);
	pthread_mutex_unlock(&progress->lock);
}

void progress_look(struct progress *progress, struct progress_view *out)
{
	int64_t now_ms = clock_mono_ms();

	pthread_mutex_lock(&progress->lock);
	*out = progress->view;
	out->is_behind = !progress->is_resting && progress->view.this_run.received && now_ms - progress->idle_ms >= BEHIND_MS;
	pthread_mutex_unlock(&progress->lock);
}

bool activity_is_request(enum activity what)
{
	return what == ACTIVITY_READING || what == ACTIVITY_WRITING || what == ACTIVITY_MERGING;
}

void progress_do(struct progress *progress, enum job_thread thread, enum activity what, uint64_t number)
{
	struct activity_view *view = &progress->activities[thread];
	int64_t now_us = clock_utc_us();

	pthread_mutex_lock(&progress->lock);
	if (view->what != what && activity_is_request(view->what))
		view->answered_us = now_us;
	if (view->what != what || view->number != number)
		view->since_us = now_us;
	view->what = what;
	view->number = number;
	pthread_mutex_unlock(&progress->lock);
}

void progress_rest(struct progress *progress)
{
	bool merges;

	pthread_mutex_lock(&progress->lock);
	progress->is_resting = true;
	merges = progress->activities[THREAD_MERGER].what != ACTIVITY_NONE;
	pthread_mutex_unlock(&progress->lock);
	progress_do(progress, THREAD_READER, ACTIVITY_WATCHING, 0);
	/* Its last step, that found nothing to do, was the last that it said. */
	if (merges)
		progress_do(progress, THREAD_MERGER, ACTIVITY_RESTING, 0);
}

void progress_activity(struct progress *progress, enum job_thread thread, struct activity_view *out)
{
	pthread_mutex_lock(&progress->lock);
	*out = progress->activities[thread];
	pthread_mutex_unlock(&progress->lock);
}

void activity_text(const struct activity_view *view, char *out, size_t room)
{
	const char *words = activity_words[view->what];
	size_t before = strcspn(words, "%");

	if (words[before])
		snprintf(out, room, "%.*s%" PRIu64, (int)before, words, view->number);
	else
		snprintf(out, room, "%s", words);
}
