/* Between the files of the screen. */
#ifndef WEIR_TUI_TERM_SCREEN_PRIVATE_H
#define WEIR_TUI_TERM_SCREEN_PRIVATE_H

#include "term/term.h"

#include <ncurses.h>

struct terminal {
	SCREEN *screen;
	const char *name;
	const struct theme *theme;
	enum colour_level level;
	struct canvas *shown;
	bool is_new;          /* all is to be sent again */
	bool has_mouse;
	bool has_frames;      /* it shows what comes between two sequences at once (mode 2026) */
	int pairs[ROLES];
	attr_t attributes[ROLES];
	int64_t asked_ms;     /* when it was asked where its cursor stands; 0: never */
	int times_asked, quickest_ms;
	int round_trip_ms;    /* -1: not known yet */
	int stderr_before, stderr_kept;
};

/* To the terminal, past curses: only between two frames. */
void bytes_out(int fd, const char *bytes, size_t len);

/* paint.c: roles to what curses takes. */
void colours_begin(struct terminal *term, const struct term_wishes *wishes);

/* ask.c: what the terminal can do and how far away it is; answers come as KEY_REPORT_. */
void ask_begin(struct terminal *term);
#define FRAME_BEGIN "\033[?2026h"
#define FRAME_END "\033[?2026l"

/* stray.c: standard error while the screen is up. */
void stray_take(struct terminal *term);
void stray_give(struct terminal *term);

/* The terminal's modes of this moment are those it gets back. To be called before curses starts, which changes them. */
void signals_keep_modes(void);
/* Handlers; `undo` is what a dying process sends to give the terminal back. */
bool signals_begin(const char *undo, size_t undo_len);
void signals_end(void);
void signals_stop_self(void); /* SIGTSTP; returns when it goes on */

/* Finds a TERM that terminfo knows, or NULL; `note` says which if it is not the one asked for. */
const char *terminal_name(struct text *note);
/* Is it one of those that swallow a question they do not know? */
bool terminal_is_modern(const char *name);

#endif
