/*
 * The first screen: one verdict, the jobs worst first with those of their tables that
 * are not ok, and the journal. From `weir status --json` and `weir journal --json`.
 */
#include "view/overview.h"
#include "view/overview_private.h"

#include "base/arena.h"
#include "view/journal_lines.h"
#include "view/names.h"
#include "view/rows.h"
#include "view/totals.h"

#include <stdlib.h>

#define ROWS_FOR_WORDS 3  /* where there is nothing to list */
#define ROWS_LEAST 6      /* of jobs and tables, before the journal gets one */
#define JOURNAL_LEAST 2
#define JOURNAL_LINES 40

void overview_foresee(struct model *model)
{
	overview_ask(model);
	journal_ask(model, "", JOURNAL_LINES);
}

static void draw_nothing(struct view *view, struct area area)
{
	const struct answer *answer = overview_ask(console_model(view->console));

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
	struct overview_glance glance;
	struct list_source source = overview_rows(view, &glance);
	bool has_fold_line = overview->folded && overview->count && !console_is_trouble_only(view->console);
	int shown = (int)list_shown(overview->list);
	int wanted = shown ? 1 + shown + has_fold_line : ROWS_FOR_WORDS; /* with the heads */
	int journal_least = area.rows > 10 ? JOURNAL_LEAST + 1 : 0;
	int head = overview_head(view, area_part(area, 0, 0, 3, area.cols));
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
	if (area.canvas->cols >= OVERVIEW_PREVIEW_COLS && area.canvas->rows >= OVERVIEW_PREVIEW_ROWS &&
	    !console_is_far(view->console))
		preview = overview_preview(view, overview_selected(view), rest);
	journal_draw(view->console, "", troubled_job(overview), JOURNAL_LINES, area_part(rest, preview, 0, rest.rows - preview, rest.cols));
}

static void overview_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	struct totals totals;

	totals_ask(view->console, &totals);
	if (totals.is_known && console_cols(view->console) >= OVERVIEW_JOBS_COLS)
		text_add_format(out, "%d job%s  ", totals.jobs, totals.jobs == 1 ? "" : "s");
	totals_verdict(&totals, true, out);
	*out_has_verdict = true;
}

static void overview_status(struct view *view, struct text *left, struct text *right)
{
	struct overview *overview = view->state;
	struct overview_glance glance;
	struct list_source source = overview_rows(view, &glance);
	const struct overview_row *row = overview_selected(view);

	if (row && *member_text(overview_thing(row), "sentence"))
		text_add_format(left, "%s: %s", overview_name(row),
		                member_text(overview_thing(row), "sentence"));
	else if (row && !row->table && overview_is_stopped(row->job))
		text_add_format(left, "%s is stopped: nothing is read; a, s starts it", overview_name(row));
	list_status(overview->list, &source, right);
}

/*
 * Keys
 */

static const enum action_id *overview_hints(struct view *view)
{
	static const enum action_id failing[] = { ACTION_open,  ACTION_first_bad, ACTION_letters, ACTION_toggle_pause,
		                                  ACTION_acts, ACTION_filter,    ACTIONS };
	static const enum action_id fine[] = { ACTION_open, ACTION_fold, ACTION_letters, ACTION_toggle_pause,
		                               ACTION_acts, ACTION_filter, ACTION_line, ACTIONS };
	const struct overview_row *row = overview_selected(view);

	return row && strcmp(overview_state(row), "needs you") == 0 ? failing : fine;
}

static const char *overview_hint_word(struct view *view, enum action_id action)
{
	const struct overview_row *row = overview_selected(view);

	return action == ACTION_open ? row && row->table ? "why" : "open" : NULL;
}

/* What may be done to a job hangs on whether it runs, not on how bad its tables are: one that is stopped can be deleted also
 * while it needs somebody. */
static const char *act_state_of(const struct overview_row *row)
{
	const char *own = row->table ? "" : member_text(row->job, "own_state");

	return strcmp(own, "stopped") == 0 ? own : overview_state(row);
}

static void subject_of(const struct overview_row *row, struct subject *out)
{
	snprintf(out->job, sizeof(out->job), "%s", member_text(row->job, "job"));
	snprintf(out->table, sizeof(out->table), "%s", member_text(row->table, "table"));
	snprintf(out->state, sizeof(out->state), "%s", act_state_of(row));
	snprintf(out->code, sizeof(out->code), "%s", member_text(overview_thing(row), "code"));
	out->first = member_int(overview_thing(row), "first_letter");
	out->is_paused = json_object_get(overview_thing(row), "paused") || strcmp(out->state, "paused") == 0;
}

static bool overview_subject(struct view *view, struct subject *out)
{
	const struct overview_row *row = overview_selected(view);

	if (row)
		subject_of(row, out);
	return row;
}

static void overview_chosen(struct view *view, struct subjects *out)
{
	struct overview *overview = view->state;
	struct overview_glance glance;
	struct list_source source = overview_rows(view, &glance);
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
	const struct overview_row *row = overview_selected(view);
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
	struct overview_glance glance;
	struct list_source source = overview_rows(view, &glance);
	OWNED(text) say = text_new(OVERVIEW_LINE_BYTES);
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
	struct overview_glance glance;
	struct list_source source = overview_rows(view, &glance);

	(void)is_taken;
	return list_filter(overview->list, &source, text, err);
}

static const char *overview_filter_text(struct view *view)
{
	return list_filter_text(((struct overview *)view->state)->list);
}

static bool overview_copy(struct view *view, bool is_finding, struct text *out)
{
	const struct overview_row *row = overview_selected(view);

	if (!row)
		return false;
	text_add(out, overview_name(row));
	if (is_finding)
		text_add_format(out, ": %s since %s: %s", overview_state(row), member_text(overview_thing(row), "since"),
		                member_text(overview_thing(row), "sentence"));
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
	.open_tells_all = true,
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
