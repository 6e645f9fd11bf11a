/* The letters of a group, of a job or of all. From `weir dlq list --json`, a part of them at a time (window.h). */
#include "base/arena.h"
#include "view/entries_private.h"
#include "view/known_names.h"
#include "view/names.h"
#include "view/rows_view.h"
#include "view/window.h"
#include "widget/chart.h"

#include <inttypes.h>
#include <stdlib.h>

#define LINE_BYTES 4096
#define HEAD_BYTES 80

struct entries {
	struct rows *rows;
	struct name_words words; /* job ("-": all), group (0: all), filter */
	int64_t group;
	struct list_column columns[ENTRIES_COLUMNS];
	struct rows_spec spec;
	char head[HEAD_BYTES];   /* of the value's column */
	struct asked asked;
	struct window window;
	enum action_id then;     /* another part of the list has come: where the selection goes; ACTIONS: nowhere */
	bool is_sorted;          /* places are no longer those of the whole list */
};

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%s %" PRId64, member_text(row, "job"), member_int(row, "id"));
}

static const struct answer *ask(struct view *view)
{
	struct entries *entries = view->state;
	bool came;
	const struct answer *answer = window_ask(view, &entries->window, &came);

	if (came && entries->window.then != ACTIONS)
		entries->then = entries->window.then;
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

/* To the end that was asked for, when its letters are there; else the letters follow the selection. */
static void selection_follow(struct view *view)
{
	struct entries *entries = view->state;
	const json_t *row = rows_selected(view, entries->rows);
	enum action_id then = entries->then;

	entries->then = ACTIONS;
	if (then != ACTIONS)
		rows_act(view, entries->rows, then, "");
	else if (row && !entries->is_sorted && entries->asked.is_whole)
		window_follow(view, &entries->window, list_place(rows_list(entries->rows)) - 1, rows_count(entries->rows));
}

static void entries_draw(struct view *view, struct area area)
{
	struct entries *entries = view->state;
	struct rows *rows = entries->rows;

	selection_follow(view);
	const json_t *row = rows_selected(view, rows);
	int list = area.rows - (row && area.rows > 14 ? ENTRIES_PANE_ROWS : 0);

	if (row && entries->group)
		entries_name_value(entries->columns, row, entries->head, sizeof(entries->head));
	rows_draw(view, rows, area_part(area, 0, 0, list, area.cols), true);
	if (!row)
		rows_view_nothing(area_part(area, 1, 0, area.rows - 1, area.cols), ask(view),
		                  *rows_filter_text(rows) ? ROWS_FILTERED_OUT : "no letters here");
	else if (list < area.rows)
		entries_pane(view, row, area_part(area, list, 0, area.rows - list, area.cols));
}

static void entries_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	struct entries *entries = view->state;
	int64_t total;

	(void)out_has_verdict;
	asked_update(view, &entries->asked);
	text_add(out, "dead letters");
	if (strcmp(entries->words.word[0], "-") != 0)
		text_add_format(out, " of %s", entries->words.word[0]);
	if (entries->group)
		text_add_format(out, " > group %" PRId64, entries->group);
	text_add(out, "  ");
	total = window_total(&entries->window);
	if (total >= 0)
		number_text(total, out);
	if (total >= 0 && entries->asked.filter && entries->asked.is_whole)
		text_add(out, " filtered");
}

/* What a filter or an order holds over, where not all letters are here. */
static const char *scope_text(const struct entries *entries)
{
	bool is_filtered = *rows_filter_text(entries->rows);

	if (is_filtered && !entries->asked.is_whole && entries->asked.is_part)
		return "group, table, code and state hold over all, the rest over the 1000 letters here";
	if (is_filtered && !entries->asked.is_whole)
		return "filtered among the 1000 letters here; gg and G go to the ends of all";
	return entries->is_sorted ? "sorted among the 1000 letters here; gg and G go to the ends of all" : "";
}

static bool is_all_marked(const struct entries *entries)
{
	return list_is_everything_marked(rows_list(entries->rows));
}

static void marks_text(struct view *view, struct text *out)
{
	const struct entries *entries = view->state;
	int64_t marked = is_all_marked(entries) ? entries->asked.total : (int64_t)rows_marked(view, entries->rows);

	if (marked <= 0)
		return;
	number_text(marked, out);
	text_add(out, " marked  ");
}

