/* The reader's thread: source and letters in turn, transform, full batches on to the writer; and when to rest. */
#include "base/clock.h"
#include "base/crash.h"
#include "base/mailbox.h"
#include "runner/runner_private.h"

#define IDLE_WAIT_MS 100   /* how soon a reader without input sees the drain flag, and after long rest */
#define IDLE_WAIT_MOST_MS 1000
#define LETTERS_LOOK_MS 10 /* how soon letters that wait for their time are looked at again */

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

/* One try a round: in between the reader looks at what is wished. The source gives again what it could not give. */
static void fill_with_patience(struct local *local, struct batch *batch, int64_t until_ms)
{
	struct error failure = { 0 };

	if (pipeline_fill(local->pipeline, batch, until_ms, &failure)) {
		patience_over(&local->patience);
		return;
	}
	if (!batch->is_last && patience_wait(&local->patience, &failure))
		return;
	local->reader_failed = true;
	local->reader_error = failure;
}

/* That the source has nothing more for now is told once what it gave is committed: the merge that follows then takes all.
 * At its end there is a last merge anyway. Who reads slowly on purpose is never behind. */
static void tell_merger(const struct local *local, const struct batch *batch)
{
	bool has_more = (batch->has_more && !local->setup->pace_messages_per_s) || batch->is_last;

	if (batch->message_count || (!batch->is_last && mailbox_count(local->empty) == RUN_BATCHES - 1))
		merge_thread_source(local->merge, has_more);
}

/* What is wrong with one place that the source reads from, while others go on: nobody waits for it, but it is said. */
static void tell_trouble(struct local *local)
{
	struct source *source = local->pipeline->source;
	struct error trouble = { 0 };
	bool has_trouble = source->ops->trouble && source->ops->trouble(source, &trouble);
	bool is_new = strcmp(trouble.message, local->trouble.message) != 0 || trouble.kind != local->trouble.kind;
	bool passes = error_policies[trouble.kind].batch == BATCH_RETRY;

	if (!is_new)
		return;
	if (local->trouble_passes)
		progress_go_on(local->setup->progress, THREAD_READER);
	else if (local->trouble.kind != ERROR_NONE)
		run_say(local->setup, STATE_OK, "", "running");
	local->trouble = trouble;
	local->trouble_passes = passes;
	if (!has_trouble)
		run_tell(local->setup);
	else if (passes)
		run_tell_wait(local->setup, THREAD_READER, &trouble);
	else
		run_say(local->setup, STATE_NEEDS_YOU, trouble.code, trouble.message);
}

static void read_source(struct local *local, struct batch *batch, uint64_t *messages)
{
	int64_t until_ms = letters_wait_until_ms(local->letters, clock_mono_ms() + local->idle_wait_ms);

	if (local->source_has_ended) {
		clock_sleep_ms(LETTERS_LOOK_MS);
		return;
	}
	fill_with_patience(local, batch, until_ms);
	tell_trouble(local);
	*messages += batch->message_count;
	if (batch->message_count)
		local->idle_since_ms = 0;
	else if (!local->idle_since_ms)
		local->idle_since_ms = clock_mono_ms();
	local->idle_wait_ms = batch->message_count ? IDLE_WAIT_MS : longer_wait(local->idle_wait_ms, IDLE_WAIT_MOST_MS);
	progress_taken(local->setup->progress, batch->message_count, body_bytes(batch));
	local->source_has_ended = batch->is_last;
	tell_merger(local, batch);
}

/* A replay that has begun is read to its end, also behind the last message. */
static bool has_read_all(const struct local *local)
{
	return local->source_has_ended && !letters_are_open(local->letters) &&
	       (!local->setup->is_replay || letters_have_ended(local->letters));
}

/* One that cannot be told now is told with the next; until then the source only gives again what is known to be a
 * repeat. */
void reader_confirm(struct pipeline *p, struct batch *batch)
{
	struct error ignored = { 0 };

	if (batch->is_committed && !batch->replay && p->source)
		p->source->ops->confirm(p->source, &batch->end, &ignored);
	if (batch->is_committed)
		crash_point(confirmed);
	batch->is_committed = false;
}

