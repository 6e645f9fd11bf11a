/*
 * The overview's rows: jobs worst first, each with those of its tables that are not ok,
 * out of `weir status --json`, and what stands in their cells.
 */
#include "view/overview_private.h"

#include "base/arena.h"
#include "view/facts.h"
#include "view/names.h"
#include "view/rows.h"

enum column { STATE, NAME, LAG, IN, OUT, ERRORS, LETTERS, PARKED, SINCE, REASON };

static const struct list_column columns[] = {
	[STATE] = { "STATE", "state", 11, -1, 0, 0, false, 's' },
	[NAME] = { "JOB / TABLE", "table", 15, ALIGN_NAME, 0, 0, false, 'j' },
	[LAG] = { "LAG", "lag", 5, 1, 0, 0, false, 'l' },
	[IN] = { "IN/S", "in", 5, 1, 6, 72, false, 'i' },
	[OUT] = { "OUT/S", "out", 5, 1, 5, 72, false, 'o' },
	[ERRORS] = { "ERR/M", "errors", 5, 1, 4, 72, false, 'e' },
	[LETTERS] = { "DLQ", "dlq", 6, 1, 2, 90, false, 'd' },
	[PARKED] = { "PARKED", "parked", 6, 1, 1, 90, false, 'p' },
	[SINCE] = { "SINCE", NULL, 5, 1, 3, 72, false, 0 },
	[REASON] = { "REASON", "reason", 10, -1, 0, 0, true, 'r' },
};

const json_t *overview_thing(const struct overview_row *row)
{
	return row->table ? row->table : row->job;
}

const char *overview_name(const struct overview_row *row)
{
	return member_text(overview_thing(row), row->table ? "table" : "job");
}

const char *overview_state(const struct overview_row *row)
{
	return member_text(overview_thing(row), row->table ? "state" : "worst");
}

/*
 * Cells
 */

static bool cell_number(const void *context, size_t at, size_t column, double *out)
{
	return fact_number(overview_thing(&((const struct overview_glance *)context)->overview->rows[at]), columns[column].field, out);
}

/* Of the job itself, whatever its tables are. */
static bool is_own_trouble(const json_t *job)
{
	const char *state = member_text(job, "own_state");

	return strcmp(state, "needs you") == 0 || strcmp(state, "waiting") == 0 || strcmp(state, "retrying") == 0;
}

/* Its own reason if its own thread is in trouble, else how its tables are. */
bool overview_is_stopped(const json_t *job)
{
	return strcmp(member_text(job, "own_state"), "stopped") == 0;
}

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
	else if (bad && overview_is_stopped(job))
		text_add_format(out, "stopped; %zu not ok", bad); /* its state is that of the worst table */
	else if (bad)
		text_add_format(out, "%zu of %zu not ok", bad, all);
	else
		text_add_format(out, "%zu table%s ok", all, all == 1 ? "" : "s");
}

/* A job whose own thread is at rest is as it is since its worst table is. */
static const char *since_of(const struct overview_row *row)
{
	const json_t *tables = json_object_get(row->job, "tables"), *table;
	const char *since = member_text(overview_thing(row), "since");
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
	const struct overview_glance *glance = context;
	const struct overview_row *row = &glance->overview->rows[at];
	const json_t *thing = overview_thing(row);
	switch ((int)column) {
	case STATE: text_add(out, state_column(overview_state(row))); return;
	case NAME: text_add_format(out, "%s%s", row->table ? " " : "", overview_name(row)); return;
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
	const struct overview_row *row = &((const struct overview_glance *)context)->overview->rows[at];

	snprintf(out, LIST_KEY_BYTES, "%s\n%s", member_text(row->job, "job"), member_text(row->table, "table"));
}

static enum role cell_role(const void *context, size_t at, size_t column)
{
	const struct overview_glance *glance = context;

	if (column == STATE && !console_is_blind(glance->console))
		return state_role(overview_state(&glance->overview->rows[at]));
	return console_role(glance->console, ROLE_text);
}

/*
 * Rows
 */

static void row_add(struct overview *overview, const json_t *job, const json_t *table)
{
	if (overview->count == overview->room) {
		overview->room = overview->room * 2 + 32;
		overview->rows = memory_grow(overview->rows, overview->room * sizeof(*overview->rows));
	}
	overview->rows[overview->count++] = (struct overview_row){ job, table };
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
		for (int rank = 0; rank < STATE_RANKS; rank++) { /* worst first */
			json_array_foreach(json_object_get(job, "tables"), j, table) {
				const char *state = member_text(table, "state");

				if (state_rank(state) != rank)
					continue;
				if (!is_fine(state) || (overview->is_unfolded && !trouble_only))
					row_add(overview, job, table);
				else
					overview->folded++;
			}
		}
	}
	overview->generation++;
}

const struct answer *overview_ask(struct model *model)
{
	return model_ask(model, LANE_LOOK, "status", NULL, "jobs journal");
}

static struct list_source source_of(const struct view *view, const struct overview_glance *glance)
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
		const struct overview_row *row = &overview->rows[i];

		if (row->table ? !is_fine(overview_state(row)) : is_own_trouble(row->job)) {
			list_select_row(overview->list, source, i);
			return;
		}
	}
}

struct list_source overview_rows(struct view *view, struct overview_glance *glance)
{
	struct overview *overview = view->state;

	*glance = (struct overview_glance){ overview, view->console };
	rows_make(overview, overview_ask(console_model(view->console)), console_is_trouble_only(view->console));
	struct list_source source = source_of(view, glance);

	list_update(overview->list, &source);
	cursor_place(overview, &source);
	return source;
}

const struct overview_row *overview_selected(struct view *view)
{
	struct overview *overview = view->state;
	struct overview_glance glance;

	overview_rows(view, &glance);
	size_t at = list_selected(overview->list);

	return at == LIST_NONE ? NULL : &overview->rows[at];
}
