/* The jobs that benchmarks run: ordinary job files on a generated or a given feed. */
#include "base/arena.h"
#include "base/file.h"
#include "bench/bench_private.h"
#include "runner/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define JOB_TEXT_MAX (64u << 10)
#define ENDING_LOOK_NS 5000000

bool bench_job_feed(struct bench *bench, const struct bench_row *row, const struct bench_job *job,
                    const struct bench_lines *lines, struct error *err)
{
	struct generator_setup setup = { .seed = GENERATE_SEED, .rows = row->rows, .youngest = lines->youngest,
	                                 .more_words = row->more_words, .has_schema = row->has_schema, .is_flat = row->is_flat };
	struct generator_span span = {
		.first = lines->first, .count = lines->count, .is_cancelled = &bench->is_cancelled,
	};
	struct generator *generator = generator_new(&setup);
	bool is_fine = generator_append(generator, job->feed, &span, err);

	generator_free(generator);
	return is_fine;
}

/* Only the changelog goes to BigQuery: a replica there is not what is measured. */
static json_t *warehouse_json(const char *mode)
{
	if (strcmp(mode, BENCH_MODE_ROWS) == 0)
		return json_pack("{s:s, s:s, s:s, s:b, s:b}", "warehouse", "bigquery", "outputDatasetTemplate", BENCH_LOG_DATASET,
		                 "outputTableNameTemplate", "orders", "useStorageWriteApi", true, "useStorageWriteApiAtLeastOnce", true);
	if (strcmp(mode, BENCH_MODE_BIGQUERY) == 0)
		return json_pack("{s:s, s:s, s:s, s:b, s:b}", "warehouse", "bigquery", "replicationMode", "changelog", "changeLogDataset",
		                 BENCH_LOG_DATASET, "useStorageWriteApi", true, "useStorageWriteApiAtLeastOnce", true);
	return json_pack("{s:s, s:s, s:s, s:s}", "warehouse", "local", "replicationMode", mode, "changeLogDataset",
	                 BENCH_LOG_DATASET, "replicaDataset", "bench");
}

static json_t *job_json(const struct bench_job *job, const struct bench_row *row, const char *mode, const char *schema)
{
	json_t *parameters = warehouse_json(mode);
	bool has_rows = strcmp(mode, BENCH_MODE_ROWS) == 0, is_local = !has_rows && strcmp(mode, BENCH_MODE_BIGQUERY) != 0;

	if (row->is_pulled)
		json_object_set_new(parameters, has_rows ? "inputSubscription" : "inputSubscriptions",
		                    json_string("projects/bench/subscriptions/bench"));
	else
		json_object_set_new(parameters, "inputFile", json_string(job->feed));
	if (schema)
		json_object_set_new(parameters, "sourceSchema", json_string(schema));
	return json_pack("{s:s, s:s, s:s*, s:o}", "name", "bench", "template",
	                 has_rows ? "PubSub_CDC_to_BigQuery" : "Cdc_To_BigQuery_Template", "project",
	                 is_local ? NULL : BENCH_PROJECT, "parameters", parameters);
}

static bool job_write(const struct bench *bench, const struct bench_row *row, const char *mode, struct bench_job *job,
                      struct error *err)
{
	char *schema = path_join(bench->folder, "schema.json");
	bool needs_schema = job->is_made && !row->has_schema && !row->is_flat, is_fine;
	json_t *json = job_json(job, row, mode, needs_schema ? schema : NULL);
	char *text = json_dumps(json, JSON_INDENT(1));

	is_fine = (!needs_schema || generator_source_schema(schema, err)) &&
	          file_replace(job->file, span_of(text), err);
	json_decref(json);
	free(text);
	free(schema);
	return is_fine;
}

static bool job_read(struct bench_job *job, struct error *err)
{
	struct option_problems problems = { 0 };

	job->options = job_options_load(job->file, NULL, 0, &problems);
	if (!job->options)
		option_problems_error(&problems, job->file, err);
	option_problems_free(&problems);
	return job->options && job_options_startable(job->options, err);
}

bool bench_job_open(struct bench *bench, const struct bench_row *row, const char *mode,
                    const struct bench_lines *lines, struct bench_job *out, struct error *err)
{
	struct bench_job job = {
		.feed = bench->feed ? memory_string(bench->feed) : path_join(bench->folder, "feed.jsonl"),
		.is_made = !bench->feed,
		.file = path_join(bench->folder, "bench.json"),
	};

	if (!home_make(bench->home, err) || (job.is_made && !bench_job_feed(bench, row, &job, lines, err)) ||
	    !job_write(bench, row, mode, &job, err) || !job_read(&job, err)) {
		bench_job_close(&job);
		return false;
	}
	*out = job;
	return true;
}

void bench_job_close(struct bench_job *job)
{
	free(job->feed);
	free(job->file);
	job_options_free(job->options);
	*job = (struct bench_job){ 0 };
}

