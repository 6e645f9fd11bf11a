/* A part of a long list; see window.h. */
#include "view/window.h"

#include <inttypes.h>

#define TOPIC_BYTES 256
#define PLACE_BYTES 96
#define NEAR_END (WINDOW_ROWS / 4) /* so near to an end the next part is asked for */

static bool is_at_end(const struct window_part *part)
{
	return !part->at.job[0];
}

/* The first part has a place too: who says one is not told each time how many more there are. */
static void place_argument_of(const struct window_part *part, json_t *args)
{
	char place[PLACE_BYTES];

	if (part->is_back && is_at_end(part)) {
		json_object_set_new(args, "newest", json_true());
		return;
	}
	snprintf(place, sizeof(place), "%s/%" PRId64, part->at.job, part->at.id);
	json_object_set_new(args, part->is_back ? "before" : "after", json_string(place));
}

static int rows_asked(const struct window_part *part)
{
	return part->is_first ? WINDOW_FIRST_ROWS : WINDOW_ROWS;
}

/* No letter can hold, or it is not known yet which: nothing is asked. */
static const struct answer *nothing(bool is_known)
{
	static struct answer answers[2];

	answers[is_known].is_known = is_known;
	if (!answers[is_known].lines)
		answers[is_known].lines = json_array();
	return &answers[is_known];
}

static const struct answer *part_ask(struct view *view, const struct window *window, const struct window_part *part)
{
	char topics[TOPIC_BYTES];
	json_t *args;

	if (!asked_is_ready(window->asked) || asked_is_none(window->asked))
		return nothing(asked_is_ready(window->asked));
	args = asked_args(window->asked);
	asked_topics(window->asked, topics, sizeof(topics));
	json_object_set_new(args, "limit", json_integer(rows_asked(part)));
	json_object_set_new(args, "values", json_true());
	place_argument_of(part, args);
	return model_ask(console_model(view->console), LANE_LETTERS, "dlq.list", args, topics);
}

/* The beginning is there, and goes on: now all of it. */
static void window_grow(struct window *window, const struct answer *answer)
{
	if (!window->shown.is_first || window->is_moving || json_array_size(answer->lines) < WINDOW_FIRST_ROWS)
		return;
	window->wanted = window->shown;
	window->wanted.is_first = false;
	window->is_moving = window->is_growing = true;
	window->then = ACTIONS;
}

const struct answer *window_ask(struct view *view, struct window *window, bool *out_came)
{
	const struct answer *wanted, *shown;

	*out_came = false;
	asked_update(view, window->asked);
	if (window->is_moving) {
		wanted = part_ask(view, window, &window->wanted);
		if (wanted->is_known) {
			window->shown = window->wanted;
			window->is_moving = window->is_growing = false;
			*out_came = true;
			return wanted;
		}
	}
	shown = part_ask(view, window, &window->shown);
	window_grow(window, shown);
	return shown;
}

int64_t window_total(const struct window *window)
{
	return window->asked->total;
}

bool window_is_back(const struct window *window)
{
	return window->shown.is_back;
}

static size_t rows_of(struct view *view, const struct window *window)
{
	return json_array_size(part_ask(view, window, &window->shown)->lines);
}

int64_t window_place(struct view *view, const struct window *window)
{
	const struct window_part *part = &window->shown;
	int64_t below = part->below, rows = (int64_t)rows_of(view, window);

	if (part->place >= 0)
		return part->place;
	if (below < 0)
		below = window_total(window);
	return below < 0 ? -1 : below > rows ? below - rows : 0;
}

static bool is_full(struct view *view, const struct window *window)
{
	return rows_of(view, window) >= (size_t)rows_asked(&window->shown);
}

bool window_is_whole(struct view *view, const struct window *window)
{
	return !window->shown.is_back && is_at_end(&window->shown) && !is_full(view, window);
}

static struct place place_at(struct view *view, const struct window *window, size_t at, size_t count)
{
	const json_t *lines = part_ask(view, window, &window->shown)->lines;
	const json_t *row = json_array_get(lines, window_is_back(window) ? count - 1 - at : at);
	struct place place = { .id = member_int(row, "id") };

	snprintf(place.job, sizeof(place.job), "%s", member_text(row, "job"));
	return place;
}

static void move_to(struct window *window, struct window_part part, enum action_id then)
{
	window->wanted = part;
	window->is_moving = true;
	window->is_growing = false;
	window->then = then;
}

/* The rows around the selection are in both parts, so the selection stays. */
void window_follow(struct view *view, struct window *window, size_t at, size_t count)
{
	int64_t place = window_place(view, window);
	bool is_last = window->shown.is_back ? window->shown.below < 0 : !is_full(view, window);
	size_t half = count / 2;

	if (window->is_moving || count < WINDOW_ROWS || place < 0)
		return;
	if (at + NEAR_END >= count && !is_last)
		move_to(window, (struct window_part){ .at = place_at(view, window, half - 1, count), .place = place + (int64_t)half },
		        ACTIONS);
	else if (at < NEAR_END && place > 0)
		move_to(window, (struct window_part){ .at = place_at(view, window, half, count), .is_back = true, .place = -1,
		                                      .below = place + (int64_t)half }, ACTIONS);
}

bool window_end(struct view *view, struct window *window, enum action_id end)
{
	const struct window_part *shown = &window->shown;

	if (window_is_whole(view, window))
		return false;
	if (end == ACTION_first) {
		if (!window->is_moving && !shown->is_back && is_at_end(shown))
			return false;
		move_to(window, (struct window_part){ .is_first = true }, end);
	} else {
		if (!window->is_moving && shown->is_back && shown->below < 0)
			return false;
		move_to(window, (struct window_part){ .is_back = true, .place = -1, .below = -1, .is_first = true }, end);
	}
	return true;
}

void window_begin(struct window *window)
{
	window->shown = (struct window_part){ .is_first = true };
	window->is_moving = window->is_growing = false;
	window->then = ACTIONS;
}
