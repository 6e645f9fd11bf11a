/* What the console's rows share: `weir` beside this program, an engine of its own, a job of a large feed. */
#include "base/arena.h"
#include "base/file.h"
#include "bench/console_private.h"
#include "control/control.h"

#include <stdlib.h>
#include <unistd.h>

#define FEED_LINES UINT64_C(1500000)
#define DISK_BYTES UINT64_C(12000000000)

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

static void take_received(void *context, const json_t *line)
{
	if (strcmp(json_string_value(json_object_get(line, "job")), "bench-0") == 0)
		*(json_int_t *)context = json_integer_value(json_object_get(line, "received"));
}

bool console_is_at_load(struct bench_engine *engine, const struct bench_job *job, struct error *err)
{
	json_int_t received = 0;
	struct client_hooks hooks = { .on_line = take_received, .context = &received };
	int status;

	if (!client_call(engine->client, "job.list", json_object(), &hooks, &status, err))
		return false;
	return !job->is_made || (received > 0 && received < (json_int_t)FEED_LINES) ||
	       fail(err, ERROR_BUG, "bench_failed", "the job was at %lld of its messages", (long long)received);
}

bool console_measure(struct bench *bench, const struct bench_row *row, console_look_fn *look, struct looked *looked,
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
