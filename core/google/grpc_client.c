/*
 * The client and its thread: one round looks at what callers asked for, hands
 * calls to connections, writes, sleeps until something happens, reads. Sockets are
 * read and written without the lock, so callers wait for each other and for
 * parsing only.
 */
#include "google/grpc_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS 32
#define STACK_BYTES (512U << 10)
#define LONGEST_SLEEP_MS 60000

#define OR(value, fallback) ((value) ? (value) : (fallback))

void client_unlock(struct grpc_client *client)
{
	while (client->changed) {
		struct grpc_call *call = client->changed;

		client->changed = call->next_changed;
		call->is_changed = false;
		pthread_cond_broadcast(&call->changed);
	}
	pthread_mutex_unlock(&client->lock);
}

void client_wake_locked(struct grpc_client *client)
{
	uint64_t one = 1;
	ssize_t written;

	if (!client->is_asleep)
		return;
	client->is_asleep = false;
	written = write(client->wake, &one, sizeof(one));
	(void)written; /* an eventfd that is full wakes, too */
}

void client_kick_locked(struct grpc_call *call)
{
	struct grpc_client *client = call->client;

	if (!call->is_kicked) {
		call->is_kicked = true;
		call->next_kicked = client->kicked;
		client->kicked = call;
	}
	client_wake_locked(client);
}

/* How long nothing has to be looked at. */
static int sleep_ms_locked(struct grpc_client *client, int64_t now_ms)
{
	int64_t until_ms = now_ms + LONGEST_SLEEP_MS;

	if (client->kicked || client->is_closing)
		return 0;
	if (client->next_deadline_ms && client->next_deadline_ms < until_ms)
		until_ms = client->next_deadline_ms;
	if (client->waiting.first && client->dial_after_ms > now_ms && client->dial_after_ms < until_ms)
		until_ms = client->dial_after_ms;
	for (struct grpc_connection *c = client->connections; c; c = c->next) {
		int64_t next_ms = connection_next_ms(c);

		if (c->has_more)
			return 0;
		if (next_ms && next_ms < until_ms)
			until_ms = next_ms;
	}
	return until_ms <= now_ms ? 0 : (int)(until_ms - now_ms);
}

static void bury_locked(struct grpc_client *client)
{
	struct grpc_connection **link = &client->connections;

	while (*link) {
		struct grpc_connection *connection = *link;

		if (connection->state == CONNECTION_DEAD) {
			*link = connection->next;
			connection_free(connection);
		} else {
			link = &connection->next;
		}
	}
}

static void drain_wake(struct grpc_client *client)
{
	uint64_t count;
	ssize_t got = read(client->wake, &count, sizeof(count));

	(void)got; /* nothing there: somebody else's look-up was faster */
}

/* What must happen before sleeping. */
static void prepare_locked(struct grpc_client *client)
{
	int64_t now_ms = clock_mono_ms();

	calls_kicked_locked(client);
	client_expire_locked(client, now_ms);
	for (struct grpc_connection *c = client->connections; c; c = c->next)
		connection_tick_locked(c, now_ms);
	bury_locked(client);
	calls_place_locked(client, now_ms);
}

/* False: the client is closed. */
static bool round_of(struct grpc_client *client)
{
	struct epoll_event events[EVENTS];
	int count, wait_ms;
	bool is_closing;

	pthread_mutex_lock(&client->lock);
	prepare_locked(client);
	client_unlock(client);
	for (struct grpc_connection *c = client->connections; c; c = c->next)
		connection_write(c);
	pthread_mutex_lock(&client->lock);
	bury_locked(client);
	wait_ms = sleep_ms_locked(client, clock_mono_ms());
	is_closing = client->is_closing;
	client->is_asleep = wait_ms > 0;
	client_unlock(client);
	if (is_closing)
		return false;
	count = epoll_wait(client->epoll, events, EVENTS, wait_ms);
	pthread_mutex_lock(&client->lock);
	client->is_asleep = false;
	client_unlock(client);
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == client)
			drain_wake(client);
		else
			connection_event(events[i].data.ptr, events[i].events);
	}
	/* What TLS has decrypted already is no event of the socket. */
	for (struct grpc_connection *c = client->connections; c; c = c->next) {
		if (c->has_more)
			connection_event(c, EPOLLIN);
	}
	return true;
}

