/*
 * When letters are sent and the folder is looked through: after each window of
 * windowDuration, after each deadLetterRetryInterval, and at the ends of a run. What
 * cannot be sent waits in the job's store, where every letter is safe anyway.
 */
#include "pipeline/post_private.h"

#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "sink/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_LETTERS_MAX 1000

static void target_read(struct post *post)
{
	struct dead_letter_place place;

	if (!job_options_letter_place(post->options, &place))
		return;
	post->dataset = memory_string_of(place.dataset);
	post->table = memory_string(place.table);
}

/* A slash at the end is none of its name. */
static char *folder_of(const char *place)
{
	size_t len = strlen(place);

	while (len > 1 && place[len - 1] == '/')
		len--;
	return memory_string_of(span_make(place, len));
}

/* Files that are to be named by a rename lie on the same disk; others in the job's own folder. */
static void folder_open(struct post *post, const struct pipeline *p, struct google *google)
{
	struct folder_setup setup = { .google = google };

	post->folder = folder_of(post->options->dead_letter_folder);
	post->scratch = folder_choose(post->folder) == &folder_local ? path_join(post->folder, "tmp") : memory_string(p->paths.big);
	setup.place = post->folder;
	post->carrier = carrier_open(&setup);
}

struct post *post_open(const struct pipeline *p, struct google *google)
{
	const struct job_options *options = p->options;
	bool has_folder = options->dead_letter_folder != NULL, has_table = job_options_letter_table(options) != NULL;
	struct post *post;

	dlq_set_outbound(p->dlq, (has_table ? OUTBOUND_TABLE : 0) | (has_folder ? OUTBOUND_FOLDER : 0));
	/* A table of BigQuery has a thread of its own (runner/letters_table.c). */
	if (!has_folder && (!has_table || options->warehouse != WAREHOUSE_LOCAL))
		return NULL;
	post = memory_zalloc(sizeof(*post));
	post->options = options;
	post->dlq = p->dlq;
	post->warehouse = p->warehouse;
	post->may_be_noted = true; /* by a run before */
	if (options->warehouse == WAREHOUSE_LOCAL)
		target_read(post);
	if (has_folder)
		folder_open(post, p, google);
	return post;
}

void post_close(struct post *post)
{
	if (!post)
		return;
	carrier_close(post->carrier);
	errand_free(post->leaving);
	free(post->folder);
	free(post->scratch);
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
		message_published(letter.message, &rows[count - 1].published_us);
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

static bool send_all(struct post *post, bool is_end, struct error *err)
{
	bool has_table = false;

	if (!post->table)
		return true;
	if (!post_is_due(post, OUTBOUND_TABLE, is_end, &has_table, err))
		return false;
	while (has_table) {
		if (!send_rows(post, &has_table, err))
			return false;
	}
	return true;
}

bool post_is_due(struct post *post, unsigned target, bool is_end, bool *out_due, struct error *err)
{
	int64_t oldest_us, age_us;

	if (!dlq_outbound_oldest(post->dlq, target, &oldest_us, err))
		return false;
	age_us = clock_utc_us() - oldest_us;
	/* One that will be kept in the future is from before the clock was put back: it has waited long enough. */
	*out_due = oldest_us && (is_end || age_us < 0 || age_us >= post->options->window_ms * 1000);
	return true;
}

/*
 * In
 */

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

/*
 * Both
 */

void post_warn(struct post *post, const struct error *failure)
{
	struct error ignored = { 0 };

	if (strcmp(post->warned, failure->code) == 0 || failure->kind == ERROR_CANCELLED)
		return;
	snprintf(post->warned, sizeof(post->warned), "%s", failure->code);
	post->may_be_noted = true;
	if (dlq_begin(post->dlq, &ignored) &&
	    (!dlq_note(post->dlq, "-", (struct span){ NULL, 0 }, "dead_letters_wait", 1, failure->message, &ignored) ||
	     !dlq_commit(post->dlq, &ignored)))
		dlq_rollback(post->dlq);
}

/* All that has waited is on its way: what was noted of it is so no longer. */
static void well(struct post *post)
{
	struct error ignored = { 0 };

	post->warned[0] = '\0';
	if (post->may_be_noted)
		post->may_be_noted = !dlq_note_over(post->dlq, "-", "dead_letters_wait", &ignored);
}

void post_turn(struct post *post, struct replay_desk *desk, enum post_when when)
{
	struct error failure = { 0 };
	bool is_well = true;

	if (!post)
		return;
	if (!send_all(post, when == POST_END, &failure)) {
		post_warn(post, &failure);
		is_well = false;
	}
	failure = (struct error){ 0 };
	if (post->folder && (!post_folder_turn(post, when, &failure) || (when != POST_END && !ask_replay(post, desk, &failure)))) {
		post_warn(post, &failure);
		is_well = false;
	}
	if (is_well && (!post->folder || (!carrier_is_busy(post->carrier) && post_folder_is_well(post))))
		well(post);
}
