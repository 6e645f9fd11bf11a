/*
 * A job in three threads: reader (source, transform), writer (sink, dead letters,
 * position), merger (replica); the caller's thread waits for them. Batches go round between two
 * mailboxes, so memory is bounded by their number; nothing else is shared but
 * the flags in struct local. Here they are made and ended; a job without work
 * lets all of it go but its open source, rests (rest.c), and is opened again.
 */
#include "base/clock.h"
#include "base/crash.h"
#include "base/mailbox.h"
#include "pipeline/post.h"
#include "runner/runner_private.h"

#include <stdlib.h>

#define PACED_BATCHES_A_S 10 /* a paced run moves in small steps */
#define REST_AFTER_MS 2000
#define REST_AFTER_MOST_MS 60000
#define LONG_REST_MS 30000   /* a job that is woken sooner waits twice as long before its next rest */

bool run_make_thread(const struct run_setup *setup, pthread_t *out, void *(*body)(void *), void *context,
                     struct error *err)
{
	int failed = pthread_create(out, NULL, body, context);

	return failed == 0 || fail(err, ERROR_TRANSIENT, "no_threads", "cannot make a thread for job '%s': %s",
	                           setup->options->name, strerror(failed));
}

/*
 * Threads
 */

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
	void *batch;

	while (mailbox_take(box, &batch, 0) == MAIL_TAKEN) {
		reader_confirm(local->pipeline, batch);
		batch_free(batch);
	}
	mailbox_free(box);
}

static void end_threads(struct local *local)
{
	end_reader(local);
	free_batches(local, local->empty);
	free_batches(local, local->filled);
}

/* Before anything is opened, so that without them nothing has begun: the reader waits for a batch, the merger for its
 * word. */
static bool make_threads(struct local *local, struct error *err)
{
	local->empty = mailbox_new(RUN_BATCHES);
	local->filled = mailbox_new(RUN_BATCHES);
	local->source_has_ended = local->setup->is_replay;
	if (!run_make_thread(local->setup, &local->reader, reader_main, local, err)) {
		mailbox_free(local->empty);
		mailbox_free(local->filled);
		return false;
	}
	local->merge = merge_thread_start(local->setup, &local->told_lost, err);
	if (!local->merge)
		end_threads(local);
	return local->merge != NULL;
}

/*
 * Opening
 */

static size_t paced_batch(int64_t messages_per_s)
{
	return messages_per_s ? (size_t)messages_per_s / PACED_BATCHES_A_S + 1 : 0;
}

static void ring(void *wish)
{
	run_wake(wish);
}

static bool open_pipeline(struct local *local, struct error *err)
{
	const struct run_setup *setup = local->setup;
	struct pipeline_setup pipeline_setup = {
		.options = setup->options,
		.home = setup->home,
		.progress = setup->progress,
		.is_followed = !setup->until_idle,
		.from_start = setup->from_start && !local->source,
		.batch_messages = paced_batch(setup->pace_messages_per_s),
		.on_event = setup->on_event,
		.on_note = setup->on_note,
		.context = setup->context,
		.google = setup->google,
		.without_source = setup->is_replay,
		.kept_source = local->source,
		.on_news = ring,
		.news_context = setup->wish,
	};
	struct replay_view replay;

	replay_desk_look(setup->desk, &replay);
	pipeline_setup.replay = replay.phase == REPLAY_RUNS ? replay.run.run : 0;
	if (!(local->pipeline = pipeline_open(&pipeline_setup, err)))
		return false;
	local->source = NULL;
	return true;
}

static bool open_all(struct local *local, struct error *err)
{
	if (!make_threads(local, err))
		return false;
	if (open_pipeline(local, err))
		return true;
	end_threads(local);
	merge_thread_finish(local->merge, NULL);
	return false;
}

/* A job that has run can wait for what passes; one that is started is told at once. False without an error: something
 * was wished meanwhile, and there is nothing to do for it. */
static bool open_with_patience(struct local *local, struct error *err)
{
	struct patience patience = { .setup = local->setup, .thread = THREAD_WRITER };
	struct error failure = { 0 };

	while (!open_all(local, &failure)) {
		if (!local->source || !patience_wait(&patience, &failure)) {
			*err = failure;
			return false;
		}
		if (run_should_end(local->setup))
			return false;
		failure = (struct error){ 0 };
	}
	return true;
}

