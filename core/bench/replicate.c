/*
 * `changelog`, `replica` and `replica_10m`: a real job on a feed, timed from its
 * start until all is committed, merged and closed; then the same rows by plain
 * SQLite. The replica's rows exist before the timed part: it is a stream of
 * updates with random keys among them.
 */
#include "bench/bench_private.h"

#include <inttypes.h>

/* Disk that a message takes in the feed, in both changelogs and in the script; a row in replica, copy and scratch. */
#define MESSAGE_DISK_BYTES 5000
#define ROW_DISK_BYTES 5000

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
	if (job->options->replication_mode == REPLICATION_MERGE && !bench_job_verify(bench, job, err))
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
	out->more = json_pack("{s:f, s:f}", "cpu_s_per_million", run.cpu_s / (double)baseline->rows * 1e6,
	                      "baseline_cpu_s_per_million", plain.cpu_s / (double)plain.rows * 1e6);
	return true;
}

/* With --feed also what the feed is. */
static bool describe(struct bench *bench, const struct bench_job *job, struct bench_result *out, struct error *err)
{
	json_t *feed;

	if (!bench->feed)
		return true;
	if (!pass_checksum(bench, job->options, &feed, err))
		return false;
	json_object_update(out->more, feed);
	json_decref(feed);
	return true;
}

static bool run_and_measure(struct bench *bench, const struct bench_job *job, struct bench_result *out,
                            struct error *err)
{
	struct baseline baseline;
	bool is_fine;

	if (!baseline_take(bench, job, &baseline, err))
		return false;
	is_fine = measure(bench, job, &baseline, out, err) && describe(bench, job, out, err);
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
	is_fine = run_and_measure(bench, &job, out, err);
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
	is_fine = fill(bench, row, &job, err) && run_and_measure(bench, &job, out, err);
	bench_job_close(&job);
	return is_fine;
}
