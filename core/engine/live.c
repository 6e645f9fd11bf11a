/* What a job shows while this engine knows it, as JSON: from memory alone, so that the control thread may ask. */
#include "base/clock.h"
#include "engine/metrics_private.h"
#include "engine/result_private.h"
#include "runner/runner.h"

#include <math.h>
#include <string.h>

#define LOOK_US 1000000         /* rates of tables are of at least so long */
#define LOOK_OLD_US 15000000    /* nobody has looked for so long: begin anew */

struct job *live_find(struct engine *engine, const char *name)
{
	for (struct job *job = engine->jobs; job; job = job->next) {
		if (strcmp(job->options->name, name) == 0)
			return job;
	}
	return NULL;
}

enum job_state live_own_state(const struct job *job, const struct progress_view *view)
{
	if (job->is_running)
		return job_running_state(job, view);
	if (job->failure.kind != ERROR_NONE)
		return STATE_NEEDS_YOU;
	return atomic_load(&job->wish) == RUN_PAUSE ? STATE_PAUSED : STATE_STOPPED;
}

enum job_state live_state(const struct job *job, const struct progress_view *view)
{
	return job_shown_state(live_own_state(job, view), job->shown.tables);
}

static json_t *rounded(double number)
{
	return json_real(round(number * 10) / 10);
}

/* What flows has a rate; batches, merges and tries are single things, counted by the minute. */
static bool has_rate(const struct metric *metric)
{
	return metric->kind == COUNTER && metric->kept != NOT_KEPT &&
	       (strcmp(metric->unit, "messages") == 0 || strcmp(metric->unit, "rows") == 0 || strcmp(metric->unit, "bytes") == 0);
}

json_t *live_rates(const struct job *job)
{
	json_t *rates = json_object();

	for (int i = 0; i < METRICS; i++) {
		if (has_rate(&metric_table[i]))
			json_object_set_new(rates, metric_table[i].id,
			                    rounded(job->is_running ? metrics_rate(job->metrics, (enum metric_id)i) : 0));
	}
	return rates;
}

static json_t *times_json(const struct recent_latency *recent)
{
	const struct histogram *h = &recent->histogram;

	return json_pack("{s:I, s:o, s:o, s:o, s:s*}", "count", (json_int_t)h->count, "p50_ms",
	                 rounded((double)histogram_percentile(h, 50) / 1000), "p99_ms",
	                 rounded((double)histogram_percentile(h, 99) / 1000), "max_ms", rounded((double)h->max_us / 1000),
	                 "table", recent->table);
}

json_t *live_latencies(const struct job *job)
{
	json_t *all = json_object();

	for (int i = 0; i < METRICS; i++) {
		struct recent_latency recent;

		if (metric_table[i].kind != HISTOGRAM)
			continue;
		progress_recent(job->progress, metric_latency((enum metric_id)i), &recent);
		if (recent.histogram.count)
			json_object_set_new(all, metric_table[i].id, times_json(&recent));
	}
	return all;
}

json_t *live_time(int64_t utc_us)
{
	char text[CLOCK_TEXT_BYTES];

	if (!utc_us)
		return json_null();
	clock_text(utc_us, text);
	return json_string(text);
}

static json_int_t of_minute(const struct job *job, enum metric_id id)
{
	return (json_int_t)llround(metrics_sum(job->metrics, id, 60));
}

/* The sixty seconds up to the last sample. */
static json_t *last_minute_json(const struct job *job)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "received", of_minute(job, METRIC_received), "batches",
	                 of_minute(job, METRIC_batches), "retries", of_minute(job, METRIC_retries), "merges",
	                 of_minute(job, METRIC_merges));
}

static json_t *lag_json(int64_t lag_us)
{
	return lag_us < 0 ? json_null() : json_integer(lag_us / 1000);
}

json_t *live_table(const struct table_progress *table, int64_t now_us, bool with_age)
{
	json_t *object = json_pack("{s:s}", "table", table->name);

	json_object_update_new(object, result_ledger(&table->total, 0));
	json_object_set_new(object, "bytes", json_integer((json_int_t)table->bytes));
	json_object_set_new(object, "lag_ms", lag_json(table->lag_us));
	json_object_set_new(object, "committed", live_time(table->committed_us));
	json_object_set_new(object, "replica_waiting", json_integer((json_int_t)table->waiting_changes));
	json_object_set_new(object, "replica_since", live_time(table->waiting_since_us));
	if (with_age)
		json_object_set_new(object, "replica_age_ms",
		                    json_integer(table->waiting_since_us ? (now_us - table->waiting_since_us) / 1000 : 0));
	return object;
}

