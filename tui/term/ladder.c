/*
 * Which terminal description to take: many hosts know nothing of the newer terminals, and curses would then not start at
 * all. Names that are kin of xterm are taken for one.
 */
#include "term/screen_private.h"

#include <ncurses.h>
#include <stdlib.h>
#include <term.h>
#include <unistd.h>

static const char *const kin[] = { "xterm", "kitty", "ghostty", "foot", "alacritty", "wezterm", "rxvt", "konsole" };
static const char *const steps[] = { "xterm-256color", "xterm", "vt100" };

/* Kin, and those that stand between us and one. */
bool terminal_is_modern(const char *name)
{
	static const char *const others[] = { "tmux", "screen", "st-", "contour", "mintty", "vte" };

	for (size_t i = 0; i < sizeof(kin) / sizeof(*kin); i++) {
		if (strstr(name, kin[i]))
			return true;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (strncmp(name, others[i], strlen(others[i])) == 0)
			return true;
	}
	return false;
}

static bool is_usable(const char *name)
{
	int result;
	const char *move;
	bool moves;

	if (setupterm(name, STDOUT_FILENO, &result) != OK)
		return false;
	move = tigetstr("cup");
	moves = move && move != (char *)-1;
	del_curterm(cur_term); /* newterm makes its own */
	return moves;
}

static bool is_known(const char *name)
{
	int result;

	return setupterm(name, STDOUT_FILENO, &result) == OK || result == 1;
}

static size_t first_step(const char *name)
{
	for (size_t i = 0; i < sizeof(kin) / sizeof(*kin); i++) {
		if (strstr(name, kin[i]))
			return 0;
	}
	return 1;
}

const char *terminal_name(struct text *note)
{
	const char *name = getenv("TERM");

	if (!name || !*name || strcmp(name, "dumb") == 0)
		return NULL;
	if (is_usable(name))
		return name;
	if (is_known(name))
		return NULL; /* it is known and cannot move its cursor */
	for (size_t i = first_step(name); i < sizeof(steps) / sizeof(*steps); i++) {
		if (!is_usable(steps[i]))
			continue;
		text_add_format(note, "TERM '%s' is not known here; taken for %s", name, steps[i]);
		return steps[i];
	}
	return NULL;
}
