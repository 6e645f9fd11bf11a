/* Who comes in: sent away with a word, or a session with the right that access.c gives. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/session_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPT_PAUSE_MS 1000

/* One line of why, if it goes out at once; the other end may be anybody. */
static void send_away(int fd, const struct error *err)
{
	json_t *object = json_pack("{s:o}", "error", error_to_json(err));
	char *line = frame_print(object);
	ssize_t ignored = send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);

	(void)ignored;
	json_decref(object);
	free(line);
	close(fd);
}

static void refuse_stranger(struct engine *engine, int fd, const struct peer *peer)
{
	struct error err = { 0 };

	log_warn(engine->log, "session", NULL, "a stranger was sent away", FIELD_INT("uid", peer->uid), FIELD_INT("pid", peer->pid));
	fail(&err, ERROR_ACCESS, "not_a_member", "user %lld may not connect to this engine", (long long)peer->uid);
	send_away(fd, &err);
}

static void refuse_one_more(struct engine *engine, int fd)
{
	struct error err = { 0 };

	log_warn(engine->log, "session", NULL, "too many sessions, one was sent away", FIELD_TEXT("code", "too_many_sessions"));
	fail(&err, ERROR_UNREACHABLE, "too_many_sessions", "%d sessions are connected already", engine->session_count);
	send_away(fd, &err);
}

/* Whom the owner lets in can never keep the owner out. */
static bool is_full(const struct engine *engine, enum access access)
{
	return engine->session_count >= (access == ADMIN ? SESSIONS_MAX : SESSIONS_MAX - SESSIONS_RESERVED);
}

/* Out of descriptors or memory: who waits stays in the queue, and poll would find them there again at once. */
static void pause_accepting(struct engine *engine, int why)
{
	if (why == EAGAIN || why == EWOULDBLOCK || why == EINTR || why == ECONNABORTED)
		return;
	log_warn(engine->log, "session", NULL, "cannot take a session now", FIELD_TEXT("why", strerror(why)));
	engine->accept_from_ms = clock_mono_ms() + ACCEPT_PAUSE_MS;
}

struct session *session_open(struct engine *engine, int fd, enum access access, const struct peer *peer)
{
	struct session *session = memory_zalloc(sizeof(*session));

	session->engine = engine;
	session->fd = fd;
	outbox_open(&session->out, fd, OUTBOX_BYTES_MAX);
	session->access = access;
	session->peer = *peer;
	session->hello_until_ms = clock_mono_ms() + HELLO_WAIT_MS;
	session->next = engine->sessions;
	engine->sessions = session;
	engine->session_count++;
	return session;
}

void spares_fill(struct engine *engine)
{
	while (engine->spare_count < SPARE_FDS) {
		int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			return;
		engine->spare_fds[engine->spare_count++] = fd;
	}
}

void spares_close(struct engine *engine)
{
	while (engine->spare_count)
		close(engine->spare_fds[--engine->spare_count]);
}

/* An engine without descriptors is asked what is wrong with it: for that some are kept. */
static int accept_one(struct engine *engine)
{
	int fd = accept4(engine->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0 || !engine->spare_count || (errno != EMFILE && errno != ENFILE))
		return fd;
	spares_close(engine);
	return accept4(engine->listen_fd, NULL, NULL, SOCK_CLOEXEC);
}

void server_accept(struct engine *engine)
{
	int fd = accept_one(engine);
	enum access access;
	struct peer peer = { 0 };

	if (fd < 0) {
		pause_accepting(engine, errno);
		return;
	}
	if (!access_of_peer(engine, fd, &access, &peer)) {
		refuse_stranger(engine, fd, &peer);
		return;
	}
	if (is_full(engine, access)) {
		refuse_one_more(engine, fd);
		return;
	}
	session_open(engine, fd, access, &peer);
}
