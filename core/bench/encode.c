/*
 * `encode` and `encode_schema_block`: bytes in a file -> source -> transform ->
 * Storage Write bytes, in one thread; the figure is CPU seconds a million.
 */
#include "bench/bench_private.h"

#include <inttypes.h>

#define MESSAGE_BYTES 1200
#define MESSAGE_BLOCK_BYTES 5000

struct encoded {
	uint64_t rows, bytes;
};

static void count_rows(void *context, const struct batch *batch)
{
	struct encoded *encoded = context;

	for (size_t i = 0; i < batch->record_count; i++) {
		encoded->rows += batch->records[i].proto.len > 0;
		encoded->bytes += batch->records[i].proto.len;
	}
}

static bool encode(struct bench *bench, const struct bench_job *job, struct bench_result *out, struct error *err)
{
	struct encoded encoded = { 0 };
	struct pass pass = {
		.bench = bench, .options = job->options, .on_batch = count_rows, .context = &encoded,
	};
	double begun_s = bench_cpu_s();

	if (!pass_encode(&pass, err))
		return false;
	if (!pass.messages)
		return fail(err, ERROR_CONFIG, "bench_failed", "the feed '%s' has no message", job->feed);
	out->value = (bench_cpu_s() - begun_s) / (double)pass.messages * 1e6;
	if (job->is_made && encoded.rows != pass.messages)
		return fail(err, ERROR_BUG, "bench_failed", "of %" PRIu64 " generated messages only %" PRIu64 " became rows",
		            pass.messages, encoded.rows);
	return true;
}

struct decoding {
	double cpu_s;
};

static void decode_batch(void *context, const struct batch *batch)
{
	struct decoding *decoding = context;
	double begun_s = bench_cpu_s();

	for (size_t i = 0; i < batch->message_count; i++) {
		struct span body = batch->messages[i].body;

		json_decref(json_loadb(body.at, body.len, JSON_DECODE_ANY, NULL));
	}
	decoding->cpu_s += bench_cpu_s() - begun_s;
}

/* Only the decoding is counted, not the reading of the feed. */
static bool baseline_jansson(struct bench *bench, const struct job_options *options, double *out_cpu_s,
                             struct error *err)
{
	struct decoding decoding = { 0 };
	struct pass pass = { .bench = bench, .options = options, .on_batch = decode_batch, .context = &decoding };

	if (!pass_read(&pass, err))
		return false;
	*out_cpu_s = pass.messages ? decoding.cpu_s / (double)pass.messages * 1e6 : 0;
	return true;
}

bool bench_encode(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	struct bench_lines lines = { .first = row->rows, .count = BENCH_MESSAGES };
	struct bench_job job;
	bool is_fine;

	out->is_skipped = !bench->feed && !bench_has_room(bench, row, BENCH_MESSAGES * (row->has_schema ?
	                  MESSAGE_BLOCK_BYTES : MESSAGE_BYTES));
	if (out->is_skipped)
		return true;
	if (!bench_job_open(bench, row, "changelog", &lines, &job, err))
		return false;
	is_fine = encode(bench, &job, out, err) && baseline_jansson(bench, job.options, &out->baseline_value, err) &&
	          bench_limits_encode(bench, &job, out->value, &out->more, err) &&
	          (!bench->feed || bench_describe_feed(bench, &job, out, err));
	bench_job_close(&job);
	return is_fine;
}
