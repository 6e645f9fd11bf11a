/*
 * Wishes, and rest. A job whose source has nothing new and whose replica is merged gives back its connections, caches,
 * batches and two of its threads; what stays is its open source and one thread that sleeps here. It wakes at once when
 * the source's file changes (inotify), when a source that rings has news, when something is wished of it, or when a replay
 * is asked for. It also looks by
 * itself from time to time, often where the file system may not tell: each job its own, so that one that hangs holds up
 * nobody else.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "runner/runner_private.h"

#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LOOK_MS 2000
#define LOOK_SELDOM_MS 30000       /* where the file system tells: a look costs 70 us, a hundred jobs look a lot */
#define TRIM_AGAIN_MS 5000         /* a hundred jobs that come to rest together are trimmed together */
#define WATCHER_STACK_BYTES (64u << 10)
#define CHANGES (IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)

/* Lives on the stack of the thread that sleeps. */
struct sleeper {
	struct sleeper *next;
	const struct run_setup *setup;
	struct source *source;
	int watch;            /* of its file; -1: none */
	bool is_told;         /* of every change; else it has to look */
	bool was_rung;
	pthread_cond_t bell;
};

/* One for the process: users have few inotify instances. */
static struct {
	pthread_mutex_t lock;
	struct sleeper *sleepers;
	int fd;               /* -1: not yet, or not to be had */
	bool was_tried;
	bool wants_trim;
	int64_t trimmed_ms;
} dormitory = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/*
 * Wishes
 */

bool run_should_end(const struct run_setup *setup)
{
	return atomic_load(setup->wish) != RUN_ON;
}

bool run_should_leave(const struct run_setup *setup)
{
	int wish = atomic_load(setup->wish);

	return wish == RUN_STOP || wish == RUN_AGAIN;
}

bool run_is_ending(const atomic_int *wish)
{
	return atomic_load(wish) > RUN_AGAIN;
}

static void ring_locked(struct sleeper *sleeper)
{
	sleeper->was_rung = true;
	pthread_cond_signal(&sleeper->bell);
}

/* The wish is set before: whoever looks at it next, or is woken here, finds it. */
void run_wake(const atomic_int *wish)
{
	pthread_mutex_lock(&dormitory.lock);
	for (struct sleeper *s = dormitory.sleepers; s; s = s->next) {
		if (s->setup->wish == wish)
			ring_locked(s);
	}
	pthread_mutex_unlock(&dormitory.lock);
}

void run_wish_for(atomic_int *wish, enum run_wish stronger)
{
	int now = atomic_load(wish);

	while (now < (int)stronger && !atomic_compare_exchange_weak(wish, &now, (int)stronger))
		continue;
	run_wake(wish);
}

void run_wish_first(atomic_int *wish, enum run_wish first)
{
	int on = RUN_ON;

	if (atomic_compare_exchange_strong(wish, &on, (int)first))
		run_wake(wish);
}

/*
 * The watcher: rings whose file has changed
 */

static void ring_watched(int watch)
{
	pthread_mutex_lock(&dormitory.lock);
	for (struct sleeper *s = dormitory.sleepers; s; s = s->next) {
		/* -1: events were lost. */
		if (watch < 0 || s->watch == watch)
			ring_locked(s);
	}
	pthread_mutex_unlock(&dormitory.lock);
}

static void *watcher_main(void *context)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;

	(void)context;
	while ((n = read(dormitory.fd, events, sizeof(events))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (const struct inotify_event *)(events + at);

			ring_watched(event->wd);
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	}
	return NULL;
}

/* Made when first needed, and kept: it sleeps in a read. Without it jobs look by themselves. */
static void watcher_make_locked(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (dormitory.was_tried)
		return;
	dormitory.was_tried = true;
	dormitory.fd = inotify_init1(IN_CLOEXEC);
	if (dormitory.fd < 0)
		return;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, WATCHER_STACK_BYTES < PTHREAD_STACK_MIN ? (size_t)PTHREAD_STACK_MIN
	                                                                               : WATCHER_STACK_BYTES);
	if (pthread_create(&thread, &attributes, watcher_main, NULL) != 0) {
		close(dormitory.fd);
		dormitory.fd = -1;
		dormitory.was_tried = false;
	}
	pthread_attr_destroy(&attributes);
}

/*
 * Sleeping
 */

/* Local file systems: a watch never hangs there. All tell every change, but for a layered one, whose lower file may
 * change unseen. On others (NFS, FUSE) the job looks. */
