/* Acts: commands that change something, one after the other, with what they said. */
#include "model/model_private.h"
#include "base/arena.h"
#include "base/clock.h"

#include <stdlib.h>

#define NOTES_BYTES_MAX 65536

static void act_free(struct act *act)
{
	if (!act)
		return;
	free(act->line);
	free(act->call);
	json_decref(act->args);
	json_decref(act->lines);
	text_free(act->notes);
	free(act);
}

void acts_free(struct model *model)
{
	for (size_t i = 0; i < ACTS_KEPT; i++)
		act_free(model->acts[i]);
}

static struct act *act_of(const struct model *model, unsigned number)
{
	if (!number || number > model->act_count || number + ACTS_KEPT <= model->act_count)
		return NULL;
	return model->acts[(number - 1) % ACTS_KEPT];
}

const struct act *model_act_of(const struct model *model, unsigned number)
{
	return act_of(model, number);
}

unsigned model_act_last(const struct model *model)
{
	return model->act_count;
}

static void act_end(struct act *act)
{
	act->is_done = true;
	act->ended_ms = clock_mono_ms();
}

/* "nothing was done" is certain: it never left. */
static void act_refuse(struct act *act, const struct error *why)
{
	act->error = *why;
	because(&act->error, "nothing was done");
	act_end(act);
}

bool acts_refuse(struct model *model, const struct error *why)
{
	bool has_any = false;

	for (; model->act_next < model->act_count; model->act_next++) {
		struct act *act = act_of(model, model->act_next + 1);

		if (act && !act->is_done)
			act_refuse(act, why);
		has_any = true;
	}
	return has_any;
}

unsigned model_act(struct model *model, const char *line, const char *call, json_t *args)
{
	struct act **place = &model->acts[model->act_count % ACTS_KEPT];
	struct act *act = memory_zalloc(sizeof(*act));

	act_free(*place);
	*place = act;
	model->act_count++;
	act->line = strdup(line);
	act->notes = text_new(NOTES_BYTES_MAX);
	act->call = strdup(call);
	act->args = args ? args : json_object();
	act->lines = json_array();
	act->begun_ms = clock_mono_ms();
	act->begun_us = clock_utc_us();
	if (wire_state(model->lanes[LANE_LOOK].wire) == WIRE_OFF)
		acts_refuse(model, wire_error(model->lanes[LANE_LOOK].wire));
	return model->act_count;
}

/* What this session was made not to do is not sent, whatever the engine at its other end is. */
static bool may_send(const struct model *model, const struct act *act, struct error *err)
{
	const struct wire *wire = model->lanes[LANE_ACT].wire;

	if (model->only_looks && wire_access(wire) != VIEW)
		return fail(err, ERROR_ACCESS, "not_allowed", "this session was opened only to look (--readonly)");
	if (wire_greeting(wire)->protocol == PROTOCOL_VERSION || command_is_safe(act->call))
		return true;
	return fail(err, ERROR_UNREACHABLE, "protocol_differs", "the engine speaks protocol %lld, this program %d: acts are off",
	            (long long)wire_greeting(wire)->protocol, PROTOCOL_VERSION);
}

bool acts_send(struct model *model)
{
	for (; model->act_next < model->act_count; model->act_next++) {
		struct act *act = act_of(model, model->act_next + 1);
		struct error off = { 0 };
		struct lane_call *call;

		if (!act || act->is_done)
			continue;
		if (!may_send(model, act, &off)) {
			act_refuse(act, &off);
			continue;
		}
		call = lane_call(model, LANE_ACT, PENDING_ACT, act->call, json_incref(act->args));
		act->is_sent = call != NULL;
		if (!call) {
			fail(&off, ERROR_USAGE, "frame_too_long", "the call is longer than %u bytes", FRAME_BYTES_MAX);
			act_refuse(act, &off);
			continue;
		}
		call->act = ++model->act_next;
		return true;
	}
	return false;
}

void acts_line(struct model *model, unsigned number, json_t *frame)
{
	struct act *act = act_of(model, number);
	const char *note = json_string_value(json_object_get(frame, "note"));
	json_t *line = json_object_get(frame, "line");

	if (!act)
		return;
	if (line && json_array_size(act->lines) < ANSWER_LINES_MAX)
		json_array_append(act->lines, line);
	if (note)
		text_add_format(act->notes, "%s%s", act->notes->len ? "\n" : "", note);
}

void acts_end(struct model *model, unsigned number, const json_t *frame)
{
	struct act *act = act_of(model, number);
	const json_t *error = json_object_get(frame, "error");

	if (!act)
		return;
	act->exit = (int)json_integer_value(json_object_get(json_object_get(frame, "ok"), "exit"));
	if (error)
		error_from_json(error, &act->error);
	act_end(act);
}

void acts_lost(struct model *model, unsigned number)
{
	struct act *act = act_of(model, number);

	if (!act || act->is_done)
		return;
	fail(&act->error, ERROR_UNREACHABLE, "connection_lost",
	     "the engine went away before it answered; the journal tells whether this was done");
	act_end(act);
}
