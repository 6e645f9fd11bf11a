/*
 * `console_start`, `console_rest_cpu`, `console_rest_bytes`: `weir` in a terminal of
 * 100x30 while an engine of its own replicates, and htop in the same terminal.
 */
#include "base/arena.h"
#include "base/file.h"
#include "bench/bench_private.h"
#include "control/control.h"

#include <stdlib.h>
#include <unistd.h>

#define FEED_LINES UINT64_C(1500000)
#define DISK_BYTES UINT64_C(12000000000)
#define STARTS 9
#define KEYS 9
#define SETTLE_S 3.0
#define MEASURE_S 10.0
#define HTOP_QUIET_S 0.3   /* it does not say when its first screen is whole: the last byte before so much silence */
#define HTOP_WAIT_S 5.0
#define MANY_JOBS 20
#define STEP_S 0.25        /* a growing feed gets its lines in such steps */
#define LINES_A_STEP 25
#define KIB_A_MIB 1024.0

struct rest {
	double percent, bytes_per_s, mib;
};

struct looked {
	struct rest one, many, idle, htop;
	double start_ms, key_ms, busy_ms, busy_key_ms, htop_start_ms;
	bool has_htop;
};

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

/* `weir` lies beside `weird`. */
static char *console_path(struct error *err)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (len <= 0) {
		fail(err, ERROR_BUG, "bench_failed", "the engine does not know its own path");
		return NULL;
	}
	self[len] = '\0';
	slash = strrchr(self, '/');
	*slash = '\0';
	return path_join(self, "weir");
}

static char *htop_path(void)
{
	const char *const folders[] = { "/usr/bin", "/usr/local/bin", "/bin" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		char *path = path_join(folders[i], "htop");

		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

/* Nanoseconds on a processor, where the kernel counts them; clock ticks are too coarse for a program at rest. */
static double busy_s(pid_t pid)
{
	char path[64];
	unsigned long long ns = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%llu", &ns) != 1)
		ns = 0;
	if (file)
		fclose(file);
	return ns ? (double)ns / 1e9 : bench_cpu_of_s(pid);
}

/* A feed that grows while it is looked at. */
struct growing {
	const struct bench_row *row;
	struct bench_job job;
	uint64_t next;
};

/* Reads what the program sends. `growing` may be NULL. */
static bool look_on(struct bench *bench, struct bench_terminal *terminal, double seconds, struct growing *growing,
                    struct error *err)
{
	double until_s = bench_now_s() + seconds, ignored;

	while (bench_now_s() < until_s) {
		struct bench_lines lines = { .count = LINES_A_STEP };
		double left_s = until_s - bench_now_s();

		if (growing) {
			lines.first = growing->next;
			growing->next += LINES_A_STEP;
			if (!bench_job_feed(bench, growing->row, &growing->job, &lines, err))
				return false;
		}
		if (!bench_terminal_read(bench, terminal, left_s < STEP_S ? left_s : STEP_S, 0, &ignored, err))
			return false;
	}
	return true;
}

static bool rest_measure(struct bench *bench, struct bench_terminal *terminal, struct growing *growing, struct rest *out,
                         struct error *err)
{
	double begun_s, cpu_s, took_s;
	char path[64];
	uint64_t bytes;

	if (!look_on(bench, terminal, SETTLE_S, growing, err))
		return false;
	begun_s = bench_now_s();
	cpu_s = busy_s(terminal->pid);
	bytes = terminal->bytes;
	if (!look_on(bench, terminal, MEASURE_S, growing, err))
		return false;
	took_s = bench_now_s() - begun_s;
	out->percent = 100 * (busy_s(terminal->pid) - cpu_s) / took_s;
	out->bytes_per_s = (double)(terminal->bytes - bytes) / took_s;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)terminal->pid);
	out->mib = (double)bench_proc_number(path, "VmRSS:") / KIB_A_MIB;
	return true;
}

