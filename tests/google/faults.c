/*
 * Random sequences of faults: several calls at once on one client, each with a fault
 * of the servers and habits of its own. Whatever happens, a call ends in time, says
 * "OK" only with the right bytes, and the client serves the next call.
 */
#include "drive.h"

#include "base/arena.h"
#include "base/clock.h"

#include <stdlib.h>
#include <unistd.h>

#define CALLS_MAX 6
#define DEADLINE_MS 400
#define MARGIN_MS 5000 /* a busy machine */
#define TRIES 8

/* Of the server that writes frames itself; numbers are appended where there is a %. */
static const char *const raw_faults[] = {
	"", "", "chopped", "drip:1", "trailers_only:%", "reset:%", "reset_amid:%", "cut", "cut_headers", "cut_frame_head", "early_close",
	"abort", "goaway_once", "refused_once", "goaway_after", "goaway_calm", "hang", "hang_amid", "huge_header", "many_headers",
	"huge_trailer", "no_trailers", "no_status", "bad_status", "unknown_status", "bad_percent", "bad_details", "compressed",
	"compressed_mum", "bad_flag", "endless", "cut_message", "cut_prefix", "page:%", "page_endless", "early_hints", "garbage",
	"wrong_stream", "data_first", "push", "large_frame", "pings", "settings", "bad_settings", "window_zero", "end_early", "refused",
};

/* Of grpc-go's. */
static const char *const handler_faults[] = { "", "", "status:%", "details", "hang", "late:5ms", "end:%" };

static uint64_t state;

