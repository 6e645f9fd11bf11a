/* The tables of commands and of exit statuses, from commands.def and exits.def. */
#include "control/control.h"

static const char *const access_names[] = { [VIEW] = "view", [OPERATE] = "operate", [ADMIN] = "admin" };

const struct command command_table[COMMANDS] = {
#define COMMAND(id, name_, args_, access_, place_, help_) \
	[COMMAND_##id] = { .name = name_, .call = #id, .args = args_, .access = access_, .place = place_, .help = help_ },
#include "control/commands.def"
#undef COMMAND
};

const struct exit_status exit_statuses[] = {
#define EXIT_STATUS(status_, meaning_, when_) { .status = status_, .meaning = meaning_, .when = when_ },
#include "control/exits.def"
#undef EXIT_STATUS
};
const size_t exit_status_count = sizeof(exit_statuses) / sizeof(exit_statuses[0]);

const char *access_name(enum access access)
{
	return access_names[access];
}
