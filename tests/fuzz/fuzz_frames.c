/*
 * A server's bytes through the HTTP/2 session and the calls on it, without a socket.
 * The first byte says how the rest is taken: 0 as bytes of the connection, else as
 * small orders (headers of the table, data, trailers, resets, what callers do), so
 * that the fuzzer comes further than the first frame.
 */
#include "google/grpc_private.h"

#include "base/arena.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition) do { if (!(condition)) abort(); } while (0)
#define CALLS 3
#define HELD_MAX (4U << 20)

struct world {
	struct grpc_client *client;
	struct grpc_connection *connection;
	struct grpc_call *calls[CALLS];
	nghttp2_hd_deflater *deflater;
	const uint8_t *at, *end;
};

/* Pairs of the answer's headers; an order picks by bits. */
static const char *const pairs[][2] = {
	{ ":status", "200" },        { "content-type", "application/grpc" }, { "grpc-encoding", "gzip" },
	{ ":status", "103" },        { ":status", "502" },                   { "content-type", "text/html" },
	{ "grpc-status", "0" },      { "grpc-status", "14" },                { "grpc-status", "x" },
	{ "grpc-message", "a%20%zz%e2%82%ac%" }, { "grpc-status-details-bin", "CAUSBGdvbmU" }, { "x-other", "value" },
};

static struct grpc_client *client_make(void)
{
	struct grpc_client *client = memory_zalloc(sizeof(*client));

	client->epoll = client->wake = -1;
	client->setup.endpoint.is_plain = true;
	snprintf(client->setup.endpoint.authority, sizeof(client->setup.endpoint.authority), "x");
	client->setup.stream_window_bytes = 70000;
	client->setup.connection_window_bytes = 100000;
	client->setup.connection_count_max = 1;
	client->setup.silence_ms = 1000;
	client->user_agent = memory_string("fuzz");
	client->backoff = (struct backoff)BACKOFF(100, 1000, 2);
	client->dial_after_ms = INT64_MAX; /* no socket is ever opened */
	pthread_mutex_init(&client->lock, NULL);
	return client;
}

static void connection_make(struct world *w)
{
	struct grpc_connection *connection = memory_zalloc(sizeof(*connection));

	connection->client = w->client;
	connection->fd = -1;
	connection->session = session_new(connection);
	connection->state = CONNECTION_OPENING;
	w->connection = w->client->connections = connection;
}

static void calls_make(struct world *w)
{
	struct grpc_request request = { .path = "/x.Y/Z", .deadline_ms = 1000000, .message_bytes = 50000, .unsent_bytes = 100000 };

	for (int i = 0; i < CALLS; i++) {
		w->calls[i] = grpc_start(w->client, &request);
		grpc_send(w->calls[i], SPAN("question"), i == 0, 0);
		MUST(session_submit(w->connection, w->calls[i], 0));
		call_list_move(w->calls[i], &w->client->placed);
	}
}

/* What we would write is thrown away. */
static void drain(struct world *w)
{
	const uint8_t *frame;

	calls_kicked_locked(w->client);
	while (w->connection->state != CONNECTION_DEAD && nghttp2_session_mem_send(w->connection->session, &frame) > 0)
		;
}

static void give(struct world *w, const uint8_t *bytes, size_t len)
{
	if (w->connection->state == CONNECTION_DEAD)
		return;
	if (nghttp2_session_mem_recv(w->connection->session, bytes, len) < 0)
		connection_lost_locked(w->connection, "malformed", "broken");
	drain(w);
}

static void give_frame(struct world *w, uint8_t type, uint8_t flags, uint32_t stream, const uint8_t *payload, size_t len)
{
	uint8_t *frame = memory_alloc(9 + len);

	frame[0] = (uint8_t)(len >> 16);
	frame[1] = (uint8_t)(len >> 8);
	frame[2] = (uint8_t)len;
	frame[3] = type;
	frame[4] = flags;
	for (int i = 0; i < 4; i++)
		frame[5 + i] = (uint8_t)(stream >> (24 - 8 * i));
	if (len)
		memcpy(frame + 9, payload, len);
	give(w, frame, 9 + len);
	free(frame);
}

static uint8_t next(struct world *w)
{
	return w->at < w->end ? *w->at++ : 0;
}

static uint32_t next_stream(struct world *w)
{
	return 1 + 2 * (uint32_t)(next(w) % (CALLS + 1));
}

