/* The program that drives the Google transport against the test servers: a scenario a call, one JSON object on standard output. */
#ifndef WEIR_TESTS_GOOGLE_DRIVE_H
#define WEIR_TESTS_GOOGLE_DRIVE_H

#include "google/grpc.h"

#include <jansson.h>

/* NAME=VALUE of the command line; a name that is not given is NULL, or the number beside it. */
const char *given(const char *name);
int64_t given_number(const char *name, int64_t fallback);

/* What went wrong is said and ends the program: the test fails with it. */
void must(bool is_fine, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A client by the command line: port=, host=, ca=, window=, silence_ms=, ping_ms=, connections=, connect_ms=. */
struct grpc_client *client_open(void);

/* A call by the command line: fault=, id=, deadline_ms=; `path` is a method of the echo service. */
struct grpc_request request_for(const char *path, struct grpc_pair metadata[2], const char *fault, const char *id);

/* google.protobuf.BytesValue, as the echo service takes and gives it. */
void value_put(struct text *out, struct span bytes);
struct span value_of(const struct grpc_message *message);

/* Message `number` of the servers' pattern. */
void pattern_fill(char *at, size_t len, int64_t number);
bool pattern_is(struct span bytes, int64_t number);

/* How a call ended, with all of its details. */
json_t *outcome(struct grpc_call *call);

/* VmRSS and VmHWM in KiB. */
int64_t memory_now_kib(void);
int64_t memory_most_kib(void);

struct scenario {
	const char *name;
	json_t *(*run)(void);
};
extern const struct scenario stream_scenarios[], fault_scenarios[], rest_scenarios[], credential_scenarios[], job_scenarios[],
	publish_scenarios[];

int proto_copy(const char *from, const char *to);
json_t *bench_run(void);

#endif
