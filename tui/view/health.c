/* Would a stop or a crash lose anything, and what runs short. From `weir engine status --json`. */
#include "base/arena.h"
#include "view/rows_view.h"

#include <stdlib.h>

#define LINE_BYTES 2048

enum column { LEVEL, WHAT, NOW };

static const struct list_column columns[] = {
	[LEVEL] = { "LEVEL", "level", 7, -1, 0, 0, false, 'l' },
	[WHAT] = { "WHAT", "what", 29, -1, 0, 0, false, 'w' },
	[NOW] = { "NOW", "now", 20, -1, 0, 0, true, 0 },
};

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	static const char *const members[] = { [LEVEL] = "level", [WHAT] = "what", [NOW] = "now" };

	(void)console;
	text_add(out, member_text(row, members[column]));
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%.100s", member_text(row, "what"));
}

static bool is_fine(const json_t *row)
{
	return strcmp(member_text(row, "level"), "ok") == 0;
}

static enum role row_role(const struct console *console, const json_t *row, size_t column)
{
	const char *level = member_text(row, "level");

	if (column != LEVEL || console_is_blind(console))
		return console_role(console, ROLE_text);
	return strcmp(level, "fails") == 0 ? ROLE_error : is_fine(row) ? ROLE_ok : ROLE_warn;
}

static const struct answer *ask(struct view *view)
{
	return model_ask(console_model(view->console), LANE_LOOK, "engine.status", NULL, "jobs journal");
}

static void collect(struct view *view, struct rows *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(ask(view)->lines, i, row) {
		if (json_object_get(row, "level") && !(console_is_trouble_only(view->console) && is_fine(row)))
			rows_add(rows, row);
	}
}

static const struct rows_spec spec = { columns, sizeof(columns) / sizeof(*columns), cell_text, NULL, row_key, row_role, collect };

static void health_draw(struct view *view, struct area area)
{
	struct rows *rows = rows_view_rows(view);
	const json_t *row = rows_selected(view, rows);
	int list = area.rows - (area.rows > 14 ? 5 : 1);

	draw_text(area, 0, 1, ROLE_dim, "What is in flight when it ends comes again; nothing is lost");
	rows_draw(view, rows, area_part(area, 1, 0, list, area.cols), true);
	if (!row) {
		rows_view_nothing(area_part(area, 2, 0, area.rows - 2, area.cols), ask(view), "nothing is in trouble; ! shows all");
		return;
	}
	area = area_part(area, 1 + list, 0, area.rows - 1 - list, area.cols);
	draw_rule(area, 0, member_text(row, "what"), member_text(row, "level"));
	draw_paragraph(area, 1, 1, area.cols - 2, area.rows - 1, ROLE_text, span_of(member_text(row, "now")));
}

static void health_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const json_t *row;
	size_t i, ok = 0, other = 0;

	(void)out_has_verdict;
	json_array_foreach(ask(view)->lines, i, row) {
		if (json_object_get(row, "level"))
			*(is_fine(row) ? &ok : &other) += 1;
	}
	text_add_format(out, "health  %zu ok", ok);
	if (other)
		text_add_format(out, ", %zu not", other);
}

static void health_status(struct view *view, struct text *left, struct text *right)
{
	text_add(left, "the same as: weir engine status");
	rows_status(view, rows_view_rows(view), right);
}

static const enum action_id *health_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_trouble, ACTION_logs, ACTION_filter, ACTION_copy_finding, ACTION_back,
		                                ACTIONS };

	(void)view;
	return hints;
}

static bool health_act(struct view *view, enum action_id action, const char *argument)
{
	return rows_act(view, rows_view_rows(view), action, argument);
}

static bool health_copy(struct view *view, bool is_finding, struct text *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	(void)is_finding;
	return row && text_add_format(out, "%s: %s: %s", member_text(row, "level"), member_text(row, "what"), member_text(row, "now"));
}

static bool health_open(struct view *view, struct error *err)
{
	struct rows_state *state = memory_zalloc(sizeof(*state));

	(void)err;
	state->rows = rows_new(&spec);
	view->state = state;
	return true;
}

static const enum action_id health_own[] = { ACTION_trouble, ACTIONS };

const struct view_ops view_health = {
	.name = "health",
	.table = "health",
	.help = "would a crash lose anything, and what runs short",
	.open = health_open,
	.close = rows_view_close,
	.draw = health_draw,
	.title = health_title,
	.status = health_status,
	.own = health_own,
	.hints = health_hints,
	.act = health_act,
	.copy = health_copy,
	.fields = rows_view_fields,
	.filter = rows_view_filter,
	.filter_text = rows_view_filter_text,
};
