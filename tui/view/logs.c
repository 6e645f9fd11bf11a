/* The engine's log, newest at the end; `F` follows. From `weir logs --json`. */
#include "base/arena.h"
#include "view/rows_view.h"

#include <stdlib.h>

#define LINE_BYTES 8192
#define LINES_SHOWN 2000
#define PANE_ROWS 4

struct logs {
	struct rows *rows;
	bool is_following, is_debug;
	unsigned generation;
};

enum column { TIME, LEVEL, JOB, MESSAGE };

static const struct list_column columns[] = {
	[TIME] = { "TIME", NULL, 8, -1, 0, 0, false, 0 },
	[LEVEL] = { "LEVEL", "level", 5, -1, 1, 0, false, 'l' },
	[JOB] = { "JOB", "job", 10, -1, 2, 0, false, 'j' },
	[MESSAGE] = { "MESSAGE", "message", 20, -1, 0, 0, true, 0 },
};

static void message_text(const json_t *row, struct text *out)
{
	const json_t *value;
	const char *name;

	text_add(out, member_text(row, "sentence"));
	json_object_foreach(json_object_get((json_t *)row, "fields"), name, value) {
		char *text = json_is_string(value) ? strdup(json_string_value(value)) : json_dumps(value, JSON_ENCODE_ANY);

		text_add_format(out, "  %s=%s", name, text ? text : "");
		free(text);
	}
}

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	const char *job = member_text(row, "job");

	switch ((enum column)column) {
	case TIME: console_time(console, member_text(row, "time"), true, out); return;
	case LEVEL: text_add(out, member_text(row, "level")); return;
	case JOB: text_add(out, *job ? job : "-"); return;
	case MESSAGE: message_text(row, out); return;
	}
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%s %.80s %.20s", member_text(row, "time"), member_text(row, "sentence"), member_text(row, "job"));
}

static enum role row_role(const struct console *console, const json_t *row, size_t column)
{
	const char *level = member_text(row, "level");

	if (column != LEVEL)
		return console_role(console, ROLE_text);
	return strcmp(level, "error") == 0 ? ROLE_error : strcmp(level, "warn") == 0 ? ROLE_warn : ROLE_dim;
}

static const struct answer *ask(struct view *view)
{
	const struct logs *logs = view->state;
	json_t *args = json_pack("{s:i, s:s}", "limit", LINES_SHOWN, "level", logs->is_debug ? "debug" : "info");

	if (*view->argument)
		json_object_set_new(args, "job", json_string(view->argument));
	return model_ask(console_model(view->console), LANE_LOOK, "logs", args, logs->is_debug ? "logs:debug" : "logs:info");
}

static void collect(struct view *view, struct rows *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(ask(view)->lines, i, row) {
		if (*member_text(row, "sentence"))
			rows_add(rows, row);
	}
}

static const struct rows_spec spec = { columns, sizeof(columns) / sizeof(*columns), cell_text, NULL, row_key, row_role, collect };

static void follow(struct view *view)
{
	struct logs *logs = view->state;
	const struct answer *answer = ask(view);

	if (!logs->is_following || logs->generation == answer->generation)
		return;
	logs->generation = answer->generation;
	rows_act(view, logs->rows, ACTION_last, "");
}

static void logs_draw(struct view *view, struct area area)
{
	struct logs *logs = view->state;
	const json_t *row;
	int list = area.rows - (area.rows > 12 ? PANE_ROWS : 0);
	OWNED(text) what = text_new(LINE_BYTES);

	follow(view);
	rows_draw(view, logs->rows, area_part(area, 0, 0, list, area.cols), true);
	row = rows_selected(view, logs->rows);
	if (!row) {
		rows_view_nothing(area_part(area, 1, 0, area.rows - 1, area.cols), ask(view),
		                  rows_are_filtered_out(logs->rows) ? ROWS_FILTERED_OUT : "the log has no such line");
		return;
	}
	area = area_part(area, list, 0, area.rows - list, area.cols);
	draw_rule(area, 0, member_text(row, "time"), logs->is_following ? "following" : "F follows");
	message_text(row, what);
	draw_paragraph(area, 1, 1, area.cols - 2, area.rows - 1, ROLE_text, text_span(what));
}

static void logs_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const struct logs *logs = view->state;

	(void)out_has_verdict;
	text_add_format(out, "logs%s%s  level:%s", *view->argument ? " of " : "", view->argument, logs->is_debug ? "debug" : "info");
}

static void logs_status(struct view *view, struct text *left, struct text *right)
{
	const struct logs *logs = view->state;

	text_add(left, logs->is_following ? "following the newest line" : logs->is_debug ? "w hides debug" : "level:info hides debug; w shows it");
	rows_status(view, logs->rows, right);
}

static const enum action_id *logs_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_follow, ACTION_filter, ACTION_wide, ACTION_copy, ACTION_zone, ACTION_back,
		                                ACTIONS };

	(void)view;
	return hints;
}

static const char *logs_hint_word(struct view *view, enum action_id action)
{
	const struct logs *logs = view->state;

	return action == ACTION_wide ? logs->is_debug ? "hide debug" : "show debug" : NULL;
}

static bool logs_subject(struct view *view, struct subject *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	if (!row || !*member_text(row, "job"))
		return false;
	snprintf(out->job, sizeof(out->job), "%s", member_text(row, "job"));
	return true;
}

/* Moving up stops following. */
static bool logs_act(struct view *view, enum action_id action, const char *argument)
{
	struct logs *logs = view->state;

	if (action == ACTION_follow) {
		logs->is_following = !logs->is_following;
		logs->generation = 0;
		return true;
	}
	if (action == ACTION_wide) {
		logs->is_debug = !logs->is_debug;
		return true;
	}
	if (action == ACTION_up || action == ACTION_half_up || action == ACTION_page_up || action == ACTION_first)
		logs->is_following = false;
	return rows_act(view, logs->rows, action, argument);
}

static bool logs_copy(struct view *view, bool is_finding, struct text *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	if (!row)
		return false;
	(void)is_finding;
	text_add_format(out, "%s %s %s ", member_text(row, "time"), member_text(row, "level"), member_text(row, "job"));
	message_text(row, out);
	return true;
}

static bool logs_open(struct view *view, struct error *err)
{
	struct logs *logs = memory_zalloc(sizeof(*logs));

	(void)err;
	logs->rows = rows_new(&spec);
	logs->is_following = true;
	view->state = logs;
	return true;
}

static const enum action_id logs_own[] = { ACTION_follow, ACTION_wide, ACTIONS };

const struct view_ops view_logs = {
	.name = "logs",
	.table = "logs",
	.help = "the engine's log, of one job with its name",
	.open = logs_open,
	.close = rows_view_close,
	.draw = logs_draw,
	.title = logs_title,
	.status = logs_status,
	.own = logs_own,
	.hints = logs_hints,
	.hint_word = logs_hint_word,
	.act = logs_act,
	.subject = logs_subject,
	.copy = logs_copy,
	.fields = rows_view_fields,
	.filter = rows_view_filter,
	.filter_text = rows_view_filter_text,
};
