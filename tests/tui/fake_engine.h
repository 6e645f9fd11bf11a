/* An engine of the tests' own on a socket: it hears calls and says what it is told to say, in pieces, late, or wrongly. */
#ifndef WEIR_TESTS_TUI_FAKE_ENGINE_H
#define WEIR_TESTS_TUI_FAKE_ENGINE_H

#include "base/arena.h"
#include "base/clock.h"
#include "control/control.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FAKE_SESSIONS 8
#define FAKE_WAIT_MS 5000 /* for what is already on its way */
#define FAKE_HELLO "{\"hello\":{\"protocol\":1,\"program\":\"weird 0\",\"access\":\"admin\",\"pid\":1}}\n"

struct fake {
	char folder[32], path[48];
	int listener;
	int session[FAKE_SESSIONS]; /* -1: closed */
	size_t count;
};

static inline void fake_listen(struct fake *fake)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", fake->path);
	fake->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(fake->listener, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fake->listener, 8) != 0)
		abort();
}

static inline void fake_begin(struct fake *fake)
{
	*fake = (struct fake){ .folder = "/tmp/weir-fake-XXXXXX" };
	if (!mkdtemp(fake->folder))
		abort();
	snprintf(fake->path, sizeof(fake->path), "%s/s", fake->folder);
	fake_listen(fake);
}

static inline void fake_close(struct fake *fake, size_t session)
{
	if (fake->session[session] >= 0)
		close(fake->session[session]);
	fake->session[session] = -1;
}

/* Away: nobody listens, all sessions are lost. */
static inline void fake_stop(struct fake *fake)
{
	for (size_t i = 0; i < fake->count; i++)
		fake_close(fake, i);
	fake->count = 0;
	close(fake->listener);
	unlink(fake->path);
}

static inline void fake_end(struct fake *fake)
{
	fake_stop(fake);
	rmdir(fake->folder);
}

static inline bool fake_ready(int fd, int wait_ms)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, wait_ms) > 0;
}

/* The next session, its number; aborts when none comes. */
static inline size_t fake_accept(struct fake *fake)
{
	if (fake->count == FAKE_SESSIONS || !fake_ready(fake->listener, FAKE_WAIT_MS))
		abort();
	fake->session[fake->count] = accept4(fake->listener, NULL, NULL, SOCK_CLOEXEC);
	return fake->count++;
}

static inline bool fake_is_called(struct fake *fake, size_t session)
{
	return fake_ready(fake->session[session], 0);
}

/* The next line that a session said, as JSON; the caller owns it. NULL: it has closed. */
static inline json_t *fake_hear(struct fake *fake, size_t session)
{
	OWNED(text) line = text_new(2u << 20);
	char c = 0;

	while (fake_ready(fake->session[session], FAKE_WAIT_MS) && read(fake->session[session], &c, 1) == 1 && c != '\n')
		text_add_char(line, c);
	return c == '\n' ? json_loads(line->at, JSON_ALLOW_NUL, NULL) : NULL;
}

static inline void fake_send(struct fake *fake, size_t session, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = send(fake->session[session], bytes, len, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		bytes += n;
		len -= (size_t)n;
	}
}

static inline void fake_say(struct fake *fake, size_t session, const char *bytes)
{
	fake_send(fake, session, bytes, strlen(bytes));
}

/* "name of the call" and its number of the next frame heard. */
static inline json_int_t fake_call(struct fake *fake, size_t session, char out_call[64])
{
	json_t *frame = fake_hear(fake, session);
	const char *call = json_string_value(json_object_get(frame, "call"));
	json_int_t id = json_integer_value(json_object_get(frame, "id"));

	snprintf(out_call, 64, "%s", call ? call : "");
	json_decref(frame);
	return id;
}

/* One object as the answer of a call, and its end. `line` NULL: only the end. */
static inline void fake_answer(struct fake *fake, size_t session, json_int_t id, const char *line)
{
	OWNED(text) out = text_new(1u << 20);

	if (line)
		text_add_format(out, "{\"id\":%lld,\"line\":%s}\n", (long long)id, line);
	text_add_format(out, "{\"id\":%lld,\"ok\":{\"exit\":0}}\n", (long long)id);
	fake_say(fake, session, out->at);
}

#endif
