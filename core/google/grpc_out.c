/*
 * What a call sends. Messages stay in their list after they were sent until the
 * server answers, or until they are more than is worth holding: with all of them a
 * call that the server never began can be begun again.
 */
#include "google/grpc_private.h"

#include <stdlib.h>

static void free_before(struct grpc_call *call, const struct grpc_message *end)
{
	while (call->out_first != end) {
		struct grpc_message *message = call->out_first;

		call->out_first = message->next;
		grpc_message_free(message);
	}
	if (!call->out_first)
		call->out_last = NULL;
}

void out_commit(struct grpc_call *call)
{
	call->is_committed = true;
	call->held_bytes = 0;
	free_before(call, call->out_next);
}

void out_drop(struct grpc_call *call)
{
	call->out_next = NULL;
	call->out_offset = 0;
	call->unsent_bytes = 0;
	out_commit(call);
}

bool out_rewind(struct grpc_call *call)
{
	if (call->is_committed)
		return false;
	call->out_next = call->out_first;
	call->out_offset = 0;
	call->unsent_bytes += call->held_bytes;
	call->held_bytes = 0;
	call->is_deferred = false;
	return true;
}

static void count_sent(struct grpc_call *call, size_t bytes)
{
	bool was_full = call->unsent_bytes > call->unsent_limit;

	call->unsent_bytes -= bytes;
	if (!call->is_committed) {
		call->held_bytes += bytes;
		if (call->held_bytes > HELD_BYTES_MAX)
			out_commit(call);
	}
	if (was_full && call->unsent_bytes <= call->unsent_limit)
		call_changed_locked(call);
}

/* Copies from the messages, several if they are short. */
static size_t copy_out(struct grpc_call *call, uint8_t *at, size_t room)
{
	size_t copied = 0;

	while (copied < room && call->out_next) {
		struct grpc_message *message = call->out_next;
		size_t left = message->len - call->out_offset, n = left < room - copied ? left : room - copied;

		memcpy(at + copied, message->bytes + call->out_offset, n);
		copied += n;
		call->out_offset += n;
		if (call->out_offset < message->len)
			break;
		call->out_next = message->next;
		call->out_offset = 0;
		if (call->is_committed)
			free_before(call, call->out_next);
	}
	return copied;
}

/* nghttp2 asks for the next bytes of a stream. */
ssize_t out_read(nghttp2_session *session, int32_t stream, uint8_t *at, size_t room, uint32_t *flags,
                 nghttp2_data_source *source, void *context)
{
	struct grpc_call *call = nghttp2_session_get_stream_user_data(session, stream);
	size_t copied;

	(void)source;
	(void)context;
	if (!call) {
		*flags |= NGHTTP2_DATA_FLAG_EOF;
		return 0;
	}
	copied = copy_out(call, at, room);
	if (copied)
		count_sent(call, copied);
	if (call->is_finished && !call->out_next) {
		*flags |= NGHTTP2_DATA_FLAG_EOF;
		return (ssize_t)copied;
	}
	if (copied)
		return (ssize_t)copied;
	call->is_deferred = true;
	return NGHTTP2_ERR_DEFERRED;
}
