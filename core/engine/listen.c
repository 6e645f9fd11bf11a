/*
 * The socket: made when the engine begins, and made again when it is gone. What lies in a folder of the session
 * (XDG_RUNTIME_DIR, the temporary folder) may be swept away under an engine that goes on; nobody would find it any more,
 * and its lock would keep a new one from beginning.
 */
#include "engine/engine.h"

#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static bool listen_socket(struct engine *engine, struct error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	mode_t old_mask;
	bool is_bound;

	if (strlen(engine->home->socket) >= sizeof(address.sun_path))
		return fail(err, ERROR_CONFIG, "socket_path_too_long", "'%s' is longer than %zu bytes", engine->home->socket,
		            sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, engine->home->socket, strlen(engine->home->socket) + 1);
	engine->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (engine->listen_fd < 0)
		return fail_errno(err, errno, "cannot make a socket");
	/* The lock is ours: a socket that lies there is a dead engine's. */
	unlink(engine->home->socket);
	old_mask = umask(0177);
	is_bound = bind(engine->listen_fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	umask(old_mask);
	if (!is_bound || listen(engine->listen_fd, SESSIONS_MAX) != 0)
		return fail_errno(err, errno, "cannot listen on '%s'", engine->home->socket);
	return true;
}

bool engine_listen(struct engine *engine, struct error *err)
{
	struct stat info;

	if (!listen_socket(engine, err))
		return false;
	engine->socket_inode = stat(engine->home->socket, &info) == 0 ? info.st_ino : 0;
	return true;
}

static bool is_there(const struct engine *engine)
{
	struct stat info;

	return lstat(engine->home->socket, &info) == 0 ? S_ISSOCK(info.st_mode) && info.st_ino == engine->socket_inode
	                                               : errno != ENOENT && errno != ENOTDIR;
}

/* Told once, until it has succeeded. */
static void tell(struct engine *engine, const struct error *failure)
{
	if (!engine->has_told_socket)
		log_error(engine->log, "engine", NULL, "the socket is gone and cannot be made again",
		          FIELD_TEXT("code", failure->code), FIELD_TEXT("why", failure->message));
	engine->has_told_socket = true;
}

void engine_listen_again(struct engine *engine)
{
	int old_fd = engine->listen_fd;
	struct error failure = { 0 };

	if (old_fd < 0 || is_there(engine))
		return;
	if (!home_make_socket_folder(engine->home, &failure) || !engine_listen(engine, &failure) ||
	    !access_share(engine, &failure)) {
		if (engine->listen_fd != old_fd && engine->listen_fd >= 0)
			close(engine->listen_fd);
		engine->listen_fd = old_fd;
		tell(engine, &failure);
		return;
	}
	close(old_fd);
	engine->has_told_socket = false;
	log_warn(engine->log, "engine", NULL, "the socket was gone and was made again",
	         FIELD_TEXT("socket", engine->home->socket));
}
