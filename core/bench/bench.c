/* `weir bench`: the table of rows, which of them are wanted, and how a figure is said. */
#include "bench/bench.h"
#include "base/arena.h"
#include "base/file.h"
#include "bench/bench_private.h"

#include <stdlib.h>

#define MILLION UINT64_C(1000000)
#define CONSOLE_ROWS UINT64_C(100000)
#define WORDS_TO_A_KIB 24  /* bring a message to 1 KiB */
#define WORDS_OF_A_FLAT_KIB 93
#define WORDS_OF_A_KIB 104 /* bring a changelog row at BigQuery to 1 KiB */

/* Rows without a function belong to parts of weir that do not exist yet. */
static const struct bench_row rows[] = {
	{
		.name = "encode", .unit = "cpu_s_per_million", .baseline = "jansson_decode", .order = LESS_IS_BETTER,
		.rows = MILLION, .run = bench_encode,
	},
	{
		.name = "encode_schema_block", .unit = "cpu_s_per_million", .baseline = "jansson_decode",
		.order = LESS_IS_BETTER, .rows = MILLION, .has_schema = true, .run = bench_encode,
	},
	{
		.name = "changelog", .unit = "changes_per_s", .baseline = "sqlite_append", .order = MORE_IS_BETTER,
		.rows = MILLION, .run = bench_changelog,
	},
	{
		.name = "replica", .unit = "changes_per_s", .baseline = "sqlite_two_writes", .order = MORE_IS_BETTER,
		.rows = MILLION, .run = bench_replica,
	},
	{
		.name = "replica_10m", .unit = "changes_per_s", .baseline = "sqlite_two_writes", .order = MORE_IS_BETTER,
		.rows = 10 * MILLION, .is_only_named = true, .has_young = true, .run = bench_replica,
	},
	{
		.name = "feed_memory", .unit = "mib", .order = LESS_IS_BETTER, .rows = MILLION, .run = bench_feed_memory,
	},
	{
		.name = "idle_jobs", .unit = "mib", .order = LESS_IS_BETTER, .rows = MILLION, .run = bench_idle_jobs,
	},
	{
		.name = "idle_jobs_cpu", .unit = "percent_of_core", .order = LESS_IS_BETTER, .rows = MILLION,
		.run = bench_idle_jobs_cpu,
	},
	{
		.name = "grpc_echo", .unit = "messages_per_s", .baseline = "grpc_go", .order = MORE_IS_BETTER, .also = "grpc_echo_cpu",
		.run = bench_grpc_echo,
	},
	{
		.name = "grpc_echo_cpu", .unit = "cpu_s_per_million", .baseline = "grpc_go", .order = LESS_IS_BETTER,
		.run = bench_grpc_echo_cpu,
	},
	{
		.name = "bigquery", .unit = "rows_per_s", .baseline = "managedwriter", .order = MORE_IS_BETTER, .also = "bigquery_cpu",
		.rows = MILLION, .more_words = WORDS_OF_A_KIB, .run = bench_bigquery,
	},
	{
		.name = "bigquery_cpu", .unit = "cpu_s_per_million", .baseline = "managedwriter", .order = LESS_IS_BETTER, .rows = MILLION,
		.more_words = WORDS_OF_A_KIB, .run = bench_bigquery_cpu,
	},
	{
		.name = "console_start", .unit = "ms", .baseline = "htop", .order = LESS_IS_BETTER, .rows = CONSOLE_ROWS,
		.run = bench_console_start,
	},
	{
		.name = "console_rest_cpu", .unit = "percent_of_core", .baseline = "htop", .order = LESS_IS_BETTER,
		.rows = CONSOLE_ROWS, .run = bench_console_rest_cpu,
	},
	{
		.name = "console_rest_bytes", .unit = "bytes_per_s", .baseline = "htop", .order = LESS_IS_BETTER,
		.rows = CONSOLE_ROWS, .run = bench_console_rest_bytes,
	},
	{ .name = "dlq_groups", .unit = "ms", .order = LESS_IS_BETTER, .rows = MILLION, .run = bench_dlq_groups },
	{ .name = "dlq_filter", .unit = "ms", .order = LESS_IS_BETTER, .rows = MILLION, .run = bench_dlq_filter },
	{
		.name = "pubsub", .unit = "messages_per_s", .baseline = "go_client", .order = MORE_IS_BETTER, .also = "pubsub_cpu",
		.rows = MILLION, .is_pulled = true, .run = bench_pubsub,
	},
	{
		.name = "pubsub_cpu", .unit = "cpu_s_per_million", .baseline = "go_client", .order = LESS_IS_BETTER, .rows = MILLION,
		.is_pulled = true, .run = bench_pubsub_cpu,
	},
	{
		.name = "pubsub_bigquery", .unit = "messages_per_s", .baseline = "go_client", .order = MORE_IS_BETTER,
		.also = "pubsub_bigquery_cpu", .rows = MILLION, .more_words = WORDS_TO_A_KIB, .is_pulled = true,
		.run = bench_pubsub_bigquery,
	},
	{
		.name = "pubsub_bigquery_cpu", .unit = "cpu_s_per_million", .baseline = "go_client", .order = LESS_IS_BETTER,
		.rows = MILLION, .more_words = WORDS_TO_A_KIB, .is_pulled = true, .run = bench_pubsub_bigquery_cpu,
	},
	{
		.name = "pubsub_cdc_bigquery", .unit = "messages_per_s", .baseline = "go_client", .order = MORE_IS_BETTER,
		.also = "pubsub_cdc_bigquery_cpu", .rows = MILLION, .more_words = WORDS_OF_A_FLAT_KIB, .is_pulled = true,
		.is_flat = true, .run = bench_pubsub_bigquery,
	},
	{
		.name = "pubsub_cdc_bigquery_cpu", .unit = "cpu_s_per_million", .baseline = "go_client", .order = LESS_IS_BETTER,
		.rows = MILLION, .more_words = WORDS_OF_A_FLAT_KIB, .is_pulled = true, .is_flat = true,
		.run = bench_pubsub_bigquery_cpu,
	},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static bool unknown_row(const char *name, struct error *err)
{
	OWNED(text) allowed = text_new(600);

	for (size_t i = 0; i < ROWS; i++) {
		if (rows[i].run)
			text_add_format(allowed, "%s%s", allowed->len ? ", " : "", rows[i].name);
	}
	return fail(err, ERROR_USAGE, "bad_argument", "there is no benchmark '%.60s'; allowed are %s", name, allowed->at);
}

static bool find_row(const char *name, const struct bench_row **out, struct error *err)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		*out = &rows[i];
		return rows[i].run || fail(err, ERROR_USAGE, "not_available_yet",
		                           "this version does not have what benchmark '%s' measures", name);
	}
	return unknown_row(name, err);
}

