/* Lines of journal and log for people: folded on a terminal, whole in a pipe. */
#include "cli/cli_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 20 /* of what is folded: behind the time */
#define LINE_BYTES (1u << 20)

static void print_line(const struct text *line)
{
	cli_fold(stdout, line->at, 0, INDENT);
	/* Lines that come one by one are wanted when they come. */
	fflush(stdout);
}

/* "2026-11-30T02:37:30.123456Z" as "2026-11-30 02:37:30 ". */
static void add_time(struct text *out, const json_t *line)
{
	const char *time = cli_word(line, "time");

	if (strlen(time) < 19)
		text_add_format(out, "%-19s ", time);
	else
		text_add_format(out, "%.10s %.8s ", time, time + 11);
}

/*
 * Journal
 */

/* It told its count and waited for a yes; the console's journal (view/journal_lines.c) words it so too. */
static bool is_question(const char *code)
{
	return strcmp(code, "replay_not_confirmed") == 0 || strcmp(code, "not_confirmed") == 0;
}

/* How an act ended, in words. */
static void add_end(struct text *out, const json_t *line)
{
	const char *phase = cli_word(line, "phase");

	if (strcmp(phase, "before") == 0)
		text_add(out, ": begun, no end yet");
	else if (strcmp(phase, "after") == 0 && !cli_number(line, "exit"))
		text_add(out, ": done");
	else if (strcmp(phase, "after") == 0)
		text_add_format(out, ": done, exit %lld", cli_number(line, "exit"));
	else if (is_question(cli_word(line, "code")))
		text_add_format(out, ": asked, not done: %s", cli_word(line, "message"));
	else
		text_add_format(out, ": %s: %s: %s", phase, cli_word(line, "code"), cli_word(line, "message"));
}

static void add_change(struct text *out, const json_t *change)
{
	const char *before = cli_word(change, "before"), *after = cli_word(change, "after");

	if (*before || *after)
		text_add_format(out, " (%s -> %s)", *before ? before : "nothing", *after ? after : "nothing");
}

static void add_act(struct text *out, const json_t *line)
{
	const char *ssh = cli_word(line, "ssh_as_client_said");

	text_add(out, cli_word(line, "text"));
	add_end(out, line);
	add_change(out, json_object_get(line, "change"));
	if (*cli_word(line, "why"))
		text_add_format(out, ", \"%s\"", cli_word(line, "why"));
	if (*ssh)
		text_add_format(out, " [ssh %.*s]", (int)strcspn(ssh, " "), ssh);
}

static void add_news(struct text *out, const json_t *line)
{
	const char *job = cli_word(line, "job"), *table = cli_word(line, "table");
	bool is_note = strcmp(cli_word(line, "kind"), "note") == 0;

	/* "DATASET.TABLE" is the table of one job; "-" is none. */
	if (*table && strcmp(table, "-") != 0)
		text_add_format(out, "%s: ", table);
	else if (*job)
		text_add_format(out, "%s: ", job);
	text_add_format(out, is_note ? "\"%s\"" : "%s", cli_word(line, "text"));
}

void print_journal(const json_t *line, struct printer_state *state)
{
	OWNED(text) out = text_new(LINE_BYTES);

	if (!line) {
		puts("nothing in the journal");
		return;
	}
	state->count++;
	/* An act that has ended is told by its end. */
	if (json_is_true(json_object_get(line, "ended")))
		return;
	add_time(out, line);
	text_add_format(out, "%-8s ", cli_word(line, "who"));
	if (strcmp(cli_word(line, "kind"), "act") == 0)
		add_act(out, line);
	else
		add_news(out, line);
	print_line(out);
}

/*
 * Log
 */

static void add_field(struct text *out, const char *name, const json_t *value)
{
	if (json_is_string(value))
		text_add_format(out, "  %s=%s", name, json_string_value(value));
	else
		text_add_format(out, "  %s=%lld", name, (long long)json_integer_value(value));
}

void print_log(const json_t *line, struct printer_state *state)
{
	OWNED(text) out = text_new(LINE_BYTES);
	const char *name;
	json_t *value;

	if (!line) {
		puts("nothing in the log");
		return;
	}
	state->count++;
	add_time(out, line);
	text_add_format(out, "%-5s %s: ", cli_word(line, "level"), cli_word(line, "part"));
	if (*cli_word(line, "job"))
		text_add_format(out, "%s: ", cli_word(line, "job"));
	text_add(out, cli_word(line, "sentence"));
	json_object_foreach(json_object_get(line, "fields"), name, value)
		add_field(out, name, value);
	print_line(out);
}

/* The journal lines before the first bad event, in the answer of `weir why`. */
void print_journal_before(const json_t *lines)
{
	struct printer_state state = { 0 };
	size_t i;
	json_t *line;

	if (json_array_size(lines))
		puts("\nBefore it");
	json_array_foreach(lines, i, line)
		print_journal(line, &state);
}
