/* A call as its caller sees it, and how it ends. */
#include "google/grpc_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define MESSAGE_BYTES (20U << 20)
#define UNSENT_BYTES (1U << 20)

/* All texts of the headers in one block, so that a call has few allocations. */
static void copy_headers(struct grpc_call *call, const struct grpc_request *request)
{
	size_t bytes = strlen(request->path) + 1;
	char *at;

	for (size_t i = 0; i < request->metadata_count; i++)
		bytes += strlen(request->metadata[i].name) + strlen(request->metadata[i].value) + 2;
	call->pairs = memory_alloc((request->metadata_count + 1) * sizeof(*call->pairs));
	call->headers = at = memory_alloc(bytes);
	call->path = at;
	at = stpcpy(at, request->path) + 1;
	for (size_t i = 0; i < request->metadata_count; i++) {
		call->pairs[i].name = at;
		at = stpcpy(at, request->metadata[i].name) + 1;
		call->pairs[i].value = at;
		at = stpcpy(at, request->metadata[i].value) + 1;
	}
	call->pair_count = request->metadata_count;
}

static struct grpc_call *call_new(struct grpc_client *client, const struct grpc_request *request)
{
	struct grpc_call *call = memory_zalloc(sizeof(*call));

	assert(request->metadata_count <= GRPC_PAIRS_MAX);
	call->client = client;
	clock_cond_init(&call->changed);
	copy_headers(call, request);
	call->deadline_at_ms = request->deadline_ms ? clock_mono_ms() + request->deadline_ms : 0;
	call->message_bytes = request->message_bytes ? request->message_bytes : MESSAGE_BYTES;
	call->unsent_limit = request->unsent_bytes ? request->unsent_bytes : UNSENT_BYTES;
	call->on_ready = request->on_ready;
	call->context = request->context;
	call->reason = "";
	return call;
}

struct grpc_call *grpc_start(struct grpc_client *client, const struct grpc_request *request)
{
	struct grpc_call *call = call_new(client, request);

	pthread_mutex_lock(&client->lock);
	call_list_move(call, &client->waiting);
	client->call_count++;
	if (call->deadline_at_ms && (!client->next_deadline_ms || call->deadline_at_ms < client->next_deadline_ms))
		client->next_deadline_ms = call->deadline_at_ms;
	client_kick_locked(call);
	client_unlock(client);
	return call;
}

static void leave_list(struct grpc_call *call)
{
	if (call->before)
		call->before->after = call->after;
	else
		call->list->first = call->after;
	if (call->after)
		call->after->before = call->before;
	else
		call->list->last = call->before;
	call->before = call->after = NULL;
}

void call_list_move(struct grpc_call *call, struct call_list *to)
{
	if (call->list)
		leave_list(call);
	call->list = to;
	if (!to)
		return;
	call->before = to->last;
	if (to->last)
		to->last->after = call;
	else
		to->first = call;
	to->last = call;
}

void call_free_locked(struct grpc_call *call)
{
	out_drop(call);
	in_drop(call);
	pthread_cond_destroy(&call->changed);
	free(call->details);
	free(call->headers);
	free(call->pairs);
	free(call);
}

void call_changed_locked(struct grpc_call *call)
{
	if (call->waiters && !call->is_changed) {
		call->is_changed = true;
		call->next_changed = call->client->changed;
		call->client->changed = call;
	}
	if (call->on_ready && !call->is_abandoned)
		call->on_ready(call->context);
}

void call_detach_locked(struct grpc_call *call, bool is_closed, uint32_t error)
{
	struct grpc_connection *connection = call->connection;

	if (!connection)
		return;
	nghttp2_session_set_stream_user_data(connection->session, call->stream, NULL);
	if (!is_closed) {
		/* What came and was not taken leaves with the stream; only the connection's window outlives it. */
		nghttp2_submit_rst_stream(connection->session, NGHTTP2_FLAG_NONE, call->stream, error);
	}
	call->connection = NULL;
	call->stream = 0;
}

void call_end_locked(struct grpc_call *call, enum grpc_code code, const char *reason, const char *message)
{
	struct grpc_client *client = call->client;

	if (call->has_ended)
		return;
	call->has_ended = true;
	call->code = code;
	call->reason = reason;
	if (message)
		snprintf(call->message, sizeof(call->message), "%s", message);
	out_drop(call);
	grpc_message_free(call->partial);
	call->partial = NULL;
	call_list_move(call, NULL);
	client->call_count--;
	call_changed_locked(call);
}

/* The client's thread still knows it as long as it is kicked or has not ended; then that thread frees it. */
void grpc_call_free(struct grpc_call *call)
{
	struct grpc_client *client = call ? call->client : NULL;

	if (!call)
		return;
	pthread_mutex_lock(&client->lock);
	call->is_abandoned = true;
	if (call->has_ended && !call->is_kicked)
		call_free_locked(call);
	else
		client_kick_locked(call);
	client_unlock(client);
}

