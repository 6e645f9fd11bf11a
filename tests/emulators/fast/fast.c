/* Sockets of the fast server: one thread, epoll, whole buffers. */
#include "fast_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES (256u << 10)
#define WRITE_BYTES (256u << 10) /* gathered before it is written */
#define EVENTS 64

struct server {
	int epoll, listener;
	const struct fast_service *services;
	struct fast_connection *connections;
	uint8_t read_buffer[READ_BYTES];
};

static void watch(int epoll, int how, int fd, uint32_t events, void *what)
{
	struct epoll_event event = { .events = events, .data.ptr = what };

	if (epoll_ctl(epoll, how, fd, &event) != 0)
		abort();
}

/* False: the socket takes no more for now. */
static bool flush(struct fast_connection *connection)
{
	struct bytes *out = &connection->out;

	while (out->begin < out->end) {
		ssize_t n = send(connection->fd, out->at + out->begin, out->end - out->begin, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			connection->is_dead = connection->is_dead || errno != EAGAIN;
			return false;
		}
		out->begin += (size_t)n;
	}
	return true;
}

static void write_out(struct fast_connection *connection)
{
	const uint8_t *at;
	ssize_t n;

	while (flush(connection)) {
		while (connection->out.end - connection->out.begin < WRITE_BYTES &&
		       (n = nghttp2_session_mem_send(connection->session, &at)) > 0)
			bytes_add(&connection->out, at, (size_t)n);
		if (connection->out.begin == connection->out.end)
			break;
	}
	if (!nghttp2_session_want_read(connection->session) && !nghttp2_session_want_write(connection->session))
		connection->is_dead = true;
}

static void read_in(struct server *server, struct fast_connection *connection)
{
	ssize_t n = recv(connection->fd, server->read_buffer, READ_BYTES, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || nghttp2_session_mem_recv(connection->session, server->read_buffer, (size_t)n) != n)
		connection->is_dead = true;
}

static void serve(struct server *server, struct fast_connection *connection, uint32_t events)
{
	bool wants_write;

	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		read_in(server, connection);
	if (!connection->is_dead)
		write_out(connection);
	wants_write = connection->out.begin < connection->out.end;
	if (!connection->is_dead && wants_write != connection->wants_write) {
		connection->wants_write = wants_write;
		watch(server->epoll, EPOLL_CTL_MOD, connection->fd, EPOLLIN | (wants_write ? EPOLLOUT : 0u), connection);
	}
}

static void take_connection(struct server *server)
{
	int fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), one = 1;
	struct fast_connection *connection;

	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	connection = calloc(1, sizeof(*connection));
	if (!connection)
		abort();
	connection->fd = fd;
	connection->services = server->services;
	connection->next = server->connections;
	server->connections = connection;
	connection->is_dead = !session_open(connection);
	watch(server->epoll, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT, connection);
	connection->wants_write = true;
}

/* When the round is over: no event of it means one of these any more. */
static void bury(struct server *server, bool all)
{
	struct fast_connection **at = &server->connections, *connection;

	while ((connection = *at)) {
		if (!all && !connection->is_dead) {
			at = &connection->next;
			continue;
		}
		*at = connection->next;
		close(connection->fd);
		session_close(connection);
		free(connection);
	}
}

static int listen_here(int *out_port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 128) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
		perror("fast");
		return -1;
	}
	*out_port = ntohs(address.sin_port);
	return fd;
}

/* Whoever started us holds the other end of standard input: when it is gone, so are we. */
static bool input_has_ended(void)
{
	char ignored[256];

	return read(STDIN_FILENO, ignored, sizeof(ignored)) <= 0;
}

static int turn_ms = -1; /* never */
static void (*on_turn)(void);

void fast_every_ms(int ms, void (*given)(void))
{
	turn_ms = ms;
	on_turn = given;
}

static void take_turn(struct server *server)
{
	if (!on_turn)
		return;
	on_turn();
	for (struct fast_connection *c = server->connections; c; c = c->next) {
		if (!c->is_dead)
			serve(server, c, 0);
	}
}

int fast_serve(const struct fast_service *services)
{
	struct server *server = calloc(1, sizeof(*server));
	struct epoll_event events[EVENTS];
	bool goes_on = true;
	int port, count;

	if (!server || (server->listener = listen_here(&port)) < 0)
		return 1;
	signal(SIGPIPE, SIG_IGN);
	server->services = services;
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	watch(server->epoll, EPOLL_CTL_ADD, server->listener, EPOLLIN, &server->listener);
	watch(server->epoll, EPOLL_CTL_ADD, STDIN_FILENO, EPOLLIN, NULL);
	printf("{\"port\":%d}\n", port);
	fflush(stdout);
	while (goes_on && ((count = epoll_wait(server->epoll, events, EVENTS, turn_ms)) >= 0 || errno == EINTR)) {
		for (int i = 0; i < count; i++) {
			if (!events[i].data.ptr)
				goes_on = !input_has_ended();
			else if (events[i].data.ptr == &server->listener)
				take_connection(server);
			else
				serve(server, events[i].data.ptr, events[i].events);
		}
		take_turn(server);
		bury(server, false);
	}
	bury(server, true);
	close(server->listener);
	close(server->epoll);
	free(server);
	return 0;
}
