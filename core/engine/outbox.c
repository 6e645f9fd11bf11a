/* Lines on their way to a session: kept up to a limit, written by one at a time. */
#include "engine/outbox_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define WAIT_MS 500

void outbox_open(struct outbox *outbox, int fd, size_t limit)
{
	*outbox = (struct outbox){ .fd = fd, .limit = limit };
	pthread_mutex_init(&outbox->writer, NULL);
	pthread_mutex_init(&outbox->lock, NULL);
}

void outbox_close(struct outbox *outbox)
{
	free(outbox->bytes);
	pthread_mutex_destroy(&outbox->lock);
	pthread_mutex_destroy(&outbox->writer);
}

void outbox_break(struct outbox *outbox)
{
	atomic_store(&outbox->is_broken, true);
	shutdown(outbox->fd, SHUT_RDWR);
}

static void note_stall(struct outbox *outbox)
{
	long long never = 0;

	atomic_compare_exchange_strong(&outbox->stalled_ms, &never, (long long)clock_mono_ms());
}

/* Bytes that went out without waiting. */
static size_t send_some(struct outbox *outbox, const char *bytes, size_t len)
{
	size_t sent = 0;

	while (sent < len && !atomic_load(&outbox->is_broken)) {
		ssize_t n = send(outbox->fd, bytes + sent, len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			note_stall(outbox);
			return sent;
		}
		if (n <= 0) {
			atomic_store(&outbox->is_broken, true);
			return sent;
		}
		sent += (size_t)n;
		atomic_store(&outbox->stalled_ms, 0);
	}
	return sent;
}

static bool send_waiting(struct outbox *outbox, const char *bytes, size_t len)
{
	while (len && !atomic_load(&outbox->is_broken)) {
		size_t sent = send_some(outbox, bytes, len);
		struct pollfd room = { .fd = outbox->fd, .events = POLLOUT };

		bytes += sent;
		len -= sent;
		if (len && !atomic_load(&outbox->is_broken))
			poll(&room, 1, WAIT_MS);
	}
	return !len;
}

static void flush_locked(struct outbox *outbox)
{
	size_t sent = send_some(outbox, outbox->bytes, outbox->used);

	outbox->used -= sent;
	if (sent && outbox->used)
		memmove(outbox->bytes, outbox->bytes + sent, outbox->used);
}

void outbox_flush(struct outbox *outbox)
{
	pthread_mutex_lock(&outbox->lock);
	if (outbox->used && !outbox->is_taken)
		flush_locked(outbox);
	pthread_mutex_unlock(&outbox->lock);
}

/* Takes over what was posted: its first line may be half written already. */
static char *take_posted(struct outbox *outbox, size_t *out_len)
{
	char *bytes;

	pthread_mutex_lock(&outbox->lock);
	bytes = outbox->bytes;
	*out_len = outbox->used;
	outbox->bytes = NULL;
	outbox->used = outbox->room = 0;
	outbox->is_taken = true;
	pthread_mutex_unlock(&outbox->lock);
	return bytes;
}

bool outbox_write(struct outbox *outbox, const char *line, size_t len)
{
	char *posted;
	size_t posted_len;
	bool is_fine;

	pthread_mutex_lock(&outbox->writer);
	posted = take_posted(outbox, &posted_len);
	is_fine = send_waiting(outbox, posted, posted_len) && send_waiting(outbox, line, len);
	free(posted);
	pthread_mutex_lock(&outbox->lock);
	outbox->is_taken = false;
	flush_locked(outbox);
	pthread_mutex_unlock(&outbox->lock);
	pthread_mutex_unlock(&outbox->writer);
	return is_fine;
}

static bool keep_locked(struct outbox *outbox, const char *line, size_t len)
{
	if (outbox->used + len > outbox->limit)
		return false;
	if (outbox->used + len > outbox->room) {
		outbox->room = (outbox->used + len) * 2;
		outbox->bytes = memory_grow(outbox->bytes, outbox->room);
	}
	memcpy(outbox->bytes + outbox->used, line, len);
	outbox->used += len;
	return true;
}

bool outbox_post(struct outbox *outbox, const char *line, size_t len)
{
	size_t sent = 0;
	bool is_kept;

	pthread_mutex_lock(&outbox->lock);
	/* A line that goes out at once is never kept: the limit is for what a slow reader leaves. */
	if (!outbox->used && !outbox->is_taken)
		sent = send_some(outbox, line, len);
	is_kept = sent == len || (sent ? keep_locked(outbox, line + sent, len - sent) : keep_locked(outbox, line, len));
	if (sent && !is_kept)
		atomic_store(&outbox->is_broken, true); /* half a line is out and the rest has no room */
	pthread_mutex_unlock(&outbox->lock);
	return is_kept;
}

size_t outbox_pending(struct outbox *outbox)
{
	size_t used;

	pthread_mutex_lock(&outbox->lock);
	used = outbox->used;
	pthread_mutex_unlock(&outbox->lock);
	return used;
}

bool outbox_wants_room(struct outbox *outbox)
{
	bool wants;

	pthread_mutex_lock(&outbox->lock);
	wants = outbox->used && !outbox->is_taken;
	pthread_mutex_unlock(&outbox->lock);
	return wants;
}
