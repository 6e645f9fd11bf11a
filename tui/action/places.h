/* Where one can go, and lines that only the console takes; see places.def and lines.def. */
#ifndef WEIR_TUI_ACTION_PLACES_H
#define WEIR_TUI_ACTION_PLACES_H

#include "base/span.h"

struct place {
	const char *key;   /* after g, or "" */
	const char *name;
	const char *alias; /* or "" */
	const char *help;
	bool exists;       /* there is such a view */
};

extern const struct place place_table[];
extern const size_t place_count;
/* By name or alias; NULL: no such place. */
const struct place *place_find(struct span name);

struct console_line {
	const char *name;
	const char *usage;
	const char *help;
};

extern const struct console_line console_line_table[];
extern const size_t console_line_count;
const struct console_line *console_line_find(struct span name);

#endif
