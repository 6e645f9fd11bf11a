/* Streams of every kind against a server that behaves: right bytes, flow control, deadlines, cancellation. */
#include "drive.h"

#include "base/arena.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LIMIT ((size_t)64 << 20)
#define UNARY "/weir.test.Echo/Unary"
#define SERVER "/weir.test.Echo/Server"
#define CLIENT "/weir.test.Echo/Client"
#define BIDI "/weir.test.Echo/Bidi"

static struct grpc_call *start(struct grpc_client *client, const char *path, const char *fault)
{
	struct grpc_pair metadata[2];
	struct grpc_request request = request_for(path, metadata, fault, given("id"));

	return grpc_start(client, &request);
}

static void send_pattern(struct grpc_call *call, size_t size, int64_t number, bool is_last)
{
	OWNED(text) message = text_new(LIMIT);
	char *bytes = memory_alloc(size + 1);

	pattern_fill(bytes, size, number);
	value_put(message, span_make(bytes, size));
	grpc_send(call, text_span(message), is_last, -1);
	free(bytes);
}

/* The next message is that of the pattern; false: the call has ended. */
static bool receive_pattern(struct grpc_call *call, size_t size, int64_t number)
{
	struct grpc_message *message = NULL;
	struct span value;

	if (grpc_receive(call, &message, -1) != GRPC_DONE)
		return false;
	value = value_of(message);
	must(value.len == size && pattern_is(value, number), "message %lld is not what was sent (%zu bytes)", (long long)number,
	     value.len);
	grpc_message_free(message);
	return true;
}

/* One unary call, `count` times; the outcome of the last. open=1 leaves our half open: the server's end must do. */
static json_t *unary(void)
{
	struct grpc_client *client = client_open();
	size_t size = (size_t)given_number("size", 5);
	int64_t count = given_number("count", 1), begun_ms = clock_mono_ms();
	json_t *said = NULL;

	for (int64_t i = 0; i < count; i++) {
		struct grpc_call *call = start(client, UNARY, given("fault"));
		struct grpc_message *message = NULL, *second = NULL;
		int64_t messages = 0;

		send_pattern(call, size, i, !given_number("open", 0));
		if (grpc_receive(call, &message, -1) == GRPC_DONE) {
			messages++;
			while (grpc_receive(call, &second, -1) == GRPC_DONE) {
				messages++;
				grpc_message_free(second);
			}
		}
		json_decref(said);
		said = outcome(call);
		json_object_set_new(said, "messages", json_integer(messages));
		if (message)
			json_object_set_new(said, "is_same", json_boolean(value_of(message).len == size && pattern_is(value_of(message), i)));
		grpc_message_free(message);
		grpc_call_free(call);
		if (strcmp(json_string_value(json_object_get(said, "code")), "OK") != 0)
			break;
	}
	json_object_set_new(said, "took_ms", json_integer(clock_mono_ms() - begun_ms));
	json_object_set_new(said, "dials", json_integer((json_int_t)grpc_counts(client).dials));
	json_object_set_new(said, "restarts", json_integer((json_int_t)grpc_counts(client).restarts));
	grpc_close(client);
	return said;
}

/* So many messages of that size from the server. */
static json_t *server(void)
{
	struct grpc_client *client = client_open();
	struct grpc_call *call = start(client, SERVER, given("fault"));
	OWNED(text) message = text_new(1000);
	int64_t count = given_number("count", 100), size = given_number("size", 100), got = 0;
	char wish[100];
	json_t *said;

	snprintf(wish, sizeof(wish), "%lld %lld %s", (long long)count, (long long)size, given("pause") ? given("pause") : "0s");
	value_put(message, span_of(wish));
	grpc_send(call, text_span(message), true, -1);
	while (receive_pattern(call, (size_t)size, got))
		got++;
	said = outcome(call);
	json_object_set_new(said, "messages", json_integer(got));
	grpc_call_free(call);
	grpc_close(client);
	json_object_set_new(said, "most_kib", json_integer(memory_most_kib()));
	return said;
}

static uint32_t crc32_of(uint32_t sum, struct span bytes)
{
	sum = ~sum;
	for (size_t i = 0; i < bytes.len; i++) {
		sum ^= (unsigned char)bytes.at[i];
		for (int k = 0; k < 8; k++)
			sum = sum >> 1 ^ (0xedb88320 & (~(sum & 1) + 1));
	}
	return ~sum;
}

