/* The writer's part: batches to the sink, parked messages back, each with patience. */
#include "base/clock.h"
#include "base/mailbox.h"
#include "pipeline/post.h"
#include "runner/runner_private.h"

#define TROUBLE_LOOK_MS 50

static bool source_is_told_at_once(const struct source *source)
{
	return source && source->ops->confirms_at_once;
}

#define POST_TURN_MS 500 /* how often it is asked whether letters are to be sent */

static bool write_batch(struct local *local, struct batch *batch, struct error *err)
{
	bool is_written = batch->replay ? pipeline_write_replay(local->pipeline, batch, local->setup->desk, err)
	                                : pipeline_write(local->pipeline, batch, err);

	batch->is_committed = is_written;
	/* A source that can be told by any thread need not wait until the batch is back with the reader. */
	if (batch->is_committed && source_is_told_at_once(local->pipeline->source))
		reader_confirm(local->pipeline, batch);
	return is_written;
}

/* Once a batch was left out, all behind it are: the wish may change, what was not written may not be passed over. */
static bool leaves(struct local *local)
{
	local->has_left = local->has_left || run_should_leave(local->setup);
	return local->has_left;
}

/* The batch is kept and nothing is confirmed until it is written. */
static bool write_with_patience(struct local *local, struct batch *batch, struct error *err)
{
	struct patience patience = { .setup = local->setup, .thread = THREAD_WRITER };
	struct error failure = { 0 };

	while (!leaves(local)) {
		if (write_batch(local, batch, &failure)) {
			patience_over(&patience);
			return true;
		}
		if (!patience_wait(&patience, &failure)) {
			*err = failure;
			return false;
		}
		failure = (struct error){ 0 };
	}
	return true;
}

bool writer_unpark(struct local *local, struct error *err)
{
	struct patience patience = { .setup = local->setup, .thread = THREAD_WRITER };
	struct error failure = { 0 };
	bool has_more = true;

	while (has_more && !run_should_end(local->setup)) {
		if (pipeline_unpark_some(local->pipeline, &has_more, &failure)) {
			patience_over(&patience);
			continue;
		}
		if (!patience_wait(&patience, &failure)) {
			*err = failure;
			return false;
		}
		failure = (struct error){ 0 };
	}
	return true;
}

/* How the sink's tables stand; gives how long to wait for the next batch at most. */
static int64_t tend(struct local *local)
{
	struct pipeline_troubles troubles;

	pipeline_tend(local->pipeline, &troubles);
	atomic_store(&local->has_trouble, troubles.again_ms >= 0);
	if (troubles.may_come_back)
		atomic_store(&local->wants_back, true);
	return troubles.again_ms;
}

/* Nothing else is on its way: what tables that may be tried again have parked comes first, then what is newer. */
static bool bring_back(struct local *local, struct error *err)
{
	atomic_store(&local->wants_back, false);
	pipeline_free_tables(local->pipeline);
	return writer_unpark(local, err);
}

/* All is read. What waits of a table whose trouble passes is waited for; for one that needs somebody nobody waits. */
static bool end_troubles(struct local *local, struct error *err)
{
	struct pipeline_troubles troubles;

	for (;;) {
		pipeline_tend(local->pipeline, &troubles);
		if (run_should_end(local->setup) || (!troubles.may_come_back && !troubles.passing))
			return true;
		if (troubles.may_come_back && !bring_back(local, err))
			return false;
		if (!troubles.may_come_back)
			clock_sleep_ms(TROUBLE_LOOK_MS);
	}
}

/* Also between two batches of a source that never rests. */
static void post_turn_soon(struct local *local, bool is_idle)
{
	int64_t now_ms = local->pipeline->post ? clock_mono_ms() : 0;

	if (!local->pipeline->post || (!is_idle && now_ms - local->posted_ms < POST_TURN_MS))
		return;
	local->posted_ms = now_ms;
	post_turn(local->pipeline->post, local->setup->desk, POST_MEANWHILE);
}

/* How long to wait for the next batch at most; -1: nothing else is to be done. */
static int64_t wait_ms(struct local *local)
{
	int64_t tend_ms = tend(local);

	return local->pipeline->post && (tend_ms < 0 || tend_ms > POST_TURN_MS) ? POST_TURN_MS : tend_ms;
}

/* What nobody waits for any more is let go at once, and the memory that is warm is filled next. */
static bool give_back(struct local *local, struct batch *batch, bool is_fine)
{
	if (!is_fine || batch->is_committed)
		return mailbox_post(local->empty, batch, -1) == MAIL_TAKEN;
	batch_reset(batch);
	return mailbox_post_first(local->empty, batch, -1) == MAIL_TAKEN;
}

bool writer_run(struct local *local, struct error *err)
{
	void *item;
	enum mail mail;

	while ((mail = mailbox_take(local->filled, &item, wait_ms(local))) != MAIL_CLOSED) {
		struct batch *batch = item;
		bool is_fine;

		post_turn_soon(local, mail == MAIL_TIMEOUT);
		if (mail == MAIL_TIMEOUT)
			continue;
		is_fine = batch->brings_back ? bring_back(local, err) : write_with_patience(local, batch, err);

		if (is_fine && !local->has_left)
			merge_thread_wake(local->merge, batch->record_count);
		if (!give_back(local, batch, is_fine))
			batch_free(batch);
		if (!is_fine || merge_thread_failed(local->merge, err))
			return false;
	}
	return local->rests || end_troubles(local, err);
}
