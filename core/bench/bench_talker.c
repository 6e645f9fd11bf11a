/*
 * Programs beside weird that benchmarks talk to: servers, and the clients that are
 * baselines. Each is held by its standard input and says lines of JSON.
 */
#include "base/arena.h"
#include "base/file.h"
#include "bench/bench_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_BYTES (64u << 10)
#define POLL_MS 100

char *bench_program(const char *name)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[len > 0 ? len : 0] = '\0';
	char *slash = strrchr(self, '/');

	if (slash)
		*slash = '\0';
	return path_join(self, name);
}

/* Like the engines of their own: no signal of the terminal reaches it, we end it. */
static int spawn_piped(char *const *arguments, char *const *names, int in, int out, pid_t *out_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int number;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	number = posix_spawn(out_pid, arguments[0], &actions, &attributes, arguments, names);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return number;
}

bool bench_talker_start(char *const *arguments, char *const *names, struct bench_talker *out, struct error *err)
{
	int in[2], from[2], number;

	if (pipe2(in, O_CLOEXEC) != 0)
		return fail_errno(err, errno, "cannot start %s", arguments[0]);
	if (pipe2(from, O_CLOEXEC) != 0) {
		number = errno;
		close(in[0]);
		close(in[1]);
		return fail_errno(err, number, "cannot start %s", arguments[0]);
	}
	number = spawn_piped(arguments, names, in[0], from[1], &out->pid);
	close(in[0]);
	close(from[1]);
	out->in = in[1];
	out->out = from[0];
	if (!number)
		return true;
	close(in[1]);
	close(from[0]);
	return fail_errno(err, number, "cannot start %s", arguments[0]);
}

void bench_talker_hush(struct bench_talker *talker)
{
	if (talker->in >= 0)
		close(talker->in);
	talker->in = -1;
}

double bench_talker_end(struct bench_talker *talker, bool is_patient)
{
	struct rusage usage = { 0 };

	bench_talker_hush(talker);
	close(talker->out);
	if (!is_patient)
		kill(talker->pid, SIGKILL);
	wait4(talker->pid, NULL, 0, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* ^C is looked for meanwhile. */
json_t *bench_talker_answer(const struct bench *bench, struct bench_talker *talker, struct error *err)
{
	char *line = memory_alloc(LINE_BYTES);
	size_t len = 0;
	json_t *said;

	while (len < LINE_BYTES && (len == 0 || line[len - 1] != '\n')) {
		struct pollfd ready = { .fd = talker->out, .events = POLLIN };
		ssize_t got;

		if (!bench_cancelled(bench, err)) {
			free(line);
			return NULL;
		}
		if (poll(&ready, 1, POLL_MS) <= 0)
			continue;
		got = read(talker->out, line + len, LINE_BYTES - len);
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	said = json_loadb(line, len, 0, NULL);
	free(line);
	if (!said)
		fail(err, ERROR_BUG, "bench_failed", "a program of the benchmark ended without its figures");
	return said;
}

bool bench_client_run(const struct bench *bench, char *const *arguments, double *out_rate, double *out_cpu, struct error *err)
{
	struct bench_talker talker;
	double messages, wall_s;
	json_t *said;

	if (!bench_talker_start(arguments, environ, &talker, err))
		return false;
	said = bench_talker_answer(bench, &talker, err);
	bench_talker_end(&talker, said != NULL);
	if (!said)
		return false;
	messages = json_number_value(json_object_get(said, "messages"));
	wall_s = json_number_value(json_object_get(said, "wall_s"));
	*out_rate = wall_s > 0 ? messages / wall_s : 0;
	*out_cpu = messages > 0 ? json_number_value(json_object_get(said, "cpu_s")) / messages * 1e6 : 0;
	json_decref(said);
	return messages > 0 && wall_s > 0 ? true : fail(err, ERROR_BUG, "bench_failed", "a client of the benchmark did no work");
}
