/*
 * When letters are sent and the folder is looked through: after each window of
 * windowDuration, after each deadLetterRetryInterval, and at the ends of a run. What
 * cannot be sent waits in the job's store, where every letter is safe anyway.
 */
#include "pipeline/post.h"
#include "pipeline/post_private.h"

#include "base/clock.h"
#include "base/crash.h"
#include "sink/sink.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_LETTERS_MAX 1000

static void target_read(struct post *post)
{
	const char *spec = post->options->dead_letter_table, *colon = spec ? strrchr(spec, ':') : NULL;
	const char *from = colon ? colon + 1 : spec, *dot = from ? strchr(from, '.') : NULL;

	if (!dot)
		return;
	post->dataset = memory_string_of(span_make(from, (size_t)(dot - from)));
	post->table = memory_string(dot + 1);
}

struct post *post_open(const struct pipeline *p)
{
	const struct job_options *options = p->options;
	struct post *post;

	if (options->template != TEMPLATE_PUBSUB_CDC || (!options->dead_letter_folder && !options->dead_letter_table))
		return NULL;
	post = memory_zalloc(sizeof(*post));
	post->options = options;
	post->dlq = p->dlq;
	post->warehouse = p->warehouse;
	/* On BigQuery the table is the sink's to write. */
	if (options->warehouse == WAREHOUSE_LOCAL)
		target_read(post);
	dlq_set_outbound(p->dlq, (post->table ? OUTBOUND_TABLE : 0) | (options->dead_letter_folder ? OUTBOUND_FOLDER : 0));
	return post;
}

void post_close(struct post *post)
{
	if (!post)
		return;
	free(post->dataset);
	free(post->table);
	free(post);
}

/*
 * Out
 */

static bool send_rows(struct post *post, bool *out_more, struct error *err)
{
	struct batch *batch = batch_new();
	struct letter_row *rows = arena_zalloc(batch->arena, TABLE_LETTERS_MAX * sizeof(*rows));
	struct outbound_letter letter = { 0 };
	size_t count = 0;
	int64_t last = 0;
	bool is_fine = true;

	while (count < TABLE_LETTERS_MAX && arena_used(batch->arena) < BATCH_BYTES_MAX) {
		is_fine = dlq_outbound_next(post->dlq, OUTBOUND_TABLE, last, batch, &letter, err);
		if (!is_fine || !letter.id)
			break;
		rows[count++] = (struct letter_row){ .message = letter.message, .stage = letter.stage, .code = letter.code,
		                                     .text = letter.text, .source = letter.source, .id = letter.id,
		                                     .published_us = letter.message->received_us };
		publish_parse(letter.message->publish, &rows[count - 1].published_us);
		last = letter.id;
	}
	if (is_fine && count) {
		is_fine = warehouse_add_letters(post->warehouse, post->dataset, post->table, dlq_incarnation(post->dlq), rows, count,
		                                err);
		if (is_fine)
			crash_point(letters_in_table);
		is_fine = is_fine && dlq_outbound_done(post->dlq, OUTBOUND_TABLE, last, err);
	}
	*out_more = count == TABLE_LETTERS_MAX;
	batch_free(batch);
	return is_fine;
}

static bool is_due(struct post *post, unsigned target, bool is_end, bool *out_due, struct error *err)
{
	int64_t oldest_us;

	if (!dlq_outbound_oldest(post->dlq, target, &oldest_us, err))
		return false;
	*out_due = oldest_us && (is_end || clock_utc_us() - oldest_us >= post->options->window_ms * 1000);
	return true;
}

static bool send_all(struct post *post, bool is_end, struct error *err)
{
	bool has_table = false, has_folder = false;

	if (post->table && !is_due(post, OUTBOUND_TABLE, is_end, &has_table, err))
		return false;
	while (has_table) {
		if (!send_rows(post, &has_table, err))
			return false;
	}
	if (!post->options->dead_letter_folder)
		return true;
	if (!post_finish_files(post, err) || !is_due(post, OUTBOUND_FOLDER, is_end, &has_folder, err))
		return false;
	while (has_folder) {
		if (!post_send_files(post, err) || !is_due(post, OUTBOUND_FOLDER, is_end, &has_folder, err))
			return false;
	}
	return true;
}

/*
 * In
 */

static bool look_in(struct post *post, struct error *err)
{
	int64_t now_ms = clock_mono_ms();
	bool has_more = false;

	if (post->looked_ms && now_ms - post->looked_ms < post->options->dead_letter_retry_ms)
		return true;
	if (!post_take_files(post, &has_more, err))
		return false;
	post->looked_ms = has_more ? 0 : now_ms;
	return true;
}

/* Those that came back, and those that a killed run has left: through the job's own replay. */
static bool ask_replay(struct post *post, struct replay_desk *desk, struct error *err)
{
	struct replay_wish wish = { .group = REPLAY_DUE, .who = "dead-letter folder" };
	struct replay_view view;
	struct error ignored = { 0 };
	uint64_t due;

	replay_desk_look(desk, &view);
	if (post->has_asked && view.phase == REPLAY_ENDED && view.wish.group == REPLAY_DUE) {
		replay_desk_wait(desk, 0, &view);
		post->has_asked = false;
		view.phase = REPLAY_NONE;
	}
	if (!desk || view.phase != REPLAY_NONE)
		return true;
	if (!dlq_due_count(post->dlq, &due, err))
		return false;
	post->has_asked = due && replay_desk_ask(desk, &wish, &ignored);
	return true;
}

/* Said once, where the notes are; what waits is tried again at the next turn. */
static void warn(struct post *post, const struct error *failure)
{
	struct error ignored = { 0 };

	if (post->is_warned)
		return;
	post->is_warned = true;
	if (dlq_begin(post->dlq, &ignored) &&
	    (!dlq_note(post->dlq, "-", (struct span){ NULL, 0 }, "dead_letters_wait", 1, failure->message, &ignored) ||
	     !dlq_commit(post->dlq, &ignored)))
		dlq_rollback(post->dlq);
}

void post_turn(struct post *post, struct replay_desk *desk, bool is_end)
{
	struct error failure = { 0 };

	if (!post)
		return;
	if (!send_all(post, is_end, &failure))
		warn(post, &failure);
	failure = (struct error){ 0 };
	if (is_end || !post->options->dead_letter_folder)
		return;
	if (!look_in(post, &failure) || !ask_replay(post, desk, &failure))
		warn(post, &failure);
}
