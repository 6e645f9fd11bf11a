/*
 * What waits in the subscriptions, asked of Monitoring once a minute. Such a call may take
 * its time, and leases may not wait for it: a thread does it that lives only as long as
 * the question, so a job at rest keeps none.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "source/pubsub_private.h"

#include <stdlib.h>

#define FIRST_MS 2000     /* short runs ask nothing */
#define WAIT_MS 2000      /* for one answer; a job that ends waits no longer */
#define DENIED_MS 600000  /* a right that is missing does not come by itself */

struct backlog_watch {
	struct pubsub *of;
	pthread_t thread;
	bool is_asking;
	int64_t due_ms;                   /* when it is asked next */
	atomic_bool is_done, is_ending;
	struct backlog *found;            /* the thread's while it asks: one a channel */
	struct error failure;
};

/* An emulator's subscriptions are none of Google's Monitoring. */
static bool has_monitoring(struct google *google)
{
	return !google_is_emulated(google, SERVICE_PUBSUB) || google_is_emulated(google, SERVICE_MONITORING);
}

void backlog_begin(struct pubsub *pubsub, int64_t now_ms)
{
	struct backlog_watch *watch;

	for (size_t i = 0; i < pubsub->channel_count; i++)
		pubsub->channels[i].backlog = (struct backlog){ .messages = -1, .oldest_s = -1 };
	if (!pubsub->is_followed || !has_monitoring(pubsub->google))
		return;
	watch = memory_zalloc(sizeof(*watch));
	watch->of = pubsub;
	watch->due_ms = now_ms + FIRST_MS;
	watch->found = memory_zalloc(pubsub->channel_count * sizeof(*watch->found));
	pubsub->watch = watch;
}

static void *ask_all(void *context)
{
	struct backlog_watch *watch = context;
	struct pubsub *pubsub = watch->of;
	struct rest_setup setup = { .ca_file = google_ca_file(pubsub->google) };
	struct rest_client *rest = rest_open(&setup, &watch->failure);

	for (size_t i = 0; rest && i < pubsub->channel_count && !atomic_load(&watch->is_ending); i++) {
		if (!backlog_ask(pubsub->google, rest, pubsub->channels[i].name, WAIT_MS, &watch->found[i], &watch->failure))
			break;
	}
	rest_close(rest);
	atomic_store(&watch->is_done, true);
	pubsub_ring(pubsub);
	return NULL;
}

static void ask(struct backlog_watch *watch, int64_t now_ms)
{
	for (size_t i = 0; i < watch->of->channel_count; i++)
		watch->found[i] = (struct backlog){ .messages = -1, .oldest_s = -1 };
	watch->failure = (struct error){ 0 };
	atomic_store(&watch->is_done, false);
	watch->is_asking = pthread_create(&watch->thread, NULL, ask_all, watch) == 0;
	watch->due_ms = now_ms + BACKLOG_EVERY_MS;
}

/* What was not answered stays as it was: it has its moment beside it. */
static void take_answers(struct backlog_watch *watch, int64_t now_ms)
{
	struct pubsub *pubsub = watch->of;

	pthread_join(watch->thread, NULL);
	watch->is_asking = false;
	watch->due_ms = now_ms + (watch->failure.kind == ERROR_ACCESS ? DENIED_MS : BACKLOG_EVERY_MS);
	for (size_t i = 0; i < pubsub->channel_count; i++) {
		if (watch->found[i].messages >= 0)
			pubsub->channels[i].backlog = watch->found[i];
	}
	pubsub->backlog_failure = watch->failure;
}

void backlog_step(struct pubsub *pubsub, int64_t now_ms)
{
	struct backlog_watch *watch = pubsub->watch;

	if (!watch)
		return;
	if (watch->is_asking && atomic_load(&watch->is_done))
		take_answers(watch, now_ms);
	if (!watch->is_asking && now_ms >= watch->due_ms)
		ask(watch, now_ms);
}

int64_t backlog_due_ms(const struct pubsub *pubsub)
{
	return pubsub->watch && !pubsub->watch->is_asking ? pubsub->watch->due_ms : INT64_MAX;
}

void backlog_end(struct pubsub *pubsub)
{
	struct backlog_watch *watch = pubsub->watch;

	if (!watch)
		return;
	atomic_store(&watch->is_ending, true);
	if (watch->is_asking)
		pthread_join(watch->thread, NULL);
	free(watch->found);
	free(watch);
	pubsub->watch = NULL;
}
