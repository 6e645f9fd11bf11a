/* What a debug bundle says of the machine: sizes of our files, limits, memory, room on the disk. */
#include "base/clock.h"
#include "base/file.h"
#include "engine/bundle_private.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

static void list_folder(struct text *out, const char *folder, const char *shown, int depth)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		char *path = path_join(folder, entry->d_name), *name = path_join(shown, entry->d_name);
		struct stat info;
		char time[CLOCK_TEXT_BYTES];

		if (entry->d_name[0] != '.' && lstat(path, &info) == 0) {
			clock_text((int64_t)info.st_mtime * 1000000, time);
			if (!S_ISDIR(info.st_mode))
				bundle_add(out,
				           json_pack("{s:s*, s:I, s:I, s:s, s:I}", "file", name, "bytes",
				                     (json_int_t)info.st_size, "blocks", (json_int_t)info.st_blocks,
				                     "changed", time, "mode", (json_int_t)(info.st_mode & 07777)));
			else if (depth > 0)
				list_folder(out, path, name, depth - 1);
		}
		free(name);
		free(path);
	}
	if (entries)
		closedir(entries);
}

void bundle_files(struct text *out, const struct home *home)
{
	list_folder(out, home->state, "", 3);
	if (strcmp(home->config, home->state) != 0)
		list_folder(out, home->config, "config", 2);
}

static const struct limit_row {
	const char *name;
	int resource;
} limit_rows[] = {
	{ "descriptors", RLIMIT_NOFILE }, { "file_bytes", RLIMIT_FSIZE },  { "address_bytes", RLIMIT_AS },
	{ "processes", RLIMIT_NPROC },    { "stack_bytes", RLIMIT_STACK }, { "locked_bytes", RLIMIT_MEMLOCK },
};

/* -1: no limit. */
static json_t *limits_json(void)
{
	json_t *limits = json_object();

	for (size_t i = 0; i < sizeof(limit_rows) / sizeof(limit_rows[0]); i++) {
		struct rlimit limit;

		if (getrlimit((__typeof__(RLIMIT_NOFILE))limit_rows[i].resource, &limit) == 0)
			json_object_set_new(
				limits, limit_rows[i].name,
				json_integer(limit.rlim_cur == RLIM_INFINITY ? -1 : (json_int_t)limit.rlim_cur));
	}
	return limits;
}

/* Variables that change what we do; no others are looked at. */
static json_t *environment_json(void)
{
	static const char *const names[] = { "WEIR_HOME",
		                             "WEIR_LOG",
		                             "XDG_CONFIG_HOME",
		                             "XDG_STATE_HOME",
		                             "XDG_RUNTIME_DIR",
		                             "LANG",
		                             "LC_ALL",
		                             "TZ",
		                             "PUBSUB_EMULATOR_HOST",
		                             "BIGQUERY_EMULATOR_HOST",
		                             "BIGTABLE_EMULATOR_HOST",
		                             "STORAGE_EMULATOR_HOST" };
	json_t *found = json_object();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (getenv(names[i]))
			json_object_set_new(found, names[i], json_string(getenv(names[i])));
	}
	return found;
}

static json_t *process_json(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	return json_pack("{s:I, s:I, s:f, s:f, s:I}", "pid", (json_int_t)getpid(), "uid", (json_int_t)geteuid(),
	                 "user_s", (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6, "system_s",
	                 (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6, "most_memory_kib",
	                 (json_int_t)usage.ru_maxrss);
}

json_t *bundle_system(const struct home *home)
{
	struct utsname system = { 0 };
	struct statvfs disk = { 0 };

	uname(&system);
	statvfs(home->state, &disk);
	return json_pack("{s:s*, s:s*, s:s*, s:I, s:I, s:I, s:o, s:o, s:o}", "system", system.sysname, "release",
	                 system.release, "machine", system.machine, "cores", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN),
	                 "disk_bytes", (json_int_t)(disk.f_blocks * disk.f_frsize), "disk_free_bytes",
	                 (json_int_t)(disk.f_bavail * disk.f_frsize), "process", process_json(), "limits",
	                 limits_json(), "environment", environment_json());
}
