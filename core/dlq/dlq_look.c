/*
 * Looking at letters: one JSON object a row. A listing reads a page, lets go of
 * the file and goes on after the last number, so that a slow reader holds
 * nothing and may change letters while it reads.
 */
#include "base/clock.h"
#include "dlq/dlq_private.h"

#include <inttypes.h>
#include <stdlib.h>

struct look {
	struct dlq *dlq;
	const struct dlq_filter *filter;
	int state;               /* -1: all */
	dlq_line on_line;
	void *context;
	struct text *lines[PAGE_ROWS];
	size_t count;
	int64_t last_id;
};

static bool look_init(struct look *look, struct dlq *dlq, const struct dlq_filter *filter, dlq_line on_line,
                      void *context, struct error *err)
{
	enum letter_state state = LETTER_NEW;

	if (filter->state && !letter_state_find(filter->state, &state, err))
		return false;
	*look = (struct look){ .dlq = dlq, .filter = filter, .state = filter->state ? (int)state : -1,
	                       .on_line = on_line, .context = context,
	                       .last_id = filter->before ? filter->before : filter->after };
	return true;
}

static struct text *look_add(struct look *look)
{
	return look->lines[look->count++] = text_new(LINE_LIMIT);
}

/* False when the reader has had enough. The page is gone either way. */
static bool look_hand_out(struct look *look)
{
	bool goes_on = true;

	for (size_t i = 0; i < look->count; i++) {
		goes_on = goes_on && look->on_line(look->context, look->lines[i]->at);
		text_free(look->lines[i]);
	}
	look->count = 0;
	return goes_on;
}

static void look_drop(struct look *look)
{
	for (size_t i = 0; i < look->count; i++)
		text_free(look->lines[i]);
	look->count = 0;
}

/*
 * Letters.
 */

static sqlite3_stmt *list_statement(struct look *look, struct error *err)
{
	int64_t group = look->filter->group;
	int64_t id = look->filter->id;
	bool is_back = look->filter->before;
	enum dlq_statement which = group ? (is_back ? LIST_GROUP_BACK : LIST_GROUP) : is_back ? LIST_ALL_BACK : LIST_ALL;
	sqlite3_stmt *stmt = dlq_statement(look->dlq, id ? LIST_ONE : which, err);

	if (!stmt)
		return NULL;
	sqlite3_bind_int64(stmt, 1, id ? id : look->last_id);
	if (id)
		return stmt;
	sqlite3_bind_int(stmt, 2, look->state);
	sqlite3_bind_int(stmt, 3, PAGE_ROWS);
	if (group)
		sqlite3_bind_int64(stmt, 4, group);
	return stmt;
}

static bool is_wanted(const struct look *look, sqlite3_stmt *row)
{
	return (look->state < 0 || sqlite3_column_int(row, COL_STATE) == look->state) &&
	       (!look->filter->group || sqlite3_column_int64(row, COL_GROUP) == look->filter->group);
}

static bool list_row(struct look *look, sqlite3_stmt *row, struct error *err)
{
	struct text *out;

	if (!is_wanted(look, row))
		return true;
	out = look_add(look);
	letter_json(out, row, look->filter);
	text_add_char(out, '}');
	return dlq_json_is_whole(look->dlq, out, err);
}

static bool list_page(struct look *look, size_t *out_rows, struct error *err)
{
	sqlite3_stmt *stmt = list_statement(look, err);
	bool has_row = false;
	bool is_fine;
	size_t rows = 0;

	while ((is_fine = dlq_row(look->dlq, stmt, &has_row, err)) && has_row) {
		rows++;
		look->last_id = sqlite3_column_int64(stmt, COL_ID);
		if (!list_row(look, stmt, err)) {
			sqlite3_reset(stmt);
			return false;
		}
	}
	*out_rows = rows;
	return is_fine;
}

bool dlq_list(struct dlq *dlq, const struct dlq_filter *filter, dlq_line on_line, void *context, struct error *err)
{
	struct look look;
	size_t rows = PAGE_ROWS;

	if (!look_init(&look, dlq, filter, on_line, context, err))
		return false;
	while (rows == PAGE_ROWS) {
		if (!list_page(&look, &rows, err)) {
			look_drop(&look);
			return false;
		}
		if (!look_hand_out(&look))
			return true;
	}
	return true;
}

/*
 * Groups.
 */

#define MINUTE_US INT64_C(60000000)

struct group_sum {
	int64_t count, open;
	int64_t late; /* of the last minute */
	int state; /* the most urgent */
};

static bool group_sum(struct look *look, int64_t group, struct group_sum *out, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(look->dlq, LIST_GROUP_STATES, err);
	bool has_row = false;
	bool is_fine;
	struct group_sum sum = { .state = -1 };

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, group);
	while ((is_fine = dlq_row(look->dlq, stmt, &has_row, err)) && has_row) {
		int state = sqlite3_column_int(stmt, 0);

		if (state < 0 || state >= LETTER_STATES || (look->state >= 0 && state != look->state))
			continue;
		sum.count += sqlite3_column_int64(stmt, 1);
		sum.open += letter_states[state].is_open ? sqlite3_column_int64(stmt, 1) : 0;
		if (sum.state < 0 || letter_states[state].urgency > letter_states[sum.state].urgency)
			sum.state = state;
	}
	if (is_fine)
		*out = sum;
	return is_fine;
}

