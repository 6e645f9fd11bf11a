/*
 * `idle_jobs`, `idle_jobs_cpu`: an engine of its own with a hundred jobs that have read their feed to its end and wait for
 * more. What is resident, and what it costs to wait.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "bench/bench_private.h"
#include "control/control.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOBS 100
#define FEED_LINES 10
#define REST_WAIT_MS 60000
#define SETTLE_S 5            /* what a start has left to do is done then */
#define MEASURE_S 20.0
#define KIB_A_MIB 1024.0

struct idle {
	struct bench_engine engine;
	double mib, percent;
};

static void count_resting(void *context, const json_t *line)
{
	int *resting = context;

	*resting += json_is_true(json_object_get(line, "running")) &&
	            json_integer_value(json_object_get(line, "written")) > 0 &&
	            json_integer_value(json_object_get(line, "in_flight")) == 0;
}

/* All of them have read their feed, or there is nothing to measure. */
static bool wait_for_rest(const struct bench *bench, struct idle *idle, struct error *err)
{
	int64_t until_ms = clock_mono_ms() + REST_WAIT_MS;
	int resting = 0, status;
	struct client_hooks hooks = { .on_line = count_resting, .context = &resting };

	while (clock_mono_ms() < until_ms) {
		resting = 0;
		if (!bench_cancelled(bench, err) || !client_call(idle->engine.client, "job.list", json_object(), &hooks, &status, err))
			return false;
		if (resting == JOBS)
			return true;
		clock_sleep_ms(200);
	}
	return fail(err, ERROR_BUG, "bench_failed", "%d of %d jobs came to rest within %d s", resting, JOBS,
	            REST_WAIT_MS / 1000);
}

static bool measure(const struct bench *bench, struct idle *idle, struct error *err)
{
	char path[64];
	double cpu_s, begun_s;

	/* A session that is open would be part of what is measured. */
	client_close(idle->engine.client);
	idle->engine.client = NULL;
	if (!bench_rest(bench, SETTLE_S, err))
		return false;
	cpu_s = bench_cpu_of_s(idle->engine.pid);
	begun_s = bench_now_s();
	if (!bench_rest(bench, MEASURE_S, err))
		return false;
	idle->percent = 100 * (bench_cpu_of_s(idle->engine.pid) - cpu_s) / (bench_now_s() - begun_s);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)idle->engine.pid);
	idle->mib = (double)bench_proc_number(path, "VmRSS:") / KIB_A_MIB;
	return true;
}

static bool run_jobs(const struct bench *bench, struct idle *idle, const struct bench_job *job, struct error *err)
{
	for (int i = 0; i < JOBS; i++) {
		if (!bench_cancelled(bench, err) || !bench_engine_job(bench, &idle->engine, job, i, err))
			return false;
	}
	return wait_for_rest(bench, idle, err) && measure(bench, idle, err);
}

static bool run_engine(struct bench *bench, const struct bench_row *row, struct idle *idle, struct error *err)
{
	struct bench_lines lines = { .first = 0, .count = FEED_LINES };
	struct bench_job job;
	bool is_fine;

	if (!bench_job_open(bench, row, "merge", &lines, &job, err))
		return false;
	is_fine = bench_engine_start(bench, &idle->engine, err);
	if (is_fine) {
		is_fine = run_jobs(bench, idle, &job, err);
		bench_engine_end(&idle->engine);
	}
	bench_job_close(&job);
	return is_fine;
}

static json_t *more(const struct idle *idle)
{
	return json_pack("{s:i, s:f, s:f}", "jobs", JOBS, "resident_mib", idle->mib, "cpu_percent", idle->percent);
}

bool bench_idle_jobs(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	struct idle idle = { 0 };

	if (!run_engine(bench, row, &idle, err))
		return false;
	out->value = idle.mib;
	out->more = more(&idle);
	return true;
}

bool bench_idle_jobs_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	struct idle idle = { 0 };

	if (!run_engine(bench, row, &idle, err))
		return false;
	out->value = idle.percent;
	out->more = more(&idle);
	return true;
}
