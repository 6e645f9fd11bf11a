/* What the source says of itself: figures, what is wrong in words, and whether it is at an end. */
#include "base/clock.h"
#include "source/pubsub_private.h"

#include <inttypes.h>

/* "14:07:31Z" */
static void moment(int64_t utc_us, char out[16])
{
	char text[CLOCK_TEXT_BYTES];

	clock_text(utc_us, text);
	snprintf(out, 16, "%.8sZ", text + sizeof("2026-11-30T") - 1);
}

/* Credentials know since when they are refused, and whose they are. */
static void say_failure(const struct channel *channel, const char *doing, const struct error *failure, int64_t since_us,
                        struct error *out)
{
	char at[16];

	moment(since_us, at);
	if (strcmp(failure->code, "auth_failed") == 0)
		fail(out, failure->kind, failure->code, "auth failed since %s: %s", at, failure->message);
	else if (strcmp(failure->code, "google_denied") == 0)
		fail(out, failure->kind, failure->code, "no permission pubsub.subscriptions.consume on %s since %s: %s",
		     channel->name, at, failure->message);
	else
		fail(out, failure->kind == ERROR_RECORD ? ERROR_CONFIG : failure->kind, failure->code, "%s since %s: %s", doing,
		     at, failure->message);
}

/* True: it is worth a word. */
static bool channel_trouble(const struct channel *channel, int64_t now_ms, struct error *out, int64_t *out_since_us)
{
	const struct error *failure = &channel->failure;

	if (failure->kind != ERROR_NONE && (!failure_passes(failure) || now_ms - channel->down_ms >= WORDS_MS)) {
		*out_since_us = channel->down_us;
		say_failure(channel, failure_passes(failure) ? "reconnecting" : "not read", failure, channel->down_us, out);
		return true;
	}
	if (channel->ack_failure.kind == ERROR_NONE)
		return false;
	*out_since_us = channel->ack_failed_us;
	if (now_ms - channel->ack_failed_ms < WORDS_MS && failure_passes(&channel->ack_failure))
		return false;
	say_failure(channel, "nothing is acknowledged", &channel->ack_failure, channel->ack_failed_us, out);
	return true;
}

/* A call that is not answered is no failure yet, but somebody may wonder. */
static bool silence(const struct pubsub *pubsub, int64_t now_ms, struct error *out)
{
	for (const struct errand *e = pubsub->errands; e; e = e->next) {
		if ((e->kind != ERRAND_ACK && e->kind != ERRAND_ASK) || !e->call || now_ms - e->sent_ms < SILENCE_MS)
			continue;
		fail(out, ERROR_TRANSIENT, "google_timeout", "no answer of Pub/Sub for %" PRId64 " s (%s subscription %.200s)",
		     (now_ms - e->sent_ms) / 1000, e->kind == ERRAND_ACK ? "acknowledging to" : "looking at", e->of->shown);
		return true;
	}
	return false;
}

static void find_trouble(const struct pubsub *pubsub, int64_t now_ms, struct error *out)
{
	*out = (struct error){ 0 };
	for (size_t i = 0; i < pubsub->channel_count; i++) {
		struct error one = { 0 };
		int64_t since_us;

		if (!channel_trouble(&pubsub->channels[i], now_ms, &one, &since_us))
			continue;
		if (out->kind == ERROR_NONE || (failure_passes(out) && !failure_passes(&one)))
			*out = one;
	}
	if (out->kind == ERROR_NONE)
		silence(pubsub, now_ms, out);
}

/*
 * Figures
 */

static void look_at(const struct channel *channel, int64_t now_ms, struct source_channel *out)
{
	struct error trouble = { 0 };
	int64_t since_us = 0;

	snprintf(out->name, sizeof(out->name), "%.255s", channel->shown);
	snprintf(out->full_name, sizeof(out->full_name), "%s", channel->name);
	out->is_read = channel->stream && channel->up_ms;
	out->failed_us = channel_trouble(channel, now_ms, &trouble, &since_us) ? since_us : 0;
	out->failure = trouble;
	out->answered_us = channel->last_us;
	out->is_exactly_once = channel->is_exactly_once;
	out->has_dead_letters = channel->has_dead_letters;
	out->lease_ms = channel_lease_ms(channel);
	out->received = channel->received;
	out->redelivered = atomic_load(&channel->redelivered);
	out->acknowledged = channel->acknowledged;
	out->refused_acks = channel->refused_acks;
	out->restarts = channel->restarts;
	out->backlog = channel->backlog.messages;
	out->backlog_oldest_s = channel->backlog.oldest_s;
	out->backlog_us = channel->backlog.at_us;
}

