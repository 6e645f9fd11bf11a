/* Files of the operator's own: theme, keys. */
#ifndef WEIR_TUI_CONSOLE_FILES_H
#define WEIR_TUI_CONSOLE_FILES_H

#include "keymap/keymap.h"
#include "options/options.h"
#include "term/term.h"

/* `name`: of a theme, or a path with a slash; NULL: $WEIR_THEME, else the default. Problems are added to `notes`. Never NULL. */
struct theme *theme_open(const struct home *home, const char *name, struct text *notes);
/* The same for a name that was typed; NULL: it cannot be read. */
struct theme *theme_load(const struct home *home, const char *name, struct text *notes);
/* The default keys with the user's file over them: `file`, else KEYS_FILE in the configuration folder. Never NULL. */
struct keymap *keymap_open(const struct home *home, const char *file, struct text *notes);

#endif
