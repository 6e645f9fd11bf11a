/*
 * A line of a feed that is too long to hold: through the window into a file, piece by piece, and refused.
 */
#include "source/feed_private.h"

#include <inttypes.h>
#include <unistd.h>

#define NONE ((struct span){ NULL, 0 })

static void big_forget(struct feed *feed)
{
	big_line_free(feed->big);
	feed->big = NULL;
	feed->big_bytes = 0;
	feed->big_has_cr = false;
}

/* A full disk passes: a file is read again from the line's beginning. */
static enum pulled big_failed(struct feed *feed)
{
	big_forget(feed);
	window_clear(&feed->window);
	feed->read_offset = feed->offset;
	if (!feed->is_file || lseek(feed->window.fd, (off_t)feed->offset, SEEK_SET) < 0)
		feed->is_lost = true;
	return PULLED_FAILED;
}

/* A CR in front of the newline belongs to the line's end, but the newline may come with the next piece. */
static bool big_add(struct feed *feed, struct span piece, bool is_last, struct error *err)
{
	bool has_cr = feed->big_has_cr;

	if (piece.len == 0)
		return true;
	if (has_cr && !big_line_add(feed->big, SPAN("\r"), err))
		return false;
	feed->big_has_cr = !is_last && piece.at[piece.len - 1] == '\r';
	return big_line_add(feed->big, is_last || feed->big_has_cr ? feed_without_cr(piece) : piece, err);
}

static enum pulled big_finish(struct feed *feed, struct batch *into, bool has_newline, struct error *err)
{
	struct message kept = { 0 };
	struct message *message;

	if (!big_line_keep(feed->big, into->arena, &kept, err))
		return big_failed(feed);
	message = batch_add_message(into);
	message->body = kept.body;
	message->big = kept.big;
	message->offset = feed->offset;
	feed_advance(feed, feed->big_bytes, has_newline);
	message->line = feed->line;
	message_refuse(into, message, "source", "record_too_large", NONE, NONE,
	               "line %" PRIu64 " has %" PRIu64 " bytes; maxRecordBytes allows %" PRIu64, message->line,
	               kept.big->size, feed->max_record_bytes);
	big_forget(feed);
	return PULLED_MESSAGE;
}

static enum pulled big_end(struct feed *feed, struct batch *into, struct error *err)
{
	if (big_line_is_whole(feed->big))
		return big_finish(feed, into, false, err);
	big_forget(feed);
	feed->is_truncated = true;
	return PULLED_END;
}

/* Hands on what is in the window; *out_ended: the newline was there. */
static bool big_step(struct feed *feed, bool *out_ended, struct error *err)
{
	struct span piece = span_make(feed->window.at, feed->window.len);
	const char *newline = piece.len ? memchr(piece.at, '\n', piece.len) : NULL;

	if (newline)
		piece.len = (size_t)(newline - piece.at);
	if (!big_add(feed, piece, newline != NULL, err))
		return false;
	*out_ended = newline != NULL;
	window_drop(&feed->window, piece.len + *out_ended);
	feed->big_bytes += piece.len + *out_ended;
	return true;
}

enum pulled feed_pull_big(struct feed *feed, struct batch *into, int64_t until_ms, struct error *err)
{
	bool has_ended;

	if (!feed->big && !(feed->big = big_line_open(feed->big_folder, err)))
		return big_failed(feed);
	for (;;) {
		if (!big_step(feed, &has_ended, err))
			return big_failed(feed);
		if (has_ended)
			return big_finish(feed, into, true, err);
		switch (feed_read(feed, NULL, until_ms, err)) {
		case FEED_MORE:
			break;
		case FEED_NOTHING:
			return PULLED_NOTHING;
		case FEED_END:
			return big_end(feed, into, err);
		case FEED_FAILED:
			return PULLED_FAILED;
		}
	}
}
