/* What a source that reads from a service says of itself, as JSON: leases, and each subscription. From memory alone. */
#include "base/arena.h"
#include "engine/metrics_private.h"
#include "engine/result_private.h"

#include <stdlib.h>

/* ok: it is read; waiting: what stands in its way may pass; needs you: it does not pass by itself. */
static const char *channel_state(const struct source_channel *channel)
{
	if (channel->failure.kind == ERROR_NONE)
		return channel->is_read ? "ok" : "waiting";
	return channel->failure.kind == ERROR_TRANSIENT || channel->failure.kind == ERROR_UNREACHABLE ? "retrying" : "needs you";
}

/* What Monitoring said last, and when that was; null: nothing yet. */
static void add_backlog(json_t *object, int64_t messages, int64_t oldest_s, int64_t at_us)
{
	json_object_set_new(object, "backlog", messages < 0 ? json_null() : json_integer(messages));
	json_object_set_new(object, "backlog_oldest_s", oldest_s < 0 ? json_null() : json_integer(oldest_s));
	json_object_set_new(object, "backlog_at", live_time(at_us));
}

static json_t *channel_json(const struct source_channel *channel)
{
	json_t *object = json_pack("{s:s, s:s, s:s, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I}", "subscription", channel->name,
	                           "full_name", channel->full_name, "state", channel_state(channel), "exactly_once",
	                           (int)channel->is_exactly_once, "dead_letter_policy", (int)channel->has_dead_letters, "lease_ms",
	                           (json_int_t)channel->lease_ms, "received", (json_int_t)channel->received, "redelivered",
	                           (json_int_t)channel->redelivered, "acknowledged", (json_int_t)channel->acknowledged,
	                           "refused_acks", (json_int_t)channel->refused_acks, "restarts", (json_int_t)channel->restarts);

	json_object_set_new(object, "answered", live_time(channel->answered_us));
	json_object_set_new(object, "since", live_time(channel->failed_us));
	json_object_set_new(object, "code", json_string(channel->failure.code));
	json_object_set_new(object, "sentence", error_message_to_json(&channel->failure));
	add_backlog(object, channel->backlog, channel->backlog_oldest_s, channel->backlog_us);
	return object;
}

static json_t *view_json(const struct source_view *view)
{
	size_t shown = view->channel_count < SOURCE_CHANNELS_SHOWN ? view->channel_count : SOURCE_CHANNELS_SHOWN;
	json_t *object = json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "service", "Pub/Sub", "emulator",
	                           (int)view->is_emulated, "held", (json_int_t)view->outstanding, "held_bytes",
	                           (json_int_t)view->outstanding_bytes, "oldest_held_ms", (json_int_t)view->oldest_ms,
	                           "expired_leases", (json_int_t)view->expired, "extend_p99_ms", (json_int_t)view->extend_p99_ms,
	                           "received", (json_int_t)view->received, "redelivered", (json_int_t)view->redelivered,
	                           "acknowledged", (json_int_t)view->acknowledged, "restarts", (json_int_t)view->restarts,
	                           "subscription_count", (json_int_t)view->channel_count);
	json_t *channels = json_array();

	for (size_t i = 0; i < shown; i++)
		json_array_append_new(channels, channel_json(&view->channels[i]));
	json_object_set_new(object, "subscriptions", channels);
	add_backlog(object, view->backlog, view->backlog_oldest_s, view->backlog_us);
	json_object_set_new(object, "backlog_code", json_string(view->backlog_failure.code));
	json_object_set_new(object, "backlog_sentence", error_message_to_json(&view->backlog_failure));
	return object;
}

void live_add_source(json_t *object, const struct job *job)
{
	/* Too large for the stack of a call. */
	struct source_view *view = memory_zalloc(sizeof(*view));

	if (job->is_running && progress_source(job->progress, view))
		json_object_set_new(object, "source", view_json(view));
	free(view);
}

void metrics_keep_source(const struct metric_values *live, struct metric_values *out)
{
	static const enum metric_id ids[] = { METRIC_source_held, METRIC_source_oldest, METRIC_source_redelivered,
		                              METRIC_source_expired, METRIC_source_extend, METRIC_source_restarts,
		                              METRIC_source_backlog, METRIC_source_unacked, METRIC_source_backlog_age };

	out->of[METRIC_source_backlog] = out->of[METRIC_source_unacked] = -1;
	for (size_t i = 0; live && i < sizeof(ids) / sizeof(*ids); i++)
		out->of[ids[i]] = live->of[ids[i]];
}

void metrics_add_source(struct progress *progress, int64_t now_us, struct metric_values *out)
{
	struct source_view *view = memory_zalloc(sizeof(*view));

	out->of[METRIC_source_backlog] = out->of[METRIC_source_unacked] = -1;
	if (progress_source(progress, view)) {
		out->of[METRIC_source_backlog] = (double)view->backlog;
		out->of[METRIC_source_unacked] = (double)view->backlog_oldest_s;
		out->of[METRIC_source_backlog_age] = view->backlog_us ? (double)(now_us - view->backlog_us) / 1e6 : 0;
		out->of[METRIC_source_held] = (double)view->outstanding;
		out->of[METRIC_source_oldest] = (double)view->oldest_ms / 1000;
		out->of[METRIC_source_redelivered] = (double)view->redelivered;
		out->of[METRIC_source_expired] = (double)view->expired;
		out->of[METRIC_source_extend] = (double)view->extend_p99_ms / 1000;
		out->of[METRIC_source_restarts] = (double)view->restarts;
	}
	free(view);
}
