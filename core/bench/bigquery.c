/*
 * bigquery: a job on a feed into a changelog at BigQuery, by an engine of its own,
 * and Google's managedwriter with rows of the same size, each into a new server of
 * ours (tests/emulators/fast) that counts rows and keeps none. The table is made at
 * the Go stand-in. Programs that are not built beside weird skip it aloud.
 */
#include "bench/bench_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* Disk that a message takes in the feed. */
#define MESSAGE_DISK_BYTES 2100
#define REST_HOST "BIGQUERY_EMULATOR_HOST"
#define STORAGE_HOST "BIGQUERY_STORAGE_EMULATOR_HOST"

struct programs {
	char *weird, *emulators, *fast;
};

/* What came to a server while it ran. */
struct counted {
	uint64_t rows, bytes;
};

static struct programs programs_find(void)
{
	return (struct programs){ bench_program("weird"), bench_program("emulators"),
		                  bench_program("tests/emulators/fast_bigquery") };
}

static void programs_free(struct programs *programs)
{
	free(programs->weird);
	free(programs->emulators);
	free(programs->fast);
}

/* A server says its ports in its first line. */
static bool server_start(const struct bench *bench, char *const *arguments, struct bench_talker *out, json_t **out_said,
                         struct error *err)
{
	if (!bench_talker_start(arguments, environ, out, err))
		return false;
	*out_said = bench_talker_answer(bench, out, err);
	if (!*out_said)
		bench_talker_end(out, false);
	return *out_said != NULL;
}

static bool fast_start(const struct bench *bench, const struct programs *programs, struct bench_talker *out, int *out_port,
                       struct error *err)
{
	char *arguments[] = { programs->fast, NULL };
	json_t *said;

	if (!server_start(bench, arguments, out, &said, err))
		return false;
	*out_port = (int)json_integer_value(json_object_get(said, "port"));
	json_decref(said);
	return true;
}

/* When its input ends it says what it has counted. */
static bool fast_end(const struct bench *bench, struct bench_talker *server, struct counted *out, struct error *err)
{
	json_t *said;

	bench_talker_hush(server);
	said = bench_talker_answer(bench, server, err);
	bench_talker_end(server, said != NULL);
	if (!said)
		return false;
	out->rows = (uint64_t)json_integer_value(json_object_get(said, "rows"));
	out->bytes = (uint64_t)json_integer_value(json_object_get(said, "bytes"));
	json_decref(said);
	return true;
}

static void set_host(const char *name, int port)
{
	char host[40];

	snprintf(host, sizeof(host), "127.0.0.1:%d", port);
	setenv(name, host, 1);
}

/* The ledger of a run that may be said: nothing refused, nothing met twice. */
static bool ledger_check(const struct bench_job *job, const json_t *said, uint64_t *out_messages, uint64_t *out_rows,
                         struct error *err)
{
	const json_t *run = json_object_get(said, "this_run");
	json_int_t received = json_integer_value(json_object_get(run, "received"));
	json_int_t written = json_integer_value(json_object_get(run, "written"));
	json_int_t repeated = json_integer_value(json_object_get(run, "repeated"));

	*out_messages = (uint64_t)received;
	*out_rows = (uint64_t)json_integer_value(json_object_get(run, "rows"));
	if (!json_is_true(json_object_get(said, "balanced")) || !*out_rows)
		return fail(err, ERROR_BUG, "bench_failed", "the ledger of the run does not balance");
	if (job->is_made && (written != received || repeated))
		return fail(err, ERROR_BUG, "bench_failed", "of %" PRIu64 " generated messages %" PRIu64 " were written and %"
		            PRIu64 " were repeats", (uint64_t)received, (uint64_t)written, (uint64_t)repeated);
	return true;
}

