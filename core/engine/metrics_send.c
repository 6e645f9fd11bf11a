/*
 * `weir status --metrics`: every metric of the table with its samples, one object
 * a metric and job, all objects of a metric in a row. A running job's numbers come
 * from memory, another's from its files.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "engine/commands_private.h"
#include "engine/metrics_private.h"
#include "engine/result_private.h"
#include "runner/runner.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Upper ends that are exported: the histogram itself has four for each power of two. */
static const uint64_t bucket_ends_us[] = { 1000,    2500,    5000,    10000,   25000,    50000,    100000,    250000,
	                                   500000,  1000000, 2500000, 5000000, 10000000, 30000000, 60000000,  300000000,
	                                   900000000, 3600000000, 21600000000, 86400000000 };

struct numbers {
	char *job;
	enum job_state state;
	bool is_running;
	struct metric_values of_job;
	struct histogram latencies[LATENCIES];
	char **tables;
	struct metric_values *of_tables;
	size_t table_count;
};

struct all_numbers {
	struct numbers *jobs;
	size_t count;
};

/*
 * Gathering
 */

static void add_table(struct numbers *numbers, const char *name, const struct metric_values *values)
{
	size_t count = numbers->table_count + 1;

	numbers->tables = memory_grow(numbers->tables, count * sizeof(*numbers->tables));
	numbers->of_tables = memory_grow(numbers->of_tables, count * sizeof(*numbers->of_tables));
	numbers->tables[count - 1] = memory_string(name);
	numbers->of_tables[count - 1] = *values;
	numbers->table_count = count;
}

static void take_live(struct numbers *numbers, const struct job *job)
{
	size_t count = progress_table_count(job->progress);
	int64_t now_us = clock_utc_us();

	metrics_of_job(job->progress, now_us, &numbers->of_job);
	for (int i = 0; i < LATENCIES; i++)
		progress_latency(job->progress, (enum latency)i, &numbers->latencies[i]);
	for (size_t i = 0; i <= count; i++) {
		struct table_progress table;
		struct metric_values values;

		progress_table(job->progress, i, &table);
		metrics_of_table(&table, now_us, &values);
		if (i < count || table.total.received)
			add_table(numbers, table.name, &values);
	}
}

static bool take_running(struct engine *engine, struct numbers *numbers)
{
	const struct job *job;

	pthread_mutex_lock(&engine->lock);
	job = live_find(engine, numbers->job);
	/* What has not been opened yet knows less than its files. */
	numbers->is_running = job && job->is_running;
	if (numbers->is_running)
		take_live(numbers, job);
	pthread_mutex_unlock(&engine->lock);
	return numbers->is_running && numbers->table_count;
}

static bool take_files(struct engine *engine, const struct job_options *options, struct numbers *numbers,
                       struct error *err)
{
	struct job_files files;
	struct ledger sum = { 0 };
	struct table_progress all = { .lag_us = -1 };
	struct metric_values live = numbers->of_job;

	if (!files_open(&files, engine->home, options, err))
		return because(err, "job '%s'", options->name);
	for (size_t i = 0; i <= files.state.table_count; i++) {
		struct table_progress table = { .total = *files_ledger(&files, i), .lag_us = -1 };
		struct metric_values values;
		char name[2300];

		result_table_name(options, files_schema(&files, i), name, sizeof(name));
		ledger_add(&sum, &table.total);
		metrics_of_table(&table, 0, &values);
		if (i < files.state.table_count || table.total.received)
			add_table(numbers, name, &values);
	}
	files_close(&files);
	all.total = sum;
	metrics_of_table(&all, 0, &numbers->of_job);
	metrics_keep_source(numbers->is_running ? &live : NULL, &numbers->of_job);
	return true;
}

/* What `weir status` shows. Files that cannot be read leave the job's own word. */
static enum job_state state_shown(struct call *call, const struct job_options *options)
{
	struct error ignored = { 0 };
	json_t *line = job_line(call, options, false, &ignored);
	struct job_standing standing;
	enum job_state state;

	if (!line) {
		job_standing(call->engine, options->name, &standing);
		return standing.state;
	}
	state = result_shown_state(line);
	json_decref(line);
	return state;
}

static bool gather(struct call *call, const struct job_options *options, void *context, struct error *err)
{
	struct all_numbers *all = context;
	struct numbers *numbers;

	all->jobs = memory_grow(all->jobs, (all->count + 1) * sizeof(*all->jobs));
	numbers = &all->jobs[all->count++];
	*numbers = (struct numbers){ .job = memory_string(options->name) };
	numbers->state = state_shown(call, options);
	if (!take_running(call->engine, numbers) && !take_files(call->engine, options, numbers, err))
		return false;
	numbers->of_job.of[METRIC_running] = numbers->is_running ? 1 : 0;
	return true;
}

