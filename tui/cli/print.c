/* Objects of the engine's answers as lines for people, one printer a command. */
#include "cli/cli_private.h"

#include "base/clean.h"

#include <stdio.h>
#include <stdlib.h>

static const char *word(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static long long number(const json_t *object, const char *name)
{
	return (long long)json_integer_value(json_object_get(object, name));
}

/* Left-aligned in `width` columns, cleaned; longer text is not cut: a cut name cannot be pasted. */
static void cell(const json_t *object, const char *name, int width)
{
	OWNED(text) clean = text_new(4u << 20);

	clean_text(clean, span_of(word(object, name)));
	printf("%-*s ", width, *clean->at ? clean->at : "-");
}

static void last_cell(const json_t *object, const char *name)
{
	cli_print_text(*word(object, name) ? word(object, name) : "-");
	putchar('\n');
}

/* "2026-11-30T02:37:30.123456Z" without what a terminal has no room for. */
static void time_cell(const json_t *object, const char *name)
{
	printf("%-19.19s ", word(object, name));
}

static void state_cell(const json_t *object, int width)
{
	const char *state = word(object, "state");

	printf("%-*s ", width, strcmp(state, "needs you") == 0 ? "NEEDS YOU" : state);
}

static void print_group(const json_t *group, struct printer_state *state)
{
	if (!group) {
		puts("no dead letters");
		return;
	}
	if (!state->count++)
		puts("GROUP   COUNT STATE        CODE                   TABLE              COLUMN");
	printf("%5lld %7lld ", number(group, "group"), number(group, "count"));
	state_cell(group, 12);
	cell(group, "code", 22);
	cell(group, "table", 18);
	last_cell(group, "column");
}

static void print_letter(const json_t *letter, struct printer_state *state)
{
	const json_t *source = json_object_get(letter, "source");

	if (!letter) {
		puts("no dead letters");
		return;
	}
	if (!state->count++)
		puts("   ID    LINE FIRST               STATE        CODE                  TABLE");
	printf("%5lld %7lld ", number(letter, "id"), number(source, "line"));
	time_cell(letter, "first");
	state_cell(letter, 12);
	cell(letter, "code", 21);
	last_cell(letter, "table");
	/* The sentence is what matters most: on a line of its own it is never cut. */
	printf("      ");
	last_cell(letter, "message");
}

static void print_member(const char *label, const json_t *value)
{
	char *line;

	if (!value || json_is_null(value))
		return;
	printf("%-13s ", label);
	/* Text with a NUL is shown as JSON has it. */
	if (json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value)) {
		cli_print_text(json_string_value(value));
		putchar('\n');
		return;
	}
	line = json_line(value);
	fputs(line ? line : "\n", stdout);
	free(line);
}

static void print_shown(const json_t *letter, struct printer_state *state)
{
	static const char *const members[] = { "id", "job", "group", "state", "stage", "code", "message", "table", "column",
		                                   "path", "key", "source", "message_id", "publish", "ordering_key", "attrs", "attr_list", "bytes",
		                                   "sha256", "first", "last", "attempts", "newer", "shortened", "payload", "payload_b64" };

	if (!letter)
		return;
	state->count++;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		print_member(members[i], json_object_get(letter, members[i]));
	if (json_is_true(json_object_get(letter, "cut")))
		puts("(cut: 'weir dlq show ID --bytes' writes all of it)");
	if (json_object_get(letter, "shortened"))
		puts("(shortened: 'weir dlq show ID --envelope' writes all of it)");
}

static void print_columns(const json_t *table)
{
	size_t i;
	json_t *column;

	json_array_foreach(json_object_get(table, "columns"), i, column) {
		printf("    ");
		cell(column, "name", 24);
		printf("%s%s%s\n", word(column, "type"), number(column, "key_ordinal") ? "  key" : "",
		       json_is_true(json_object_get(column, "inferred")) ? "  inferred" : "");
	}
	if (number(table, "columns_left_out"))
		printf("    (and %lld more columns)\n", (long long)number(table, "columns_left_out"));
}

static void print_paused(const json_t *paused)
{
	if (!paused)
		return;
	printf("    paused: since %.19s", word(paused, "since"));
	if (*word(paused, "who")) {
		printf(" by ");
		cli_print_text(word(paused, "who"));
	}
	printf("%s", *word(paused, "why") ? ": " : "");
	last_cell(paused, "why");
}

static void print_table(const json_t *table, struct printer_state *state)
{
	size_t i;
	json_t *note;

	if (!table) {
		puts("no tables");
		return;
	}
	if (!state->count++)
		puts("TABLE              STATE        RECEIVED   WRITTEN FILTERED LETTERS PARKED JOB");
	cell(table, "table", 18);
	state_cell(table, 11);
	printf("%9lld %9lld %8lld %7lld %6lld ", number(table, "received"), number(table, "written"),
	       number(table, "filtered"), number(table, "dead_lettered"), number(table, "parked"));
	last_cell(table, "job");
	print_paused(json_object_get(table, "paused"));
	json_array_foreach(json_object_get(table, "notes"), i, note) {
		printf("    %s: ", word(note, "code"));
		last_cell(note, "text");
	}
	print_columns(table);
}