/* "1 of 1,000,000"; a filter and an order that hold over less say so. */
static void entries_status(struct view *view, struct text *left, struct text *right)
{
	struct entries *entries = view->state;
	bool is_whole = window_is_whole(view, &entries->window);
	int64_t place = window_place(view, &entries->window), total = window_total(&entries->window);

	if (entries->window.is_moving && !entries->window.is_growing)
		text_add(left, "asking for the letters there ...");
	else if (!is_whole)
		text_add(left, scope_text(entries));
	if (is_whole || !entries->asked.is_whole || entries->is_sorted || place < 0 || total < 0) {
		rows_status(view, entries->rows, right);
		return;
	}
	marks_text(view, right);
	number_text(place + (int64_t)list_place(rows_list(entries->rows)), right);
	text_add(right, " of ");
	number_text(total, right);
}

static const enum action_id *entries_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_open, ACTION_mark, ACTION_mark_all, ACTION_acts, ACTION_filter, ACTION_sort,
		                                ACTION_copy, ACTIONS };

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

/* Of more letters than are here, what is marked or filtered is named by its groups. */
static bool is_by_groups(struct view *view)
{
	struct entries *entries = view->state;

	if (!entries->asked.is_whole || entries->asked.total < 0 || window_is_whole(view, &entries->window))
		return false;
	return is_all_marked(entries) || (entries->asked.filter && !rows_marked(view, entries->rows));
}

static void entries_chosen(struct view *view, struct subjects *out)
{
	struct entries *entries = view->state;

	if (!is_by_groups(view)) {
		rows_chosen(view, entries->rows, subject_of, out);
		return;
	}
	asked_subjects(view, &entries->asked, out);
	out->how = is_all_marked(entries) ? CHOSEN_MARKED : CHOSEN_FILTERED;
}

/* All that match, also those that are not here. False: all are here. */
static bool mark_all(struct view *view)
{
	struct entries *entries = view->state;
	OWNED(text) say = text_new(LINE_BYTES);

	if (window_is_whole(view, &entries->window) || entries->asked.total < 0)
		return false;
	if (!entries->asked.is_whole) {
		console_say(view->console, "this filter holds over the 1000 letters here: Space and v mark some of them; over all hold job, "
		                           "group, table, code and state");
		return true;
	}
	list_mark_everything(rows_list(entries->rows));
	number_text(entries->asked.total, say);
	console_say(view->console, "%s marked: all%s", say->at, entries->asked.filter ? " that the filter leaves" : "");
	return true;
}

static bool entries_act(struct view *view, enum action_id action, const char *argument)
{
	struct entries *entries = view->state;
	const json_t *row;
	OWNED(text) where = text_new(LINE_BYTES);

	if ((action == ACTION_first || action == ACTION_last) && window_end(view, &entries->window, action))
		return true;
	if (action == ACTION_mark_all && mark_all(view))
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

static bool entries_filter(struct view *view, const char *text, bool is_taken, struct error *err)
{
	struct entries *entries = view->state;
	const char *before = entries->asked.filter ? filter_text(entries->asked.filter) : "";

	if (!rows_view_filter(view, text, is_taken, err))
		return false;
	if (!is_taken || strcmp(before, text) == 0)
		return true;
	asked_filter(&entries->asked, text);
	window_begin(&entries->window);
	if (is_all_marked(entries))
		rows_act(view, entries->rows, ACTION_mark_none, "");
	return true;
}

static void entries_close(struct view *view)
{
	asked_clear(&((struct entries *)view->state)->asked);
	rows_view_close(view);
}

static void entries_make(struct entries *entries)
{
	entries_columns(entries->group, strcmp(entries->words.word[0], "-") != 0, entries->columns);
	entries->spec = (struct rows_spec){ entries->columns, ENTRIES_COLUMNS, entries_cell, entries_number, row_key, NULL, collect };
	entries->rows = rows_new(&entries->spec);
	entries->asked = (struct asked){ .job = entries->words.word[0], .group = entries->group, .fields = rows_fields(entries->rows),
		                         .is_whole = true, .total = -1 };
	entries->window = (struct window){ .asked = &entries->asked };
	entries->then = ACTIONS;
	window_begin(&entries->window);
}

static bool entries_open(struct view *view, struct error *err)
{
	struct entries *entries = memory_zalloc(sizeof(*entries));

	name_words(view->argument, 3, &entries->words);
	entries->group = strtoll(entries->words.word[1], NULL, 10);
	if (!entries->words.word[0][0]) {
		free(entries);
		return fail(err, ERROR_USAGE, "bad_argument", "which letters? `:dlq list --job JOB --group N`, or Enter on a group");
	}
	if (!known_job(view->console, entries->words.word[0], err)) {
		free(entries);
		return false;
	}
	entries_make(entries);
	view->state = entries;
	if (entries_filter(view, entries->words.word[2], true, err))
		return true;
	entries_close(view);
	return false;
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
	.close = entries_close,
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
