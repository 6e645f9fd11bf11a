/*
 * `console_rest_cpu`, `console_rest_bytes`: `weir` in a terminal of 100x30, looking on
 * while an engine of its own replicates, and htop in the same terminal.
 */
#include "base/arena.h"
#include "base/file.h"
#include "bench/console_private.h"

#include <stdlib.h>
#include <unistd.h>

#define MEASURE_S 10.0
#define HTOP_QUIET_S 0.3   /* it does not say when its first screen is whole: the last byte before so much silence */
#define HTOP_WAIT_S 5.0
#define MANY_JOBS 20
#define STEP_S 0.25        /* a growing feed gets its lines in such steps */
#define KIB_A_MIB 1024.0
#define TO_JOB ":job bench-0\r"

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

/* The console at rest where the keys lead, "" on its first screen. */
static bool console_rest(struct bench *bench, char *weir, const char *keys, struct growing *growing, struct rest *out,
                         struct error *err)
{
	char *arguments[] = { weir, NULL };
	struct bench_terminal terminal;
	double ignored_s;
	bool is_fine;

	if (!bench_terminal_open(bench, arguments, &terminal, err))
		return false;
	is_fine = bench_terminal_sync(&terminal, err) && (!*keys || bench_terminal_key(&terminal, keys, &ignored_s, err)) &&
	          rest_measure(bench, &terminal, growing, out, err);
	bench_terminal_close(&terminal);
	return is_fine;
}

bool console_htop(struct bench *bench, struct looked *looked, struct error *err)
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
	is_fine = is_fine && console_rest(bench, weir, "", &growing, &looked->many, err);
	free(growing.job.feed);
	return is_fine;
}

/* No job, one at full load, many beside it. */
static bool look_at_rest(struct bench *bench, const struct bench_row *row, char *weir, struct bench_engine *engine,
                         const struct bench_job *job, struct looked *looked, struct error *err)
{
	return console_rest(bench, weir, "", NULL, &looked->idle, err) && bench_engine_job(bench, engine, job, 0, err) &&
	       console_rest(bench, weir, "", NULL, &looked->one, err) && console_rest(bench, weir, TO_JOB, NULL, &looked->job, err) && console_is_at_load(engine, job, err) && console_htop(bench, looked, err) &&
	       look_at_many(bench, row, weir, engine, looked, err);
}

static json_t *rest_more(const struct looked *looked)
{
	json_t *more = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "cpu_percent", looked->one.percent, "bytes_per_s",
	                         looked->one.bytes_per_s, "resident_mib", looked->one.mib, "bytes_per_s_job",
	                         looked->job.bytes_per_s, "cpu_percent_job", looked->job.percent, "resident_mib_job",
	                         looked->job.mib, "bytes_per_s_20_jobs",
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

	if (!console_measure(bench, row, look_at_rest, &looked, out, err))
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

	if (!console_measure(bench, row, look_at_rest, &looked, out, err))
		return false;
	out->value = looked.one.bytes_per_s;
	out->baseline_value = looked.htop.bytes_per_s;
	out->more = rest_more(&looked);
	return true;
}
