/*
 * The first screen: one verdict, the jobs worst first with those of their tables that
 * are not ok, and the journal. From `weir status --json` and `weir journal --json`.
 */
#include "base/arena.h"
#include "view/journal_lines.h"
#include "view/facts.h"
#include "view/names.h"
#include "view/rows.h"
#include "view/totals.h"
#include "view/view.h"
#include "widget/chart.h"
#include "widget/list.h"

#include <stdlib.h>

#define ROWS_FOR_WORDS 3  /* where there is nothing to list */
#define ROWS_LEAST 6      /* of jobs and tables, before the journal gets one */
#define JOURNAL_LEAST 2
#define JOURNAL_LINES 40
#define LINE_BYTES 2048
#define COLS_WITH_JOBS 72 /* under it the verdict and the short head stand alone */
#define ROWS_WITH_HEAD 20
#define PREVIEW_COLS 100  /* from so many columns and rows on */
#define PREVIEW_ROWS 28

struct row {
	const json_t *job, *table; /* table NULL: the job's own row */
};

struct overview {
	struct list *list;
	struct row *rows;
	size_t count, room, folded;
	unsigned generation, seen;
	bool is_unfolded;
	bool is_placed; /* the cursor was put on the worst table, or somebody moved it */
};

enum column { STATE, NAME, LAG, IN, OUT, ERRORS, LETTERS, PARKED, SINCE, REASON };

static const struct list_column columns[] = {
	[STATE] = { "STATE", "state", 11, -1, 0, 0, false, 's' },
	[NAME] = { "JOB / TABLE", "table", 15, -1, 0, 0, false, 'j' },
	[LAG] = { "LAG", "lag", 5, 1, 0, 0, false, 'l' },
	[IN] = { "IN/S", "in", 5, 1, 6, 72, false, 'i' },
	[OUT] = { "OUT/S", "out", 5, 1, 5, 72, false, 'o' },
	[ERRORS] = { "ERR/M", "errors", 5, 1, 4, 72, false, 'e' },
	[LETTERS] = { "DLQ", "dlq", 6, 1, 2, 90, false, 'd' },
	[PARKED] = { "PARKED", "parked", 6, 1, 1, 90, false, 'p' },
	[SINCE] = { "SINCE", NULL, 5, 1, 3, 72, false, 0 },
	[REASON] = { "REASON", "reason", 10, -1, 0, 0, true, 'r' },
};

static const json_t *thing_of(const struct row *row)
{
	return row->table ? row->table : row->job;
}

static const char *state_of(const struct row *row)
{
	return member_text(thing_of(row), row->table ? "state" : "worst");
}

/*
 * Cells.
 */
struct glance {
	const struct overview *overview;
	const struct console *console;
};

static bool cell_number(const void *context, size_t at, size_t column, double *out)
{
	return fact_number(thing_of(&((const struct glance *)context)->overview->rows[at]), columns[column].field, out);
}

/* Of the job itself, whatever its tables are. */
static bool is_own_trouble(const json_t *job)
{
	const char *state = member_text(job, "own_state");

	return strcmp(state, "needs you") == 0 || strcmp(state, "waiting") == 0 || strcmp(state, "retrying") == 0;
}

/* Its own reason if its own thread is in trouble, else how its tables are. */
static void job_reason(const json_t *job, struct text *out)
{
	const json_t *tables = json_object_get(job, "tables"), *table;
	const char *code = member_text(job, "code");
	size_t i, bad = 0, all = 0;

	json_array_foreach(tables, i, table) {
		const char *state = member_text(table, "state");

		all++;
		bad += strcmp(state, "ok") != 0 && strcmp(state, "stopped") != 0;
	}
	if (is_own_trouble(job))
		text_add(out, *code ? code : member_text(job, "sentence"));
	else if (!all)
		text_add(out, "no message yet");
	else if (bad)
		text_add_format(out, "%zu of %zu not ok", bad, all);
	else
		text_add_format(out, "%zu table%s ok", all, all == 1 ? "" : "s");
}

/* A job whose own thread is at rest is as it is since its worst table is. */
static const char *since_of(const struct row *row)
{
	const json_t *tables = json_object_get(row->job, "tables"), *table;
	const char *since = member_text(thing_of(row), "since");
	size_t i;

	if (*since || row->table)
		return since;
	json_array_foreach(tables, i, table) {
		if (strcmp(member_text(table, "state"), member_text(row->job, "worst")) == 0)
			return member_text(table, "since");
	}
	return "";
}