/* So many messages to the server, which says what it got. */
static json_t *client_stream(void)
{
	struct grpc_client *client = client_open();
	struct grpc_call *call = start(client, CLIENT, given("fault"));
	int64_t count = given_number("count", 100);
	size_t size = (size_t)given_number("size", 100);
	struct grpc_message *answer = NULL;
	char *bytes = memory_alloc(size + 1), expected[64];
	uint32_t sum = 0;
	json_t *said;

	for (int64_t i = 0; i < count; i++) {
		pattern_fill(bytes, size, i);
		sum = crc32_of(sum, span_make(bytes, size));
		send_pattern(call, size, i, false);
	}
	grpc_finish(call);
	snprintf(expected, sizeof(expected), "%lld %lld %08x", (long long)count, (long long)(count * (int64_t)size), sum);
	if (grpc_receive(call, &answer, -1) == GRPC_DONE) {
		must(span_is(value_of(answer), expected), "the server got something else: %.*s", SPAN_ARG(value_of(answer)));
		grpc_message_free(answer);
	}
	while (grpc_receive(call, &answer, -1) != GRPC_ENDED)
		must(false, "a second answer came");
	said = outcome(call);
	free(bytes);
	grpc_call_free(call);
	grpc_close(client);
	json_object_set_new(said, "most_kib", json_integer(memory_most_kib()));
	return said;
}

/* Each message comes back; `ahead` are under way at once. */
static json_t *bidi(void)
{
	struct grpc_client *client = client_open();
	struct grpc_call *call = start(client, BIDI, given("fault"));
	int64_t count = given_number("count", 100), ahead = given_number("ahead", 10), sent = 0, got = 0;
	size_t size = (size_t)given_number("size", 100);
	json_t *said;

	while (got < count) {
		for (; sent < count && sent < got + ahead; sent++)
			send_pattern(call, size, sent, false);
		if (!receive_pattern(call, size, got))
			break;
		got++;
	}
	grpc_finish(call);
	while (receive_pattern(call, size, got))
		got++;
	said = outcome(call);
	json_object_set_new(said, "messages", json_integer(got));
	grpc_call_free(call);
	grpc_close(client);
	return said;
}

/* Many streams open at once, each with its own messages. */
static json_t *streams(void)
{
	struct grpc_client *client = client_open();
	size_t count = (size_t)given_number("count", 1000);
	struct grpc_call **calls = memory_alloc(count * sizeof(*calls));
	size_t fine = 0, most;
	struct grpc_counts counts;

	for (size_t i = 0; i < count; i++) {
		calls[i] = start(client, BIDI, NULL);
		send_pattern(calls[i], 100, (int64_t)i, false);
	}
	/* The first answers prove that they all are open. */
	for (size_t i = 0; i < count && !given_number("queued", 0); i++)
		must(receive_pattern(calls[i], 100, (int64_t)i), "stream %zu ended early", i);
	counts = grpc_counts(client);
	most = counts.calls;
	for (size_t i = 0; i < count; i++)
		send_pattern(calls[i], 5000, (int64_t)i + 1, true);
	for (size_t i = 0; i < count; i++) {
		if (given_number("queued", 0))
			must(receive_pattern(calls[i], 100, (int64_t)i), "stream %zu ended early", i);
		must(receive_pattern(calls[i], 5000, (int64_t)i + 1), "stream %zu ended early", i);
		must(!receive_pattern(calls[i], 0, 0), "stream %zu has more", i);
		fine += grpc_result(calls[i]).code == GRPC_OK;
		grpc_call_free(calls[i]);
	}
	counts = grpc_counts(client);
	free(calls);
	grpc_close(client);
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "fine", (json_int_t)fine, "open", (json_int_t)most, "dials",
	                 (json_int_t)counts.dials, "connections", (json_int_t)counts.connections, "most_kib",
	                 (json_int_t)memory_most_kib());
}

struct canceller {
	struct grpc_call *call;
	int64_t after_ms;
};

static void *cancel_main(void *argument)
{
	struct canceller *canceller = argument;

	clock_sleep_ms(canceller->after_ms);
	grpc_cancel(canceller->call);
	return NULL;
}

/* A call that hangs is given up by another thread; the connection serves the next. */
static json_t *cancel(void)
{
	struct grpc_client *client = client_open();
	struct grpc_call *call = start(client, UNARY, "hang");
	struct canceller canceller = { call, given_number("after_ms", 50) };
	struct grpc_message *message = NULL;
	int64_t begun_ms = clock_mono_ms(), took_ms;
	pthread_t thread;
	json_t *said;

	send_pattern(call, 5, 1, true);
	must(pthread_create(&thread, NULL, cancel_main, &canceller) == 0, "no thread");
	must(grpc_receive(call, &message, -1) == GRPC_ENDED, "something came");
	took_ms = clock_mono_ms() - begun_ms;
	pthread_join(thread, NULL);
	said = outcome(call);
	grpc_call_free(call);
	call = start(client, UNARY, NULL);
	send_pattern(call, 5, 2, true);
	must(receive_pattern(call, 5, 2), "the next call is not served");
	grpc_call_free(call);
	/* One that is freed while it hangs is cancelled, too. */
	call = start(client, UNARY, "hang");
	grpc_call_free(call);
	json_object_set_new(said, "took_ms", json_integer(took_ms));
	json_object_set_new(said, "dials", json_integer((json_int_t)grpc_counts(client).dials));
	grpc_close(client);
	return said;
}

