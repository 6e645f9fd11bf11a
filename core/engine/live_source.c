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

void metrics_add_source(struct progress *progress, struct metric_values *out)
{
	struct source_view *view = memory_zalloc(sizeof(*view));

	if (progress_source(progress, view)) {
		out->of[METRIC_source_held] = (double)view->outstanding;
		out->of[METRIC_source_oldest] = (double)view->oldest_ms / 1000;
		out->of[METRIC_source_redelivered] = (double)view->redelivered;
		out->of[METRIC_source_expired] = (double)view->expired;
		out->of[METRIC_source_extend] = (double)view->extend_p99_ms / 1000;
		out->of[METRIC_source_restarts] = (double)view->restarts;
	}
	free(view);
}
