/*
 * A job in three threads: reader (source, transform), writer (sink, dead letters,
 * position; the caller's thread), merger (replica). Batches go round between two
 * mailboxes, so memory is bounded by their number; nothing else is shared but
 * the flags in struct local.
 */
#include "base/clock.h"
#include "base/crash.h"
#include "base/mailbox.h"
#include "pipeline/pipeline.h"
#include "runner/runner.h"
#include "runner/runner_private.h"

#include <pthread.h>
#include <stdlib.h>

#define BATCHES 4          /* one being filled, one being written, two between */
#define IDLE_WAIT_MS 100   /* how soon a reader without input sees the drain flag, and after long rest */
#define IDLE_WAIT_MOST_MS 1000
#define PACED_BATCHES_A_S 10 /* a paced run moves in small steps */
#define LETTERS_LOOK_MS 10 /* how soon letters that wait for their time are looked at again */
#define RETRY_FIRST_MS 100
#define RETRY_MOST_MS 5000

struct local {
	const struct run_setup *setup;
	struct pipeline *pipeline;
	struct mailbox *empty, *filled;
	struct merge_thread *merge;
	pthread_t reader;
	struct letters *letters;    /* the reader's */
	int64_t idle_wait_ms;       /* the reader's: of the next pull */
	bool source_has_ended;      /* the reader's; letters may still be read */
	struct error reader_error;  /* read after the reader has ended */
	bool reader_failed;
	bool has_left;              /* the writer's: a batch was left out */
};

bool run_should_end(const struct run_setup *setup)
{
	return atomic_load(setup->wish) != RUN_ON;
}

bool run_should_leave(const struct run_setup *setup)
{
	int wish = atomic_load(setup->wish);

	return wish == RUN_STOP || wish == RUN_AGAIN;
}

void run_wish_for(atomic_int *wish, enum run_wish stronger)
{
	int now = atomic_load(wish);

	while (now < (int)stronger && !atomic_compare_exchange_weak(wish, &now, (int)stronger))
		continue;
}

void run_say(const struct run_setup *setup, enum job_state state, const char *code, const char *sentence)
{
	progress_set_state(setup->progress, state, code, sentence);
	if (setup->on_state)
		setup->on_state(setup->context, state, code, sentence);
}

/*
 * Reader
 */

static void keep_pace(const struct local *local, int64_t begun_ms, uint64_t messages)
{
	int64_t due_ms;

	if (!local->setup->pace_messages_per_s)
		return;
	due_ms = begun_ms + (int64_t)(messages * 1000 / (uint64_t)local->setup->pace_messages_per_s);
	while (clock_mono_ms() < due_ms && !run_should_end(local->setup))
		clock_sleep_ms(20);
}

static int64_t longer_wait(int64_t wait_ms, int64_t most_ms)
{
	return wait_ms * 2 < most_ms ? wait_ms * 2 : most_ms;
}

static uint64_t body_bytes(const struct batch *batch)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < batch->message_count; i++)
		bytes += batch->messages[i].body.len;
	return bytes;
}

static void read_source(struct local *local, struct batch *batch, uint64_t *messages)
{
	int64_t until_ms = letters_wait_until_ms(local->letters, clock_mono_ms() + local->idle_wait_ms);

	if (local->source_has_ended) {
		clock_sleep_ms(LETTERS_LOOK_MS);
		return;
	}
	if (!pipeline_fill(local->pipeline, batch, until_ms, &local->reader_error))
		local->reader_failed = true;
	*messages += batch->message_count;
	local->idle_wait_ms = batch->message_count ? IDLE_WAIT_MS : longer_wait(local->idle_wait_ms, IDLE_WAIT_MOST_MS);
	progress_taken(local->setup->progress, batch->message_count, body_bytes(batch));
	local->source_has_ended = batch->is_last;
}

/* A replay that has begun is read to its end, also behind the last message. */
static bool has_read_all(const struct local *local)
{
	return local->source_has_ended && !letters_are_open(local->letters) &&
	       (!local->setup->is_replay || letters_have_ended(local->letters));
}

/* A batch that comes back was committed: now its source may be told. One that cannot be told now is told with the next;
 * until then the source only gives again what is known to be a repeat. */
