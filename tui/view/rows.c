/* A list of objects of an answer; see rows.h. */
#include "view/rows.h"
#include "base/arena.h"

#include <stdlib.h>

#define SAY_BYTES 1024

struct rows {
	const struct rows_spec *spec;
	const struct console *console;
	struct list *list;
	const json_t **row;
	size_t count, room;
	unsigned generation;
	const char *fields[LIST_COLUMNS_MAX + 1];
	struct list_column columns[LIST_COLUMNS_MAX]; /* the spec's, where rows of several jobs stand together */
};

struct rows *rows_new(const struct rows_spec *spec)
{
	struct rows *rows = memory_zalloc(sizeof(*rows));
	size_t count = 0;

	rows->spec = spec;
	rows->list = list_new();
	for (size_t i = 0; i < spec->column_count; i++) {
		if (spec->columns[i].field)
			rows->fields[count++] = spec->columns[i].field;
	}
	return rows;
}

void rows_free(struct rows *rows)
{
	if (!rows)
		return;
	list_free(rows->list);
	free(rows->row);
	free(rows);
}

void rows_add(struct rows *rows, const json_t *row)
{
	if (rows->count == rows->room) {
		rows->room = rows->room * 2 + 32;
		rows->row = memory_grow(rows->row, rows->room * sizeof(*rows->row));
	}
	rows->row[rows->count++] = row;
}

static void cell_of(const void *context, size_t at, size_t column, struct text *out)
{
	const struct rows *rows = context;

	rows->spec->cell(rows->console, rows->row[at], column, out);
}

static bool number_of(const void *context, size_t at, size_t column, double *out)
{
	const struct rows *rows = context;

	return rows->spec->number && rows->spec->number(rows->row[at], column, out);
}

static void key_of(const void *context, size_t at, char out[LIST_KEY_BYTES])
{
	const struct rows *rows = context;

	rows->spec->key(rows->row[at], out);
}

static enum role role_of(const void *context, size_t at, size_t column)
{
	const struct rows *rows = context;

	if (rows->spec->role)
		return rows->spec->role(rows->console, rows->row[at], column);
	if (column == 0 && strcmp(rows->spec->columns[0].head, "STATE") == 0 && !console_is_blind(rows->console))
		return state_role(member_text(rows->row[at], "state"));
	return console_role(rows->console, ROLE_text);
}

static bool are_of_many_jobs(const struct rows *rows)
{
	for (size_t i = 1; i < rows->count; i++) {
		if (strcmp(member_text(rows->row[i], "job"), member_text(rows->row[0], "job")) != 0)
			return true;
	}
	return false;
}

/* A column of jobs that only wide screens show; the count of columns if there is none. */
static size_t job_column(const struct rows_spec *spec)
{
	size_t i = 0;

	while (i < spec->column_count && (!spec->columns[i].field || strcmp(spec->columns[i].field, "job") != 0 ||
	                                  !spec->columns[i].wide || spec->columns[i].wide == LIST_HIDDEN))
		i++;
	return i;
}

/* Two rows of one table's name look alike without their jobs: that column comes at any width then, and leaves last. */
static const struct list_column *columns_now(struct rows *rows)
{
	const struct rows_spec *spec = rows->spec;
	size_t job = job_column(spec);

	if (job == spec->column_count || !are_of_many_jobs(rows))
		return spec->columns;
	memcpy(rows->columns, spec->columns, spec->column_count * sizeof(*spec->columns));
	rows->columns[job].wide = 0;
	rows->columns[job].leave = LIST_LEAVES_LAST;
	return rows->columns;
}

static struct list_source rows_now(struct view *view, struct rows *rows)
{
	struct list_source source = { .column_count = rows->spec->column_count, .context = rows, .cell = cell_of,
		                      .number = number_of, .key = key_of, .role = role_of };

	rows->console = view->console;
	rows->count = 0;
	rows->spec->collect(view, rows);
	source.columns = columns_now(rows);
	source.count = rows->count;
	source.generation = ++rows->generation;
	list_update(rows->list, &source);
	return source;
}

void rows_draw(struct view *view, struct rows *rows, struct area area, bool has_focus)
{
	struct list_source source = rows_now(view, rows);

	list_draw(rows->list, &source, area, has_focus);
}

/* A mark that no act would ever look at only puzzles. */
static bool is_useless_mark(const struct view *view, enum action_id action)
{
	static const enum action_id marks[] = { ACTION_mark, ACTION_mark_range, ACTION_mark_all, ACTION_mark_none };

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		if (action == marks[i])
			return !view_means(view->ops, action);
	}
	return false;
}

bool rows_act(struct view *view, struct rows *rows, enum action_id action, const char *argument)
{
	if (is_useless_mark(view, action))
		return false;

	struct list_source source = rows_now(view, rows);
	OWNED(text) say = text_new(SAY_BYTES);
	bool is_mine = list_act(rows->list, &source, action, argument, say);

	if (say->len)
		console_say(view->console, "%s", say->at);
	return is_mine;
}

const json_t *rows_selected(struct view *view, struct rows *rows)
{
	rows_now(view, rows);
	size_t at = list_selected(rows->list);

	return at == LIST_NONE ? NULL : rows->row[at];
}

const json_t *rows_at(const struct rows *rows, size_t place)
{
	return place < list_shown(rows->list) ? rows->row[list_row_at(rows->list, place)] : NULL;
}

bool rows_select(struct view *view, struct rows *rows, const char *key)
{
	struct list_source source = rows_now(view, rows);

	return list_select(rows->list, &source, key);
}

size_t rows_count(const struct rows *rows)
{
	return list_shown(rows->list);
}

bool rows_are_filtered_out(const struct rows *rows)
{
	return rows->count && !list_shown(rows->list);
}

void rows_status(struct view *view, struct rows *rows, struct text *right)
{
	struct list_source source = rows_now(view, rows);

	list_status(rows->list, &source, right);
}

bool rows_filter(struct view *view, struct rows *rows, const char *text, struct error *err)
{
	struct list_source source = rows_now(view, rows);

	return list_filter(rows->list, &source, text, err);
}

const char *rows_filter_text(const struct rows *rows)
{
	return list_filter_text(rows->list);
}

const char *const *rows_fields(struct rows *rows)
{
	return rows->fields;
}

size_t rows_marked(struct view *view, struct rows *rows)
{
	rows_now(view, rows);
	return list_mark_count(rows->list);
}

bool rows_is_marked(const struct rows *rows, const json_t *row)
{
	struct list_source source = { .key = key_of, .context = rows };

	for (size_t i = 0; i < rows->count; i++) {
		if (rows->row[i] == row)
			return list_is_marked(rows->list, &source, i);
	}
	return false;
}

void rows_chosen(struct view *view, struct rows *rows, void (*subject_of)(const json_t *row, struct subject *out),
                 struct subjects *out)
{
	struct list_source source = rows_now(view, rows);
	size_t *chosen = memory_alloc((source.count + 1) * sizeof(*chosen));

	out->count = list_chosen(rows->list, &source, chosen, &out->how);
	out->gone = out->how == CHOSEN_MARKED ? list_mark_count(rows->list) - out->count : 0;
	out->subject = memory_zalloc((out->count + 1) * sizeof(*out->subject));
	for (size_t i = 0; i < out->count; i++)
		subject_of(rows->row[chosen[i]], &out->subject[i]);
	free(chosen);
}

struct list *rows_list(struct rows *rows)
{
	return rows->list;
}
