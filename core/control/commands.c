/* The table of commands, from commands.def. */
#include "control/control.h"

static const char *const access_names[] = { [VIEW] = "view", [OPERATE] = "operate", [ADMIN] = "admin" };

const struct command command_table[COMMANDS] = {
#define COMMAND(id, name_, args_, access_, place_, help_) \
	[COMMAND_##id] = { .name = name_, .call = #id, .args = args_, .access = access_, .place = place_, .help = help_ },
#include "control/commands.def"
#undef COMMAND
};

const char *access_name(enum access access)
{
	return access_names[access];
}
