/* What a running job shows: a few numbers behind one lock. */
#include "pipeline/progress.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct progress {
	pthread_mutex_t lock;
	struct progress_view view;
};

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

struct progress *progress_new(void)
{
	struct progress *progress = memory_zalloc(sizeof(*progress));

	pthread_mutex_init(&progress->lock, NULL);
	progress->view.state = STATE_STOPPED;
	return progress;
}

void progress_free(struct progress *progress)
{
	if (!progress)
		return;
	pthread_mutex_destroy(&progress->lock);
	free(progress);
}

void progress_set_state(struct progress *progress, enum job_state state, const char *code, const char *sentence)
{
	pthread_mutex_lock(&progress->lock);
	progress->view.state = state;
	snprintf(progress->view.code, sizeof(progress->view.code), "%s", code ? code : "");
	snprintf(progress->view.sentence, sizeof(progress->view.sentence), "%s", sentence ? sentence : "");
	pthread_mutex_unlock(&progress->lock);
}

void progress_begin(struct progress *progress)
{
	pthread_mutex_lock(&progress->lock);
	progress->view.in_flight = 0;
	pthread_mutex_unlock(&progress->lock);
}

void progress_set_total(struct progress *progress, const struct ledger *total)
{
	pthread_mutex_lock(&progress->lock);
	progress->view.total = *total;
	pthread_mutex_unlock(&progress->lock);
}

void progress_taken(struct progress *progress, uint64_t messages, uint64_t bytes)
{
	pthread_mutex_lock(&progress->lock);
	progress->view.in_flight += messages;
	progress->view.bytes += bytes;
	pthread_mutex_unlock(&progress->lock);
}

void progress_committed(struct progress *progress, const struct ledger *added)
{
	struct progress_view *view = &progress->view;

	pthread_mutex_lock(&progress->lock);
	ledger_add(&view->total, added);
	ledger_add(&view->this_run, added);
	view->in_flight -= added->received < view->in_flight ? added->received : view->in_flight;
	pthread_mutex_unlock(&progress->lock);
}

void progress_look(struct progress *progress, struct progress_view *out)
{
	pthread_mutex_lock(&progress->lock);
	*out = progress->view;
	pthread_mutex_unlock(&progress->lock);
}
