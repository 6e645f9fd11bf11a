/*
 * grpc_echo: our gRPC client and grpc-go's do the same work against the same server of
 * Google's library, in turn. Server and Go client are test programs (tests/emulators),
 * ours is linked into tests/google/drive: an engine that uses no gRPC yet need not
 * load it to be measured. All stand beside weird in a build folder.
 */
#include "base/arena.h"
#include "base/file.h"
#include "bench/bench_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 3
#define STREAMS "4"
#define AHEAD "100"
#define SIZE "1024"
#define LINE_BYTES 4096
#define POLL_MS 100

/* A program whose standard input we hold and whose answer is one line. */
struct talker {
	pid_t pid;
	int in, out;
};

/* Folder of the running program. */
static char *own_folder(void)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[len > 0 ? len : 0] = '\0';
	char *slash = strrchr(self, '/');

	if (slash)
		*slash = '\0';
	return memory_string(self);
}

/* Like the engines of their own: no signal of the terminal reaches it, we end it. */
static int spawn_piped(char *const *arguments, int in, int out, pid_t *out_pid)
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
	number = posix_spawn(out_pid, arguments[0], &actions, &attributes, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return number;
}

static bool talker_start(char *const *arguments, struct talker *out, struct error *err)
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
	number = spawn_piped(arguments, in[0], from[1], &out->pid);
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

static void talker_end(struct talker *talker, bool is_patient)
{
	close(talker->in);
	close(talker->out);
	if (!is_patient)
		kill(talker->pid, SIGKILL);
	waitpid(talker->pid, NULL, 0);
}

/* One line of JSON; ^C is looked for meanwhile. */
static json_t *talker_answer(const struct bench *bench, struct talker *talker, struct error *err)
{
	char line[LINE_BYTES];
	size_t len = 0;

	while (len < sizeof(line) && (len == 0 || line[len - 1] != '\n')) {
		struct pollfd ready = { .fd = talker->out, .events = POLLIN };
		ssize_t got;

		if (!bench_cancelled(bench, err))
			return NULL;
		if (poll(&ready, 1, POLL_MS) <= 0)
			continue;
		got = read(talker->out, line + len, sizeof(line) - len);
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	json_t *said = json_loadb(line, len, 0, NULL);

	if (!said)
		fail(err, ERROR_BUG, "bench_failed", "a program of the benchmark ended without its figures");
	return said;
}

/* Runs a client to its end. */
static bool client_run(const struct bench *bench, char *const *arguments, double *out_rate, double *out_cpu, struct error *err)
{
	struct talker talker;
	double messages, wall_s;
	json_t *said;

	if (!talker_start(arguments, &talker, err))
		return false;
	said = talker_answer(bench, &talker, err);
	talker_end(&talker, said != NULL);
	if (!said)
		return false;
	messages = json_number_value(json_object_get(said, "messages"));
	wall_s = json_number_value(json_object_get(said, "wall_s"));
	*out_rate = wall_s > 0 ? messages / wall_s : 0;
	*out_cpu = messages > 0 ? json_number_value(json_object_get(said, "cpu_s")) / messages * 1e6 : 0;
	json_decref(said);
	return messages > 0 && wall_s > 0 ? true : fail(err, ERROR_BUG, "bench_failed", "a client of the benchmark did no work");
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double middle(double values[ROUNDS])
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

/* Ours and theirs in turn, so that what else the machine does meets both. */
static bool measure(struct bench *bench, char *drive, char *emulators, int port, struct error *err)
{
	double rates[2][ROUNDS], cpus[2][ROUNDS];
	char at[40], target[40], count[40], bench_word[] = "bench", size[] = "size=" SIZE, streams[] = "streams=" STREAMS;
	char ahead[] = "ahead=" AHEAD, alarm[] = "alarm_s=900", target_word[] = "-target", count_word[] = "-count", number[24];
	char size_word[] = "-size", streams_word[] = "-streams", ahead_word[] = "-window";
	char size_number[] = SIZE, streams_number[] = STREAMS, ahead_number[] = AHEAD;

	snprintf(at, sizeof(at), "port=%d", port);
	snprintf(target, sizeof(target), "127.0.0.1:%d", port);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)BENCH_MESSAGES);
	snprintf(count, sizeof(count), "count=%s", number);

	char *ours[] = { drive, bench_word, at, count, size, streams, ahead, alarm, NULL };
	char *theirs[] = { emulators, bench_word, target_word, target, count_word, number, size_word, size_number, streams_word,
	                   streams_number, ahead_word, ahead_number, NULL };

	for (int i = 0; i < ROUNDS; i++) {
		if (!client_run(bench, ours, &rates[0][i], &cpus[0][i], err) || !client_run(bench, theirs, &rates[1][i], &cpus[1][i], err))
			return false;
	}
	bench->echo = (struct bench_echo){ true, middle(rates[0]), middle(rates[1]), middle(cpus[0]), middle(cpus[1]) };
	return true;
}

static bool with_server(struct bench *bench, char *drive, char *emulators, struct error *err)
{
	char echo[] = "echo", folder[] = "-dir";
	char *arguments[] = { emulators, echo, folder, bench->folder, NULL };
	struct talker server;
	json_t *said;
	bool is_fine;

	if (!talker_start(arguments, &server, err))
		return false;
	said = talker_answer(bench, &server, err);
	is_fine = said && measure(bench, drive, emulators,
	                          (int)json_integer_value(json_object_get(json_object_get(said, "ports"), "plain")), err);
	json_decref(said);
	talker_end(&server, true);
	return is_fine;
}

/* Both rows are of one measurement: the second one asked for in a call repeats nothing. */
static bool echo_measure(struct bench *bench, bool *out_skipped, struct error *err)
{
	char *folder = own_folder(), *drive = path_join(folder, "tests/google/drive"), *emulators = path_join(folder, "emulators");
	bool is_built = access(drive, X_OK) == 0 && access(emulators, X_OK) == 0, is_fine = true;

	if (!is_built && !bench->echo.is_measured)
		fputs("bench: the test servers of gRPC are not built beside weird (make google): skipped\n", stderr);
	else if (!bench->echo.is_measured)
		is_fine = with_server(bench, drive, emulators, err);
	*out_skipped = !is_built;
	free(drive);
	free(emulators);
	free(folder);
	return is_fine;
}

bool bench_grpc_echo(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	(void)row;
	if (!echo_measure(bench, &out->is_skipped, err))
		return false;
	out->value = bench->echo.rate;
	out->baseline_value = bench->echo.go_rate;
	return true;
}

bool bench_grpc_echo_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	(void)row;
	if (!echo_measure(bench, &out->is_skipped, err))
		return false;
	out->value = bench->echo.cpu;
	out->baseline_value = bench->echo.go_cpu;
	return true;
}
