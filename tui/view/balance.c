/* The ledger: received = written + filtered + dead-lettered + parked + in flight, per table or per job. */
#include "base/arena.h"
#include "view/known_names.h"
#include "view/names.h"
#include "view/rows_view.h"
#include "widget/chart.h"

#include <stdlib.h>

#define LEGEND_COLS 79 /* what the whole sentence takes */
#define LINE_BYTES 2048
#define PANE_ROWS 7

enum column { NAME, RECEIVED, WRITTEN, FILTERED, LETTERS, PARKED, FLIGHT, DIFF, REPEATED, ROWS };

static const struct list_column columns[] = {
	[NAME] = { "NAME", "name", 14, ALIGN_NAME, 0, 0, true, 'n' },
	[RECEIVED] = { "RECEIVED", "received", 11, 1, 0, 0, false, 'r' },
	[WRITTEN] = { "WRITTEN", "written", 11, 1, 0, 0, false, 'w' },
	[FILTERED] = { "FILTERED", "filtered", 8, 1, 3, 0, false, 'f' },
	[LETTERS] = { "LETTERS", "letters", 7, 1, 6, 0, false, 'l' },
	[PARKED] = { "PARKED", "parked", 6, 1, 5, 0, false, 'p' },
	[FLIGHT] = { "INFLT", "flight", 5, 1, 4, 0, false, 'i' },
	[DIFF] = { "DIFF", "diff", 4, 1, 0, 0, false, 'x' },
	[REPEATED] = { "REPEATED", "repeated", 8, 1, 2, 100, false, 'e' },
	[ROWS] = { "ROWS", "rows", 11, 1, 1, 100, false, 'o' },
};

static const char *const members[] = { [RECEIVED] = "received",   [WRITTEN] = "written", [FILTERED] = "filtered",
	                               [LETTERS] = "dead_lettered", [PARKED] = "parked",   [FLIGHT] = "in_flight",
	                               [REPEATED] = "repeated",   [ROWS] = "rows" };

static int64_t difference(const json_t *row)
{
	return member_int(row, "received") - member_int(row, "written") - member_int(row, "filtered") -
	       member_int(row, "dead_lettered") - member_int(row, "parked") - member_int(row, "in_flight");
}

static bool cell_number(const json_t *row, size_t column, double *out)
{
	if (column == NAME)
		return false;
	*out = column == DIFF ? (double)difference(row) : member_number(row, members[column]);
	return true;
}

static const char *name_of(const json_t *row)
{
	return json_object_get(row, "table") ? member_text(row, "table") : member_text(row, "job");
}

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	(void)console;
	if (column == NAME)
		text_add(out, name_of(row));
	else
		number_text(column == DIFF ? difference(row) : member_int(row, members[column]), out);
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%s", name_of(row));
}

static enum role row_role(const struct console *console, const json_t *row, size_t column)
{
	(void)column;
	return difference(row) ? ROLE_error : console_role(console, ROLE_text);
}

static const struct answer *ask(struct view *view)
{
	json_t *args = *view->argument ? json_pack("{s:s}", "job", view->argument) : NULL;

	return model_ask(console_model(view->console), LANE_LOOK, "status", args, "jobs journal");
}

static void collect(struct view *view, struct rows *rows)
{
	const json_t *lines = ask(view)->lines, *row;
	size_t i;

	if (*view->argument)
		lines = json_object_get(json_array_get(lines, 0), "tables");
	json_array_foreach(lines, i, row)
		rows_add(rows, row);
}

static const struct rows_spec spec = { columns, sizeof(columns) / sizeof(*columns), cell_text, cell_number, row_key, row_role,
	                               collect };

static int64_t difference_of_all(struct view *view)
{
	const json_t *row;
	int64_t sum = 0;
	size_t i;

	json_array_foreach(ask(view)->lines, i, row)
		sum += difference(row);
	return sum;
}

/* The sum over what is shown, under the rows. */
static void draw_sum(struct view *view, struct area area)
{
	const json_t *row;
	json_int_t sum[DIFF] = { 0 };
	size_t i;
	OWNED(text) line = text_new(LINE_BYTES);

	json_array_foreach(ask(view)->lines, i, row) {
		for (size_t column = RECEIVED; column < DIFF; column++)
			sum[column] += member_int(row, members[column]);
	}
	text_add(line, "received ");
	number_text(sum[RECEIVED], line);
	text_add(line, " = written ");
	number_text(sum[WRITTEN], line);
	text_add(line, " + filtered ");
	number_text(sum[FILTERED], line);
	text_add(line, " + letters ");
	number_text(sum[LETTERS], line);
	text_add(line, " + parked ");
	number_text(sum[PARKED], line);
	text_add(line, " + in flight ");
	number_text(sum[FLIGHT], line);
	draw_paragraph(area, 0, 1, area.cols - 2, 2, ROLE_text, text_span(line));
}

