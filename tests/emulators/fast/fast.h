/*
 * A gRPC server in C for speed tests: h2c on this machine, one thread, nghttp2. It does what a service says and nothing
 * else: no checks of metadata, no faults (those are the Go servers' trade). What is fast enough here is not in the way of
 * what is measured.
 */
#ifndef WEIR_TESTS_FAST_H
#define WEIR_TESTS_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fast_stream;

struct fast_service {
	const char *path;                 /* "/weir.test.Echo/Bidi"; NULL ends the table */
	/* A whole message, lent. */
	void (*on_message)(struct fast_stream *stream, const uint8_t *at, size_t len);
	/* The client sends no more. */
	void (*on_end)(struct fast_stream *stream);
};

/* Listens on 127.0.0.1, prints {"port":N} as a line and serves until standard input ends. The exit status. */
int fast_serve(const struct fast_service *services);

/* Before fast_serve: about so often this is called, and what it has woken is sent. */
void fast_every_ms(int ms, void (*on_turn)(void));

/* Asks for more whenever little of the stream waits to be sent, and says when it is gone. */
struct fast_feeder {
	void (*on_room)(struct fast_stream *stream, void *context);
	void (*on_close)(void *context);
	void *context;
};
void fast_feed(struct fast_stream *stream, const struct fast_feeder *feeder);
/* on_room has something again. */
void fast_wake(struct fast_stream *stream);

/* Sends a message, or ends the call with a status of gRPC. */
void fast_send(struct fast_stream *stream, const uint8_t *at, size_t len);
void fast_finish(struct fast_stream *stream, int status);

/* A place for what a service keeps with a call: NULL at first, freed (`free`) with it. */
void **fast_own(struct fast_stream *stream);

#endif
