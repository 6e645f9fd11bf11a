/*
 * Lanes: what is sent when, and where an answer goes. Looks are asked before the
 * answers to those before them are there: a screen that opens waits once, not once for
 * each thing that it shows. Letters may be many, and an act is sent when the one before
 * has ended: theirs wait.
 */
#include "model/model_private.h"
#include "base/clock.h"

static const size_t calls_most[LANES] = { [LANE_LOOK] = LANE_CALLS_MAX, [LANE_LETTERS] = 1, [LANE_ACT] = 1 };

struct lane_call *lane_call(struct model *model, enum lane lane, enum pending what, const char *call, json_t *args)
{
	struct lane_state *state = &model->lanes[lane];
	struct lane_call *made = &state->calls[state->call_count];

	*made = (struct lane_call){ .what = what, .id = ++model->last_id };
	if (!wire_put(state->wire, json_pack("{s:I, s:s, s:o}", "id", made->id, "call", call, "args",
	                                     args ? args : json_object())))
		return NULL; /* nothing went, so nothing will come */
	state->call_count++;
	return made;
}

/* Letters and acts get their session when there is something for it. */
bool lane_is_used(const struct model *model, int index)
{
	if (index == LANE_LOOK || wire_state(model->lanes[index].wire) != WIRE_OFF)
		return true;
	if (wire_state(model->lanes[LANE_LOOK].wire) != WIRE_READY)
		return false;
	return index == LANE_ACT ? model->act_next < model->act_count :
	                           query_due_ms(model, (enum lane)index, 0) >= 0;
}

/* An act that is under way changes what is to be told: it is waited for. */
bool sync_is_due(const struct model *model, int64_t now_ms)
{
	if (model->wants_sync && model->act_next == model->act_count && !model->lanes[LANE_ACT].call_count)
		return true;
	return now_ms >= model->pinged_ms + PING_MS;
}

/* A sync is for what was asked before it, so its lane is emptied first. */
bool lane_takes(const struct model *model, int index, int64_t now_ms)
{
	const struct lane_state *lane = &model->lanes[index];

	if (wire_state(lane->wire) != WIRE_READY || lane->call_count >= calls_most[index])
		return false;
	return index != LANE_LOOK || !lane->call_count || (!model->is_syncing && !sync_is_due(model, now_ms));
}

static void lane_begin(struct model *model, int index)
{
	struct lane_state *lane = &model->lanes[index];

	lane->connections = wire_connections(lane->wire);
	if (index != LANE_LOOK)
		return;
	topics_forget(model);
	model->is_one_by_one = false;
	model_refresh(model);
	model->was_there = true;
	model->is_syncing = false;
	model->heard_ms = model->pinged_ms = clock_mono_ms(); /* the first questions tell as much as a ping */
}

/* What was under way is asked again; an act is not, since nobody knows how far it came. */
static void lane_lost(struct model *model, struct lane_state *lane)
{
	for (size_t i = 0; i < lane->call_count; i++) {
		struct lane_call *call = &lane->calls[i];

		if (call->what == PENDING_ACT)
			acts_lost(model, call->act);
		if (!call->query)
			continue;
		call->query->answer.is_asking = false;
		call->query->is_stale = true;
	}
	lane->call_count = 0;
}

static void lane_end(struct model *model, struct lane_state *lane, const json_t *frame, int64_t now_ms)
{
	struct lane_call call = lane->calls[0];

	memmove(lane->calls, lane->calls + 1, --lane->call_count * sizeof(*lane->calls));
	if (call.what == PENDING_QUERY)
		query_end(model, call.query, frame, now_ms);
	else if (call.what == PENDING_ACT)
		acts_end(model, call.act, frame);
	else if (json_object_get(frame, "error"))
		topics_refused(model);
	if (call.what == PENDING_CONTROL)
		model->is_syncing = false;
}

static void lane_frame(struct model *model, struct lane_state *lane, json_t *frame, int64_t now_ms)
{
	const char *topic = json_string_value(json_object_get(frame, "event"));
	const struct lane_call *call = &lane->calls[0];

	if (topic) {
		query_event(model, topic);
		return;
	}
	if (!lane->call_count || json_integer_value(json_object_get(frame, "id")) != call->id)
		return;
	if (json_object_get(frame, "ok") || json_object_get(frame, "error"))
		lane_end(model, lane, frame, now_ms);
	else if (call->what == PENDING_QUERY)
		query_line(call->query, frame);
	else if (call->what == PENDING_ACT)
		acts_line(model, call->act, frame);
}

/* What is old by now is asked again at once; what becomes old later is newer than the sync. */
static bool sync_send(struct model *model, int64_t now_ms)
{
	for (size_t i = 0; model->wants_sync && i < model->query_count; i++)
		model->queries[i]->is_forced |= model->queries[i]->is_stale;
	model->wants_sync = false;
	model->is_syncing = true;
	model->pinged_ms = now_ms;
	return lane_call(model, LANE_LOOK, PENDING_CONTROL, "sync", NULL) != NULL;
}

static bool lane_ask_one(struct model *model, int index, int64_t now_ms)
{
	if (index == LANE_ACT)
		return acts_send(model);
	if (index == LANE_LOOK && topics_send(model))
		return true;
	if (index == LANE_LOOK && sync_is_due(model, now_ms))
		return sync_send(model, now_ms);
	return query_send(model, (enum lane)index, now_ms);
}

static void lane_ask(struct model *model, int index, int64_t now_ms)
{
	while (lane_takes(model, index, now_ms) && lane_ask_one(model, index, now_ms))
		continue;
}

bool lane_step(struct model *model, int index, int64_t now_ms)
{
	struct lane_state *lane = &model->lanes[index];
	bool changed;
	json_t *frame;
	int tries;

	if (!lane_is_used(model, index))
		return false;
	tries = wire_tries(lane->wire);
	changed = wire_step(lane->wire, now_ms);
	if (wire_state(lane->wire) == WIRE_READY && lane->connections != wire_connections(lane->wire))
		lane_begin(model, index);
	while ((frame = wire_take(lane->wire))) {
		if (index == LANE_LOOK)
			model->heard_ms = now_ms;
		lane_frame(model, lane, frame, now_ms);
		json_decref(frame);
		lane_ask(model, index, now_ms);
	}
	if (wire_state(lane->wire) == WIRE_OFF)
		lane_lost(model, lane);
	if (index == LANE_ACT && wire_tries(lane->wire) > tries)
		acts_refuse(model, wire_error(lane->wire));
	lane_ask(model, index, now_ms);
	/* Only sends: what were received here would lie unread until something else came. */
	wire_flush(lane->wire);
	return changed;
}
