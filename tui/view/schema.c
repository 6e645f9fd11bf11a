/* Columns over time: what changed at the source, when, and what the table has now. From `weir tables --schema --json`. */
#include "base/arena.h"
#include "view/known_names.h"
#include "view/names.h"
#include "view/rows_view.h"
#include "view/schema_changes.h"

#include <stdlib.h>

#define LINE_BYTES 8192
#define PANE_ROWS 8

struct schema {
	struct rows *rows;
	struct name_words words; /* job, table */
	json_t *made;
	unsigned generation;
};

enum column { WHEN, TABLE, COLUMN, CHANGE, DID };

static const struct list_column columns[] = {
	[WHEN] = { "WHEN", NULL, 8, -1, 2, 0, false, 0 },
	[TABLE] = { "TABLE", "table", 17, ALIGN_NAME, 0, 0, false, 't' },
	[COLUMN] = { "COLUMN", "column", 11, -1, 0, 0, false, 'c' },
	[CHANGE] = { "CHANGE AT SOURCE", "change", 22, -1, 0, 0, false, 'g' },
	[DID] = { "WEIR DID", "did", 16, -1, 1, 0, true, 'd' },
};

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	switch ((enum column)column) {
	case WHEN: console_time(console, member_text(row, "time"), true, out); return;
	case TABLE: text_add(out, member_text(row, "table")); return;
	case COLUMN: text_add(out, member_text(row, "column")); return;
	case CHANGE: text_add(out, member_text(row, "change")); return;
	case DID: text_add(out, member_text(row, "did")); return;
	}
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%.60s %.60s %lld", member_text(row, "table"), member_text(row, "column"),
	         (long long)member_int(row, "version"));
}

static const struct answer *ask(struct view *view)
{
	const struct schema *schema = view->state;
	json_t *args = json_pack("{s:b}", "schema", 1);

	if (schema->words.word[0][0] && strcmp(schema->words.word[0], "-") != 0)
		json_object_set_new(args, "job", json_string(schema->words.word[0]));
	return model_ask(console_model(view->console), LANE_LOOK, "tables", args, "journal");
}

static void collect(struct view *view, struct rows *rows)
{
	struct schema *schema = view->state;
	const struct answer *answer = ask(view);
	const json_t *row;
	size_t i;

	if (schema->generation != answer->generation) {
		json_decref(schema->made);
		schema->made = schema_changes(answer->lines);
		schema->generation = answer->generation;
	}
	json_array_foreach(schema->made, i, row) {
		if (!schema->words.word[1][0] || name_is_table(schema->words.word[1], member_text(row, "table")))
			rows_add(rows, row);
	}
}

static const struct rows_spec spec = { columns, sizeof(columns) / sizeof(*columns), cell_text, NULL, row_key, NULL, collect };

static const json_t *table_of(struct view *view, const json_t *row)
{
	const json_t *table;
	size_t i;

	json_array_foreach(ask(view)->lines, i, table) {
		if (strcmp(member_text(table, "table"), member_text(row, "table")) == 0 &&
		    strcmp(member_text(table, "job"), member_text(row, "job")) == 0)
			return table;
	}
	return NULL;
}

/* In full, where the list has cut it. */
static void change_words(const json_t *row, struct text *out)
{
	const char *column = member_text(row, "column"), *did = member_text(row, "did");

	text_add_format(out, "%s%s%s", column, *column ? ": " : "", member_text(row, "change"));
	if (*did)
		text_add_format(out, "; weir did: %s", did);
}

static void draw_pane(struct view *view, const json_t *row, struct area area)
{
	const json_t *table = table_of(view, row), *column;
	size_t i;
	int used = 1;
	OWNED(text) title = text_new(LINE_BYTES);
	OWNED(text) line = text_new(LINE_BYTES);

	text_add_format(title, "columns of %s", member_text(row, "table"));
	text_add_format(line, "%zu", json_array_size(json_object_get(table, "columns")));
	draw_rule(area, 0, title->at, line->at);
	text_clear(line);
	change_words(row, line);
	used += draw_paragraph(area, used, 1, area.cols - 2, 2, ROLE_text, text_span(line));
	text_clear(line);
	json_array_foreach(json_object_get(table, "columns"), i, column)
		text_add_format(line, "%s%s %s%s%s", i ? ", " : "", member_text(column, "name"), member_text(column, "type"),
		                member_int(column, "key_ordinal") ? " key" : "", member_bool(column, "inferred") ? " (inferred)" : "");
	used += draw_paragraph(area, used, 1, area.cols - 2, area.rows - used - 1, ROLE_dim, text_span(line));
	if (*member_text(row, "where"))
		draw_format(area, used, 1, ROLE_dim, "first message with it: %s", member_text(row, "where"));
}

