/* Shared by the rooms of the fast server. */
#ifndef WEIR_TESTS_FAST_PRIVATE_H
#define WEIR_TESTS_FAST_PRIVATE_H

#include "fast.h"

#include <nghttp2/nghttp2.h>

#define PREFIX_BYTES 5
#define MESSAGE_BYTES_MAX (64u << 20)
#define WINDOW_BYTES (16 << 20)
#define ROOM_BYTES (256u << 10) /* less waits to be sent: there is room for more */

/* Bytes that wait: from `begin` to `end` of `room`. */
struct bytes {
	uint8_t *at;
	size_t begin, end, room;
};
void bytes_add(struct bytes *bytes, const void *at, size_t len);
void bytes_free(struct bytes *bytes);

struct fast_stream {
	struct fast_connection *connection;
	struct fast_stream *before, *after;
	int32_t id;
	const struct fast_service *service; /* NULL: there is none of that path */
	struct bytes in, out;
	struct fast_feeder feeder;
	bool is_deferred, has_ended;
	int status;
	void *own;
};

struct fast_connection {
	struct fast_connection *next;
	int fd;
	bool wants_write, is_dead;
	nghttp2_session *session;
	const struct fast_service *services;
	struct fast_stream *streams;
	struct bytes out;
};

/* Streams and frames (fast_session.c). */
bool session_open(struct fast_connection *connection);
void session_close(struct fast_connection *connection);

#endif
