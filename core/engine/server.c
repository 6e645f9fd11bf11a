/*
 * Sessions: who may connect, the hello, one call at a time a session. The call's
 * own thread writes its answer and waits for a slow reader; the control thread
 * reads, answers what needs no work, and never waits.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/session_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES 65536
/* A reader that takes nothing for so long is closed: a pager may keep an answer for a while, but a session that also
 * watches events or has sent more calls has no reason to. */
#define STALL_PAGER_MS (10 * 60 * 1000)
#define STALL_MS (10 * 1000)
#define LAST_WORDS_MS 2000 /* for answers that are being written when the engine ends */

int session_fd(const struct session *session)
{
	return session->is_closing ? -1 : session->fd;
}

struct session *session_next(const struct session *session)
{
	return session->next;
}

short session_events(struct session *session)
{
	bool is_full = session->used > FRAME_BYTES_MAX;
	short events = session->has_ended_input || is_full ? 0 : POLLIN;

	return outbox_wants_room(&session->out) ? (short)(events | POLLOUT) : events;
}

/* By the call's thread; waits while the other end does not read. */
static bool send_object(struct session *session, json_t *object)
{
	char *line = frame_print(object);
	bool is_sent = line && outbox_write(&session->out, line, strlen(line));

	json_decref(object);
	free(line);
	return is_sent;
}

bool session_post(struct session *session, json_t *object)
{
	char *line = frame_print(object);
	bool is_posted = line && outbox_post(&session->out, line, strlen(line));

	json_decref(object);
	free(line);
	return is_posted;
}

void session_post_error(struct session *session, int64_t id, const struct error *err)
{
	/* Who does not even read errors is of no use to anybody. */
	if (!session_post(session, json_pack("{s:I, s:o}", "id", (json_int_t)id, "error", error_to_json(err))))
		session->is_closing = true;
}

/*
 * Who
 */

static bool peer_access(int fd, enum access *out, struct peer *out_peer)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		return false;
	*out_peer = (struct peer){ .uid = peer.uid, .pid = peer.pid };
	if (peer.uid != 0 && peer.uid != geteuid())
		return false;
	*out = ADMIN;
	return true;
}

/* One line of why, if it goes out at once; the other end may be anybody. */
static void send_away(int fd)
{
	struct error err = { 0 };
	json_t *object;
	char *line;
	ssize_t ignored;

	fail(&err, ERROR_UNREACHABLE, "too_many_sessions", "%d sessions are connected already", SESSIONS_MAX);
	object = json_pack("{s:o}", "error", error_to_json(&err));
	line = frame_print(object);
	ignored = send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)ignored;
	json_decref(object);
	free(line);
	close(fd);
}

