/* Lanes: what is sent when, and where an answer goes; see model.h. */
#include "model/model_private.h"
#include "base/arena.h"
#include "base/clock.h"

#include <stdlib.h>

struct model *model_new(const struct home *home, bool only_looks)
{
	struct model *model = memory_zalloc(sizeof(*model));

	for (int i = 0; i < LANES; i++)
		model->lanes[i].wire = wire_new(home->socket, only_looks);
	model->only_looks = only_looks;
	return model;
}

void model_adopt(struct model *model, struct client *client)
{
	json_t *greeting;
	int fd;

	if (model->only_looks) {
		client_close(client);
		return;
	}
	fd = client_release(client, &greeting);
	wire_adopt(model->lanes[LANE_LOOK].wire, fd, greeting, clock_mono_ms());
	json_decref(greeting);
}

void model_free(struct model *model)
{
	if (!model)
		return;
	while (model->query_count)
		query_free(model->queries[--model->query_count]);
	for (int i = 0; i < LANES; i++)
		wire_free(model->lanes[i].wire);
	topics_forget(model);
	acts_free(model);
	free(model);
}

bool lane_call(struct model *model, struct lane_state *lane, enum pending pending, const char *call, json_t *args)
{
	lane->id = ++model->last_id;
	lane->pending = pending;
	lane->is_cancelled = false;
	if (wire_put(lane->wire, json_pack("{s:I, s:s, s:o}", "id", lane->id, "call", call, "args",
	                                   args ? args : json_object())))
		return true;
	lane->pending = PENDING_NONE; /* nothing went, so nothing will come */
	return false;
}

/* Letters and acts get their session when there is something for it. */
static bool lane_is_used(const struct model *model, int lane)
{
	if (lane == LANE_LOOK || wire_state(model->lanes[lane].wire) != WIRE_OFF)
		return true;
	if (wire_state(model->lanes[LANE_LOOK].wire) != WIRE_READY)
		return false;
	return lane == LANE_ACT ? model->act_next < model->act_count :
	                          query_due_ms(model, (enum lane)lane, 0) >= 0;
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
	if (lane->pending == PENDING_ACT)
		acts_lost(model, lane);
	if (lane->pending == PENDING_QUERY && lane->query) {
		lane->query->answer.is_asking = false;
		lane->query->is_stale = true;
	}
	lane->pending = PENDING_NONE;
	lane->query = NULL;
}

static void lane_end(struct model *model, struct lane_state *lane, const json_t *frame, int64_t now_ms)
{
	if (lane->pending == PENDING_QUERY)
		query_end(model, lane->query, frame, now_ms);
	else if (lane->pending == PENDING_ACT)
		acts_end(model, lane, frame);
	else if (json_object_get(frame, "error"))
		topics_refused(model);
	if (lane->pending == PENDING_CONTROL)
		model->is_syncing = false;
	lane->pending = PENDING_NONE;
	lane->query = NULL;
}

static void lane_frame(struct model *model, struct lane_state *lane, json_t *frame, int64_t now_ms)
{
	const char *topic = json_string_value(json_object_get(frame, "event"));

	if (topic) {
		query_event(model, topic);
		return;
	}
	if (lane->pending == PENDING_NONE || json_integer_value(json_object_get(frame, "id")) != lane->id)
		return;
	if (json_object_get(frame, "ok") || json_object_get(frame, "error"))
		lane_end(model, lane, frame, now_ms);
	else if (lane->pending == PENDING_QUERY)
		query_line(lane->query, frame);
	else if (lane->pending == PENDING_ACT)
		acts_line(model, lane, frame);
}

/* An act that is under way changes what is to be told: it is waited for. */
static bool sync_is_due(const struct model *model, int64_t now_ms)
{
	if (model->wants_sync && model->act_next == model->act_count && model->lanes[LANE_ACT].pending == PENDING_NONE)
		return true;
	return now_ms >= model->pinged_ms + PING_MS;
}

/* What is old by now is asked again at once; what becomes old later is newer than the sync. */
static void sync_send(struct model *model, int64_t now_ms)
{
	for (size_t i = 0; model->wants_sync && i < model->query_count; i++)
		model->queries[i]->is_forced |= model->queries[i]->is_stale;
	model->wants_sync = false;
	model->is_syncing = true;
	model->pinged_ms = now_ms;
	lane_call(model, &model->lanes[LANE_LOOK], PENDING_CONTROL, "sync", NULL);
}

