/* Streams of a connection: headers in, messages in and out, trailers. */
#include "fast_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bytes_add(struct bytes *bytes, const void *at, size_t len)
{
	if (bytes->begin == bytes->end)
		bytes->begin = bytes->end = 0;
	if (bytes->room - bytes->end < len && bytes->begin) {
		memmove(bytes->at, bytes->at + bytes->begin, bytes->end - bytes->begin);
		bytes->end -= bytes->begin;
		bytes->begin = 0;
	}
	if (bytes->room - bytes->end < len || !bytes->at) {
		bytes->room = (bytes->end + len) * 2;
		bytes->at = realloc(bytes->at, bytes->room);
		if (!bytes->at)
			abort();
	}
	if (len)
		memcpy(bytes->at + bytes->end, at, len);
	bytes->end += len;
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->at);
	*bytes = (struct bytes){ 0 };
}

static void wake(struct fast_stream *stream)
{
	if (!stream->is_deferred)
		return;
	stream->is_deferred = false;
	nghttp2_session_resume_data(stream->connection->session, stream->id);
}

void fast_feed(struct fast_stream *stream, const struct fast_feeder *feeder)
{
	stream->feeder = *feeder;
	wake(stream);
}

void fast_wake(struct fast_stream *stream)
{
	wake(stream);
}

void fast_send(struct fast_stream *stream, const uint8_t *at, size_t len)
{
	uint8_t prefix[PREFIX_BYTES] = { 0, (uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len };

	bytes_add(&stream->out, prefix, sizeof(prefix));
	bytes_add(&stream->out, at, len);
	wake(stream);
}

void fast_finish(struct fast_stream *stream, int status)
{
	stream->has_ended = true;
	stream->status = status;
	wake(stream);
}

void **fast_own(struct fast_stream *stream)
{
	return &stream->own;
}

#define HEADER(name, value) { (uint8_t *)(name), (uint8_t *)(value), strlen(name), strlen(value), 0 }

static void submit_trailers(struct fast_stream *stream)
{
	char status[16];
	nghttp2_nv trailer = HEADER("grpc-status", status);

	trailer.valuelen = (size_t)snprintf(status, sizeof(status), "%d", stream->status);
	nghttp2_submit_trailer(stream->connection->session, stream->id, &trailer, 1);
}

static ssize_t read_out(nghttp2_session *session, int32_t id, uint8_t *at, size_t room, uint32_t *flags,
                        nghttp2_data_source *source, void *context)
{
	struct fast_stream *stream = source->ptr;

	(void)session, (void)id, (void)context;
	if (stream->feeder.on_room && !stream->has_ended && stream->out.end - stream->out.begin < ROOM_BYTES)
		stream->feeder.on_room(stream, stream->feeder.context);

	size_t len = stream->out.end - stream->out.begin;

	if (len > room)
		len = room;
	if (!len && !stream->has_ended) {
		stream->is_deferred = true;
		return NGHTTP2_ERR_DEFERRED;
	}
	if (len)
		memcpy(at, stream->out.at + stream->out.begin, len);
	stream->out.begin += len;
	if (stream->has_ended && stream->out.begin == stream->out.end) {
		*flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
		submit_trailers(stream);
	}
	return (ssize_t)len;
}

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct fast_connection *connection = context;
	struct fast_stream *stream;

	if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		abort();
	stream->connection = connection;
	stream->id = frame->hd.stream_id;
	stream->after = connection->streams;
	if (stream->after)
		stream->after->before = stream;
	connection->streams = stream;
	nghttp2_session_set_stream_user_data(session, stream->id, stream);
	return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
                     const uint8_t *value, size_t value_len, uint8_t flags, void *context)
{
	struct fast_connection *connection = context;
	struct fast_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);

	(void)flags;
	if (!stream || name_len != 5 || memcmp(name, ":path", 5) != 0)
		return 0;
	for (const struct fast_service *service = connection->services; service->path; service++) {
		if (strlen(service->path) == value_len && memcmp(service->path, value, value_len) == 0)
			stream->service = service;
	}
	return 0;
}

