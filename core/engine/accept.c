/* Who may connect, and with what right: the kernel says who it is, the settings say what they may. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/session_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPT_PAUSE_MS 1000

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