/* A reader that takes nothing holds its own stream back, and neither its memory grows nor do others wait. */
static json_t *slow(void)
{
	struct grpc_client *client = client_open();
	struct grpc_call *held = start(client, SERVER, NULL);
	int64_t count = given_number("count", 100), worst_ms = 0, kept_kib, got = 0;
	size_t size = 1 << 20;
	OWNED(text) message = text_new(1000);
	char wish[100];
	json_t *said;

	snprintf(wish, sizeof(wish), "%lld %zu", (long long)count, size);
	value_put(message, span_of(wish));
	grpc_send(held, text_span(message), true, -1);
	must(receive_pattern(held, size, got++), "the stream does not begin");
	for (int64_t i = 0; i < 50; i++) {
		int64_t begun_ms = clock_mono_ms();
		struct grpc_call *call = start(client, UNARY, NULL);

		send_pattern(call, 1000, i, true);
		must(receive_pattern(call, 1000, i), "a call beside the held stream fails");
		grpc_call_free(call);
		if (clock_mono_ms() - begun_ms > worst_ms)
			worst_ms = clock_mono_ms() - begun_ms;
	}
	kept_kib = memory_now_kib();
	while (receive_pattern(held, size, got))
		got++;
	said = outcome(held);
	json_object_update_new(said, json_pack("{s:I, s:I, s:I, s:I}", "messages", (json_int_t)got, "worst_ms", (json_int_t)worst_ms,
	                                       "kept_kib", (json_int_t)kept_kib, "most_kib", (json_int_t)memory_most_kib()));
	grpc_call_free(held);
	grpc_close(client);
	return said;
}

/* Calls for some time, one behind the other, on a server that closes its connections all the time. */
static json_t *restarting(void)
{
	struct grpc_client *client = client_open();
	int64_t until_ms = clock_mono_ms() + given_number("run_ms", 1500), count = 0;
	struct grpc_counts counts;

	for (; clock_mono_ms() < until_ms; count++) {
		struct grpc_call *call = start(client, UNARY, NULL);

		send_pattern(call, 100, count, true);
		must(receive_pattern(call, 100, count), "call %lld failed: %s", (long long)count, grpc_result(call).message);
		must(!receive_pattern(call, 0, 0) && grpc_result(call).code == GRPC_OK, "call %lld did not end well", (long long)count);
		grpc_call_free(call);
	}
	counts = grpc_counts(client);
	grpc_close(client);
	return json_pack("{s:I, s:I, s:I}", "calls", (json_int_t)count, "dials", (json_int_t)counts.dials, "restarts",
	                 (json_int_t)counts.restarts);
}

/* What was freed is ended by the client's thread in its own time. */
static int64_t calls_left(struct grpc_client *client)
{
	int64_t until_ms = clock_mono_ms() + 10000;

	while (grpc_counts(client).calls && clock_mono_ms() < until_ms)
		clock_sleep_ms(1);
	return (int64_t)grpc_counts(client).calls;
}

/* Memory after many calls is that after few. */
static json_t *memory(void)
{
	struct grpc_client *client = client_open();
	int64_t count = given_number("count", 20000), early_kib = 0, open = 0;

	for (int64_t i = 0; i < count; i++) {
		struct grpc_call *call = start(client, BIDI, i % 7 ? NULL : "status:5");

		send_pattern(call, (size_t)(i % 5000), i, i % 3 == 0);
		if (i % 5)
			receive_pattern(call, (size_t)(i % 5000), i);
		grpc_call_free(call);
		if (i == count / 4)
			early_kib = memory_now_kib();
	}
	open = calls_left(client);
	grpc_close(client);
	return json_pack("{s:I, s:I, s:I}", "early_kib", (json_int_t)early_kib, "late_kib", (json_int_t)memory_now_kib(), "open",
	                 (json_int_t)open);
}

struct worker {
	struct grpc_client *client;
	int64_t number, count;
};

