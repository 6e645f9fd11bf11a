/*
 * The samples that are taken of running jobs, once a second, by the control thread:
 * seconds and minutes of a job, tens of seconds and minutes of its tables.
 */
#include "engine/metrics_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <stdlib.h>

#define MINUTE_MS 60000
#define LEAST_MS 0.001 /* of a mean: 0 says that there was nothing */

/* A counter that was set back (a job begun anew) counts from zero. */
static double growth(double before, double now)
{
	return now >= before ? now - before : now;
}

static size_t kept_fields(enum metric_kept least)
{
	size_t count = 0;

	for (int i = 0; i < METRICS; i++)
		count += metric_table[i].kept >= least;
	return count;
}

static void to_floats(const struct metric_values *values, enum metric_kept least, float *out)
{
	size_t count = 0;

	for (int i = 0; i < METRICS; i++) {
		if (metric_table[i].kept >= least)
			out[count++] = (float)values->of[i];
	}
}

/* What a slot holds: how much a counter grew, what a gauge was, the mean of a histogram (mean_of_second). */
static void differ(const struct metric_values *before, const struct metric_values *now, struct metric_values *out)
{
	for (int i = 0; i < METRICS; i++)
		out->of[i] = metric_table[i].kind == COUNTER ? growth(before->of[i], now->of[i]) : now->of[i];
}

static void gather(struct metric_values *minute, const struct metric_values *second)
{
	for (int i = 0; i < METRICS; i++) {
		if (metric_table[i].kind == COUNTER)
			minute->of[i] += second->of[i];
		else if (second->of[i] > minute->of[i])
			minute->of[i] = second->of[i];
	}
}

static struct job_metrics *metrics_new(void)
{
	struct job_metrics *metrics = memory_zalloc(sizeof(*metrics));

	ring_open(&metrics->seconds, SECONDS_KEPT, kept_fields(OF_JOB));
	ring_open(&metrics->minutes, MINUTES_KEPT, kept_fields(OF_JOB));
	metrics->tables = memory_zalloc(sizeof(*metrics->tables));
	return metrics;
}

void metrics_free(struct job_metrics *metrics)
{
	if (!metrics)
		return;
	ring_close(&metrics->seconds);
	ring_close(&metrics->minutes);
	for (size_t i = 0; i <= metrics->table_count; i++) {
		ring_close(&metrics->tables[i].minutes.ring);
		ring_close(&metrics->tables[i].tens.ring);
	}
	free(metrics->tables);
	free(metrics);
}

/* "-" stays the last. */
static void grow_tables(struct job_metrics *metrics, size_t count)
{
	struct table_metrics none = metrics->tables[metrics->table_count];

	if (count <= metrics->table_count)
		return;
	metrics->tables = memory_grow(metrics->tables, (count + 1) * sizeof(*metrics->tables));
	for (size_t i = metrics->table_count; i < count; i++)
		metrics->tables[i] = (struct table_metrics){ .look = { 0 } };
	metrics->tables[count] = none;
	metrics->table_count = count;
}

static void put_table(struct table_series *series, const struct table_progress *table, int64_t slot, int64_t now_us)
{
	struct metric_values now, grown;
	float values[METRICS];

	metrics_of_table(table, now_us, &now);
	differ(&series->last, &now, &grown);
	series->last = now;
	/* The lag of a batch from before this slot is no news. */
	if (grown.of[METRIC_received] <= 0)
		grown.of[METRIC_lag] = 0;
	to_floats(&grown, OF_TABLE, values);
	ring_put(&series->ring, slot, values);
}

/* A table's rings are made when it is first met: they cost nothing until something flows. */
static void rings_open(struct table_metrics *table)
{
	if (table->minutes.ring.pieces)
		return;
	ring_open(&table->minutes.ring, MINUTES_KEPT, kept_fields(OF_TABLE));
	ring_open(&table->tens.ring, TENS_KEPT, kept_fields(OF_TABLE));
}

static void put_tables(struct job *job, bool is_minute, int64_t slot, int64_t now_us)
{
	size_t count = progress_table_count(job->progress);

	grow_tables(job->metrics, count);
	for (size_t i = 0; i <= count; i++) {
		struct table_metrics *kept = &job->metrics->tables[i];
		struct table_progress table;

		progress_table(job->progress, i, &table);
		rings_open(kept);
		put_table(is_minute ? &kept->minutes : &kept->tens, &table, slot, now_us);
	}
}

