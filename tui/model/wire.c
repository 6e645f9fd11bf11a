/* A session that never waits; see wire.h. */
#include "model/wire.h"
#include "base/arena.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define OUT_BYTES_MAX (4u * FRAME_BYTES_MAX)
#define TRY_FIRST_MS 250
#define TRY_MOST_MS 8000

struct wire {
	const char *path;
	int fd;
	enum wire_state state;
	struct text *out;
	size_t sent;            /* of out */
	char *in;               /* FRAME_BYTES_MAX + 2 */
	size_t used, taken;     /* bytes in it; bytes of frames handed out */
	bool has_ended;         /* the other side has closed; what it said before is still to be read */
	int64_t due_ms, greeted_ms, lost_ms;
	int tries;
	unsigned connections;
	enum access access;
	bool only_looks;
	struct greeting greeting;
	struct error error;
};

struct wire *wire_new(const char *socket_path, bool only_looks)
{
	struct wire *wire = memory_zalloc(sizeof(*wire));

	wire->path = socket_path;
	wire->only_looks = only_looks;
	wire->fd = -1;
	wire->out = text_new(OUT_BYTES_MAX);
	return wire;
}

void wire_free(struct wire *wire)
{
	if (!wire)
		return;
	if (wire->fd >= 0)
		close(wire->fd);
	text_free(wire->out);
	free(wire->in);
	free(wire);
}

enum wire_state wire_state(const struct wire *wire)
{
	return wire->state;
}

int wire_fd(const struct wire *wire)
{
	return wire->fd;
}

bool wire_wants_out(const struct wire *wire)
{
	return wire->fd >= 0 && wire->sent < wire->out->len;
}

int64_t wire_due_ms(const struct wire *wire)
{
	if (wire->state == WIRE_OFF)
		return wire->due_ms;
	return wire->state == WIRE_GREETING ? wire->greeted_ms + HELLO_WAIT_MS : -1;
}

const struct error *wire_error(const struct wire *wire)
{
	return &wire->error;
}

int64_t wire_lost_ms(const struct wire *wire)
{
	return wire->lost_ms;
}

int wire_tries(const struct wire *wire)
{
	return wire->tries;
}

enum access wire_access(const struct wire *wire)
{
	return wire->access;
}

const struct greeting *wire_greeting(const struct wire *wire)
{
	return &wire->greeting;
}

unsigned wire_connections(const struct wire *wire)
{
	return wire->connections;
}

/* The buffers go with the connection: a console has three, and most of the time two rest. */
static void wire_lose(struct wire *wire, int64_t now_ms)
{
	int64_t pause = (int64_t)TRY_FIRST_MS << (wire->tries < 5 ? wire->tries : 5);

	if (wire->fd >= 0)
		close(wire->fd);
	free(wire->in);
	wire->in = NULL;
	wire->fd = -1;
	wire->used = wire->taken = wire->sent = 0;
	wire->has_ended = false;
	text_clear(wire->out);
	if (wire->state == WIRE_READY || !wire->lost_ms)
		wire->lost_ms = now_ms;
	wire->state = WIRE_OFF;
	wire->tries++;
	wire->due_ms = now_ms + (pause < TRY_MOST_MS ? pause : TRY_MOST_MS);
}

static json_t *hello_frame(const struct wire *wire)
{
	return json_pack("{s:{s:i, s:s, s:s*, s:s*}}", "hello", "protocol", PROTOCOL_VERSION, "program", "weir", "ssh",
	                 getenv("SSH_CONNECTION"), "access", wire->only_looks ? access_name(VIEW) : NULL);
}

/* Short: it stands in a bar of the screen. */
static const char *why_not(int error_number)
{
	static const struct {
		int number;
		const char *why;
	} table[] = { { ENOENT, "no socket" }, { ECONNREFUSED, "connection refused" }, { EAGAIN, "it takes no connections" } };

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (table[i].number == error_number)
			return table[i].why;
	}
	return strerror(error_number);
}

static void wire_connect(struct wire *wire, int64_t now_ms)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	wire->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (wire->fd >= 0 && strlen(wire->path) < sizeof(address.sun_path)) {
		memcpy(address.sun_path, wire->path, strlen(wire->path) + 1);
		if (connect(wire->fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
			wire->in = memory_alloc(FRAME_BYTES_MAX + 2);
			wire->state = WIRE_GREETING;
			wire->greeted_ms = now_ms;
			wire_put(wire, hello_frame(wire));
			return;
		}
	}
	memset(&wire->error, 0, sizeof(wire->error));
	if (errno == EACCES || errno == EPERM)
		fail_errno(&wire->error, errno, "the engine's socket is closed to this user");
	else
		fail(&wire->error, ERROR_UNREACHABLE, "engine_not_running", "%s", why_not(errno));
	wire_lose(wire, now_ms);
}

bool wire_put(struct wire *wire, json_t *frame)
{
	char *line = frame_print(frame);
	bool is_taken = line && text_add(wire->out, line);

	json_decref(frame);
	free(line);
	return is_taken;
}

