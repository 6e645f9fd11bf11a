/* An engine of its own that serves a socket, with jobs that are made and started through it. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "bench/bench_private.h"
#include "control/control.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_WAIT_MS 10000
#define END_WAIT_MS 60000

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

static bool call(struct bench_engine *engine, const char *name, json_t *args, struct error *err)
{
	struct client_hooks hooks = { 0 };
	int status = 0;

	if (!client_call(engine->client, name, args, &hooks, &status, err))
		return false;
	return status == 0 || fail(err, ERROR_BUG, "bench_failed", "'%s' ended with status %d", name, status);
}

bool bench_engine_job(const struct bench *bench, struct bench_engine *engine, const struct bench_job *job, int number,
                      struct error *err)
{
	json_t *parameters = json_pack("{s:s, s:s, s:o, s:o}", "warehouse", "local", "inputFile", job->feed,
	                               "changeLogDataset", json_sprintf("log_%d", number), "replicaDataset",
	                               json_sprintf("shop_%d", number));
	json_t *whole = json_pack("{s:o, s:s, s:o}", "name", json_sprintf("bench-%d", number), "template",
	                          "Cdc_To_BigQuery_Template", "parameters", parameters);
	char *file = path_join(bench->folder, "made.json");
	char *text = json_dumps(whole, 0);
	bool is_fine = file_replace(file, span_of(text), err) &&
	               call(engine, "job.create", json_pack("{s:s}", "file", file), err) &&
	               call(engine, "start", json_pack("{s:O}", "job", json_object_get(whole, "name")), err);

	json_decref(whole);
	free(file);
	free(text);
	return is_fine;
}

/* Fields 14 and 15 of its stat, counted behind the name's bracket. */
double bench_cpu_of_s(pid_t pid)
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

bool bench_rest(const struct bench *bench, double seconds, struct error *err)
{
	double until_s = bench_now_s() + seconds;

	while (bench_now_s() < until_s) {
		if (!bench_cancelled(bench, err))
			return false;
		clock_sleep_ms(100);
	}
	return true;
}

bool bench_engine_start(const struct bench *bench, struct bench_engine *out, struct error *err)
{
	char program[] = "weird", serve[] = "--serve";
	char *arguments[] = { program, serve, NULL };

	*out = (struct bench_engine){ 0 };
	if (!bench_spawn(bench, arguments, &out->pid, err))
		return false;
	out->client = connect_to(bench, err);
	if (!out->client)
		bench_engine_end(out);
	return out->client;
}

void bench_engine_end(struct bench_engine *engine)
{
	int64_t until_ms = clock_mono_ms() + END_WAIT_MS;

	client_close(engine->client);
	kill(engine->pid, SIGTERM);
	while (waitpid(engine->pid, NULL, WNOHANG) == 0) {
		if (clock_mono_ms() > until_ms)
			kill(engine->pid, SIGKILL);
		clock_sleep_ms(20);
	}
}