json_t *live_short(const struct job *job)
{
	struct progress_view view;
	json_t *object;

	progress_look(job->progress, &view);
	object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "job", job->options->name, "state",
	                   progress_state_name(live_state(job, &view)), "own_state",
	                   progress_state_name(live_own_state(job, &view)), "code",
	                   job->is_running ? view.code : job->failure.code, "sentence",
	                   job->is_running ? view.sentence : job->failure.message, "running", job->is_running);
	json_object_set_new(object, "since", live_time(view.since_us));
	json_object_set_new(object, "requests", json_integer(live_requests(job)));
	json_object_update_new(object, result_ledger(&view.total, view.in_flight));
	json_object_set_new(object, "lag_ms", lag_json(view.lag_us));
	json_object_set_new(object, "rates", live_rates(job));
	return object;
}

static void add_replica(json_t *object, const struct job *job)
{
	int64_t since_us = 0;
	uint64_t waiting = 0;
	size_t count = progress_table_count(job->progress);

	for (size_t i = 0; i < count; i++) {
		struct table_progress table;

		progress_table(job->progress, i, &table);
		waiting += table.waiting_changes;
		if (table.waiting_since_us && (!since_us || table.waiting_since_us < since_us))
			since_us = table.waiting_since_us;
	}
	json_object_set_new(object, "replica_waiting", json_integer((json_int_t)waiting));
	json_object_set_new(object, "replica_since", live_time(since_us));
}

/* Of a destination that is a service: what is under way there, and how fast rows get in. */
static void add_sink(json_t *object, const struct job *job)
{
	struct sink_figures *figures = progress_figures(job->progress);
	const char *service = atomic_load(&figures->service);
	uint64_t requests = atomic_load(&figures->requests), answers = atomic_load(&figures->answers);
	json_t *sink;

	if (!service)
		return;
	sink = json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I}", "service", service, "emulator", (int)atomic_load(&figures->is_emulator),
	                 "requests", (json_int_t)requests, "answers", (json_int_t)answers, "in_flight",
	                 (json_int_t)(requests > answers && job->is_running ? requests - answers : 0), "rows",
	                 (json_int_t)atomic_load(&figures->rows), "bytes", (json_int_t)atomic_load(&figures->bytes));
	json_object_set_new(sink, "answered", live_time(atomic_load(&figures->answered_us)));
	json_object_set_new(sink, "rows_rate", rounded(job->is_running ? metrics_rate(job->metrics, METRIC_rows) : 0));
	json_object_set_new(sink, "bytes_rate", rounded(job->is_running ? metrics_rate(job->metrics, METRIC_written_bytes) : 0));
	json_object_set_new(object, "sink", sink);
}

json_t *live_full(const struct job *job)
{
	json_t *object = live_short(job);
	struct progress_view view;

	progress_look(job->progress, &view);
	json_object_set_new(object, "bytes", json_integer((json_int_t)view.bytes));
	json_object_set_new(object, "committed", live_time(view.committed_us));
	json_object_set_new(object, "this_run", result_ledger(&view.this_run, view.in_flight));
	json_object_set_new(object, "latency", live_latencies(job));
	json_object_set_new(object, "activity", live_activity(job));
	add_replica(object, job);
	live_add_source(object, job);
	add_sink(object, job);
	live_add_letters(object, job);
	return object;
}

/* The age of the newest number: rates are those of the last sample, an ended job's are those of its last batch. */
static json_t *age_json(const struct job *job, int64_t now_us)
{
	struct progress_view view;
	int64_t newest_us;

	progress_look(job->progress, &view);
	newest_us = !job->is_running ? view.committed_us : job->metrics ? job->metrics->sampled_us : now_us;
	return newest_us ? json_integer((now_us - newest_us) / 1000) : json_null();
}

/*
 * Tables.
 */
static double rate(uint64_t now, uint64_t before, int64_t us)
{
	return now > before ? (double)(now - before) * 1e6 / (double)us : 0;
}

static void table_look(struct table_look *look, const struct table_progress *table, int64_t now_us)
{
	int64_t us = now_us - look->at_us;

	if (look->at_us && us >= 0 && us < LOOK_US)
		return;
	if (look->at_us && us > 0 && us < LOOK_OLD_US) {
		look->received_rate = rate(table->total.received, look->received, us);
		look->written_rate = rate(table->total.written, look->written, us);
		look->dead_lettered_rate = rate(table->total.dead_lettered, look->dead_lettered, us);
	}
	look->at_us = now_us;
	look->received = table->total.received;
	look->written = table->total.written;
	look->dead_lettered = table->total.dead_lettered;
}

