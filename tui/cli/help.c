/* Help, made from the command table; explain, made from the reason table; version. */
#include "cli/cli_private.h"

#include "base/clean.h"
#include "base/reason.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A blank at which a usage text may be folded: in front of a new thing, never between an option and its value. */
static bool is_seam(const char *usage, size_t at)
{
	int depth = 0;
	size_t word = at;

	for (size_t i = 0; i < at; i++)
		depth += (usage[i] == '[') - (usage[i] == ']');
	while (word > 0 && usage[word - 1] != ' ')
		word--;
	return !depth && (usage[at + 1] == '[' || usage[at + 1] == '-' || usage[word] != '-');
}

#define HARD_BLANK '\001'

void cli_command_help(const struct command *command)
{
	OWNED(text) usage = text_new(4096);
	OWNED(text) folded = text_new(8192);
	size_t indent = sizeof("usage: weir ") - 1 + strlen(command->name) + 1;

	text_add_format(usage, "%s%s[--json]", command->args, *command->args ? " " : "");
	for (size_t i = 0; i < usage->len; i++) {
		if (usage->at[i] == ' ' && !is_seam(usage->at, i))
			usage->at[i] = HARD_BLANK;
	}
	page_fold(folded, usage->at, cli_columns(stdout), indent, indent);
	for (size_t i = 0; i < folded->len; i++)
		folded->at[i] = folded->at[i] == HARD_BLANK ? ' ' : folded->at[i];
	printf("usage: weir %s %s\n\n", command->name, folded->at);
	cli_fold(stdout, command->help, 0, 0);
}

#define HELP_COLUMN 22

static void print_command(FILE *out, const struct command *command)
{
	fprintf(out, "  weir %-14s ", command->name);
	cli_fold(out, command->help, HELP_COLUMN, HELP_COLUMN);
}

static void print_all(FILE *out)
{
	fprintf(out, "weir moves change events into BigQuery or a local warehouse.\n\n");
	for (int i = 0; i < COMMANDS; i++)
		print_command(out, &command_table[i]);
	fputc('\n', out);
	cli_fold(out, "'weir COMMAND --help' tells its arguments; --json prints one object a line.", 0, 0);
	fputc('\n', out);
	cli_fold(out, "WEIR_HOME names the folder that everything lies in; a relative one is looked for from the working folder.",
	         0, 0);
	fprintf(out, "\nExit status:\n");
	for (size_t i = 0; i < exit_status_count; i++)
		fprintf(out, "  %2d  %s\n", exit_statuses[i].status, exit_statuses[i].meaning);
}

/* "dlq" begins "dlq list" and others. */
static bool is_in_group(const struct command *command, const char *group)
{
	size_t len = strlen(group);

	return strncmp(command->name, group, len) == 0 && command->name[len] == ' ';
}

/* How many commands the word begins. */
static int print_group(FILE *out, const char *group)
{
	int count = 0;

	for (int i = 0; i < COMMANDS; i++) {
		if (!is_in_group(&command_table[i], group))
			continue;
		if (out)
			print_command(out, &command_table[i]);
		count++;
	}
	return count;
}

static const char *nearest_command(const char *typed, const char *first)
{
	const char *names[COMMANDS];
	const char *near;

	for (int i = 0; i < COMMANDS; i++)
		names[i] = command_table[i].name;
	near = nearest_word(typed, names, COMMANDS);
	return near ? near : nearest_word(first, names, COMMANDS);
}

static int unknown(int argc, char **argv)
{
	struct command_line line = { .is_json = command_line_wants_json(argc, argv) };
	bool is_group = print_group(NULL, argv[0]) > 0, is_alone = argc < 2 || argv[1][0] == '-';
	OWNED(text) typed = text_new(256);
	struct error err = { 0 };
	const char *near;
	int status;

	text_add_format(typed, "%.100s", argv[0]);
	if (!is_alone)
		text_add_format(typed, " %.100s", argv[1]);
	near = nearest_command(typed->at, argv[0]);
	if (is_group && is_alone)
		fail(&err, ERROR_USAGE, "unknown_command", "'weir %s' needs a word more", typed->at);
	else
		fail(&err, ERROR_USAGE, "unknown_command", "there is no command '%s'%s%s%s", typed->at, near ? "; did you mean '" : "",
		     near ? near : "", near ? "'?" : "");
	status = cli_complain(&err, &line);
	if (is_group && !line.is_json)
		print_group(stderr, argv[0]);
	return status;
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
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) && print_group(stdout, argv[0]))
		return 0;
	return unknown(argc, argv);
}

static void print_list(const char *title, const char *lines)
{
	printf("\n%s\n", title);
	while (*lines) {
		size_t len = strcspn(lines, "\n");
		OWNED(text) line = text_new(4096);

		text_add_span(line, span_make(lines, len));
		printf("  - ");
		cli_fold(stdout, line->at, 4, 4);
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
	printf("%s\n\n", reason->code);
	cli_fold(stdout, reason->summary, 0, 0);
	print_list("Likely causes", reason->causes);
	print_list("What to check", reason->checks);
	printf("\nNext safe step\n  ");
	cli_fold(stdout, reason->next, 2, 2);
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
