/* All tables, worst first, with a sentence for each that is not ok. From `weir tables --json`. */
#include "base/arena.h"
#include "view/facts.h"
#include "view/known_names.h"
#include "view/names.h"
#include "view/rows_view.h"
#include "view/tables_chart.h"
#include "view/totals.h"
#include "widget/chart.h"

#include <stdlib.h>

#define LINE_BYTES 2048
#define SENTENCES_MOST 4
#define CHART_FROM_ROWS 24 /* of the middle of the screen; the list goes before */

enum column { STATE, TABLE, LAG, REPLICA, IN, OUT, ERRORS, LETTERS, PARKED, SINCE, JOB };

static const struct list_column columns[] = {
	[STATE] = { "STATE", "state", 11, -1, 0, 0, false, 's' },
	[TABLE] = { "TABLE", "table", 15, ALIGN_NAME, 0, 0, true, 't' },
	[LAG] = { "LAG", "lag", 5, 1, 9, 0, false, 'l' },
	[REPLICA] = { "REPLICA", "replica", 7, 1, 8, 0, false, 'r' },
	[IN] = { "IN/S", "in", 5, 1, 7, 0, false, 'i' },
	[OUT] = { "OUT/S", "out", 5, 1, 6, 0, false, 'o' },
	[ERRORS] = { "ERR/M", "errors", 5, 1, 5, 0, false, 'e' },
	[LETTERS] = { "DLQ", "dlq", 5, 1, 4, 0, false, 'd' },
	[PARKED] = { "PARKED", "parked", 6, 1, 3, 0, false, 'p' },
	[SINCE] = { "SINCE", NULL, 5, 1, 2, 90, false, 0 },
	[JOB] = { "JOB", "job", 10, -1, 1, 90, false, 'j' },
};

static bool cell_number(const json_t *row, size_t column, double *out)
{
	return fact_number(row, columns[column].field, out);
}

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	switch ((int)column) {
	case STATE: text_add(out, state_column(member_text(row, "state"))); return;
	case TABLE: text_add(out, member_text(row, "table")); return;
	case SINCE: console_time(console, member_text(row, "since"), false, out); return;
	case JOB: text_add(out, member_text(row, "job")); return;
	default: fact_text(row, columns[column].field, out);
	}
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%s\n%s", member_text(row, "job"), member_text(row, "table"));
}

static bool is_fine(const json_t *row)
{
	const char *state = member_text(row, "state");

	return strcmp(state, "ok") == 0 || strcmp(state, "stopped") == 0;
}

static const struct answer *ask(struct view *view)
{
	json_t *args = *view->argument ? json_pack("{s:s}", "job", view->argument) : NULL;

	return model_ask(console_model(view->console), LANE_LOOK, "tables", args, "jobs journal");
}

static void collect(struct view *view, struct rows *rows)
{
	const struct answer *answer = ask(view);
	const json_t *row;
	size_t i;

	json_array_foreach(answer->lines, i, row) {
		if (!console_is_trouble_only(view->console) || !is_fine(row))
			rows_add(rows, row);
	}
}

static const struct rows_spec spec = { columns, sizeof(columns) / sizeof(*columns), cell_text, cell_number, row_key, NULL,
	                               collect };

/*
 * The pane: one sentence for each that is not ok.
 */
static int bad_count(const json_t *lines)
{
	const json_t *row;
	size_t i;
	int count = 0;

	json_array_foreach(lines, i, row)
		count += !is_fine(row);
	return count;
}

static void count_add(const json_t *row, const char *member, const char *words, struct text *out)
{
	if (!member_int(row, member))
		return;
	text_add(out, "; ");
	number_text(member_int(row, member), out);
	text_add_format(out, " %s%s", words, strcmp(words, "letter") == 0 && member_int(row, member) != 1 ? "s" : "");
}

/* "needs you since 02:27: unknown_column phone; 4,182 letters": what, since when, how many. */
static void draw_sentence(struct view *view, const json_t *row, struct area area, int at)
{
	const char *reason = member_text(row, "reason");
	int name_cols = area.cols < 72 ? 16 : 20;
	OWNED(text) line = text_new(LINE_BYTES);

	text_add(line, member_text(row, "state"));
	if (*member_text(row, "since")) {
		text_add(line, " since ");
		console_time(view->console, member_text(row, "since"), false, line);
	}
	text_add_format(line, ": %s", *reason ? reason : member_text(row, "sentence"));
	count_add(row, "open_letters", "letter", line);
	count_add(row, "parked", "parked", line);
	draw_field(area, at, 1, name_cols, -1, console_role(view->console, ROLE_text), span_of(member_text(row, "table")));
	draw_field(area, at, 2 + name_cols, area.cols - 3 - name_cols, -1, console_role(view->console, ROLE_text), text_span(line));
}

static void draw_pane(struct view *view, struct area area, int bad)
{
	const json_t *lines = ask(view)->lines, *row;
	size_t i;
	int at = 1;

	draw_rule(area, 0, "why they are not ok", "worst first");
	json_array_foreach(lines, i, row) {
		if (is_fine(row))
			continue;
		if (at > SENTENCES_MOST) {
			draw_format(area, at, 1, ROLE_dim, "and %d more", bad - SENTENCES_MOST);
			return;
		}
		draw_sentence(view, row, area, at++);
	}
}

/* From the top: the list as long as it is, why tables are not ok, the chart of the selected one. */
struct parts {
	int list, pane, chart;
};

static struct parts parts_of(int rows, int wanted, int bad, bool has_chart)
{
	struct parts parts = { .pane = bad ? 1 + (bad < SENTENCES_MOST ? bad : SENTENCES_MOST + 1) : 0 };

