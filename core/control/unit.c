/*
 * The engine as a unit of the user's systemd. Only for the home that the unit has, only if the unit outlives the login, and
 * never instead of an engine that stands beside our own file: that one is another version.
 */
#include "base/text.h"
#include "control/control.h"
#include "control/start_private.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_BYTES 64

/* Runs a program of the system without its words; gives its exit status and the beginning of what it prints, or -1. */
static int ask(char *const *words, char out_answer[ANSWER_BYTES])
{
	posix_spawn_file_actions_t actions;
	int ends[2], status = -1;
	ssize_t len;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&child, words[0], &actions, NULL, words, environ) != 0)
		child = -1;
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	len = child > 0 ? read(ends[0], out_answer, ANSWER_BYTES - 1) : 0;
	out_answer[len > 0 ? len : 0] = '\0';
	close(ends[0]);
	if (child > 0 && waitpid(child, &status, 0) != child)
		status = -1;
	return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

/* The unit's engine knows nothing of our environment: its home is the one without these. */
static bool is_units_home(const struct home *home)
{
	return !home->is_temporary && !is_set("WEIR_HOME") && !is_set("XDG_CONFIG_HOME") && !is_set("XDG_STATE_HOME");
}

static bool systemd_is_there(void)
{
	OWNED(text) path = text_new(4096);
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	return runtime && text_add_format(path, "%s/systemd/private", runtime) && access(path->at, F_OK) == 0;
}

/* Without it the user's systemd, and the engine in it, ends with the last login: sooner than an engine of our own. */
static bool user_lingers(void)
{
	char uid[24], answer[ANSWER_BYTES];
	char program[] = "loginctl", show[] = "show-user", property[] = "--property=Linger", value[] = "--value";
	char *words[] = { program, show, uid, property, value, NULL };

	snprintf(uid, sizeof(uid), "%lu", (unsigned long)geteuid());
	return ask(words, answer) == 0 && strncmp(answer, "yes", 3) == 0;
}

bool unit_start(const struct home *home)
{
	char program[] = "systemctl", user[] = "--user", start[] = "start", unit[] = "weird.service";
	char *words[] = { program, user, start, unit, NULL };
	char ignored[ANSWER_BYTES];

	return is_units_home(home) && systemd_is_there() && user_lingers() && ask(words, ignored) == 0;
}

bool unit_is_active(void)
{
	char program[] = "systemctl", user[] = "--user", is_active[] = "is-active", unit[] = "weird.service";
	char *words[] = { program, user, is_active, unit, NULL };
	char ignored[ANSWER_BYTES];

	return ask(words, ignored) == 0;
}

bool logind_ends_us(void)
{
	char program[] = "busctl", system[] = "--system", get[] = "get-property", name[] = "org.freedesktop.login1";
	char path[] = "/org/freedesktop/login1", interface[] = "org.freedesktop.login1.Manager", property[] = "KillUserProcesses";
	char *words[] = { program, system, get, name, path, interface, property, NULL };
	char answer[ANSWER_BYTES];

	return is_set("XDG_SESSION_ID") && ask(words, answer) == 0 && strncmp(answer, "b true", 6) == 0 && !user_lingers();
}
