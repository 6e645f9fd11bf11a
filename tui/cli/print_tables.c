/* Tables as lines for people, with their columns, what happened to these, and `weir why`. */
#include "cli/cli_private.h"

#include "base/clean.h"

static void print_columns(const json_t *table)
{
	size_t i;
	json_t *column;

	json_array_foreach(json_object_get(table, "columns"), i, column) {
		printf("    ");
		cli_cell(column, "name", 24);
		printf("%s%s%s", cli_word(column, "type"), cli_number(column, "key_ordinal") ? "  key" : "",
		       json_object_get(column, "unsure")                 ? "  guessed"
		       : json_is_true(json_object_get(column, "inferred")) ? "  inferred"
		                                                         : "");
		if (json_object_get(column, "source"))
			printf("  in the source: %s", cli_word(column, "source"));
		putchar('\n');
	}
	if (cli_number(table, "columns_left_out"))
		printf("    (and %lld more columns)\n", (long long)cli_number(table, "columns_left_out"));
}

/* Where the first message with a change is. */
static void add_place(struct text *line, const json_t *change)
{
	const json_t *source = json_object_get(change, "source");

	if (cli_number(source, "line"))
		text_add_format(line, " (line %lld)", (long long)cli_number(source, "line"));
	else if (*cli_word(source, "message_id"))
		text_add_format(line, " (message id %s)", cli_word(source, "message_id"));
}

static void print_step(const json_t *change, const json_t *step)
{
	OWNED(text) line = text_new(65536);
	const char *column = cli_word(step, "column"), *what = step ? cli_word(step, "change") : cli_word(change, "change");

	text_add_format(line, "%.19s %s%s%s", cli_word(change, "time"), column, *column ? ": " : "", what);
	if (step)
		text_add_format(line, "; weir: %s", cli_word(step, "did"));
	if (json_object_get(step, "rows"))
		text_add_format(line, ", %lld %s", (long long)cli_number(step, "rows"), cli_number(step, "rows") == 1 ? "row" : "rows");
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
	if (cli_number(table, "timeline_left_out"))
		printf("    (and %lld older changes)\n", (long long)cli_number(table, "timeline_left_out"));
}

static void print_paused(const json_t *paused)
{
	OWNED(text) line = text_new(65536);

	if (!paused)
		return;
	text_add_format(line, "paused: since %.19s", cli_word(paused, "since"));
	if (*cli_word(paused, "who"))
		text_add_format(line, " by %s", cli_word(paused, "who"));
	if (*cli_word(paused, "why"))
		text_add_format(line, ": %s", cli_word(paused, "why"));
	printf("    ");
	cli_print_wrapped(line->at, 4);
}

static void print_notes(const json_t *notes)
{
	size_t i;
	json_t *note;

	json_array_foreach(notes, i, note) {
		OWNED(text) line = text_new(65536);

		text_add_format(line, "%s: %s", cli_word(note, "code"), cli_word(note, "text"));
		printf("    ");
		cli_print_wrapped(line->at, 4);
	}
}

void print_table_row(const json_t *table, bool with_job, struct printer_state *state)
{
	static const struct page_column columns[] = {
		{ "TABLE", 18, 14, 0, false },  { "STATE", 11, 0, 0, false },  { "RECEIVED", 8, 0, 3, true },
		{ "WRITTEN", 8, 0, 4, true },   { "FILTERED", 8, 0, 1, true }, { "LETTERS", 7, 0, 0, true },
		{ "PARKED", 6, 0, 2, true },    { "JOB", 7, 0, 0, false },
	};
	char received[24], written[24], filtered[24], letters[24], parked[24];
	const char *const cells[] = { cli_word(table, "table"), cli_state(table), cli_number_cell(table, "received", received),
		                      cli_number_cell(table, "written", written), cli_number_cell(table, "filtered", filtered),
		                      cli_number_cell(table, "dead_lettered", letters), cli_number_cell(table, "parked", parked),
		                      cli_word(table, "job") };

	print_cells(state, columns, sizeof(columns) / sizeof(columns[0]) - !with_job, cells);
	print_paused(json_object_get(table, "paused"));
	print_notes(json_object_get(table, "notes"));
	print_columns(table);
	print_timeline(table);
}

void print_listed_table(const json_t *table, struct printer_state *state)
{
	if (table)
		print_table_row(table, true, state);
	else
		puts(json_is_true(json_object_get(state->args, "failing")) ? "no table needs you" : "no tables");
}

/* One cause stands in the sentence; with several each has a row. */
static void print_causes(const json_t *why)
{
	const json_t *groups = json_object_get(why, "groups");
	static const struct page_column columns[] = {
		{ "GROUP", 5, 0, 0, true },  { "COUNT", 7, 0, 0, true },   { "STATE", 12, 0, 1, false },
		{ "CODE", 22, 0, 0, false }, { "COLUMN", 14, 8, 2, false }, { "SAMPLE", 6, 0, 3, true },
	};
	struct printer_state list = { 0 };
	size_t i;
	json_t *group;

	if (json_array_size(groups) < 2)
		return;
	puts("\nAll that fails here, worst first");
	json_array_foreach(groups, i, group) {
		char id[24], count[24], sample[24];
		const char *const cells[] = { cli_number_cell(group, "group", id), cli_number_cell(group, "count", count),
			                      cli_state(group), cli_word(group, "code"), cli_word(group, "column"),
			                      cli_number_cell(group, "sample", sample) };

		PRINT_CELLS(&list, columns, cells);
	}
	if (cli_number(why, "groups_more"))
		printf("and %lld more: weir dlq groups --job %s --table %s\n", cli_number(why, "groups_more"), cli_word(why, "job"),
		       cli_word(why, "table"));
}

void print_why(const json_t *why, struct printer_state *state)
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
	text_add_format(head, "%s (job %s): %s%s%s", cli_word(why, "table"), cli_word(why, "job"), cli_state(why),
	                *cli_word(why, "code") ? "   " : "", cli_word(why, "code"));
	cli_print_wrapped(head->at, 0);
	putchar('\n');
	cli_print_wrapped(cli_word(why, "sentence"), 0);
	print_causes(why);
	if (json_is_object(first)) {
		const json_t *source = json_object_get(first, "source");
		char place[400];

		if (cli_number(source, "line"))
			snprintf(place, sizeof(place), "line %lld", (long long)cli_number(source, "line"));
		else
			snprintf(place, sizeof(place), "message id %.300s", cli_word(source, "message_id"));
		text_add_format(event, "First bad event: letter %lld, %s, %.19s, key %s", cli_number(first, "id"), place,
		                cli_word(first, "first"), *cli_word(first, "key") ? cli_word(first, "key") : "-");
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