static void lane_ask(struct model *model, int index, int64_t now_ms)
{
	struct lane_state *lane = &model->lanes[index];

	if (wire_state(lane->wire) != WIRE_READY || lane->pending != PENDING_NONE)
		return;
	if (index == LANE_ACT) {
		acts_send(model);
		return;
	}
	if (index == LANE_LOOK && topics_send(model))
		return;
	if (index == LANE_LOOK && sync_is_due(model, now_ms))
		sync_send(model, now_ms);
	else
		query_send(model, (enum lane)index, now_ms);
}

static bool lane_step(struct model *model, int index, int64_t now_ms)
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

bool model_step(struct model *model, int64_t now_ms)
{
	bool changed = false;

	model->now_ms = now_ms;
	for (int i = 0; i < LANES; i++)
		changed |= lane_step(model, i, now_ms);
	/* An act that waited must not be done minutes later, when the engine is back and nobody expects it. */
	if (wire_state(model->lanes[LANE_LOOK].wire) == WIRE_OFF)
		changed |= acts_refuse(model, wire_error(model->lanes[LANE_LOOK].wire));
	return changed;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

int64_t model_poll(const struct model *model, struct pollfd fds[MODEL_FDS])
{
	int64_t now_ms = clock_mono_ms(), due = -1;

	for (int i = 0; i < LANES; i++) {
		const struct lane_state *lane = &model->lanes[i];

		fds[i] = (struct pollfd){ .fd = wire_fd(lane->wire), .events = POLLIN };
		if (wire_wants_out(lane->wire))
			fds[i].events |= POLLOUT;
		if (!lane_is_used(model, i))
			continue;
		due = earlier(due, wire_due_ms(lane->wire));
		if (wire_state(lane->wire) == WIRE_READY && lane->pending == PENDING_NONE)
			due = earlier(due, query_due_ms(model, (enum lane)i, now_ms));
	}
	/* A ping that waits for an answer that is slow is not due: it would keep us running. */
	if (wire_state(model->lanes[LANE_LOOK].wire) != WIRE_READY || model->lanes[LANE_LOOK].pending != PENDING_NONE)
		return due;
	return earlier(due, sync_is_due(model, now_ms) ? now_ms : model->pinged_ms + PING_MS);
}

void model_cancel(struct model *model)
{
	for (int i = LANE_LETTERS; i < LANES; i++) {
		struct lane_state *lane = &model->lanes[i];

		if (lane->pending == PENDING_NONE || lane->is_cancelled)
			continue;
		lane->is_cancelled = true;
		wire_put(lane->wire, json_pack("{s:I}", "cancel", lane->id));
	}
}

struct reach model_reach(const struct model *model)
{
	const struct wire *wire = model->lanes[LANE_LOOK].wire;

	bool is_there = wire_state(wire) == WIRE_READY;

	return (struct reach){ .is_there = is_there, .was_there = model->was_there,
		               .is_other = is_there && wire_greeting(wire)->protocol != PROTOCOL_VERSION,
		               .is_asked = !is_there && !model->was_there && !wire_tries(wire),
		               .error = wire_error(wire), .lost_ms = wire_lost_ms(wire), .next_ms = wire_due_ms(wire),
		               .tries = wire_tries(wire), .connections = wire_connections(wire),
		               .access = wire_access(wire), .greeting = wire_greeting(wire) };
}

int64_t model_age_ms(const struct model *model, int64_t now_ms)
{
	return model->was_there ? now_ms - model->heard_ms : -1;
}

void model_sync(struct model *model)
{
	model->wants_sync = true;
}

bool model_is_answered(const struct model *model)
{
	for (size_t i = 0; i < model->query_count; i++) {
		if (model->queries[i]->frame == model->frame && !model->queries[i]->answer.is_known)
			return false;
	}
	return true;
}

bool model_is_idle(const struct model *model)
{
	if (wire_state(model->lanes[LANE_LOOK].wire) == WIRE_GREETING)
		return false;
	if (wire_state(model->lanes[LANE_LOOK].wire) == WIRE_OFF)
		return true;
	for (int i = 0; i < LANES; i++) {
		if (model->lanes[i].pending == PENDING_QUERY || model->lanes[i].pending == PENDING_ACT)
			return false;
	}
	for (size_t i = 0; i < model->query_count; i++) {
		if (model->queries[i]->is_forced && model->queries[i]->frame + 1 >= model->frame)
			return false;
	}
	return !model->wants_sync && !model->is_syncing && model->act_next == model->act_count;
}
