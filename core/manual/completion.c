/*
 * The tables as bash knows them: what completion.bash, which the Makefile puts
 * behind them, looks words up in.
 */
#include "manual/manual.h"

#include "base/reason.h"
#include "control/control.h"
#include "options/options.h"

#include <string.h>

static void add_options(struct text *out, const struct command *command)
{
	struct usage_slot slots[USAGE_WORDS];
	size_t count = usage_read(command->args, slots);

	text_add_format(out, "\t'%s') echo '", command->name);
	for (size_t i = 0; i < count; i++) {
		if (slots[i].flag[0])
			text_add_format(out, "%s ", slots[i].flag);
	}
	text_add(out, "--json --help' ;;\n");
}

/* What each word of a command is, in order, "+" behind what may be repeated: "job table", "job name=value+". */
static void add_places(struct text *out, const struct command *command)
{
	struct usage_slot slots[USAGE_WORDS];
	size_t count = usage_read(command->args, slots);

	text_add_format(out, "\t'%s') echo '", command->name);
	if (strstr(command->args, "FILE|JOB"))
		text_add(out, "file_or_");
	for (size_t i = 0; i < count; i++) {
		if (!slots[i].flag[0])
			text_add_format(out, "%s%s ", slots[i].name, slots[i].is_list ? "+" : "");
	}
	text_add(out, "' ;;\n");
}

/* The options that a value follows; what the value is goes by the option's name. */
static void add_valued(struct text *out, const struct command *command)
{
	struct usage_slot slots[USAGE_WORDS];
	size_t count = usage_read(command->args, slots);

	text_add_format(out, "\t'%s') echo '", command->name);
	for (size_t i = 0; i < count; i++) {
		if (slots[i].flag[0] && slots[i].has_value)
			text_add_format(out, "%s ", slots[i].flag);
	}
	text_add(out, "' ;;\n");
}

static void add_table(struct text *out, const char *name, void (*add)(struct text *, const struct command *))
{
	text_add_format(out, "\n%s()\n{\n\tcase $1 in\n", name);
	for (int i = 0; i < COMMANDS; i++)
		add(out, &command_table[i]);
	text_add(out, "\tesac\n}\n");
}

static void add_commands(struct text *out)
{
	text_add(out, "\n_weir_commands='");
	for (int i = 0; i < COMMANDS; i++)
		text_add_format(out, "%s\n", command_table[i].name);
	text_add(out, "'\n");
}

static void add_codes(struct text *out)
{
	text_add(out, "\n_weir_codes='");
	for (size_t i = 0; i < reason_count; i++)
		text_add_format(out, "%s\n", reasons[i].code);
	text_add(out, "'\n");
}

static void add_parameters(struct text *out)
{
	text_add(out, "\n_weir_parameters='");
	for (size_t i = 0; i < job_option_count; i++)
		text_add_format(out, "%s=\n", job_option_table[i].name);
	text_add(out, "'\n\n_weir_choices()\n{\n\tcase $1 in\n");
	for (size_t i = 0; i < job_option_count; i++) {
		const struct option *option = &job_option_table[i];

		if (!option->choices)
			continue;
		text_add_format(out, "\t%s) echo '", option->name);
		for (size_t c = 0; option->choices[c]; c++)
			text_add_format(out, "%s ", option->choices[c]);
		text_add(out, "' ;;\n");
	}
	text_add(out, "\tesac\n}\n");
}

bool manual_completion(struct text *out)
{
	text_add(out, "# Completion of weir for bash; made from weir's tables by `make docs`.\n# shellcheck shell=bash\n");
	add_commands(out);
	add_codes(out);
	add_parameters(out);
	add_table(out, "_weir_options", add_options);
	add_table(out, "_weir_places", add_places);
	add_table(out, "_weir_valued", add_valued);
	text_add_char(out, '\n');
	return !out->is_full;
}
