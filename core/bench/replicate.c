/*
 * `changelog`, `replica` and `replica_10m`: a real job on a feed, timed from its
 * start until all is committed, merged and closed; then the same rows by plain
 * SQLite. The replica's rows exist before the timed part: it is a stream of
 * updates with random keys among them. `replica_10m` also has a stream of updates
 * among the youngest rows, beside the same in a small table.
 */
#include "bench/bench_private.h"

#include <inttypes.h>

/* Disk that a message takes in the feed, in both changelogs and in the script; a row in replica, copy and scratch. */
#define MESSAGE_DISK_BYTES 5000
#define ROW_DISK_BYTES 5000
#define YOUNGEST_ROWS UINT64_C(50000)
#define SMALL_ROWS UINT64_C(100000)

static bool has_room(struct bench *bench, const struct bench_row *row, bool has_replica)
{
	uint64_t bytes = BENCH_MESSAGES * MESSAGE_DISK_BYTES + (has_replica ? row->rows * ROW_DISK_BYTES : 0);

	return bench->feed || bench_has_room(bench, row, bytes);
}

static bool measure(struct bench *bench, const struct bench_job *job, struct baseline *baseline,
                    struct bench_result *out, struct error *err)
{
	struct bench_run run, plain;

	bench_settle();
	if (!bench_job_run(bench, job, &run, err))
		return false;
	if (!baseline_script(bench, baseline, err))
		return false;
	if (!baseline->rows || (job->is_made && baseline->rows != run.messages))
		return fail(err, ERROR_BUG, "bench_failed", "the changelog has %" PRIu64 " rows of %" PRIu64 " messages",
		            baseline->rows, run.messages);
	if (!baseline_play(baseline, &plain, err) || !bench_cancelled(bench, err))
		return false;
	out->value = (double)baseline->rows / run.wall_s;
	out->baseline_value = (double)plain.rows / plain.wall_s;
	out->more = json_pack("{s:f, s:f, s:f, s:f, s:f}", "cpu_s_per_million", run.cpu_s / (double)baseline->rows * 1e6,
	                      "baseline_cpu_s_per_million", plain.cpu_s / (double)plain.rows * 1e6, "peak_mib", run.peak_mib,
	                      "times_limit_cpu", run.cpu_s / (double)baseline->rows / plain.cpu_s * (double)plain.rows, "sync_ms",
	                      bench_limits_sync_ms(bench));
	return true;
}

/* Behind what is timed; no figure is said before it. */
static bool verify(struct bench *bench, const struct bench_job *job, struct error *err)
{
	return job->options->replication_mode != REPLICATION_MERGE || bench_job_verify(bench, job, err);
}

static bool run_and_measure(struct bench *bench, const struct bench_job *job, struct bench_result *out,
                            struct error *err)
{
	struct baseline baseline;
	bool is_fine;

	if (!baseline_take(bench, job, &baseline, err))
		return false;
	is_fine = measure(bench, job, &baseline, out, err) && (!bench->feed || bench_describe_feed(bench, job, out, err));
	baseline_clear(&baseline);
	return is_fine;
}

bool bench_changelog(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	struct bench_lines lines = { .first = row->rows, .count = BENCH_MESSAGES };
	struct bench_job job;
	bool is_fine;

	out->is_skipped = !has_room(bench, row, false);
	if (out->is_skipped)
		return true;
	if (!bench_job_open(bench, row, "changelog", &lines, &job, err))
		return false;
	is_fine = run_and_measure(bench, &job, out, err) && verify(bench, &job, err);
	bench_job_close(&job);
	return is_fine;
}

/* The rows are made by the same job; the stream is then appended to its feed. */
static bool fill(struct bench *bench, const struct bench_row *row, const struct bench_job *job, struct error *err)
{
	struct bench_lines stream = { .first = row->rows, .count = BENCH_MESSAGES };
	struct bench_run run;

	if (!job->is_made)
		return true;
	return bench_job_run(bench, job, &run, err) && bench_job_feed(bench, row, job, &stream, err);
}

/* A stream of updates among the youngest rows, appended to what there is. */
static bool young_run(struct bench *bench, const struct bench_row *row, const struct bench_job *job, uint64_t first,
                      double *out_rate, struct error *err)
{
	struct bench_lines stream = { .first = first, .count = BENCH_MESSAGES, .youngest = YOUNGEST_ROWS };
	struct bench_run run;

	if (!bench_job_feed(bench, row, job, &stream, err))
		return false;
	bench_settle();
	if (!bench_job_run(bench, job, &run, err) || !verify(bench, job, err))
		return false;
	*out_rate = (double)run.rows / run.wall_s;
	return true;
}

/* The same in a table of 100,000 rows, made for it. */
static bool young_small(struct bench *bench, const struct bench_row *row, double *out_rate, struct error *err)
{
	struct bench_row small = *row;
	struct bench_lines inserts = { .first = 0, .count = SMALL_ROWS };
	struct bench_run run;
	struct bench_job job;
	bool is_fine;

	small.rows = SMALL_ROWS;
	bench_clear(bench);
	if (!bench_job_open(bench, &small, "merge", &inserts, &job, err))
		return false;
	is_fine = bench_job_run(bench, &job, &run, err) && young_run(bench, &small, &job, SMALL_ROWS, out_rate, err);
	bench_job_close(&job);
	return is_fine;
}

static bool finish(struct bench *bench, const struct bench_row *row, const struct bench_job *job,
                  struct bench_result *out, struct error *err)
{
	double rate, small_rate;
	json_t *more;

	if (!row->has_young || !job->is_made)
		return verify(bench, job, err);
	if (!young_run(bench, row, job, row->rows + BENCH_MESSAGES, &rate, err) ||
	    !young_small(bench, row, &small_rate, err))
		return false;
	more = json_pack("{s:f, s:f, s:f}", "young_changes_per_s", rate, "young_100k_changes_per_s", small_rate, "young_ratio",
	                 rate / small_rate);
	json_object_update(out->more, more);
	json_decref(more);
	return true;
}

bool bench_replica(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	struct bench_lines inserts = { .first = 0, .count = row->rows };
	struct bench_job job;
	bool is_fine;

	out->is_skipped = !has_room(bench, row, true);
	if (out->is_skipped)
		return true;
	if (!bench_job_open(bench, row, "merge", &inserts, &job, err))
		return false;
	is_fine = fill(bench, row, &job, err) && run_and_measure(bench, &job, out, err) &&
	          finish(bench, row, &job, out, err);
	bench_job_close(&job);
	return is_fine;
}
