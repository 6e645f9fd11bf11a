/*
 * pubsub: 1,000,000 messages of 1 KiB from a server in C (tests/emulators/fast) through
 * StreamingPull until the last one is acknowledged, into nothing: the source as every
 * job has it, and who takes its messages counts them. Google's own Go client does the
 * same at the same server, in turn. Then a job brings as many changes of a database
 * into the local changelog, which is said beside.
 */
#include "base/clock.h"
#include "bench/bench_private.h"
#include "google/google.h"
#include "source/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 3
#define PER_RESPONSE "100"     /* messages, of the server */
#define GO_OUTSTANDING "10000" /* with its default of 1,000 Google's client is held back by its own flow control */
#define EMULATOR "PUBSUB_EMULATOR_HOST"
#define MESSAGE_DISK_BYTES 3000

/* A server with so many messages; `feed` NULL: bodies of its own. Whoever looks for Pub/Sub meanwhile finds it. */
bool bench_pubsub_start(const struct bench *bench, char *feed, uint64_t messages_per_s, struct bench_talker *out, char target[40],
                        struct error *err)
{
	char *program = bench_program("tests/emulators/fast_pubsub"), count[24], per_response[] = PER_RESPONSE, rate[24], none[] = "";
	char *arguments[] = { program, count, per_response, feed ? feed : none, rate, NULL };
	json_t *said;
	bool is_fine;

	snprintf(count, sizeof(count), "%" PRIu64, BENCH_MESSAGES);
	snprintf(rate, sizeof(rate), "%" PRIu64, messages_per_s);
	is_fine = bench_talker_start(arguments, environ, out, err);
	free(program);
	if (!is_fine)
		return false;
	said = bench_talker_answer(bench, out, err);
	if (!said) {
		bench_talker_end(out, false);
		return false;
	}
	snprintf(target, 40, "127.0.0.1:%d", (int)json_integer_value(json_object_get(said, "port")));
	json_decref(said);
	setenv(EMULATOR, target, 1);
	return true;
}

/* A fast run that has left something unacknowledged is no result. */
bool bench_pubsub_end(const struct bench *bench, struct bench_talker *server, bool is_fine, struct error *err)
{
	json_t *said = NULL;

	unsetenv(EMULATOR);
	bench_talker_hush(server);
	if (is_fine)
		said = bench_talker_answer(bench, server, err);
	bench_talker_end(server, is_fine);
	if (!said)
		return false;

	json_int_t acked = json_integer_value(json_object_get(said, "acked"));

	json_decref(said);
	return acked == (json_int_t)BENCH_MESSAGES ||
	       fail(err, ERROR_BUG, "bench_failed", "of %" PRIu64 " messages %" PRIu64 " were acknowledged", BENCH_MESSAGES,
	            (uint64_t)acked);
}

/* Fills the batch as far as it goes. */
static bool fill(struct source *source, struct batch *batch, uint64_t left, struct error *err)
{
	int64_t until_ms = clock_mono_ms() + BATCH_AGE_MS;

	while (!batch_is_full(batch) && batch->message_count < left) {
		enum pulled pulled = source->ops->pull(source, batch, until_ms, err);

		if (pulled == PULLED_FAILED)
			return false;
		if (pulled == PULLED_END)
			return fail(err, ERROR_BUG, "bench_failed", "%" PRIu64 " messages did not come", left);
		if (pulled == PULLED_NOTHING)
			break;
	}
	return true;
}

static bool take_all(const struct bench *bench, struct source *source, struct error *err)
{
	struct batch *batch = batch_new();
	uint64_t taken = 0;
	bool is_fine = true;

	while (is_fine && taken < BENCH_MESSAGES) {
		batch_reset(batch);
		is_fine = bench_cancelled(bench, err) && fill(source, batch, BENCH_MESSAGES - taken, err);
		if (!is_fine || !batch->message_count)
			continue;
		taken += batch->message_count;
		source->ops->mark(source, batch);
		is_fine = source->ops->confirm(source, &batch->end, err);
	}
	batch_free(batch);
	return is_fine;
}

/* From nothing until the last one is acknowledged: closing waits for that. */
static bool ours(const struct bench *bench, const struct job_options *options, double *out_rate, double *out_cpu, struct error *err)
{
	double begun_s = bench_now_s(), begun_cpu_s = bench_cpu_s();
	struct google *google = google_open(&(struct google_setup){ .project = "bench" });
	struct source_setup setup = { .options = options, .google = google };
	struct source *source = source_pubsub.open(&setup, err);
	bool is_fine = source && take_all(bench, source, err);

	if (source)
		source->ops->close(source);
	google_close(google);
	*out_rate = (double)BENCH_MESSAGES / (bench_now_s() - begun_s);
	*out_cpu = (bench_cpu_s() - begun_cpu_s) / (double)BENCH_MESSAGES * 1e6;
	return is_fine;
}

