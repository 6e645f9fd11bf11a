/* A terminal with a program in it, looked at from its other end: bytes that come, and the console's answer to a token. */
#include "base/arena.h"
#include "base/clock.h"
#include "bench/bench_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define ROWS 30
#define COLS 100
#define SYNC_WAIT_S 20.0
#define END_WAIT_MS 5000
#define READ_BYTES 65536
#define NAME_BYTES 128

static const char *const fixed[] = { "TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=", NULL };

static bool is_fixed(const char *variable)
{
	for (size_t i = 0; fixed[i]; i++) {
		if (strncmp(variable, fixed[i], strcspn(fixed[i], "=") + 1) == 0)
			return true;
	}
	return strncmp(variable, "WEIR_HOME=", 10) == 0;
}

/* The same terminal on every machine, and our folder as the home. `home` is lent to the result. */
static char **environment(char *home)
{
	size_t count = 0, kept = 0;
	char **made;

	while (environ[count])
		count++;
	made = memory_alloc((count + sizeof(fixed) / sizeof(*fixed) + 2) * sizeof(*made));
	made[kept++] = home;
	for (size_t i = 0; fixed[i]; i++)
		made[kept++] = (char *)fixed[i];
	for (size_t i = 0; i < count; i++) {
		if (!is_fixed(environ[i]))
			made[kept++] = environ[i];
	}
	made[kept] = NULL;
	return made;
}

/* A new session whose first terminal becomes its own one. */
static int spawn(const char *terminal, char *const *arguments, char *const *names, pid_t *out)
{
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t actions;
	sigset_t none;
	int number;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, terminal, O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO);
	number = posix_spawnp(out, arguments[0], &actions, &attributes, arguments, names);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return number;
}

/* Without echo: a key that is sent before the program is up must not count as its output. */
static bool terminal_make(struct bench_terminal *out, char name[NAME_BYTES], int *out_other, struct error *err)
{
	struct winsize size = { .ws_row = ROWS, .ws_col = COLS };
	struct termios modes;

	out->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (out->fd < 0 || grantpt(out->fd) != 0 || unlockpt(out->fd) != 0 || ptsname_r(out->fd, name, NAME_BYTES) != 0)
		return fail_errno(err, errno, "no terminal");
	*out_other = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*out_other < 0 || tcgetattr(*out_other, &modes) != 0)
		return fail_errno(err, errno, "no terminal");
	modes.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
	tcsetattr(*out_other, TCSANOW, &modes);
	ioctl(*out_other, TIOCSWINSZ, &size);
	return true;
}

bool bench_terminal_open(const struct bench *bench, char *const *arguments, struct bench_terminal *out,
                         struct error *err)
{
	size_t room = strlen(bench->folder) + sizeof("WEIR_HOME=");
	char *home = memory_alloc(room), name[NAME_BYTES];
	int other = -1, number = 0;
	bool is_fine;

	*out = (struct bench_terminal){ .fd = -1 };
	snprintf(home, room, "WEIR_HOME=%s", bench->folder);
	is_fine = terminal_make(out, name, &other, err);
	if (is_fine) {
		char **names = environment(home);

		number = spawn(name, arguments, names, &out->pid);
		free(names);
	}
	if (other >= 0)
		close(other);
	free(home);
	if (is_fine && !number)
		return true;
	out->pid = 0;
	bench_terminal_close(out);
	return is_fine ? fail_errno(err, number, "cannot start '%s'", arguments[0]) : false;
}

/* False: nothing came in that time. What the program has sent before it ended is read first. */
static bool read_some(struct bench_terminal *terminal, double seconds, char bytes[READ_BYTES], size_t *out_len)
{
	struct pollfd fd = { .fd = terminal->fd, .events = POLLIN };
	ssize_t n;

	if (poll(&fd, 1, seconds > 0 ? (int)(seconds * 1000) + 1 : 0) <= 0)
		return false;
	n = read(terminal->fd, bytes, READ_BYTES);
	if (n <= 0)
		return false;
	terminal->bytes += (uint64_t)n;
	*out_len = (size_t)n;
	return true;
}