void server_accept(struct engine *engine)
{
	int fd = accept4(engine->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	enum access access;
	struct peer peer = { 0 };
	struct session *session;

	if (fd < 0)
		return;
	if (!peer_access(fd, &access, &peer)) {
		log_warn(engine->log, "session", NULL, "a stranger was sent away", FIELD_INT("uid", peer.uid));
		close(fd);
		return;
	}
	if (engine->session_count >= SESSIONS_MAX) {
		log_warn(engine->log, "session", NULL, "too many sessions, one was sent away", FIELD_TEXT("code", "too_many_sessions"));
		send_away(fd);
		return;
	}
	session = memory_zalloc(sizeof(*session));
	session->engine = engine;
	session->fd = fd;
	outbox_open(&session->out, fd, OUTBOX_BYTES_MAX);
	session->access = access;
	session->peer = peer;
	session->hello_until_ms = clock_mono_ms() + HELLO_WAIT_MS;
	session->next = engine->sessions;
	engine->sessions = session;
	engine->session_count++;
}

/*
 * Calls
 */

static void call_send_note(struct call *call, const char *sentence)
{
	struct session *session = call->context;

	send_object(session, json_pack("{s:I, s:s}", "id", (json_int_t)session->id, "note", sentence));
}

/* An object that fits into no frame is left out, and said to be: the exit status tells scripts. */
static bool call_send_line(struct call *call, json_t *line)
{
	struct session *session = call->context;
	json_t *object = json_pack("{s:I, s:o}", "id", (json_int_t)session->id, "line", line);
	char *frame = frame_print(object);
	bool is_sent;

	json_decref(object);
	if (!frame) {
		session->has_cut = true;
		call_note(call, "an object of the answer is longer than %u bytes and was left out", FRAME_BYTES_MAX);
		return true;
	}
	is_sent = outbox_write(&session->out, frame, strlen(frame));
	free(frame);
	return is_sent;
}

static void *call_main(void *context)
{
	struct session *session = context;
	struct error err = { 0 };

	if (call_dispatch(session->call, session->name, &err))
		send_object(session, json_pack("{s:I, s:{s:i}}", "id", (json_int_t)session->id, "ok", "exit",
		                               session->has_cut && !session->call->exit ? 1 : session->call->exit));
	else
		send_object(session, json_pack("{s:I, s:o}", "id", (json_int_t)session->id, "error", error_to_json(&err)));
	atomic_store(&session->call_has_ended, true);
	engine_wake(session->engine);
	return NULL;
}

static void start_call(struct session *session, const json_t *frame)
{
	const char *name = json_string_value(json_object_get(frame, "call"));
	json_t *args = json_object_get(frame, "args");
	int64_t id = json_integer_value(json_object_get(frame, "id"));
	struct error err = { 0 };

	if (!name || strlen(name) >= sizeof(session->name)) {
		fail(&err, ERROR_USAGE, "bad_frame", "a frame has 'call' with the name of a command and 'id' with a number");
		session_post_error(session, id, &err);
		return;
	}
	if (events_call(session, name, id, args))
		return;
	session->id = id;
	memcpy(session->name, name, strlen(name) + 1);
	session->call = memory_zalloc(sizeof(*session->call));
	*session->call = (struct call){
		.engine = session->engine,
		.args = json_is_object(args) ? json_incref(args) : json_object(),
		.access = session->access,
		.peer = session->peer,
		.send_line = call_send_line,
		.send_note = call_send_note,
		.context = session,
	};
	session->has_cut = false;
	atomic_store(&session->call_has_ended, false);
	pthread_create(&session->thread, NULL, call_main, session);
}

static void take_hello(struct session *session, const json_t *frame)
{
	const json_t *hello = json_object_get(frame, "hello");
	int64_t theirs = json_integer_value(json_object_get(hello, "protocol"));
	struct error err = { 0 };

	if (!json_is_object(hello))
		fail(&err, ERROR_USAGE, "bad_frame", "the first line must be a hello: {\"hello\":{\"protocol\":%d}}",
		     PROTOCOL_VERSION);
	else if (theirs != PROTOCOL_VERSION)
		fail(&err, ERROR_UNREACHABLE, "protocol_differs",
		     "this engine speaks protocol %d, the client %lld; let both come from one version", PROTOCOL_VERSION,
		     (long long)theirs);
	if (err.kind != ERROR_NONE) {
		session_post(session, json_pack("{s:o}", "error", error_to_json(&err)));
		session->is_closing = true;
		return;
	}
	session->has_greeted = true;
	peer_set_ssh(&session->peer, json_string_value(json_object_get(hello, "ssh")));
	session_post(session, json_pack("{s:{s:i, s:s, s:s, s:i}}", "hello", "protocol", PROTOCOL_VERSION, "program", "weird",
	                               "access", access_name(session->access), "pid", (int)getpid()));
}

/* False: the frame must wait, a call is still running. */
static bool take_frame(struct session *session, const json_t *frame)
{
	struct error err = { 0 };

	if (session->call && !json_object_get(frame, "cancel"))
		return false;
	if (!json_is_object(frame)) {
		fail(&err, ERROR_USAGE, "bad_frame", "a frame is one JSON object a line");
		session_post_error(session, 0, &err);
		session->is_closing = true;
	} else if (!session->has_greeted) {
		take_hello(session, frame);
	} else if (json_object_get(frame, "cancel")) {
		if (session->call)
			atomic_store(&session->call->is_cancelled, true);
	} else {
		start_call(session, frame);
	}
	return true;
}

static bool take_line(struct session *session, const char *line, size_t len)
{
	json_t *frame = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	bool is_taken = take_frame(session, frame);

	json_decref(frame);
	return is_taken;
}

static void refuse_long_line(struct session *session)
{
	struct error err = { 0 };

	fail(&err, ERROR_USAGE, "bad_frame", "a line is longer than %u bytes", FRAME_BYTES_MAX);
	session_post_error(session, 0, &err);
	session->is_closing = true;
}

static void take_lines(struct session *session)
{
	char *at = session->buffer;
	char *end = session->buffer + session->used;
	char *newline;

	while (!session->is_closing && (newline = memchr(at, '\n', (size_t)(end - at))) &&
	       take_line(session, at, (size_t)(newline - at)))
		at = newline + 1;
	session->used = (size_t)(end - at);
	if (session->used)
		memmove(session->buffer, at, session->used);
	/* Calls that wait behind a running one may be many; one line may not be longer than this. */
	if (session->used > FRAME_BYTES_MAX && !memchr(session->buffer, '\n', session->used))
		refuse_long_line(session);
}

/* Nobody is there any more. A call that still writes sees it; a running job does not care. */
static void leave(struct session *session)
{
	session->is_closing = true;
	if (session->call)
		atomic_store(&session->call->is_gone, true);
	outbox_break(&session->out);
}

static void read_input(struct session *session)
{
	ssize_t n;

	if (session->room - session->used < READ_BYTES) {
		session->room = session->used + READ_BYTES;
		session->buffer = memory_grow(session->buffer, session->room);
	}
	n = recv(session->fd, session->buffer + session->used, READ_BYTES, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		leave(session);
		return;
	}
	if (n == 0)
		session->has_ended_input = true;
	session->used += (size_t)n;
	take_lines(session);
}

void server_serve(struct session *session, short revents)
{
	if (revents & POLLOUT)
		outbox_flush(&session->out);
	if (revents & POLLIN)
		read_input(session);
	/* What was sent before the other end went is still taken: `echo CALL | socat` closes early. */
	if ((revents & (POLLERR | POLLNVAL)) || ((revents & POLLHUP) && !(revents & POLLIN)))
		leave(session);
}

static void end_call(struct session *session)
{
	pthread_join(session->thread, NULL);
	json_decref(session->call->args);
	free(session->call);
	session->call = NULL;
}

static void free_session(struct session *session)
{
	events_forget(session);
	outbox_close(&session->out);
	close(session->fd);
	free(session->buffer);
	free(session);
}

static bool is_deaf(struct session *session, int64_t now_ms)
{
	long long since_ms = atomic_load(&session->out.stalled_ms);
	bool has_more = session->subscription_count || session->used || !session->call;

	return since_ms && now_ms - since_ms > (has_more ? STALL_MS : STALL_PAGER_MS);
}

/* The other end has sent all it will, and has been answered; who watches events stays until it goes. */
static bool is_served(struct session *session)
{
	return session->has_ended_input && !session->call && !session->subscription_count &&
	       !outbox_pending(&session->out);
}

static void sweep_session(struct session *session, int64_t now_ms)
{
	if (session->call && atomic_load(&session->call_has_ended)) {
		end_call(session);
		take_lines(session);
	}
	if (!session->has_greeted && now_ms > session->hello_until_ms)
		session->is_closing = true;
	if (is_served(session))
		session->is_closing = true;
	if (!session->is_closing && (is_deaf(session, now_ms) || atomic_load(&session->out.is_broken)))
		leave(session);
}

void server_sweep(struct engine *engine, int64_t now_ms)
{
	struct session **link = &engine->sessions;

	while (*link) {
		struct session *session = *link;

		sweep_session(session, now_ms);
		if (session->call || !session->is_closing) {
			link = &session->next;
			continue;
		}
		*link = session->next;
		engine->session_count--;
		free_session(session);
	}
}

void server_close_all(struct engine *engine)
{
	int64_t until_ms = clock_mono_ms() + LAST_WORDS_MS;

	for (struct session *s = engine->sessions; s; s = s->next) {
		s->is_closing = true;
		if (s->call)
			atomic_store(&s->call->is_cancelled, true);
	}
	while (engine->sessions) {
		struct session *session = engine->sessions;

		/* A call whose answer nobody reads would keep the engine. */
		while (session->call && !atomic_load(&session->call_has_ended) && clock_mono_ms() < until_ms)
			clock_sleep_ms(5);
		if (session->call && !atomic_load(&session->call_has_ended))
			leave(session);
		if (session->call)
			end_call(session);
		outbox_flush(&session->out);
		engine->sessions = session->next;
		free_session(session);
	}
}
