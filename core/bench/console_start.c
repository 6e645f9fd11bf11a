/* `console_start`: from the start of `weir` in a terminal of 100x30 until its first screen is there; from keys to paint. */
#include "base/file.h"
#include "bench/console_private.h"

#include <stdlib.h>

#define STARTS 9
#define KEYS 9

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return values[count / 2];
}

/* From the start of the program until its first screen is drawn from the engine's answers; then from keys to paint. */
static bool console_starts(const struct bench *bench, char *weir, double *out_start_ms, double *out_key_ms,
                           struct error *err)
{
	char *arguments[] = { weir, NULL };
	double starts[STARTS], keys[KEYS];
	bool is_fine = true;

	for (size_t i = 0; is_fine && i < STARTS; i++) {
		double begun_s = bench_now_s();
		struct bench_terminal terminal;

		if (!bench_cancelled(bench, err) || !bench_terminal_open(bench, arguments, &terminal, err))
			return false;
		is_fine = bench_terminal_sync(&terminal, err);
		starts[i] = 1000 * (bench_now_s() - begun_s);
		for (size_t k = 0; is_fine && i == 0 && k < KEYS; k++) {
			double painted_s = 0;

			/* `T` changes the clock, so there is always something to paint. */
			is_fine = bench_terminal_key(&terminal, "T", &painted_s, err);
			keys[k] = 1000 * painted_s;
		}
		bench_terminal_close(&terminal);
	}
	if (!is_fine)
		return false;
	*out_start_ms = median(starts, STARTS);
	*out_key_ms = median(keys, KEYS);
	return true;
}

/* A job that has read all there is, and then one at full load beside it. */
static bool look_at_start(struct bench *bench, const struct bench_row *row, char *weir, struct bench_engine *engine,
                          const struct bench_job *job, struct looked *looked, struct error *err)
{
	struct bench_job small = { .feed = path_join(bench->folder, "small.jsonl"), .is_made = true };
	struct bench_lines lines = { .count = LINES_A_STEP };
	bool is_fine = bench_job_feed(bench, row, &small, &lines, err) && bench_engine_job(bench, engine, &small, 1, err) &&
	               bench_rest(bench, SETTLE_S, err) && console_starts(bench, weir, &looked->start_ms, &looked->key_ms, err) &&
	               bench_engine_job(bench, engine, job, 0, err) &&
	               console_starts(bench, weir, &looked->busy_ms, &looked->busy_key_ms, err) && console_is_at_load(engine, job, err) &&
	               console_htop(bench, looked, err);

	free(small.feed);
	return is_fine;
}

bool bench_console_start(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	struct looked looked = { 0 };

	if (!console_measure(bench, row, look_at_start, &looked, out, err))
		return false;
	out->value = looked.start_ms;
	out->baseline_value = looked.htop_start_ms;
	out->more = json_pack("{s:f, s:f, s:f}", "key_ms", looked.key_ms, "busy_ms", looked.busy_ms, "busy_key_ms",
	                      looked.busy_key_ms);
	return true;
}