/* Nothing enters it: that stands above what its letters say, but for a table that needs somebody for those. */
static void trouble_add(json_t *object, const struct table_progress *table)
{
	const char *state = json_string_value(json_object_get(object, "state"));
	const char *word = progress_state_name(table->needs_you ? STATE_NEEDS_YOU : STATE_WAITING);
	char since[CLOCK_TEXT_BYTES], until[CLOCK_TEXT_BYTES];

	if (!table->needs_you && state && strcmp(state, progress_state_name(STATE_NEEDS_YOU)) == 0 &&
	    !json_object_get(object, "trouble"))
		return;
	clock_text(table->since_us, since);
	clock_text(table->until_us, until);
	json_object_set_new(object, "state", json_string(word));
	json_object_set_new(object, "code", json_string(table->code));
	json_object_set_new(object, "reason", json_string(table->code));
	json_object_set_new(object, "sentence", json_string(table->sentence));
	json_object_set_new(object, "since", json_string(since));
	json_object_set_new(object, "until", json_string(until));
	json_object_set_new(object, "trouble", json_true());
}

static void table_add(json_t *object, const struct job *job, size_t index, int64_t now_us)
{
	static const struct table_look at_rest;
	const struct table_look *look = &at_rest;
	struct table_progress table;

	progress_table(job->progress, index, &table);
	if (job->metrics && job->is_running && index < job->metrics->table_count) {
		table_look(&job->metrics->tables[index].look, &table, now_us);
		look = &job->metrics->tables[index].look;
	}
	json_object_set_new(object, "lag_ms", lag_json(table.lag_us));
	if (job->is_running && table.has_trouble)
		trouble_add(object, &table);
	if (table.has_replica)
		json_object_set_new(object, "replica_age_ms",
		                    json_integer(table.waiting_since_us ? (now_us - table.waiting_since_us) / 1000 : 0));
	json_object_set_new(object, "rates", json_pack("{s:o, s:o, s:o}", "received", rounded(look->received_rate), "written",
	                                               rounded(look->written_rate), "dead_lettered",
	                                               rounded(look->dead_lettered_rate)));
}

void live_add_tables(const json_t *tables, const struct job *job)
{
	json_t *by_name = json_object(), *table;
	size_t i, count = progress_table_count(job->progress);
	int64_t now_us = clock_utc_us();

	json_array_foreach(tables, i, table)
		json_object_set(by_name, json_string_value(json_object_get(table, "table")), table);
	for (i = 0; i < count; i++) {
		struct table_progress progress;

		progress_table(job->progress, i, &progress);
		table = json_object_get(by_name, progress.name);
		if (table)
			table_add(table, job, i, now_us);
	}
	json_decref(by_name);
}

void live_add_row(struct engine *engine, const char *job_name, json_t *table)
{
	json_t *rows = json_pack("[O]", table);
	const struct job *job;

	pthread_mutex_lock(&engine->lock);
	job = live_find(engine, job_name);
	if (job)
		live_add_tables(rows, job);
	pthread_mutex_unlock(&engine->lock);
	json_decref(rows);
}

void live_add(json_t *line, const struct job *job)
{
	struct progress_view view;

	progress_look(job->progress, &view);
	json_object_set_new(line, "activity", live_activity(job));
	json_object_set_new(line, "last_minute", last_minute_json(job));
	json_object_set_new(line, "queue", json_pack("{s:I, s:i}", "batches", (json_int_t)view.queued, "of", RUN_BATCHES));
	json_object_set_new(line, "since", live_time(view.since_us));
	json_object_set_new(line, "until", live_time(view.until_us));
	json_object_set_new(line, "rates", live_rates(job));
	json_object_set_new(line, "lag_ms", lag_json(view.lag_us));
	json_object_set_new(line, "latency", live_latencies(job));
	json_object_set_new(line, "committed", live_time(view.committed_us));
	json_object_set_new(line, "age_ms", age_json(job, clock_utc_us()));
	add_replica(line, job);
	live_add_source(line, job);
	add_sink(line, job);
	live_add_letters(line, job);
	live_add_tables(json_object_get(line, "tables"), job);
}
