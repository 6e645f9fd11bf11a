/* Starting `weird` from `weir`: found beside our own file, never in PATH; by the user's systemd, else detached, so that SSH
 * may drop. */
#include "base/clock.h"
#include "base/file.h"
#include "control/control.h"
#include "control/unit_private.h"
#include "install_paths.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_WAIT_MS 10000
#define START_POLL_MS 20
#define START_AGAIN_MS 500

static char *beside_us(void)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *folder, *program;

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	folder = path_folder(self);
	program = path_join(folder, "weird");
	free(folder);
	return program;
}

static char *find_program(bool *out_is_installed, struct error *err)
{
	char *program = beside_us();

	*out_is_installed = false;
	if (program && access(program, X_OK) == 0)
		return program;
	free(program);
	program = path_join(WEIR_LIBEXECDIR, "weird");
	*out_is_installed = true;
	if (access(program, X_OK) == 0)
		return program;
	free(program);
	fail(err, ERROR_UNREACHABLE, "engine_not_found", "there is no 'weird' beside this program or in '%s'",
	     WEIR_LIBEXECDIR);
	return NULL;
}

char *engine_program(struct error *err)
{
	bool ignored;

	return find_program(&ignored, err);
}

/* In the grandchild: own session, nothing of ours open, hang-ups ignored by the engine itself. */
static void become_engine(const char *program)
{
	int null_fd = open("/dev/null", O_RDWR);

	if (null_fd >= 0) {
		dup2(null_fd, 0);
		dup2(null_fd, 1);
		dup2(null_fd, 2);
	}
	execl(program, program, "--serve", "--end-when-idle", (char *)NULL);
	_exit(127);
}

static bool start_detached(const char *program, struct error *err)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return fail(err, ERROR_TRANSIENT, "engine_not_found", "cannot start '%s': no process", program);
	if (child == 0) {
		setsid();
		if (fork() == 0)
			become_engine(program);
		_exit(0);
	}
	return waitpid(child, &status, 0) == child;
}

static bool start(const struct home *home, const struct client_hooks *hooks, struct error *err)
{
	bool is_installed, has_started;
	char *program = find_program(&is_installed, err);

	if (!program)
		return false;
	has_started = is_installed && unit_start(home);
	if (!has_started && hooks->on_note && logind_ends_us())
		hooks->on_note(hooks->context, "the engine ends when you log out (KillUserProcesses of logind); to keep it: "
		                               "loginctl enable-linger");
	has_started = has_started || start_detached(program, err);
	free(program);
	return has_started;
}

struct client *client_open_or_start(const struct home *home, const struct client_hooks *hooks, struct error *err)
{
	int64_t until_ms = clock_mono_ms() + START_WAIT_MS, start_ms = 0;
	struct error failure = { 0 };
	struct client *client = client_open(home, &failure);

	if (client || strcmp(failure.code, "engine_not_running") != 0)
		goto answered;
	/* A dying engine may still hold the lock: the one that was started gives up then, and another try is needed. Too many
	 * do no harm, the lock lets only one in. */
	do {
		if (clock_mono_ms() >= start_ms && !start(home, hooks, err))
			return NULL;
		start_ms = clock_mono_ms() >= start_ms ? clock_mono_ms() + START_AGAIN_MS : start_ms;
		clock_sleep_ms(START_POLL_MS);
		failure = (struct error){ 0 };
		client = client_open(home, &failure);
	} while (!client && strcmp(failure.code, "engine_not_running") == 0 && clock_mono_ms() < until_ms);
answered:
	if (!client)
		*err = failure;
	return client;
}
