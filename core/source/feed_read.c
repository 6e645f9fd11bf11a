/*
 * More bytes for the window, and waiting for them: a file is looked at again and
 * again, a stream is polled.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "source/feed_private.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#define LEAST_BYTES (32u << 10)
#define STREAM_BYTES 4096 /* asked for when the system does not tell how much there is */

static enum feed_more failed(struct feed *feed, int error_number, struct error *err)
{
	fail_errno(err, error_number, "cannot read feed '%s' at byte %" PRIu64, feed->path, feed->read_offset);
	return FEED_FAILED;
}

static enum feed_more changed(struct feed *feed, const char *how, struct error *err)
{
	fail(err, ERROR_CONFIG, "feed_changed",
	     "feed '%s' %s while it was read, at byte %" PRIu64 "; allowed: the old file, or --from-start", feed->path,
	     how, feed->read_offset);
	return FEED_FAILED;
}

/*
 * Files
 */

/* Everything in the open file is read. Is it still the one under this name? */
static const char *how_it_changed(const struct feed *feed, const struct stat *open_one)
{
	struct stat named;

	if (stat(feed->path, &named) != 0)
		return errno == ENOENT || errno == ENOTDIR ? "was removed" : NULL;
	if (named.st_dev != open_one->st_dev || named.st_ino != open_one->st_ino)
		return "was replaced by another one";
	return NULL;
}

/* What a batch has no room for would be read for it in vain: the next one copies it. */
static uint64_t block_for(const struct feed *feed, const struct arena *arena)
{
	size_t used = arena ? arena_used(arena) : 0, left = used < BATCH_BYTES_MAX ? BATCH_BYTES_MAX - used : 0;

	if (left < LEAST_BYTES)
		left = LEAST_BYTES;
	return left < feed->window.block_bytes ? left : feed->window.block_bytes;
}

static enum feed_more read_file(struct feed *feed, struct arena *arena, uint64_t available, struct error *err)
{
	uint64_t block = block_for(feed, arena);
	ssize_t n = window_read(&feed->window, arena, (size_t)(available < block ? available : block));

	if (n < 0)
		return errno == EINTR ? FEED_NOTHING : failed(feed, errno, err);
	feed->read_offset += (uint64_t)n;
	return n ? FEED_MORE : FEED_NOTHING;
}

static enum feed_more look_at_file(struct feed *feed, struct arena *arena, struct error *err)
{
	const char *how;
	struct stat st;

	if (fstat(feed->window.fd, &st) != 0)
		return failed(feed, errno, err);
	if ((uint64_t)st.st_size < feed->read_offset)
		return changed(feed, "became shorter", err);
	if ((uint64_t)st.st_size > feed->read_offset)
		return read_file(feed, arena, (uint64_t)st.st_size - feed->read_offset, err);
	/* A file that is not followed is read to its end even if its name is gone: all of it is there. */
	if (!feed->is_followed)
		return FEED_END;
	how = how_it_changed(feed, &st);
	return how ? changed(feed, how, err) : FEED_NOTHING;
}

bool feed_file_has_news(const struct feed *feed)
{
	struct stat st;

	return fstat(feed->window.fd, &st) != 0 || (uint64_t)st.st_size != feed->read_offset || how_it_changed(feed, &st);
}

/* A feed that has rested for a while is looked at less often: a hundred of them cost almost nothing. */
static void feed_doze(struct feed *feed, int64_t left_ms)
{
	int64_t poll_ms = feed->looks_at_rest < FEED_LOOKS_AWAKE ? FEED_POLL_MS : FEED_POLL_AT_REST_MS;

	feed->looks_at_rest += feed->looks_at_rest < FEED_LOOKS_AWAKE;
	clock_sleep_ms(left_ms < poll_ms ? left_ms : poll_ms);
}

static enum feed_more follow_file(struct feed *feed, struct arena *arena, int64_t until_ms, struct error *err)
{
	for (;;) {
		enum feed_more more = look_at_file(feed, arena, err);
		int64_t left_ms = until_ms - clock_mono_ms();

		if (more != FEED_NOTHING)
			feed->looks_at_rest = 0;
		if (more != FEED_NOTHING || left_ms <= 0)
			return more;
		feed_doze(feed, left_ms);
		/* The next pull looks first: looking at both ends of a wait would be twice as dear. */
		if (clock_mono_ms() >= until_ms)
			return more;
	}
}

/*
 * Streams: stdin, a FIFO
 */

/* Standard input that was closed, or is not open for reading, does not come back. */
static enum feed_more closed(struct feed *feed, struct error *err)
{
	fail(err, ERROR_CONFIG, "not_a_file", "cannot read feed '%s': it is not open for reading", feed->path);
	return FEED_FAILED;
}

static size_t stream_available(const struct feed *feed)
{
	int bytes = 0;

	return ioctl(feed->window.fd, FIONREAD, &bytes) == 0 && bytes > 0 ? (size_t)bytes : STREAM_BYTES;
}

static enum feed_more read_stream(struct feed *feed, struct arena *arena, struct error *err)
{
	ssize_t n = window_read(&feed->window, arena, stream_available(feed));

	if (n == 0)
		return FEED_END;
	if (n < 0 && errno == EBADF)
		return closed(feed, err);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? FEED_NOTHING : failed(feed, errno, err);
	feed->read_offset += (uint64_t)n;
	return FEED_MORE;
}

static int wait_ms(int64_t until_ms)
{
	int64_t left_ms = until_ms - clock_mono_ms();

	return left_ms <= 0 ? 0 : left_ms < 60000 ? (int)left_ms : 60000;
}

static enum feed_more wait_for_stream(struct feed *feed, struct arena *arena, int64_t until_ms, struct error *err)
{
	for (;;) {
		struct pollfd poll_fd = { .fd = feed->window.fd, .events = POLLIN };
		int ready = poll(&poll_fd, 1, wait_ms(until_ms));
		enum feed_more more = FEED_NOTHING;

		if (ready < 0 && errno != EINTR)
			return failed(feed, errno, err);
		if (ready > 0 && poll_fd.revents & POLLNVAL)
			return closed(feed, err);
		/* Hung up without input is read too: that is how a stream says that it has ended. */
		if (ready > 0)
			more = read_stream(feed, arena, err);
		if (more != FEED_NOTHING || clock_mono_ms() >= until_ms)
			return more;
	}
}

enum feed_more feed_read(struct feed *feed, struct arena *arena, int64_t until_ms, struct error *err)
{
	if (feed->is_file)
		return follow_file(feed, arena, until_ms, err);
	return wait_for_stream(feed, arena, until_ms, err);
}
