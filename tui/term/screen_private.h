/* Between the files of the screen. */
#ifndef WEIR_TUI_TERM_SCREEN_PRIVATE_H
#define WEIR_TUI_TERM_SCREEN_PRIVATE_H

#include "term/term.h"

/* Handlers; `undo` is what a dying process sends to give the terminal back. Modes are those of this moment. */
bool signals_begin(const char *undo, size_t undo_len);
void signals_end(void);
void signals_stop_self(void); /* SIGTSTP; returns when it goes on */

/* Finds a TERM that terminfo knows, or NULL; `note` says which if it is not the one asked for. */
const char *terminal_name(struct text *note);

#endif
