/*
 * HTTP/2 frames as nghttp2 hands them over, and what they mean to a call. The peer's
 * END_STREAM ends a call even if our half is open: some servers send nothing behind
 * it. No function here may call mem_send, mem_recv or session_del: nghttp2 calls us.
 */
#include "google/grpc_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <stdlib.h>

#define FIXED_HEADERS 8
#define LATE_MS 50 /* a server's own timer may be that much ahead of ours */

/* What a stream that was reset without trailers means (gRPC's PROTOCOL-HTTP2). */
static const struct reset_row {
	uint32_t error;
	enum grpc_code code;
	const char *message;
} reset_rows[] = {
	{ NGHTTP2_REFUSED_STREAM, GRPC_UNAVAILABLE, "the server refused the stream" },
	{ NGHTTP2_CANCEL, GRPC_CANCELLED, "the server gave the stream up" },
	{ NGHTTP2_ENHANCE_YOUR_CALM, GRPC_RESOURCE_EXHAUSTED, "the server asks us to calm down" },
	{ NGHTTP2_INADEQUATE_SECURITY, GRPC_PERMISSION_DENIED, "the server does not take this encryption" },
};

static const struct reset_row *reset_row_find(uint32_t error)
{
	static const struct reset_row other = { 0, GRPC_INTERNAL, "the server reset the stream" };

	for (size_t i = 0; i < sizeof(reset_rows) / sizeof(reset_rows[0]); i++) {
		if (reset_rows[i].error == error)
			return &reset_rows[i];
	}
	return &other;
}

/* Never begun: it is begun again where that is possible, else its caller may do so. */
static void call_refused(struct grpc_call *call)
{
	struct grpc_client *client = call->client;

	call_detach_locked(call, true, 0);
	call->was_begun = false;
	if (call->restarts < RESTARTS_MAX && out_rewind(call)) {
		call->restarts++;
		client->counts.restarts++;
		call_list_move(call, &client->waiting);
		return;
	}
	call_end_locked(call, GRPC_UNAVAILABLE, "not_processed", "the server did not begin the call");
}

static void call_reset(struct grpc_call *call, uint32_t error)
{
	const struct reset_row *row = reset_row_find(error);
	char text[TEXT_BYTES];

	if (error == NGHTTP2_REFUSED_STREAM) {
		call_refused(call);
		return;
	}
	call_detach_locked(call, true, 0);
	/* grpc-java ends a call whose time is over in this way, without a word. */
	if (error == NGHTTP2_CANCEL && call->deadline_at_ms && clock_mono_ms() + LATE_MS >= call->deadline_at_ms) {
		call_end_locked(call, GRPC_DEADLINE_EXCEEDED, "deadline", "the server gave the call up at its deadline");
		return;
	}
	snprintf(text, sizeof(text), "%s (%s)", row->message, nghttp2_http2_strerror(error));
	call_end_locked(call, row->code, "", text);
}

/* The server has said all. A call is fine only if it said so. */
static void call_answered(struct grpc_call *call)
{
	char text[TEXT_BYTES];

	if (call->has_status && call->code == GRPC_OK && (call->partial || call->prefix_len)) {
		call_end_locked(call, GRPC_INTERNAL, "malformed", "the answer ends inside a message");
	} else if (call->has_status) {
		call_end_locked(call, call->code, "", NULL);
	} else if (call->http_status != 200) {
		snprintf(text, sizeof(text), "HTTP status %d", call->http_status);
		call_end_locked(call, grpc_code_of_http(call->http_status), "", text);
	} else {
		call_end_locked(call, GRPC_UNKNOWN, "no_status", "the answer has no grpc-status");
	}
}

static void stream_ended(struct grpc_connection *connection, struct grpc_call *call)
{
	bool is_half_open = !nghttp2_session_get_stream_local_close(connection->session, call->stream);

	/* Our half is dropped, as the peer looks at it no more. */
	call_detach_locked(call, !is_half_open, NGHTTP2_NO_ERROR);
	call_answered(call);
}

/*
 * Frames.
 */
static void goaway_received(struct grpc_connection *connection, const nghttp2_goaway *frame)
{
	struct grpc_client *client = connection->client;
	size_t len = frame->opaque_data_len < 200 ? frame->opaque_data_len : 200;

	connection->is_draining = true;
	snprintf(connection->goaway, sizeof(connection->goaway), "the server closes the connection (%s%s%.*s)",
	         nghttp2_http2_strerror(frame->error_code), len ? ": " : "", (int)len, (const char *)frame->opaque_data);
	/* It finds our PINGs too many: half as often from now on. */
	if (frame->error_code == NGHTTP2_ENHANCE_YOUR_CALM && client->setup.silence_ms < INT64_C(86400000))
		client->setup.silence_ms *= 2;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct grpc_connection *connection = context;
	struct grpc_call *call =
		frame->hd.stream_id ? nghttp2_session_get_stream_user_data(session, frame->hd.stream_id) : NULL;
	bool is_end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;

	if (frame->hd.type == NGHTTP2_SETTINGS && !(frame->hd.flags & NGHTTP2_FLAG_ACK))
		connection_opened_locked(connection);
	else if (frame->hd.type == NGHTTP2_GOAWAY)
		goaway_received(connection, &frame->goaway);
	else if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK))
		connection->ping_ms = 0;
	if (!call || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA))
		return 0;
	if (is_end)
		stream_ended(connection, call);
	else if (frame->hd.type == NGHTTP2_HEADERS)
		headers_check(call);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *at, size_t len, void *context)
{
	struct grpc_call *call = nghttp2_session_get_stream_user_data(session, stream);

	(void)flags;
	(void)context;
	nghttp2_session_consume_connection(session, len);
	if (call)
		in_data(call, at, len);
	return 0;
}

