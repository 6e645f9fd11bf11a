/* What the console asks of the model as a whole; see model.h. */
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
		if (lane_takes(model, i, now_ms))
			due = earlier(due, query_due_ms(model, (enum lane)i, now_ms));
	}
	/* A ping that waits for an answer that is slow is not due: it would keep us running. */
	if (wire_state(model->lanes[LANE_LOOK].wire) != WIRE_READY || model->lanes[LANE_LOOK].call_count)
		return due;
	return earlier(due, sync_is_due(model, now_ms) ? now_ms : model->pinged_ms + PING_MS);
}

void model_cancel(struct model *model)
{
	for (int i = LANE_LETTERS; i < LANES; i++) {
		struct lane_state *lane = &model->lanes[i];

		for (size_t k = 0; k < lane->call_count; k++) {
			if (!lane->calls[k].is_cancelled)
				wire_put(lane->wire, json_pack("{s:I}", "cancel", lane->calls[k].id));
			lane->calls[k].is_cancelled = true;
		}
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
		for (size_t k = 0; k < model->lanes[i].call_count; k++) {
			if (model->lanes[i].calls[k].what != PENDING_CONTROL)
				return false;
		}
	}
	for (size_t i = 0; i < model->query_count; i++) {
		if (model->queries[i]->is_forced && model->queries[i]->frame + 1 >= model->frame)
			return false;
	}
	return !model->wants_sync && !model->is_syncing && model->act_next == model->act_count;
}
