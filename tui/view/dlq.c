/*
 * Dead letters by group: what went wrong, how often, where; the selected group's letters
 * and the next steps. From `weir dlq groups --json`.
 */
#include "base/arena.h"
#include "view/dlq_private.h"
#include "view/known_names.h"
#include "view/looked.h"
#include "view/names.h"
#include "view/rows_view.h"
#include "view/totals.h"
#include "widget/chart.h"

#include <stdlib.h>

#define LINE_BYTES 4096
#define NEW_NAMED 5

struct dlq {
	struct rows *rows;
	struct name_words words; /* job, table; both may be empty */
	json_t *seen_before;     /* by job, when this list was opened */
};

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%s %lld", member_text(row, "job"), (long long)member_int(row, "group"));
}

static const struct answer *ask(struct view *view)
{
	const struct dlq *dlq = view->state;
	json_t *args = json_object();
	OWNED(text) topics = text_new(LINE_BYTES);

	text_add(topics, "jobs journal");
	if (dlq->words.word[0][0]) {
		json_object_set_new(args, "job", json_string(dlq->words.word[0]));
		text_add_format(topics, " dlq:%s", dlq->words.word[0]);
	}
	return model_ask(console_model(view->console), LANE_LETTERS, "dlq.groups", args, topics->at);
}

static bool is_of_table(const struct dlq *dlq, const json_t *row)
{
	return !dlq->words.word[1][0] || strcmp(dlq->words.word[1], member_text(row, "table")) == 0;
}

static void collect(struct view *view, struct rows *rows)
{
	const struct dlq *dlq = view->state;
	const json_t *row;
	size_t i;

	dlq_see(dlq->seen_before);
	json_array_foreach(ask(view)->lines, i, row) {
		looked_check(dlq->seen_before, row);
		looked_note(row);
	}
	for (int pass = 0; pass < 2; pass++) { /* what is open first */
		json_array_foreach(ask(view)->lines, i, row) {
			if (is_of_table(dlq, row) && dlq_is_open(row) == !pass && !(pass && console_is_trouble_only(view->console)))
				rows_add(rows, row);
		}
	}
}

/* How many columns there are is the table's word, and known when it is linked. */
static struct rows_spec spec = { dlq_columns, 0, dlq_cell, dlq_number, row_key, dlq_role, collect };

static void draw_nothing(struct view *view, struct area area)
{
	const struct answer *answer = ask(view);

	draw_paragraph(area, 0, 1, area.cols - 2, 3, answer->error.kind ? ROLE_error : ROLE_text,
	               span_of(answer->error.kind ? answer->error.message :
	                       rows_are_filtered_out(((struct dlq *)view->state)->rows) ? ROWS_FILTERED_OUT :
	                       answer->is_known   ? "no dead letters: every message that came was written, or is told by the ledger (g b)" :
	                                            "asking the engine ..."));
}

/* Two samples, one, or the steps alone: the list keeps so many rows above them, if it has them. */
static int pane_rows(const struct dlq *dlq, const json_t *group, int rows)
{
	static const struct { int pane, list; } sizes[] = { { DLQ_PANE_ROWS + DLQ_SAMPLE_ROWS, 11 }, { DLQ_PANE_ROWS, 6 } };
	int list = (int)rows_count(dlq->rows) + 1;

	if (!group)
		return 0;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (rows >= sizes[i].pane + (list < sizes[i].list ? list : sizes[i].list))
			return sizes[i].pane;
	}
	return rows >= DLQ_STEPS_ROWS + 4 ? DLQ_STEPS_ROWS : 0;
}

static void dlq_draw(struct view *view, struct area area)
{
	struct dlq *dlq = view->state;
	const json_t *group = rows_selected(view, dlq->rows);
	int pane = pane_rows(dlq, group, area.rows);
	int list = (int)rows_count(dlq->rows) + 1 < area.rows - pane ? (int)rows_count(dlq->rows) + 1 : area.rows - pane;

	looked_keep();
	rows_draw(view, dlq->rows, area_part(area, 0, 0, list, area.cols), true);
	if (!group)
		draw_nothing(view, area_part(area, 1, 0, area.rows - 1, area.cols));
	else if (pane)
		dlq_pane(view, group, area_part(area, list, 0, area.rows - list, area.cols));
}

static void dlq_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const struct dlq *dlq = view->state;
	const json_t *row;
	const char *of = *dlq->words.word[1] && strcmp(dlq->words.word[1], "-") != 0 ? dlq->words.word[1] : dlq->words.word[0];
	int64_t letters = 0, groups = 0, late = 0;
	size_t i;

	(void)out_has_verdict;
	json_array_foreach(ask(view)->lines, i, row) {
		if (!is_of_table(dlq, row) || !dlq_is_open(row))
			continue;
		groups++;
		letters += member_int(row, "open");
		late += member_int(row, "last_minute");
	}
	text_add_format(out, "dead letters%s%s  ", *of ? " of " : "", of);
	number_text(letters, out);
	text_add_format(out, " in %d group%s", (int)groups, groups == 1 ? "" : "s");
	if (!late)
		return;
	text_add(out, "  +");
	number_text(late, out);
	text_add(out, "/min");
}