static void free_numbers(struct all_numbers *all)
{
	for (size_t i = 0; i < all->count; i++) {
		struct numbers *numbers = &all->jobs[i];

		for (size_t t = 0; t < numbers->table_count; t++)
			free(numbers->tables[t]);
		free(numbers->tables);
		free(numbers->of_tables);
		free(numbers->job);
	}
	free(all->jobs);
}

/*
 * Sending
 */

static bool send_metric(struct call *call, enum metric_id id, const char *job, json_t *samples)
{
	const struct metric *metric = &metric_table[id];
	json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:s}", "metric", metric->name, "id", metric->id, "kind",
	                         metric_kind_name(metric->kind), "unit", metric->unit, "help", metric->help);

	if (job)
		json_object_set_new(line, "job", json_string(job));
	json_object_set_new(line, "samples", samples);
	return call_line(call, line);
}

/* A count stays a whole number. */
static json_t *number_json(double value)
{
	return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *sample(json_t *labels, double value)
{
	return json_pack("{s:o, s:o}", "labels", labels, "value", number_json(value));
}

static json_t *table_samples(const struct numbers *numbers, enum metric_id id)
{
	json_t *samples = json_array();

	for (size_t i = 0; i < numbers->table_count; i++)
		json_array_append_new(samples, sample(json_pack("{s:s, s:s}", "job", numbers->job, "table",
		                                                numbers->tables[i]),
		                                      numbers->of_tables[i].of[id]));
	return samples;
}

static json_t *state_samples(const struct numbers *numbers)
{
	json_t *samples = json_array();

	for (int i = 0; i < JOB_STATES; i++)
		json_array_append_new(samples, sample(json_pack("{s:s, s:s}", "job", numbers->job, "state",
		                                                progress_state_name((enum job_state)i)),
		                                      numbers->state == (enum job_state)i));
	return samples;
}

static json_t *histogram_sample(const struct numbers *numbers, enum metric_id id)
{
	const struct histogram *h = &numbers->latencies[metric_latency(id)];
	json_t *buckets = json_array();

	for (size_t i = 0; i < sizeof(bucket_ends_us) / sizeof(bucket_ends_us[0]); i++)
		json_array_append_new(buckets, json_pack("[f, I]", (double)bucket_ends_us[i] / 1e6,
		                                         (json_int_t)histogram_below(h, bucket_ends_us[i])));
	return json_pack("[{s:{s:s}, s:I, s:f, s:o}]", "labels", "job", numbers->job, "count", (json_int_t)h->count, "sum",
	                 (double)h->sum_us / 1e6, "buckets", buckets);
}

static json_t *job_samples(const struct numbers *numbers, enum metric_id id)
{
	const struct metric *metric = &metric_table[id];

	if (id == METRIC_state)
		return state_samples(numbers);
	if (metric->kind == HISTOGRAM)
		return histogram_sample(numbers, id);
	if (metric->scope == SCOPE_TABLE)
		return table_samples(numbers, id);
	return json_pack("[o]", sample(json_pack("{s:s}", "job", numbers->job), numbers->of_job.of[id]));
}

double metrics_resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (file && fscanf(file, "%*u %llu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double cpu_seconds(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return 0;
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void of_engine(struct engine *engine, struct metric_values *out)
{
	*out = (struct metric_values){ 0 };
	out->of[METRIC_uptime] = (double)(clock_mono_ms() - engine->started_ms) / 1000;
	out->of[METRIC_cpu] = cpu_seconds();
	out->of[METRIC_memory] = metrics_resident_bytes();
	pthread_mutex_lock(&engine->lock);
	out->of[METRIC_running_jobs] = engine->running_jobs;
	pthread_mutex_unlock(&engine->lock);
}

bool metrics_send(struct call *call, const char *only, struct error *err)
{
	struct all_numbers all = { 0 };
	struct metric_values engine;
	bool is_fine = job_each(call, only, gather, &all, err);

	of_engine(call->engine, &engine);
	for (int id = 0; id < METRICS; id++) {
		if (metric_table[id].scope == SCOPE_ENGINE)
			send_metric(call, (enum metric_id)id, NULL, json_pack("[o]", sample(json_object(), engine.of[id])));
		for (size_t i = 0; metric_table[id].scope != SCOPE_ENGINE && i < all.count; i++)
			send_metric(call, (enum metric_id)id, all.jobs[i].job, job_samples(&all.jobs[i], (enum metric_id)id));
	}
	free_numbers(&all);
	return is_fine;
}
