/*
 * Patience: what passes by itself (a full disk, a locked file) is waited for, however long. The thread that waits has a
 * word of its own in the job's progress, so that what one of them says hides nothing of the others.
 */
#include "base/clock.h"
#include "runner/runner_private.h"

#define RETRY_FIRST_MS 100
#define RETRY_MOST_MS 5000
#define WISH_LOOK_MS 20

void run_tell(const struct run_setup *setup)
{
	if (setup->on_state)
		setup->on_state(setup->context);
}

void run_say(const struct run_setup *setup, enum job_state state, const char *code, const char *sentence)
{
	progress_set_state(setup->progress, state, code, sentence);
	run_tell(setup);
}

/* A reader has nothing in hand: it need not wait when no more is wanted of it. */
static bool is_cut_short(const struct patience *patience)
{
	return patience->thread == THREAD_READER ? run_should_end(patience->setup) : run_should_leave(patience->setup);
}

/* In short pieces, so that a wish is seen. */
static void sleep_patiently(const struct patience *patience)
{
	int64_t until_ms = clock_mono_ms() + patience->wait_ms;

	while (clock_mono_ms() < until_ms && !is_cut_short(patience))
		clock_sleep_ms(WISH_LOOK_MS);
}

bool patience_wait(struct patience *patience, const struct error *failure)
{
	bool is_first = !patience->wait_ms;

	if (error_policies[failure->kind].batch != BATCH_RETRY)
		return false;
	patience->wait_ms = is_first                                  ? RETRY_FIRST_MS
	                    : patience->wait_ms * 2 < RETRY_MOST_MS ? patience->wait_ms * 2
	                                                              : RETRY_MOST_MS;
	progress_wait(patience->setup->progress, patience->thread, failure->code, failure->message, patience->wait_ms);
	if (is_first)
		run_tell(patience->setup);
	sleep_patiently(patience);
	return true;
}

void patience_over(struct patience *patience)
{
	if (!patience->wait_ms)
		return;
	patience->wait_ms = 0;
	progress_go_on(patience->setup->progress, patience->thread);
	run_tell(patience->setup);
}

void run_tell_wait(const struct run_setup *setup, enum job_thread thread, const struct error *failure)
{
	progress_wait(setup->progress, thread, failure->code, failure->message, failure->retry_after_ms);
	run_tell(setup);
}