static void confirm(struct pipeline *p, struct batch *batch, struct error *err)
{
	if (batch->is_committed && !batch->replay && p->source)
		p->source->ops->confirm(p->source, &batch->end, err);
	if (batch->is_committed)
		crash_point(confirmed);
	batch->is_committed = false;
}

/* A closed box takes nothing: the writer has ended, and nobody else has the batch. */
static bool hand_on(struct mailbox *box, struct batch *batch)
{
	if (mailbox_post(box, batch, -1) == MAIL_TAKEN)
		return true;
	batch_free(batch);
	return false;
}

/* True: the reader goes on. */
static bool read_batch(struct local *local, struct batch *batch, uint64_t *messages)
{
	bool ends = run_should_end(local->setup);
	struct error ignored = { 0 };

	confirm(local->pipeline, batch, &ignored);
	batch_reset(batch);
	if (!ends && letters_have_turn(local->letters, !local->source_has_ended))
		letters_fill(local->letters, batch);
	else if (!ends)
		read_source(local, batch, messages);
	ends = ends || local->reader_failed || has_read_all(local);
	if (batch->message_count || batch->changes || batch->notes || batch->ends_replay)
		return hand_on(local->filled, batch) && !ends;
	return hand_on(local->empty, batch) && !ends;
}

static void *reader_main(void *context)
{
	struct local *local = context;
	int64_t begun_ms = clock_mono_ms();
	uint64_t messages = 0;
	void *batch;

	local->idle_wait_ms = IDLE_WAIT_MS;
	while (mailbox_take(local->empty, &batch, -1) == MAIL_TAKEN && read_batch(local, batch, &messages))
		keep_pace(local, begun_ms, messages);
	letters_free(local->letters);
	mailbox_close(local->filled);
	return NULL;
}

/*
 * Writer
 */

/* Sleeps in short pieces, so that a stop is seen. */
static void sleep_patiently(const struct local *local, int64_t wait_ms)
{
	int64_t until_ms = clock_mono_ms() + wait_ms;

	while (clock_mono_ms() < until_ms && !run_should_leave(local->setup))
		clock_sleep_ms(20);
}

static bool write_batch(struct local *local, struct batch *batch, struct error *err)
{
	batch->is_committed = batch->replay ? pipeline_write_replay(local->pipeline, batch, local->setup->desk, err)
	                                    : pipeline_write(local->pipeline, batch, err);
	return batch->is_committed;
}

/* Once a batch was left out, all behind it are: the wish may change, what was not written may not be passed over. */
static bool leaves(struct local *local)
{
	local->has_left = local->has_left || run_should_leave(local->setup);
	return local->has_left;
}

/* A full disk or a locked file is waited for, however long: the batch is kept and nothing is confirmed. */
static bool write_with_patience(struct local *local, struct batch *batch, struct error *err)
{
	int64_t wait_ms = RETRY_FIRST_MS;
	bool has_waited = false;
	struct error failure = { 0 };

	while (!leaves(local) && !write_batch(local, batch, &failure)) {
		if (error_policies[failure.kind].batch != BATCH_RETRY) {
			*err = failure;
			return false;
		}
		if (!has_waited)
			run_say(local->setup, STATE_WAITING, failure.code, failure.message);
		has_waited = true;
		progress_tries_again(local->setup->progress, wait_ms);
		sleep_patiently(local, wait_ms);
		wait_ms = longer_wait(wait_ms, RETRY_MOST_MS);
		failure = (struct error){ 0 };
	}
	if (has_waited)
		run_say(local->setup, STATE_OK, "", "goes on");
	return true;
}

/* Parked messages first. They are waited for in the same way. */
static bool unpark_with_patience(struct local *local, struct error *err)
{
	int64_t wait_ms = RETRY_FIRST_MS;
	bool has_waited = false, has_more = true;
	struct error failure = { 0 };

	while (has_more && !run_should_end(local->setup)) {
		if (pipeline_unpark_some(local->pipeline, &has_more, &failure)) {
			if (has_waited)
				run_say(local->setup, STATE_OK, "", "goes on");
			has_waited = false;
			continue;
		}
		if (error_policies[failure.kind].batch != BATCH_RETRY) {
			*err = failure;
			return false;
		}
		if (!has_waited)
			run_say(local->setup, STATE_WAITING, failure.code, failure.message);
		has_waited = true;
		progress_tries_again(local->setup->progress, wait_ms);
		sleep_patiently(local, wait_ms);
		wait_ms = longer_wait(wait_ms, RETRY_MOST_MS);
		failure = (struct error){ 0 };
	}
	return true;
}

