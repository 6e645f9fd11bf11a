/*
 * The keeper: the source's one thread. It has the streams of all subscriptions of the
 * job, the leases of what they gave, and the calls; it sleeps until one of them or
 * somebody else rings, or something is due.
 */
#include "base/clock.h"
#include "source/pubsub_private.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LOOK_MS 1000 /* at least so often words and figures are brought up to date while something is held or wrong */

void pubsub_ring(struct pubsub *pubsub)
{
	if (!atomic_exchange(&pubsub->is_rung, true))
		eventfd_write(pubsub->bell, 1);
}

/* On the client's thread, under its lock. */
void pubsub_on_ready(void *context)
{
	pubsub_ring(context);
}

static void acknowledge(void *context, uint32_t index, struct span ids, uint32_t count, int64_t held_ms)
{
	struct pubsub *pubsub = context;
	struct channel *channel = &pubsub->channels[index];

	lease_learn(&channel->lease, held_ms, count);
	channel_acknowledge(channel, ids, count, clock_mono_ms());
}

/* What was confirmed leaves in as few calls as it fits into. */
static void take_confirmed(struct pubsub *pubsub, int64_t now_ms)
{
	held_confirm(&pubsub->held, atomic_load(&pubsub->confirmed), now_ms, acknowledge, pubsub);
	for (size_t i = 0; i < pubsub->channel_count; i++)
		errand_send_acks(&pubsub->channels[i], now_ms);
}

/* What came in this round, to the reader. */
static void hand_over(struct pubsub *pubsub)
{
	bool is_first;

	if (!pubsub->fresh)
		return;
	pthread_mutex_lock(&pubsub->lock);
	is_first = !pubsub->first;
	if (is_first)
		pubsub->first = pubsub->fresh;
	else
		pubsub->last->next = pubsub->fresh;
	while (pubsub->fresh) {
		pubsub->last = pubsub->fresh;
		pubsub->fresh = pubsub->fresh->next;
	}
	pubsub->queued_bytes += pubsub->fresh_bytes;
	if (pubsub->is_waited_for)
		pthread_cond_signal(&pubsub->more);
	pthread_mutex_unlock(&pubsub->lock);
	pubsub->fresh_end = &pubsub->fresh;
	pubsub->fresh_bytes = 0;
	if (is_first && pubsub->on_news)
		pubsub->on_news(pubsub->context);
}

/* A running call that extends tells already how long such calls take, at least. */
static void watch_extending(struct pubsub *pubsub, int64_t now_ms)
{
	for (const struct errand *e = pubsub->errands; e; e = e->next) {
		if (e->kind == ERRAND_EXTEND && e->call && now_ms - e->sent_ms > pubsub->latency_ms)
			pubsub->latency_ms = now_ms - e->sent_ms;
	}
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static bool has_worries(const struct pubsub *pubsub)
{
	if (pubsub->held.count || pubsub->errands || !pubsub->is_followed)
		return true;
	for (size_t i = 0; i < pubsub->channel_count; i++) {
		if (!pubsub->channels[i].up_ms)
			return true;
	}
	return false;
}

static int64_t due_ms(const struct pubsub *pubsub, int64_t now_ms)
{
	int64_t due = earlier(earlier(pubsub->held.due_ms, errands_due_ms(pubsub)), backlog_due_ms(pubsub));

	for (size_t i = 0; i < pubsub->channel_count; i++)
		due = earlier(due, channel_due_ms(&pubsub->channels[i]));
	if (pubsub->is_untold)
		due = earlier(due, pubsub->told_ms + VIEW_MS);
	return has_worries(pubsub) ? earlier(due, now_ms + LOOK_MS) : due;
}

static void sleep_until(struct pubsub *pubsub, int64_t until_ms)
{
	struct pollfd bell = { .fd = pubsub->bell, .events = POLLIN };
	int64_t wait_ms = until_ms - clock_mono_ms();
	eventfd_t rings;

	if (wait_ms > 0 && !atomic_load(&pubsub->is_rung))
		poll(&bell, 1, wait_ms > KEEP_ALIVE_MS ? KEEP_ALIVE_MS : (int)wait_ms);
	/* Before anything is looked at: who rings from here on rings again. */
	if (atomic_exchange(&pubsub->is_rung, false))
		eventfd_read(pubsub->bell, &rings);
}

static void work(struct pubsub *pubsub)
{
	backlog_begin(pubsub, clock_mono_ms());
	while (!atomic_load(&pubsub->is_ending)) {
		int64_t now_ms = clock_mono_ms();

		take_confirmed(pubsub, now_ms);
		for (size_t i = 0; i < pubsub->channel_count; i++)
			channel_step(&pubsub->channels[i], now_ms);
		hand_over(pubsub);
		errands_extend(pubsub, now_ms);
		errands_step(pubsub, now_ms);
		watch_extending(pubsub, now_ms);
		backlog_step(pubsub, now_ms);
		keeper_tell(pubsub, now_ms);
		sleep_until(pubsub, due_ms(pubsub, now_ms));
	}
}

/* Last acknowledgements are made, and what was not begun is handed back, as long as that takes no longer than somebody
 * waits for it. What is lost here comes again, and is known. */
static void end(struct pubsub *pubsub)
{
	int64_t now_ms = clock_mono_ms(), until_ms = now_ms + CLOSE_MS, since_ms;

	for (size_t i = 0; i < pubsub->channel_count; i++)
		channel_stop(&pubsub->channels[i]);
	take_confirmed(pubsub, now_ms);
	errands_hand_back(pubsub, now_ms);
	errands_step(pubsub, now_ms);
	while (errands_open(pubsub, &since_ms) && (now_ms = clock_mono_ms()) < until_ms) {
		sleep_until(pubsub, earlier(until_ms, errands_due_ms(pubsub)));
		errands_step(pubsub, clock_mono_ms());
	}
	errands_drop(pubsub);
	backlog_end(pubsub);
}

void *keeper_main(void *context)
{
	struct pubsub *pubsub = context;

	work(pubsub);
	end(pubsub);
	return NULL;
}
