/*
 * A connection's life: look-up, connect, TLS, the server's SETTINGS, then bytes in
 * both directions until one side ends it. All on the client's thread.
 */
#include "google/grpc_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>


#define TCP_SILENCE_MS 60000
#define ADDRESS_MS 3000 /* for one of several addresses: a packet that is dropped on the way gets no answer at all */

bool connection_is_open(const struct grpc_connection *connection)
{
	return connection->state != CONNECTION_DEAD && !connection->is_draining;
}

/*
 * The end.
 */
static void end_calls(struct grpc_connection *connection, const char *reason, const char *message)
{
	struct grpc_call *call = connection->client->placed.first, *after;

	for (; call; call = after) {
		after = call->after;
		if (call->connection != connection)
			continue;
		call_detach_locked(call, true, 0);
		call_end_locked(call, GRPC_UNAVAILABLE, reason, message);
	}
}

/* Whoever waits for this connection learns why there is none; if there is another they go on waiting for that. */
static void opening_failed(struct grpc_connection *connection, const char *reason, const char *message)
{
	struct grpc_client *client = connection->client;

	client->failure_reason = reason;
	snprintf(client->failure, sizeof(client->failure), "%s", message);
	client->dial_after_ms = clock_mono_ms() + backoff_next(&client->backoff, 0);
	for (struct grpc_connection *c = client->connections; c; c = c->next) {
		if (connection_is_open(c))
			return;
	}
	calls_fail_waiting_locked(client);
}

void connection_lost_locked(struct grpc_connection *connection, const char *reason, const char *format, ...)
{
	bool was_open = connection->state == CONNECTION_READY;
	char message[TEXT_BYTES];
	va_list args;

	if (connection->state == CONNECTION_DEAD)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	connection->state = CONNECTION_DEAD;
	connection->has_more = false;
	if (connection->goaway[0]) {
		reason = "going_away";
		snprintf(message, sizeof(message), "%s", connection->goaway);
	}
	end_calls(connection, reason, message);
	if (!was_open)
		opening_failed(connection, reason, message);
}

static void socket_close(struct grpc_connection *connection)
{
	SSL_free(connection->ssl);
	connection->ssl = NULL;
	if (connection->fd >= 0)
		close(connection->fd);
	connection->fd = -1;
}

void connection_free(struct grpc_connection *connection)
{
	nghttp2_session_del(connection->session);
	socket_close(connection);
	lookup_free(connection->lookup);
	free(connection->out);
	free(connection);
}

/*
 * The beginning.
 */
void connection_dial_locked(struct grpc_client *client, int64_t now_ms)
{
	struct grpc_connection *connection = memory_zalloc(sizeof(*connection));
	const struct endpoint *endpoint = &client->setup.endpoint;

	connection->client = client;
	connection->fd = -1;
	connection->open_by_ms = now_ms + client->setup.connect_ms;
	connection->lookup = lookup_start(endpoint->host, endpoint->port, client->wake);
	connection->next = client->connections;
	client->connections = connection;
	client->counts.dials++;
	connection->has_more = true; /* the look-up may be done already */
}

void connection_watch(struct grpc_connection *connection, bool wants_write)
{
	struct epoll_event event = { .events = EPOLLIN | (wants_write ? EPOLLOUT : 0), .data.ptr = connection };

	if (connection->wants_write == wants_write)
		return;
	connection->wants_write = wants_write;
	epoll_ctl(connection->client->epoll, EPOLL_CTL_MOD, connection->fd, &event);
}

/* A peer that is gone without a word is noticed by TCP, also when nothing is to be read. */
static void socket_prepare(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },    { SOL_SOCKET, SO_KEEPALIVE, 1 },  { IPPROTO_TCP, TCP_KEEPIDLE, 30 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 10 }, { IPPROTO_TCP, TCP_KEEPCNT, 3 }, { IPPROTO_TCP, TCP_USER_TIMEOUT, TCP_SILENCE_MS },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(options[i].value));
}

static bool connect_begin(struct grpc_connection *connection)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT, .data.ptr = connection };
	const struct addrinfo *a = connection->address;

	connection->fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connection->fd < 0)
		return false;
	socket_prepare(connection->fd);
	if (connect(connection->fd, a->ai_addr, a->ai_addrlen) != 0 && errno != EINPROGRESS)
		return false;
	connection->wants_write = true;
	connection->next_address_ms = a->ai_next ? clock_mono_ms() + ADDRESS_MS : 0;
	connection->state = CONNECTION_CONNECTING;
	return epoll_ctl(connection->client->epoll, EPOLL_CTL_ADD, connection->fd, &event) == 0;
}

/* From `address` on, the first that takes a connection; an emulator's must all be on this machine. */
static void connect_next(struct grpc_connection *connection)
{
	const struct endpoint *endpoint = &connection->client->setup.endpoint;
	int number = ECONNREFUSED;

	for (; connection->address; connection->address = connection->address->ai_next) {
		if (endpoint->is_emulator && !address_is_local(connection->address->ai_addr)) {
			connection_lost_locked(connection, "not_local", "'%s' leads to another machine", endpoint->host);
			return;
		}
		if (connect_begin(connection))
			return;
		number = errno;
		socket_close(connection);
	}
	connection_lost_locked(connection, "not_connected", "%s: %s", endpoint->authority, strerrordesc_np(number));
}

