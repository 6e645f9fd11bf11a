/* Calls: dispatch by the command table, arguments, answers. */
#include "base/text.h"
#include "engine/commands_private.h"
#include "engine/engine.h"
#include "engine/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef bool (*run_command)(struct call *call, struct error *err);

/* Commands that weir answers itself have no function here; every other row must have one, or this does not link. */
#define RUN_HERE(id) NULL
#define RUN_ENGINE(id) run_##id
#define RUN_ENGINE_PROGRAM(id) NULL
static const run_command run_functions[COMMANDS] = {
#define COMMAND(id, name, args, access, place, help) [COMMAND_##id] = RUN_##place(id),
#include "control/commands.def"
#undef COMMAND
};

static int find_command(const char *name)
{
	char id[64];
	size_t i;

	for (i = 0; name[i] && i < sizeof(id) - 1; i++)
		id[i] = name[i] == '.' || name[i] == ' ' ? '_' : name[i];
	id[i] = '\0';
	for (int c = 0; c < COMMANDS; c++) {
		if (run_functions[c] && strcmp(command_table[c].call, id) == 0)
			return c;
	}
	return -1;
}

/* Acts have a line of the journal before and after them; a note is a line itself. */
static bool run_command_of(struct call *call, int id, struct error *err)
{
	const struct command *command = &command_table[id];
	bool is_fine;

	if (command->access == VIEW || id == COMMAND_note)
		return run_functions[id](call, err);
	if (!journal_act_begin(call, command, err))
		return false;
	is_fine = run_functions[id](call, err);
	atomic_fetch_add(&call->engine->acts, 1);
	if (strncmp(command->call, "dlq_", 4) == 0)
		atomic_fetch_add(&call->engine->dlq_acts, 1);
	journal_act_end(call, command, is_fine, err);
	return is_fine;
}

static bool refuse(struct call *call, int id, struct error *err)
{
	const struct command *command = &command_table[id];

	if (call->access >= command->access)
		fail(err, ERROR_UNREACHABLE, "protocol_differs",
		     "'%s' was not done: weir and the engine are of different versions; looking works, acts are off", command->name);
	else if (call->only_looks)
		fail(err, ERROR_ACCESS, "not_allowed", "'%s' was not done: this session was opened only to look (--readonly)",
		     command->name);
	else
		fail(err, ERROR_ACCESS, "not_allowed", "'%s' needs the right to %s; this session may %s", command->name,
		     access_name(command->access), access_name(call->access));
	journal_act_refused(call, command, err);
	return false;
}

/* A job may also be named by its file, which the engine opens with its owner's rights: not for those who may not make
 * jobs, who would read in the message what stands in the file. A file of that name may lie where the engine was started. */
static bool job_is_named(struct call *call, struct error *err)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	const char *job = json_string_value(json_object_get(call->args, "job"));

	if (call->access == ADMIN || !job || !*job)
		return true;
	if (job[strspn(job, allowed)])
		return fail(err, ERROR_ACCESS, "not_allowed", "this session names jobs by their names, not by files");
	return access(job, F_OK) != 0 || job_is_registered(call->engine->home, job, err);
}

/* Ending the engine is the way to one version: it is the one act that stays. */
static bool is_off_between_versions(const struct call *call, int id)
{
	return call->is_other_version && command_table[id].access > VIEW && id != COMMAND_engine_stop;
}

bool call_dispatch(struct call *call, const char *name, struct error *err)
{
	int id = find_command(name);

	peer_name(&call->peer);
	if (id < 0)
		return fail(err, ERROR_USAGE, "unknown_command", "this engine has no command '%.60s'", name);
	if (call->access < command_table[id].access || is_off_between_versions(call, id))
		return refuse(call, id, err);
	if (!job_is_named(call, err))
		return false;
	return run_command_of(call, id, err);
}

bool call_goes_on(struct call *call)
{
	bool goes_on = !atomic_load(&call->is_cancelled) && !atomic_load(&call->is_gone);

	call->lacks_lines = call->lacks_lines || !goes_on;
	return goes_on;
}

/* What an act says of its end, too, when the engine's follows at once: there is time for last words. */
bool call_line(struct call *call, json_t *line)
{
	bool is_read = !atomic_load(&call->is_cancelled) || (atomic_load(&call->is_cut) && !atomic_load(&call->is_gone));

	if (is_read)
		return call->send_line(call, line);
	call->lacks_lines = true;
	json_decref(line);
	return false;
}

void call_note(struct call *call, const char *format, ...)
{
	char sentence[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	call->send_note(call, sentence);
}

bool call_text(struct call *call, const char *name, const char **out, struct error *err)
{
	const json_t *value = json_object_get(call->args, name);

	if (!json_is_string(value))
		return fail(err, ERROR_USAGE, "bad_argument", "argument '%s' is missing or no text", name);
	*out = json_string_value(value);
	return true;
}

const char *call_text_or(struct call *call, const char *name, const char *fallback)
{
	const char *text = json_string_value(json_object_get(call->args, name));

	return text ? text : fallback;
}

bool call_flag(struct call *call, const char *name)
{
	return json_is_true(json_object_get(call->args, name));
}

int64_t call_number(struct call *call, const char *name, int64_t fallback)
{
	const json_t *value = json_object_get(call->args, name);

	return json_is_integer(value) ? json_integer_value(value) : fallback;
}