void grpc_call_freep(struct grpc_call **call)
{
	grpc_call_free(*call);
}

void grpc_cancel(struct grpc_call *call)
{
	pthread_mutex_lock(&call->client->lock);
	call->is_cancelled = true;
	client_kick_locked(call);
	client_unlock(call->client);
}

static struct timespec moment(int64_t mono_ms)
{
	return (struct timespec){ .tv_sec = mono_ms / 1000, .tv_nsec = mono_ms % 1000 * 1000000 };
}

/* False: `wait_ms` passed without a change. `until_ms` is -1 for ever. */
static bool wait_locked(struct grpc_call *call, int64_t until_ms)
{
	struct timespec until = moment(until_ms);
	int number;

	call->waiters++;
	if (until_ms < 0)
		number = pthread_cond_wait(&call->changed, &call->client->lock);
	else
		number = pthread_cond_timedwait(&call->changed, &call->client->lock, &until);
	call->waiters--;
	return number != ETIMEDOUT;
}

static int64_t until_of(int64_t wait_ms)
{
	return wait_ms < 0 ? -1 : wait_ms == 0 ? 0 : clock_mono_ms() + wait_ms;
}

struct grpc_message *grpc_message_make(size_t bytes, char **out_bytes)
{
	struct grpc_message *message = memory_alloc(sizeof(*message) + PREFIX_BYTES + bytes);
	char *at = message->bytes;

	message->next = NULL;
	message->len = message->room = PREFIX_BYTES + bytes;
	at[0] = 0;
	for (int i = 0; i < 4; i++)
		at[1 + i] = (char)(bytes >> (24 - 8 * i));
	*out_bytes = at + PREFIX_BYTES;
	return message;
}

static void append_out(struct grpc_call *call, struct grpc_message *message, bool is_last)
{
	if (message) {
		if (call->out_last)
			call->out_last->next = message;
		else
			call->out_first = message;
		call->out_last = message;
		if (!call->out_next)
			call->out_next = message;
		call->unsent_bytes += message->len;
	}
	call->is_finished = call->is_finished || is_last;
	client_kick_locked(call);
}

enum grpc_outcome grpc_send(struct grpc_call *call, struct span bytes, bool is_last, int64_t wait_ms)
{
	char *room;
	struct grpc_message *message = grpc_message_make(bytes.len, &room);

	if (bytes.len)
		memcpy(room, bytes.at, bytes.len);
	return grpc_send_made(call, message, is_last, wait_ms);
}

enum grpc_outcome grpc_send_made(struct grpc_call *call, struct grpc_message *message, bool is_last, int64_t wait_ms)
{
	int64_t until_ms = until_of(wait_ms);
	enum grpc_outcome outcome = GRPC_DONE;

	pthread_mutex_lock(&call->client->lock);
	while (!call->has_ended && call->unsent_bytes > call->unsent_limit && outcome == GRPC_DONE) {
		if (until_ms == 0 || !wait_locked(call, until_ms))
			outcome = GRPC_TIMEOUT;
	}
	if (call->has_ended || call->is_finished)
		outcome = GRPC_ENDED;
	if (outcome == GRPC_DONE) {
		append_out(call, message, is_last);
		message = NULL;
	}
	client_unlock(call->client);
	grpc_message_free(message);
	return outcome;
}

void grpc_finish(struct grpc_call *call)
{
	pthread_mutex_lock(&call->client->lock);
	if (!call->has_ended)
		append_out(call, NULL, true);
	client_unlock(call->client);
}

/* The thread is woken only when there is so much room again that the server's window may run short. */
static struct grpc_message *take_locked(struct grpc_call *call)
{
	struct grpc_message *message = call->in_first;

	call->in_first = message->next;
	if (!call->in_first)
		call->in_last = NULL;
	message->next = NULL;
	call->in_bytes -= message->len + PREFIX_BYTES;
	call->return_bytes += message->len + PREFIX_BYTES;
	if (!call->in_first)
		call->return_bytes = call->unreturned_bytes;
	if (!call->has_ended && call->return_bytes >= call->client->setup.stream_window_bytes / 4)
		client_kick_locked(call);
	return message;
}

enum grpc_outcome grpc_receive(struct grpc_call *call, struct grpc_message **out, int64_t wait_ms)
{
	int64_t until_ms = until_of(wait_ms);
	enum grpc_outcome outcome = GRPC_DONE;
	struct grpc_message *message = NULL;

	pthread_mutex_lock(&call->client->lock);
	while (!call->in_first && !call->has_ended && outcome == GRPC_DONE) {
		if (until_ms == 0 || !wait_locked(call, until_ms))
			outcome = GRPC_TIMEOUT;
	}
	if (call->in_first) {
		message = take_locked(call);
		outcome = GRPC_DONE;
	} else if (call->has_ended) {
		outcome = GRPC_ENDED;
	}
	client_unlock(call->client);
	if (outcome == GRPC_DONE)
		*out = message;
	return outcome;
}
