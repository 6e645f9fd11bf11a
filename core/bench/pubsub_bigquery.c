/*
 * pubsub_bigquery and pubsub_cdc_bigquery: changes of a database, or rows as they are,
 * through StreamingPull into BigQuery by a job of this process, until all of them are
 * acknowledged; both servers are ours, in C. Then the same at half of that rate, for
 * how late messages are. Google's Go client of Pub/Sub, beside it, only receives and
 * acknowledges as many messages: what differs is in its favour.
 */
#include "bench/bench_private.h"
#include "google/google.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define MESSAGE_DISK_BYTES 3000

static bool run(struct bench *bench, struct bench_job *job, uint64_t messages_per_s, struct bench_run *out, struct error *err)
{
	struct bench_talker server;
	char target[40];
	bool is_fine;

	if (!bench_pubsub_start(bench, job->feed, messages_per_s, &server, target, err))
		return false;
	job->google = google_open(&(struct google_setup){ .project = BENCH_PROJECT });
	job->enough = BENCH_MESSAGES;
	is_fine = bench_job_run(bench, job, out, err);
	google_close(job->google);
	job->google = NULL;
	return bench_pubsub_end(bench, &server, is_fine, err);
}

static bool at_full_load(struct bench *bench, struct bench_job *job, struct bench_through *out, struct error *err)
{
	struct bench_run done;

	if (!run(bench, job, 0, &done, err))
		return false;
	out->rate = (double)done.rows / done.wall_s;
	out->cpu = done.cpu_s / (double)done.rows * 1e6;
	out->peak_mib = done.peak_mib;
	out->rows += done.rows;
	return true;
}

static bool at_half_load(struct bench *bench, struct bench_job *job, struct bench_through *out, struct error *err)
{
	struct bench_run done;

	out->half_rate = out->rate / 2;
	if (!run(bench, job, (uint64_t)out->half_rate + 1, &done, err))
		return false;
	out->p99_ms = done.p99_ms;
	out->rows += done.rows;
	return true;
}

/* One after the other into the same table. */
static bool ours(struct bench *bench, struct bench_job *job, struct bench_through *out, struct error *err)
{
	struct bench_warehouse warehouse;
	bool is_fine;
	uint64_t rows;

	bench_settle();
	if (!bench_warehouse_start(bench, &warehouse, err))
		return false;
	is_fine = at_full_load(bench, job, out, err) && at_half_load(bench, job, out, err);
	if (!bench_warehouse_end(bench, &warehouse, is_fine, &rows, err))
		return false;
	return (rows == out->rows && rows == 2 * BENCH_MESSAGES) ||
	       fail(err, ERROR_BUG, "bench_failed", "%" PRIu64 " rows were confirmed and %" PRIu64 " came", out->rows, rows);
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

static struct bench_through *through_of(struct bench *bench, const struct bench_row *row)
{
	return row->is_flat ? &bench->flat : &bench->through;
}

/* Both rows are of one measurement: the second one asked for in a call repeats nothing. */
static bool measure(struct bench *bench, const struct bench_row *row, bool *out_skipped, struct error *err)
{
	struct bench_lines lines = { .first = row->is_flat ? 0 : row->rows, .count = BENCH_MESSAGES };
	struct bench_through *through = through_of(bench, row);
	struct bench_job job;

	if (through->is_measured)
		return true;
	*out_skipped = !is_built() || !bench_has_room(bench, row, BENCH_MESSAGES * MESSAGE_DISK_BYTES);
	if (*out_skipped)
		return true;
	if (!bench_job_open(bench, row, row->is_flat ? BENCH_MODE_ROWS : BENCH_MODE_BIGQUERY, &lines, &job, err))
		return false;
	through->is_measured = ours(bench, &job, through, err) &&
	                       bench_pubsub_go(bench, &through->go_rate, &through->go_cpu, err);
	bench_job_close(&job);
	return through->is_measured;
}

bool bench_pubsub_bigquery(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	const struct bench_through *through = through_of(bench, row);

	if (!measure(bench, row, &out->is_skipped, err))
		return false;
	out->value = through->rate;
	out->baseline_value = through->go_rate;
	if (!out->is_skipped)
		out->more = json_pack("{s:f, s:f, s:f}", "peak_mib", through->peak_mib, "half_messages_per_s", through->half_rate, "p99_ms",
		                      through->p99_ms);
	return true;
}

bool bench_pubsub_bigquery_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	const struct bench_through *through = through_of(bench, row);

	if (!measure(bench, row, &out->is_skipped, err))
		return false;
	out->value = through->cpu;
	out->baseline_value = through->go_cpu;
	return true;
}
