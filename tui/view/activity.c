/*
 * What each running job asks of its source, its warehouse and its replica this second, what waits for what, and the last
 * minute in numbers. From `weir status --json`.
 */
#include "base/arena.h"
#include "view/rows_view.h"
#include "widget/chart.h"

#include <stdlib.h>

#define LINE_BYTES 2048
#define WAITS_ROWS_LEAST 3
#define MINUTE_ROWS 4
#define LONG_S 1 /* what runs for so long has not answered yet */

struct activity {
	struct rows *rows;
	json_t *made; /* an object a thread: those of the answer with their job */
};

enum column { KIND, JOB, TARGET, COUNT, OLDEST, DOING, ANSWER };

static const struct list_column columns[] = {
	[KIND] = { "KIND", "kind", 6, -1, 0, 0, false, 'k' },
	[JOB] = { "JOB", "job", 12, -1, 1, 0, false, 'j' },
	[TARGET] = { "WHAT", "what", 16, -1, 0, 0, true, 'w' },
	[COUNT] = { "N", "n", 2, 1, 0, 0, false, 'n' },
	[OLDEST] = { "OLDEST", "oldest", 7, 1, 0, 0, false, 'o' },
	[DOING] = { "DOING", "doing", 24, -1, 3, 90, false, 'd' },
	[ANSWER] = { "LAST ANSWER", "answer", 13, -1, 2, 0, false, 'l' },
};

/* Seconds for which a request has been under way; below 0: none is. */
static double seconds_of(const struct console *console, const json_t *row)
{
	int64_t since_us = time_us_of(member_text(row, "since"));

	if (!member_int(row, "in_flight") || since_us < 0)
		return -1;
	return since_us < console_now_us(console) ? (double)(console_now_us(console) - since_us) / 1e6 : 0;
}

/* In whole seconds: a screen on which nothing happens would change with every look. */
static void oldest_add(double seconds, struct text *out)
{
	if (seconds < 0)
		text_add(out, "-");
	else
		age_text((int64_t)seconds * 1000, out);
}

static void answer_add(const struct console *console, const json_t *row, struct text *out)
{
	double seconds = seconds_of(console, row);

	if (seconds >= LONG_S && strcmp(member_text(row, "kind"), "read") != 0) {
		text_add(out, "running ");
		oldest_add(seconds, out);
		return;
	}
	if (!*member_text(row, "answered")) {
		text_add(out, "-");
		return;
	}
	text_add(out, "ok ");
	console_time(console, member_text(row, "answered"), true, out);
}

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	switch ((enum column)column) {
	case KIND: text_add(out, member_text(row, "kind")); return;
	case JOB: text_add(out, member_text(row, "job")); return;
	case TARGET: text_add(out, member_text(row, "target")); return;
	case COUNT: number_text(member_int(row, "in_flight"), out); return;
	case OLDEST: oldest_add(seconds_of(console, row), out); return;
	case DOING: text_add(out, member_text(row, "doing")); return;
	case ANSWER: answer_add(console, row, out); return;
	}
}

static bool cell_number(const json_t *row, size_t column, double *out)
{
	*out = column == COUNT ? (double)member_int(row, "in_flight") : -(double)time_us_of(member_text(row, "since"));
	return column == OLDEST || column == COUNT;
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%s %s", member_text(row, "job"), member_text(row, "thread"));
}

static const struct answer *ask(struct view *view)
{
	return model_ask(console_model(view->console), LANE_LOOK, "status", NULL, "jobs journal");
}

/* What waits stands below. */
static void collect(struct view *view, struct rows *rows)
{
	struct activity *activity = view->state;
	const json_t *job, *thread;
	size_t i, j;

	json_array_clear(activity->made);
	json_array_foreach(ask(view)->lines, i, job) {
		json_array_foreach(json_object_get(job, "activity"), j, thread) {
			json_t *row;

			if (!json_object_get(thread, "kind"))
				continue;
			row = json_copy((json_t *)thread);
			json_object_set(row, "job", json_object_get(job, "job"));
			json_array_append_new(activity->made, row);
			rows_add(rows, row);
		}
	}
}

static const struct rows_spec spec = { columns, sizeof(columns) / sizeof(*columns), cell_text, cell_number, row_key, NULL,
	                               collect };

static void wait_draw(const struct console *console, const json_t *object, const char *state, const char *name,
                      struct area area, int *row)
{
	OWNED(text) end = text_new(128);

	if (*row >= area.rows || (strcmp(state, "waiting") != 0 && strcmp(state, "retrying") != 0 && strcmp(state, "paused") != 0))
		return;
	if (*member_text(object, "until")) {
		text_add(end, "to ");
		console_time(console, member_text(object, "until"), false, end);
	} else if (strcmp(state, "paused") == 0) {
		text_add(end, "open end"); /* only a person's pause has none */
	}
	draw_field(area, *row, 1, 22, -1, ROLE_text, span_of(name));
	draw_field(area, *row, 24, area.cols - 35, -1, ROLE_text, span_of(member_text(object, "sentence")));
	draw_span(area, *row, area.cols - 10, ROLE_dim, text_span(end));
	(*row)++;
}

static void draw_waits(struct view *view, struct area area)
{
	const json_t *job, *table;
	size_t i, j;
	int row = 1;

	draw_rule(area, 0, "waits: for what, until when", "");
	json_array_foreach(ask(view)->lines, i, job) {
		wait_draw(view->console, job, member_text(job, "own_state"), member_text(job, "job"), area, &row);
		json_array_foreach(json_object_get(job, "tables"), j, table)
			wait_draw(view->console, table, member_text(table, "state"), member_text(table, "table"), area, &row);
	}
	if (row == 1)
		draw_text(area, 1, 1, ROLE_dim, "nothing waits");
}

