/* The console: `weir` on a terminal. */
#ifndef WEIR_TUI_CONSOLE_APP_H
#define WEIR_TUI_CONSOLE_APP_H

#include "options/options.h"
#include "term/term.h"

struct client;

struct console_wishes {
	bool is_read_only;       /* --readonly: no act */
	bool no_color, ascii;
	const char *theme;       /* name or path; NULL: the setting, else dark */
	const char *keys_file;   /* NULL: the user's, if there is one */
	int escape_ms;           /* --escape-delay; 0: the setting, else measured */
	const char *place;       /* where to begin, or NULL */
};

/* Runs until the operator leaves; gives the exit status. Takes the client that has found the engine. */
int console_run_app(const struct home *home, const struct console_wishes *wishes, struct client *client);

#endif