static void *work(void *argument)
{
	struct worker *worker = argument;

	for (int64_t i = 0; i < worker->count; i++) {
		struct grpc_call *call = start(worker->client, BIDI, NULL);

		for (int64_t k = 0; k < 5; k++)
			send_pattern(call, (size_t)(k * 1000), worker->number + k, k == 4);
		for (int64_t k = 0; k < 5; k++)
			must(receive_pattern(call, (size_t)(k * 1000), worker->number + k), "%s", grpc_result(call).message);
		must(!receive_pattern(call, 0, 0) && grpc_result(call).code == GRPC_OK, "%s", grpc_result(call).message);
		grpc_call_free(call);
	}
	return NULL;
}

/* Many threads on one client. */
static json_t *threads(void)
{
	struct worker workers[8];
	pthread_t ids[8];
	struct grpc_client *client = client_open();
	struct grpc_counts counts;

	for (int i = 0; i < 8; i++) {
		workers[i] = (struct worker){ client, 1000 * i, given_number("count", 50) };
		must(pthread_create(&ids[i], NULL, work, &workers[i]) == 0, "no thread");
	}
	for (int i = 0; i < 8; i++)
		pthread_join(ids[i], NULL);
	counts = grpc_counts(client);
	counts.calls = (size_t)calls_left(client);
	grpc_close(client);
	return json_pack("{s:I, s:I}", "dials", (json_int_t)counts.dials, "open", (json_int_t)counts.calls);
}

/* A call that is open for long with nothing said: is the connection still the first one? */
static json_t *quiet(void)
{
	struct grpc_client *client = client_open();
	struct grpc_call *call = start(client, BIDI, NULL);
	struct grpc_message *message = NULL;
	bool is_whole;
	json_t *said;

	send_pattern(call, 10, 0, false);
	must(receive_pattern(call, 10, 0), "the stream does not begin: %s", grpc_result(call).message);
	is_whole = grpc_receive(call, &message, given_number("quiet_ms", 500)) == GRPC_TIMEOUT;
	grpc_finish(call);
	while (!grpc_receive(call, &message, -1))
		grpc_message_free(message);
	said = outcome(call);
	json_object_set_new(said, "was_quiet", json_boolean(is_whole));
	grpc_call_free(call);
	grpc_close(client);
	return said;
}

static void ring(void *context)
{
	uint64_t one = 1;

	must(write(*(int *)context, &one, sizeof(one)) == sizeof(one), "the bell is broken");
}

/* Takes what is there without waiting; true: the call has ended. */
static bool take_all(struct grpc_call *call, int64_t number, int64_t *got)
{
	struct grpc_message *message = NULL;
	enum grpc_outcome outcome;

	while ((outcome = grpc_receive(call, &message, 0)) == GRPC_DONE) {
		must(pattern_is(value_of(message), number), "wrong bytes");
		(*got)++;
		grpc_message_free(message);
	}
	return outcome == GRPC_ENDED;
}

/* One thread serves many calls: it sleeps on a bell that on_ready rings, and never waits for a call. */
static json_t *ready(void)
{
	struct grpc_client *client = client_open();
	struct grpc_call *calls[50];
	bool has_ended[50] = { false };
	int64_t got = 0, ended = 0, rings = 0;
	int bell = eventfd(0, EFD_CLOEXEC);
	uint64_t count;

	for (int i = 0; i < 50; i++) {
		struct grpc_request request = { .path = BIDI, .deadline_ms = 30000, .on_ready = ring, .context = &bell };

		calls[i] = grpc_start(client, &request);
		for (int k = 0; k < 5; k++)
			send_pattern(calls[i], 200, i, k == 4);
	}
	while (ended < 50) {
		must(read(bell, &count, sizeof(count)) == sizeof(count), "the bell is broken");
		rings++;
		for (int i = 0; i < 50; i++) {
			if (has_ended[i])
				continue;
			has_ended[i] = take_all(calls[i], i, &got);
			ended += has_ended[i];
		}
	}
	for (int i = 0; i < 50; i++) {
		must(grpc_result(calls[i]).code == GRPC_OK, "%s", grpc_result(calls[i]).message);
		grpc_call_free(calls[i]);
	}
	grpc_close(client);
	close(bell);
	return json_pack("{s:I, s:b}", "messages", (json_int_t)got, "was_rung", rings > 0);
}

const struct scenario stream_scenarios[] = {
	{ "unary", unary },   { "server", server }, { "client", client_stream },   { "bidi", bidi },     { "streams", streams },
	{ "cancel", cancel }, { "slow", slow },     { "restarting", restarting }, { "memory", memory }, { "threads", threads },
	{ "quiet", quiet },   { "ready", ready },   { NULL, NULL },
};