/* A feed says something about one row only. */
static bool read_arguments(const json_t *args, struct bench *bench, const struct bench_row **out_row,
                           struct error *err)
{
	const char *name = json_string_value(json_object_get(args, "name"));
	const char *feed = json_string_value(json_object_get(args, "feed"));

	if (name && !find_row(name, out_row, err))
		return false;
	if (feed && !name)
		return fail(err, ERROR_USAGE, "bad_argument", "--feed needs the name of one benchmark");
	bench->feed = feed;
	return true;
}

/* Without links, as /proc will name it. A missing one is reported when the job on it is to start. */
static char *find_feed(const char *given)
{
	char *whole = given ? realpath(given, NULL) : NULL;
	char *here = given && !whole ? realpath(".", NULL) : NULL;

	if (here)
		whole = path_resolve(here, given);
	free(here);
	return whole;
}

static double better(const struct bench_row *row, const struct bench_result *result)
{
	if (result->value <= 0 || result->baseline_value <= 0)
		return 0;
	return row->order == LESS_IS_BETTER ? result->baseline_value / result->value :
	                                      result->value / result->baseline_value;
}

static void say_json(const struct bench_row *row, const struct bench_result *result)
{
	json_t *object = json_pack("{s:s, s:f, s:s}", "name", row->name, "value", result->value, "unit", row->unit);
	char *line;

	if (row->baseline && result->baseline_value > 0) {
		json_object_set_new(object, "baseline", json_string(row->baseline));
		json_object_set_new(object, "baseline_value", json_real(result->baseline_value));
		json_object_set_new(object, "ratio", json_real(better(row, result)));
	} else {
		json_object_set_new(object, "baseline", json_null());
		json_object_set_new(object, "baseline_value", json_null());
		json_object_set_new(object, "ratio", json_null());
	}
	json_object_update(object, result->more);
	line = json_line(object);
	fputs(line, stdout);
	free(line);
	json_decref(object);
}

static void say_text(const struct bench_row *row, const struct bench_result *result)
{
	bool is_rate = row->order == MORE_IS_BETTER;
	const char *name;
	json_t *value;

	printf("%-20s %12.*f %-18s", row->name, is_rate ? 0 : 3, result->value, row->unit);
	if (row->baseline && result->baseline_value > 0)
		printf("  %s %.*f, %.2f times better", row->baseline, is_rate ? 0 : 3, result->baseline_value,
		       better(row, result));
	json_object_foreach(result->more, name, value) {
		char *text = json_is_real(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);

		if (text)
			printf("  %s %s", name, text);
		else
			printf("  %s %.2f", name, json_real_value(value));
		free(text);
	}
	putchar('\n');
}

static bool run_row(struct bench *bench, const struct bench_row *row, struct error *err)
{
	struct bench_result result = { 0 };
	bool is_fine = row->run(bench, row, &result, err);

	if (is_fine && !result.is_skipped) {
		if (bench->is_json)
			say_json(row, &result);
		else
			say_text(row, &result);
		fflush(stdout);
	}
	json_decref(result.more);
	bench_clear(bench);
	return is_fine || because(err, "benchmark %s", row->name);
}

static bool is_wanted(const struct bench_row *row, const struct bench_row *only)
{
	if (!only)
		return row->run && !row->is_only_named;
	return row == only || (only->also && strcmp(row->name, only->also) == 0);
}

static bool run_all(struct bench *bench, const struct bench_row *only, struct error *err)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (is_wanted(&rows[i], only) && !run_row(bench, &rows[i], err))
			return false;
	}
	return true;
}

static bool measure(struct bench *bench, const struct home *home, const struct command_line *line, struct error *err)
{
	const struct bench_row *only = NULL;
	char *feed;
	bool is_fine;

	if (!read_arguments(line->args, bench, &only, err))
		return false;
	bench->feed = feed = find_feed(bench->feed);
	is_fine = bench_open(bench, home, err) && run_all(bench, only, err);
	bench_close(bench);
	json_decref(bench->bigquery.feed);
	free(feed);
	return is_fine;
}

int bench_main(const struct home *home, const struct command_line *line)
{
	struct bench bench = { .is_json = line->is_json };
	struct error err = { 0 };
	char *words;

	if (measure(&bench, home, line, &err))
		return 0;
	words = error_line(&err, "weir", line->is_json);
	fputs(words, stderr);
	free(words);
	return error_policies[err.kind].exit_status;
}
