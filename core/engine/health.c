/*
 * Would a stop or a crash lose anything now, and what runs short: the lines of `weir engine status` and of the console's
 * health screen. Levels are those of `weir check`: ok, warning, fails.
 */
#include "base/clock.h"
#include "engine/commands_private.h"
#include "engine/health_private.h"
#include "engine/metrics_private.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define COMMIT_OLD_S 60                       /* with something in flight: a warning */
#define DISK_SHORT ((uint64_t)1 << 30)        /* bytes free: a warning */
#define DISK_OUT ((uint64_t)64 << 20)         /* bytes free: it fails soon */
#define MIB (1024.0 * 1024.0)

struct sums {
	json_int_t jobs, running, needing, in_flight, parked, letters, waiting, unbalanced;
	double oldest_commit_s, oldest_replica_s;
	char oldest_job[JOB_NAME_MAX + 1];
};

static void say(struct call *call, const char *level, const char *what, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void say(struct call *call, const char *level, const char *what, const char *format, ...)
{
	char now[512];
	va_list values;

	va_start(values, format);
	vsnprintf(now, sizeof(now), format, values);
	va_end(values);
	call_line(call, json_pack("{s:s, s:s, s:s}", "level", level, "what", what, "now", now));
}

static json_int_t number(const json_t *line, const char *member)
{
	return json_integer_value(json_object_get(line, member));
}

static double age_s(const json_t *line, const char *member, int64_t now_us)
{
	const char *text = json_string_value(json_object_get(line, member));
	struct tm tm = { 0 };

	if (!text || !strptime(text, "%Y-%m-%dT%H:%M:%S", &tm))
		return 0;
	return (double)(now_us / 1000000 - (int64_t)timegm(&tm));
}

static void add_running(struct sums *sums, const json_t *line, int64_t now_us)
{
	double commit = age_s(line, "committed", now_us), replica = age_s(line, "replica_since", now_us);

	sums->running++;
	if (commit > sums->oldest_commit_s) {
		sums->oldest_commit_s = commit;
		snprintf(sums->oldest_job, sizeof(sums->oldest_job), "%s", json_string_value(json_object_get(line, "job")));
	}
	if (replica > sums->oldest_replica_s)
		sums->oldest_replica_s = replica;
	sums->waiting += number(line, "replica_waiting");
}

static bool add_job(struct call *call, const struct job_options *options, void *context, struct error *err)
{
	struct sums *sums = context;
	json_t *line = job_line(call, options, false, err);

	if (!line)
		return false;
	status_add_live(call, line);
	sums->jobs++;
	sums->in_flight += number(line, "in_flight");
	sums->parked += number(line, "parked");
	sums->letters += number(line, "open_letters");
	sums->unbalanced += json_is_false(json_object_get(line, "balanced"));
	sums->needing += strcmp(json_string_value(json_object_get(line, "state")), "needs you") == 0;
	if (json_is_true(json_object_get(line, "running")))
		add_running(sums, line, clock_utc_us());
	json_decref(line);
	return true;
}

static void say_jobs(struct call *call, const struct sums *sums)
{
	bool is_late = sums->in_flight && sums->oldest_commit_s > COMMIT_OLD_S;

	if (sums->running)
		say(call, is_late ? "warning" : "ok", "position and ledger stored", "%.1fs ago at most%s%s", sums->oldest_commit_s,
		    *sums->oldest_job ? ", job " : "", sums->oldest_job);
	else
		say(call, "ok", "position and ledger stored", "all: no job runs");
	say(call, sums->unbalanced ? "fails" : "ok", "ledgers", "%lld of %lld balanced", (long long)(sums->jobs - sums->unbalanced),
	    (long long)sums->jobs);
	say(call, "ok", "unsaved work", "%lld in flight; a crash reads them again", (long long)sums->in_flight);
	say(call, "ok", "replicas behind the changelog", "%lld changes, the oldest waits %.1fs", (long long)sums->waiting,
	    sums->oldest_replica_s);
	say(call, "ok", "parked", "%lld messages of paused tables", (long long)sums->parked);
	say(call, sums->letters ? "warning" : "ok", "dead letters", "%lld open", (long long)sums->letters);
	say(call, sums->needing ? "warning" : "ok", "jobs", "needing you %lld of %lld, running %lld",
	    (long long)sums->needing, (long long)sums->jobs, (long long)sums->running);
}

static void say_disk(struct call *call, const char *folder)
{
	struct statvfs disk;
	uint64_t free_bytes;

	if (statvfs(folder, &disk) != 0) {
		say(call, "fails", "disk below the state folder", "cannot look at '%s': %s", folder, strerror(errno));
		return;
	}
	free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
	say(call, free_bytes < DISK_OUT ? "fails" : free_bytes < DISK_SHORT ? "warning" : "ok", "disk below the state folder",
	    "%.1f GiB free", (double)free_bytes / MIB / 1024);
}

static int open_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = -1; /* the folder's own */

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count - 2; /* "." and ".." */
}

static void say_process(struct call *call)
{
	struct rlimit limit = { 0 };
	int used = open_descriptors();
	double up_s = (double)(clock_mono_ms() - call->engine->started_ms) / 1000;
	int64_t began_us = clock_utc_us() - (int64_t)(up_s * 1e6);
	char began[CLOCK_TEXT_BYTES];

	getrlimit(RLIMIT_NOFILE, &limit);
	clock_text(began_us, began);
	say(call, (rlim_t)used * 10 > limit.rlim_cur * 9 ? "warning" : "ok", "descriptors", "%d of %llu", used,
	    (unsigned long long)limit.rlim_cur);
	say(call, "ok", "engine", "since %.19sZ, pid %d", began, (int)getpid());
	say(call, "ok", "memory and sessions", "%.0f MiB, %d sessions", metrics_resident_bytes() / MIB,
	    atomic_load(&call->engine->session_count));
}

static void say_vault(struct call *call)
{
	char sentence[400];
	const char *level = secrets_health(call->engine, sentence, sizeof(sentence));

	if (level)
		say(call, level, "vault", "%s", sentence);
}

bool health_lines(struct call *call, struct error *err)
{
	struct sums sums = { 0 };
	struct error failure = { 0 };

	/* A job whose files cannot be read is a line, and hides nothing else. */
	if (!job_each(call, NULL, add_job, &sums, &failure))
		say(call, "fails", "jobs that can be read", "%s: %s", failure.code, failure.message);
	(void)err;
	say_jobs(call, &sums);
	say_disk(call, call->engine->home->state);
	say_vault(call);
	say_process(call);
	return true;
}