static void answer(struct fast_stream *stream)
{
	nghttp2_nv headers[] = { HEADER(":status", "200"), HEADER("content-type", "application/grpc") };
	nghttp2_data_provider out = { .source.ptr = stream, .read_callback = read_out };

	nghttp2_submit_response(stream->connection->session, stream->id, headers, 2, &out);
	if (!stream->service)
		fast_finish(stream, 12); /* UNIMPLEMENTED */
}

static size_t message_length(const uint8_t *prefix)
{
	return (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 | prefix[4];
}

/* Whole messages of [at, at + len); gives how much of it they were. -1: what came is none. */
static ssize_t take_messages(struct fast_stream *stream, const uint8_t *at, size_t len)
{
	size_t used = 0;

	while (len - used >= PREFIX_BYTES) {
		size_t message = message_length(at + used);

		if (at[used] != 0 || message > MESSAGE_BYTES_MAX)
			return -1;
		if (len - used - PREFIX_BYTES < message)
			break;
		stream->service->on_message(stream, at + used + PREFIX_BYTES, message);
		used += PREFIX_BYTES + message;
	}
	return (ssize_t)used;
}

/* In place where nothing waits; only the rest is copied. */
static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *at, size_t len, void *context)
{
	struct fast_stream *stream = nghttp2_session_get_stream_user_data(session, id);
	ssize_t used = 0;

	(void)flags, (void)context;
	if (!stream || !stream->service || stream->has_ended)
		return 0;
	if (stream->in.begin == stream->in.end) {
		used = take_messages(stream, at, len);
		if (used >= 0 && (size_t)used < len)
			bytes_add(&stream->in, at + used, len - (size_t)used);
	} else {
		bytes_add(&stream->in, at, len);
		used = take_messages(stream, stream->in.at + stream->in.begin, stream->in.end - stream->in.begin);
		stream->in.begin += used > 0 ? (size_t)used : 0;
	}
	if (used < 0)
		fast_finish(stream, 13); /* INTERNAL */
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct fast_stream *stream = frame->hd.stream_id ? nghttp2_session_get_stream_user_data(session, frame->hd.stream_id)
	                                                 : NULL;

	(void)context;
	if (!stream)
		return 0;
	if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
		answer(stream);
	if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM && stream->service && !stream->has_ended &&
	    (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS))
		stream->service->on_end(stream);
	return 0;
}

static void stream_free(struct fast_stream *stream)
{
	if (stream->feeder.on_close)
		stream->feeder.on_close(stream->feeder.context);
	if (stream->before)
		stream->before->after = stream->after;
	else
		stream->connection->streams = stream->after;
	if (stream->after)
		stream->after->before = stream->before;
	bytes_free(&stream->in);
	bytes_free(&stream->out);
	free(stream->own);
	free(stream);
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error, void *context)
{
	struct fast_stream *stream = nghttp2_session_get_stream_user_data(session, id);

	(void)error, (void)context;
	if (!stream)
		return 0;
	nghttp2_session_set_stream_user_data(session, id, NULL);
	stream_free(stream);
	return 0;
}

bool session_open(struct fast_connection *connection)
{
	nghttp2_settings_entry settings[] = { { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1000 },
		                              { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_BYTES } };
	nghttp2_session_callbacks *callbacks;

	if (nghttp2_session_callbacks_new(&callbacks) != 0)
		return false;
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
	if (nghttp2_session_server_new(&connection->session, callbacks, connection) != 0)
		connection->session = NULL;
	nghttp2_session_callbacks_del(callbacks);
	if (!connection->session)
		return false;
	nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings, 2);
	nghttp2_session_set_local_window_size(connection->session, NGHTTP2_FLAG_NONE, 0, 2 * WINDOW_BYTES);
	return true;
}

void session_close(struct fast_connection *connection)
{
	nghttp2_session_del(connection->session);
	while (connection->streams)
		stream_free(connection->streams);
	bytes_free(&connection->out);
}