/* The console at rest on its first screen. */
static bool console_rest(struct bench *bench, char *weir, struct growing *growing, struct rest *out, struct error *err)
{
	char *arguments[] = { weir, NULL };
	struct bench_terminal terminal;
	bool is_fine;

	if (!bench_terminal_open(bench, arguments, &terminal, err))
		return false;
	is_fine = bench_terminal_sync(&terminal, err) && rest_measure(bench, &terminal, growing, out, err);
	bench_terminal_close(&terminal);
	return is_fine;
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

static bool htop_look(struct bench *bench, struct looked *looked, struct error *err)
{
	char *htop = htop_path(), delay[] = "-d", second[] = "10";
	char *arguments[] = { htop, delay, second, NULL };
	double begun_s = bench_now_s(), last_s;
	struct bench_terminal terminal;
	bool is_fine;

	if (!htop) {
		fputs("bench: htop is not installed: no baseline\n", stderr);
		return true;
	}
	is_fine = bench_terminal_open(bench, arguments, &terminal, err);
	if (is_fine) {
		is_fine = bench_terminal_read(bench, &terminal, HTOP_WAIT_S, HTOP_QUIET_S, &last_s, err);
		looked->htop_start_ms = 1000 * (last_s - begun_s);
		is_fine = is_fine && rest_measure(bench, &terminal, NULL, &looked->htop, err);
		looked->has_htop = is_fine;
		bench_terminal_close(&terminal);
	}
	free(htop);
	return is_fine;
}

static void take_received(void *context, const json_t *line)
{
	if (strcmp(json_string_value(json_object_get(line, "job")), "bench-0") == 0)
		*(json_int_t *)context = json_integer_value(json_object_get(line, "received"));
}

/* Has the job more to read still? Else what was measured was a job at rest. */
static bool is_at_load(struct bench_engine *engine, const struct bench_job *job, struct error *err)
{
	json_int_t received = 0;
	struct client_hooks hooks = { .on_line = take_received, .context = &received };
	int status;

	if (!client_call(engine->client, "job.list", json_object(), &hooks, &status, err))
		return false;
	return !job->is_made || (received > 0 && received < (json_int_t)FEED_LINES) ||
	       fail(err, ERROR_BUG, "bench_failed", "the job was at %lld of its messages", (long long)received);
}

typedef bool look_fn(struct bench *bench, const struct bench_row *row, char *weir, struct bench_engine *engine,
                     const struct bench_job *job, struct looked *looked, struct error *err);

/* A job that has read all there is, and then one at full load beside it. */
static bool look_at_start(struct bench *bench, const struct bench_row *row, char *weir, struct bench_engine *engine,
                          const struct bench_job *job, struct looked *looked, struct error *err)
{
	struct bench_job small = { .feed = path_join(bench->folder, "small.jsonl"), .is_made = true };
	struct bench_lines lines = { .count = LINES_A_STEP };
	bool is_fine = bench_job_feed(bench, row, &small, &lines, err) && bench_engine_job(bench, engine, &small, 1, err) &&
	               bench_rest(bench, SETTLE_S, err) && console_starts(bench, weir, &looked->start_ms, &looked->key_ms, err) &&
	               bench_engine_job(bench, engine, job, 0, err) &&
	               console_starts(bench, weir, &looked->busy_ms, &looked->busy_key_ms, err) && is_at_load(engine, job, err) &&
	               htop_look(bench, looked, err);

	free(small.feed);
	return is_fine;
}

/* Jobs that all get a few messages a second: more of them at full load would measure the machine. */
static bool look_at_many(struct bench *bench, const struct bench_row *row, char *weir, struct bench_engine *engine,
                         struct looked *looked, struct error *err)
{
	struct growing growing = { .row = row, .job = { .feed = path_join(bench->folder, "growing.jsonl"), .is_made = true } };
	struct bench_lines lines = { .count = LINES_A_STEP };
	bool is_fine = bench_job_feed(bench, row, &growing.job, &lines, err);

	growing.next = LINES_A_STEP;
	for (int i = 1; is_fine && i <= MANY_JOBS; i++)
		is_fine = bench_engine_job(bench, engine, &growing.job, i, err);
	is_fine = is_fine && console_rest(bench, weir, &growing, &looked->many, err);
	free(growing.job.feed);
	return is_fine;
}

/* No job, one at full load, many beside it. */
static bool look_at_rest(struct bench *bench, const struct bench_row *row, char *weir, struct bench_engine *engine,
                         const struct bench_job *job, struct looked *looked, struct error *err)
{
	return console_rest(bench, weir, NULL, &looked->idle, err) && bench_engine_job(bench, engine, job, 0, err) &&
	       console_rest(bench, weir, NULL, &looked->one, err) && is_at_load(engine, job, err) && htop_look(bench, looked, err) &&
	       look_at_many(bench, row, weir, engine, looked, err);
}

static bool run(struct bench *bench, const struct bench_row *row, look_fn *look, struct looked *looked,
                struct bench_result *out, struct error *err)
{
	struct bench_lines lines = { .first = 0, .count = FEED_LINES };
	struct bench_engine engine;
	struct bench_job job;
	bool is_fine;
	char *weir;

	out->is_skipped = !bench->feed && !bench_has_room(bench, row, DISK_BYTES);
	if (out->is_skipped)
		return true;
	if (!(weir = console_path(err)))
		return false;
	is_fine = bench_job_open(bench, row, "merge", &lines, &job, err);
	if (is_fine) {
		is_fine = bench_engine_start(bench, &engine, err);
		if (is_fine) {
			is_fine = look(bench, row, weir, &engine, &job, looked, err);
			bench_engine_end(&engine);
		}
		bench_job_close(&job);
	}
	free(weir);
	return is_fine;
}

bool bench_console_start(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	struct looked looked = { 0 };

	if (!run(bench, row, look_at_start, &looked, out, err))
		return false;
	out->value = looked.start_ms;
	out->baseline_value = looked.htop_start_ms;
	out->more = json_pack("{s:f, s:f, s:f}", "key_ms", looked.key_ms, "busy_ms", looked.busy_ms, "busy_key_ms",
	                      looked.busy_key_ms);
	return true;
}

static json_t *rest_more(const struct looked *looked)
{
	json_t *more = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "cpu_percent", looked->one.percent, "bytes_per_s",
	                         looked->one.bytes_per_s, "resident_mib", looked->one.mib, "bytes_per_s_20_jobs",
	                         looked->many.bytes_per_s, "cpu_percent_20_jobs", looked->many.percent,
	                         "bytes_per_s_no_job", looked->idle.bytes_per_s, "cpu_percent_no_job",
	                         looked->idle.percent);

	if (looked->has_htop)
		json_object_set_new(more, "htop_resident_mib", json_real(looked->htop.mib));
	return more;
}

bool bench_console_rest_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out,
                            struct error *err)
{
	struct looked looked = { 0 };

	if (!run(bench, row, look_at_rest, &looked, out, err))
		return false;
	out->value = looked.one.percent;
	out->baseline_value = looked.htop.percent;
	out->more = rest_more(&looked);
	return true;
}

bool bench_console_rest_bytes(struct bench *bench, const struct bench_row *row, struct bench_result *out,
                              struct error *err)
{
	struct looked looked = { 0 };

	if (!run(bench, row, look_at_rest, &looked, out, err))
		return false;
	out->value = looked.one.bytes_per_s;
	out->baseline_value = looked.htop.bytes_per_s;
	out->more = rest_more(&looked);
	return true;
}
