/*
 * One job: what flows in and out as charts, where the time goes, how long its batches
 * take, and its tables worst first. From `weir status JOB --json` and `--history`.
 */
#include "base/arena.h"
#include "view/facts.h"
#include "view/job_charts.h"
#include "view/job_head.h"
#include "view/known_names.h"
#include "view/names.h"
#include "view/rows_view.h"
#include "view/series.h"
#include "view/totals.h"
#include "widget/chart.h"

#include <stdlib.h>

#define COLS_WITH_TABLES 80 /* narrower, the title has no room to say of how many */
#define LINE_BYTES 2048
#define TABLES_LEAST 5 /* heads and four rows */

enum pane { PANE_ALL, PANE_TABLES, PANE_FACTS, PANES };

struct job_view {
	struct rows *rows;
	enum pane pane;
	bool has_charts; /* as it was drawn last: without them the first two panes are the same */
};

enum column { STATE, TABLE, LAG, REPLICA, IN, OUT, LETTERS, PARKED, REASON };

static const struct list_column columns[] = {
	[STATE] = { "STATE", "state", 11, -1, 0, 0, false, 's' },
	[TABLE] = { "TABLE", "table", 16, ALIGN_NAME, 0, 0, false, 't' },
	[LAG] = { "LAG", "lag", 5, 1, 6, 0, false, 'l' },
	[REPLICA] = { "REPLICA", "replica", 7, 1, 3, 90, false, 'r' },
	[IN] = { "IN/S", "in", 6, 1, 5, 0, false, 'i' },
	[OUT] = { "OUT/S", "out", 6, 1, 4, 0, false, 'o' },
	[LETTERS] = { "DLQ", "dlq", 6, 1, 2, 90, false, 'd' },
	[PARKED] = { "PARKED", "parked", 7, 1, 1, 90, false, 'p' },
	[REASON] = { "REASON", "reason", 10, -1, 0, 0, true, 0 },
};

static bool cell_number(const json_t *row, size_t column, double *out)
{
	return fact_number(row, columns[column].field, out);
}

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	(void)console;
	switch ((int)column) {
	case STATE: text_add(out, state_column(member_text(row, "state"))); return;
	case TABLE: text_add(out, member_text(row, "table")); return;
	case REASON: text_add(out, member_text(row, "reason")); return;
	default: fact_text(row, columns[column].field, out);
	}
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%s", member_text(row, "table"));
}

static const struct answer *ask(struct view *view)
{
	OWNED(text) topics = text_new(LINE_BYTES);

	text_add_format(topics, "jobs journal job:%s", view->argument);
	return model_ask(console_model(view->console), LANE_LOOK, "status", json_pack("{s:s}", "job", view->argument),
	                 topics->at);
}

static const json_t *job_of(struct view *view)
{
	return json_array_get(ask(view)->lines, 0);
}

static bool is_fine(const json_t *row)
{
	const char *state = member_text(row, "state");

	return strcmp(state, "ok") == 0 || strcmp(state, "stopped") == 0;
}

static void collect(struct view *view, struct rows *rows)
{
	const json_t *row;
	size_t i;

	for (int rank = 0; rank < STATE_RANKS; rank++) { /* worst first */
		json_array_foreach(json_object_get(job_of(view), "tables"), i, row) {
			if (state_rank(member_text(row, "state")) == rank && !(is_fine(row) && console_is_trouble_only(view->console)))
				rows_add(rows, row);
		}
	}
}

static const struct rows_spec spec = { columns, sizeof(columns) / sizeof(*columns), cell_text, cell_number, row_key, NULL,
	                               collect };

/*
 * Drawing.
 */
static const json_t *parameters_of(struct view *view)
{
	const struct answer *shown = model_ask(console_model(view->console), LANE_LOOK, "job.show",
	                                       json_pack("{s:s}", "job", view->argument), "journal");

	return json_object_get(json_array_get(shown->lines, 0), "parameters");
}

