/* Engines of their own that benchmarks start and look at from outside, in /proc. */
#include "base/arena.h"
#include "bench/bench_private.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

/* The number behind `name` in one of /proc's small texts, or 0. */
uint64_t bench_proc_number(const char *path, const char *name)
{
	char line[256];
	size_t len = strlen(name);
	uint64_t number = 0;
	FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, len) == 0)
			number = strtoull(line + len, NULL, 10);
	}
	if (file)
		fclose(file);
	return number;
}

/* The first is ours, the others are lent by `environ`. */
char **bench_environment(const struct bench *bench)
{
	size_t count = 0, kept = 1, room = strlen(bench->folder) + sizeof("WEIR_HOME=");
	char **made, *home = memory_alloc(room);

	snprintf(home, room, "WEIR_HOME=%s", bench->folder);
	while (environ[count])
		count++;
	made = memory_alloc((count + 2) * sizeof(*made));
	made[0] = home;
	for (size_t i = 0; i < count; i++) {
		if (strncmp(environ[i], "WEIR_HOME=", 10) != 0)
			made[kept++] = environ[i];
	}
	made[kept] = NULL;
	return made;
}

void bench_environment_free(char **names)
{
	free(names[0]);
	free(names);
}

/* Signals are blocked here and a ^C reaches the whole group: the child gets neither, we end it ourselves. */
static int spawn(pid_t *out, char *const *arguments, char *const *names)
{
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t actions;
	sigset_t none;
	int number;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	number = posix_spawn(out, "/proc/self/exe", &actions, &attributes, arguments, names);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return number;
}

bool bench_spawn(const struct bench *bench, char *const *arguments, pid_t *out_pid, struct error *err)
{
	char **names = bench_environment(bench);
	int number = spawn(out_pid, arguments, names);

	bench_environment_free(names);
	return !number || fail_errno(err, number, "cannot start an engine of its own");
}
