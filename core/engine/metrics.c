/* The table of metrics, and the samples that are taken of running jobs, once a second, by the control thread. */
#include "engine/metrics_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <stdlib.h>

#define RATE_SECONDS 5
#define MINUTE_MS 60000

const struct metric metric_table[METRICS] = {
#define METRIC(id_, name_, unit_, kind_, scope_, kept_, help_)                                                        \
	[METRIC_##id_] = { .id = #id_, .name = name_, .unit = unit_, .kind = kind_, .scope = SCOPE_##scope_,          \
		           .kept = kept_, .help = help_ },
#include "engine/metrics.def"
#undef METRIC
};

static const char *const kind_names[METRIC_KINDS] = {
	[COUNTER] = "counter",
	[GAUGE] = "gauge",
	[HISTOGRAM] = "histogram",
};

static const struct {
	enum metric_id metric;
	enum latency latency;
} latencies[] = {
	{ METRIC_publish, LATENCY_PUBLISH }, { METRIC_receive, LATENCY_RECEIVE }, { METRIC_changelog, LATENCY_CHANGELOG },
	{ METRIC_replica, LATENCY_REPLICA }, { METRIC_end_to_end, LATENCY_LAG },  { METRIC_batch, LATENCY_BATCH },
};

const char *metric_kind_name(enum metric_kind kind)
{
	return kind_names[kind];
}

enum latency metric_latency(enum metric_id id)
{
	size_t i = 0;

	while (i < LATENCIES - 1 && latencies[i].metric != id)
		i++;
	return latencies[i].latency;
}

/*
 * Now
 */

static void fill_ledger(const struct ledger *ledger, struct metric_values *out)
{
	out->of[METRIC_received] = (double)ledger->received;
	out->of[METRIC_written] = (double)ledger->written;
	out->of[METRIC_filtered] = (double)ledger->filtered;
	out->of[METRIC_dead_lettered] = (double)ledger->dead_lettered;
	out->of[METRIC_parked] = (double)ledger->parked;
	out->of[METRIC_repeated] = (double)ledger->repeated;
	out->of[METRIC_rows] = (double)ledger->rows;
}

static double seconds(int64_t us)
{
	return us > 0 ? (double)us / 1e6 : 0;
}

void metrics_of_table(const struct table_progress *table, int64_t now_us, struct metric_values *out)
{
	*out = (struct metric_values){ 0 };
	fill_ledger(&table->total, out);
	out->of[METRIC_bytes] = (double)table->bytes;
	out->of[METRIC_lag] = seconds(table->lag_us);
	out->of[METRIC_replica_waiting] = (double)table->waiting_changes;
	out->of[METRIC_replica_age] = table->waiting_since_us ? seconds(now_us - table->waiting_since_us) : 0;
	out->of[METRIC_committed_age] = table->committed_us ? seconds(now_us - table->committed_us) : 0;
}

static void add_waiting(struct progress *progress, int64_t now_us, struct metric_values *out)
{
	size_t count = progress_table_count(progress);

	for (size_t i = 0; i < count; i++) {
		struct table_progress table;
		double age;

		progress_table(progress, i, &table);
		age = table.waiting_since_us ? seconds(now_us - table.waiting_since_us) : 0;
		out->of[METRIC_replica_waiting] += (double)table.waiting_changes;
		if (age > out->of[METRIC_replica_age])
			out->of[METRIC_replica_age] = age;
	}
}

void metrics_of_job(struct progress *progress, int64_t now_us, struct metric_values *out)
{
	struct progress_view view;

	progress_look(progress, &view);
	*out = (struct metric_values){ 0 };
	fill_ledger(&view.total, out);
	out->of[METRIC_bytes] = (double)view.bytes;
	out->of[METRIC_in_flight] = (double)view.in_flight;
	out->of[METRIC_lag] = seconds(view.lag_us);
	out->of[METRIC_committed_age] = view.committed_us ? seconds(now_us - view.committed_us) : 0;
	add_waiting(progress, now_us, out);
}

/*
 * History
 */

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

/* What a slot holds: how much a counter grew, what a gauge was. */
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
	for (size_t i = 0; i <= metrics->table_count; i++)
		ring_close(&metrics->tables[i].minutes);
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
		metrics->tables[i] = (struct table_metrics){ .last = { { 0 } } };
	metrics->tables[count] = none;
	metrics->table_count = count;
}

static void put_table(struct table_metrics *kept, const struct table_progress *table, int64_t minute, int64_t now_us)
{
	struct metric_values now, grown;
	float values[METRICS];

	metrics_of_table(table, now_us, &now);
	differ(&kept->last, &now, &grown);
	kept->last = now;
	/* The lag of a batch from before this minute is no news. */
	if (grown.of[METRIC_received] <= 0)
		grown.of[METRIC_lag] = 0;
	to_floats(&grown, OF_TABLE, values);
	if (!kept->minutes.pieces)
		ring_open(&kept->minutes, MINUTES_KEPT, kept_fields(OF_TABLE));
	ring_put(&kept->minutes, minute, values);
}

static void put_tables(struct job *job, int64_t minute, int64_t now_us)
{
	size_t count = progress_table_count(job->progress);

	grow_tables(job->metrics, count);
	for (size_t i = 0; i <= count; i++) {
		struct table_progress table;

		progress_table(job->progress, i, &table);
		put_table(&job->metrics->tables[i], &table, minute, now_us);
	}
}

static void put_minute(struct job *job, int64_t next_minute, int64_t now_us)
{
	struct job_metrics *metrics = job->metrics;
	float values[METRICS];

	to_floats(&metrics->in_minute, OF_JOB, values);
	ring_put(&metrics->minutes, metrics->minute, values);
	put_tables(job, metrics->minute, now_us);
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
	fill_ledger(&before, &metrics->last);
	metrics->begun_second = now_ms / 1000;
	metrics->second = metrics->begun_second - 1;
	metrics->minute = now_ms / MINUTE_MS;
	/* What the tables had before is not this minute's. */
	grow_tables(metrics, progress_table_count(job->progress));
	for (size_t i = 0; i <= metrics->table_count; i++) {
		struct table_progress table;

		progress_table(job->progress, i, &table);
		metrics_of_table(&table, now_us, &metrics->tables[i].last);
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
	if (now_ms / MINUTE_MS > job->metrics->minute)
		put_minute(job, now_ms / MINUTE_MS, now_us);
	metrics_of_job(job->progress, now_us, &now);
	differ(&job->metrics->last, &now, &grown);
	if (grown.of[METRIC_received] <= 0)
		grown.of[METRIC_lag] = 0;
	to_floats(&grown, OF_JOB, values);
	/* A late tick and one in time may fall into one second. */
	second = second > job->metrics->second ? second : job->metrics->second + 1;
	ring_put(&job->metrics->seconds, second, values);
	gather(&job->metrics->in_minute, &grown);
	job->metrics->last = now;
	job->metrics->second = second;
	job->metrics->sampled_us = now_us;
}

static size_t field_of(enum metric_id id, enum metric_kept least)
{
	size_t field = 0;

	for (int i = 0; i < (int)id; i++)
		field += metric_table[i].kept >= least;
	return field;
}

double metrics_rate(const struct job_metrics *metrics, enum metric_id id)
{
	double sum = 0;
	int64_t count;

	if (!metrics)
		return 0;
	count = metrics->second - metrics->begun_second + 1;
	count = count < RATE_SECONDS ? count : RATE_SECONDS;
	for (int64_t i = 0; i < count; i++)
		sum += ring_get(&metrics->seconds, metrics->second - i, field_of(id, OF_JOB));
	return sum / (double)count;
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
