/*
 * `weir status --history` for people: of each job the last ten minutes and the last
 * day in a page of steps, the newest last, and a line a table. Counters are summed
 * over a step; what was at a moment stands as it was at its worst.
 */
#include "cli/cli_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MOST 24

static const struct history_cell {
	const char *name;
	bool is_sum, is_time;
} cells_of_job[] = {
	{ "received", true, false }, { "written", true, false }, { "filtered", true, false }, { "dead_lettered", true, false },
	{ "parked", false, false }, { "replica_waiting", false, false }, { "lag", false, true },
}, cells_of_table[] = {
	{ "received", true, false }, { "written", true, false }, { "dead_lettered", true, false }, { "lag", false, true },
};
#define JOB_CELLS (sizeof(cells_of_job) / sizeof(*cells_of_job))
#define TABLE_CELLS (sizeof(cells_of_table) / sizeof(*cells_of_table))

static double value_over(const json_t *series, const struct history_cell *cell, size_t from, size_t to)
{
	const json_t *values = json_object_get(json_object_get(series, "values"), cell->name);
	double out = 0;

	for (size_t i = from; i < to; i++) {
		double value = json_number_value(json_array_get(values, i));

		if (cell->is_sum)
			out += value;
		else if (value > out)
			out = value;
	}
	return out;
}

/* A lag of nothing is none: nothing came. */
static void cell_text(const json_t *series, const struct history_cell *cell, size_t from, size_t to, char out[24])
{
	double value = value_over(series, cell, from, to);

	if (cell->is_time && value <= 0)
		snprintf(out, 24, "-");
	else if (cell->is_time)
		cli_time_text(value * 1000, out);
	else
		snprintf(out, 24, "%.0f", value);
}

/* How many slots a row has, so that a page holds them all. */
static size_t slots_a_row(size_t count)
{
	static const size_t choices[] = { 1, 2, 5, 10, 15, 30 };

	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		if (count <= choices[i] * STEPS_MOST)
			return choices[i];
	}
	return 60;
}

static void print_row(const json_t *series, size_t from, size_t to, size_t count, struct printer_state *state)
{
	int64_t step_s = json_integer_value(json_object_get(series, "step_s"));
	const char *cells[1 + JOB_CELLS];
	char room[1 + JOB_CELLS][24];

	cli_time_text((double)(count - from) * (double)step_s * 1000, room[0]);
	for (size_t i = 0; i < JOB_CELLS; i++)
		cell_text(series, &cells_of_job[i], from, to, room[1 + i]);
	for (size_t i = 0; i < 1 + JOB_CELLS; i++)
		cells[i] = room[i];
	cli_list_row(&state->list, cells);
}

static void print_job_series(const json_t *series, struct printer_state *state)
{
	static const struct page_column columns[] = {
		{ "AGO", 6, 0, 0, true },     { "RECEIVED", 10, 0, 0, true }, { "WRITTEN", 10, 0, 0, true },
		{ "FILTERED", 8, 0, 2, true }, { "LETTERS", 7, 0, 0, true },   { "PARKED", 7, 0, 1, true },
		{ "WAITING", 8, 0, 3, true }, { "LAG", 6, 0, 0, true },
	};
	size_t count = (size_t)json_integer_value(json_object_get(series, "count")), each = slots_a_row(count);
	const char *unit = json_integer_value(json_object_get(series, "step_s")) == 1 ? "second" : "minute";

	if (!count)
		return;
	printf("%sjob ", state->list.count ? "\n" : "");
	cli_print_text(json_string_value(json_object_get(series, "job")));
	printf(": %zu %s%s, in steps of %zu\n", count, unit, count == 1 ? "" : "s", each);
	cli_list_head(&state->list, columns, sizeof(columns) / sizeof(*columns));
	/* Steps are counted from now back, so that the newest is a whole one. */
	for (size_t to = count % each ? count % each : each, from = 0; to <= count; from = to, to += each)
		print_row(series, from, to, count, state);
}

static void print_table_series(const json_t *series, struct printer_state *state)
{
	static const struct page_column columns[] = {
		{ "TABLE", 28, 12, 0, false },   { "RECEIVED", 10, 0, 0, true }, { "WRITTEN", 10, 0, 0, true },
		{ "LETTERS", 7, 0, 0, true }, { "LAG", 6, 0, 1, true },
	};
	const char *job = json_string_value(json_object_get(series, "job"));
	const char *cells[1 + TABLE_CELLS] = { json_string_value(json_object_get(series, "table")) };
	size_t count = (size_t)json_integer_value(json_object_get(series, "count"));
	bool is_minutes = json_integer_value(json_object_get(series, "step_s")) != 10;
	char room[TABLE_CELLS][24];

	if (strcmp(state->last, job) != 0) {
		printf("\njob ");
		cli_print_text(job);
		printf(": its tables, %zu %s%s\n", count, is_minutes ? "minute" : "times 10 second", count == 1 && is_minutes ? "" : "s");
		cli_list_head(&state->list, columns, sizeof(columns) / sizeof(*columns));
		snprintf(state->last, sizeof(state->last), "%s", job);
	}
	for (size_t i = 0; i < TABLE_CELLS; i++) {
		cell_text(series, &cells_of_table[i], 0, count, room[i]);
		cells[1 + i] = room[i];
	}
	cli_list_row(&state->list, cells);
}

void print_history(const json_t *series, struct printer_state *state)
{
	if (!series) {
		cli_print_wrapped("no history: it is kept by the engine while it runs, of jobs that something has flowed through", 0);
		return;
	}
	state->count++;
	/* A table is one line; its ten minutes in short steps are for charts, and for who asks for them. */
	if (json_object_get(series, "table") && json_integer_value(json_object_get(series, "step_s")) == 10 &&
	    !json_object_get(state->args, "step"))
		return;
	if (json_object_get(series, "table"))
		print_table_series(series, state);
	else
		print_job_series(series, state);
}