	parts.chart = has_chart ? TABLES_CHART_ROWS : 0;
	parts.list = wanted < rows - parts.pane - parts.chart ? wanted : rows - parts.pane - parts.chart;
	return parts;
}

static void tables_draw(struct view *view, struct area area)
{
	struct rows *rows = rows_view_rows(view);
	const struct answer *answer = ask(view);
	const json_t *selected = rows_selected(view, rows);
	int bad = bad_count(answer->lines);
	bool has_chart = area.rows >= CHART_FROM_ROWS && tables_chart_has(view->console, selected);
	int wanted = 1 + (rows_count(rows) ? (int)rows_count(rows) : 1); /* the heads, and rows or why there are none */
	struct parts parts = parts_of(area.rows, wanted, bad, has_chart);

	rows_draw(view, rows, area_part(area, 0, 0, parts.list, area.cols), true);
	if (parts.pane)
		draw_pane(view, area_part(area, parts.list, 0, area.rows - parts.list, area.cols), bad);
	if (parts.chart)
		tables_chart_draw(view->console, selected, area_part(area, parts.list + parts.pane, 0, TABLES_CHART_ROWS, area.cols));
	if (!rows_count(rows))
		draw_text(area, parts.list - 1, 1, ROLE_text,
		          rows_are_filtered_out(rows)    ? ROWS_FILTERED_OUT :
		          !answer->is_known              ? "asking the engine ..." :
		          console_is_trouble_only(view->console) ? "nothing is in trouble; ! shows all" :
		                                           "no table has been seen yet");
}

static void tables_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const struct answer *answer = ask(view);
	struct totals totals;
	int bad = bad_count(answer->lines);

	totals_ask(view->console, &totals);
	text_add_format(out, "tables%s%s  ", *view->argument ? " of " : "", view->argument);
	totals_verdict(&totals, false, out);
	text_add_format(out, ": %d of %zu not ok", bad, json_array_size(answer->lines));
	*out_has_verdict = true;
}

static void tables_status(struct view *view, struct text *left, struct text *right)
{
	const json_t *lines = ask(view)->lines;

	if (console_is_trouble_only(view->console))
		text_add_format(left, "%d of %zu in trouble; ! shows all", bad_count(lines), json_array_size(lines));
	else
		text_add_format(left, "worst first; %zu table%s", json_array_size(lines), json_array_size(lines) == 1 ? "" : "s");
	rows_status(view, rows_view_rows(view), right);
}

static const enum action_id *tables_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_open, ACTION_trouble, ACTION_letters, ACTION_toggle_pause, ACTION_acts,
		                                ACTION_filter, ACTIONS };

	(void)view;
	return hints;
}

static const char *tables_hint_word(struct view *view, enum action_id action)
{
	(void)view;
	return action == ACTION_open ? "why" : NULL;
}

static void subject_of(const json_t *row, struct subject *out)
{
	snprintf(out->job, sizeof(out->job), "%s", member_text(row, "job"));
	snprintf(out->table, sizeof(out->table), "%s", member_text(row, "table"));
	snprintf(out->state, sizeof(out->state), "%s", member_text(row, "state"));
	snprintf(out->code, sizeof(out->code), "%s", member_text(row, "code"));
	out->first = member_int(row, "first_letter");
	out->is_paused = json_object_get(row, "paused") || strcmp(out->state, "paused") == 0;
}

static bool tables_subject(struct view *view, struct subject *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	if (row)
		subject_of(row, out);
	return row;
}

static void tables_chosen(struct view *view, struct subjects *out)
{
	rows_chosen(view, rows_view_rows(view), subject_of, out);
}

static bool tables_act(struct view *view, enum action_id action, const char *argument)
{
	struct subject subject = { 0 };
	OWNED(text) why = text_new(LINE_BYTES);

	if (action != ACTION_open)
		return rows_act(view, rows_view_rows(view), action, argument);
	if (!tables_subject(view, &subject)) {
		console_say(view->console, "no table to open");
		return true;
	}
	letters_argument(&subject, why);
	console_go(view->console, "why", why->at);
	return true;
}

static bool tables_copy(struct view *view, bool is_finding, struct text *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	if (!row)
		return false;
	text_add(out, member_text(row, "table"));
	if (is_finding)
		text_add_format(out, ": %s since %s: %s", member_text(row, "state"), member_text(row, "since"),
		                member_text(row, "sentence"));
	return true;
}

static bool tables_open(struct view *view, struct error *err)
{
	struct rows_state *state;

	if (!known_job(view->console, view->argument, err))
		return false;
	state = memory_zalloc(sizeof(*state));
	state->rows = rows_new(&spec);
	view->state = state;
	return true;
}

static const enum action_id tables_own[] = {
	ACTION_trouble, ACTION_mark, ACTION_mark_range, ACTION_mark_all, ACTION_mark_none, ACTION_sort,
	ACTION_sort_reverse, ACTIONS
};

const struct view_ops view_tables = {
	.name = "tables",
	.table = "tables",
	.help = "all tables, worst first; with a job's name only its tables",
	.open = tables_open,
	.close = rows_view_close,
	.draw = tables_draw,
	.title = tables_title,
	.status = tables_status,
	.own = tables_own,
	.hints = tables_hints,
	.hint_word = tables_hint_word,
	.act = tables_act,
	.subject = tables_subject,
	.chosen = tables_chosen,
	.copy = tables_copy,
	.fields = rows_view_fields,
	.filter = rows_view_filter,
	.filter_text = rows_view_filter_text,
};