static void sum_up(const struct pubsub *pubsub, struct source_view *view)
{
	view->received = view->redelivered = view->acknowledged = view->refused_acks = view->restarts = 0;
	for (size_t i = 0; i < pubsub->channel_count; i++) {
		const struct channel *channel = &pubsub->channels[i];

		view->received += channel->received;
		view->redelivered += atomic_load(&channel->redelivered);
		view->acknowledged += channel->acknowledged;
		view->refused_acks += channel->refused_acks;
		view->restarts += channel->restarts;
	}
}

/* Of all that have figures: how many, the oldest, and the moment of the oldest figure. */
static void sum_backlog(const struct pubsub *pubsub, struct source_view *view)
{
	view->backlog = view->backlog_oldest_s = -1;
	view->backlog_us = 0;
	view->backlog_failure = pubsub->backlog_failure;
	for (size_t i = 0; i < pubsub->channel_count; i++) {
		const struct backlog *one = &pubsub->channels[i].backlog;

		if (one->messages < 0)
			continue;
		view->backlog = (view->backlog < 0 ? 0 : view->backlog) + one->messages;
		if (one->oldest_s > view->backlog_oldest_s)
			view->backlog_oldest_s = one->oldest_s;
		if (!view->backlog_us || one->at_us < view->backlog_us)
			view->backlog_us = one->at_us;
	}
}

static void look_locked(struct pubsub *pubsub, int64_t now_ms)
{
	struct source_view *view = &pubsub->view;

	view->outstanding = pubsub->held.count;
	view->outstanding_bytes = pubsub->held.bytes;
	view->oldest_ms = pubsub->held.first ? now_ms - pubsub->held.first->received_ms : 0;
	view->expired = pubsub->held.expired;
	view->extend_p99_ms = (int64_t)histogram_percentile(&pubsub->extend_times, 99) / 1000;
	view->channel_count = pubsub->channel_count;
	sum_up(pubsub, view);
	sum_backlog(pubsub, view);
	for (size_t i = 0; i < pubsub->channel_count && i < SOURCE_CHANNELS_SHOWN; i++)
		look_at(&pubsub->channels[i], now_ms, &view->channels[i]);
}

/*
 * The end of a run that ends by itself
 */

/* Nothing has come for a while from any of them, and all that came is acknowledged. */
static bool is_idle(const struct pubsub *pubsub, int64_t now_ms)
{
	if (pubsub->is_followed || pubsub->held.count || pubsub->errands)
		return false;
	for (size_t i = 0; i < pubsub->channel_count; i++) {
		const struct channel *channel = &pubsub->channels[i];

		if (!channel->up_ms || now_ms - channel->up_ms < IDLE_END_MS || now_ms - channel->received_ms < IDLE_END_MS ||
		    now_ms < channel->lost_until_ms)
			return false;
	}
	return true;
}

static bool says_the_same(const struct error *a, const struct error *b)
{
	return a->kind == b->kind && strcmp(a->code, b->code) == 0 && strcmp(a->message, b->message) == 0;
}

/* Nothing is lost by it, and nobody may have seen that a destination has waited for so long. */
static void tell_long(struct pubsub *pubsub)
{
	char sentence[640];

	if (!pubsub->on_event)
		return;
	snprintf(sentence, sizeof(sentence), "a message of %.300s is held for more than %d minutes and not acknowledged: what it is "
	         "written to does not take it", pubsub->channels[pubsub->held.first->channel].shown, HELD_LONG_MS / 60000);
	pubsub->on_event(pubsub->event_context, "-", "message_held_long", sentence);
}

void keeper_tell(struct pubsub *pubsub, int64_t now_ms)
{
	bool has_news = false;
	struct error trouble;

	/* What happened meanwhile is told then, though nothing else may ring. */
	pubsub->is_untold = now_ms - pubsub->told_ms < VIEW_MS;
	if (pubsub->is_untold)
		return;
	pubsub->told_ms = now_ms;
	held_look(&pubsub->held, now_ms);
	if (held_long(&pubsub->held, now_ms))
		tell_long(pubsub);
	find_trouble(pubsub, now_ms, &trouble);
	pthread_mutex_lock(&pubsub->lock);
	look_locked(pubsub, now_ms);
	if (!says_the_same(&pubsub->trouble, &trouble) || pubsub->has_ended != is_idle(pubsub, now_ms)) {
		pubsub->trouble = trouble;
		pubsub->has_ended = is_idle(pubsub, now_ms);
		pthread_cond_signal(&pubsub->more);
		has_news = true;
	}
	pthread_mutex_unlock(&pubsub->lock);
	if (has_news && pubsub->on_news)
		pubsub->on_news(pubsub->context);
}
