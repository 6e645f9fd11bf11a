/* `weir status` for people: a line a job, under it why it stands so, what it does, and which tables are not ok. */
#include "cli/cli_private.h"

#include "base/clean.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT "    "

/* "850ms", "4s", "3m", "2h", "5d": what fits into six columns. */
void cli_time_text(double ms, char out[16])
{
	static const struct {
		double unit_ms, until_ms;
		const char *name;
	} units[] = {
		{ 1, 1000, "ms" },        { 1000, 120e3, "s" },       { 60e3, 7200e3, "m" },
		{ 3600e3, 172800e3, "h" }, { 86400e3, 86400e5 * 10, "d" }, { 86400e3 * 365.25, 1e300, "y" },
	};
	size_t i = 0;

	while (ms >= units[i].until_ms)
		i++;
	snprintf(out, 16, "%.0f%s", ms / units[i].unit_ms, units[i].name);
}

static const char *time_cell(const json_t *value, char out[16])
{
	snprintf(out, 16, "-");
	if (json_is_number(value))
		cli_time_text(json_number_value(value), out);
	return out;
}

/* "14", "2.1k", "350k", "1.2M". */
static const char *rate_cell(double rate, char out[24])
{
	if (rate < 1000)
		snprintf(out, 24, "%.*f", rate > 0 && rate < 10 ? 1 : 0, rate);
	else if (rate < 1e6)
		snprintf(out, 24, "%.*fk", rate < 1e4 ? 1 : 0, rate / 1e3);
	else
		snprintf(out, 24, "%.*fM", rate < 1e7 ? 1 : 0, rate / 1e6);
	return out;
}

static void print_latency(const json_t *latency)
{
	static const char *const legs[] = { "publish", "receive", "changelog", "replica" };
	OWNED(text) line = text_new(1024);

	for (size_t i = 0; i < sizeof(legs) / sizeof(legs[0]); i++) {
		const json_t *leg = json_object_get(latency, legs[i]);
		char p50[16], p99[16];

		if (!leg)
			continue;
		cli_time_text(json_number_value(json_object_get(leg, "p50_ms")), p50);
		cli_time_text(json_number_value(json_object_get(leg, "p99_ms")), p99);
		text_add_format(line, "%s%s %s/%s", line->len ? ", " : "p50/p99: ", legs[i], p50, p99);
	}
	if (!line->len)
		return;
	printf(INDENT);
	cli_print_wrapped(line->at, sizeof(INDENT) - 1);
}

static void add_clock(struct text *out, const char *before, const json_t *time)
{
	if (json_is_string(time) && json_string_length(time) > 19)
		text_add_format(out, "%s%.8s", before, json_string_value(time) + 11);
}

static void print_activity(const json_t *activity)
{
	size_t i;
	json_t *item;

	json_array_foreach(activity, i, item) {
		OWNED(text) doing = text_new(4096);

		text_add(doing, cli_word(item, "doing"));
		add_clock(doing, " since ", json_object_get(item, "since"));
		add_clock(doing, ", next try ", json_object_get(item, "until"));
		printf(INDENT "%-7s", cli_word(item, "thread"));
		cli_print_wrapped(doing->at, sizeof(INDENT) - 1 + 7);
	}
}

static void print_tables(const json_t *tables)
{
	size_t i;
	json_t *table;

	json_array_foreach(tables, i, table) {
		bool narrow = cli_columns(stdout) < 70;
		OWNED(text) line = text_new(65536);

		if (strcmp(cli_word(table, "state"), "ok") == 0)
			continue;
		text_add_format(line, "%-*s letters %lld, parked %lld", narrow ? 18 : 24, cli_word(table, "table"),
		                cli_number(table, "dead_lettered"), cli_number(table, "parked"));
		printf(INDENT "%-11s ", cli_state(table));
		cli_print_wrapped(line->at, sizeof(INDENT) - 1 + 12);
	}
}

static void print_status_line(const json_t *job, struct printer_state *state)
{
	static const struct page_column columns[] = {
		{ "JOB", 20, 12, 0, false }, { "STATE", 11, 0, 0, false },  { "LAG", 6, 0, 0, true },
		{ "IN/S", 6, 0, 4, true },   { "OUT/S", 6, 0, 3, true },    { "WAITING", 8, 0, 1, true },
		{ "LETTERS", 7, 0, 0, true }, { "PARKED", 7, 0, 2, true },
	};
	const json_t *rates = json_object_get(job, "rates");
	char lag[16], in[24], out[24], waiting[24], letters[24], parked[24];
	const char *const cells[] = { cli_word(job, "job"), cli_state(job),
		                      time_cell(json_object_get(job, "lag_ms"), lag),
		                      rate_cell(json_number_value(json_object_get(rates, "received")), in),
		                      rate_cell(json_number_value(json_object_get(rates, "written")), out),
		                      cli_number_cell(job, "replica_waiting", waiting),
		                      cli_number_cell(job, "dead_lettered", letters), cli_number_cell(job, "parked", parked) };

	if (!state->count++)
		cli_list_head(&state->list, columns, sizeof(columns) / sizeof(columns[0]));
	cli_list_row(&state->list, cells);
}

void print_reason(const json_t *job)
{
	OWNED(text) reason = text_new(8192);

	/* What a running job waits for is the first thing that it does. */
	if (!*cli_word(job, "code") || json_array_size(json_object_get(job, "activity")))
		return;
	text_add_format(reason, "%s: %s", cli_word(job, "code"), cli_word(job, "sentence"));
	printf(INDENT);
	cli_print_wrapped(reason->at, sizeof(INDENT) - 1);
}

static void print_metric(const json_t *metric, struct printer_state *state)
{
	OWNED(text) out = text_new(16u << 20);

	exposition_text(metric, state->count++ ? state->last : "", out);
	snprintf(state->last, sizeof(state->last), "%s", cli_word(metric, "metric"));
	fputs(out->at, stdout);
}

void print_status(const json_t *object, struct printer_state *state)
{
	if (json_is_true(json_object_get(state->args, "history"))) {
		print_history(object, state);
	} else if (!object) {
		puts("no jobs");
	} else if (json_object_get(object, "metric")) {
		print_metric(object, state);
	} else {
		print_status_line(object, state);
		print_reason(object);
		print_activity(json_object_get(object, "activity"));
		print_latency(json_object_get(object, "latency"));
		print_tables(json_object_get(object, "tables"));
	}
}
