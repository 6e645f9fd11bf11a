/* What each thread of each running job does this second, and what waits for what. From `weir status --json`. */
#include "base/arena.h"
#include "view/rows_view.h"
#include "widget/chart.h"

#include <stdlib.h>

#define LINE_BYTES 2048
#define PANE_ROWS 7

struct activity {
	struct rows *rows;
	json_t *made; /* an object a thread: those of the answer with their job */
};

enum column { JOB, THREAD, SINCE, STATE, DOING };

static const struct list_column columns[] = {
	[JOB] = { "JOB", "job", 14, -1, 0, 0, false, 'j' },
	[THREAD] = { "THREAD", "thread", 8, -1, 0, 0, false, 't' },
	[SINCE] = { "FOR", "for", 6, 1, 0, 0, false, 'f' },
	[STATE] = { "STATE", "state", 11, -1, 1, 0, false, 's' },
	[DOING] = { "WHAT", "what", 20, -1, 0, 0, true, 'w' },
};

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	int64_t since = time_us_of(member_text(row, "since"));

	switch ((enum column)column) {
	case JOB: text_add(out, member_text(row, "job")); return;
	case THREAD: text_add(out, member_text(row, "thread")); return;
	case SINCE:
		if (since >= 0)
			duration_text((console_now_us(console) - since) / 1000000 * 1000, out);
		return;
	case STATE: text_add(out, member_text(row, "state")); return;
	case DOING: text_add(out, member_text(row, "doing")); return;
	}
}

static bool cell_number(const json_t *row, size_t column, double *out)
{
	*out = -(double)time_us_of(member_text(row, "since"));
	return column == SINCE;
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%s %s", member_text(row, "job"), member_text(row, "thread"));
}

static enum role row_role(const struct console *console, const json_t *row, size_t column)
{
	return column == STATE ? state_role(member_text(row, "state")) : console_role(console, ROLE_text);
}

static const struct answer *ask(struct view *view)
{
	return model_ask(console_model(view->console), LANE_LOOK, "status", NULL, "jobs journal");
}

static void collect(struct view *view, struct rows *rows)
{
	struct activity *activity = view->state;
	const json_t *job, *thread;
	size_t i, j;

	json_array_clear(activity->made);
	json_array_foreach(ask(view)->lines, i, job) {
		json_array_foreach(json_object_get(job, "activity"), j, thread) {
			json_t *row = json_copy((json_t *)thread);

			json_object_set(row, "job", json_object_get(job, "job"));
			if (!json_object_get(row, "state"))
				json_object_set(row, "state", json_object_get(job, json_object_get(job, "own_state") ? "own_state" : "state"));
			json_array_append_new(activity->made, row);
			rows_add(rows, row);
		}
	}
}

static const struct rows_spec spec = { columns, sizeof(columns) / sizeof(*columns), cell_text, cell_number, row_key, row_role,
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

static void activity_draw(struct view *view, struct area area)
{
	struct rows *rows = rows_view_rows(view);
	int list, most = area.rows - PANE_ROWS;

	rows_selected(view, rows);
	list = (int)rows_count(rows) + 1 < most ? (int)rows_count(rows) + 1 : most;
	list = list < 2 ? 2 : list;
	rows_draw(view, rows, area_part(area, 0, 0, list, area.cols), true);
	if (!rows_count(rows))
		rows_view_nothing(area_part(area, 1, 0, 1, area.cols), ask(view), rows_are_filtered_out(rows) ? ROWS_FILTERED_OUT : "at rest: no job runs");
	draw_waits(view, area_part(area, list, 0, area.rows - list, area.cols));
}

static void activity_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const json_t *job;
	size_t i, running = 0;

	(void)out_has_verdict;
	json_array_foreach(ask(view)->lines, i, job)
		running += member_bool(job, "running");
	text_add_format(out, "activity  %zu job%s running", running, running == 1 ? "" : "s");
}

static void activity_status(struct view *view, struct text *left, struct text *right)
{
	text_add(left, "what each thread does now");
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
	.help = "what each job does this second, and what waits for what",
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
