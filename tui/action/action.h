/* What keys do, by name; see actions.def. */
#ifndef WEIR_TUI_ACTION_ACTION_H
#define WEIR_TUI_ACTION_ACTION_H

#include "base/span.h"

enum action_id {
#define ACTION(id, name, argument, help) ACTION_##id,
#include "action/actions.def"
#undef ACTION
	ACTIONS
};

struct action {
	const char *name;
	const char *argument; /* "", "[TEXT]", "PLACE", "N" */
	const char *help;
};

extern const struct action action_table[ACTIONS];
/* "go overview" -> ACTION_go and "overview" (a span of `text`). False: no such action, or its argument is missing. */
bool action_find(struct span text, enum action_id *out_action, struct span *out_argument);

#endif