static bool write_batches(struct local *local, struct error *err)
{
	void *item;

	while (mailbox_take(local->filled, &item, -1) == MAIL_TAKEN) {
		struct batch *batch = item;

		bool is_fine = write_with_patience(local, batch, err);

		if (batch->is_committed)
			merge_thread_wake(local->merge, batch->record_count);
		if (mailbox_post(local->empty, batch, -1) != MAIL_TAKEN)
			batch_free(batch);
		if (!is_fine || merge_thread_failed(local->merge, err))
			return false;
	}
	return true;
}

/* After a failure the reader may still wait for room: closing both boxes lets it end. */
static void end_reader(struct local *local)
{
	mailbox_close(local->empty);
	mailbox_close(local->filled);
	pthread_join(local->reader, NULL);
}

/* The reader has ended: the last commits are confirmed here. */
static void free_batches(struct local *local, struct mailbox *box)
{
	struct error ignored = { 0 };
	void *batch;

	while (mailbox_take(box, &batch, 0) == MAIL_TAKEN) {
		confirm(local->pipeline, batch, &ignored);
		batch_free(batch);
	}
	mailbox_free(box);
}

static bool run_threads(struct local *local, struct error *err)
{
	bool is_fine;

	local->empty = mailbox_new(BATCHES);
	local->filled = mailbox_new(BATCHES);
	for (int i = 0; i < BATCHES; i++)
		mailbox_post(local->empty, batch_new(), 0);
	local->letters = letters_new(local->setup, local->pipeline);
	local->source_has_ended = local->setup->is_replay;
	pthread_create(&local->reader, NULL, reader_main, local);
	is_fine = write_batches(local, err);
	end_reader(local);
	free_batches(local, local->empty);
	free_batches(local, local->filled);
	if (is_fine && local->reader_failed) {
		*err = local->reader_error;
		is_fine = false;
	}
	return is_fine;
}

static size_t paced_batch(int64_t messages_per_s)
{
	return messages_per_s ? (size_t)messages_per_s / PACED_BATCHES_A_S + 1 : 0;
}

bool run_local(const struct run_setup *setup, struct error *err)
{
	struct local local = { .setup = setup };
	struct pipeline_setup pipeline_setup = {
		.options = setup->options,
		.home = setup->home,
		.progress = setup->progress,
		.is_followed = !setup->until_idle,
		.from_start = setup->from_start,
		.batch_messages = paced_batch(setup->pace_messages_per_s),
		.on_event = setup->on_event,
		.context = setup->context,
		.without_source = setup->is_replay,
	};
	struct replay_view replay;
	bool is_fine;

	replay_desk_look(setup->desk, &replay);
	pipeline_setup.replay = replay.phase == REPLAY_RUNS ? replay.run.run : 0;
	if (!(local.pipeline = pipeline_open(&pipeline_setup, err)))
		return false;
	if (!(local.merge = merge_thread_start(setup, err))) {
		pipeline_close(local.pipeline);
		return false;
	}
	progress_begin(setup->progress);
	run_say(setup, STATE_OK, "", "running");
	is_fine = (setup->is_replay || unpark_with_patience(&local, err)) && run_threads(&local, err);
	/* Opened anew, the job goes on with the replay. */
	if (setup->desk && (!is_fine || atomic_load(setup->wish) != RUN_AGAIN))
		pipeline_end_replay(local.pipeline, setup->desk, is_fine ? NULL : err);
	/* What is committed is merged even if the reader failed: the replica shows what is safe. */
	is_fine = merge_thread_finish(local.merge, is_fine ? err : NULL) && is_fine;
	crash_point(drained);
	if (setup->out_note && local.pipeline->source)
		local.pipeline->source->ops->note(local.pipeline->source, setup->out_note);
	pipeline_close(local.pipeline);
	return is_fine;
}
