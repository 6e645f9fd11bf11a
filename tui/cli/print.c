/* Objects of the engine's answers as lines for people: the table of printers, one a command, and what they share. */
#include "cli/cli_private.h"

#include "base/clean.h"

#include <stdio.h>
#include <stdlib.h>

const char *cli_word(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

long long cli_number(const json_t *object, const char *name)
{
	return (long long)json_integer_value(json_object_get(object, name));
}

void cli_cell(const json_t *object, const char *name, int width)
{
	OWNED(text) clean = text_new(4u << 20);

	clean_text(clean, span_of(cli_word(object, name)));
	printf("%-*s ", width, *clean->at ? clean->at : "-");
}

const char *cli_state(const json_t *object)
{
	const char *state = cli_word(object, "state");

	return strcmp(state, "needs you") == 0 ? "NEEDS YOU" : state;
}

const char *cli_number_cell(const json_t *object, const char *name, char room[24])
{
	snprintf(room, 24, "%lld", cli_number(object, name));
	return room;
}

void print_cells(struct printer_state *state, const struct page_column *columns, size_t count, const char *const *cells)
{
	state->count++;
	if (!state->list.count)
		cli_list_head(&state->list, columns, count);
	cli_list_row(&state->list, cells);
}

void print_value(const json_t *value)
{
	char *line;

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

static void print_verified(const json_t *line, struct printer_state *state)
{
	const json_t *equal = json_object_get(line, "equal"), *note = json_array_get(json_object_get(line, "notes"), 0);
	OWNED(text) verdict = text_new(1u << 20);

	if (!line)
		return;
	state->count++;
	if (json_object_get(line, "job")) {
		printf("job %s: %s\n", cli_word(line, "job"),
		       json_is_null(equal) ? cli_word(note, "text")
		       : !json_is_true(equal) ? "replica_differs"
		       : state->count > 1     ? "every replica equals its changelog"
		                              : "it has no replica that could be compared");
		return;
	}
	cli_cell(line, "table", 24);
	printf("%10lld rows ", cli_number(line, "rows"));
	text_add_format(verdict, "%s%s", json_is_true(equal) ? "equal" : "DIFFER: ",
	                json_is_true(equal) ? "" : cli_word(line, "first_difference"));
	cli_fold(stdout, verdict->at, 41, 4);
}

static void print_merged(const json_t *step, struct printer_state *state)
{
	if (!step) {
		puts("nothing was waiting");
		return;
	}
	state->count++;
	cli_cell(step, "table", 24);
	printf("%lld changes, %lld rows written\n", cli_number(step, "changes"), cli_number(step, "rows"));
}

static void print_engine(const json_t *status, struct printer_state *state)
{
	if (!status)
		return;
	state->count++;
	if (json_object_get(status, "level")) {
		printf("%-8s %-30s ", cli_word(status, "level"), cli_word(status, "what"));
		cli_print_wrapped(cli_word(status, "now"), 40);
		return;
	}
	printf("engine %s, pid %lld, %lld running jobs\n", cli_word(status, "state"), cli_number(status, "pid"),
	       cli_number(status, "running_jobs"));
}

static void print_job(const json_t *job, struct printer_state *state)
{
	static const struct page_column columns[] = {
		{ "JOB", 20, 12, 0, false },  { "STATE", 11, 0, 0, false },  { "RECEIVED", 9, 0, 3, true },
		{ "WRITTEN", 9, 0, 4, true }, { "FILTERED", 9, 0, 1, true }, { "LETTERS", 7, 0, 0, true },
		{ "PARKED", 6, 0, 2, true },
	};
	char received[24], written[24], filtered[24], letters[24], parked[24];
	const char *const cells[] = { cli_word(job, "job"), cli_state(job), cli_number_cell(job, "received", received),
		                      cli_number_cell(job, "written", written), cli_number_cell(job, "filtered", filtered),
		                      cli_number_cell(job, "dead_lettered", letters), cli_number_cell(job, "parked", parked) };

	if (!job) {
		puts("no jobs");
		return;
	}
	PRINT_CELLS(state, columns, cells);
	print_reason(job);
}

static void print_job_whole(const json_t *job, struct printer_state *state)
{
	struct printer_state tables = { 0 };
	const char *name;
	json_t *value;
	size_t i;

	if (!job)
		return;
	print_job(job, state);
	json_object_foreach(json_object_get(job, "parameters"), name, value) {
		printf("  %-28s ", name);
		print_value(value);
	}
	json_array_foreach(json_object_get(job, "tables"), i, value)
		print_table_row(value, false, &tables);
	cli_list_end(&tables.list);
	/* Said once is enough. */
	state->list.count = 0;
}

/* What an act has led to. */
static void print_act(const json_t *act, struct printer_state *state)
{
	const char *kind = json_object_get(act, "table") ? "table" : "job";
	OWNED(text) line = text_new(65536);

	if (!act)
		return;
	state->count++;
	text_add_format(line, "%s %s: %s%s%s", kind, cli_word(act, kind), cli_word(act, "state"), *cli_word(act, "sentence") ? ": " : "",
	                cli_word(act, "sentence"));
	cli_print_wrapped(line->at, 0);
}

static const struct {
	enum command_id command;
	void (*print)(const json_t *object, struct printer_state *state);
} printers[] = {
	{ COMMAND_journal, print_journal },   { COMMAND_note, print_journal },     { COMMAND_logs, print_log },
	{ COMMAND_dlq_groups, print_letter_group }, { COMMAND_dlq_list, print_letter },   { COMMAND_dlq_show, print_shown },
	{ COMMAND_tables, print_listed_table },     { COMMAND_why, print_why },           { COMMAND_verify, print_verified },
	{ COMMAND_job_list, print_job },     { COMMAND_job_show, print_job_whole }, { COMMAND_job_create, print_job },
	{ COMMAND_job_set, print_job_whole }, { COMMAND_job_delete, print_act },   { COMMAND_start, print_act },
	{ COMMAND_pause, print_act },        { COMMAND_resume, print_act },        { COMMAND_drain, print_act },
	{ COMMAND_stop, print_act },         { COMMAND_status, print_status },
	{ COMMAND_dlq_replay, print_replayed }, { COMMAND_dlq_discard, print_discarded },
	{ COMMAND_secret_put, print_secret }, { COMMAND_secret_list, print_secret }, { COMMAND_secret_delete, print_secret },
	{ COMMAND_secret_unlock, print_secret }, { COMMAND_secret_seal, print_secret },
	{ COMMAND_seek, print_sought },
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
