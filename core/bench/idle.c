/*
 * `idle_jobs`, `idle_jobs_cpu`: an engine of its own with a hundred jobs that have read their feed to its end and wait for
 * more. What is resident, and what it costs to wait.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "bench/bench_private.h"
#include "control/control.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOBS 100
#define FEED_LINES 10
#define START_WAIT_MS 10000
#define REST_WAIT_MS 60000
#define SETTLE_S 5            /* what a start has left to do is done then */
#define MEASURE_S 20.0
#define END_WAIT_MS 60000
#define KIB_A_MIB 1024.0

struct idle {
	pid_t pid;
	struct client *client;
	double mib, percent;
};

static struct client *connect_to(const struct bench *bench, struct error *err)
{
	int64_t until_ms = clock_mono_ms() + START_WAIT_MS;
	struct error failure;
	struct client *client;

	do {
		failure = (struct error){ 0 };
		clock_sleep_ms(20);
		client = client_open(bench->home, &failure);
	} while (!client && clock_mono_ms() < until_ms);
	if (!client)
		*err = failure;
	return client;
}

static bool call(struct idle *idle, const char *name, json_t *args, struct error *err)
{
	struct client_hooks hooks = { 0 };
	int status = 0;

	if (!client_call(idle->client, name, args, &hooks, &status, err))
		return false;
	return status == 0 || fail(err, ERROR_BUG, "bench_failed", "'%s' ended with status %d", name, status);
}

/* Each job has datasets of its own, as jobs have. */
static bool start_job(const struct bench *bench, struct idle *idle, const struct bench_job *job, int number,
                      struct error *err)
{
	json_t *parameters = json_pack("{s:s, s:s, s:o, s:o}", "warehouse", "local", "inputFile", job->feed,
	                               "changeLogDataset", json_sprintf("log_%d", number), "replicaDataset",
	                               json_sprintf("shop_%d", number));
	json_t *whole = json_pack("{s:o, s:s, s:o}", "name", json_sprintf("idle-%d", number), "template",
	                          "Cdc_To_BigQuery_Template", "parameters", parameters);
	char *file = path_join(bench->folder, "idle.json");
	char *text = json_dumps(whole, 0);
	bool is_fine = file_replace(file, span_of(text), err) &&
	               call(idle, "job.create", json_pack("{s:s}", "file", file), err) &&
	               call(idle, "start", json_pack("{s:O}", "job", json_object_get(whole, "name")), err);

	json_decref(whole);
	free(file);
	free(text);
	return is_fine;
}

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
		if (!bench_cancelled(bench, err) || !client_call(idle->client, "job.list", json_object(), &hooks, &status, err))
			return false;
		if (resting == JOBS)
			return true;
		clock_sleep_ms(200);
	}
	return fail(err, ERROR_BUG, "bench_failed", "%d of %d jobs came to rest within %d s", resting, JOBS,
	            REST_WAIT_MS / 1000);
}

/* User and system time of a process, in seconds: fields 14 and 15 of its stat, counted behind the name's bracket. */
static double cpu_of(pid_t pid)
{
	char path[64], line[1024];
	unsigned long long user = 0, system = 0;
	const char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	at = file && fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	if (at)
		sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system);
	if (file)
		fclose(file);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static bool rest(const struct bench *bench, double seconds, struct error *err)
{
	double until_s = bench_now_s() + seconds;

	while (bench_now_s() < until_s) {
		if (!bench_cancelled(bench, err))
			return false;
		clock_sleep_ms(100);
	}
	return true;
}

static bool measure(const struct bench *bench, struct idle *idle, struct error *err)
{
	char path[64];
	double cpu_s, begun_s;

	/* A session that is open would be part of what is measured. */
	client_close(idle->client);
	idle->client = NULL;
	if (!rest(bench, SETTLE_S, err))
		return false;
	cpu_s = cpu_of(idle->pid);
	begun_s = bench_now_s();
	if (!rest(bench, MEASURE_S, err))
		return false;
	idle->percent = 100 * (cpu_of(idle->pid) - cpu_s) / (bench_now_s() - begun_s);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)idle->pid);
	idle->mib = (double)bench_proc_number(path, "VmRSS:") / KIB_A_MIB;
	return true;
}

static bool run_jobs(const struct bench *bench, struct idle *idle, const struct bench_job *job, struct error *err)
{
	if (!(idle->client = connect_to(bench, err)))
		return false;
	for (int i = 0; i < JOBS; i++) {
		if (!bench_cancelled(bench, err) || !start_job(bench, idle, job, i, err))
			return false;
	}
	return wait_for_rest(bench, idle, err) && measure(bench, idle, err);
}

/* Drained, since its files are removed next; killed when it does not end. */
static void end_engine(struct idle *idle)
{
	int64_t until_ms = clock_mono_ms() + END_WAIT_MS;

	client_close(idle->client);
	kill(idle->pid, SIGTERM);
	while (waitpid(idle->pid, NULL, WNOHANG) == 0) {
		if (clock_mono_ms() > until_ms)
			kill(idle->pid, SIGKILL);
		clock_sleep_ms(20);
	}
}

static bool run_engine(struct bench *bench, const struct bench_row *row, struct idle *idle, struct error *err)
{
	char program[] = "weird", serve[] = "--serve";
	char *arguments[] = { program, serve, NULL };
	struct bench_lines lines = { .first = 0, .count = FEED_LINES };
	struct bench_job job;
	bool is_fine;

	if (!bench_job_open(bench, row, "merge", &lines, &job, err))
		return false;
	is_fine = bench_spawn(bench, arguments, &idle->pid, err);
	if (is_fine) {
		is_fine = run_jobs(bench, idle, &job, err);
		end_engine(idle);
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