static bool wire_send(struct wire *wire)
{
	while (wire->sent < wire->out->len) {
		ssize_t n = send(wire->fd, wire->out->at + wire->sent, wire->out->len - wire->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK;
		wire->sent += (size_t)n;
	}
	text_clear(wire->out);
	wire->sent = 0;
	return true;
}

static bool wire_receive(struct wire *wire, bool *out_came)
{
	memmove(wire->in, wire->in + wire->taken, wire->used - wire->taken);
	wire->used -= wire->taken;
	wire->taken = 0;
	while (wire->used <= FRAME_BYTES_MAX) {
		ssize_t n = recv(wire->fd, wire->in + wire->used, FRAME_BYTES_MAX + 1 - wire->used, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK;
		if (n == 0)
			return false;
		wire->used += (size_t)n;
		*out_came = true;
	}
	return true;
}

/* A whole line as JSON, or NULL; *out_is_bad tells a line that is none. */
static json_t *next_frame(struct wire *wire, bool *out_is_bad)
{
	char *begin = wire->in + wire->taken;
	char *newline = wire->in ? memchr(begin, '\n', wire->used - wire->taken) : NULL;
	json_t *frame;

	*out_is_bad = false;
	if (!newline) {
		*out_is_bad = wire->in && wire->used - wire->taken > FRAME_BYTES_MAX;
		return NULL;
	}
	frame = json_loadb(begin, (size_t)(newline - begin), JSON_ALLOW_NUL, NULL);
	wire->taken += (size_t)(newline - begin) + 1;
	if (json_is_object(frame))
		return frame;
	*out_is_bad = true;
	json_decref(frame);
	return NULL;
}

/* Why this is no hello that can be talked with; it says so in the error. */
static bool is_refused(struct wire *wire, const json_t *frame)
{
	const json_t *hello = json_object_get(frame, "hello");

	memset(&wire->error, 0, sizeof(wire->error));
	if (!hello && json_is_object(json_object_get(frame, "error")))
		error_from_json(json_object_get(frame, "error"), &wire->error);
	else if (!json_is_integer(json_object_get(hello, "protocol")))
		fail(&wire->error, ERROR_BUG, "bad_answer", "the engine answered the hello with something else");
	return wire->error.kind != ERROR_NONE;
}

static void text_take_of(const json_t *hello, const char *name, char *out, size_t room)
{
	const char *text = json_string_value(json_object_get(hello, name));

	snprintf(out, room, "%s", text ? text : "");
}

static void greeted(struct wire *wire, const json_t *frame, int64_t now_ms)
{
	const json_t *hello = json_object_get(frame, "hello");
	const char *access = json_string_value(json_object_get(hello, "access"));

	if (is_refused(wire, frame)) {
		wire_lose(wire, now_ms);
		return;
	}
	wire->access = VIEW;
	for (enum access a = VIEW; a <= ADMIN; a++) {
		if (access && strcmp(access, access_name(a)) == 0)
			wire->access = a;
	}
	wire->greeting.protocol = json_integer_value(json_object_get(hello, "protocol"));
	wire->greeting.is_production = json_is_true(json_object_get(hello, "production"));
	text_take_of(hello, "version", wire->greeting.version, sizeof(wire->greeting.version));
	text_take_of(hello, "name", wire->greeting.name, sizeof(wire->greeting.name));
	wire->state = WIRE_READY;
	wire->connections++;
	wire->tries = 0;
	wire->lost_ms = 0;
}

void wire_adopt(struct wire *wire, int fd, const json_t *greeting, int64_t now_ms)
{
	if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
		close(fd);
		return;
	}
	wire->fd = fd;
	wire->in = memory_alloc(FRAME_BYTES_MAX + 2);
	greeted(wire, greeting, now_ms);
}

static void wire_fail(struct wire *wire, enum error_kind kind, const char *code, const char *message, int64_t now_ms)
{
	fail(&wire->error, kind, code, "%s", message);
	wire_lose(wire, now_ms);
}

/* Nothing more to read: either it has ended, or what came is no frame. */
static void wire_dry(struct wire *wire, bool is_bad, int64_t now_ms)
{
	if (is_bad)
		wire_fail(wire, ERROR_BUG, "bad_answer", "the engine sent what is no frame", now_ms);
	else if (wire->has_ended)
		wire_fail(wire, ERROR_UNREACHABLE, "connection_lost", "connection closed", now_ms);
}

static void greet_step(struct wire *wire, int64_t now_ms)
{
	bool is_bad;
	json_t *frame = next_frame(wire, &is_bad);

	if (frame)
		greeted(wire, frame, now_ms);
	else if (is_bad || wire->has_ended)
		wire_dry(wire, is_bad, now_ms);
	else if (now_ms >= wire->greeted_ms + HELLO_WAIT_MS)
		wire_fail(wire, ERROR_UNREACHABLE, "engine_not_running", "the engine does not answer the hello", now_ms);
	json_decref(frame);
}

bool wire_step(struct wire *wire, int64_t now_ms)
{
	enum wire_state before = wire->state;
	bool came = false;

	if (wire->state == WIRE_OFF && now_ms >= wire->due_ms)
		wire_connect(wire, now_ms);
	if (wire->fd < 0)
		return wire->state != before;
	/* Whom the engine sends away it does not hear, but it has said why: read also when nothing can be sent. */
	wire->has_ended |= !wire_send(wire);
	wire->has_ended |= !wire_receive(wire, &came);
	if (wire->state == WIRE_GREETING) {
		greet_step(wire, now_ms);
		return wire->state != before;
	}
	return came || wire->has_ended;
}

void wire_flush(struct wire *wire)
{
	if (wire_wants_out(wire))
		wire_send(wire);
}

json_t *wire_take(struct wire *wire)
{
	bool is_bad;
	json_t *frame = wire->state == WIRE_READY ? next_frame(wire, &is_bad) : NULL;

	if (!frame && wire->state == WIRE_READY)
		wire_dry(wire, is_bad, clock_mono_ms());
	return frame;
}