/* From the start of the engine's process to its end. */
static bool engine_run(struct bench *bench, const struct programs *programs, const struct bench_job *job, double *out_wall_s,
                       double *out_cpu_s, uint64_t *out_rows, struct error *err)
{
	char run[] = "--run", idle[] = "--until-idle", json[] = "--json";
	char *arguments[] = { programs->weird, run, job->file, idle, json, NULL };
	char **names = bench_environment(bench);
	double begun_s = bench_now_s();
	struct bench_talker engine;
	uint64_t messages;
	json_t *said;
	bool is_fine = bench_talker_start(arguments, names, &engine, err);

	bench_environment_free(names);
	if (!is_fine)
		return false;
	said = bench_talker_answer(bench, &engine, err);
	*out_cpu_s = bench_talker_end(&engine, said != NULL);
	*out_wall_s = bench_now_s() - begun_s;
	is_fine = said && ledger_check(job, said, &messages, out_rows, err);
	json_decref(said);
	return is_fine;
}

static bool ours(struct bench *bench, const struct programs *programs, const struct bench_job *job, struct counted *out,
                 struct error *err)
{
	struct bench_talker server;
	double wall_s, cpu_s;
	uint64_t rows;
	int port;

	bench_settle();
	if (!fast_start(bench, programs, &server, &port, err))
		return false;
	set_host(STORAGE_HOST, port);
	if (!engine_run(bench, programs, job, &wall_s, &cpu_s, &rows, err)) {
		bench_talker_end(&server, false);
		return false;
	}
	if (!fast_end(bench, &server, out, err))
		return false;
	if (out->rows != rows)
		return fail(err, ERROR_BUG, "bench_failed", "%" PRIu64 " rows were confirmed and %" PRIu64 " came", rows, out->rows);
	bench->bigquery.rate = (double)rows / wall_s;
	bench->bigquery.cpu = cpu_s / (double)rows * 1e6;
	bench->bigquery.row_bytes = (double)out->bytes / (double)rows;
	return true;
}

/* As many rows, as large. */
static bool theirs(struct bench *bench, const struct programs *programs, const struct counted *like, struct error *err)
{
	char duty[] = "bigquery-bench", storage_word[] = "-storage", storage[16], count_word[] = "-count", count[24], size_word[] = "-size",
	     size[24];
	char *arguments[] = { programs->emulators, duty, storage_word, storage, count_word, count, size_word, size, NULL };
	struct bench_talker server;
	struct counted counted;
	int port;

	bench_settle();
	if (!fast_start(bench, programs, &server, &port, err))
		return false;
	snprintf(storage, sizeof(storage), "%d", port);
	snprintf(count, sizeof(count), "%" PRIu64, like->rows);
	snprintf(size, sizeof(size), "%" PRIu64, like->bytes / like->rows);
	if (!bench_client_run(bench, arguments, &bench->bigquery.go_rate, &bench->bigquery.go_cpu, err)) {
		bench_talker_end(&server, false);
		return false;
	}
	if (!fast_end(bench, &server, &counted, err))
		return false;
	return counted.rows == like->rows ||
	       fail(err, ERROR_BUG, "bench_failed", "of %" PRIu64 " rows of managedwriter %" PRIu64 " came", like->rows, counted.rows);
}

/* The table lives at the Go stand-in for as long as the job does. */
static bool with_tables(struct bench *bench, const struct programs *programs, const struct bench_job *job, struct error *err)
{
	char duty[] = "bigquery", project_word[] = "-project", project[] = BENCH_PROJECT, dataset_word[] = "-dataset",
	     dataset[] = BENCH_LOG_DATASET;
	char *arguments[] = { programs->emulators, duty, project_word, project, dataset_word, dataset, NULL };
	struct bench_talker tables;
	struct counted counted;
	json_t *said;
	bool is_fine;

	if (!server_start(bench, arguments, &tables, &said, err))
		return false;
	set_host(REST_HOST, (int)json_integer_value(json_object_get(json_object_get(said, "ports"), "rest")));
	json_decref(said);
	is_fine = ours(bench, programs, job, &counted, err) && theirs(bench, programs, &counted, err);
	unsetenv(REST_HOST);
	unsetenv(STORAGE_HOST);
	bench_talker_end(&tables, true);
	bench->bigquery.is_measured = is_fine;
	return is_fine;
}