static void put_minute(struct job *job, int64_t next_minute, int64_t now_us)
{
	struct job_metrics *metrics = job->metrics;
	float values[METRICS];

	to_floats(&metrics->in_minute, OF_JOB, values);
	ring_put(&metrics->minutes, metrics->minute, values);
	put_tables(job, true, metrics->minute, now_us);
	metrics->in_minute = (struct metric_values){ 0 };
	metrics->minute = next_minute;
}

/* The first run counts from what stood in the files when it began; the next ones go on from there. */
static void subtract(struct ledger *from, const struct ledger *what)
{
	from->received -= what->received;
	from->written -= what->written;
	from->filtered -= what->filtered;
	from->dead_lettered -= what->dead_lettered;
	from->parked -= what->parked;
	from->repeated -= what->repeated;
	from->rows -= what->rows;
}

static void begin_metrics(struct job *job, const struct progress_view *view, int64_t now_ms, int64_t now_us)
{
	struct job_metrics *metrics = job->metrics = metrics_new();
	struct ledger before = view->total;

	subtract(&before, &view->this_run);
	metrics_of_ledger(&before, &metrics->last);
	metrics->begun_second = now_ms / 1000;
	metrics->second = metrics->begun_second - 1;
	metrics->minute = now_ms / MINUTE_MS;
	metrics->ten = now_ms / TEN_MS;
	metrics->begun_ten = metrics->ten;
	/* What the tables had before is not this minute's. A job that had nothing has brought all of it just now. */
	grow_tables(metrics, progress_table_count(job->progress));
	for (size_t i = 0; i <= metrics->table_count; i++) {
		struct table_progress table;

		progress_table(job->progress, i, &table);
		if (before.received)
			metrics_of_table(&table, now_us, &metrics->tables[i].minutes.last);
		metrics->tables[i].tens.last = metrics->tables[i].minutes.last;
	}
}

static double mean_of_second(struct latency_sum *last, const struct histogram *now)
{
	uint64_t count = now->count - last->count, sum_us = now->sum_us - last->sum_us;
	double mean_ms = count ? (double)sum_us / (double)count / 1000 : 0;

	/* A job begun anew counts from zero. */
	if (now->count < last->count)
		mean_ms = now->count ? (double)now->sum_us / (double)now->count / 1000 : 0;
	*last = (struct latency_sum){ now->count, now->sum_us };
	return count && mean_ms < LEAST_MS ? LEAST_MS : mean_ms;
}

static void take_latencies(struct job *job, struct metric_values *out)
{
	for (int i = 0; i < METRICS; i++) {
		struct histogram histogram;

		if (metric_table[i].kind != HISTOGRAM || metric_table[i].kept == NOT_KEPT)
			continue;
		progress_latency(job->progress, metric_latency((enum metric_id)i), &histogram);
		out->of[i] = mean_of_second(&job->metrics->latencies[i], &histogram);
	}
}

/* Slots that have ended are put before anything of the next ones is taken. */
static void put_slots(struct job *job, int64_t now_ms, int64_t now_us)
{
	if (now_ms / MINUTE_MS > job->metrics->minute)
		put_minute(job, now_ms / MINUTE_MS, now_us);
	if (now_ms / TEN_MS > job->metrics->ten) {
		put_tables(job, false, job->metrics->ten, now_us);
		job->metrics->ten = now_ms / TEN_MS;
	}
}

void metrics_sample(struct job *job, int64_t now_ms, int64_t now_us)
{
	struct metric_values now, grown;
	struct progress_view view;
	float values[METRICS];
	int64_t second = now_ms / 1000;

	progress_look(job->progress, &view);
	if (!job->metrics && !view.this_run.received && !view.in_flight)
		return;
	if (!job->metrics)
		begin_metrics(job, &view, now_ms, now_us);
	put_slots(job, now_ms, now_us);
	metrics_of_job(job->progress, now_us, &now);
	differ(&job->metrics->last, &now, &grown);
	if (grown.of[METRIC_received] <= 0)
		grown.of[METRIC_lag] = 0;
	take_latencies(job, &grown);
	to_floats(&grown, OF_JOB, values);
	/* A late tick and one in time may fall into one second. */
	second = second > job->metrics->second ? second : job->metrics->second + 1;
	ring_put(&job->metrics->seconds, second, values);
	gather(&job->metrics->in_minute, &grown);
	job->metrics->last = now;
	job->metrics->second = second;
	job->metrics->sampled_us = now_us;
}

void metrics_tick(struct engine *engine, int64_t now_ms)
{
	int64_t now_us = clock_utc_us();

	pthread_mutex_lock(&engine->lock);
	for (struct job *job = engine->jobs; job; job = job->next) {
		if (job->is_running)
			metrics_sample(job, now_ms, now_us);
	}
	pthread_mutex_unlock(&engine->lock);
}
