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

static const char *shown_state(const json_t *object)
{
	const char *state = word(object, "state");

	return strcmp(state, "needs you") == 0 ? "NEEDS YOU" : state;
}

/* A row of cells that are numbers of the object by their names, or texts. */
static const char *number_cell(const json_t *object, const char *name, char room[24])
{
	snprintf(room, 24, "%lld", number(object, name));
	return room;
}

#define LIST_ROW(state, columns, cells) list_row(state, columns, sizeof(columns) / sizeof(columns[0]), cells)

static void list_row(struct printer_state *state, const struct page_column *columns, size_t count,
                     const char *const *cells)
{
	state->count++;
	if (!state->list.count)
		cli_list_head(&state->list, columns, count);
	cli_list_row(&state->list, cells);
}

/* What is numbered by job says whose it is, once for all that follow. */
static void print_owner(const json_t *object, struct printer_state *state)
{
	const char *job = word(object, "job");

	if (strcmp(job, state->last) == 0)
		return;
	printf("%sjob ", state->count ? "\n" : "");
	cli_print_text(job);
	putchar('\n');
	snprintf(state->last, sizeof(state->last), "%s", job);
}

static void print_group(const json_t *group, struct printer_state *state)
{
	static const struct page_column columns[] = {
		{ "GROUP", 5, 0, 0, true },  { "COUNT", 7, 0, 0, true },   { "STATE", 12, 0, 1, false },
		{ "CODE", 22, 0, 0, false }, { "TABLE", 18, 10, 0, false }, { "COLUMN", 10, 0, 2, false },
	};
	char id[24], count[24];
	const char *const cells[] = { number_cell(group, "group", id), number_cell(group, "count", count), shown_state(group),
		                      word(group, "code"), word(group, "table"), word(group, "column") };

	if (!group) {
		puts("no dead letters");
		return;
	}
	print_owner(group, state);
	LIST_ROW(state, columns, cells);
}

static void print_letter(const json_t *letter, struct printer_state *state)
{
	static const struct page_column columns[] = {
		{ "ID", 4, 0, 0, true },      { "LINE", 6, 0, 3, true },   { "FIRST", 19, 0, 1, false },
		{ "STATE", 12, 0, 2, false }, { "CODE", 21, 0, 0, false }, { "TABLE", 13, 0, 0, false },
	};
	const json_t *source = json_object_get(letter, "source");
	char id[24], line[24], first[24];
	const char *const cells[] = { number_cell(letter, "id", id), number_cell(source, "line", line), first,
		                      shown_state(letter), word(letter, "code"), word(letter, "table") };

	if (!letter) {
		puts("no dead letters");
		return;
	}
	/* "2026-11-30T02:37:30.123456Z" without what a terminal has no room for. */
	snprintf(first, sizeof(first), "%.19s", word(letter, "first"));
	print_owner(letter, state);
	LIST_ROW(state, columns, cells);
	/* The sentence is what matters most: on a line of its own it is never cut. */
	printf("      ");
	cli_print_wrapped(word(letter, "message"), 6);
}

static void print_value(const json_t *value)
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

static void print_member(const char *label, const json_t *value)
{
	if (!value || json_is_null(value))
		return;
	printf("%-13s ", label);
	if (strcmp(label, "message") == 0)
		cli_print_wrapped(json_string_value(value), 14);
	else
		print_value(value);
}

static void print_shown(const json_t *letter, struct printer_state *state)
{
	static const char *const members[] = { "id", "job", "group", "state", "stage", "code", "message", "table", "column",
		                                   "path", "key", "source", "message_id", "publish", "ordering_key", "attrs", "attr_list", "bytes",
		                                   "sha256", "commit", "position", "first", "last", "attempts", "newer",
		                                   "replica", "shortened", "payload", "payload_b64" };

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
		printf("%s%s%s", word(column, "type"), number(column, "key_ordinal") ? "  key" : "",
		       json_object_get(column, "unsure")                 ? "  guessed"
		       : json_is_true(json_object_get(column, "inferred")) ? "  inferred"
		                                                         : "");
		if (json_object_get(column, "source"))
			printf("  in the source: %s", word(column, "source"));
		putchar('\n');
	}
	if (number(table, "columns_left_out"))
		printf("    (and %lld more columns)\n", (long long)number(table, "columns_left_out"));
}

