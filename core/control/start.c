/* Starting `weird` from `weir`: found beside our own file, never in PATH; by the user's systemd, else detached (detach.c). */
#include "base/clock.h"
#include "base/file.h"
#include "control/control.h"
#include "control/start_private.h"
#include "install_paths.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define START_WAIT_MS 10000
#define START_POLL_MS 20
#define START_AGAIN_MS 200

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

/*
 * The way to an engine: one that answers, one that is being started, or one that we start.
 */
struct start {
	const struct home *home;
	const struct client_hooks *hooks;
	int64_t until_ms, again_ms; /* no further start before */
	bool has_asked_unit, has_advised;
	bool has_started;
	struct error busy;          /* another engine has the lock */
};

static bool is_code(const struct error *err, const char *code)
{
	return strcmp(err->code, code) == 0;
}

/* Somebody else's home: an engine of ours would only be told that it may not write there. */
static bool home_can_be_ours(const struct home *home, struct error *err)
{
	struct stat info;

	if (stat(home->state, &info) != 0 || info.st_uid == geteuid() || access(home->state, W_OK) == 0)
		return true;
	return fail(err, ERROR_UNREACHABLE, "engine_not_running",
	            "no engine answers on '%s', and only user %lu, whose home this is, can start one", home->socket,
	            (unsigned long)info.st_uid);
}

static void advise(struct start *start)
{
	if (start->has_advised || !start->hooks->on_note)
		return;
	start->has_advised = true;
	if (logind_ends_us())
		start->hooks->on_note(start->hooks->context,
		                      "the engine ends when you log out (KillUserProcesses of logind); to keep it: "
		                      "loginctl enable-linger");
}

static bool start_program(struct start *start, const char *program, bool is_installed, struct error *err)
{
	if (is_installed && !start->has_asked_unit) {
		start->has_asked_unit = true;
		if (unit_start(start->home))
			return start->has_started = true;
	} else if (is_installed && start->has_started && unit_is_active()) {
		return true;
	}
	/* A unit's engine that has ended told its reason to the system's journal; one of our own tells us. */
	start->has_started = false;
	advise(start);
	return start->has_started = engine_detach(program, start->until_ms, err);
}

static bool start_engine(struct start *start, struct error *err)
{
	bool is_installed, is_fine;
	char *program;

	if (!home_can_be_ours(start->home, err) || !(program = find_program(&is_installed, err)))
		return false;
	is_fine = start_program(start, program, is_installed, err);
	free(program);
	start->again_ms = clock_mono_ms() + START_AGAIN_MS;
	return is_fine;
}

/* Another engine may be on its way up, or on its way out with the lock still in its hand: then it is asked again. */
static bool start_or_wait(struct start *start, struct error *err)
{
	struct error failure = { 0 };

	if (clock_mono_ms() < start->again_ms) {
		clock_sleep_ms(START_POLL_MS);
		return true;
	}
	if (start_engine(start, &failure))
		return true;
	if (!is_code(&failure, "engine_running")) {
		*err = failure;
		return false;
	}
	start->busy = failure;
	return true;
}

struct client *client_start(const struct home *home, const struct client_hooks *hooks, bool *out_has_started,
                            struct error *err)
{
	struct start start = { .home = home, .hooks = hooks, .until_ms = clock_mono_ms() + START_WAIT_MS };
	struct error failure = { 0 };
	struct client *client;

	while (!(client = client_open(home, &failure)) && is_code(&failure, "engine_not_running") &&
	       clock_mono_ms() < start.until_ms) {
		if (!start_or_wait(&start, err))
			return NULL;
		failure = (struct error){ 0 };
	}
	if (client) {
		*out_has_started = start.has_started;
	} else if (start.busy.kind != ERROR_NONE && is_code(&failure, "engine_not_running")) {
		fail(err, ERROR_UNREACHABLE, "engine_silent", "the engine of this home, process %ld, does not answer on '%s'",
		     engine_pid(home), home->socket);
	} else {
		*err = failure;
	}
	return client;
}

struct client *client_open_or_start(const struct home *home, const struct client_hooks *hooks, struct error *err)
{
	bool ignored;

	return client_start(home, hooks, &ignored, err);
}