static void cell_text(const void *context, size_t at, size_t column, struct text *out)
{
	const struct glance *glance = context;
	const struct row *row = &glance->overview->rows[at];
	const json_t *thing = thing_of(row);
	switch ((int)column) {
	case STATE: text_add(out, state_column(state_of(row))); return;
	case NAME: text_add_format(out, "%s%s", row->table ? " " : "", member_text(thing, row->table ? "table" : "job")); return;
	case SINCE: console_time(glance->console, since_of(row), false, out); return;
	case REASON:
		if (row->table)
			text_add(out, member_text(thing, "reason"));
		else
			job_reason(thing, out);
		return;
	default: fact_text(thing, columns[column].field, out);
	}
}

static void row_key(const void *context, size_t at, char out[LIST_KEY_BYTES])
{
	const struct row *row = &((const struct glance *)context)->overview->rows[at];

	snprintf(out, LIST_KEY_BYTES, "%s\n%s", member_text(row->job, "job"), member_text(row->table, "table"));
}

static enum role cell_role(const void *context, size_t at, size_t column)
{
	const struct glance *glance = context;

	if (column == STATE && !console_is_blind(glance->console))
		return state_role(state_of(&glance->overview->rows[at]));
	return console_role(glance->console, ROLE_text);
}

/*
 * Rows.
 */
static void row_add(struct overview *overview, const json_t *job, const json_t *table)
{
	if (overview->count == overview->room) {
		overview->room = overview->room * 2 + 32;
		overview->rows = realloc(overview->rows, overview->room * sizeof(*overview->rows));
		if (!overview->rows)
			abort();
	}
	overview->rows[overview->count++] = (struct row){ job, table };
}

static bool is_fine(const char *state)
{
	return strcmp(state, "ok") == 0 || strcmp(state, "stopped") == 0;
}

static void rows_make(struct overview *overview, const struct answer *answer, bool trouble_only)
{
	const json_t *job, *table;
	size_t i, j;

	overview->count = overview->folded = 0;
	json_array_foreach(answer->lines, i, job) {
		if (trouble_only && is_fine(member_text(job, "worst")))
			continue;
		row_add(overview, job, NULL);
		for (int pass = 0; pass < 2; pass++) { /* those in trouble first */
			json_array_foreach(json_object_get(job, "tables"), j, table) {
				if (is_fine(member_text(table, "state")) != (bool)pass)
					continue;
				if (!pass || (overview->is_unfolded && !trouble_only))
					row_add(overview, job, table);
				else
					overview->folded++;
			}
		}
	}
	overview->generation++;
}

static const struct answer *status_ask(struct view *view)
{
	return model_ask(console_model(view->console), LANE_LOOK, "status", NULL, "jobs journal");
}

static struct list_source source_of(const struct view *view, const struct glance *glance)
{
	const struct overview *overview = view->state;

	return (struct list_source){ .columns = columns, .column_count = sizeof(columns) / sizeof(*columns),
		                     .count = overview->count, .context = glance, .cell = cell_text, .number = cell_number,
		                     .key = row_key, .role = cell_role, .generation = overview->generation };
}

/* It starts on the worst table, so that Enter is why and f the first bad event; on a job only if that itself is in trouble. */
static void cursor_place(struct overview *overview, const struct list_source *source)
{
	if (overview->is_placed || !overview->count)
		return;
	overview->is_placed = true;
	for (size_t i = 0; i < overview->count; i++) {
		const struct row *row = &overview->rows[i];

		if (row->table ? !is_fine(state_of(row)) : is_own_trouble(row->job)) {
			list_select_row(overview->list, source, i);
			return;
		}
	}
}

/* The rows point into the answer, which the next step of the model may replace: made anew before each use. */
static struct list_source rows_now(struct view *view, struct glance *glance)
{
	struct overview *overview = view->state;

	*glance = (struct glance){ overview, view->console };
	rows_make(overview, status_ask(view), console_is_trouble_only(view->console));
	struct list_source source = source_of(view, glance);

	list_update(overview->list, &source);
	cursor_place(overview, &source);
	return source;
}

static const struct row *selected(struct view *view)
{
	struct overview *overview = view->state;
	struct glance glance;

	rows_now(view, &glance);
	size_t at = list_selected(overview->list);

	return at == LIST_NONE ? NULL : &overview->rows[at];
}

/*
 * Drawing.
 */
static void rate_add(const char *name, double rate, struct text *out)
{
	text_add(out, name);
	number_text((int64_t)(rate + 0.5), out);
	text_add(out, "/s");
}