bool run_is_asked_to_replay(const struct run_setup *setup)
{
	struct replay_view view;

	replay_desk_look(setup->desk, &view);
	return view.phase == REPLAY_ASKED || view.phase == REPLAY_RUNS;
}

/* Nothing to read for a while, nothing on its way (the batch in hand is empty), nothing to merge, nothing to replay. */
static bool may_rest(const struct local *local)
{
	/* A folder tells nobody that an entry has come. */
	return !local->pipeline->post && local->idle_since_ms && clock_mono_ms() - local->idle_since_ms >= local->rest_after_ms &&
	       !local->setup->until_idle && !local->setup->is_replay && source_may_rest(local->pipeline->source) &&
	       mailbox_count(local->empty) == RUN_BATCHES - 1 && merge_thread_rests(local->merge) &&
	       !letters_are_open(local->letters) && !run_is_asked_to_replay(local->setup) &&
	       !atomic_load(&local->has_trouble);
}

/* A closed box takes nothing: the writer has ended, and nobody else has the batch. */
static bool hand_on(struct mailbox *box, struct batch *batch)
{
	if (mailbox_post(box, batch, -1) == MAIL_TAKEN)
		return true;
	batch_free(batch);
	return false;
}

/* Takes all other batches, so that nothing is on its way, and hands on one that says so; when it comes back, so has what
 * was parked. Mapping is the writer's meanwhile: the reader only waits. */
static bool bring_back(struct local *local, struct batch *batch)
{
	void *others[RUN_BATCHES], *back;
	size_t count = 0;
	bool is_fine = true;

	while (count < RUN_BATCHES - 1 && (is_fine = mailbox_take(local->empty, &others[count], -1) == MAIL_TAKEN))
		reader_confirm(local->pipeline, others[count++]);
	batch->brings_back = is_fine;
	if (!is_fine || !hand_on(local->filled, batch) || mailbox_take(local->empty, &back, -1) != MAIL_TAKEN)
		back = is_fine ? NULL : batch;
	if (back)
		others[count++] = back;
	for (size_t i = 0; i < count; i++) {
		((struct batch *)others[i])->brings_back = false;
		hand_on(local->empty, others[i]);
	}
	return is_fine && back;
}

/* True: the reader goes on. */
static bool read_batch(struct local *local, struct batch *batch, uint64_t *messages)
{
	bool ends = run_should_end(local->setup);
	struct error ignored = { 0 };

	reader_confirm(local->pipeline, batch);
	batch_reset(batch);
	if (!ends && atomic_load(&local->wants_back))
		return bring_back(local, batch);
	if (!ends && letters_have_turn(local->letters, !local->source_has_ended))
		letters_fill(local->letters, batch);
	else if (!ends)
		read_source(local, batch, messages);
	/* A merger that has given up ends the job, also one to which nothing comes any more. */
	ends = ends || local->reader_failed || has_read_all(local) || merge_thread_failed(local->merge, &ignored);
	if (batch->message_count || batch->changes || batch->notes || batch->ends_replay)
		return hand_on(local->filled, batch) && !ends;
	local->rests = !ends && may_rest(local);
	ends = ends || local->rests;
	return hand_on(local->empty, batch) && !ends;
}

void *reader_main(void *context)
{
	struct local *local = context;
	int64_t begun_ms = clock_mono_ms();
	uint64_t messages = 0;
	void *batch;

	local->idle_wait_ms = IDLE_WAIT_MS;
	local->idle_since_ms = 0;
	local->trouble = (struct error){ 0 };
	local->trouble_passes = false;
	local->patience = (struct patience){ .setup = local->setup, .thread = THREAD_READER };
	while (mailbox_take(local->empty, &batch, -1) == MAIL_TAKEN && read_batch(local, batch, &messages))
		keep_pace(local, begun_ms, messages);
	letters_free(local->letters);
	local->letters = NULL;
	mailbox_close(local->filled);
	return NULL;
}