struct sink_setup bench_sink_setup(const struct bench *bench, const struct bench_job *job)
{
	return (struct sink_setup){
		.options = job->options,
		.warehouse = bench->home->warehouse,
		.cache_bytes = job->options->local_cache_bytes / 2,
	};
}

/* A fast run that has lost or refused messages is no result. A given feed may have messages that are no rows. */
static bool ledger_check(const struct bench_job *job, const struct progress_view *view, struct error *err)
{
	const struct ledger *l = &view->this_run;

	if (!ledger_balances(l, view->in_flight))
		return fail(err, ERROR_BUG, "bench_failed", "the ledger of the run does not balance: received %" PRIu64
		            ", written %" PRIu64 ", filtered %" PRIu64 ", dead-lettered %" PRIu64 ", parked %" PRIu64,
		            l->received, l->written, l->filtered, l->dead_lettered, l->parked);
	if (job->is_made && (l->written != l->received || l->repeated))
		return fail(err, ERROR_BUG, "bench_failed", "of %" PRIu64 " generated messages %" PRIu64 " were written and %"
		            PRIu64 " were repeats", l->received, l->written, l->repeated);
	return true;
}

/* From here on the kernel counts what is resident at most anew. */
static void peak_forget(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "5", 1) != 1)
		errno = 0;
	close(fd);
}

/* Who drains a run that would only wait for more. */
struct ending {
	struct progress *progress;
	uint64_t enough;
	atomic_int *wish;
	atomic_bool is_over;
};

static void *drain_at_enough(void *context)
{
	struct ending *ending = context;
	const struct timespec a_moment = { .tv_nsec = ENDING_LOOK_NS };
	struct progress_view *view = memory_alloc(sizeof(*view));

	for (;;) {
		progress_look(ending->progress, view);
		if (view->this_run.written >= ending->enough)
			run_wish_for(ending->wish, RUN_DRAIN);
		if (view->this_run.written >= ending->enough || atomic_load(&ending->is_over))
			break;
		nanosleep(&a_moment, NULL);
	}
	free(view);
	return NULL;
}

/* The run, which ends by itself or, with `enough`, when it has that. */
static bool run_to_end(struct bench *bench, const struct bench_job *job, struct run_setup *setup, struct error *err)
{
	struct ending ending = { .progress = setup->progress, .enough = job->enough, .wish = &bench->wish };
	pthread_t thread;
	bool is_fine;

	if (!job->enough)
		return run_local(setup, err);
	if (pthread_create(&thread, NULL, drain_at_enough, &ending) != 0)
		return fail(err, ERROR_TRANSIENT, "no_threads", "cannot make a thread that ends the run");
	is_fine = run_local(setup, err);
	atomic_store(&ending.is_over, true);
	pthread_join(thread, NULL);
	/* For the next run. After ^C there is none. */
	atomic_store(&bench->wish, RUN_ON);
	return is_fine;
}

bool bench_job_run(struct bench *bench, const struct bench_job *job, struct bench_run *out, struct error *err)
{
	struct progress *progress = progress_new();
	struct error note = { 0 };
	struct run_setup setup = {
		.options = job->options,
		.home = bench->home,
		.progress = progress,
		.until_idle = true,
		.wish = &bench->wish,
		.google = job->google,
		.out_note = &note,
	};
	memory_give_back(); /* what making the feed took is no job's */
	peak_forget();

	double begun_s = bench_now_s(), begun_cpu_s = bench_cpu_s();
	bool is_fine = run_to_end(bench, job, &setup, err);
	double wall_s = bench_now_s() - begun_s, cpu_s = bench_cpu_s() - begun_cpu_s;
	struct histogram safe;
	struct progress_view view;

	progress_look(progress, &view);
	progress_latency(progress, LATENCY_CHANGELOG, &safe);
	progress_free(progress);
	if (!is_fine || !bench_cancelled(bench, err) || !ledger_check(job, &view, err))
		return false;
	*out = (struct bench_run){
		wall_s, cpu_s, view.this_run.received, view.this_run.rows,
		(double)bench_proc_number("/proc/self/status", "VmHWM:") / 1024,
		(double)histogram_percentile(&safe, 99) / 1000,
	};
	return true;
}

struct difference {
	char text[300];
};

static void note_difference(void *context, const struct verify_table *table)
{
	struct difference *difference = context;

	if (!table->is_equal)
		snprintf(difference->text, sizeof(difference->text), "%s: %s", table->table,
		         table->first_difference ? table->first_difference : "differs");
}

bool bench_job_verify(struct bench *bench, const struct bench_job *job, struct error *err)
{
	struct sink_setup setup = bench_sink_setup(bench, job);
	struct difference difference = { "" };
	bool is_equal = false;

	if (!verify_run(&setup, note_difference, &difference, &is_equal, err))
		return false;
	return is_equal || fail(err, ERROR_BUG, "bench_failed", "the replica differs from its changelog after the run: %s",
	                        difference.text);
}
