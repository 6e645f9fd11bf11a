/* Bytes of a connection, plain or encrypted, between its socket and its session. */
#include "google/grpc_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <errno.h>
#include <sys/socket.h>

enum moved { MOVED, BLOCKED, BROKEN };

static enum moved of_tls(struct grpc_connection *connection, int result, char *why, size_t room)
{
	int error = SSL_get_error(connection->ssl, result);

	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
		return BLOCKED;
	tls_failure(connection->ssl, why, room);
	return BROKEN;
}

static enum moved read_some(struct grpc_connection *connection, size_t *out, char *why, size_t room)
{
	char *buffer = connection->client->read_buffer;
	ssize_t got;

	if (connection->ssl) {
		got = SSL_read(connection->ssl, buffer + *out, (int)(READ_BYTES - *out));
		if (got <= 0)
			return of_tls(connection, (int)got, why, room);
	} else {
		got = recv(connection->fd, buffer + *out, READ_BYTES - *out, 0);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return BLOCKED;
		if (got <= 0) {
			snprintf(why, room, "%s", got ? strerrordesc_np(errno) : "the server closed the connection");
			return BROKEN;
		}
	}
	*out += (size_t)got;
	return MOVED;
}

static void parse_locked(struct grpc_connection *connection, size_t len)
{
	ssize_t used = nghttp2_session_mem_recv(connection->session, (const uint8_t *)connection->client->read_buffer, len);

	connection->heard_ms = clock_mono_ms();
	connection->ping_ms = 0;
	if (used < 0)
		connection_lost_locked(connection, "malformed", "the server does not keep to HTTP/2: %s", nghttp2_strerror((int)used));
}

/* One buffer full a round, so that other connections have their turn. */
void connection_read(struct grpc_connection *connection)
{
	enum moved moved = MOVED;
	size_t len = 0;
	char why[TEXT_BYTES];

	while (moved == MOVED && len < READ_BYTES)
		moved = read_some(connection, &len, why, sizeof(why));
	pthread_mutex_lock(&connection->client->lock);
	connection->has_more = moved == MOVED;
	if (len)
		parse_locked(connection, len);
	if (moved == BROKEN)
		connection_lost_locked(connection, "lost", "%s", why);
	else if (moved == BLOCKED && connection->is_deaf)
		connection_lost_locked(connection, "lost", "the server takes nothing any more");
	client_unlock(connection->client);
}

/* nghttp2 gives one frame at a time, valid until it is asked again: they are gathered. */
static void gather_locked(struct grpc_connection *connection)
{
	connection->out_len = connection->out_sent = 0;
	while (connection->out_len < WRITE_BYTES) {
		const uint8_t *frame;
		ssize_t len = nghttp2_session_mem_send(connection->session, &frame);

		if (len < 0)
			connection_lost_locked(connection, "malformed", "frames cannot be made: %s", nghttp2_strerror((int)len));
		if (len <= 0)
			return;
		if (connection->out_len + (size_t)len > connection->out_room) {
			connection->out_room = connection->out_len + (size_t)len;
			connection->out = memory_grow(connection->out, connection->out_room);
		}
		memcpy(connection->out + connection->out_len, frame, (size_t)len);
		connection->out_len += (size_t)len;
	}
}

/* nghttp2 ends a session whose peer breaks the rules by a GOAWAY of its own; when that is written it wants nothing more. */
static void over_check_locked(struct grpc_connection *connection)
{
	if (connection->state != CONNECTION_DEAD && !connection->out_len && !nghttp2_session_want_read(connection->session) &&
	    !nghttp2_session_want_write(connection->session))
		connection_lost_locked(connection, "malformed", "the server does not keep to HTTP/2");
}

static enum moved write_some(struct grpc_connection *connection, char *why, size_t room)
{
	const char *at = connection->out + connection->out_sent;
	size_t left = connection->out_len - connection->out_sent;
	ssize_t sent;

	if (connection->ssl) {
		sent = SSL_write(connection->ssl, at, (int)left);
		if (sent <= 0)
			return of_tls(connection, (int)sent, why, room);
	} else {
		sent = send(connection->fd, at, left, MSG_NOSIGNAL);
		if (sent < 0 && (errno == EAGAIN || errno == EINTR))
			return BLOCKED;
		if (sent < 0) {
			snprintf(why, room, "%s", strerrordesc_np(errno));
			return BROKEN;
		}
	}
	connection->out_sent += (size_t)sent;
	return MOVED;
}

/* Until the socket is full or nothing is left to say. */
void connection_write(struct grpc_connection *connection)
{
	enum moved moved = MOVED;
	char why[TEXT_BYTES];

	if (!connection->session || connection->state == CONNECTION_DEAD || connection->is_deaf)
		return;
	while (moved == MOVED) {
		if (connection->out_sent == connection->out_len) {
			pthread_mutex_lock(&connection->client->lock);
			gather_locked(connection);
			over_check_locked(connection);
			client_unlock(connection->client);
			if (!connection->out_len || connection->state == CONNECTION_DEAD)
				break;
		}
		moved = write_some(connection, why, sizeof(why));
	}
	if (moved == BROKEN) {
		/* What the server said before it closed may still be there to be read: reading finds the end. */
		connection->out_len = connection->out_sent = 0;
		connection->is_deaf = connection->has_more = true;
	} else if (connection->state != CONNECTION_DEAD) {
		connection_watch(connection, moved == BLOCKED);
	}
}
