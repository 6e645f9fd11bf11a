/* The desk: one replay at a time, a few numbers behind one lock. */
#include "pipeline/replay.h"

#include "base/arena.h"
#include "base/clock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#define LOOK_MS 20

struct replay_desk {
	pthread_mutex_t lock;
	struct replay_view view;
};

struct replay_desk *replay_desk_new(void)
{
	struct replay_desk *desk = memory_zalloc(sizeof(*desk));

	pthread_mutex_init(&desk->lock, NULL);
	return desk;
}

void replay_desk_free(struct replay_desk *desk)
{
	if (!desk)
		return;
	pthread_mutex_destroy(&desk->lock);
	free(desk);
}

void replay_desk_look(struct replay_desk *desk, struct replay_view *out)
{
	*out = (struct replay_view){ .phase = REPLAY_NONE };
	if (!desk)
		return;
	pthread_mutex_lock(&desk->lock);
	*out = desk->view;
	pthread_mutex_unlock(&desk->lock);
}

/*
 * Who asks
 */

bool replay_desk_ask(struct replay_desk *desk, const struct replay_wish *wish, struct error *err)
{
	bool is_free;
	int64_t group;

	pthread_mutex_lock(&desk->lock);
	is_free = desk->view.phase == REPLAY_NONE;
	group = desk->view.wish.group;
	if (is_free)
		desk->view = (struct replay_view){ .phase = REPLAY_ASKED, .wish = *wish };
	pthread_mutex_unlock(&desk->lock);
	return is_free || fail(err, ERROR_CONFIG, "replay_running", "group %" PRId64 " of this job is being replayed", group);
}

void replay_desk_leave(struct replay_desk *desk, struct replay_view *out)
{
	pthread_mutex_lock(&desk->lock);
	*out = desk->view;
	desk->view = (struct replay_view){ .phase = REPLAY_NONE };
	pthread_mutex_unlock(&desk->lock);
}

bool replay_desk_wait(struct replay_desk *desk, int64_t wait_ms, struct replay_view *out)
{
	int64_t until_ms = clock_mono_ms() + wait_ms;

	replay_desk_look(desk, out);
	while (out->phase != REPLAY_ENDED && clock_mono_ms() < until_ms) {
		clock_sleep_ms(LOOK_MS);
		replay_desk_look(desk, out);
	}
	if (out->phase != REPLAY_ENDED)
		return false;
	replay_desk_leave(desk, out);
	return true;
}

void replay_desk_stop(struct replay_desk *desk)
{
	pthread_mutex_lock(&desk->lock);
	desk->view.should_stop = true;
	pthread_mutex_unlock(&desk->lock);
}

/*
 * The job's threads
 */

void replay_desk_begun(struct replay_desk *desk, const struct dlq_replay *run)
{
	pthread_mutex_lock(&desk->lock);
	desk->view.phase = REPLAY_RUNS;
	desk->view.run = *run;
	pthread_mutex_unlock(&desk->lock);
}

void replay_desk_count(struct replay_desk *desk, const uint64_t outcomes[LETTER_OUTCOMES])
{
	pthread_mutex_lock(&desk->lock);
	desk->view.run.done += outcomes[LETTER_IS_DONE];
	desk->view.run.no_effect += outcomes[LETTER_HAD_NO_EFFECT];
	desk->view.run.failed_again += outcomes[LETTER_FAILED];
	desk->view.run.left += outcomes[LETTER_IS_LEFT];
	pthread_mutex_unlock(&desk->lock);
}

void replay_desk_fail(struct replay_desk *desk, const struct error *failure)
{
	pthread_mutex_lock(&desk->lock);
	desk->view.failure = *failure;
	pthread_mutex_unlock(&desk->lock);
}

void replay_desk_end(struct replay_desk *desk, const struct dlq_replay *run, const struct error *failure)
{
	pthread_mutex_lock(&desk->lock);
	if (run) {
		uint64_t claimed = desk->view.run.claimed, unfit = desk->view.run.unfit;

		desk->view.run = *run;
		desk->view.run.claimed = claimed;
		desk->view.run.unfit = unfit;
	}
	if (failure)
		desk->view.failure = *failure;
	desk->view.phase = REPLAY_ENDED;
	pthread_mutex_unlock(&desk->lock);
}