/* Most groups have got none for long, and are not looked at for it. */
static bool group_late(struct look *look, int64_t group, int64_t last_us, int64_t *out, struct error *err)
{
	int64_t since_us = clock_utc_us() - MINUTE_US;
	sqlite3_stmt *stmt;
	bool has_row = false;

	*out = 0;
	if (last_us < since_us)
		return true;
	stmt = dlq_statement(look->dlq, LIST_GROUP_LATE, err);
	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, group);
	sqlite3_bind_int64(stmt, 2, since_us);
	if (!dlq_row(look->dlq, stmt, &has_row, err))
		return false;
	*out = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	return true;
}

/* Letters beyond the limit of groups share one a code, which has no table. */
static void group_json(struct text *out, sqlite3_stmt *row, const struct group_sum *sum, const char *job)
{
	struct span stage = store_text(row, 1);
	struct span table = store_text(row, 3);

	text_add_format(out, "{\"group\":%" PRId64, (int64_t)sqlite3_column_int64(row, 0));
	member_text(out, "job", span_of(job));
	member_text_or_null(out, "stage", stage);
	member_text(out, "code", store_text(row, 2));
	member_text(out, "table", table.len ? table : SPAN("-"));
	member_text_or_null(out, "column", store_text(row, 4));
	member_int(out, "count", sum->count);
	member_int(out, "open", sum->open);
	member_int(out, "last_minute", sum->late);
	member_int(out, "keys", sqlite3_column_int64(row, 5));
	member_time(out, "first", sqlite3_column_int64(row, 6));
	member_time(out, "last", sqlite3_column_int64(row, 7));
	member_text(out, "state", span_of(letter_states[sum->state].word));
	member_int(out, "sample", sqlite3_column_int64(row, 8));
	text_add_char(out, '}');
}

static bool groups_page(struct look *look, size_t *out_rows, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(look->dlq, LIST_GROUPS, err);
	bool has_row = false;
	bool is_fine;
	size_t rows = 0;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, look->last_id);
	sqlite3_bind_int(stmt, 2, PAGE_ROWS);
	while ((is_fine = dlq_row(look->dlq, stmt, &has_row, err)) && has_row) {
		struct group_sum sum;

		rows++;
		look->last_id = sqlite3_column_int64(stmt, 0);
		if (!group_sum(look, look->last_id, &sum, err) ||
		    !group_late(look, look->last_id, sqlite3_column_int64(stmt, 7), &sum.late, err)) {
			sqlite3_reset(stmt);
			return false;
		}
		if (sum.count && (!look->filter->group || look->filter->group == look->last_id))
			group_json(look_add(look), stmt, &sum, look->filter->job);
	}
	*out_rows = rows;
	return is_fine;
}

bool dlq_groups(struct dlq *dlq, const struct dlq_filter *filter, dlq_line on_line, void *context, struct error *err)
{
	struct look look;
	size_t rows = PAGE_ROWS;

	if (!look_init(&look, dlq, filter, on_line, context, err))
		return false;
	while (rows == PAGE_ROWS) {
		if (!groups_page(&look, &rows, err)) {
			look_drop(&look);
			return false;
		}
		if (!look_hand_out(&look))
			return true;
	}
	return true;
}

bool dlq_open_count(struct dlq *dlq, const char *table, uint64_t *out_open, uint64_t *out_needs, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, COUNT_STATES, err);
	uint64_t open = 0, needs = 0;
	bool has_row = false;
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(table));
	while ((is_fine = dlq_row(dlq, stmt, &has_row, err)) && has_row) {
		int state = sqlite3_column_int(stmt, 0);
		uint64_t count = (uint64_t)sqlite3_column_int64(stmt, 1);

		if (state < 0 || state >= LETTER_STATES)
			continue;
		open += letter_states[state].is_open ? count : 0;
		needs += letter_states[state].needs_you ? count : 0;
	}
	if (!is_fine)
		return false;
	*out_open = open;
	*out_needs = needs;
	return true;
}

static void trouble_json(struct text *out, sqlite3_stmt *row)
{
	struct span table = store_text(row, 0);

	member_first(out, "table", table.len ? table : SPAN("-"));
	member_int(out, "group", sqlite3_column_int64(row, 1));
	member_text(out, "code", store_text(row, 2));
	member_text_or_null(out, "column", store_text(row, 3));
	member_time(out, "since", sqlite3_column_int64(row, 4));
	member_int(out, "sample", sqlite3_column_int64(row, 5));
	member_int(out, "count", sqlite3_column_int64(row, 6));
	text_add_char(out, '}');
}

char *dlq_troubles_json(struct dlq *dlq, const char *table, struct error *err)
{
	return table_array(dlq, TROUBLES, table, trouble_json, err);
}
