/*
 * An engine of our own: detached, so that SSH may drop, and with nothing of ours
 * open. Its standard output is a pipe for one line, in which it says that it
 * answers or why it cannot: it has no other way to tell whoever started it.
 */
#include "base/clock.h"
#include "control/control.h"
#include "control/start_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_LINE_MAX 8192
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

char *ready_print(const struct error *err)
{
	json_t *line = err ? json_pack("{s:o}", "error", error_to_json(err))
	                   : json_pack("{s:{s:i, s:i}}", "ready", "protocol", PROTOCOL_VERSION, "pid", (int)getpid());
	char *text = frame_print(line);

	json_decref(line);
	return text;
}

/* In the child that became no engine. */
static void tell_and_end(int fd, const char *program)
{
	struct error err = { 0 };
	char *line;
	ssize_t ignored;

	fail_errno(&err, errno, "cannot execute '%s'", program);
	line = ready_print(&err);
	ignored = write(fd, line, strlen(line));
	(void)ignored;
	_exit(127);
}

static void become_engine(const char *program, int tell_fd)
{
	int null_fd = open("/dev/null", O_RDWR);

	if (null_fd >= 0) {
		dup2(null_fd, STDIN_FILENO);
		dup2(null_fd, STDERR_FILENO);
	}
	dup2(tell_fd, STDOUT_FILENO);
	/* Locks and pipes of whatever script runs us would live as long as the engine. */
	close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
	execl(program, program, "--serve", "--end-when-idle", "--tell-ready", (char *)NULL);
	tell_and_end(STDOUT_FILENO, program);
}

/* The engine is nobody's child, so that nobody has to wait for it. */
static bool fork_engine(const char *program, int tell_fd, struct error *err)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return fail_errno(err, errno, "cannot start '%s'", program);
	if (child == 0) {
		setsid();
		child = fork();
		if (child == 0)
			become_engine(program, tell_fd);
		_exit(child < 0);
	}
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return fail(err, ERROR_TRANSIENT, "no_threads", "cannot start '%s': no process", program);
	return true;
}

/* One line, or what came before the end. False: it took too long. */
static bool read_line(int fd, int64_t until_ms, char line[READY_LINE_MAX])
{
	size_t used = 0;

	while (used < READY_LINE_MAX - 1 && !memchr(line, '\n', used)) {
		int64_t left_ms = until_ms - clock_mono_ms();
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int ready = poll(&wait, 1, left_ms > 0 ? (int)left_ms : 0);
		ssize_t n = ready > 0 ? read(fd, line + used, READY_LINE_MAX - 1 - used) : ready;

		if (n == 0 && ready == 0)
			return false;
		if (n < 0 && errno != EINTR)
			break;
		if (n == 0)
			break;
		used += n > 0 ? (size_t)n : 0;
	}
	line[used] = '\0';
	return true;
}

static bool take_line(const char *line, const char *program, struct error *err)
{
	json_t *object = json_loads(line, 0, NULL);
	const json_t *error = json_object_get(object, "error");
	bool is_ready = json_object_get(object, "ready") != NULL;

	if (error)
		error_from_json(error, err);
	else if (!is_ready)
		fail(err, ERROR_BUG, "engine_not_started", "'%s' ended before it answered, without a word", program);
	json_decref(object);
	return is_ready;
}

bool engine_detach(const char *program, int64_t until_ms, struct error *err)
{
	char line[READY_LINE_MAX];
	int ends[2];
	bool is_fine;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return fail_errno(err, errno, "cannot start '%s'", program);
	is_fine = fork_engine(program, ends[1], err);
	close(ends[1]);
	if (is_fine && !read_line(ends[0], until_ms, line))
		is_fine = fail(err, ERROR_UNREACHABLE, "engine_not_started", "'%s' was started and does not answer", program);
	else if (is_fine)
		is_fine = take_line(line, program, err);
	close(ends[0]);
	return is_fine;
}