static const struct file_system {
	unsigned long magic;
	bool tells_all;
} file_systems[] = {
	{ EXT4_SUPER_MAGIC, true }, { XFS_SUPER_MAGIC, true }, { BTRFS_SUPER_MAGIC, true },
	{ F2FS_SUPER_MAGIC, true }, { TMPFS_MAGIC, true },     { OVERLAYFS_SUPER_MAGIC, false },
};

static const struct file_system *file_system_of(const char *file)
{
	struct statfs fs;

	if (statfs(file, &fs) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(file_systems) / sizeof(file_systems[0]); i++) {
		if ((unsigned long)fs.f_type == file_systems[i].magic)
			return &file_systems[i];
	}
	return NULL;
}

static void lie_down(struct sleeper *sleeper)
{
	bool rings = sleeper->source->ops->rings;
	const char *file = rings ? NULL : sleeper->source->ops->watched(sleeper->source);
	const struct file_system *fs = file ? file_system_of(file) : NULL;

	clock_cond_init(&sleeper->bell);
	pthread_mutex_lock(&dormitory.lock);
	if (file)
		watcher_make_locked();
	sleeper->watch = dormitory.fd < 0 || !fs ? -1 : inotify_add_watch(dormitory.fd, file, CHANGES);
	sleeper->is_told = rings || (sleeper->watch >= 0 && fs->tells_all);
	sleeper->next = dormitory.sleepers;
	dormitory.sleepers = sleeper;
	dormitory.wants_trim = true;
	pthread_mutex_unlock(&dormitory.lock);
}

/* Jobs that read the same file share a watch. */
static bool is_watched_locked(int watch)
{
	for (const struct sleeper *s = dormitory.sleepers; s; s = s->next) {
		if (s->watch == watch)
			return true;
	}
	return false;
}

static void get_up(struct sleeper *sleeper)
{
	struct sleeper **at = &dormitory.sleepers;

	pthread_mutex_lock(&dormitory.lock);
	while (*at != sleeper)
		at = &(*at)->next;
	*at = sleeper->next;
	if (sleeper->watch >= 0 && !is_watched_locked(sleeper->watch))
		inotify_rm_watch(dormitory.fd, sleeper->watch);
	pthread_mutex_unlock(&dormitory.lock);
	pthread_cond_destroy(&sleeper->bell);
}

/* What jobs have freed goes back to the system, once for all that lie down together. */
static void trim(void)
{
	int64_t now_ms = clock_mono_ms();
	bool is_ours;

	pthread_mutex_lock(&dormitory.lock);
	is_ours = dormitory.wants_trim && now_ms - dormitory.trimmed_ms >= TRIM_AGAIN_MS;
	if (is_ours) {
		dormitory.wants_trim = false;
		dormitory.trimmed_ms = now_ms;
	}
	pthread_mutex_unlock(&dormitory.lock);
	if (is_ours)
		memory_give_back();
}

/* A ring that came while we looked is not lost: it is remembered until here. */
static void sleep_until_rung(struct sleeper *sleeper)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	pthread_mutex_lock(&dormitory.lock);
	until.tv_sec += (sleeper->is_told && !dormitory.wants_trim ? LOOK_SELDOM_MS : LOOK_MS) / 1000;
	if (!sleeper->was_rung)
		pthread_cond_timedwait(&sleeper->bell, &dormitory.lock, &until);
	sleeper->was_rung = false;
	pthread_mutex_unlock(&dormitory.lock);
}

static bool has_reason_to_wake(const struct sleeper *sleeper)
{
	return run_should_end(sleeper->setup) || run_is_asked_to_replay(sleeper->setup) ||
	       sleeper->source->ops->has_news(sleeper->source);
}

bool source_may_rest(struct source *source)
{
	struct error trouble;

	if (!source || !source->ops->has_news || (source->ops->trouble && source->ops->trouble(source, &trouble)))
		return false;
	return source->ops->rings || source->ops->watched(source);
}

void run_rest(const struct run_setup *setup, struct source *source)
{
	struct sleeper sleeper = { .setup = setup, .source = source };

	progress_rest(setup->progress);
	if (source->ops->rest)
		source->ops->rest(source);
	lie_down(&sleeper);
	while (!has_reason_to_wake(&sleeper)) {
		sleep_until_rung(&sleeper);
		trim();
	}
	get_up(&sleeper);
}