static void lag_add(const struct totals *totals, const char *words, bool with_name, struct text *out)
{
	if (totals->lag_ms < 0)
		return;
	text_add(out, words);
	age_text(totals->lag_ms, out);
	if (with_name)
		text_add_format(out, " %s", totals->lag_name);
	text_add(out, "   ");
}

static void letters_add(const struct totals *totals, struct text *out)
{
	text_add(out, "dlq ");
	number_text(totals->dead_letters, out);
	if (totals->dead_rate >= 0.5) {
		text_add(out, " (+");
		number_text((int64_t)(totals->dead_rate + 0.5), out);
		text_add(out, "/min)");
	}
}

static const char *ledger_word(const struct totals *totals)
{
	return totals->unbalanced ? "ledger OFF" : "ledger balanced";
}

/* Where it is narrow or low, one row has what matters. Gives the rows taken, with the rule. */
static int draw_short_head(struct view *view, const struct totals *totals, struct area area)
{
	OWNED(text) line = text_new(LINE_BYTES);

	lag_add(totals, "lag ", false, line);
	letters_add(totals, line);
	text_add_format(line, "   %s", ledger_word(totals));
	draw_span(area, 0, 1, totals->unbalanced ? ROLE_error : console_role(view->console, ROLE_text), text_span(line));
	draw_rule(area, 1, "", "");
	return 2;
}

static int draw_head(struct view *view, struct area area)
{
	struct totals totals;
	bool is_roomy = area.cols >= PREVIEW_COLS;
	OWNED(text) first = text_new(LINE_BYTES);
	OWNED(text) second = text_new(LINE_BYTES);

	totals_ask(view->console, &totals);
	if (!totals.is_known)
		return 0;
	if (area.cols < COLS_WITH_JOBS || area.canvas->rows < ROWS_WITH_HEAD)
		return draw_short_head(view, &totals, area);
	lag_add(&totals, "lag worst ", true, first);
	rate_add("in ", totals.in, first);
	if (is_roomy && totals.bytes_in >= 1) {
		text_add_char(first, ' ');
		bytes_rate_text(totals.bytes_in, first);
	}
	rate_add("   out ", totals.out, first);
	text_add(first, "   in flight ");
	number_text(totals.in_flight, first);
	text_add_format(second, "%s   ", ledger_word(&totals));
	letters_add(&totals, second);
	if (totals.groups)
		text_add_format(second, " in %d group%s", (int)totals.groups, totals.groups == 1 ? "" : "s");
	text_add(second, "   parked ");
	number_text(totals.parked, second);
	draw_span(area, 0, 1, console_role(view->console, ROLE_text), text_span(first));
	draw_span(area, 1, 1, totals.unbalanced ? ROLE_error : console_role(view->console, ROLE_text), text_span(second));
	draw_rule(area, 2, "", "");
	return 3;
}

static int draw_preview(struct view *view, const struct row *row, struct area area)
{
	const json_t *thing = row ? thing_of(row) : NULL;
	const char *sentence = member_text(thing, "sentence");
	OWNED(text) line = text_new(LINE_BYTES);
	int rows;

	if (!row || !*sentence)
		return 0;
	draw_rule(area, 0, member_text(thing, row->table ? "table" : "job"), "Enter why");
	rows = 1 + draw_paragraph(area, 1, 1, area.cols - 2, 3, console_role(view->console, ROLE_text), span_of(sentence));
	if (!member_int(thing, "first_letter"))
		return rows;
	text_add_format(line, "first: letter %lld, ", (long long)member_int(thing, "first_letter"));
	console_time(view->console, member_text(thing, "since"), true, line);
	text_add_format(line, "; f opens it   letters open: ");
	number_text(member_int(thing, "open_letters"), line);
	draw_span(area, rows, 1, console_role(view->console, ROLE_text), text_span(line));
	return rows + 1;
}

static void draw_nothing(struct view *view, struct area area)
{
	const struct answer *answer = status_ask(view);

	if (!answer->is_known) {
		draw_text(area, 0, 1, ROLE_dim, "asking the engine ...");
		return;
	}
	if (answer->error.kind != ERROR_NONE) {
		draw_paragraph(area, 0, 1, area.cols - 2, 3, ROLE_error, span_of(answer->error.message));
		return;
	}
	draw_text(area, 0, 1, ROLE_text, console_is_trouble_only(view->console) ? "nothing is in trouble; ! shows all" : "no job yet");
	if (!console_is_trouble_only(view->console))
		draw_text(area, 1, 1, ROLE_text, "1  :job create FILE    makes a job from a file (weir-job(5))");
}

