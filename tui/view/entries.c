/* The letters of a group, or of a job. From `weir dlq list --json`; the preview from `weir dlq show`. */
#include "base/arena.h"
#include "view/names.h"
#include "view/rows_view.h"
#include "widget/chart.h"

#include <inttypes.h>
#include <stdlib.h>

#define LINE_BYTES 4096
#define PANE_ROWS 7

struct entries {
	struct rows *rows;
	struct name_words words; /* job ("-": all), group (0: all) */
	int64_t group;
};

enum column { ID, COMMIT, KEY, STATE, TRIES, BYTES, REASON, TABLE };

static const struct list_column columns[] = {
	[ID] = { "ID", "id", 8, 1, 0, 0, false, 'i' },
	[COMMIT] = { "FIRST", NULL, 8, -1, 4, 0, false, 'f' },
	[KEY] = { "KEY", "key", 16, -1, 0, 0, true, 'k' },
	[STATE] = { "STATE", "state", 12, -1, 3, 0, false, 's' },
	[TRIES] = { "TRIES", "tries", 5, 1, 5, 0, false, 't' },
	[BYTES] = { "BYTES", "bytes", 6, 1, 6, 0, false, 'b' },
	[REASON] = { "REASON", "code", 18, -1, 2, 0, false, 'r' },
	[TABLE] = { "TABLE", "table", 18, -1, 1, 100, false, 'a' },
};

static bool cell_number(const json_t *row, size_t column, double *out)
{
	static const char *const members[] = { [ID] = "id", [TRIES] = "attempts", [BYTES] = "bytes" };

	if (column >= sizeof(members) / sizeof(*members) || !members[column])
		return false;
	*out = member_number(row, members[column]);
	return true;
}

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	switch ((enum column)column) {
	case ID: text_add_int(out, member_int(row, "id")); return;
	case COMMIT: console_time(console, member_text(row, "first"), true, out); return;
	case KEY: text_add(out, member_text(row, "key")); return;
	case STATE: text_add(out, member_text(row, "state")); return;
	case TRIES: text_add_int(out, member_int(row, "attempts")); return;
	case BYTES: number_short(member_number(row, "bytes"), out); return;
	case REASON: text_add(out, member_text(row, "code")); return;
	case TABLE: text_add(out, member_text(row, "table")); return;
	}
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%s %" PRId64, member_text(row, "job"), member_int(row, "id"));
}

static const struct answer *ask(struct view *view)
{
	const struct entries *entries = view->state;
	json_t *args = json_object();
	OWNED(text) topics = text_new(LINE_BYTES);

	text_add(topics, "journal");
	if (strcmp(entries->words.word[0], "-") != 0) {
		json_object_set_new(args, "job", json_string(entries->words.word[0]));
		text_add_format(topics, " dlq:%s", entries->words.word[0]);
	}
	if (entries->group)
		json_object_set_new(args, "group", json_integer(entries->group));
	return model_ask(console_model(view->console), LANE_LETTERS, "dlq.list", args, topics->at);
}

static void collect(struct view *view, struct rows *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(ask(view)->lines, i, row) {
		if (json_object_get(row, "id"))
			rows_add(rows, row);
	}
}

static const struct rows_spec spec = { columns, sizeof(columns) / sizeof(*columns), cell_text, cell_number, row_key, NULL,
	                               collect };

static void draw_pane(const json_t *row, struct area area)
{
	const json_t *source = json_object_get(row, "source");
	OWNED(text) title = text_new(LINE_BYTES);
	OWNED(text) where = text_new(LINE_BYTES);

	text_add_format(title, "letter %" PRId64, member_int(row, "id"));
	draw_rule(area, 0, title->at, "Enter opens it");
	draw_field(area, 1, 1, area.cols - 2, -1, ROLE_error, span_of(member_text(row, "message")));
	draw_format(area, 2, 1, ROLE_text, "%s  table %s  column %s  path %s", member_text(row, "code"), member_text(row, "table"),
	            member_text(row, "column"), member_text(row, "path"));
	if (member_int(source, "line"))
		text_add_format(where, "line %" PRId64 "  ", member_int(source, "line"));
	text_add_format(where, "message %s", member_text(source, "message_id"));
	draw_span(area, 3, 1, ROLE_text, text_span(where));
	draw_format(area, 4, 1, ROLE_dim, "sha256 %.12s..", member_text(row, "sha256"));
}

