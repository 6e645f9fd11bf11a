/* How a trail comes to be, and grows by each text that has left it; see json_trail_private.h. */
#include "record/json_trail_private.h"

#include <stdlib.h>

#define CHILDREN_MAX 64 /* more: these names are data, not structure */
#define RENEW_AFTER 100000 /* misses of a full tree */

static void trail_clear(struct json_trail *trail)
{
	memset(&trail->steps[0], 0, sizeof(trail->steps[0]));
	trail->count = 1;
	trail->misses = 0;
	trail->base += STEPS_MAX;
}

struct json_trail *json_trail_new(void)
{
	struct json_trail *trail = memory_zalloc(sizeof(*trail));

	trail->steps = memory_alloc(STEPS_MAX * sizeof(*trail->steps));
	trail_clear(trail);
	return trail;
}

void json_trail_free(struct json_trail *trail)
{
	if (!trail)
		return;
	free(trail->steps);
	free(trail);
}

struct lesson {
	struct json_trail *trail;
	const struct json_doc *doc;
	uint32_t node;
	const char *behind; /* the value before, or the first bracket that closes behind it */
	uint32_t closes;
};

static uint32_t step_add(struct lesson *lesson, const struct step *step)
{
	struct json_trail *trail = lesson->trail;
	struct step *steps = trail->steps;
	uint32_t children = 0;

	for (uint32_t i = steps[lesson->node].child; i; i = steps[i].next, children++) {
		if (steps[i].len == step->len && memcmp(steps[i].text, step->text, step->len) == 0)
			return i;
	}
	if (trail->count == STEPS_MAX || children == CHILDREN_MAX)
		return 0;
	steps[trail->count] = *step;
	steps[trail->count].next = steps[lesson->node].child;
	steps[lesson->node].child = trail->count;
	return trail->count++;
}

/* From behind the value before to the value of the member `name`. False: such a member is not learned. */
static bool learn_step(struct lesson *lesson, uint32_t name, unsigned depth)
{
	const struct json_doc *doc = lesson->doc;
	struct span raw = json_raw(doc, name);
	size_t len = (size_t)(json_slice(doc, name + 1).at - lesson->behind);
	struct step step = { .closes = (uint8_t)lesson->closes };
	uint32_t next;

	if (len > STEP_BYTES || doc->tokens[name].flags & JSON_HAS_ESCAPES)
		return false;
	memcpy(step.text, lesson->behind, len);
	step.len = (uint8_t)len;
	step.opens = step.text[0] == '{';
	step.name_at = (uint8_t)(raw.at - lesson->behind);
	step.name_len = (uint8_t)raw.len;
	step.is_known = depth == 1 && span_equal(raw, SPAN(JSON_SCHEMA_NAME));
	next = step_add(lesson, &step);
	if (next)
		lesson->node = next;
	return next;
}

static bool learn_members(struct lesson *lesson, uint32_t object, unsigned depth)
{
	const struct json_doc *doc = lesson->doc;

	for (uint32_t at = object + 1; at < doc->tokens[object].next; at = doc->tokens[at + 1].next) {
		struct span value = json_slice(doc, at + 1);

		if (!learn_step(lesson, at, depth))
			return false;
		lesson->behind = value.at + value.len;
		lesson->closes = 0;
		if (!json_is(doc, at + 1, JSON_OBJECT) || depth == TRAIL_DEPTH || value.at[1] == '}' ||
		    lesson->trail->steps[lesson->node].is_known)
			continue;
		lesson->behind = value.at;
		if (!learn_members(lesson, at + 1, depth + 1))
			return false;
		/* Only brackets that follow each other at once: a step knows no more of them than how many. */
		if (lesson->behind + lesson->closes != value.at + value.len - 1)
			return false;
		lesson->closes++;
	}
	return true;
}

void json_trail_learn(struct json_trail *trail, const struct json_doc *doc)
{
	struct lesson lesson = { .trail = trail, .doc = doc, .behind = doc->text.at };

	if (trail->count == STEPS_MAX && ++trail->misses == RENEW_AFTER)
		trail_clear(trail);
	if (trail->is_stuck || trail->count == STEPS_MAX || !json_is(doc, 0, JSON_OBJECT) || doc->tokens[0].start ||
	    doc->tokens[0].next < 3)
		return;
	if (!learn_members(&lesson, 0, 1) && trail->count < STEPS_MAX)
		trail->steps[lesson.node].is_stuck = true;
}
