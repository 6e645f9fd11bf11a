/*
 * grpc_echo: our gRPC client and grpc-go's do the same work against the same server of
 * Google's library, in turn. Server and Go client are test programs (tests/emulators),
 * ours is linked into tests/google/drive: an engine that uses no gRPC yet need not
 * load it to be measured. All stand beside weird in a build folder.
 */
#include "bench/bench_private.h"

#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 3
#define STREAMS "4"
#define AHEAD "100"
#define SIZE "1024"

/* Ours and theirs in turn, so that what else the machine does meets both. */
static bool measure(struct bench *bench, char *drive, char *emulators, int port, struct error *err)
{
	double rates[2][ROUNDS], cpus[2][ROUNDS];
	char at[40], target[40], count[40], bench_word[] = "bench", size[] = "size=" SIZE, streams[] = "streams=" STREAMS;
	char ahead[] = "ahead=" AHEAD, alarm[] = "alarm_s=900", target_word[] = "-target", count_word[] = "-count", number[24];
	char size_word[] = "-size", streams_word[] = "-streams", ahead_word[] = "-window";
	char size_number[] = SIZE, streams_number[] = STREAMS, ahead_number[] = AHEAD;

	snprintf(at, sizeof(at), "port=%d", port);
	snprintf(target, sizeof(target), "127.0.0.1:%d", port);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)BENCH_MESSAGES);
	snprintf(count, sizeof(count), "count=%s", number);

	char *ours[] = { drive, bench_word, at, count, size, streams, ahead, alarm, NULL };
	char *theirs[] = { emulators, bench_word, target_word, target, count_word, number, size_word, size_number, streams_word,
	                   streams_number, ahead_word, ahead_number, NULL };

	for (int i = 0; i < ROUNDS; i++) {
		if (!bench_client_run(bench, ours, &rates[0][i], &cpus[0][i], err) || !bench_client_run(bench, theirs, &rates[1][i], &cpus[1][i], err))
			return false;
	}
	bench->echo = (struct bench_echo){ true, bench_middle(rates[0], ROUNDS), bench_middle(rates[1], ROUNDS), bench_middle(cpus[0], ROUNDS), bench_middle(cpus[1], ROUNDS) };
	return true;
}

static bool with_server(struct bench *bench, char *drive, char *emulators, struct error *err)
{
	char echo[] = "echo", folder[] = "-dir";
	char *arguments[] = { emulators, echo, folder, bench->folder, NULL };
	struct bench_talker server;
	json_t *said;
	bool is_fine;

	if (!bench_talker_start(arguments, environ, &server, err))
		return false;
	said = bench_talker_answer(bench, &server, err);
	is_fine = said && measure(bench, drive, emulators,
	                          (int)json_integer_value(json_object_get(json_object_get(said, "ports"), "plain")), err);
	json_decref(said);
	bench_talker_end(&server, true);
	return is_fine;
}

/* Both rows are of one measurement: the second one asked for in a call repeats nothing. */
static bool echo_measure(struct bench *bench, bool *out_skipped, struct error *err)
{
	char *drive = bench_program("tests/google/drive"), *emulators = bench_program("emulators");
	bool is_built = access(drive, X_OK) == 0 && access(emulators, X_OK) == 0, is_fine = true;

	if (!is_built && !bench->echo.is_measured)
		fputs("bench: the test servers of gRPC are not built beside weird (make google): skipped\n", stderr);
	else if (!bench->echo.is_measured)
		is_fine = with_server(bench, drive, emulators, err);
	*out_skipped = !is_built;
	free(drive);
	free(emulators);
	return is_fine;
}

bool bench_grpc_echo(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	(void)row;
	if (!echo_measure(bench, &out->is_skipped, err))
		return false;
	out->value = bench->echo.rate;
	out->baseline_value = bench->echo.go_rate;
	return true;
}

bool bench_grpc_echo_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	(void)row;
	if (!echo_measure(bench, &out->is_skipped, err))
		return false;
	out->value = bench->echo.cpu;
	out->baseline_value = bench->echo.go_cpu;
	return true;
}