static bool ours_round(const struct bench *bench, const struct job_options *options, double *out_rate, double *out_cpu, struct error *err)
{
	struct bench_talker server;
	char target[40];

	if (!bench_pubsub_start(bench, NULL, 0, &server, target, err))
		return false;
	return bench_pubsub_end(bench, &server, ours(bench, options, out_rate, out_cpu, err), err);
}

bool bench_pubsub_go(const struct bench *bench, double *out_rate, double *out_cpu, struct error *err)
{
	char *emulators = bench_program("emulators"), word[] = "pubsub-bench", target_word[] = "-target", target[40], count_word[] = "-count";
	char count[24], outstanding_word[] = "-outstanding", outstanding[] = GO_OUTSTANDING;
	char *arguments[] = { emulators, word, target_word, target, count_word, count, outstanding_word, outstanding, NULL };
	struct bench_talker server;
	bool is_fine = bench_pubsub_start(bench, NULL, 0, &server, target, err);

	snprintf(count, sizeof(count), "%" PRIu64, BENCH_MESSAGES);
	if (is_fine)
		is_fine = bench_pubsub_end(bench, &server, bench_client_run(bench, arguments, out_rate, out_cpu, err), err);
	free(emulators);
	return is_fine;
}

/* A job that reads the subscription; its feed is what the server gives. */
static bool changelog(struct bench *bench, struct bench_job *job, struct error *err)
{
	struct bench_talker server;
	struct bench_run run;
	char target[40];
	bool is_fine;

	bench_settle();
	if (!bench_pubsub_start(bench, job->feed, 0, &server, target, err))
		return false;
	job->google = google_open(&(struct google_setup){ .project = "bench" });
	job->enough = BENCH_MESSAGES;
	is_fine = bench_job_run(bench, job, &run, err);
	google_close(job->google);
	job->google = NULL;
	if (!bench_pubsub_end(bench, &server, is_fine, err))
		return false;
	if (run.rows != BENCH_MESSAGES)
		return fail(err, ERROR_BUG, "bench_failed", "the changelog has %" PRIu64 " rows", run.rows);
	bench->pubsub.changelog_rate = (double)run.rows / run.wall_s;
	bench->pubsub.changelog_cpu = run.cpu_s / (double)run.rows * 1e6;
	return true;
}

/* Ours and theirs in turn, so that what else the machine does meets both. */
static bool measure(struct bench *bench, struct bench_job *job, struct error *err)
{
	double rates[2][ROUNDS], cpus[2][ROUNDS];
	struct bench_pubsub *all = &bench->pubsub;

	for (int i = 0; i < ROUNDS; i++) {
		if (!ours_round(bench, job->options, &rates[0][i], &cpus[0][i], err) || !bench_pubsub_go(bench, &rates[1][i], &cpus[1][i], err))
			return false;
	}
	all->pull = (struct bench_echo){ true, bench_middle(rates[0], ROUNDS), bench_middle(rates[1], ROUNDS),
		                         bench_middle(cpus[0], ROUNDS), bench_middle(cpus[1], ROUNDS) };
	return changelog(bench, job, err);
}

static bool is_built(void)
{
	char *server = bench_program("tests/emulators/fast_pubsub"), *emulators = bench_program("emulators");
	bool is_there = access(server, X_OK) == 0 && access(emulators, X_OK) == 0;

	free(server);
	free(emulators);
	if (!is_there)
		fputs("bench: the test servers of Pub/Sub are not built beside weird (make google): skipped\n", stderr);
	return is_there;
}

/* Both rows are of one measurement: the second one asked for in a call repeats nothing. */
static bool pubsub_measure(struct bench *bench, const struct bench_row *row, bool *out_skipped, struct error *err)
{
	struct bench_lines lines = { .first = row->rows, .count = BENCH_MESSAGES };
	struct bench_job job;
	bool is_fine;

	if (bench->pubsub.pull.is_measured)
		return true;
	*out_skipped = !is_built() || !bench_has_room(bench, row, BENCH_MESSAGES * MESSAGE_DISK_BYTES);
	if (*out_skipped)
		return true;
	if (!bench_job_open(bench, row, "changelog", &lines, &job, err))
		return false;
	is_fine = measure(bench, &job, err);
	bench_job_close(&job);
	return is_fine;
}

bool bench_pubsub(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	if (!pubsub_measure(bench, row, &out->is_skipped, err))
		return false;
	out->value = bench->pubsub.pull.rate;
	out->baseline_value = bench->pubsub.pull.go_rate;
	if (!out->is_skipped)
		out->more = json_pack("{s:f}", "changelog_messages_per_s", bench->pubsub.changelog_rate);
	return true;
}

bool bench_pubsub_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	if (!pubsub_measure(bench, row, &out->is_skipped, err))
		return false;
	out->value = bench->pubsub.pull.cpu;
	out->baseline_value = bench->pubsub.pull.go_cpu;
	if (!out->is_skipped)
		out->more = json_pack("{s:f}", "changelog_cpu_s_per_million", bench->pubsub.changelog_cpu);
	return true;
}
