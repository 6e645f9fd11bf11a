/* Between the files of the screen. */
#ifndef WEIR_TUI_TERM_SCREEN_PRIVATE_H
#define WEIR_TUI_TERM_SCREEN_PRIVATE_H

#include "term/term.h"

/* The terminal's modes of this moment are those it gets back. To be called before curses starts, which changes them. */
void signals_keep_modes(void);
/* Handlers; `undo` is what a dying process sends to give the terminal back. */
bool signals_begin(const char *undo, size_t undo_len);
void signals_end(void);
void signals_stop_self(void); /* SIGTSTP; returns when it goes on */

/* Finds a TERM that terminfo knows, or NULL; `note` says which if it is not the one asked for. */
const char *terminal_name(struct text *note);

#endif