static void entries_draw(struct view *view, struct area area)
{
	struct rows *rows = rows_view_rows(view);
	const json_t *row = rows_selected(view, rows);
	int list = area.rows - (row && area.rows > 14 ? PANE_ROWS : 0);

	rows_draw(view, rows, area_part(area, 0, 0, list, area.cols), true);
	if (!row)
		rows_view_nothing(area_part(area, 1, 0, area.rows - 1, area.cols), ask(view), "no letters here");
	else if (list < area.rows)
		draw_pane(row, area_part(area, list, 0, area.rows - list, area.cols));
}

static void entries_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const struct entries *entries = view->state;

	(void)out_has_verdict;
	text_add(out, "dead letters");
	if (strcmp(entries->words.word[0], "-") != 0)
		text_add_format(out, " of %s", entries->words.word[0]);
	if (entries->group)
		text_add_format(out, " > group %" PRId64, entries->group);
	text_add(out, "  ");
	number_text((int64_t)rows_count(entries->rows), out);
}

static void entries_status(struct view *view, struct text *left, struct text *right)
{
	const struct answer *answer = ask(view);

	if (answer->is_cut)
		text_add_format(left, "the first %d are here; :dlq list --state, or weir dlq list in the shell, has the rest",
		                ANSWER_LINES_MAX);
	rows_status(view, rows_view_rows(view), right);
}

static const enum action_id *entries_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_open, ACTION_mark, ACTION_acts, ACTION_filter, ACTION_sort, ACTION_copy,
		                                ACTIONS };

	(void)view;
	return hints;
}

static void subject_of(const json_t *row, struct subject *out)
{
	snprintf(out->job, sizeof(out->job), "%s", member_text(row, "job"));
	snprintf(out->table, sizeof(out->table), "%s", member_text(row, "table"));
	snprintf(out->code, sizeof(out->code), "%s", member_text(row, "code"));
	snprintf(out->state, sizeof(out->state), "%s", member_text(row, "state"));
	out->group = member_int(row, "group");
	out->letter = member_int(row, "id");
}

static bool entries_subject(struct view *view, struct subject *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	if (row)
		subject_of(row, out);
	return row;
}

static void entries_chosen(struct view *view, struct subjects *out)
{
	rows_chosen(view, rows_view_rows(view), subject_of, out);
}

static bool entries_act(struct view *view, enum action_id action, const char *argument)
{
	const json_t *row;
	OWNED(text) where = text_new(LINE_BYTES);

	if (action != ACTION_open && action != ACTION_first_bad)
		return rows_act(view, rows_view_rows(view), action, argument);
	row = action == ACTION_open ? rows_selected(view, rows_view_rows(view)) : rows_at(rows_view_rows(view), 0);
	if (!row) {
		console_say(view->console, "no letter to open");
		return true;
	}
	text_add_format(where, "%s %" PRId64, member_text(row, "job"), member_int(row, "id"));
	console_go(view->console, "letter", where->at);
	return true;
}

static bool entries_copy(struct view *view, bool is_finding, struct text *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	if (!row)
		return false;
	text_add_int(out, member_int(row, "id"));
	if (is_finding)
		text_add_format(out, ": job %s, group %" PRId64 ", %s in %s: %s, key %s, sha256 %s", member_text(row, "job"),
		                member_int(row, "group"), member_text(row, "code"), member_text(row, "table"),
		                member_text(row, "message"), member_text(row, "key"), member_text(row, "sha256"));
	return true;
}

static bool entries_open(struct view *view, struct error *err)
{
	struct entries *entries = memory_zalloc(sizeof(*entries));

	name_words(view->argument, 2, &entries->words);
	entries->group = strtoll(entries->words.word[1], NULL, 10);
	if (!entries->words.word[0][0]) {
		free(entries);
		return fail(err, ERROR_USAGE, "bad_argument", "which letters? `:dlq list --job JOB --group N`, or Enter on a group");
	}
	entries->rows = rows_new(&spec);
	view->state = entries;
	return true;
}

static const enum action_id entries_own[] = {
	ACTION_mark, ACTION_mark_range, ACTION_mark_all, ACTION_mark_none, ACTION_sort, ACTION_sort_reverse,
	ACTIONS
};

const struct view_ops view_entries = {
	.name = "entries",
	.table = "entries",
	.help = "the dead letters of a group",
	.open = entries_open,
	.close = rows_view_close,
	.draw = entries_draw,
	.title = entries_title,
	.status = entries_status,
	.own = entries_own,
	.hints = entries_hints,
	.act = entries_act,
	.subject = entries_subject,
	.chosen = entries_chosen,
	.copy = entries_copy,
	.fields = rows_view_fields,
	.filter = rows_view_filter,
	.filter_text = rows_view_filter_text,
};
