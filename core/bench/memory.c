/*
 * `feed_memory`: the most memory that an engine of its own, `weird --run`, ever
 * had resident on a 2 GB feed, and whether it was flat: had it by the first
 * quarter what it had at the end. Looked at from outside, in /proc.
 */
#include "base/arena.h"
#include "bench/bench_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FEED_BYTES UINT64_C(2000000000)
#define LINE_BYTES 1030        /* about; the feed is a little larger than asked for */
#define DISK_BYTES (4 * FEED_BYTES)
#define LOOK_NS (20 * 1000 * 1000)
#define FLAT_MIB 8.0           /* what may come between a quarter and the end: the allocator's and the statements' */
#define KIB_A_MIB 1024.0

struct watched {
	pid_t pid;
	char fdinfo[64];       /* of its feed, or "" */
	uint64_t feed_bytes;
	uint64_t peak_kib, quarter_kib;
	int status;
};

/* Which of its descriptors is the feed. */
static void find_feed(struct watched *watched, const char *feed)
{
	char folder[64], path[64 + 260], target[PATH_MAX];
	const struct dirent *entry;
	DIR *dir;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)watched->pid);
	dir = opendir(folder);
	while (dir && !watched->fdinfo[0] && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		ssize_t len = readlink(path, target, sizeof(target) - 1);

		if (len > 0 && span_is(span_make(target, (size_t)len), feed))
			snprintf(watched->fdinfo, sizeof(watched->fdinfo), "/proc/%d/fdinfo/%.12s", (int)watched->pid,
			         entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static void look(struct watched *watched, const char *feed)
{
	char path[64];
	uint64_t peak_kib;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)watched->pid);
	peak_kib = bench_proc_number(path, "VmHWM:");
	if (peak_kib > watched->peak_kib)
		watched->peak_kib = peak_kib;
	if (!watched->fdinfo[0])
		find_feed(watched, feed);
	else if (!watched->quarter_kib && bench_proc_number(watched->fdinfo, "pos:") >= watched->feed_bytes / 4)
		watched->quarter_kib = watched->peak_kib;
}

static bool watch(struct bench *bench, struct watched *watched, const char *feed, struct error *err)
{
	struct timespec nap = { .tv_nsec = LOOK_NS };

	while (waitpid(watched->pid, &watched->status, WNOHANG) == 0) {
		look(watched, feed);
		if (atomic_load(&bench->is_cancelled)) {
			kill(watched->pid, SIGKILL);
			waitpid(watched->pid, &watched->status, 0);
			return bench_cancelled(bench, err);
		}
		nanosleep(&nap, NULL);
	}
	return true;
}

static bool run_engine(const struct bench *bench, const struct bench_job *job, struct watched *watched,
                       struct error *err)
{
	char program[] = "weird", run[] = "--run", idle[] = "--until-idle", json[] = "--json";
	char *arguments[] = { program, run, job->file, idle, json, NULL };
	struct stat info;

	if (stat(job->feed, &info) != 0)
		return fail_errno(err, errno, "cannot look at '%s'", job->feed);
	if (!bench_spawn(bench, arguments, &watched->pid, err))
		return because(err, "'%s'", job->file);
	watched->feed_bytes = (uint64_t)info.st_size;
	return true;
}

/* Exit 1 is a feed with dead letters, which a given one may have. */
static bool check_exit(const struct bench_job *job, const struct watched *watched, struct error *err)
{
	int code = WIFEXITED(watched->status) ? WEXITSTATUS(watched->status) : 128 + WTERMSIG(watched->status);

	if (code == 0 || (code == 1 && !job->is_made))
		return true;
	return fail(err, ERROR_BUG, "bench_failed", "the engine that was measured ended with status %d", code);
}

static void report(const struct bench_job *job, const struct watched *watched, struct bench_result *out)
{
	double cache_mib = (double)job->options->local_cache_bytes / (KIB_A_MIB * KIB_A_MIB);
	double peak_mib = (double)watched->peak_kib / KIB_A_MIB, quarter_mib = (double)watched->quarter_kib / KIB_A_MIB;

	out->value = peak_mib - cache_mib;
	out->more = json_pack("{s:f, s:f, s:f, s:b}", "peak_mib", peak_mib, "cache_mib", cache_mib, "quarter_mib",
	                      quarter_mib, "flat", watched->quarter_kib && peak_mib <= quarter_mib + FLAT_MIB);
}

static bool measure(struct bench *bench, const struct bench_job *job, struct bench_result *out, struct error *err)
{
	struct watched watched = { 0 };
	json_t *feed = NULL;

	if (!run_engine(bench, job, &watched, err) || !watch(bench, &watched, job->feed, err) ||
	    !check_exit(job, &watched, err) || !bench_job_verify(bench, job, err))
		return false;
	report(job, &watched, out);
	if (bench->feed && !pass_checksum(bench, job->options, &feed, err))
		return false;
	json_object_update(out->more, feed);
	json_decref(feed);
	return true;
}

bool bench_feed_memory(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	struct bench_lines lines = { .first = 0, .count = FEED_BYTES / LINE_BYTES };
	struct bench_job job;
	bool is_fine;

	out->is_skipped = !bench->feed && !bench_has_room(bench, row, DISK_BYTES);
	if (out->is_skipped)
		return true;
	if (!bench_job_open(bench, row, "merge", &lines, &job, err))
		return false;
	is_fine = measure(bench, &job, out, err);
	bench_job_close(&job);
	return is_fine;
}