bool bench_warehouse_start(const struct bench *bench, struct bench_warehouse *out, struct error *err)
{
	char duty[] = "bigquery", project_word[] = "-project", project[] = BENCH_PROJECT, dataset_word[] = "-dataset",
	     dataset[] = BENCH_LOG_DATASET;
	struct programs programs = programs_find();
	char *arguments[] = { programs.emulators, duty, project_word, project, dataset_word, dataset, NULL };
	json_t *said = NULL;
	int port = 0;
	bool is_fine = server_start(bench, arguments, &out->tables, &said, err);

	if (is_fine && !fast_start(bench, &programs, &out->rows, &port, err)) {
		bench_talker_end(&out->tables, false);
		is_fine = false;
	}
	programs_free(&programs);
	if (is_fine) {
		set_host(REST_HOST, (int)json_integer_value(json_object_get(json_object_get(said, "ports"), "rest")));
		set_host(STORAGE_HOST, port);
	}
	json_decref(said);
	return is_fine;
}

bool bench_warehouse_end(const struct bench *bench, struct bench_warehouse *warehouse, bool is_fine, uint64_t *out_rows,
                         struct error *err)
{
	struct counted counted = { 0 };

	unsetenv(REST_HOST);
	unsetenv(STORAGE_HOST);
	bench_talker_end(&warehouse->tables, false);
	if (is_fine)
		is_fine = fast_end(bench, &warehouse->rows, &counted, err);
	else
		bench_talker_end(&warehouse->rows, false);
	*out_rows = counted.rows;
	return is_fine;
}

static bool run_job(struct bench *bench, const struct programs *programs, const struct bench_row *row, struct error *err)
{
	struct bench_lines lines = { .first = row->rows, .count = BENCH_MESSAGES };
	struct bench_job job;
	bool is_fine;

	if (!bench_job_open(bench, row, BENCH_MODE_BIGQUERY, &lines, &job, err))
		return false;
	is_fine = with_tables(bench, programs, &job, err) &&
	          (!bench->feed || pass_checksum(bench, job.options, &bench->bigquery.feed, err));
	bench_job_close(&job);
	return is_fine;
}

/* Both rows are of one measurement: the second one asked for in a call repeats nothing. */
static bool measure(struct bench *bench, const struct bench_row *row, bool *out_skipped, struct error *err)
{
	struct programs programs = programs_find();
	bool is_built = access(programs.emulators, X_OK) == 0 && access(programs.fast, X_OK) == 0, is_fine = true;
	bool has_room = bench->feed || bench->bigquery.is_measured || bench_has_room(bench, row, BENCH_MESSAGES * MESSAGE_DISK_BYTES);

	if (!is_built && !bench->bigquery.is_measured)
		fputs("bench: the test servers of BigQuery are not built beside weird (make google): skipped\n", stderr);
	else if (has_room && !bench->bigquery.is_measured)
		is_fine = run_job(bench, &programs, row, err);
	*out_skipped = !is_built || !has_room;
	programs_free(&programs);
	return is_fine;
}

static void say(const struct bench *bench, double ours, double theirs, struct bench_result *out)
{
	out->value = ours;
	out->baseline_value = theirs;
	out->more = json_pack("{s:f}", "row_bytes", bench->bigquery.row_bytes);
	if (bench->bigquery.feed)
		json_object_update(out->more, bench->bigquery.feed);
}

bool bench_bigquery(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	if (!measure(bench, row, &out->is_skipped, err))
		return false;
	say(bench, bench->bigquery.rate, bench->bigquery.go_rate, out);
	return true;
}

bool bench_bigquery_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	if (!measure(bench, row, &out->is_skipped, err))
		return false;
	say(bench, bench->bigquery.cpu, bench->bigquery.go_cpu, out);
	return true;
}
