/* REST against a server with faults by table: what is tried again, what not, and what the log may see. */
#include "drive.h"

#include "base/arena.h"
#include "base/clock.h"
#include "google/rest.h"

#include <pthread.h>
#include <stdlib.h>

#define TRIES_KEPT 20

static json_t *tries;

/* What the log would see of each try. */
static void note_try(void *context, const struct rest_try *over)
{
	(void)context;
	if (json_array_size(tries) < TRIES_KEPT)
		json_array_append_new(tries, json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:i, s:I, s:I}", "what", over->what, "method",
		                                       over->method, "host", over->host, "path", over->path, "status", over->status,
		                                       "code", over->code, "number", (int)over->number, "wait_ms",
		                                       (json_int_t)over->wait_ms, "received", (json_int_t)over->received_bytes));
}

static struct rest_client *open_client(void)
{
	struct rest_setup setup = {
		.ca_file = given("ca"),
		.proxy = given("proxy"),
		.connect_ms = given_number("connect_ms", 0),
		.on_try = note_try,
	};
	struct error err = { 0 };
	struct rest_client *client = rest_open(&setup, &err);

	must(client != NULL, "cannot open: %s", err.message);
	tries = json_array();
	return client;
}

static struct rest_request request_by_arguments(void)
{
	const char *body = given("body");

	return (struct rest_request){
		.what = "test call",
		.method = given("method"),
		.url = given("url"),
		.authorization = given("authorization"),
		.body = span_of(body ? body : ""),
		.may_repeat = given_number("repeat", 1) != 0,
		.is_local = given_number("local", 0) != 0,
		.try_ms = given_number("try_ms", 0),
		.deadline_ms = given_number("deadline_ms", 10000),
		.try_count_max = (unsigned)given_number("tries", 0),
		.first_wait_ms = given_number("first_wait_ms", 20),
		.answer_bytes = (size_t)given_number("answer_bytes", 0),
	};
}

/* One call: url=, method=, body=, authorization=. */
static json_t *rest(void)
{
	struct rest_client *client = open_client();
	struct rest_request request = request_by_arguments();
	int64_t begun_ms = clock_mono_ms();
	struct error err = { 0 };
	struct rest_call *call;
	struct rest_answer answer;
	bool is_fine = rest_do(client, &request, &call, &answer, &err);
	const char *type = rest_header(call, "content-type");
	json_t *said = json_pack("{s:b, s:i, s:i, s:s, s:s, s:I, s:I, s:I, s:s, s:b}", "fine", is_fine, "status", answer.status, "tries",
	                         (int)answer.tries, "error", err.code, "error_message", err.message, "retry_after_ms",
	                         (json_int_t)err.retry_after_ms, "took_ms", (json_int_t)(clock_mono_ms() - begun_ms), "bytes",
	                         (json_int_t)answer.body.len, "type", type ? type : "", "renews", answer.row->may_renew_token);

	if (answer.body.len < 4096)
		json_object_set_new(said, "body", json_loadb(answer.body.at, answer.body.len, JSON_DECODE_ANY, NULL));
	json_object_set(said, "log", tries);
	rest_call_free(call);
	rest_close(client);
	json_decref(tries);
	return said;
}

/* Many calls under way at once on one client. */
static json_t *rest_many(void)
{
	struct rest_client *client = open_client();
	struct rest_request request = request_by_arguments();
	int64_t count = given_number("count", 100), fine = 0;
	struct rest_call *done;

	for (int64_t i = 0; i < count; i++)
		rest_start(client, &request);
	for (int64_t i = 0; i < count; i++) {
		struct rest_answer answer;
		struct error err = { 0 };

		done = rest_wait(client, -1);
		must(done != NULL, "call %lld is lost", (long long)i);
		fine += rest_result(done, &answer, &err);
		rest_call_free(done);
	}
	must(rest_wait(client, 0) == NULL && rest_wait(client, -1) == NULL, "there are more calls than were begun");
	rest_close(client);
	json_decref(tries);
	return json_pack("{s:I, s:I}", "fine", (json_int_t)fine, "most_kib", (json_int_t)memory_most_kib());
}

static void *wake_main(void *argument)
{
	clock_sleep_ms(50);
	rest_wake(argument);
	return NULL;
}

/* Another thread wakes the one that waits; then what hangs is given up. */
static json_t *rest_woken(void)
{
	struct rest_client *client = open_client();
	struct rest_request request = request_by_arguments();
	int64_t begun_ms = clock_mono_ms();
	pthread_t thread;

	rest_start(client, &request);
	must(pthread_create(&thread, NULL, wake_main, client) == 0, "no thread");
	must(rest_wait(client, 20000) == NULL, "something was done");
	pthread_join(thread, NULL);
	rest_close(client);
	json_decref(tries);
	return json_pack("{s:I}", "took_ms", (json_int_t)(clock_mono_ms() - begun_ms));
}

const struct scenario rest_scenarios[] = {
	{ "rest", rest }, { "rest_many", rest_many }, { "rest_woken", rest_woken }, { NULL, NULL },
};
