/*
 * The feed: a file, FIFO or stdin of one message a line (README.md). Lines are
 * found here, positions kept here; what a line means is envelope.c's.
 */
#include "base/arena.h"
#include "source/feed_private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_blank(struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.at[i] != ' ' && text.at[i] != '\t' && text.at[i] != '\r')
			return false;
	}
	return true;
}

struct span feed_without_cr(struct span line)
{
	if (line.len && line.at[line.len - 1] == '\r')
		line.len--;
	return line;
}

void feed_advance(struct feed *feed, uint64_t bytes, bool has_newline)
{
	feed->offset += bytes;
	if (!feed->is_mid_line)
		feed->line++;
	feed->is_mid_line = !has_newline;
	feed->tried = 0;
}

/* False: a blank line, nothing was added. */
static bool take_line(struct feed *feed, struct batch *into, struct span line, bool has_newline)
{
	uint64_t at = feed->offset;
	struct message *message;

	window_drop(&feed->window, line.len + has_newline);
	feed_advance(feed, line.len + has_newline, has_newline);
	if (is_blank(line))
		return false;
	message = batch_add_message(into);
	message->offset = at;
	message->line = feed->line;
	envelope_read(feed->envelope, into, message, feed_without_cr(line));
	return true;
}

/*
 * A last line without newline
 */

/* At the end of a feed that is not followed: what is whole counts, the rest waits for the next run. */
static enum pulled pull_last(struct feed *feed, struct batch *into)
{
	struct span rest = span_make(feed->window.at, feed->window.len);

	if (is_blank(rest))
		return PULLED_END;
	if (!envelope_is_whole(feed->envelope, rest)) {
		feed->is_truncated = true;
		return PULLED_END;
	}
	take_line(feed, into, window_rest(&feed->window, into->arena), false);
	return PULLED_MESSAGE;
}

/* In a followed file only what ends in its own bracket can be told to be whole: 12 may become 123. */
static bool ends_in_bracket(struct span text)
{
	while (text.len && is_blank(span_make(text.at + text.len - 1, 1)))
		text.len--;
	return text.len && (text.at[text.len - 1] == '}' || text.at[text.len - 1] == ']');
}

static enum pulled pull_unfinished(struct feed *feed, struct batch *into)
{
	struct span rest = span_make(feed->window.at, feed->window.len);

	if (!feed->is_file || feed->tried == rest.len)
		return PULLED_NOTHING;
	feed->tried = rest.len;
	if (!ends_in_bracket(rest) || !envelope_is_whole(feed->envelope, rest))
		return PULLED_NOTHING;
	take_line(feed, into, window_rest(&feed->window, into->arena), false);
	return PULLED_MESSAGE;
}

/*
 * Pull
 */

/* Lines stay where they are only in the batch's arena. */
static bool front_line(struct feed *feed, struct batch *into, struct span *out_line)
{
	struct span rest = span_make(feed->window.at, feed->window.len);
	size_t len = feed->window.arena == into->arena ? envelope_front(feed->envelope, rest, feed->max_record_bytes) : 0;

	*out_line = span_make(rest.at, len);
	return len;
}

static enum pulled pull_line(struct feed *feed, struct batch *into, int64_t until_ms, struct error *err)
{
	for (;;) {
		struct span line;
		bool has_line = !feed->big && (front_line(feed, into, &line) || window_line(&feed->window, into->arena, &line));

		if (!has_line)
			line = span_make(feed->window.at, feed->window.len);
		if (feed->big || feed_without_cr(line).len > feed->max_record_bytes)
			return feed_pull_big(feed, into, until_ms, err);
		if (has_line && take_line(feed, into, line, true))
			return PULLED_MESSAGE;
		if (has_line)
			continue;
		switch (feed_read(feed, into->arena, until_ms, err)) {
		case FEED_MORE:
			break;
		case FEED_NOTHING:
			return pull_unfinished(feed, into);
		case FEED_END:
			return pull_last(feed, into);
		case FEED_FAILED:
			return PULLED_FAILED;
		}
	}
}

/* One that stays says that this was the last batch: it need not be waited for. */
static enum pulled take_failure(struct feed *feed, struct batch *into, struct error *err)
{
	if (err)
		*err = feed->failure;
	into->is_last = feed->is_lost;
	if (!feed->is_lost)
		feed->failure = (struct error){ 0 };
	return PULLED_FAILED;
}