static void give_headers(struct world *w, unsigned chosen, bool is_end)
{
	nghttp2_nv headers[sizeof(pairs) / sizeof(pairs[0])];
	uint32_t stream = next_stream(w);
	uint8_t block[2000];
	size_t count = 0;
	ssize_t len;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (chosen >> i & 1)
			headers[count++] = (nghttp2_nv){ (uint8_t *)(uintptr_t)pairs[i][0], (uint8_t *)(uintptr_t)pairs[i][1], strlen(pairs[i][0]),
			                                strlen(pairs[i][1]), 0 };
	}
	len = nghttp2_hd_deflate_hd(w->deflater, block, sizeof(block), headers, count);
	MUST(len >= 0);
	give_frame(w, NGHTTP2_HEADERS, (uint8_t)(NGHTTP2_FLAG_END_HEADERS | (is_end ? NGHTTP2_FLAG_END_STREAM : 0)), stream, block,
	           (size_t)len);
}

static void give_data(struct world *w)
{
	uint32_t stream = next_stream(w);
	size_t len = next(w), left = (size_t)(w->end - w->at);

	if (len > left)
		len = left;
	give_frame(w, NGHTTP2_DATA, 0, stream, w->at, len);
	w->at += len;
}

static void receive(struct world *w)
{
	struct grpc_call *call = w->calls[next(w) % CALLS];
	struct grpc_message *message = NULL;

	if (grpc_receive(call, &message, 0) == GRPC_DONE)
		MUST(message->len <= 50000);
	grpc_message_free(message);
	drain(w);
}

/* The world's orders. */
static void order(struct world *w)
{
	uint8_t word = next(w), code[8] = { 0 };

	switch (word % 8) {
	case 0:
		code[3] = next(w);
		give_frame(w, code[3], next(w), next_stream(w), code, sizeof(code));
		break;
	case 1:
		give_headers(w, word == 1 ? 3 : 3 | (unsigned)next(w) << 2, false);
		break;
	case 2:
		give_data(w);
		break;
	case 3:
		give_headers(w, next(w) % 2 ? 1U << 6 : (unsigned)next(w) << 6, true);
		break;
	case 4:
		receive(w);
		break;
	case 5:
		grpc_cancel(w->calls[next(w) % CALLS]);
		drain(w);
		break;
	case 6:
		code[3] = (uint8_t)next_stream(w);
		code[7] = next(w);
		give_frame(w, NGHTTP2_GOAWAY, 0, 0, code, sizeof(code));
		break;
	default:
		code[3] = next(w);
		give_frame(w, NGHTTP2_RST_STREAM, 0, next_stream(w), code, 4);
		break;
	}
}

/* Whatever came: memory within its limits, and "OK" only where the server said so. */
static void judge(struct world *w)
{
	for (int i = 0; i < CALLS; i++) {
		const struct grpc_call *call = w->calls[i];

		MUST(call->in_bytes <= HELD_MAX && call->header_bytes <= HEADERS_BYTES_MAX + 70000);
		MUST(!call->has_ended || call->code != GRPC_OK || call->has_status);
		MUST(!call->has_ended || !call->connection);
		MUST(call->unreturned_bytes <= 70000 + 16384);
	}
}

static void end(struct world *w)
{
	connection_lost_locked(w->connection, "lost", "the end");
	for (int i = 0; i < CALLS; i++) {
		if (!w->calls[i]->has_ended)
			grpc_cancel(w->calls[i]);
		calls_kicked_locked(w->client);
		MUST(w->calls[i]->has_ended);
		grpc_call_free(w->calls[i]);
	}
	calls_kicked_locked(w->client);
	MUST(!w->client->waiting.first && !w->client->placed.first);
	connection_free(w->connection);
	nghttp2_hd_deflate_del(w->deflater);
	pthread_mutex_destroy(&w->client->lock);
	free(w->client->user_agent);
	free(w->client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world w = { .at = data, .end = data + size };
	bool is_raw = next(&w) == 0;

	w.client = client_make();
	connection_make(&w);
	calls_make(&w);
	MUST(nghttp2_hd_deflate_new(&w.deflater, 4096) == 0);
	drain(&w);
	give_frame(&w, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
	if (is_raw)
		give(&w, w.at, (size_t)(w.end - w.at));
	while (!is_raw && w.at < w.end)
		order(&w);
	judge(&w);
	end(&w);
	return 0;
}
