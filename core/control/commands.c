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

bool command_is_safe(const char *call)
{
	char id[64];
	size_t i;

	for (i = 0; call[i] && i < sizeof(id) - 1; i++)
		id[i] = call[i] == '.' || call[i] == ' ' ? '_' : call[i];
	id[i] = '\0';
	for (i = 0; i < COMMANDS; i++) {
		if (strcmp(command_table[i].call, id) == 0)
			return command_table[i].access == VIEW || i == COMMAND_engine_stop;
	}
	return true;
}