static void *thread_main(void *argument)
{
	struct grpc_client *client = argument;

	while (round_of(client))
		;
	pthread_mutex_lock(&client->lock);
	for (struct grpc_connection *c = client->connections; c; c = c->next)
		connection_lost_locked(c, "lost", "the client was closed");
	bury_locked(client);
	client_unlock(client);
	return NULL;
}

/* Signals are for the engine's own thread; a write to a closed socket must not end the process. */
static bool start_thread(struct grpc_client *client)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	bool is_started;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	is_started = pthread_create(&client->thread, &attributes, thread_main, client) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return is_started;
}

static void client_free(struct grpc_client *client)
{
	if (client->epoll >= 0)
		close(client->epoll);
	if (client->wake >= 0)
		close(client->wake);
	SSL_CTX_free(client->tls);
	pthread_mutex_destroy(&client->lock);
	free(client->read_buffer);
	free(client->ca_file);
	free(client->user_agent);
	free(client);
}

static struct grpc_client *client_new(const struct grpc_setup *given)
{
	struct grpc_client *client = memory_zalloc(sizeof(*client));
	struct grpc_setup *setup = &client->setup;

	*setup = *given;
	setup->stream_window_bytes = OR(given->stream_window_bytes, 8U << 20);
	setup->connection_window_bytes = OR(given->connection_window_bytes, 16U << 20);
	setup->connection_count_max = OR(given->connection_count_max, 8);
	setup->connect_ms = OR(given->connect_ms, 20000);
	setup->silence_ms = OR(given->silence_ms, 300000);
	setup->ping_ms = OR(given->ping_ms, 20000);
	client->ca_file = memory_string(given->ca_file);
	client->user_agent = memory_string(OR(given->user_agent, "grpc-c-weir"));
	setup->ca_file = client->ca_file;
	setup->user_agent = client->user_agent;
	client->backoff = (struct backoff)BACKOFF(100, 20000, 2);
	client->read_buffer = memory_alloc(READ_BYTES);
	pthread_mutex_init(&client->lock, NULL);
	client->epoll = epoll_create1(EPOLL_CLOEXEC);
	client->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return client;
}

static bool client_begin(struct grpc_client *client, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = client };

	if (client->epoll < 0 || client->wake < 0 || epoll_ctl(client->epoll, EPOLL_CTL_ADD, client->wake, &event) != 0)
		return fail(err, ERROR_TRANSIENT, "no_descriptors", "cannot begin a connection: no more files may be opened");
	if (!client->setup.endpoint.is_plain) {
		client->tls = tls_new(client->ca_file, err);
		if (!client->tls)
			return false;
	}
	return start_thread(client) || fail(err, ERROR_TRANSIENT, "no_threads", "cannot begin a connection: no more threads may be started");
}

struct grpc_client *grpc_open(const struct grpc_setup *setup, struct error *err)
{
	struct grpc_client *client = client_new(setup);

	if (client_begin(client, err))
		return client;
	client_free(client);
	return NULL;
}

void grpc_close(struct grpc_client *client)
{
	if (!client)
		return;
	pthread_mutex_lock(&client->lock);
	client->is_closing = true;
	client_wake_locked(client);
	client_unlock(client);
	pthread_join(client->thread, NULL);
	calls_kicked_locked(client);
	assert(!client->waiting.first && !client->placed.first);
	client_free(client);
}

struct grpc_counts grpc_counts(struct grpc_client *client)
{
	struct grpc_counts counts;

	pthread_mutex_lock(&client->lock);
	counts = client->counts;
	counts.connections = 0;
	for (struct grpc_connection *c = client->connections; c; c = c->next)
		counts.connections += connection_is_open(c);
	counts.calls = client->call_count;
	client_unlock(client);
	return counts;
}
