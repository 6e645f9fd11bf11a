/* The letters of a group, or of a job. From `weir dlq list --json`; the preview from `weir dlq show`. */
#include "base/arena.h"
#include "view/names.h"
#include "view/rows_view.h"
#include "view/window.h"
#include "widget/chart.h"

#include <inttypes.h>
#include <stdlib.h>

#define LINE_BYTES 4096
#define PANE_ROWS 7

struct entries {
	struct rows *rows;
	struct name_words words; /* job ("-": all), group (0: all) */
	int64_t group;
	struct window window;
	bool has_come;           /* another part of the list is there */
	bool is_sorted;          /* places are no longer those of the whole list */
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
	struct entries *entries = view->state;
	bool came;
	const struct answer *answer = window_ask(view, &entries->window, &came);

	entries->has_come |= came;
	return answer;
}

/* A part that ends at a letter comes newest first. */
static void collect(struct view *view, struct rows *rows)
{
	const struct entries *entries = view->state;
	const json_t *lines = ask(view)->lines;
	size_t count = json_array_size(lines);

	for (size_t i = 0; i < count; i++) {
		const json_t *row = json_array_get(lines, window_is_back(&entries->window) ? count - 1 - i : i);

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
	OWNED(text) what = text_new(LINE_BYTES);

	text_add_format(title, "letter %" PRId64, member_int(row, "id"));
	draw_rule(area, 0, title->at, "Enter opens it");
	draw_field(area, 1, 1, area.cols - 2, -1, ROLE_error, span_of(member_text(row, "message")));
	text_add_format(what, "%s  table %s", member_text(row, "code"), member_text(row, "table"));
	if (*member_text(row, "column"))
		text_add_format(what, "  column %s", member_text(row, "column"));
	if (*member_text(row, "path"))
		text_add_format(what, "  path %s", member_text(row, "path"));
	draw_span(area, 2, 1, ROLE_text, text_span(what));
	if (member_int(source, "line"))
		text_add_format(where, "line %" PRId64 "  ", member_int(source, "line"));
	text_add_format(where, "message %s", member_text(source, "message_id"));
	draw_span(area, 3, 1, ROLE_text, text_span(where));
	draw_format(area, 4, 1, ROLE_dim, "sha256 %.12s..", member_text(row, "sha256"));
}

/* To the end that was asked for, when its letters are there; else the letters follow the selection. */
static void selection_follow(struct view *view)
{
	struct entries *entries = view->state;
	const json_t *row = rows_selected(view, entries->rows);
	bool has_come = entries->has_come;

	entries->has_come = false;
	if (has_come && entries->window.then != ACTIONS)
		rows_act(view, entries->rows, entries->window.then, "");
	else if (row && !entries->is_sorted && !*rows_filter_text(entries->rows))
		window_follow(view, &entries->window, list_place(rows_list(entries->rows)) - 1, rows_count(entries->rows));
}

static void entries_draw(struct view *view, struct area area)
{
	struct rows *rows = rows_view_rows(view);

	selection_follow(view);
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
	int64_t total;

	(void)out_has_verdict;
	text_add(out, "dead letters");
	if (strcmp(entries->words.word[0], "-") != 0)
		text_add_format(out, " of %s", entries->words.word[0]);
	if (entries->group)
		text_add_format(out, " > group %" PRId64, entries->group);
	text_add(out, "  ");
	total = window_total(view, &entries->window);
	if (total >= 0)
		number_text(total, out);
}

/* "1 of 1,000,000"; a filter and an order hold over the part that is here, and it says so. */
static void entries_status(struct view *view, struct text *left, struct text *right)
{
	struct entries *entries = view->state;
	bool is_whole = window_is_whole(view, &entries->window), is_filtered = *rows_filter_text(entries->rows);
	int64_t place = window_place(view, &entries->window), total = window_total(view, &entries->window);

	if (entries->window.is_moving)
		text_add(left, "asking for the letters there ...");
	else if (!is_whole && is_filtered && entries->window.state[0])
		text_add_format(left, "the state holds over all, the rest over the %d letters here", WINDOW_ROWS);
	else if (!is_whole && (is_filtered || entries->is_sorted))
		text_add_format(left, "%s among the %d letters here; gg and G go to the ends of all",
		                is_filtered ? "filtered" : "sorted", WINDOW_ROWS);
	else if (!is_whole && strcmp(entries->window.job, "-") == 0)
		text_add_format(left, "the first %d; :dlq list --job JOB has all of a job", WINDOW_ROWS);
	if (is_whole || is_filtered || entries->is_sorted || place < 0 || total < 0) {
		rows_status(view, entries->rows, right);
		return;
	}
	if (rows_marked(view, entries->rows))
		text_add_format(right, "%zu marked  ", rows_marked(view, entries->rows));
	number_text(place + (int64_t)list_place(rows_list(entries->rows)), right);
	text_add(right, " of ");
	number_text(total, right);
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
	struct entries *entries = view->state;
	const json_t *row;
	OWNED(text) where = text_new(LINE_BYTES);

	if ((action == ACTION_first || action == ACTION_last) && window_end(view, &entries->window, action))
		return true;
	if (action == ACTION_sort && *argument)
		entries->is_sorted = true;
	if (action == ACTION_sort_reverse)
		entries->is_sorted = !window_is_whole(view, &entries->window);
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
	entries->window = (struct window){ .job = entries->words.word[0], .group = entries->group, .then = ACTIONS };
	entries->rows = rows_new(&spec);
	view->state = entries;
	return true;
}

/* A state that is meant alone is asked of the engine, and so holds over all letters and not only over those here. */
static const char *state_asked(const char *filter)
{
	static const char *const states[] = { "new", "planned", "replaying", "done", "discarded" };
	static const char field[] = "state:";

	for (const char *at = filter; (at = strstr(at, field)); at += sizeof(field) - 1) {
		const char *word = at + sizeof(field) - 1;
		size_t len = strcspn(word, " ");

		for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
			if ((at == filter || at[-1] == ' ') && strlen(states[i]) == len && memcmp(states[i], word, len) == 0)
				return states[i];
		}
	}
	return "";
}

static bool entries_filter(struct view *view, const char *text, bool is_taken, struct error *err)
{
	struct entries *entries = view->state;

	if (!rows_view_filter(view, text, is_taken, err))
		return false;
	if (is_taken)
		window_state(&entries->window, state_asked(text));
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
	.filter = entries_filter,
	.filter_text = rows_view_filter_text,
};
