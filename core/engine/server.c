/*
 * Sessions as the poll loop sees them: what poll found, late and deaf ones, their
 * end. The control thread's own, which never waits for a reader.
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
	session_take_lines(session);
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
		session_join_call(session);
		session->engine->call_ended_ms = now_ms;
		session_take_lines(session);
	}
	if (!session->has_greeted && now_ms > session->hello_until_ms)
		session->is_closing = true;
	session_refuse_half(session, now_ms);
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
		if (!s->call)
			continue;
		atomic_store(&s->call->is_cut, true);
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
			session_join_call(session);
		outbox_flush(&session->out);
		*link = session->next;
		free_session(session);
	}
	return !engine->sessions;
}
