/* Arguments, what scenarios share, and the table of them. */
#include "drive.h"

#include "base/arena.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

static int argument_count;
static char **arguments;

const char *given(const char *name)
{
	size_t len = strlen(name);

	for (int i = 2; i < argument_count; i++) {
		if (strncmp(arguments[i], name, len) == 0 && arguments[i][len] == '=')
			return arguments[i] + len + 1;
	}
	return NULL;
}

int64_t given_number(const char *name, int64_t fallback)
{
	const char *text = given(name);

	return text ? strtoll(text, NULL, 10) : fallback;
}

void must(bool is_fine, const char *format, ...)
{
	va_list args;

	if (is_fine)
		return;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

struct grpc_client *client_open(void)
{
	const char *host = given("host");
	struct grpc_setup setup = {
		.ca_file = given("ca"),
		.stream_window_bytes = (uint32_t)given_number("window", 0),
		.silence_ms = given_number("silence_ms", 0),
		.ping_ms = given_number("ping_ms", 0),
		.connect_ms = given_number("connect_ms", 0),
		.connection_count_max = (size_t)given_number("connections", 0),
	};
	struct endpoint *endpoint = &setup.endpoint;
	struct grpc_client *client;
	struct error err = { 0 };

	snprintf(endpoint->host, sizeof(endpoint->host), "%s", host ? host : "127.0.0.1");
	endpoint->port = (uint16_t)given_number("port", 0);
	endpoint->is_plain = !setup.ca_file;
	endpoint->is_emulator = given_number("emulator", endpoint->is_plain) != 0;
	snprintf(endpoint->authority, sizeof(endpoint->authority), "%.200s:%u", endpoint->host, (unsigned)endpoint->port);
	client = grpc_open(&setup, &err);
	must(client != NULL, "cannot open: %s", err.message);
	return client;
}

struct grpc_request request_for(const char *path, struct grpc_pair metadata[2], const char *fault, const char *id)
{
	struct grpc_request request = {
		.path = path,
		.metadata = metadata,
		.deadline_ms = given_number("deadline_ms", 60000),
		.message_bytes = (size_t)given_number("message_bytes", 0),
	};

	if (fault)
		metadata[request.metadata_count++] = (struct grpc_pair){ "x-fault", fault };
	if (id)
		metadata[request.metadata_count++] = (struct grpc_pair){ "x-id", id };
	return request;
}

void value_put(struct text *out, struct span bytes)
{
	text_clear(out);
	proto_put_bytes(out, 1, bytes);
	must(!out->is_full, "the message does not fit");
}

struct span value_of(const struct grpc_message *message)
{
	struct proto_reader r = proto_open(span_make(message->bytes, message->len));
	struct span value = SPAN("");
	struct proto_field field;

	while (proto_next(&r, &field)) {
		if (field.number == 1)
			value = proto_bytes(&field);
	}
	must(!r.is_broken, "a message of the echo service is broken");
	return value;
}

void pattern_fill(char *at, size_t len, int64_t number)
{
	for (size_t i = 0; i < len; i++)
		at[i] = (char)(number + (int64_t)i * 7);
}

bool pattern_is(struct span bytes, int64_t number)
{
	for (size_t i = 0; i < bytes.len; i++) {
		if (bytes.at[i] != (char)(number + (int64_t)i * 7))
			return false;
	}
	return true;
}

static void add_details(json_t *object, struct grpc_call *call)
{
	static struct google_status status;
	json_t *violations = json_array();

	grpc_status(call, &status);
	for (size_t i = 0; i < status.violation_count; i++)
		json_array_append_new(violations, json_pack("[s, s]", status.violations[i].subject, status.violations[i].text));
	json_object_update_new(object, json_pack("{s:s, s:s, s:I, s:o, s:s, s:s, s:s}", "detail_reason", status.reason, "domain",
	                                         status.domain, "retry_delay_ms", (json_int_t)status.retry_delay_ms, "violations",
	                                         violations, "resource", status.resource, "request_id", status.request_id, "help",
	                                         status.help_url));
}

json_t *outcome(struct grpc_call *call)
{
	struct grpc_result result = grpc_result(call);
	struct error err = { 0 };
	json_t *object;

	grpc_check(call, "Echo", &err);
	object = json_pack("{s:s, s:s, s:s%, s:i, s:b, s:s, s:s}", "code", grpc_code_name((int)result.code), "reason", result.reason,
	                   "message", result.message, strlen(result.message), "http", result.http_status, "was_begun",
	                   result.was_begun, "error", err.code, "error_message", err.message);
	must(object != NULL, "an outcome is no JSON: '%s'", result.message);
	add_details(object, call);
	return object;
}

static int64_t proc_kib(const char *name)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	int64_t kib = -1;

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, strlen(name)) == 0)
			kib = strtoll(line + strlen(name), NULL, 10);
	}
	if (file)
		fclose(file);
	return kib;
}

int64_t memory_now_kib(void)
{
	return proc_kib("VmRSS:");
}

int64_t memory_most_kib(void)
{
	return proc_kib("VmHWM:");
}

static const struct scenario other_scenarios[] = { { "bench", bench_run }, { NULL, NULL } };

static const struct scenario *const tables[] = { stream_scenarios, fault_scenarios, rest_scenarios, credential_scenarios, job_scenarios, publish_scenarios,
                                                other_scenarios };

/* A call that hangs must not hang the tests: SIGALRM ends the program. */
int main(int count, char **values)
{
	argument_count = count;
	arguments = values;
	must(count > 1, "drive SCENARIO [NAME=VALUE ...]");
	signal(SIGPIPE, SIG_IGN);
	alarm((unsigned)given_number("alarm_s", 120));
	if (strcmp(values[1], "proto") == 0)
		return proto_copy(given("from"), given("to"));
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (const struct scenario *s = tables[t]; s->name; s++) {
			json_t *said;

			if (strcmp(s->name, values[1]) != 0)
				continue;
			said = s->run();
			json_dumpf(said, stdout, JSON_COMPACT);
			putchar('\n');
			json_decref(said);
			return 0;
		}
	}
	must(false, "there is no scenario '%s'", values[1]);
	return 2;
}
