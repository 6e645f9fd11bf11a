/*
 * Dead letters by group: what went wrong, how often, where; the selected group's first
 * letter and the next steps. From `weir dlq groups --json` and `weir dlq show`.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "view/names.h"
#include "view/payload.h"
#include "view/rows_view.h"
#include "view/totals.h"
#include "widget/chart.h"

#include <stdlib.h>

#define LINE_BYTES 4096
#define STEPS_ROWS 4           /* the rule and the steps */
#define PANE_ROWS (6 + STEPS_ROWS)

struct dlq {
	struct rows *rows;
	struct name_words words; /* job, table; both may be empty */
};

enum column { NUMBER, COUNT, MINUTE, FIRST, LAST, STAGE, REASON, WHERE, STATE, JOB, KEYS };

static const struct list_column columns[] = {
	[NUMBER] = { "#", "group", 2, 1, 0, 0, false, '#' },
	[COUNT] = { "COUNT", "count", 6, 1, 0, 0, false, 'c' },
	[MINUTE] = { "/MIN", "minute", 4, 1, 1, 72, false, 'm' },
	[FIRST] = { "FIRST", NULL, 5, 1, 3, 0, false, 'f' },
	[LAST] = { "LAST", NULL, 5, 1, 0, 0, false, 'l' },
	[STAGE] = { "STAGE", "stage", 6, -1, 2, 0, false, 's' },
	[REASON] = { "REASON", "code", 15, -1, 0, 0, false, 'r' },
	[WHERE] = { "WHERE", "where", 12, -1, 0, 0, true, 'w' },
	[STATE] = { "STATE", "state", 9, -1, 0, 0, false, 't' },
	[JOB] = { "JOB", "job", 10, -1, 4, 90, false, 'j' },
	[KEYS] = { "KEYS", "keys", 6, 1, 1, 90, false, 'k' },
};

static bool cell_number(const json_t *row, size_t column, double *out)
{
	static const char *const members[] = { [NUMBER] = "group", [COUNT] = "count", [MINUTE] = "last_minute", [KEYS] = "keys" };

	if (column == FIRST || column == LAST) {
		*out = (double)time_us_of(member_text(row, column == FIRST ? "first" : "last"));
		return true;
	}
	if (column >= sizeof(members) / sizeof(*members) || !members[column])
		return false;
	*out = member_number(row, members[column]);
	return true;
}

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	const char *where = member_text(row, "column");

	switch ((enum column)column) {
	case NUMBER: text_add_int(out, member_int(row, "group")); return;
	case COUNT: number_text(member_int(row, "count"), out); return;
	case MINUTE: number_text(member_int(row, "last_minute"), out); return;
	case KEYS: number_text(member_int(row, "keys"), out); return;
	case FIRST: console_time(console, member_text(row, "first"), false, out); return;
	case LAST: console_time(console, member_text(row, "last"), false, out); return;
	case STAGE: text_add(out, member_text(row, "stage")); return;
	case REASON: text_add(out, member_text(row, "code")); return;
	case WHERE: text_add_format(out, "%s%s%s", member_text(row, "table"), *where ? " " : "", where); return;
	case STATE: text_add(out, member_text(row, "state")); return;
	case JOB: text_add(out, member_text(row, "job")); return;
	}
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%s %lld", member_text(row, "job"), (long long)member_int(row, "group"));
}

static bool is_open(const json_t *row)
{
	const char *state = member_text(row, "state");

	return strcmp(state, "done") != 0 && strcmp(state, "discarded") != 0;
}

static enum role row_role(const struct console *console, const json_t *row, size_t column)
{
	if (column == STATE && (strcmp(member_text(row, "state"), "new") == 0 || strcmp(member_text(row, "state"), "failed again") == 0))
		return ROLE_fresh;
	return console_role(console, is_open(row) ? ROLE_text : ROLE_dim);
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

	for (int pass = 0; pass < 2; pass++) { /* what is open first */
		json_array_foreach(ask(view)->lines, i, row) {
			if (is_of_table(dlq, row) && is_open(row) == !pass && !(pass && console_is_trouble_only(view->console)))
				rows_add(rows, row);
		}
	}
}

static const struct rows_spec spec = { columns, sizeof(columns) / sizeof(*columns), cell_text, cell_number, row_key, row_role,
	                               collect };

/*
 * The pane: the group's first letter and what can be done.
 */
static const json_t *sample_of(struct view *view, const json_t *group)
{
	const struct answer *answer =
		model_ask(console_model(view->console), LANE_LETTERS, "dlq.show",
	                  json_pack("{s:I, s:s}", "id", (json_int_t)member_int(group, "sample"), "job", member_text(group, "job")),
	                  "");

	return json_array_get(answer->lines, 0);
}

static void step_text(const json_t *group, int number, struct text *out)
{
	static const char *const verbs[] = { "replay", "discard", "list" };

	if (number < 1 || number > (int)(sizeof(verbs) / sizeof(*verbs)))
		return;
	text_add_format(out, "dlq %s --group %lld --job ", verbs[number - 1], (long long)member_int(group, "group"));
	shell_quote(out, span_of(member_text(group, "job")));
}

