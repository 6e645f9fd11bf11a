/* Following a trail; see json_trail_private.h. */
#include "record/json_trail_private.h"
#include "record/json_walk_private.h"

/* The child that comes next in the text, which becomes the first of its family; 0: none. A bracket opens only in a
 * value's own place (`is_inside`): behind a value that was read it is a fault, whatever the trail has seen there. */
static uint32_t step_find(struct json_trail *trail, uint32_t parent, bool is_inside, const char *at, const char *end)
{
	struct step *steps = trail->steps;
	size_t left = (size_t)(end - at);
	uint32_t before = 0;

	for (uint32_t i = steps[parent].child; i; before = i, i = steps[i].next) {
		if (steps[i].opens != is_inside || steps[i].len > left || !bytes_equal(at, steps[i].text, steps[i].len))
			continue;
		if (before) {
			steps[before].next = steps[i].next;
			steps[i].next = steps[parent].child;
			steps[parent].child = i;
		}
		return i;
	}
	return 0;
}

static void step_take(struct json_reader *r, const struct step *step)
{
	const char *begin = r->at;

	for (uint8_t i = 0; i < step->closes; i++)
		close_container(r);
	if (step->opens)
		open_container(r);
	put(r, JSON_STRING, 0, begin + step->name_at, begin + step->name_at + step->name_len);
	r->at = begin + step->len;
}

/* Texts are mostly short, and the marks of the ordinary walk are not kept here. */
static bool follow_string(struct json_reader *r)
{
	const char *start = r->at + 1, *at = start;
	struct json_end end;

	for (; r->end - at >= JSON_BLOCK; at += JSON_BLOCK) {
		json_mask mask = json_block_special(at);

		if (!mask)
			continue;
		at += json_mask_first(mask);
		if (*at != '"')
			break;
		put(r, JSON_STRING, 0, start, at);
		r->at++;
		return true;
	}
	end = json_string_end(start, r->end);
	if (!put_ended(r, JSON_STRING, start, end))
		return false;
	r->at++;
	return true;
}

/* One value that is not looked into. Where its line ends the walk must be told, for a line break is white space to it. */
static bool follow_nested(struct json_reader *r)
{
	uint32_t open = r->open;
	const char *end = r->end, *line_end = r->is_front ? memchr(r->at, '\n', (size_t)(end - r->at)) : NULL;

	if (r->is_front && !line_end)
		return stop(r, json_broken(end, JSON_CUT));
	r->open = JSON_NO_TOKEN;
	r->end = line_end ? line_end : end;
	json_walk(r, NULL, NULL, false);
	r->end = end;
	r->open = open;
	return r->fault == JSON_FINE;
}

/* Is everything closed here, and the text at its end? */
static bool follow_end(struct json_reader *r)
{
	size_t left = (size_t)(r->end - r->at);

	if (left < r->depth || (left > r->depth && !r->is_front))
		return false;
	for (uint32_t i = 0; i < r->depth; i++) {
		if (r->at[i] != '}')
			return false;
	}
	while (r->depth)
		close_container(r);
	return true;
}

enum value { VALUE_READ, VALUE_INSIDE, VALUE_LEFT, VALUE_FAULT };

static enum value follow_container(struct json_reader *r, const struct step *step, const struct json_known *known,
                                   void **out_id)
{
	size_t length;

	if (step->is_known && known->recognise && *r->at == '{' && !*out_id) {
		length = known->recognise(known->context, span_make(r->at, (size_t)(r->end - r->at)), out_id);
		if (length) {
			put(r, JSON_OBJECT, 0, r->at, r->at + length);
			return VALUE_READ;
		}
	}
	if (*r->at == '{' && r->depth < TRAIL_DEPTH && !step->is_known && r->end - r->at > 1 && r->at[1] != '}')
		return VALUE_INSIDE;
	return follow_nested(r) ? VALUE_READ : VALUE_FAULT;
}

static enum value follow_scalar(struct json_reader *r, char c)
{
	bool is_read;

	if (c == '"')
		is_read = follow_string(r);
	else if (json_is_digit(c) || c == '-')
		is_read = read_number(r);
	else if (c == 'n' || c == 't' || c == 'f')
		is_read = read_word(r);
	else
		return VALUE_LEFT;
	return is_read ? VALUE_READ : VALUE_FAULT;
}

/* One member of any kind. */
static __attribute__((noinline)) enum value follow_member(struct json_reader *r, struct json_doc *doc,
                                                          const struct step *step, const struct json_known *known,
                                                          void **out_id)
{
	char c;

	ensure_room(r);
	step_take(r, step);
	doc->places[doc->place_count++] = r->count;
	c = r->at < r->end ? *r->at : 0;
	return c == '{' || c == '[' ? follow_container(r, step, known, out_id) : follow_scalar(r, c);
}

enum json_followed json_trail_follow(struct json_reader *r, struct json_doc *doc, const struct json_known *known,
                                     void **out_id)
{
	struct json_trail *trail = known->trail;
	enum value value = VALUE_INSIDE;
	uint32_t node = 0, next;

	doc->place_count = 0;
	while (value <= VALUE_INSIDE) {
		bool is_inside = value == VALUE_INSIDE;

		node = json_trail_run(r, trail->steps, node, doc, &is_inside);
		value = is_inside ? VALUE_INSIDE : VALUE_READ;
		if (doc->place_count == JSON_PLACES_MAX)
			break;
		next = step_find(trail, node, is_inside, r->at, r->end);
		if (!next)
			break;
		value = follow_member(r, doc, &trail->steps[next], known, out_id);
		node = next;
	}
	trail->is_stuck = trail->steps[node].is_stuck;
	if (value == VALUE_FAULT)
		return JSON_FOLLOWED;
	if (value != VALUE_READ)
		return JSON_LEFT_AT_VALUE;
	if (!follow_end(r))
		return JSON_LEFT_BEHIND;
	doc->trail = trail->base + node;
	return JSON_FOLLOWED;
}
