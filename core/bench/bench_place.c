/*
 * Where benchmarks work: $WEIR_HOME/bench, which one call owns at a time and
 * leaves empty, also after ^C. Databases must lie on a disk, not in memory.
 */
#include "base/arena.h"
#include "base/file.h"
#include "bench/bench_private.h"

#include "runner/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TMPFS 0x01021994
#define RAMFS 0x858458f6
#define MIB (1u << 20)

/* ^C and a hang-up only raise a flag: what is under way ends, then its files are removed. */
static void bench_cancel(struct bench *bench)
{
	atomic_store(&bench->is_cancelled, true);
	atomic_store(&bench->wish, RUN_DRAIN);
}

static void *watch_signals(void *context)
{
	struct bench *bench = context;
	struct timespec nap = { .tv_nsec = 100 * 1000 * 1000 };

	while (!atomic_load(&bench->is_over)) {
		if (sigtimedwait(&bench->signals, NULL, &nap) > 0)
			bench_cancel(bench);
	}
	return NULL;
}

static void watch_start(struct bench *bench)
{
	sigemptyset(&bench->signals);
	sigaddset(&bench->signals, SIGINT);
	sigaddset(&bench->signals, SIGTERM);
	sigaddset(&bench->signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &bench->signals, NULL);
	pthread_create(&bench->watcher, NULL, watch_signals, bench);
}

/* All state of the jobs we run lies in the one folder, so that removing it removes everything. */
static struct home *home_below(const char *folder)
{
	struct home *home = memory_zalloc(sizeof(*home));

	home->config = memory_string(folder);
	home->state = memory_string(folder);
	home->jobs_config = path_join(folder, "jobs");
	home->jobs_state = path_join(folder, "jobs");
	home->warehouse = path_join(folder, "warehouse");
	home->socket = path_join(folder, "weird.sock");
	home->lock = path_join(folder, "weird.lock");
	return home;
}

static bool lock_take(struct bench *bench, struct error *err)
{
	char *path = path_join(bench->folder, "lock");

	bench->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (bench->lock < 0)
		fail_errno(err, errno, "cannot open '%s'", path);
	else if (flock(bench->lock, LOCK_EX | LOCK_NB) != 0)
		fail(err, ERROR_UNREACHABLE, "bench_running", "another benchmark runs in '%s'; one at a time is allowed",
		     bench->folder);
	else {
		free(path);
		return true;
	}
	if (bench->lock >= 0)
		close(bench->lock);
	bench->lock = -1;
	free(path);
	return false;
}

static void warn_of_memory(const struct bench *bench)
{
	struct statfs info;

	if (statfs(bench->folder, &info) != 0)
		return;
	if ((unsigned long)info.f_type == TMPFS || (unsigned long)info.f_type == RAMFS)
		fprintf(stderr, "weir: note: '%s' lies in memory: figures of databases say nothing about a disk; set WEIR_HOME "
		        "to a folder on one\n", bench->folder);
}

bool bench_open(struct bench *bench, const struct home *home, struct error *err)
{
	bench->lock = -1;
	bench->folder = path_join(home->state, "bench");
	if (!folder_make(bench->folder, err) || !lock_take(bench, err))
		return false;
	bench->home = home_below(bench->folder);
	bench_clear(bench); /* what a killed one has left */
	if (!home_make(bench->home, err))
		return false;
	warn_of_memory(bench);
	watch_start(bench);
	return true;
}

static int remove_one(const char *path, const struct stat *info, int what, struct FTW *place)
{
	(void)info;
	(void)what;
	if (place->level == 0 || (place->level == 1 && strcmp(path + place->base, "lock") == 0))
		return 0;
	remove(path);
	return 0;
}

void bench_clear(struct bench *bench)
{
	nftw(bench->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

void bench_close(struct bench *bench)
{
	char *lock;

	if (bench->lock >= 0 && bench->home) {
		atomic_store(&bench->is_over, true);
		if (bench->watcher)
			pthread_join(bench->watcher, NULL);
		bench_clear(bench);
		lock = path_join(bench->folder, "lock");
		unlink(lock);
		free(lock);
		rmdir(bench->folder);
		close(bench->lock);
	}
	home_free(bench->home);
	free(bench->folder);
}

bool bench_cancelled(const struct bench *bench, struct error *err)
{
	if (!atomic_load(&bench->is_cancelled))
		return true;
	return fail(err, ERROR_CANCELLED, "cancelled", "the measurement was interrupted");
}

bool bench_has_room(const struct bench *bench, const struct bench_row *row, uint64_t bytes)
{
	struct statvfs info;
	uint64_t there;

	if (statvfs(bench->folder, &info) != 0)
		return true;
	there = (uint64_t)info.f_bavail * info.f_frsize;
	if (there >= bytes)
		return true;
	fprintf(stderr, "weir: %s skipped: it needs %" PRIu64 " MiB below '%s', there are %" PRIu64 "\n", row->name,
	        bytes / MIB, bench->folder, there / MIB);
	return false;
}

void bench_settle(void)
{
	sync();
}

double bench_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_middle(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

double bench_cpu_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}
