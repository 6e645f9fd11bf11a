/*
 * What a call receives: messages with a prefix of five bytes, which know nothing of
 * HTTP/2's frames. A message grows as its bytes come, so that a length alone costs
 * no more than the message before it did, and is refused by it before the first of
 * them.
 *
 * Room of the stream's window is given back when a message is taken. As long as none
 * waits to be taken, what came of the next one is given back at once: a message may
 * be larger than the window.
 */
#include "google/grpc_private.h"

#include "base/arena.h"

#include <stdlib.h>

#define FIRST_ROOM 4096
#define GROWTH 8 /* what has come is copied once more an eighth each time */

void grpc_message_free(struct grpc_message *message)
{
	free(message);
}

void in_drop(struct grpc_call *call)
{
	while (call->in_first) {
		struct grpc_message *message = call->in_first;

		call->in_first = message->next;
		grpc_message_free(message);
	}
	call->in_last = NULL;
	call->in_bytes = 0;
	grpc_message_free(call->partial);
	call->partial = NULL;
}

void in_return(struct grpc_call *call)
{
	uint64_t bytes = call->in_first ? call->return_bytes : call->unreturned_bytes;

	call->return_bytes = 0;
	if (!call->connection || !bytes)
		return;
	call->unreturned_bytes -= bytes;
	nghttp2_session_consume_stream(call->connection->session, call->stream, bytes);
}

static void refuse(struct grpc_call *call, enum grpc_code code, const char *reason, const char *message)
{
	call_detach_locked(call, false, NGHTTP2_CANCEL);
	call_end_locked(call, code, reason, message);
}

/* As much as the message before has really had, so that streams of like messages move nothing. */
static size_t first_room(const struct grpc_call *call, size_t len)
{
	size_t room = call->whole_len > FIRST_ROOM ? call->whole_len : FIRST_ROOM;

	return len < room ? len : room;
}

/* The five bytes are there: what kind of message, and how long. */
static bool begin_message(struct grpc_call *call)
{
	const unsigned char *p = call->prefix;
	size_t len = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
	size_t room = first_room(call, len);
	char text[TEXT_BYTES];

	if (p[0] > 1 || (p[0] == 1 && !call->has_encoding)) {
		refuse(call, GRPC_INTERNAL, "malformed", "the prefix of a message is none");
		return false;
	}
	if (p[0] == 1) {
		refuse(call, GRPC_UNIMPLEMENTED, "compressed", "only uncompressed messages were asked for");
		return false;
	}
	if (len > call->message_bytes) {
		snprintf(text, sizeof(text), "a message of %zu bytes, %zu are allowed", len, call->message_bytes);
		refuse(call, GRPC_RESOURCE_EXHAUSTED, "too_large", text);
		return false;
	}
	call->partial = memory_alloc(sizeof(*call->partial) + room);
	call->partial->next = NULL;
	call->partial->len = 0;
	call->partial->room = room;
	call->partial_len = len;
	return true;
}

static void grow_to(struct grpc_call *call, size_t wanted)
{
	struct grpc_message *partial = call->partial;
	size_t room = partial->room;

	if (wanted <= room)
		return;
	while (room < wanted)
		room *= GROWTH;
	if (room > call->partial_len)
		room = call->partial_len;
	partial = memory_grow(partial, sizeof(*partial) + room);
	partial->room = room;
	call->partial = partial;
}

static void end_message(struct grpc_call *call)
{
	if (call->in_last)
		call->in_last->next = call->partial;
	else
		call->in_first = call->partial;
	call->in_last = call->partial;
	call->in_bytes += call->partial->len + PREFIX_BYTES;
	call->whole_len = call->partial->len;
	call->partial = NULL;
	call->prefix_len = 0;
	call_changed_locked(call);
}

bool in_data(struct grpc_call *call, const uint8_t *at, size_t len)
{
	call->unreturned_bytes += len;
	while (len) {
		size_t wanted, n;

		if (!call->partial) {
			wanted = PREFIX_BYTES - call->prefix_len;
			n = len < wanted ? len : wanted;
			memcpy(call->prefix + call->prefix_len, at, n);
			call->prefix_len += n;
			if (call->prefix_len == PREFIX_BYTES && !begin_message(call))
				return false;
		} else {
			wanted = call->partial_len - call->partial->len;
			n = len < wanted ? len : wanted;
			grow_to(call, call->partial->len + n);
			memcpy(call->partial->bytes + call->partial->len, at, n);
			call->partial->len += n;
		}
		at += n;
		len -= n;
		/* A message without contents is whole with its prefix. */
		if (call->partial && call->partial->len == call->partial_len)
			end_message(call);
	}
	if (!call->in_first)
		in_return(call);
	return true;
}
