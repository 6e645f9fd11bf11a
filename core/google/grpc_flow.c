/* Calls on the client's thread: what their callers asked for, and which connection takes them. */
#include "google/grpc_private.h"

#include "base/clock.h"

static void look_at(struct grpc_call *call)
{
	if (call->has_ended) {
		if (call->is_abandoned)
			call_free_locked(call);
		return;
	}
	if (call->is_cancelled || call->is_abandoned) {
		call_detach_locked(call, false, NGHTTP2_CANCEL);
		call_end_locked(call, GRPC_CANCELLED, GIVEN_UP, "we gave the call up");
		if (call->is_abandoned)
			call_free_locked(call);
		return;
	}
	if (!call->connection)
		return;
	if (call->is_deferred && (call->out_next || call->is_finished)) {
		call->is_deferred = false;
		nghttp2_session_resume_data(call->connection->session, call->stream);
	}
	in_return(call);
}

void calls_kicked_locked(struct grpc_client *client)
{
	while (client->kicked) {
		struct grpc_call *call = client->kicked;

		client->kicked = call->next_kicked;
		call->next_kicked = NULL;
		call->is_kicked = false;
		look_at(call);
	}
}

static size_t streams_allowed(const struct grpc_connection *connection)
{
	return nghttp2_session_get_remote_settings(connection->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

/* The one with the fewest streams, of those that take another. *out_coming: one may soon. */
static struct grpc_connection *connection_for(struct grpc_client *client, size_t *out_open, bool *out_coming)
{
	struct grpc_connection *best = NULL;

	*out_open = 0;
	*out_coming = false;
	for (struct grpc_connection *c = client->connections; c; c = c->next) {
		if (!connection_is_open(c))
			continue;
		(*out_open)++;
		if (c->state != CONNECTION_READY)
			*out_coming = true;
		else if (c->active < streams_allowed(c) && (!best || c->active < best->active))
			best = c;
	}
	return best;
}

/* False: it waits, and so must all behind it: a connection comes about, or all are full and no more are allowed. */
static bool place(struct grpc_call *call, int64_t now_ms)
{
	struct grpc_client *client = call->client;
	struct grpc_connection *connection;
	size_t open;
	bool is_coming;

	connection = connection_for(client, &open, &is_coming);
	if (connection) {
		if (session_submit(connection, call, now_ms))
			call_list_move(call, &client->placed);
		else
			call_end_locked(call, GRPC_INTERNAL, "malformed", "the request cannot be sent: its headers are not allowed");
		return true;
	}
	if (is_coming || open >= client->setup.connection_count_max)
		return false;
	if (now_ms >= client->dial_after_ms) {
		connection_dial_locked(client, now_ms);
		return false;
	}
	if (open)
		return false;
	/* Nothing to wait for: whoever asks waits before the next try, as the table says. */
	call_end_locked(call, GRPC_UNAVAILABLE, client->failure_reason ? client->failure_reason : "not_connected",
	                client->failure);
	return true;
}

void calls_place_locked(struct grpc_client *client, int64_t now_ms)
{
	while (client->waiting.first && place(client->waiting.first, now_ms))
		;
}

void calls_fail_waiting_locked(struct grpc_client *client)
{
	while (client->waiting.first)
		call_end_locked(client->waiting.first, GRPC_UNAVAILABLE, client->failure_reason, client->failure);
}

/* Ends what is over in a list, and gives the earliest deadline of the rest; 0: none. */
static int64_t expire(struct call_list *list, int64_t now_ms, int64_t next_ms)
{
	struct grpc_call *call = list->first, *after;

	for (; call; call = after) {
		after = call->after;
		if (!call->deadline_at_ms)
			continue;
		if (now_ms >= call->deadline_at_ms) {
			call_detach_locked(call, false, NGHTTP2_CANCEL);
			call_end_locked(call, GRPC_DEADLINE_EXCEEDED, "deadline", "the time for the call is over");
		} else if (!next_ms || call->deadline_at_ms < next_ms) {
			next_ms = call->deadline_at_ms;
		}
	}
	return next_ms;
}

void client_expire_locked(struct grpc_client *client, int64_t now_ms)
{
	if (client->next_deadline_ms && now_ms >= client->next_deadline_ms)
		client->next_deadline_ms = expire(&client->placed, now_ms, expire(&client->waiting, now_ms, 0));
}