/* The worst job, if it needs somebody; jobs come worst first. */
static const char *troubled_job(const struct overview *overview)
{
	const json_t *job = overview->count ? overview->rows[0].job : NULL;

	return strcmp(member_text(job, "worst"), "needs you") == 0 ? member_text(job, "job") : "";
}

static void overview_draw(struct view *view, struct area area)
{
	struct overview *overview = view->state;
	struct glance glance;
	struct list_source source = rows_now(view, &glance);
	bool has_fold_line = overview->folded && overview->count && !console_is_trouble_only(view->console);
	int shown = (int)list_shown(overview->list);
	int wanted = shown ? 1 + shown + has_fold_line : ROWS_FOR_WORDS; /* with the heads */
	int journal_least = area.rows > 10 ? JOURNAL_LEAST + 1 : 0;
	int head = draw_head(view, area_part(area, 0, 0, 3, area.cols));
	int most = area.rows - head - journal_least;
	int rows = wanted < most ? wanted : most > ROWS_LEAST ? most : ROWS_LEAST;
	struct area list = area_part(area, head, 0, rows, area.cols), rest;
	int preview = 0;

	if (overview->count)
		list_draw(overview->list, &source, area_part(list, 0, 0, list.rows - has_fold_line, list.cols), true);
	else
		draw_nothing(view, list);
	if (overview->count && !list_shown(overview->list))
		draw_text(list, 1, 1, ROLE_text, ROWS_FILTERED_OUT);
	if (has_fold_line && shown)
		draw_format(list, list.rows - 1, 2, ROLE_dim, "(%zu ok table%s folded: z unfolds)", overview->folded,
		            overview->folded == 1 ? "" : "s");
	rest = area_part(area, head + rows, 0, area.rows - head - rows, area.cols);
	if (area.canvas->cols >= PREVIEW_COLS && area.canvas->rows >= PREVIEW_ROWS && !console_is_far(view->console))
		preview = draw_preview(view, selected(view), rest);
	journal_draw(view->console, "", troubled_job(overview), JOURNAL_LINES, area_part(rest, preview, 0, rest.rows - preview, rest.cols));
}

static void overview_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	struct totals totals;

	totals_ask(view->console, &totals);
	if (totals.is_known && console_cols(view->console) >= COLS_WITH_JOBS)
		text_add_format(out, "%d job%s  ", totals.jobs, totals.jobs == 1 ? "" : "s");
	totals_verdict(&totals, true, out);
	*out_has_verdict = true;
}

static void overview_status(struct view *view, struct text *left, struct text *right)
{
	struct overview *overview = view->state;
	struct glance glance;
	struct list_source source = rows_now(view, &glance);
	const struct row *row = selected(view);

	if (row && *member_text(thing_of(row), "sentence"))
		text_add_format(left, "%s: %s", member_text(thing_of(row), row->table ? "table" : "job"),
		                member_text(thing_of(row), "sentence"));
	list_status(overview->list, &source, right);
}

/*
 * Keys.
 */
static const enum action_id *overview_hints(struct view *view)
{
	static const enum action_id failing[] = { ACTION_open,  ACTION_first_bad, ACTION_letters, ACTION_toggle_pause,
		                                  ACTION_acts, ACTION_filter,    ACTIONS };
	static const enum action_id fine[] = { ACTION_open, ACTION_fold, ACTION_letters, ACTION_toggle_pause,
		                               ACTION_acts, ACTION_filter, ACTION_line, ACTIONS };
	const struct row *row = selected(view);

	return row && strcmp(state_of(row), "needs you") == 0 ? failing : fine;
}

static const char *overview_hint_word(struct view *view, enum action_id action)
{
	const struct row *row = selected(view);

	return action == ACTION_open ? row && row->table ? "why" : "open" : NULL;
}

/* What may be done to a job hangs on whether it runs, not on how bad its tables are: one that is stopped can be deleted also
 * while it needs somebody. */
static const char *act_state_of(const struct row *row)
{
	const char *own = row->table ? "" : member_text(row->job, "own_state");

	return strcmp(own, "stopped") == 0 ? own : state_of(row);
}

static void subject_of(const struct row *row, struct subject *out)
{
	snprintf(out->job, sizeof(out->job), "%s", member_text(row->job, "job"));
	snprintf(out->table, sizeof(out->table), "%s", member_text(row->table, "table"));
	snprintf(out->state, sizeof(out->state), "%s", act_state_of(row));
	snprintf(out->code, sizeof(out->code), "%s", member_text(thing_of(row), "code"));
	out->first = member_int(thing_of(row), "first_letter");
	out->is_paused = json_object_get(thing_of(row), "paused") || strcmp(out->state, "paused") == 0;
}

