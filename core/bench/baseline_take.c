/* The baseline's files: copies of the engine's as they are before the timed run. */
#include "base/arena.h"
#include "base/file.h"
#include "bench/baseline_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define COPY_BYTES (1u << 20)

static bool copy_bytes(int from, int to)
{
	char *block = memory_alloc(COPY_BYTES);
	ssize_t n;

	while ((n = read(from, block, COPY_BYTES)) > 0) {
		if (write(to, block, (size_t)n) != n)
			break;
	}
	free(block);
	return n == 0;
}

/* A file that does not exist yet has nothing to copy. */
static bool copy_file(const char *from_path, const char *to_path, struct error *err)
{
	int from = open(from_path, O_RDONLY | O_CLOEXEC), to;
	bool is_fine;

	if (from < 0)
		return errno == ENOENT || fail_errno(err, errno, "cannot open '%s'", from_path);
	to = open(to_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	is_fine = to >= 0 && copy_bytes(from, to);
	if (!is_fine)
		fail_errno(err, errno, "cannot copy '%s'", from_path);
	close(from);
	if (to >= 0)
		close(to);
	return is_fine;
}

char *baseline_run_file(const struct bench *bench, size_t file)
{
	return path_join(bench->home->warehouse, file == CHANGELOG ? "bench_log.db" : "bench.db");
}

bool baseline_take(struct bench *bench, const struct bench_job *job, struct baseline *out, struct error *err)
{
	int64_t share = job->options->local_cache_bytes / 2;
	bool is_fine = true;

	*out = (struct baseline){
		.script = path_join(bench->folder, "baseline.script"),
		.files = { path_join(bench->folder, "baseline_log.db"), path_join(bench->folder, "baseline.db") },
		.cache_bytes = { share, share / 2 },
		.checkpoint_pages = { LOCAL_CHECKPOINT_PAGES_APPEND, LOCAL_CHECKPOINT_PAGES },
		.file_count = job->options->replication_mode == REPLICATION_CHANGELOG ? 1 : 2,
		.is_cancelled = &bench->is_cancelled,
	};
	for (size_t i = 0; i < out->file_count && is_fine; i++) {
		char *path = baseline_run_file(bench, i);

		is_fine = copy_file(path, out->files[i], err);
		free(path);
	}
	if (!is_fine)
		baseline_clear(out);
	return is_fine;
}

void baseline_clear(struct baseline *baseline)
{
	free(baseline->script);
	for (size_t i = 0; i < BASELINE_FILES; i++)
		free(baseline->files[i]);
	*baseline = (struct baseline){ 0 };
}
