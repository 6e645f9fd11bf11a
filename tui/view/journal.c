/* Who did what and what the system did by itself, newest first. From `weir journal --json`. */
#include "base/arena.h"
#include "view/journal_lines.h"
#include "view/names.h"
#include "view/rows_view.h"

#include <stdlib.h>

#define LINE_BYTES 8192
#define LINES_SHOWN 2000
#define PANE_ROWS 5

struct journal {
	struct rows *rows;
	struct name_words words; /* job, table */
};

enum column { TIME, WHO, WHAT };

static const struct list_column columns[] = {
	[TIME] = { "TIME", NULL, 8, -1, 0, 0, false, 0 },
	[WHO] = { "WHO", "who", 8, -1, 0, 0, false, 'w' },
	[WHAT] = { "WHAT", "what", 20, -1, 0, 0, true, 0 },
};

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	switch ((enum column)column) {
	case TIME: console_time(console, member_text(row, "time"), true, out); return;
	case WHO: text_add(out, member_text(row, "who")); return;
	case WHAT: journal_sentence(row, out); return;
	}
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%s %lld %.60s", member_text(row, "time"), (long long)member_int(row, "act"),
	         member_text(row, "text"));
}

static enum role row_role(const struct console *console, const json_t *row, size_t column)
{
	(void)column;
	return journal_has_failed(row) ? ROLE_warn : console_role(console, ROLE_text);
}

static const struct answer *ask(struct view *view)
{
	const struct journal *journal = view->state;
	json_t *args = json_pack("{s:i}", "limit", LINES_SHOWN);

	if (journal->words.word[0][0])
		json_object_set_new(args, "job", json_string(journal->words.word[0]));
	return model_ask(console_model(view->console), LANE_LOOK, "journal", args, "journal");
}

static bool is_wanted(const struct journal *journal, const json_t *row)
{
	const char *table = member_text(row, "table");

	if (member_bool(row, "ended"))
		return false;
	return !journal->words.word[1][0] || !*table || strcmp(table, journal->words.word[1]) == 0;
}

static void collect(struct view *view, struct rows *rows)
{
	const json_t *lines = ask(view)->lines;

	for (size_t i = json_array_size(lines); i-- > 0;) {
		if (is_wanted(view->state, json_array_get(lines, i)))
			rows_add(rows, json_array_get(lines, i));
	}
}

static const struct rows_spec spec = { columns, sizeof(columns) / sizeof(*columns), cell_text, NULL, row_key, row_role, collect };

static void draw_pane(struct view *view, const json_t *row, struct area area)
{
	OWNED(text) title = text_new(LINE_BYTES);
	OWNED(text) what = text_new(LINE_BYTES);
	const char *ssh = member_text(row, "ssh_as_client_said");
	int at;

	console_moment(view->console, member_text(row, "time"), title);
	text_add_format(title, " %s", member_text(row, "who"));
	draw_rule(area, 0, title->at, member_text(row, "kind"));
	journal_sentence(row, what);
	at = 1 + draw_paragraph(area, 1, 1, area.cols - 2, 3, ROLE_text, text_span(what));
	if (*ssh)
		draw_format(area, at, 1, ROLE_dim, "from ssh %s (as its client says), uid %lld, pid %lld", ssh,
		            (long long)member_int(row, "uid"), (long long)member_int(row, "pid"));
	else if (json_object_get(row, "pid"))
		draw_format(area, at, 1, ROLE_dim, "uid %lld, pid %lld", (long long)member_int(row, "uid"),
		            (long long)member_int(row, "pid"));
}

static void journal_view_draw(struct view *view, struct area area)
{
	struct rows *rows = rows_view_rows(view);
	const json_t *row = rows_selected(view, rows);
	int list = area.rows - (row && area.rows > 12 ? PANE_ROWS : 0);

	rows_draw(view, rows, area_part(area, 0, 0, list, area.cols), true);
	if (!row)
		rows_view_nothing(area_part(area, 1, 0, area.rows - 1, area.cols), ask(view),
		                  rows_are_filtered_out(rows) ? ROWS_FILTERED_OUT : "nothing in the journal");
	else
		draw_pane(view, row, area_part(area, list, 0, area.rows - list, area.cols));
}

static void journal_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const struct journal *journal = view->state;

	(void)out_has_verdict;
	const char *table = journal->words.word[1], *of = *table && strcmp(table, "-") != 0 ? table : journal->words.word[0];

	text_add_format(out, "journal%s%s", *of ? " of " : "", of);
}

static void journal_status(struct view *view, struct text *left, struct text *right)
{
	text_add(left, "newest first; the journal is only ever added to");
	rows_status(view, rows_view_rows(view), right);
}

static const enum action_id *journal_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_open, ACTION_filter, ACTION_copy, ACTION_copy_finding, ACTION_zone,
		                                ACTION_back, ACTIONS };

	(void)view;
	return hints;
}

static bool journal_subject(struct view *view, struct subject *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));
	const char *table = member_text(row, "table");

	if (!row || !*member_text(row, "job"))
		return false;
	snprintf(out->job, sizeof(out->job), "%s", member_text(row, "job"));
	snprintf(out->table, sizeof(out->table), "%s", table);
	return true;
}

static bool journal_act(struct view *view, enum action_id action, const char *argument)
{
	struct subject subject = { 0 };
	OWNED(text) where = text_new(LINE_BYTES);

	if (action != ACTION_open)
		return rows_act(view, rows_view_rows(view), action, argument);
	if (!journal_subject(view, &subject)) {
		console_say(view->console, "this line is of no job");
	} else if (subject.table[0]) {
		letters_argument(&subject, where);
		console_go(view->console, "why", where->at);
	} else {
		console_go(view->console, "job", subject.job);
	}
	return true;
}

static bool journal_copy(struct view *view, bool is_finding, struct text *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	if (!row)
		return false;
	text_add_format(out, "%s %s ", member_text(row, "time"), member_text(row, "who"));
	journal_sentence(row, out);
	(void)is_finding;
	return true;
}

static bool journal_open(struct view *view, struct error *err)
{
	struct journal *journal = memory_zalloc(sizeof(*journal));

	(void)err;
	name_words(view->argument, 2, &journal->words);
	journal->rows = rows_new(&spec);
	view->state = journal;
	return true;
}

const struct view_ops view_journal = {
	.name = "journal",
	.table = "journal",
	.help = "who did what, and what happened by itself",
	.open = journal_open,
	.close = rows_view_close,
	.draw = journal_view_draw,
	.title = journal_title,
	.status = journal_status,
	.hints = journal_hints,
	.act = journal_act,
	.subject = journal_subject,
	.copy = journal_copy,
	.fields = rows_view_fields,
	.filter = rows_view_filter,
	.filter_text = rows_view_filter_text,
};