/* An answer may come in pieces: what came is kept from its last ESC on. */
static bool has_answer(char *kept, size_t room, size_t *len, const char *bytes, size_t count, const char *wanted)
{
	for (size_t i = 0; i < count; i++) {
		if (bytes[i] == '\033' || *len + 1 == room)
			*len = 0;
		kept[(*len)++] = bytes[i];
		kept[*len] = '\0';
		if (strcmp(kept, wanted) == 0)
			return true;
	}
	return false;
}

bool bench_terminal_sync(struct bench_terminal *terminal, struct error *err)
{
	char wanted[64], kept[128], *bytes = memory_alloc(READ_BYTES);
	double until_s = bench_now_s() + SYNC_WAIT_S;
	size_t kept_len = 0, len;
	bool has_come = false;

	snprintf(wanted, sizeof(wanted), "\033]7717;bench%u\a", ++terminal->synced);
	if (write(terminal->fd, wanted, strlen(wanted)) == (ssize_t)strlen(wanted)) {
		while (!has_come && bench_now_s() < until_s) {
			if (read_some(terminal, until_s - bench_now_s(), bytes, &len))
				has_come = has_answer(kept, sizeof(kept), &kept_len, bytes, len, wanted);
			else if (waitpid(terminal->pid, NULL, WNOHANG) != 0)
				break;
		}
	}
	terminal->bytes -= has_come ? strlen(wanted) : 0;
	free(bytes);
	return has_come || fail(err, ERROR_BUG, "bench_failed", "the console did not answer within %.0f s", SYNC_WAIT_S);
}

bool bench_terminal_key(struct bench_terminal *terminal, const char *key, double *out_s, struct error *err)
{
	char *bytes = memory_alloc(READ_BYTES);
	double begun_s = bench_now_s();
	size_t len;
	bool has_come = write(terminal->fd, key, strlen(key)) == (ssize_t)strlen(key) &&
	                read_some(terminal, SYNC_WAIT_S, bytes, &len);

	*out_s = bench_now_s() - begun_s;
	free(bytes);
	return has_come ? bench_terminal_sync(terminal, err) :
	                  fail(err, ERROR_BUG, "bench_failed", "the console did not answer a key");
}

bool bench_terminal_read(const struct bench *bench, struct bench_terminal *terminal, double seconds, double quiet_s,
                         double *out_last_s, struct error *err)
{
	double until_s = bench_now_s() + seconds, last_s = bench_now_s();
	char *bytes = memory_alloc(READ_BYTES);
	bool has_come = false, is_cancelled = false;

	while (!is_cancelled && bench_now_s() < until_s) {
		double wait_s = until_s - bench_now_s();
		size_t len;

		wait_s = wait_s < 0.1 ? wait_s : 0.1; /* ^C is looked for */
		if (read_some(terminal, wait_s, bytes, &len)) {
			has_come = true;
			last_s = bench_now_s();
		} else if (has_come && quiet_s > 0 && bench_now_s() - last_s >= quiet_s) {
			break;
		}
		is_cancelled = !bench_cancelled(bench, err);
	}
	free(bytes);
	*out_last_s = last_s;
	return !is_cancelled;
}

void bench_terminal_close(struct bench_terminal *terminal)
{
	int64_t until_ms = clock_mono_ms() + END_WAIT_MS;

	if (terminal->fd >= 0)
		close(terminal->fd); /* a hang-up ends it */
	while (terminal->pid > 0 && waitpid(terminal->pid, NULL, WNOHANG) == 0) {
		if (clock_mono_ms() > until_ms)
			kill(terminal->pid, SIGKILL);
		clock_sleep_ms(5);
	}
	*terminal = (struct bench_terminal){ .fd = -1 };
}