static void schema_draw(struct view *view, struct area area)
{
	struct rows *rows = rows_view_rows(view);
	const json_t *row = rows_selected(view, rows);
	int list = area.rows - (row && area.rows > 12 ? PANE_ROWS : 0);

	rows_draw(view, rows, area_part(area, 0, 0, list, area.cols), true);
	if (!row)
		rows_view_nothing(area_part(area, 1, 0, area.rows - 1, area.cols), ask(view),
		                  rows_are_filtered_out(rows) ? ROWS_FILTERED_OUT : "no table has been seen yet");
	else if (list < area.rows)
		draw_pane(view, row, area_part(area, list, 0, area.rows - list, area.cols));
}

static void schema_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const struct schema *schema = view->state;

	(void)out_has_verdict;
	const char *table = schema->words.word[1], *of = *table && strcmp(table, "-") != 0 ? table : schema->words.word[0];

	text_add_format(out, "schema%s%s", *of ? " of " : "", of);
}

static void schema_status(struct view *view, struct text *left, struct text *right)
{
	text_add(left, "newest first");
	rows_status(view, rows_view_rows(view), right);
}

static const enum action_id *schema_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_open, ACTION_filter, ACTION_acts, ACTION_copy, ACTION_zone, ACTION_back,
		                                ACTIONS };

	(void)view;
	return hints;
}

static bool schema_subject(struct view *view, struct subject *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	if (!row)
		return false;
	snprintf(out->job, sizeof(out->job), "%s", member_text(row, "job"));
	snprintf(out->table, sizeof(out->table), "%s", member_text(row, "table"));
	return true;
}

static bool schema_act(struct view *view, enum action_id action, const char *argument)
{
	struct subject subject = { 0 };
	OWNED(text) where = text_new(LINE_BYTES);

	if (action != ACTION_open)
		return rows_act(view, rows_view_rows(view), action, argument);
	if (schema_subject(view, &subject)) {
		letters_argument(&subject, where);
		console_go(view->console, "why", where->at);
	}
	return true;
}

static bool schema_copy(struct view *view, bool is_finding, struct text *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	if (!row)
		return false;
	text_add(out, member_text(row, "table"));
	if (is_finding) {
		text_add_char(out, ' ');
		change_words(row, out);
		text_add_format(out, ", at %s, %s", member_text(row, "time"), member_text(row, "where"));
	}
	return true;
}

static bool schema_open(struct view *view, struct error *err)
{
	struct schema *schema = memory_zalloc(sizeof(*schema));

	name_words(view->argument, 2, &schema->words);
	if (!known_table(view->console, schema->words.word[0], schema->words.word[1], err)) {
		free(schema);
		return false;
	}
	schema->rows = rows_new(&spec);
	schema->made = json_array();
	view->state = schema;
	return true;
}

static void schema_close(struct view *view)
{
	json_decref(((struct schema *)view->state)->made);
	rows_view_close(view);
}

static const enum action_id schema_own[] = { ACTION_sort, ACTION_sort_reverse, ACTIONS };

const struct view_ops view_schema = {
	.name = "schema",
	.table = "schema",
	.help = "columns over time: what changed at the source, when, and what weir did",
	.open = schema_open,
	.close = schema_close,
	.draw = schema_draw,
	.title = schema_title,
	.status = schema_status,
	.own = schema_own,
	.hints = schema_hints,
	.act = schema_act,
	.subject = schema_subject,
	.copy = schema_copy,
	.fields = rows_view_fields,
	.filter = rows_view_filter,
	.filter_text = rows_view_filter_text,
};
