/* The client's end of the socket: connect, greet, call. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "control/control.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CANCEL_POLL_MS 200

struct client {
	int fd;
	int64_t protocol;  /* of the engine */
	bool told_other;   /* that it is another than ours */
	int64_t next_id;
	char *buffer;      /* FRAME_BYTES_MAX + 2 */
	size_t used;       /* bytes in it */
	size_t line_end;   /* of the frame handed out last */
	json_t *greeting;  /* the engine's answer to the hello */
};

static int connect_socket(const char *path, struct error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		fail_errno(err, errno, "cannot make a socket");
		return -1;
	}
	/* home_find has refused longer ones; what is cut off here names nothing. */
	memcpy(address.sun_path, path, strnlen(path, sizeof(address.sun_path) - 1));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	if (errno == EACCES || errno == EPERM)
		fail_errno(err, errno, "the engine's socket '%s' is closed to this user", path);
	else
		fail(err, ERROR_UNREACHABLE, "engine_not_running", "no engine answers on '%s'", path);
	close(fd);
	return -1;
}

static bool lost(struct error *err)
{
	return fail(err, ERROR_UNREACHABLE, "connection_lost", "the engine closed the connection");
}

static bool send_frame(struct client *client, json_t *object, struct error *err)
{
	char *line = frame_print(object);
	size_t len = line ? strlen(line) : 0;
	size_t sent = 0;

	json_decref(object);
	if (!line)
		return fail(err, ERROR_USAGE, "frame_too_long", "the call is longer than %u bytes", FRAME_BYTES_MAX);
	while (sent < len) {
		ssize_t n = send(client->fd, line + sent, len - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		sent += (size_t)n;
	}
	free(line);
	return sent == len || lost(err);
}

/* A whole line in the buffer, or NULL. */
static char *buffered_line(struct client *client)
{
	char *newline;

	memmove(client->buffer, client->buffer + client->line_end, client->used - client->line_end);
	client->used -= client->line_end;
	client->line_end = 0;
	newline = memchr(client->buffer, '\n', client->used);
	if (!newline)
		return NULL;
	*newline = '\0';
	client->line_end = (size_t)(newline - client->buffer) + 1;
	return client->buffer;
}

/* Waits for the next frame; false with err unset (kind NONE) when `wait_ms` passed. */
static bool receive_frame(struct client *client, int64_t wait_ms, json_t **out, struct error *err)
{
	char *line;

	while (!(line = buffered_line(client))) {
		struct pollfd poll_fd = { .fd = client->fd, .events = POLLIN };
		int ready = poll(&poll_fd, 1, (int)wait_ms);
		ssize_t n;

		if (ready == 0 || (ready < 0 && errno == EINTR))
			return false;
		if (client->used > FRAME_BYTES_MAX)
			return fail(err, ERROR_BUG, "bad_answer", "the engine sent a line over %u bytes", FRAME_BYTES_MAX);
		n = recv(client->fd, client->buffer + client->used, FRAME_BYTES_MAX + 1 - client->used, 0);
		if (n <= 0)
			return lost(err);
		client->used += (size_t)n;
	}
	*out = json_loads(line, JSON_ALLOW_NUL, NULL); /* a key may have one */
	return *out || fail(err, ERROR_BUG, "bad_answer", "the engine sent a line that is not JSON");
}

static bool greet(struct client *client, struct error *err)
{
	const char *ssh = getenv("SSH_CONNECTION");
	json_t *hello = json_pack("{s:{s:i, s:s, s:s*}}", "hello", "protocol", PROTOCOL_VERSION, "program", "weir", "ssh",
	                          ssh);
	struct error failure = { 0 };
	json_t *answer = NULL;
	bool is_greeted = false;
	json_t *theirs;

	/* Whom the engine sends away it does not hear, but it has said why. */
	send_frame(client, hello, &failure);
	failure = (struct error){ 0 };
	if (!receive_frame(client, HELLO_WAIT_MS, &answer, &failure)) {
		if (failure.kind == ERROR_NONE)
			return fail(err, ERROR_UNREACHABLE, "engine_not_running", "the engine does not answer the hello");
		*err = failure;
		return false;
	}
	theirs = json_object_get(answer, "hello");
	if (!theirs && json_object_get(answer, "error"))
		error_from_json(json_object_get(answer, "error"), err);
	else if (!json_is_integer(json_object_get(theirs, "protocol")))
		fail(err, ERROR_BUG, "bad_answer", "the engine answered the hello with something else");
	else
		client->protocol = json_integer_value(json_object_get(theirs, "protocol")), is_greeted = true;
	client->greeting = answer;
	return is_greeted;
}

struct client *client_open(const struct home *home, struct error *err)
{
	struct client *client;
	struct error failure = { 0 };
	int fd = connect_socket(home->socket, err);

	if (fd < 0)
		return NULL;
	client = memory_zalloc(sizeof(*client));
	client->fd = fd;
	client->next_id = 1;
	client->buffer = memory_alloc(FRAME_BYTES_MAX + 2);
	if (!greet(client, &failure)) {
		client_close(client);
		/* An engine that dies while it is greeted is none. */
		if (strcmp(failure.code, "connection_lost") == 0)
			fail(err, ERROR_UNREACHABLE, "engine_not_running", "the engine on '%s' went away", home->socket);
		else
			*err = failure;
		return NULL;
	}
	return client;
}

void client_close(struct client *client)
{
	if (!client)
		return;
	if (client->fd >= 0)
		close(client->fd);
	json_decref(client->greeting);
	free(client->buffer);
	free(client);
}

int client_release(struct client *client, json_t **out_greeting)
{
	int fd = client->fd;

	*out_greeting = json_incref(client->greeting);
	client->fd = -1;
	client_close(client);
	return fd;
}

/* Handles one frame of call `id`. True: it was the last; *out_is_fine says how it ended. */
static bool take_frame(const json_t *frame, int64_t id, const struct client_hooks *hooks, int *out_exit,
                       bool *out_is_fine, struct error *err)
{
	const json_t *line = json_object_get(frame, "line");
	const json_t *note = json_object_get(frame, "note");
	const json_t *fine = json_object_get(frame, "ok");

	if (json_integer_value(json_object_get(frame, "id")) != id)
		return false;
	if (line && hooks->on_line)
		hooks->on_line(hooks->context, line);
	if (note && hooks->on_note)
		hooks->on_note(hooks->context, json_string_value(note));
	if (line || note)
		return false;
	*out_is_fine = fine != NULL;
	if (fine)
		*out_exit = (int)json_integer_value(json_object_get(fine, "exit"));
	else
		error_from_json(json_object_get(frame, "error"), err);
	return true;
}

/* Looking works with an engine of another version, as far as it knows the call; of acts only the one that ends it. */
static bool may_call(struct client *client, const char *call, const struct client_hooks *hooks, struct error *err)
{
	char sentence[200];

	if (client->protocol == PROTOCOL_VERSION)
		return true;
	snprintf(sentence, sizeof(sentence), "the engine speaks protocol %lld, this program %d: looking works, acts are off",
	         (long long)client->protocol, PROTOCOL_VERSION);
	if (!command_is_safe(call))
		return fail(err, ERROR_UNREACHABLE, "protocol_differs", "%s", sentence);
	if (hooks->on_note && !client->told_other)
		hooks->on_note(hooks->context, sentence);
	client->told_other = true;
	return true;
}

bool client_call(struct client *client, const char *call, json_t *args, const struct client_hooks *hooks,
                 int *out_exit, struct error *err)
{
	int64_t id = client->next_id++;
	struct error failure = { 0 };
	bool is_fine = false;

	if (!may_call(client, call, hooks, err)) {
		json_decref(args);
		return false;
	}
	if (!send_frame(client, json_pack("{s:I, s:s, s:o}", "id", (json_int_t)id, "call", call, "args", args), err))
		return false;
	for (;;) {
		json_t *frame = NULL;
		bool is_last;

		if (hooks->wants_cancel && hooks->wants_cancel(hooks->context) &&
		    !send_frame(client, json_pack("{s:I}", "cancel", (json_int_t)id), err))
			return false;
		if (!receive_frame(client, CANCEL_POLL_MS, &frame, &failure)) {
			if (failure.kind == ERROR_NONE)
				continue;
			*err = failure;
			return false;
		}
		is_last = take_frame(frame, id, hooks, out_exit, &is_fine, err);
		json_decref(frame);
		if (is_last)
			return is_fine;
	}
}