/* "+ 2 groups are new since you last looked: group 7, 9"; false: none is. */
static bool new_text(struct view *view, struct text *out)
{
	OWNED(text) numbers = text_new(LINE_BYTES);
	const json_t *row;
	int count = 0;
	size_t i;

	json_array_foreach(ask(view)->lines, i, row) {
		if (!is_of_table(view->state, row) || !dlq_is_new(row))
			continue;
		if (count++ < NEW_NAMED)
			text_add_format(numbers, "%s%lld", count > 1 ? ", " : "", (long long)member_int(row, "group"));
	}
	if (count)
		text_add_format(out, "%d group%s new since you last looked: group %s%s", count, count == 1 ? " is" : "s are", numbers->at,
		                count > NEW_NAMED ? ", .." : "");
	return count;
}

static void dlq_status(struct view *view, struct text *left, struct text *right)
{
	const struct dlq *dlq = view->state;

	if (rows_count(dlq->rows) && !new_text(view, left))
		text_add(left, "open groups first; done ones are dim");
	rows_status(view, dlq->rows, right);
}

static const enum action_id *dlq_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_open, ACTION_step, ACTION_first_bad, ACTION_acts, ACTION_explain,
		                                ACTION_filter, ACTIONS };
	static const enum action_id none[] = { ACTION_filter, ACTION_back, ACTION_line, ACTIONS };

	return rows_count(((struct dlq *)view->state)->rows) ? hints : none;
}

static const char *dlq_hint_word(struct view *view, enum action_id action)
{
	(void)view;
	return action == ACTION_open ? "entries" : NULL;
}

static void subject_of(const json_t *group, struct subject *out)
{
	snprintf(out->job, sizeof(out->job), "%s", member_text(group, "job"));
	snprintf(out->table, sizeof(out->table), "%s", member_text(group, "table"));
	snprintf(out->code, sizeof(out->code), "%s", member_text(group, "code"));
	snprintf(out->state, sizeof(out->state), "%s", member_text(group, "state"));
	out->group = member_int(group, "group");
	out->count = member_int(group, "open");
	out->first = member_int(group, "sample");
}

static bool dlq_subject(struct view *view, struct subject *out)
{
	const json_t *row = rows_selected(view, ((struct dlq *)view->state)->rows);

	if (row)
		subject_of(row, out);
	return row;
}

static void dlq_chosen(struct view *view, struct subjects *out)
{
	rows_chosen(view, ((struct dlq *)view->state)->rows, subject_of, out);
}

static bool dlq_act(struct view *view, enum action_id action, const char *argument)
{
	struct dlq *dlq = view->state;
	const json_t *group = rows_selected(view, dlq->rows);
	OWNED(text) where = text_new(LINE_BYTES);

	if (action == ACTION_open || action == ACTION_first_bad) {
		if (!group) {
			console_say(view->console, "no group to open");
			return true;
		}
		text_add_format(where, "%s %lld", member_text(group, "job"),
		                (long long)member_int(group, action == ACTION_open ? "group" : "sample"));
		console_go(view->console, action == ACTION_open ? "entries" : "letter", where->at);
		return true;
	}
	return rows_act(view, dlq->rows, action, argument);
}

static bool dlq_step(struct view *view, int number, struct text *out)
{
	const json_t *group = rows_selected(view, ((struct dlq *)view->state)->rows);

	if (group)
		dlq_step_text(group, number, out);
	return out->len > 0;
}

static bool dlq_copy(struct view *view, bool is_finding, struct text *out)
{
	const json_t *group = rows_selected(view, ((struct dlq *)view->state)->rows);

	if (!group)
		return false;
	text_add_int(out, member_int(group, "group"));
	if (is_finding)
		text_add_format(out, ": job %s, %lld letters, %s in %s %s, first %s, last %s, state %s", member_text(group, "job"),
		                (long long)member_int(group, "count"), member_text(group, "code"), member_text(group, "table"),
		                member_text(group, "column"), member_text(group, "first"), member_text(group, "last"),
		                member_text(group, "state"));
	return true;
}

static bool dlq_open(struct view *view, struct error *err)
{
	struct dlq *dlq = memory_zalloc(sizeof(*dlq));

	name_words(view->argument, 2, &dlq->words);
	if (!known_job(view->console, dlq->words.word[0], err)) {
		free(dlq);
		return false;
	}
	spec.column_count = dlq_column_count;
	dlq->rows = rows_new(&spec);
	dlq->seen_before = looked_before(console_state_folder(view->console));
	view->state = dlq;
	return true;
}

static void dlq_close(struct view *view)
{
	dlq_see(NULL);
	json_decref(((struct dlq *)view->state)->seen_before);
	rows_view_close(view);
}

static const enum action_id dlq_own[] = {
	ACTION_trouble, ACTION_mark, ACTION_mark_range, ACTION_mark_all, ACTION_mark_none, ACTION_sort,
	ACTION_sort_reverse, ACTIONS
};

const struct view_ops view_dlq = {
	.name = "dlq",
	.table = "groups",
	.help = "dead letters by group; with a job and a table only theirs",
	.open = dlq_open,
	.close = dlq_close,
	.draw = dlq_draw,
	.title = dlq_title,
	.status = dlq_status,
	.own = dlq_own,
	.hints = dlq_hints,
	.hint_word = dlq_hint_word,
	.act = dlq_act,
	.subject = dlq_subject,
	.chosen = dlq_chosen,
	.copy = dlq_copy,
	.step = dlq_step,
	.fields = rows_view_fields,
	.filter = rows_view_filter,
	.filter_text = rows_view_filter_text,
};