static void draw_pane(struct view *view, struct area area)
{
	const json_t *row;
	int64_t repeated = 0;
	size_t i;
	int at = 1;
	OWNED(text) line = text_new(LINE_BYTES);

	json_array_foreach(ask(view)->lines, i, row)
		repeated += member_int(row, "repeated");
	draw_rule(area, 0, "letters and repeats", "");
	at += draw_paragraph(area, at, 1, area.cols - 2, 3, ROLE_text,
	                     span_of("LETTERS are all messages that ever were refused; DLQ, elsewhere, is how many of them are open: "
	                             "neither written since nor discarded."));
	number_text(repeated, line);
	text_add(line, " messages had been written before, sent again by the source and known by their position: no second row. "
	               "\"-\" holds messages of no table: heartbeats, transactions, schema changes, what cannot be read.");
	draw_paragraph(area, at, 1, area.cols - 2, 4, ROLE_text, text_span(line));
}

static void balance_draw(struct view *view, struct area area)
{
	struct rows *rows = rows_view_rows(view);
	int list, most = area.rows - 3 - (area.rows > 14 ? PANE_ROWS : 0);

	rows_selected(view, rows);
	list = (int)rows_count(rows) + 1 < most ? (int)rows_count(rows) + 1 : most;
	list = list < 2 ? 2 : list;
	draw_text(area, 0, 1, ROLE_dim,
	          area.cols < LEGEND_COLS ? "received = written+filtered+letters+parked+in flight" :
	                                    "received = written + filtered + dead-lettered + parked + in flight, in messages");
	rows_draw(view, rows, area_part(area, 1, 0, list, area.cols), true);
	if (!rows_count(rows))
		rows_view_nothing(area_part(area, 2, 0, 3, area.cols), ask(view), rows_are_filtered_out(rows) ? ROWS_FILTERED_OUT : "no message has come yet");
	draw_sum(view, area_part(area, 1 + list, 0, 2, area.cols));
	draw_pane(view, area_part(area, 3 + list, 0, area.rows - 3 - list, area.cols));
}

static void balance_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	int64_t off = difference_of_all(view);

	(void)out_has_verdict;
	text_add_format(out, "balance  %s%s", *view->argument ? "job " : "all jobs", view->argument);
	if (off)
		text_add_format(out, "  OFF BY %lld", (long long)off);
	else
		text_add(out, "  balanced");
}

static void balance_status(struct view *view, struct text *left, struct text *right)
{
	text_add(left, difference_of_all(view) ? "the ledger does not balance: weir explain ledger_unbalanced" :
	                                         "balanced: nothing is lost; checked at each commit");
	rows_status(view, rows_view_rows(view), right);
}

static const enum action_id *balance_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_open, ACTION_letters, ACTION_sort, ACTION_acts, ACTION_filter, ACTION_back,
		                                ACTIONS };

	(void)view;
	return hints;
}

static bool balance_subject(struct view *view, struct subject *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	if (!row)
		return false;
	snprintf(out->job, sizeof(out->job), "%s", *view->argument ? view->argument : member_text(row, "job"));
	snprintf(out->table, sizeof(out->table), "%s", member_text(row, "table"));
	snprintf(out->state, sizeof(out->state), "%s", member_text(row, "state"));
	snprintf(out->code, sizeof(out->code), "%s", member_text(row, "code"));
	out->first = member_int(row, "first_letter");
	return true;
}

static bool balance_act(struct view *view, enum action_id action, const char *argument)
{
	struct subject subject = { 0 };

	if (action != ACTION_open)
		return rows_act(view, rows_view_rows(view), action, argument);
	if (!balance_subject(view, &subject))
		console_say(view->console, "nothing to open");
	else if (!*view->argument)
		console_go(view->console, "balance", subject.job);
	else
		console_go(view->console, "job", subject.job);
	return true;
}

static bool balance_copy(struct view *view, bool is_finding, struct text *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	if (!row)
		return false;
	text_add(out, name_of(row));
	for (size_t column = RECEIVED; is_finding && column < DIFF; column++)
		text_add_format(out, " %s %lld", members[column], (long long)member_int(row, members[column]));
	return true;
}

static bool balance_open(struct view *view, struct error *err)
{
	struct rows_state *state;

	if (!known_job(view->console, view->argument, err))
		return false;
	state = memory_zalloc(sizeof(*state));
	state->rows = rows_new(&spec);
	view->state = state;
	return true;
}

static const enum action_id balance_own[] = { ACTION_sort, ACTION_sort_reverse, ACTIONS };

const struct view_ops view_balance = {
	.name = "balance",
	.table = "balance",
	.help = "the ledger: is anything lost?",
	.open = balance_open,
	.close = rows_view_close,
	.draw = balance_draw,
	.title = balance_title,
	.status = balance_status,
	.own = balance_own,
	.hints = balance_hints,
	.act = balance_act,
	.subject = balance_subject,
	.copy = balance_copy,
	.fields = rows_view_fields,
	.filter = rows_view_filter,
	.filter_text = rows_view_filter_text,
};