static void draw_steps(const json_t *group, struct area area)
{
	static const char *const words[] = { "write them again", "discard (lossy, asks for the count)", "list its letters" };
	static const char *const narrow[] = { "write them again", "discard (asks count)", "list its letters" };

	draw_rule(area, 0, "next steps: the number puts the command on the : line", "");
	for (int i = 0; i < 3; i++) {
		OWNED(text) line = text_new(LINE_BYTES);

		step_text(group, i + 1, line);
		draw_format(area, 1 + i, 1, ROLE_text, "%d %-*s :%s", i + 1, area.cols < 72 ? 20 : 37, area.cols < 72 ? narrow[i] : words[i],
		            line->at);
	}
}

static void source_text(const json_t *letter, struct text *out)
{
	const json_t *source = json_object_get(letter, "source");

	text_add_format(out, "letter %lld", (long long)member_int(letter, "id"));
	if (member_int(source, "line"))
		text_add_format(out, "   line %lld", (long long)member_int(source, "line"));
	if (*member_text(source, "message_id"))
		text_add_format(out, "   message %s", member_text(source, "message_id"));
	if (*member_text(letter, "key"))
		text_add_format(out, "   key %s", member_text(letter, "key"));
	text_add_format(out, "   tries %lld", (long long)member_int(letter, "attempts"));
}

/* The first letter: where it came from, what it says, and the part of its bytes that it says it of. */
static void draw_sample(struct view *view, const json_t *letter, struct area area)
{
	OWNED(text) line = text_new(LINE_BYTES);
	OWNED(text) bytes = text_new(LINE_BYTES);
	OWNED(text) marks = text_new(LINE_BYTES);

	source_text(letter, line);
	draw_field(area, 0, 1, area.cols - 2, -1, console_role(view->console, ROLE_text), text_span(line));
	draw_field(area, 1, 1, area.cols - 2, -1, ROLE_error, span_of(member_text(letter, "message")));
	if (payload_excerpt(letter, area.cols - 4, bytes, marks)) {
		draw_span(area, 2, 3, ROLE_text, text_span(bytes));
		draw_span(area, 3, 3, ROLE_error, text_span(marks));
	} else {
		draw_text(area, 2, 3, ROLE_dim, json_object_get(letter, "payload_b64") ? "its bytes are no text; f shows them" : "");
	}
}

static void draw_pane(struct view *view, const json_t *group, struct area area)
{
	const json_t *letter = sample_of(view, group);
	OWNED(text) title = text_new(LINE_BYTES);
	OWNED(text) line = text_new(LINE_BYTES);

	if (area.rows < PANE_ROWS) {
		draw_steps(group, area);
		return;
	}
	text_add_format(title, "group %lld of %s", (long long)member_int(group, "group"), member_text(group, "job"));
	draw_rule(area, 0, title->at, "the first of its letters; Enter lists all");
	number_text(member_int(group, "count"), line);
	text_add_format(line, " letter%s, ", member_int(group, "count") == 1 ? "" : "s");
	number_text(member_int(group, "open"), line);
	text_add(line, " open, ");
	number_text(member_int(group, "keys"), line);
	text_add_format(line, " key%s", member_int(group, "keys") == 1 ? "" : "s");
	draw_span(area, 1, 1, ROLE_text, text_span(line));
	if (letter)
		draw_sample(view, letter, area_part(area, 2, 0, 4, area.cols));
	draw_steps(group, area_part(area, 6, 0, area.rows - 6, area.cols));
}

static void draw_nothing(struct view *view, struct area area)
{
	const struct answer *answer = ask(view);

	draw_paragraph(area, 0, 1, area.cols - 2, 3, answer->error.kind ? ROLE_error : ROLE_text,
	               span_of(answer->error.kind ? answer->error.message :
	                       rows_are_filtered_out(((struct dlq *)view->state)->rows) ? ROWS_FILTERED_OUT :
	                       answer->is_known   ? "no dead letters: every message that came was written, or is told by the ledger (g b)" :
	                                            "asking the engine ..."));
}

static void dlq_draw(struct view *view, struct area area)
{
	struct dlq *dlq = view->state;
	const json_t *group = rows_selected(view, dlq->rows);
	int pane = !group ? 0 : area.rows >= PANE_ROWS + 6 ? PANE_ROWS : area.rows >= STEPS_ROWS + 4 ? STEPS_ROWS : 0;
	int list = (int)rows_count(dlq->rows) + 1 < area.rows - pane ? (int)rows_count(dlq->rows) + 1 : area.rows - pane;

	rows_draw(view, dlq->rows, area_part(area, 0, 0, list, area.cols), true);
	if (!group)
		draw_nothing(view, area_part(area, 1, 0, area.rows - 1, area.cols));
	else if (pane)
		draw_pane(view, group, area_part(area, list, 0, area.rows - list, area.cols));
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
		if (!is_of_table(dlq, row) || !is_open(row))
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

static void dlq_status(struct view *view, struct text *left, struct text *right)
{
	const struct dlq *dlq = view->state;

	if (rows_count(dlq->rows))
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
		step_text(group, number, out);
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

	(void)err;
	name_words(view->argument, 2, &dlq->words);
	dlq->rows = rows_new(&spec);
	view->state = dlq;
	return true;
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
	.close = rows_view_close,
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