/* Where the first message with a change is. */
static void add_place(struct text *line, const json_t *change)
{
	const json_t *source = json_object_get(change, "source");

	if (number(source, "line"))
		text_add_format(line, " (line %lld)", (long long)number(source, "line"));
	else if (*word(source, "message_id"))
		text_add_format(line, " (message %s)", word(source, "message_id"));
}

static void print_step(const json_t *change, const json_t *step)
{
	OWNED(text) line = text_new(65536);
	const char *column = word(step, "column"), *what = step ? word(step, "change") : word(change, "change");

	text_add_format(line, "%.19s %s%s%s", word(change, "time"), column, *column ? ": " : "", what);
	if (step)
		text_add_format(line, "; weir: %s", word(step, "did"));
	if (json_object_get(step, "rows"))
		text_add_format(line, ", %lld %s", (long long)number(step, "rows"), number(step, "rows") == 1 ? "row" : "rows");
	add_place(line, change);
	printf("    ");
	cli_print_wrapped(line->at, 4);
}

/* What happened to the columns, oldest first. */
static void print_timeline(const json_t *table)
{
	const json_t *change, *step;
	size_t i, k;

	json_array_foreach(json_object_get(table, "timeline"), i, change) {
		const json_t *steps = json_object_get(change, "steps");

		if (!json_array_size(steps))
			print_step(change, NULL);
		json_array_foreach(steps, k, step)
			print_step(change, step);
	}
	if (number(table, "timeline_left_out"))
		printf("    (and %lld older changes)\n", (long long)number(table, "timeline_left_out"));
}

static void print_paused(const json_t *paused)
{
	OWNED(text) line = text_new(65536);

	if (!paused)
		return;
	text_add_format(line, "paused: since %.19s", word(paused, "since"));
	if (*word(paused, "who"))
		text_add_format(line, " by %s", word(paused, "who"));
	if (*word(paused, "why"))
		text_add_format(line, ": %s", word(paused, "why"));
	printf("    ");
	cli_print_wrapped(line->at, 4);
}

static void print_notes(const json_t *notes)
{
	size_t i;
	json_t *note;

	json_array_foreach(notes, i, note) {
		OWNED(text) line = text_new(65536);

		text_add_format(line, "%s: %s", word(note, "code"), word(note, "text"));
		printf("    ");
		cli_print_wrapped(line->at, 4);
	}
}

/* `with_job`: the tables of several jobs. */
static void print_table_row(const json_t *table, bool with_job, struct printer_state *state)
{
	static const struct page_column columns[] = {
		{ "TABLE", 18, 14, 0, false },  { "STATE", 11, 0, 0, false },  { "RECEIVED", 8, 0, 3, true },
		{ "WRITTEN", 8, 0, 4, true },   { "FILTERED", 8, 0, 1, true }, { "LETTERS", 7, 0, 0, true },
		{ "PARKED", 6, 0, 2, true },    { "JOB", 7, 0, 0, false },
	};
	char received[24], written[24], filtered[24], letters[24], parked[24];
	const char *const cells[] = { word(table, "table"), shown_state(table), number_cell(table, "received", received),
		                      number_cell(table, "written", written), number_cell(table, "filtered", filtered),
		                      number_cell(table, "dead_lettered", letters), number_cell(table, "parked", parked),
		                      word(table, "job") };

	list_row(state, columns, sizeof(columns) / sizeof(columns[0]) - !with_job, cells);
	print_paused(json_object_get(table, "paused"));
	print_notes(json_object_get(table, "notes"));
	print_columns(table);
	print_timeline(table);
}

static void print_table(const json_t *table, struct printer_state *state)
{
	if (table)
		print_table_row(table, true, state);
	else
		puts(json_is_true(json_object_get(state->args, "failing")) ? "no table needs you" : "no tables");
}