static void print_why(const json_t *why, struct printer_state *state)
{
	const json_t *first = json_object_get(why, "first");
	size_t i;
	json_t *step;

	if (!why)
		return;
	state->count++;
	cli_print_text(word(why, "table"));
	printf(" (job %s): ", word(why, "job"));
	printf("%s%s%s\n\n", strcmp(word(why, "state"), "needs you") == 0 ? "NEEDS YOU" : word(why, "state"),
	       *word(why, "code") ? "   " : "", word(why, "code"));
	cli_print_wrapped(word(why, "sentence"), 0);
	if (json_is_object(first)) {
		printf("\nFirst bad event: letter %lld, line %lld, %.19s, key ", number(first, "id"),
		       number(json_object_get(first, "source"), "line"), word(first, "first"));
		last_cell(first, "key");
	}
	print_journal_before(json_object_get(why, "before"));
	if (json_array_size(json_object_get(why, "next")))
		puts("\nWhat you can do");
	json_array_foreach(json_object_get(why, "next"), i, step) {
		printf("  %zu. ", i + 1);
		cli_print_wrapped(json_string_value(step), 5);
	}
}

static void print_verified(const json_t *line, struct printer_state *state)
{
	const json_t *equal = json_object_get(line, "equal");

	if (!line)
		return;
	state->count++;
	if (json_object_get(line, "job")) {
		printf("job %s: %s\n", word(line, "job"),
		       json_is_null(equal) ? "no changelog to compare with (upsert mode)"
		       : !json_is_true(equal) ? "replica_differs"
		       : state->count > 1     ? "every replica equals its changelog"
		                              : "it has no replica that could be compared");
		return;
	}
	cell(line, "table", 24);
	printf("%10lld rows %s", number(line, "rows"), json_is_true(equal) ? "equal" : "DIFFER: ");
	if (!json_is_true(equal))
		cli_print_text(word(line, "first_difference"));
	putchar('\n');
}

static void print_merged(const json_t *step, struct printer_state *state)
{
	if (!step) {
		puts("nothing was waiting");
		return;
	}
	state->count++;
	cell(step, "table", 24);
	printf("%lld changes, %lld rows written\n", number(step, "changes"), number(step, "rows"));
}

static void print_engine(const json_t *status, struct printer_state *state)
{
	if (!status)
		return;
	state->count++;
	printf("engine %s, pid %lld, %lld running jobs\n", word(status, "state"), number(status, "pid"),
	       number(status, "running_jobs"));
}

static void print_job(const json_t *job, struct printer_state *state)
{
	if (!job) {
		puts("no jobs");
		return;
	}
	if (!state->count++)
		puts("JOB              STATE        RECEIVED   WRITTEN FILTERED LETTERS PARKED REASON");
	cell(job, "job", 16);
	state_cell(job, 11);
	printf("%9lld %9lld %8lld %7lld %6lld ", number(job, "received"), number(job, "written"),
	       number(job, "filtered"), number(job, "dead_lettered"), number(job, "parked"));
	last_cell(job, "code");
}

static void print_job_whole(const json_t *job, struct printer_state *state)
{
	const char *name;
	json_t *value;
	size_t i;

	print_job(job, state);
	if (*word(job, "sentence")) {
		printf("  ");
		last_cell(job, "sentence");
	}
	json_object_foreach(json_object_get(job, "parameters"), name, value) {
		printf("  %-28s ", name);
		print_member("", value);
	}
	state->count = 0;
	json_array_foreach(json_object_get(job, "tables"), i, value)
		print_table(value, state);
}

static void print_replayed(const json_t *run, struct printer_state *state)
{
	if (!run)
		return;
	state->count++;
	printf("replay %lld of group %lld (job %s): %lld done, %lld no effect, %lld failed again, %lld left\n",
	       number(run, "run"), number(run, "group"), word(run, "job"), number(run, "done"), number(run, "no_effect"),
	       number(run, "failed_again"), number(run, "left"));
}

static void print_discarded(const json_t *answer, struct printer_state *state)
{
	const char *what = json_object_get(answer, "group") ? "group" : "id";

	if (!answer)
		return;
	state->count++;
	printf("job %s, %s %lld: %lld letters discarded\n", word(answer, "job"), *what == 'g' ? "group" : "letter",
	       number(answer, what), number(answer, "discarded"));
}

/* What an act has led to. */
static void print_act(const json_t *act, struct printer_state *state)
{
	const char *kind = json_object_get(act, "table") ? "table" : "job";

	if (!act)
		return;
	state->count++;
	printf("%s ", kind);
	cli_print_text(word(act, kind));
	printf(": %s%s", word(act, "state"), *word(act, "sentence") ? ": " : "");
	cli_print_text(word(act, "sentence"));
	putchar('\n');
}

static const struct {
	enum command_id command;
	void (*print)(const json_t *object, struct printer_state *state);
} printers[] = {
	{ COMMAND_journal, print_journal },   { COMMAND_note, print_journal },     { COMMAND_logs, print_log },
	{ COMMAND_dlq_groups, print_group }, { COMMAND_dlq_list, print_letter },   { COMMAND_dlq_show, print_shown },
	{ COMMAND_tables, print_table },     { COMMAND_why, print_why },           { COMMAND_verify, print_verified },
	{ COMMAND_job_list, print_job },     { COMMAND_job_show, print_job_whole }, { COMMAND_job_create, print_job },
	{ COMMAND_job_set, print_job_whole }, { COMMAND_job_delete, print_act },   { COMMAND_start, print_act },
	{ COMMAND_pause, print_act },        { COMMAND_resume, print_act },        { COMMAND_drain, print_act },
	{ COMMAND_stop, print_act },         { COMMAND_status, print_status },
	{ COMMAND_dlq_replay, print_replayed }, { COMMAND_dlq_discard, print_discarded },
	{ COMMAND_merge, print_merged },     { COMMAND_engine_status, print_engine }, { COMMAND_engine_stop, print_engine },
};

void (*printer_find(enum command_id command))(const json_t *, struct printer_state *)
{
	for (size_t i = 0; i < sizeof(printers) / sizeof(printers[0]); i++) {
		if (printers[i].command == command)
			return printers[i].print;
	}
	return NULL;
}
