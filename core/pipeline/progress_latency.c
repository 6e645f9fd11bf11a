/*
 * How late changes are and how long batches take: since the beginning, for whoever
 * counts on, and of late, for people. What is of late is kept in two halves of five
 * minutes each: a full young one becomes the old one.
 */
#include "pipeline/progress_private.h"

#include "base/clock.h"

#define HALF_MS (5 * 60 * 1000)

static void half_clear(struct recent_half *half)
{
	*half = (struct recent_half){ .table = NO_TABLE };
}

/* Only what comes moves it on, so that a job at rest shows how it was. */
static void recent_turn(struct recent *recent, int64_t now_ms)
{
	int64_t age_ms = now_ms - recent->young_since_ms;

	if (recent->young_since_ms && age_ms < HALF_MS)
		return;
	if (recent->young_since_ms && age_ms < 2 * HALF_MS)
		recent->old = recent->young;
	else
		half_clear(&recent->old);
	half_clear(&recent->young);
	recent->young_since_ms = now_ms;
}

void recent_add(struct recent *recent, int64_t now_ms, size_t table, int64_t took_us, uint64_t weight)
{
	struct recent_half *young = &recent->young;

	recent_turn(recent, now_ms);
	if (!young->histogram.count || (took_us > 0 && (uint64_t)took_us > young->histogram.max_us))
		young->table = table;
	histogram_add(&young->histogram, took_us, weight);
}

size_t recent_look(const struct recent *recent, struct histogram *out)
{
	const struct recent_half *young = &recent->young, *old = &recent->old;

	*out = young->histogram;
	histogram_merge(out, &old->histogram);
	if (!out->count)
		return NO_TABLE;
	return old->histogram.count && old->histogram.max_us > young->histogram.max_us ? old->table : young->table;
}

void latency_add_locked(struct progress *progress, enum latency which, size_t table, int64_t took_us, uint64_t weight)
{
	if (!weight)
		return;
	histogram_add(&progress->latencies[which], took_us, weight);
	recent_add(&progress->recent[which], clock_mono_ms(), table, took_us, weight);
}

void progress_latency(struct progress *progress, enum latency which, struct histogram *out)
{
	pthread_mutex_lock(&progress->lock);
	*out = progress->latencies[which];
	pthread_mutex_unlock(&progress->lock);
}

static const char *name_locked(const struct progress *progress, size_t table)
{
	if (table == NO_TABLE)
		return NULL;
	return table < progress->table_count && progress->tables[table].name ? progress->tables[table].name : "-";
}

void progress_recent(struct progress *progress, enum latency which, struct recent_latency *out)
{
	pthread_mutex_lock(&progress->lock);
	out->table = name_locked(progress, recent_look(&progress->recent[which], &out->histogram));
	pthread_mutex_unlock(&progress->lock);
}
