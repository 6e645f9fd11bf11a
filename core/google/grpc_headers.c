/* What the headers and trailers of an answer say of it: each that counts is a row of a table. */
#include "google/grpc_private.h"

#include "base/arena.h"

#include <stdlib.h>

static void take_http_status(struct grpc_call *call, struct span value)
{
	int status = 0;

	for (size_t i = 0; i < value.len && i < 3; i++)
		status = status * 10 + (value.at[i] - '0');
	call->is_informational = status >= 100 && status < 200;
	if (!call->is_informational)
		call->http_status = status;
}

static void take_content_type(struct grpc_call *call, struct span value)
{
	call->is_grpc = value.len >= 16 && memcmp(value.at, "application/grpc", 16) == 0;
}

static void take_encoding(struct grpc_call *call, struct span value)
{
	call->has_encoding = !span_is(value, "identity");
}

static void take_code(struct grpc_call *call, struct span value)
{
	int code = 0;

	call->has_status = value.len > 0 && value.len <= 3;
	for (size_t i = 0; i < value.len && call->has_status; i++) {
		call->has_status = value.at[i] >= '0' && value.at[i] <= '9';
		code = code * 10 + (value.at[i] - '0');
	}
	call->code = call->has_status && code < GRPC_CODES ? (enum grpc_code)code : GRPC_UNKNOWN;
	call->has_status = true; /* one that is no number is still the server's word: UNKNOWN */
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Percent-encoded; an escape that is broken stays as it is. */
static void take_message(struct grpc_call *call, struct span value)
{
	size_t len = 0;

	for (size_t i = 0; i < value.len && len < sizeof(call->message) - 1; i++) {
		int high = i + 2 < value.len && value.at[i] == '%' ? hex_digit(value.at[i + 1]) : -1;
		int low = high >= 0 ? hex_digit(value.at[i + 2]) : -1;
		char c = low >= 0 ? (char)(high * 16 + low) : value.at[i];

		call->message[len++] = c ? c : ' ';
		i += low >= 0 ? 2 : 0;
	}
	call->message[len] = '\0';
}

static void take_details(struct grpc_call *call, struct span value)
{
	free(call->details);
	call->details = memory_string_of(value);
}

static const struct header_row {
	const char *name;
	void (*take)(struct grpc_call *call, struct span value);
} header_rows[] = {
	{ ":status", take_http_status },       { "content-type", take_content_type },
	{ "grpc-encoding", take_encoding },    { "grpc-status", take_code },
	{ "grpc-message", take_message },      { "grpc-status-details-bin", take_details },
};

int headers_on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
                     const uint8_t *value, size_t value_len, uint8_t flags, void *context)
{
	struct grpc_call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	struct span called = span_make((const char *)name, name_len);

	(void)flags;
	(void)context;
	if (!call || frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	call->header_bytes += name_len + value_len + 32;
	if (call->header_bytes > HEADERS_BYTES_MAX) {
		call_detach_locked(call, true, 0);
		call_end_locked(call, GRPC_RESOURCE_EXHAUSTED, "too_large", "the headers of the answer have more than 64 KiB");
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* nghttp2 resets the stream */
	}
	for (size_t i = 0; i < sizeof(header_rows) / sizeof(header_rows[0]); i++) {
		if (span_is(called, header_rows[i].name) && (i == 0 || !call->is_informational))
			header_rows[i].take(call, span_make((const char *)value, value_len));
	}
	return 0;
}

/* First headers that are no answer of gRPC end the call: a page of a proxy may follow. Trailers-only answers are judged at
 * their end. */
void headers_check(struct grpc_call *call)
{
	char text[TEXT_BYTES];

	if (call->is_informational)
		return;
	out_commit(call);
	if (call->has_status || (call->http_status == 200 && call->is_grpc))
		return;
	snprintf(text, sizeof(text), "HTTP status %d, and no content of gRPC", call->http_status);
	call_detach_locked(call, false, NGHTTP2_CANCEL);
	call_end_locked(call, call->http_status == 200 ? GRPC_UNKNOWN : grpc_code_of_http(call->http_status),
	                call->http_status == 200 ? "malformed" : "", text);
}
