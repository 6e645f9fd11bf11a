/* The state that a job shows: its own, or the worst wait of one of its threads. */
#include "pipeline/progress_private.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

static const char *const state_names[JOB_STATES] = {
	[STATE_NEEDS_YOU] = "needs you",
	[STATE_RETRYING] = "retrying",
	[STATE_WAITING] = "waiting",
	[STATE_CATCHING_UP] = "catching up",
	[STATE_PAUSED] = "paused",
	[STATE_DRAINING] = "draining",
	[STATE_OK] = "ok",
	[STATE_STOPPED] = "stopped",
};

const char *progress_state_name(enum job_state state)
{
	return state_names[state];
}

enum job_state progress_state_shown(const struct progress_view *view)
{
	return view->state == STATE_OK && view->is_behind ? STATE_CATCHING_UP : view->state;
}

/* True: `a` is to be shown rather than `b`. */
static bool is_worse(const struct word *a, const struct word *b)
{
	return a->state != b->state ? a->state < b->state : a->since_us < b->since_us;
}

static void show_locked(struct progress *progress)
{
	const struct word *shown = &progress->own;
	struct progress_view *view = &progress->view;

	for (int i = 0; shown->state != STATE_STOPPED && i < JOB_THREADS; i++) {
		if (progress->waits[i].state != STATE_OK && is_worse(&progress->waits[i], shown))
			shown = &progress->waits[i];
	}
	view->state = shown->state;
	view->since_us = shown->since_us;
	view->until_us = shown->until_us;
	memcpy(view->code, shown->code, sizeof(view->code));
	memcpy(view->sentence, shown->sentence, sizeof(view->sentence));
	view->version++;
}

/* A word that says the same again goes on since it was said first. */
static void word_set(struct word *word, enum job_state state, const char *code, const char *sentence)
{
	if (word->state != state || strcmp(word->code, code) != 0)
		word->since_us = clock_utc_us();
	word->until_us = 0;
	word->state = state;
	snprintf(word->code, sizeof(word->code), "%s", code);
	snprintf(word->sentence, sizeof(word->sentence), "%s", sentence);
}

void words_begin_locked(struct progress *progress)
{
	for (int i = 0; i < JOB_THREADS; i++)
		progress->waits[i] = (struct word){ .state = STATE_OK };
}

void progress_set_state(struct progress *progress, enum job_state state, const char *code, const char *sentence)
{
	pthread_mutex_lock(&progress->lock);
	word_set(&progress->own, state, code ? code : "", sentence ? sentence : "");
	show_locked(progress);
	pthread_mutex_unlock(&progress->lock);
}

void progress_wait(struct progress *progress, enum job_thread thread, const char *code, const char *sentence,
                   int64_t wait_ms)
{
	struct word *word = &progress->waits[thread];

	pthread_mutex_lock(&progress->lock);
	word_set(word, STATE_WAITING, code, sentence);
	word->until_us = clock_utc_us() + wait_ms * 1000;
	progress->view.retries++;
	show_locked(progress);
	pthread_mutex_unlock(&progress->lock);
}

void progress_go_on(struct progress *progress, enum job_thread thread)
{
	pthread_mutex_lock(&progress->lock);
	progress->waits[thread] = (struct word){ .state = STATE_OK };
	show_locked(progress);
	pthread_mutex_unlock(&progress->lock);
}