static int64_t minute_of(struct view *view, const char *member)
{
	const json_t *job;
	int64_t sum = 0;
	size_t i;

	json_array_foreach(ask(view)->lines, i, job)
		sum += member_int(json_object_get(job, "last_minute"), member);
	return sum;
}

static void count_add(const char *before, int64_t count, const char *after, struct text *out)
{
	text_add(out, before);
	number_text(count, out);
	text_add(out, after);
}

/* "queue shop 1 of 4 batches, clicks 0 of 4" */
static void queues_add(struct view *view, struct text *out)
{
	const json_t *job;
	bool is_first = true;
	size_t i;

	json_array_foreach(ask(view)->lines, i, job) {
		const json_t *queue = json_object_get(job, "queue");

		if (!queue || !member_bool(job, "running"))
			continue;
		text_add_format(out, "%s%s %lld of %lld%s", is_first ? "queue " : ", ", member_text(job, "job"),
		                (long long)member_int(queue, "batches"), (long long)member_int(queue, "of"), is_first ? " batches" : "");
		is_first = false;
	}
}

static void draw_minute(struct view *view, struct area area)
{
	OWNED(text) appends = text_new(LINE_BYTES);
	OWNED(text) confirms = text_new(LINE_BYTES);
	OWNED(text) queues = text_new(64 * LINE_BYTES);

	count_add("appends ", minute_of(view, "batches"), " ok, ", appends);
	count_add("", minute_of(view, "retries"), " tried again", appends);
	count_add("confirms ", minute_of(view, "received"), " messages", confirms);
	count_add("   merges ", minute_of(view, "merges"), " ended", confirms);
	queues_add(view, queues);
	draw_rule(area, 0, "last 60 s", "");
	draw_field(area, 1, 1, area.cols - 2, -1, ROLE_text, text_span(appends));
	draw_field(area, 2, 1, area.cols - 2, -1, ROLE_text, text_span(confirms));
	draw_field(area, 3, 1, area.cols - 2, -1, ROLE_text, text_span(queues));
}

static void activity_draw(struct view *view, struct area area)
{
	struct rows *rows = rows_view_rows(view);
	int list, minute = area.rows >= 2 + WAITS_ROWS_LEAST + MINUTE_ROWS ? MINUTE_ROWS : 0;
	int most = area.rows - WAITS_ROWS_LEAST - minute;

	rows_selected(view, rows);
	list = (int)rows_count(rows) + 1 < most ? (int)rows_count(rows) + 1 : most;
	list = list < 2 ? 2 : list;
	rows_draw(view, rows, area_part(area, 0, 0, list, area.cols), true);
	if (!rows_count(rows))
		rows_view_nothing(area_part(area, 1, 0, 1, area.cols), ask(view),
		                  rows_are_filtered_out(rows) ? ROWS_FILTERED_OUT : "at rest: no job runs");
	draw_waits(view, area_part(area, list, 0, area.rows - list - minute, area.cols));
	if (minute)
		draw_minute(view, area_part(area, area.rows - minute, 0, minute, area.cols));
}

static void activity_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const json_t *job, *thread;
	size_t i, j;
	int64_t requests = 0;

	(void)out_has_verdict;
	json_array_foreach(ask(view)->lines, i, job) {
		json_array_foreach(json_object_get(job, "activity"), j, thread)
			requests += member_int(thread, "in_flight");
	}
	text_add_format(out, "activity  %lld request%s in flight", (long long)requests, requests == 1 ? "" : "s");
}

static void activity_status(struct view *view, struct text *left, struct text *right)
{
	text_add(left, "what is asked of whom now");
	rows_status(view, rows_view_rows(view), right);
}

static const enum action_id *activity_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_open, ACTION_logs, ACTION_toggle_pause, ACTION_acts, ACTION_filter,
		                                ACTION_back, ACTIONS };

	(void)view;
	return hints;
}

static bool activity_subject(struct view *view, struct subject *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	if (!row)
		return false;
	snprintf(out->job, sizeof(out->job), "%s", member_text(row, "job"));
	snprintf(out->state, sizeof(out->state), "%s", member_text(row, "state"));
	return true;
}

static bool activity_act(struct view *view, enum action_id action, const char *argument)
{
	struct subject subject = { 0 };

	if (action != ACTION_open)
		return rows_act(view, rows_view_rows(view), action, argument);
	if (activity_subject(view, &subject))
		console_go(view->console, "job", subject.job);
	else
		console_say(view->console, "nothing to open");
	return true;
}

static bool activity_open(struct view *view, struct error *err)
{
	struct activity *activity = memory_zalloc(sizeof(*activity));

	(void)err;
	activity->rows = rows_new(&spec);
	activity->made = json_array();
	view->state = activity;
	return true;
}

static void activity_close(struct view *view)
{
	json_decref(((struct activity *)view->state)->made);
	rows_view_close(view);
}

static const enum action_id activity_own[] = { ACTION_sort, ACTION_sort_reverse, ACTIONS };

const struct view_ops view_activity = {
	.name = "activity",
	.table = "activity",
	.help = "what each job asks of whom this second, what waits for what, and the last minute",
	.open = activity_open,
	.close = activity_close,
	.draw = activity_draw,
	.title = activity_title,
	.status = activity_status,
	.own = activity_own,
	.hints = activity_hints,
	.act = activity_act,
	.subject = activity_subject,
	.fields = rows_view_fields,
	.filter = rows_view_filter,
	.filter_text = rows_view_filter_text,
};
