/*
 * pubsub_bigquery: changes of a database through StreamingPull into a changelog at
 * BigQuery by a job of this process, until all of them are acknowledged; both
 * servers are ours, in C. Google's Go client of Pub/Sub, beside it, only receives
 * and acknowledges as many messages: what differs is in its favour.
 */
#include "bench/bench_private.h"
#include "google/google.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define MESSAGE_DISK_BYTES 3000

static bool run(struct bench *bench, struct bench_job *job, struct bench_run *out, struct error *err)
{
	struct bench_talker server;
	char target[40];
	bool is_fine;

	if (!bench_pubsub_start(bench, job->feed, &server, target, err))
		return false;
	job->google = google_open(&(struct google_setup){ .project = BENCH_PROJECT });
	job->enough = BENCH_MESSAGES;
	is_fine = bench_job_run(bench, job, out, err);
	google_close(job->google);
	job->google = NULL;
	return bench_pubsub_end(bench, &server, is_fine, err);
}

static bool ours(struct bench *bench, struct bench_job *job, struct error *err)
{
	struct bench_warehouse warehouse;
	struct bench_run done;
	uint64_t rows;

	bench_settle();
	if (!bench_warehouse_start(bench, &warehouse, err) ||
	    !bench_warehouse_end(bench, &warehouse, run(bench, job, &done, err), &rows, err))
		return false;
	if (rows != done.rows || rows != BENCH_MESSAGES)
		return fail(err, ERROR_BUG, "bench_failed", "%" PRIu64 " rows were confirmed and %" PRIu64 " came", done.rows, rows);
	bench->through.rate = (double)rows / done.wall_s;
	bench->through.cpu = done.cpu_s / (double)rows * 1e6;
	return true;
}

static bool is_built(void)
{
	static const char *const names[] = { "emulators", "tests/emulators/fast_pubsub", "tests/emulators/fast_bigquery" };
	bool is_there = true;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *program = bench_program(names[i]);

		is_there = is_there && access(program, X_OK) == 0;
		free(program);
	}
	if (!is_there)
		fputs("bench: the test servers of Pub/Sub and BigQuery are not built beside weird (make google): skipped\n", stderr);
	return is_there;
}

/* Both rows are of one measurement: the second one asked for in a call repeats nothing. */
static bool measure(struct bench *bench, const struct bench_row *row, bool *out_skipped, struct error *err)
{
	struct bench_lines lines = { .first = row->rows, .count = BENCH_MESSAGES };
	struct bench_job job;
	bool is_fine;

	if (bench->through.is_measured)
		return true;
	*out_skipped = !is_built() || !bench_has_room(bench, row, BENCH_MESSAGES * MESSAGE_DISK_BYTES);
	if (*out_skipped)
		return true;
	if (!bench_job_open(bench, row, BENCH_MODE_BIGQUERY, &lines, &job, err))
		return false;
	is_fine = ours(bench, &job, err) && bench_pubsub_go(bench, &bench->through.go_rate, &bench->through.go_cpu, err);
	bench->through.is_measured = is_fine;
	bench_job_close(&job);
	return is_fine;
}

bool bench_pubsub_bigquery(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	if (!measure(bench, row, &out->is_skipped, err))
		return false;
	out->value = bench->through.rate;
	out->baseline_value = bench->through.go_rate;
	return true;
}

bool bench_pubsub_bigquery_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	if (!measure(bench, row, &out->is_skipped, err))
		return false;
	out->value = bench->through.cpu;
	out->baseline_value = bench->through.go_cpu;
	return true;
}
