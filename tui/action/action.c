/* The table of actions, and actions by name. */
#include "action/action.h"

const struct action action_table[ACTIONS] = {
#define ACTION(id, name, argument, help) [ACTION_##id] = { name, argument, help },
#include "action/actions.def"
#undef ACTION
};

static bool begins_with(struct span text, const char *name)
{
	size_t len = strlen(name);

	return text.len >= len && memcmp(text.at, name, len) == 0 && (text.len == len || text.at[len] == ' ');
}

bool action_find(struct span text, enum action_id *out_action, struct span *out_argument)
{
	size_t best = ACTIONS, longest = 0;

	for (size_t i = 0; i < ACTIONS; i++) {
		size_t len = strlen(action_table[i].name);

		if (len <= longest || !begins_with(text, action_table[i].name))
			continue;
		best = i;
		longest = len;
	}
	if (best == ACTIONS)
		return false;
	struct span rest = span_make(text.at + longest, text.len - longest);
	const char *wanted = action_table[best].argument;

	while (rest.len && *rest.at == ' ')
		rest = span_make(rest.at + 1, rest.len - 1);
	if (rest.len ? !*wanted : *wanted && *wanted != '[')
		return false;
	*out_action = (enum action_id)best;
	*out_argument = rest;
	return true;
}
