/* Where dead letters go, and what keeps them from getting there: for whoever looks at the job. */
#include "pipeline/progress_private.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

static void fail_locked(struct letters_view *view, const struct error *failure, int64_t wait_ms)
{
	enum job_state state = error_policies[failure->kind].batch == BATCH_RETRY ? STATE_WAITING : STATE_NEEDS_YOU;
	int64_t now_us = clock_utc_us();

	if (view->state != state || strcmp(view->failure.code, failure->code) != 0)
		view->since_us = now_us;
	view->until_us = now_us + wait_ms * 1000;
	view->state = state;
	view->failure = *failure;
}

void progress_set_letters(struct progress *progress, enum letters_way way, const char *target, const struct error *failure,
                          int64_t wait_ms)
{
	struct letters_view *view = &progress->letters[way];

	pthread_mutex_lock(&progress->lock);
	if (!failure)
		*view = (struct letters_view){ .state = STATE_OK };
	else
		fail_locked(view, failure, wait_ms);
	snprintf(view->target, sizeof(view->target), "%s", target);
	progress->view.version++;
	pthread_mutex_unlock(&progress->lock);
}

bool progress_letters(struct progress *progress, enum letters_way way, struct letters_view *out)
{
	pthread_mutex_lock(&progress->lock);
	*out = progress->letters[way];
	pthread_mutex_unlock(&progress->lock);
	return *out->target;
}