/* One cause stands in the sentence; with several each has a row. */
static void print_causes(const json_t *groups)
{
	static const struct page_column columns[] = {
		{ "GROUP", 5, 0, 0, true },  { "COUNT", 7, 0, 0, true },   { "STATE", 12, 0, 1, false },
		{ "CODE", 22, 0, 0, false }, { "COLUMN", 14, 8, 2, false }, { "SAMPLE", 6, 0, 3, true },
	};
	struct printer_state list = { 0 };
	size_t i;
	json_t *group;

	if (json_array_size(groups) < 2)
		return;
	puts("\nAll that fails here");
	json_array_foreach(groups, i, group) {
		char id[24], count[24], sample[24];
		const char *const cells[] = { number_cell(group, "group", id), number_cell(group, "count", count),
			                      shown_state(group), word(group, "code"), word(group, "column"),
			                      number_cell(group, "sample", sample) };

		LIST_ROW(&list, columns, cells);
	}
}

static void print_why(const json_t *why, struct printer_state *state)
{
	const json_t *first = json_object_get(why, "first");
	OWNED(text) head = text_new(65536);
	OWNED(text) event = text_new(65536);
	size_t i;
	json_t *step;

	if (!why)
		return;
	if (state->count++)
		putchar('\n');
	text_add_format(head, "%s (job %s): %s%s%s", word(why, "table"), word(why, "job"), shown_state(why),
	                *word(why, "code") ? "   " : "", word(why, "code"));
	cli_print_wrapped(head->at, 0);
	putchar('\n');
	cli_print_wrapped(word(why, "sentence"), 0);
	print_causes(json_object_get(why, "groups"));
	if (json_is_object(first)) {
		text_add_format(event, "First bad event: letter %lld, line %lld, %.19s, key %s", number(first, "id"),
		                number(json_object_get(first, "source"), "line"), word(first, "first"),
		                *word(first, "key") ? word(first, "key") : "-");
		putchar('\n');
		cli_print_wrapped(event->at, 0);
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
	OWNED(text) verdict = text_new(1u << 20);

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
	printf("%10lld rows ", number(line, "rows"));
	text_add_format(verdict, "%s%s", json_is_true(equal) ? "equal" : "DIFFER: ",
	                json_is_true(equal) ? "" : word(line, "first_difference"));
	cli_fold(stdout, verdict->at, 41, 4);
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
	if (json_object_get(status, "level")) {
		printf("%-8s %-30s ", word(status, "level"), word(status, "what"));
		cli_print_wrapped(word(status, "now"), 40);
		return;
	}
	printf("engine %s, pid %lld, %lld running jobs\n", word(status, "state"), number(status, "pid"),
	       number(status, "running_jobs"));
}

static void print_job(const json_t *job, struct printer_state *state)
{
	static const struct page_column columns[] = {
		{ "JOB", 20, 12, 0, false },  { "STATE", 11, 0, 0, false },  { "RECEIVED", 9, 0, 3, true },
		{ "WRITTEN", 9, 0, 4, true }, { "FILTERED", 9, 0, 1, true }, { "LETTERS", 7, 0, 0, true },
		{ "PARKED", 6, 0, 2, true },
	};
	char received[24], written[24], filtered[24], letters[24], parked[24];
	const char *const cells[] = { word(job, "job"), shown_state(job), number_cell(job, "received", received),
		                      number_cell(job, "written", written), number_cell(job, "filtered", filtered),
		                      number_cell(job, "dead_lettered", letters), number_cell(job, "parked", parked) };

	if (!job) {
		puts("no jobs");
		return;
	}
	LIST_ROW(state, columns, cells);
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
	static const char *const names[] = { "id", "group", "table", "code", "state" };
	static const char *const words[] = { "letter", "group", "table", "code", "state" };

	if (!answer)
		return;
	state->count++;
	printf("job %s", word(answer, "job"));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const json_t *value = json_object_get(answer, names[i]);

		if (json_is_integer(value))
			printf(", %s %lld", words[i], (long long)json_integer_value(value));
		else if (value)
			printf(", %s %s", words[i], word(answer, names[i]));
	}
	printf(": %lld letters discarded\n", number(answer, "discarded"));
}

/* What an act has led to. */
static void print_act(const json_t *act, struct printer_state *state)
{
	const char *kind = json_object_get(act, "table") ? "table" : "job";
	OWNED(text) line = text_new(65536);

	if (!act)
		return;
	state->count++;
	text_add_format(line, "%s %s: %s%s%s", kind, word(act, kind), word(act, "state"), *word(act, "sentence") ? ": " : "",
	                word(act, "sentence"));
	cli_print_wrapped(line->at, 0);
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
