/* Help, made from the command table; explain, made from the reason table; version. */
#include "cli/cli_private.h"

#include "base/clean.h"
#include "base/reason.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void cli_command_help(const struct command *command)
{
	printf("usage: weir %s %s%s[--json]\n\n%s\n", command->name, command->args, *command->args ? " " : "",
	       command->help);
}

static void print_all(FILE *out)
{
	fprintf(out, "weir moves change events into BigQuery or a local warehouse.\n\n");
	for (int i = 0; i < COMMANDS; i++)
		fprintf(out, "  weir %-14s %s\n", command_table[i].name, command_table[i].help);
	fprintf(out, "\n'weir COMMAND --help' tells its arguments; --json prints one object a line.\n\nExit status:\n");
	for (size_t i = 0; i < exit_status_count; i++)
		fprintf(out, "  %2d  %s\n", exit_statuses[i].status, exit_statuses[i].meaning);
}

static int unknown(int argc, char **argv)
{
	struct command_line line = { .is_json = command_line_wants_json(argc, argv) };
	const char *names[COMMANDS];
	const char *near;
	struct error err = { 0 };
	OWNED(text) typed = text_new(256);

	for (int i = 0; i < COMMANDS; i++)
		names[i] = command_table[i].name;
	text_add_format(typed, "%.100s", argv[0]);
	if (argc > 1 && argv[1][0] != '-')
		text_add_format(typed, " %.100s", argv[1]);
	near = nearest_word(typed->at, names, COMMANDS);
	if (!near)
		near = nearest_word(argv[0], names, COMMANDS);
	fail(&err, ERROR_USAGE, "unknown_command", "there is no command '%s'%s%s%s", typed->at, near ? "; did you mean '" : "",
	     near ? near : "", near ? "'?" : "");
	return cli_complain(&err, &line);
}

int cli_help(int argc, char **argv)
{
	if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "help") == 0 || strcmp(argv[0], "-h") == 0)) {
		print_all(stdout);
		return 0;
	}
	if (argc > 0 && strcmp(argv[0], "--version") == 0) {
		struct command_line line = { .command = &command_table[COMMAND_version] };

		return cli_version(&line);
	}
	if (argc > 0)
		return unknown(argc, argv);
	fprintf(stderr, "weir: the console does not exist yet; these commands do:\n\n");
	print_all(stderr);
	return 2;
}

static void print_list(const char *title, const char *lines)
{
	printf("\n%s\n", title);
	while (*lines) {
		size_t len = strcspn(lines, "\n");

		printf("  - %.*s\n", (int)len, lines);
		lines += len + (lines[len] == '\n');
	}
}

static json_t *lines_json(const char *lines)
{
	json_t *list = json_array();

	while (*lines) {
		size_t len = strcspn(lines, "\n");

		json_array_append_new(list, json_stringn(lines, len));
		lines += len + (lines[len] == '\n');
	}
	return list;
}

static int explain_unknown(const char *code, const struct command_line *line)
{
	const char **codes = malloc(reason_count * sizeof(*codes));
	const char *near;
	struct error err = { 0 };

	for (size_t i = 0; codes && i < reason_count; i++)
		codes[i] = reasons[i].code;
	near = codes ? nearest_word(code, codes, reason_count) : NULL;
	fail(&err, ERROR_USAGE, "unknown_code", "there is no reason code '%.100s'%s%s%s", code, near ? "; did you mean '" : "",
	     near ? near : "", near ? "'?" : "");
	free(codes);
	return cli_complain(&err, line);
}

int cli_explain(const struct command_line *line)
{
	const char *code = json_string_value(json_object_get(line->args, "code"));
	const struct reason *reason = reason_find(code);

	if (!reason)
		return explain_unknown(code, line);
	if (line->is_json) {
		json_t *page = json_pack("{s:s, s:s, s:o, s:o, s:s}", "code", reason->code, "summary", reason->summary, "causes",
		                         lines_json(reason->causes), "checks", lines_json(reason->checks), "next",
		                         reason->next);
		cli_print_json(page);
		json_decref(page);
		return 0;
	}
	printf("%s\n\n%s\n", reason->code, reason->summary);
	print_list("Likely causes", reason->causes);
	print_list("What to check", reason->checks);
	printf("\nNext safe step\n  %s\n", reason->next);
	return 0;
}

/* The engine's own words: it knows its libraries; without it there is nothing to run either. */
int cli_version(const struct command_line *line)
{
	struct error err = { 0 };
	char *program = engine_program(&err);

	if (!program)
		return cli_complain(&err, line);
	execl(program, program, "--version", line->is_json ? "--json" : (char *)NULL, (char *)NULL);
	fail_errno(&err, errno, "cannot execute '%s'", program);
	free(program);
	return cli_complain(&err, line);
}