static uint64_t chance(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static void fault_choose(bool is_raw, char *out, size_t room)
{
	size_t count = is_raw ? sizeof(raw_faults) / sizeof(raw_faults[0]) : sizeof(handler_faults) / sizeof(handler_faults[0]);
	const char *word = is_raw ? raw_faults[chance(count)] : handler_faults[chance(count)];
	size_t len = strcspn(word, "%");

	snprintf(out, room, "%.*s", (int)len, word);
	if (word[len])
		snprintf(out + len, room - len, "%d", (int)chance(17));
}

struct try {
	struct grpc_call *call;
	char fault[40], id[40];
	bool is_raw;
	size_t size, sent, got;
	int64_t begun_ms;
	bool has_ended;
};

static struct grpc_client *random_client(bool *out_raw)
{
	static const char *const names[] = { "raw", "raw", "plain", "restarting", "few" };
	const char *name = names[chance(sizeof(names) / sizeof(names[0]))];
	struct grpc_setup setup = {
		.endpoint = { .host = "127.0.0.1", .port = (uint16_t)given_number(name, 0), .is_plain = true, .is_emulator = true },
		.stream_window_bytes = chance(2) ? 70000 : 0,
		.connection_count_max = 1 + chance(3),
	};
	struct error err = { 0 };
	struct grpc_client *client;

	snprintf(setup.endpoint.authority, sizeof(setup.endpoint.authority), "localhost");
	*out_raw = strcmp(name, "raw") == 0;
	client = grpc_open(&setup, &err);
	must(client != NULL, "cannot open: %s", err.message);
	return client;
}

static void send_one(struct try *try, bool is_last)
{
	OWNED(text) message = text_new(1 << 20);
	char *bytes = memory_alloc(try->size + 1);

	pattern_fill(bytes, try->size, (int64_t)try->sent);
	value_put(message, span_make(bytes, try->size));
	if (grpc_send(try->call, text_span(message), is_last, DEADLINE_MS) == GRPC_DONE)
		try->sent++;
	free(bytes);
}

static void try_begin(struct grpc_client *client, struct try *try, bool is_raw, uint64_t number)
{
	struct grpc_pair metadata[] = { { "x-fault", try->fault }, { "x-id", try->id } };
	struct grpc_request request = {
		.path = is_raw || chance(2) ? "/weir.test.Echo/Bidi" : "/weir.test.Echo/Client",
		.metadata = metadata,
		.metadata_count = 2,
		.deadline_ms = DEADLINE_MS,
		.message_bytes = 1 << 20,
	};

	*try = (struct try){ .is_raw = is_raw, .size = chance(4) ? chance(2000) : 100000, .begun_ms = clock_mono_ms() };
	fault_choose(is_raw, try->fault, sizeof(try->fault));
	snprintf(try->id, sizeof(try->id), "%llx", (unsigned long long)number);
	try->call = grpc_start(client, &request);
	for (uint64_t left = chance(4); left; left--)
		send_one(try, false);
	if (chance(4))
		send_one(try, true);
}

/* Something of the call happens: it is given up, more is sent, or what came is taken. */
static void try_step(struct try *try)
{
	struct grpc_message *message = NULL;
	enum grpc_outcome outcome;

	if (chance(20) == 0)
		grpc_cancel(try->call);
	else if (chance(6) == 0)
		send_one(try, chance(2));
	outcome = grpc_receive(try->call, &message, (int64_t)chance(30));
	if (outcome == GRPC_DONE) {
		struct span value = value_of(message);
		bool is_right = try->is_raw ? span_is(value, "raw") : value.len == try->size && pattern_is(value, (int64_t)try->got);

		/* The client stream's answer is a text. */
		must(is_right || (!try->is_raw && value.len < 60), "%s: wrong bytes", try->fault);
		try->got++;
		grpc_message_free(message);
	}
	try->has_ended = outcome == GRPC_ENDED;
	must(try->has_ended || clock_mono_ms() < try->begun_ms + DEADLINE_MS + MARGIN_MS, "%s: the call does not end", try->fault);
}

static void try_judge(struct try *try)
{
	struct grpc_result result = grpc_result(try->call);
	struct error err = { 0 };

	must(result.code >= 0 && result.code < GRPC_CODES, "%s: code %d", try->fault, (int)result.code);
	must(grpc_check(try->call, "x", &err) == (result.code == GRPC_OK), "%s: a status and its error differ", try->fault);
	must(result.code == GRPC_OK || err.code[0], "%s: no reason code", try->fault);
	if (result.code == GRPC_OK && try->is_raw && strcmp(try->fault, "trailers_only:0") != 0)
		must(try->got > 0, "%s: fine without an answer", try->fault);
	grpc_call_free(try->call);
}

/* After all of it a call that nobody disturbs must be served. */
static void healthy(struct grpc_client *client, uint64_t number)
{
	struct grpc_request request = { .path = "/weir.test.Echo/Unary", .deadline_ms = 10000 };
	struct grpc_message *answer = NULL;
	struct error err = { 0 };
	OWNED(text) message = text_new(100);

	value_put(message, SPAN("raw"));
	for (int i = 0; i < TRIES; i++) {
		if (grpc_unary(client, &request, "healthy", text_span(message), &answer, &err)) {
			must(span_is(value_of(answer), "raw"), "sequence %llu: wrong bytes", (unsigned long long)number);
			grpc_message_free(answer);
			return;
		}
		clock_sleep_ms(err.retry_after_ms + 20 * i);
	}
	must(false, "sequence %llu: the client is of no use any more: %s", (unsigned long long)number, err.message);
}

static void sequence(uint64_t seed, uint64_t number)
{
	struct try tries[CALLS_MAX];
	struct grpc_client *client;
	size_t count, open;
	bool is_raw;

	state = (seed * 1000003 + number) * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (int i = 0; i < 8; i++)
		chance(2);
	client = random_client(&is_raw);
	count = open = 1 + chance(CALLS_MAX);
	for (size_t i = 0; i < count; i++)
		try_begin(client, &tries[i], is_raw, (seed << 20) + number * 8 + i);
	while (open) {
		struct try *try = &tries[chance(count)];

		if (try->has_ended)
			continue;
		try_step(try);
		open -= try->has_ended;
	}
	for (size_t i = 0; i < count; i++)
		try_judge(&tries[i]);
	healthy(client, number);
	must(grpc_counts(client).calls == 0, "sequence %llu: calls are left over", (unsigned long long)number);
	grpc_close(client);
}

/* seed=, count=, and the ports raw=, plain=, restarting=, few=. from= repeats one. */
static json_t *faults(void)
{
	uint64_t seed = (uint64_t)given_number("seed", 1), count = (uint64_t)given_number("count", 100);
	uint64_t first = (uint64_t)given_number("from", 0);
	int64_t early_kib = 0;

	for (uint64_t i = first; i < first + count; i++) {
		alarm(60);
		fprintf(stderr, "\rsequence %llu", (unsigned long long)i);
		sequence(seed, i);
		if (i == first + count / 4)
			early_kib = memory_now_kib();
	}
	return json_pack("{s:I, s:I, s:I}", "sequences", (json_int_t)count, "early_kib", (json_int_t)early_kib, "late_kib",
	                 (json_int_t)memory_now_kib());
}

const struct scenario fault_scenarios[] = { { "faults", faults }, { NULL, NULL } };