/*
 * Running and resting
 */

static bool work(struct local *local, struct error *err)
{
	bool is_fine = local->setup->is_replay || writer_unpark(local, err);

	/* What is in the folder when the job starts comes with this run, also where it ends at the end of its feed. */
	if (is_fine && !local->setup->is_replay)
		post_turn(local->pipeline->post, local->setup->desk, local->setup->until_idle ? POST_BEGIN : POST_MEANWHILE);
	for (int i = 0; is_fine && i < RUN_BATCHES; i++)
		mailbox_post(local->empty, batch_new(), 0);
	is_fine = is_fine && writer_run(local, err);
	end_threads(local);
	post_turn(local->pipeline->post, local->setup->desk, POST_END);
	if (is_fine && local->reader_failed)
		*err = local->reader_error;
	return is_fine && !local->reader_failed;
}

static void tell_note(const struct run_setup *setup, struct source *source)
{
	if (setup->out_note && source)
		source->ops->note(source, setup->out_note);
}

static void close_pipeline(struct local *local)
{
	tell_note(local->setup, local->pipeline->source);
	if (local->rests) {
		local->source = local->pipeline->source;
		local->pipeline->source = NULL;
	}
	pipeline_close(local->pipeline);
	local->pipeline = NULL;
}

/* Until there is nothing to do, for ever or for now. */
static bool run_awake(struct local *local, struct error *err)
{
	const struct run_setup *setup = local->setup;
	bool is_fine;

	local->rests = false;
	if (!open_with_patience(local, err))
		return err->kind == ERROR_NONE;
	local->letters = letters_new(setup, local->pipeline);
	progress_begin(setup->progress);
	run_say(setup, STATE_OK, "", "running");
	merge_thread_begin(local->merge);
	is_fine = work(local, err);
	/* Opened anew, the job goes on with the replay. */
	if (setup->desk && (!is_fine || (!local->rests && atomic_load(setup->wish) != RUN_AGAIN)))
		pipeline_end_replay(local->pipeline, setup->desk, is_fine ? NULL : err);
	/* What is committed is merged even if the reader failed: the replica shows what is safe. */
	is_fine = merge_thread_finish(local->merge, is_fine ? err : NULL) && is_fine;
	crash_point(drained);
	local->rests = local->rests && is_fine;
	close_pipeline(local);
	return is_fine;
}

static void rest(struct local *local)
{
	int64_t began_ms = clock_mono_ms(), twice_ms = local->rest_after_ms * 2;

	run_rest(local->setup, local->source);
	if (clock_mono_ms() - began_ms >= LONG_REST_MS)
		local->rest_after_ms = REST_AFTER_MS;
	else
		local->rest_after_ms = twice_ms < REST_AFTER_MOST_MS ? twice_ms : REST_AFTER_MOST_MS;
}

struct awake {
	struct local *local;
	struct error *err;
	bool is_fine;
};

static void *awake_main(void *context)
{
	struct awake *awake = context;

	awake->is_fine = run_awake(awake->local, awake->err);
	return NULL;
}

/* What works is not what sleeps: a thread keeps what it has freed, 150 KB of a job, for itself until it ends. Where no
 * thread is to be had the job wakes in this one. */
static bool wake(struct local *local, struct error *err)
{
	struct awake awake = { .local = local, .err = err };
	pthread_t writer;

	if (pthread_create(&writer, NULL, awake_main, &awake) != 0)
		return run_awake(local, err);
	pthread_join(writer, NULL);
	return awake.is_fine;
}

bool run_local(const struct run_setup *setup, struct error *err)
{
	struct local local = { .setup = setup, .rest_after_ms = REST_AFTER_MS };
	struct letters_out *letters_out;
	bool is_fine = letters_out_start(setup, &letters_out, err) && wake(&local, err);

	while (is_fine && local.rests) {
		rest(&local);
		if (run_should_end(setup))
			break;
		is_fine = wake(&local, err);
	}
	tell_note(setup, local.source);
	if (local.source) {
		progress_set_source(setup->progress, NULL);
		local.source->ops->close(local.source);
	}
	letters_out_end(letters_out);
	return is_fine;
}