/* The server goes away between our handing over a request and its turn to be written. */
static int on_not_sent(nghttp2_session *session, const nghttp2_frame *frame, int error, void *context)
{
	struct grpc_call *call =
		frame->hd.type == NGHTTP2_HEADERS ? nghttp2_session_get_stream_user_data(session, frame->hd.stream_id) : NULL;

	(void)error;
	(void)context;
	if (call)
		call->is_unsent = true;
	return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error, void *context)
{
	struct grpc_connection *connection = context;
	struct grpc_call *call = nghttp2_session_get_stream_user_data(session, stream);

	connection->active -= connection->active > 0;
	if (!call)
		return 0;
	call_reset(call, call->is_unsent ? NGHTTP2_REFUSED_STREAM : error);
	return 0;
}

static ssize_t on_length(nghttp2_session *session, uint8_t type, int32_t stream, int32_t session_window, int32_t stream_window,
                         uint32_t frame_max, void *context)
{
	int32_t window = session_window < stream_window ? session_window : stream_window;

	(void)session;
	(void)type;
	(void)stream;
	(void)context;
	return (uint32_t)window < frame_max ? window : (ssize_t)frame_max;
}

static nghttp2_session *make(struct grpc_connection *connection)
{
	nghttp2_session_callbacks *callbacks = NULL;
	nghttp2_option *option = NULL;
	nghttp2_session *session = NULL;

	if (nghttp2_session_callbacks_new(&callbacks) != 0 || nghttp2_option_new(&option) != 0)
		abort(); /* no memory: as memory_alloc */
	nghttp2_session_callbacks_set_on_header_callback(callbacks, headers_on_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_not_sent);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
	nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, on_length);
	nghttp2_option_set_no_auto_window_update(option, 1);
	if (nghttp2_session_client_new2(&session, callbacks, connection, option) != 0)
		abort();
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(callbacks);
	return session;
}

nghttp2_session *session_new(struct grpc_connection *connection)
{
	const struct grpc_setup *setup = &connection->client->setup;
	nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, setup->stream_window_bytes },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADERS_BYTES_MAX },
	};
	nghttp2_session *session = make(connection);

	nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, sizeof(settings) / sizeof(settings[0]));
	nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, (int32_t)setup->connection_window_bytes);
	return session;
}

/*
 * Requests.
 */
static nghttp2_nv header(const char *name, const char *value, uint8_t flags)
{
	return (nghttp2_nv){ (uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name), strlen(value), flags };
}

/* At most eight digits and a unit. */
static void timeout_text(int64_t ms, char *out, size_t room)
{
	if (ms < 1)
		ms = 1;
	if (ms < 100000000)
		snprintf(out, room, "%dm", (int)ms);
	else
		snprintf(out, room, "%dS", (int)(ms / 1000 < 99999999 ? ms / 1000 : 99999999));
}

bool session_submit(struct grpc_connection *connection, struct grpc_call *call, int64_t now_ms)
{
	const struct endpoint *endpoint = &connection->client->setup.endpoint;
	nghttp2_nv headers[FIXED_HEADERS + GRPC_PAIRS_MAX];
	nghttp2_data_provider body = { .read_callback = out_read };
	size_t count = 0;
	char timeout[16];
	int32_t stream;

	headers[count++] = header(":method", "POST", 0);
	headers[count++] = header(":scheme", endpoint->is_plain ? "http" : "https", 0);
	headers[count++] = header(":path", call->path, 0);
	headers[count++] = header(":authority", endpoint->authority, 0);
	headers[count++] = header("te", "trailers", 0);
	headers[count++] = header("content-type", "application/grpc", 0);
	headers[count++] = header("user-agent", connection->client->user_agent, 0);
	if (call->deadline_at_ms) {
		timeout_text(call->deadline_at_ms - now_ms, timeout, sizeof(timeout));
		headers[count++] = header("grpc-timeout", timeout, 0);
	}
	for (size_t i = 0; i < call->pair_count; i++) {
		/* A token is never kept in the tables that compress headers. */
		bool is_secret = strcmp(call->pairs[i].name, "authorization") == 0;

		headers[count++] = header(call->pairs[i].name, call->pairs[i].value, is_secret ? NGHTTP2_NV_FLAG_NO_INDEX : 0);
	}
	stream = nghttp2_submit_request(connection->session, NULL, headers, count, &body, call);
	if (stream < 0)
		return false;
	call->connection = connection;
	call->stream = stream;
	call->is_deferred = call->is_unsent = false;
	call->was_begun = true; /* from here on nobody knows, unless the server says that it did not */
	connection->active++;
	return true;
}