static void draw_tables(struct view *view, struct area area)
{
	struct job_view *job = view->state;

	draw_rule(area, 0, "tables, worst first", "g t");
	rows_draw(view, job->rows, area_part(area, 1, 0, area.rows - 1, area.cols), true);
	if (!rows_count(job->rows))
		draw_text(area, 2, 1, ROLE_text,
		          rows_are_filtered_out(job->rows)        ? ROWS_FILTERED_OUT :
		          console_is_trouble_only(view->console)  ? "nothing is in trouble; ! shows all" :
		          member_bool(job_of(view), "running") ? "no table has been seen yet; it waits for its first message" :
		                                                 "no table has been seen yet; `:start` lets it run");
}

static void job_draw(struct view *view, struct area area)
{
	struct job_view *state = view->state;
	const struct answer *answer = ask(view);
	const json_t *job = job_of(view), *parameters = parameters_of(view);
	int rows = 0, wanted, head, trouble;

	if (!job) {
		draw_paragraph(area, 0, 1, area.cols - 2, 3, answer->error.kind ? ROLE_error : ROLE_dim,
		               span_of(answer->error.kind ? answer->error.message : "asking the engine ..."));
		return;
	}
	head = job_head_rows(job);
	job_head_draw(view, job, parameters, area_part(area, 0, 0, head, area.cols));
	trouble = job_trouble_draw(job, area_part(area, head, 0, area.rows - head, area.cols));
	trouble += job_letters_draw(view->console, job, area_part(area, head + trouble, 0, area.rows - head - trouble, area.cols));
	area = area_part(area, trouble, 0, area.rows - trouble, area.cols);
	if (state->pane == PANE_FACTS) {
		job_facts_draw(job, parameters, area_part(area, head, 0, area.rows - head, area.cols));
		return;
	}
	rows_selected(view, state->rows);
	wanted = (int)rows_count(state->rows) + 2;
	if (state->pane == PANE_ALL)
		rows = job_charts_draw(view->console, job, parameters,
		                       area_part(area, head, 0, area.rows - head - (wanted < TABLES_LEAST ? wanted : TABLES_LEAST),
		                                 area.cols));
	if (state->pane == PANE_ALL)
		state->has_charts = rows > 0;
	draw_tables(view, area_part(area, head + rows, 0, area.rows - head - rows, area.cols));
}

static void job_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const json_t *job = job_of(view), *row;
	size_t i, bad = 0;

	json_array_foreach(json_object_get(job, "tables"), i, row)
		bad += !is_fine(row);
	text_add_format(out, "job %s  %s", view->argument, state_column(member_text(job, "worst")));
	if (bad && console_cols(view->console) < COLS_WITH_TABLES)
		text_add_format(out, ": %zu not ok", bad);
	else if (bad)
		text_add_format(out, ": %zu of %zu tables not ok", bad, json_array_size(json_object_get(job, "tables")));
	*out_has_verdict = true;
}

static void job_status(struct view *view, struct text *left, struct text *right)
{
	struct job_view *job = view->state;
	const json_t *row = rows_selected(view, job->rows);

	if (row && *member_text(row, "sentence"))
		text_add_format(left, "%s: %s", member_text(row, "table"), member_text(row, "sentence"));
	else
		text_add(left, job->pane == PANE_ALL ? "charts: the last 10 minutes; Tab shows tables and parameters" : "Tab: next pane");
	rows_status(view, job->rows, right);
}

static const enum action_id *job_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_open, ACTION_pane_next, ACTION_toggle_pause, ACTION_letters, ACTION_acts,
		                                ACTION_logs, ACTIONS };

	(void)view;
	return hints;
}

static const char *job_hint_word(struct view *view, enum action_id action)
{
	return action == ACTION_open && rows_selected(view, ((struct job_view *)view->state)->rows) ? "why" : NULL;
}

