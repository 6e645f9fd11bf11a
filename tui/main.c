/*
 * weir: the command line and the console, clients of the engine's socket. It runs no
 * pipeline and links no SQLite. Without a command it is the console.
 */
#include "base/file.h"
#include "cli/cli.h"
#include "console/app.h"

#include <locale.h>
#include <signal.h>
#include <stdlib.h>

static const struct {
	const char *flag;
	bool has_value;
} flags[] = { { "--readonly", false }, { "--no-color", false }, { "--ascii", false }, { "--theme", true }, { "--keys", true },
	    { "--escape-delay", true } };

/* In ms; what is no such number is no flag, and the command line says so. */
static bool escape_take(struct console_wishes *wishes, const char *word)
{
	char *end;
	long ms = strtol(word, &end, 10);

	if (end == word || *end || ms < 1 || ms > INPUT_ESC_MS_MAX)
		return false;
	wishes->escape_ms = (int)ms;
	return true;
}

/* One of the console's own flags; gives how many words it took, 0 for another word. */
static int flag_take(struct console_wishes *wishes, int argc, char **argv)
{
	size_t i = 0, count = sizeof(flags) / sizeof(*flags);

	while (i < count && strcmp(argv[0], flags[i].flag) != 0)
		i++;
	if (i == count || (flags[i].has_value && argc < 2))
		return 0;
	switch (i) {
	case 0: wishes->is_read_only = true; break;
	case 1: wishes->no_color = true; break;
	case 2: wishes->ascii = true; break;
	case 3: wishes->theme = argv[1]; break;
	case 4: wishes->keys_file = argv[1]; break;
	default: return escape_take(wishes, argv[1]) ? 2 : 0;
	}
	return flags[i].has_value ? 2 : 1;
}

/* Is there nothing but the console's flags? */
static bool is_console(struct console_wishes *wishes, int argc, char **argv)
{
	while (argc > 0) {
		int taken = flag_take(wishes, argc, argv);

		if (!taken)
			return false;
		argc -= taken;
		argv += taken;
	}
	return true;
}

static int run_console(const struct console_wishes *wishes)
{
	struct client_hooks hooks = { 0 };
	struct error err = { 0 };
	struct client *client;
	struct home *home;
	int status;

	if (!term_is_there(&err)) /* before an engine is started for it */
		return cli_fail(&err);
	home = home_find(&err);
	if (!home)
		return cli_fail(&err);
	client = client_open_or_start(home, &hooks, &err);
	/* An engine that does not answer is shown as such; one that cannot be started here ends the console at once. */
	status = client ? console_run_app(home, wishes, client) : cli_fail(&err);
	home_free(home);
	return status;
}

int main(int argc, char **argv)
{
	struct console_wishes wishes = { 0 };

	if (!streams_hold())
		return error_policies[ERROR_BUG].exit_status;
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_DFL);
	if (is_console(&wishes, argc - 1, argv + 1))
		return run_console(&wishes);
	return cli_main(argc - 1, argv + 1);
}