static enum pulled feed_pull(struct source *source, struct batch *into, int64_t until_ms, struct error *err)
{
	struct feed *feed = (struct feed *)source;
	enum pulled pulled;

	/* Between two batches there must be a mark: the unpulled bytes would leave with the first one. */
	assert(!feed->window.arena || feed->window.arena == into->arena);
	if (feed->failure.kind)
		return take_failure(feed, into, err);
	if (!feed->envelope)
		feed->envelope = envelope_reader_new();
	pulled = pull_line(feed, into, until_ms, &feed->failure);
	if (pulled != PULLED_MESSAGE)
		window_stash(&feed->window);
	/* What was read before the failure is good: it leaves first. */
	if (pulled == PULLED_FAILED)
		return into->message_count ? PULLED_NOTHING : take_failure(feed, into, err);
	return pulled;
}

/*
 * The rest of struct source_ops
 */

static void feed_mark(struct source *source, struct batch *batch)
{
	struct feed *feed = (struct feed *)source;

	window_stash(&feed->window);
	batch->end.identity = arena_copy(batch->arena, span_of(feed->identity));
	batch->end.offset = feed->offset;
	batch->end.line = feed->line;
}

/* Positions are kept by the destination; a feed has nothing to forget. */
static bool feed_confirm(struct source *source, const struct source_position *position, struct error *err)
{
	(void)source;
	(void)position;
	(void)err;
	return true;
}

static bool feed_note(struct source *source, struct error *out_note)
{
	struct feed *feed = (struct feed *)source;

	if (!feed->is_truncated || feed->is_noted)
		return false;
	feed->is_noted = true;
	fail(out_note, ERROR_RECORD, "truncated_line",
	     "feed '%s': its last line (line %" PRIu64 ", from byte %" PRIu64
	     ") has no newline and is not complete JSON; it was left unread",
	     feed->path, feed->line + !feed->is_mid_line, feed->offset);
	return true;
}

static void feed_close(struct source *source)
{
	struct feed *feed = (struct feed *)source;

	if (!feed)
		return;
	if (feed->window.fd > STDIN_FILENO)
		close(feed->window.fd);
	big_line_free(feed->big);
	window_clear(&feed->window);
	envelope_reader_free(feed->envelope);
	free(feed->big_folder);
	free(feed->path);
	free(feed);
}

static bool feed_has_news(struct source *source)
{
	struct feed *feed = (struct feed *)source;

	return feed->failure.kind != ERROR_NONE || feed_file_has_news(feed);
}

/* A stream tells nobody else that it has more, and would block its writer. */
static const char *feed_watched(struct source *source)
{
	struct feed *feed = (struct feed *)source;

	return feed->is_file && feed->is_followed ? feed->path : NULL;
}

/* What a reader has learned of messages is most of what a job holds: a quarter of a MiB, and its blocks. */
static void feed_rest(struct source *source)
{
	struct feed *feed = (struct feed *)source;

	envelope_reader_free(feed->envelope);
	feed->envelope = NULL;
}

static struct source *feed_open(const struct source_setup *setup, struct error *err)
{
	struct feed *feed = memory_zalloc(sizeof(*feed));

	feed->source.ops = &source_feed;
	feed->path = memory_string(setup->options->input_file);
	feed->big_folder = memory_string(setup->big_folder);
	feed->is_followed = setup->is_followed;
	feed->max_record_bytes = (uint64_t)setup->options->max_record_bytes;
	feed->window.block_bytes = FEED_BLOCK_BYTES;
	if (feed_attach(feed, setup->from, err))
		return &feed->source;
	feed_close(&feed->source);
	return NULL;
}

void feed_set_block(struct source *source, size_t block_bytes)
{
	((struct feed *)source)->window.block_bytes = block_bytes;
}

const struct source_ops source_feed = {
	.name = "feed",
	.help = "A file, FIFO or stdin (-) of one message a line.",
	.open = feed_open,
	.pull = feed_pull,
	.mark = feed_mark,
	.confirm = feed_confirm,
	.note = feed_note,
	.close = feed_close,
	.has_news = feed_has_news,
	.watched = feed_watched,
	.rest = feed_rest,
};
