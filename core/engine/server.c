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
#define LAST_WORDS_MS 2000 /* for answers that are being written when the session or the engine ends */
#define LAST_CALL_MS 10000 /* and for calls that still do something else when the engine ends */
#define ACCEPT_PAUSE_MS 1000

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

/* What is too long for a frame is told from nobody who reads: in its place goes what it was and why it is not here. */
static char *print_frame(const json_t *object)
{
	static const char *const members[] = { "id", "event", "seq" };
	char *line = frame_print(object);
	struct error err = { 0 };
	json_t *instead;

	if (line)
		return line;
	fail(&err, ERROR_RECORD, "answer_too_large", "this is longer than %u bytes and was left out", FRAME_BYTES_MAX);
	instead = json_pack("{s:o}", "error", error_to_json(&err));
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		json_object_set(instead, members[i], json_object_get(object, members[i]));
	line = frame_print(instead);
	json_decref(instead);
	return line;
}

/* By the call's thread; waits while the other end does not read. */
static bool send_object(struct session *session, json_t *object)
{
	char *line = print_frame(object);
	bool is_sent = line && outbox_write(&session->out, line, strlen(line));

	json_decref(object);
	free(line);
	return is_sent;
}

bool session_post(struct session *session, json_t *object)
{
	char *line = print_frame(object);
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

/* Out of descriptors or memory: who waits stays in the queue, and poll would find them there again at once. */
static void pause_accepting(struct engine *engine, int why)
{
	if (why == EAGAIN || why == EWOULDBLOCK || why == EINTR || why == ECONNABORTED)
		return;
	log_warn(engine->log, "session", NULL, "cannot take a session now", FIELD_TEXT("why", strerror(why)));
	engine->accept_from_ms = clock_mono_ms() + ACCEPT_PAUSE_MS;
}

void server_accept(struct engine *engine)
{
	int fd = accept4(engine->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	enum access access;
	struct peer peer = { 0 };
	struct session *session;

	if (fd < 0) {
		pause_accepting(engine, errno);
		return;
	}
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

/* Which one it was, as far as it has a name. */
static void describe(const json_t *line, char *out, size_t room)
{
	static const char *const members[] = { "job", "table", "group", "id" };
	OWNED(text) words = text_new(room - 1);

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const json_t *value = json_object_get(line, members[i]);

		if (json_is_string(value))
			text_add_format(words, " %s %.100s", members[i], json_string_value(value));
		else if (json_is_integer(value))
			text_add_format(words, " %s %lld", members[i], (long long)json_integer_value(value));
	}
	memcpy(out, words->at, words->len + 1);
}

/* An object that fits into no frame is left out; the others go on, and the call fails when it has ended. */
static void leave_out(struct session *session, const json_t *line)
{
	if (!session->left_out++)
		describe(line, session->left_out_first, sizeof(session->left_out_first));
}

static bool call_send_line(struct call *call, json_t *line)
{
	struct session *session = call->context;
	json_t *object = json_pack("{s:I, s:O?}", "id", (json_int_t)session->id, "line", line);
	char *frame = line ? frame_print(object) : NULL;
	bool is_sent = true;

	if (frame)
		is_sent = outbox_write(&session->out, frame, strlen(frame));
	else
		leave_out(session, line);
	json_decref(object);
	json_decref(line);
	free(frame);
	return is_sent;
}

/* What went wrong in the call itself is worse than an answer with holes. */
static bool dispatch(struct session *session, struct error *err)
{
	if (!call_dispatch(session->call, session->name, err))
		return false;
	if (!session->left_out)
		return true;
	return fail(err, ERROR_RECORD, "answer_too_large", "%d objects of the answer are longer than %u bytes and were left out; "
	            "the first:%s", session->left_out, FRAME_BYTES_MAX,
	            *session->left_out_first ? session->left_out_first : " one without a name");
}

static void *call_main(void *context)
{
	struct session *session = context;
	struct error err = { 0 };

	if (dispatch(session, &err))
		send_object(session, json_pack("{s:I, s:{s:i}}", "id", (json_int_t)session->id, "ok", "exit",
		                               session->call->exit));
	else
		send_object(session, json_pack("{s:I, s:o}", "id", (json_int_t)session->id, "error", error_to_json(&err)));
	atomic_store(&session->call_has_ended, true);
	engine_wake(session->engine);
	return NULL;
}

/*
 * Cancels. They are seen while their call runs, also behind calls that wait; those for a call that waits are kept.
 */

static void take_cancel(struct session *session, const json_t *value)
{
	int64_t id = json_integer_value(value);

	if (!session->call)
		return;
	if (!json_is_integer(value) || id == session->id)
		atomic_store(&session->call->is_cancelled, true);
	else
		session->cancelled[session->cancelled_count++ % CANCELS_KEPT] = id;
}

static bool was_cancelled(struct session *session, int64_t id)
{
	size_t count = session->cancelled_count < CANCELS_KEPT ? session->cancelled_count : CANCELS_KEPT;

	for (size_t i = 0; i < count; i++) {
		if (session->cancelled[i] == id)
			return true;
	}
	return false;
}

static void end_call(struct session *session)
{
	json_decref(session->call->args);
	free(session->call);
	session->call = NULL;
}

static void start_call(struct session *session, const json_t *frame)
{
	const char *name = json_string_value(json_object_get(frame, "call"));
	json_t *args = json_object_get(frame, "args");
	int64_t id = json_integer_value(json_object_get(frame, "id"));
	struct error err = { 0 };
	int failed;

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
		.is_cancelled = was_cancelled(session, id),
		.peer = session->peer,
		.send_line = call_send_line,
		.send_note = call_send_note,
		.context = session,
	};
	session->left_out = 0;
	atomic_store(&session->call_has_ended, false);
	failed = pthread_create(&session->thread, NULL, call_main, session);
	if (failed == 0)
		return;
	end_call(session);
	fail(&err, ERROR_TRANSIENT, "no_threads", "cannot make a thread for the call: %s", strerror(failed));
	session_post_error(session, id, &err);
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

static void take_frame(struct session *session, const json_t *frame)
{
	struct error err = { 0 };

	if (!json_is_object(frame)) {
		fail(&err, ERROR_USAGE, "bad_frame", "a frame is one JSON object a line");
		session_post_error(session, 0, &err);
		session->is_closing = true;
	} else if (!session->has_greeted) {
		take_hello(session, frame);
	} else if (!json_object_get(frame, "cancel")) {
		start_call(session, frame);
	}
}

static void take_line(struct session *session, const char *line, size_t len)
{
	json_t *frame = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);

	take_frame(session, frame);
	json_decref(frame);
}

/* Lines that wait behind a running call: only a cancel is taken from them, and each is looked at once. */
static void look_ahead(struct session *session)
{
	char *at = session->buffer + session->looked;
	char *end = session->buffer + session->used;
	char *newline;

	for (; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
		json_t *frame;

		if (!memmem(at, (size_t)(newline - at), "cancel", 6))
			continue;
		frame = json_loadb(at, (size_t)(newline - at), JSON_REJECT_DUPLICATES, NULL);
		if (json_object_get(frame, "cancel"))
			take_cancel(session, json_object_get(frame, "cancel"));
		json_decref(frame);
	}
	session->looked = (size_t)(at - session->buffer);
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
	size_t taken;

	while (!session->is_closing && !session->call && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		take_line(session, at, (size_t)(newline - at));
		at = newline + 1;
	}
	taken = (size_t)(at - session->buffer);
	session->used -= taken;
	session->looked -= session->looked < taken ? session->looked : taken;
	if (taken && session->used)
		memmove(session->buffer, at, session->used);
	if (session->call)
		look_ahead(session);
	else
		session->cancelled_count = 0;
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

static void join_call(struct session *session)
{
	pthread_join(session->thread, NULL);
	end_call(session);
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

/* A session is freed when its call has ended: the call is told, and soon has nobody to write to. */
static void hurry(struct session *session, int64_t now_ms)
{
	atomic_store(&session->call->is_gone, true);
	if (!session->closed_by_ms)
		session->closed_by_ms = now_ms + LAST_WORDS_MS;
	else if (now_ms > session->closed_by_ms && !atomic_load(&session->out.is_broken))
		leave(session);
}

static void sweep_session(struct session *session, int64_t now_ms)
{
	if (session->call && atomic_load(&session->call_has_ended)) {
		join_call(session);
		take_lines(session);
	}
	if (!session->has_greeted && now_ms > session->hello_until_ms)
		session->is_closing = true;
	if (is_served(session))
		session->is_closing = true;
	if (!session->is_closing && (is_deaf(session, now_ms) || atomic_load(&session->out.is_broken)))
		leave(session);
	if (session->is_closing && session->call)
		hurry(session, now_ms);
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

static bool wait_for_call(struct session *session, int64_t until_ms)
{
	while (session->call && !atomic_load(&session->call_has_ended) && clock_mono_ms() < until_ms)
		clock_sleep_ms(5);
	return !session->call || atomic_load(&session->call_has_ended);
}

bool server_close_all(struct engine *engine)
{
	int64_t now_ms = clock_mono_ms();
	struct session **link = &engine->sessions;

	for (struct session *s = engine->sessions; s; s = s->next) {
		s->is_closing = true;
		if (s->call)
			atomic_store(&s->call->is_cancelled, true);
	}
	while (*link) {
		struct session *session = *link;

		/* A call whose answer nobody reads would keep the engine. */
		if (!wait_for_call(session, now_ms + LAST_WORDS_MS))
			leave(session);
		if (!wait_for_call(session, now_ms + LAST_CALL_MS)) {
			log_warn(engine->log, "session", NULL, "a call did not end and is left behind", FIELD_TEXT("call", session->name));
			link = &session->next;
			continue;
		}
		if (session->call)
			join_call(session);
		outbox_flush(&session->out);
		*link = session->next;
		free_session(session);
	}
	return !engine->sessions;
}