static bool job_subject(struct view *view, struct subject *out)
{
	const json_t *row = rows_selected(view, ((struct job_view *)view->state)->rows), *job = job_of(view);

	snprintf(out->job, sizeof(out->job), "%s", view->argument);
	snprintf(out->table, sizeof(out->table), "%s", member_text(row, "table"));
	snprintf(out->state, sizeof(out->state), "%s", member_text(row ? row : job, row ? "state" : "worst"));
	snprintf(out->code, sizeof(out->code), "%s", member_text(row, "code"));
	if (!out->code[0]) /* a table that is fine, of a job that is not */
		snprintf(out->code, sizeof(out->code), "%s", member_text(job, "code"));
	out->first = member_int(row, "first_letter");
	out->is_paused = json_object_get(row, "paused") || strcmp(out->state, "paused") == 0;
	return true;
}

/* What a pane shows is said too: where there are no charts it may look like the one before. */
static void pane_turn(struct view *view, int by)
{
	static const char *const words[] = { "charts and tables", "tables alone", "parameters and threads" };
	struct job_view *job = view->state;

	do
		job->pane = (job->pane + (unsigned)by) % PANES;
	while (job->pane == PANE_TABLES && !job->has_charts);
	if (job->pane == PANE_ALL && !job->has_charts)
		console_say(view->console, "tables; charts come when messages flow, or flowed within the last %s", series_range(view->console)->name);
	else
		console_say(view->console, "%s", words[job->pane]);
}

static bool job_act(struct view *view, enum action_id action, const char *argument)
{
	struct job_view *job = view->state;
	struct subject subject = { 0 };
	OWNED(text) why = text_new(LINE_BYTES);

	if (action == ACTION_pane_next || action == ACTION_pane_previous) {
		pane_turn(view, action == ACTION_pane_next ? 1 : PANES - 1);
		return true;
	}
	if (action != ACTION_open)
		return rows_act(view, job->rows, action, argument);
	job_subject(view, &subject);
	letters_argument(&subject, why);
	if (subject.table[0])
		console_go(view->console, "why", why->at);
	else
		console_say(view->console, "no table to open");
	return true;
}

static bool job_copy(struct view *view, bool is_finding, struct text *out)
{
	const json_t *row = rows_selected(view, ((struct job_view *)view->state)->rows);

	text_add(out, row ? member_text(row, "table") : view->argument);
	if (is_finding)
		text_add_format(out, ": %s: %s", member_text(row ? row : job_of(view), row ? "state" : "worst"),
		                member_text(row ? row : job_of(view), "sentence"));
	return true;
}

static bool job_open(struct view *view, struct error *err)
{
	struct job_view *job;

	if (!*view->argument)
		return fail(err, ERROR_USAGE, "bad_argument", "no job is selected: `:job NAME`, or select one on the overview");
	if (!known_job(view->console, view->argument, err))
		return false;
	job = memory_zalloc(sizeof(*job));
	job->rows = rows_new(&spec);
	view->state = job;
	return true;
}

static const enum action_id job_own[] = {
	ACTION_pane_next, ACTION_pane_previous, ACTION_trouble, ACTION_mark, ACTION_mark_range,
	ACTION_mark_all, ACTION_mark_none, ACTION_sort, ACTION_sort_reverse, ACTIONS
};

const struct view_ops view_job = {
	.name = "job",
	.table = "job",
	.help = "one job: charts of what flows, lag by leg, batches, its tables",
	.open = job_open,
	.close = rows_view_close,
	.draw = job_draw,
	.title = job_title,
	.status = job_status,
	.open_tells_all = true,
	.own = job_own,
	.hints = job_hints,
	.hint_word = job_hint_word,
	.act = job_act,
	.subject = job_subject,
	.copy = job_copy,
	.fields = rows_view_fields,
	.filter = rows_view_filter,
	.filter_text = rows_view_filter_text,
};
