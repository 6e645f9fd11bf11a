/* A part of a long list; see window.h. */
#include "view/window.h"

#include <inttypes.h>

#define TOPIC_BYTES 256
#define NEAR_END (WINDOW_ROWS / 4) /* so near to an end the next part is asked for */

static bool has_job(const struct window *window)
{
	return strcmp(window->job, "-") != 0;
}

static json_t *args_of(const struct window *window)
{
	json_t *args = json_object();

	if (has_job(window))
		json_object_set_new(args, "job", json_string(window->job));
	if (window->group)
		json_object_set_new(args, "group", json_integer(window->group));
	if (window->state[0])
		json_object_set_new(args, "state", json_string(window->state));
	return args;
}

static void topics_of(const struct window *window, char topics[TOPIC_BYTES])
{
	snprintf(topics, TOPIC_BYTES, has_job(window) ? "journal dlq:%s" : "journal", window->job);
}

static const struct answer *part_ask(struct view *view, const struct window *window, const struct window_part *part)
{
	json_t *args = args_of(window);
	char topics[TOPIC_BYTES];

	topics_of(window, topics);
	json_object_set_new(args, "limit", json_integer(WINDOW_ROWS));
	if (part->before)
		json_object_set_new(args, "before", json_integer(part->before));
	else if (has_job(window))
		json_object_set_new(args, "after", json_integer(part->after));
	return model_ask(console_model(view->console), LANE_LETTERS, "dlq.list", args, topics);
}

const struct answer *window_ask(struct view *view, struct window *window, bool *out_came)
{
	const struct answer *shown, *wanted;

	*out_came = false;
	if (window->is_moving) {
		wanted = part_ask(view, window, &window->wanted);
		if (wanted->is_known) {
			window->shown = window->wanted;
			window->is_moving = false;
			*out_came = true;
			return wanted;
		}
	}
	shown = part_ask(view, window, &window->shown);
	return shown;
}

/* The groups know their numbers: no letter is read for them. */
int64_t window_total(struct view *view, const struct window *window)
{
	const struct answer *answer;
	const json_t *group;
	char topics[TOPIC_BYTES];
	int64_t total = 0;
	size_t i;

	topics_of(window, topics);
	answer = model_ask(console_model(view->console), LANE_LETTERS, "dlq.groups", args_of(window), topics);
	json_array_foreach(answer->lines, i, group)
		total += member_int(group, "count");
	return answer->is_known && answer->error.kind == ERROR_NONE ? total : -1;
}

bool window_is_back(const struct window *window)
{
	return window->shown.before != 0;
}

int64_t window_place(struct view *view, const struct window *window)
{
	const struct window_part *part = &window->shown;
	int64_t below = part->below, rows = (int64_t)json_array_size(part_ask(view, window, part)->lines);

	if (part->place >= 0)
		return part->place;
	if (below < 0)
		below = window_total(view, window);
	return below < 0 ? -1 : below > rows ? below - rows : 0;
}

static bool is_full(struct view *view, const struct window *window)
{
	return json_array_size(part_ask(view, window, &window->shown)->lines) >= WINDOW_ROWS;
}

bool window_is_whole(struct view *view, const struct window *window)
{
	return !window->shown.after && !window->shown.before && !is_full(view, window);
}

static int64_t id_at(struct view *view, const struct window *window, size_t at, size_t count)
{
	const json_t *lines = part_ask(view, window, &window->shown)->lines;

	return member_int(json_array_get(lines, window_is_back(window) ? count - 1 - at : at), "id");
}

static void move_to(struct window *window, struct window_part part, enum action_id then)
{
	window->wanted = part;
	window->is_moving = true;
	window->then = then;
}

/* The rows around the selection are in both parts, so the selection stays. */
void window_follow(struct view *view, struct window *window, size_t at, size_t count)
{
	int64_t place = window_place(view, window);
	bool is_last = window->shown.before ? window->shown.below < 0 : !is_full(view, window);
	size_t half = count / 2;

	if (window->is_moving || !has_job(window) || count < WINDOW_ROWS || place < 0)
		return;
	if (at + NEAR_END >= count && !is_last)
		move_to(window, (struct window_part){ .after = id_at(view, window, half - 1, count), .place = place + (int64_t)half },
		        ACTIONS);
	else if (at < NEAR_END && place > 0)
		move_to(window, (struct window_part){ .before = id_at(view, window, half, count), .place = -1,
		                                      .below = place + (int64_t)half }, ACTIONS);
}

bool window_end(struct view *view, struct window *window, enum action_id end)
{
	if (!has_job(window) || window_is_whole(view, window))
		return false;
	if (end == ACTION_first) {
		if (!window->is_moving && !window->shown.after && !window->shown.before)
			return false;
		move_to(window, (struct window_part){ 0 }, end);
	} else {
		if (!window->is_moving && window->shown.before && window->shown.below < 0)
			return false;
		move_to(window, (struct window_part){ .before = INT64_MAX, .place = -1, .below = -1 }, end);
	}
	return true;
}

void window_state(struct window *window, const char *state)
{
	if (strcmp(window->state, state) == 0)
		return;
	snprintf(window->state, sizeof(window->state), "%s", state);
	window->shown = (struct window_part){ 0 };
	window->is_moving = false;
	window->then = ACTIONS;
}
