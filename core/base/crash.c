/* Crash points: the process kills itself where a test wants it to. */
#include "base/crash.h"

#ifdef WEIR_TEST_SWITCHES

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const crash_names[CRASH_POINTS] = {
#define CRASH_POINT(name, note) [CRASH_##name] = #name,
#include "base/crash_points.def"
#undef CRASH_POINT
};

/* Points are passed by several threads of one process. */
static _Atomic unsigned long passings[CRASH_POINTS];

/* A misspelt name would let a crash test pass without a crash. */
static void crash_misused(const char *wish)
{
	fprintf(stderr, "weir: WEIR_CRASH='%s': no such crash point\n", wish);
	_exit(2);
}

static void crash_trace(const char *name)
{
	const char *path = getenv("WEIR_CRASH_TRACE");
	char line[64];

	if (!path)
		return;

	int len = snprintf(line, sizeof(line), "%s\n", name);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, line, (size_t)len) != len) {
		fprintf(stderr, "weir: WEIR_CRASH_TRACE: cannot write '%s'\n", path);
		_exit(2);
	}
	close(fd);
}

static enum crash_point_id crash_find(const char *wish, size_t len)
{
	for (int id = 0; id < CRASH_POINTS; id++) {
		if (strlen(crash_names[id]) == len && memcmp(crash_names[id], wish, len) == 0)
			return (enum crash_point_id)id;
	}
	return CRASH_POINTS;
}

/* NAME or NAME:N, N from 1. */
static void crash_if_wished(enum crash_point_id id, unsigned long passing)
{
	const char *wish = getenv("WEIR_CRASH");
	unsigned long wanted = 1;
	char *end = NULL;

	if (!wish || *wish == '\0')
		return;

	size_t len = strcspn(wish, ":");
	enum crash_point_id wished = crash_find(wish, len);

	if (wish[len] == ':')
		wanted = strtoul(wish + len + 1, &end, 10);
	if (wished == CRASH_POINTS || wanted == 0 || (end && *end != '\0'))
		crash_misused(wish);
	if (wished == id && wanted == passing)
		kill(getpid(), SIGKILL);
}

void crash_point_pass(enum crash_point_id id)
{
	unsigned long passing = atomic_fetch_add(&passings[id], 1) + 1;

	if (passing == 1)
		crash_trace(crash_names[id]);
	crash_if_wished(id, passing);
}

#endif