static bool overview_subject(struct view *view, struct subject *out)
{
	const struct row *row = selected(view);

	if (row)
		subject_of(row, out);
	return row;
}

static void overview_chosen(struct view *view, struct subjects *out)
{
	struct overview *overview = view->state;
	struct glance glance;
	struct list_source source = rows_now(view, &glance);
	size_t *chosen = memory_alloc((source.count + 1) * sizeof(*chosen));

	out->count = list_chosen(overview->list, &source, chosen, &out->how);
	out->gone = out->how == CHOSEN_MARKED ? list_mark_count(overview->list) - out->count : 0;
	out->subject = memory_zalloc((out->count + 1) * sizeof(*out->subject));
	for (size_t i = 0; i < out->count; i++)
		subject_of(&overview->rows[chosen[i]], &out->subject[i]);
	free(chosen);
}

static void open_row(struct view *view)
{
	const struct row *row = selected(view);
	OWNED(text) argument = text_new(1024);

	if (!row) {
		console_say(view->console, "nothing to open");
		return;
	}
	text_add(argument, member_text(row->job, "job"));
	if (row->table)
		text_add_format(argument, " %s", member_text(row->table, "table"));
	console_go(view->console, row->table ? "why" : "job", argument->at);
}

static bool overview_act(struct view *view, enum action_id action, const char *argument)
{
	struct overview *overview = view->state;
	struct glance glance;
	struct list_source source = rows_now(view, &glance);
	OWNED(text) say = text_new(LINE_BYTES);
	bool is_mine = true;

	if (action == ACTION_open) {
		open_row(view);
	} else if (action == ACTION_fold) {
		overview->is_unfolded = !overview->is_unfolded;
		console_say(view->console, overview->is_unfolded ? "all tables are shown" : "ok tables are folded");
	} else {
		is_mine = list_act(overview->list, &source, action, argument, say);
	}
	if (say->len)
		console_say(view->console, "%s", say->at);
	return is_mine;
}

static bool overview_step(struct view *view, int number, struct text *out)
{
	struct overview *overview = view->state;

	return number == 1 && !overview->count && text_add(out, "job create ");
}

static const char *const *overview_fields(struct view *view)
{
	static const char *const fields[] = { "state", "table", "lag", "in", "out", "errors", "dlq", "parked", "reason", NULL };

	(void)view;
	return fields;
}

static bool overview_filter(struct view *view, const char *text, bool is_taken, struct error *err)
{
	struct overview *overview = view->state;
	struct glance glance;
	struct list_source source = rows_now(view, &glance);

	(void)is_taken;
	return list_filter(overview->list, &source, text, err);
}

static const char *overview_filter_text(struct view *view)
{
	return list_filter_text(((struct overview *)view->state)->list);
}

static bool overview_copy(struct view *view, bool is_finding, struct text *out)
{
	const struct row *row = selected(view);

	if (!row)
		return false;
	text_add(out, member_text(thing_of(row), row->table ? "table" : "job"));
	if (is_finding)
		text_add_format(out, ": %s since %s: %s", state_of(row), member_text(thing_of(row), "since"),
		                member_text(thing_of(row), "sentence"));
	return true;
}

static bool overview_open(struct view *view, struct error *err)
{
	struct overview *overview = memory_zalloc(sizeof(*overview));

	(void)err;
	overview->list = list_new();
	view->state = overview;
	return true;
}

static void overview_close(struct view *view)
{
	struct overview *overview = view->state;

	list_free(overview->list);
	free(overview->rows);
	free(overview);
}

static const enum action_id overview_own[] = {
	ACTION_fold, ACTION_trouble, ACTION_mark, ACTION_mark_range, ACTION_mark_all, ACTION_mark_none,
	ACTION_sort, ACTION_sort_reverse, ACTIONS
};

const struct view_ops view_overview = {
	.name = "overview",
	.table = "overview",
	.help = "all jobs, worst first, with their failing tables and the journal",
	.open = overview_open,
	.close = overview_close,
	.draw = overview_draw,
	.title = overview_title,
	.status = overview_status,
	.own = overview_own,
	.hints = overview_hints,
	.hint_word = overview_hint_word,
	.act = overview_act,
	.subject = overview_subject,
	.chosen = overview_chosen,
	.copy = overview_copy,
	.step = overview_step,
	.fields = overview_fields,
	.filter = overview_filter,
	.filter_text = overview_filter_text,
};