static void looked_up(struct grpc_connection *connection)
{
	const struct endpoint *endpoint = &connection->client->setup.endpoint;
	const char *why;

	connection->has_more = false;
	if (!lookup_done(connection->lookup, &connection->address, &why))
		return;
	if (!connection->address)
		connection_lost_locked(connection, "no_address", "%s: %s", endpoint->host, why);
	else
		connect_next(connection);
}

static void session_begin(struct grpc_connection *connection)
{
	connection->out_room = 2 * WRITE_BYTES;
	connection->out = memory_alloc(connection->out_room);
	connection->session = session_new(connection);
	connection->state = CONNECTION_OPENING;
	connection->heard_ms = clock_mono_ms();
}

static void handshake(struct grpc_connection *connection)
{
	const char *authority = connection->client->setup.endpoint.authority;
	int result = SSL_do_handshake(connection->ssl), error = SSL_get_error(connection->ssl, result);
	char text[TEXT_BYTES];
	const char *reason;

	if (result == 1) {
		if (tls_speaks_http2(connection->ssl))
			session_begin(connection);
		else
			connection_lost_locked(connection, "no_http2", "%s did not choose h2", authority);
		return;
	}
	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
		connection_watch(connection, error == SSL_ERROR_WANT_WRITE);
		return;
	}
	reason = tls_failure(connection->ssl, text, sizeof(text));
	connection_lost_locked(connection, reason, "%s: %s", authority, text);
}

static void connected(struct grpc_connection *connection)
{
	const struct endpoint *endpoint = &connection->client->setup.endpoint;
	socklen_t len = sizeof(int);
	int number = 0;

	getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &number, &len);
	if (number) {
		socket_close(connection);
		connection->address = connection->address->ai_next;
		if (connection->address)
			connect_next(connection);
		else
			connection_lost_locked(connection, "not_connected", "%s: %s", endpoint->authority, strerrordesc_np(number));
		return;
	}
	if (endpoint->is_plain) {
		session_begin(connection);
		return;
	}
	connection->ssl = tls_begin(connection->client->tls, endpoint->host, connection->fd);
	connection->state = CONNECTION_HANDSHAKING;
	if (connection->ssl)
		handshake(connection);
	else
		connection_lost_locked(connection, "tls_failed", "TLS cannot be begun for %s", endpoint->authority);
}

void connection_opened_locked(struct grpc_connection *connection)
{
	struct grpc_client *client = connection->client;

	if (connection->state != CONNECTION_OPENING)
		return;
	connection->state = CONNECTION_READY;
	connection->open_by_ms = 0;
	lookup_free(connection->lookup);
	connection->lookup = NULL;
	connection->address = NULL;
	client->failure_reason = NULL;
	client->dial_after_ms = 0;
	backoff_reset(&client->backoff);
}

/*
 * Time.
 */
int64_t connection_next_ms(const struct grpc_connection *connection)
{
	const struct grpc_setup *setup = &connection->client->setup;

	if (connection->state == CONNECTION_CONNECTING && connection->next_address_ms &&
	    connection->next_address_ms < connection->open_by_ms)
		return connection->next_address_ms;
	if (connection->state != CONNECTION_READY)
		return connection->open_by_ms;
	if (connection->ping_ms)
		return connection->ping_ms + setup->ping_ms;
	return connection->active ? connection->heard_ms + setup->silence_ms : 0;
}

void connection_tick_locked(struct grpc_connection *connection, int64_t now_ms)
{
	const struct grpc_setup *setup = &connection->client->setup;

	if (connection->state == CONNECTION_LOOKING_UP)
		looked_up(connection);
	if (connection->state == CONNECTION_DEAD)
		return;
	if (connection->state == CONNECTION_READY && connection->is_draining && !connection->active) {
		connection_lost_locked(connection, "going_away", "the server closed the connection");
		return;
	}
	if (!connection_next_ms(connection) || now_ms < connection_next_ms(connection))
		return;
	if (connection->state == CONNECTION_CONNECTING && now_ms < connection->open_by_ms) {
		socket_close(connection);
		connection->address = connection->address->ai_next;
		connect_next(connection);
	} else if (connection->state != CONNECTION_READY) {
		connection_lost_locked(connection, "not_connected", "%s did not answer within %d ms", setup->endpoint.authority,
		                       (int)setup->connect_ms);
	} else if (connection->ping_ms) {
		connection_lost_locked(connection, "lost", "no answer to a PING within %d ms", (int)setup->ping_ms);
	} else {
		nghttp2_submit_ping(connection->session, NGHTTP2_FLAG_NONE, NULL);
		connection->ping_ms = now_ms;
	}
}

/* Something happened on the socket. */
void connection_event(struct grpc_connection *connection, uint32_t events)
{
	struct grpc_client *client = connection->client;

	(void)events;
	if (connection->state == CONNECTION_OPENING || connection->state == CONNECTION_READY) {
		connection_read(connection);
		return;
	}
	pthread_mutex_lock(&client->lock);
	if (connection->state == CONNECTION_LOOKING_UP)
		looked_up(connection);
	else if (connection->state == CONNECTION_CONNECTING)
		connected(connection);
	else if (connection->state == CONNECTION_HANDSHAKING)
		handshake(connection);
	client_unlock(client);
}
