/* Groups with what is counted of them; troubles by table. A list of groups reads counts, never letters. */
#include "base/clock.h"
#include "dlq/dlq_private.h"

#include <inttypes.h>
#include <stdlib.h>

#define MINUTE_US INT64_C(60000000)

struct group_sum {
	int64_t count, open;
	int64_t late; /* of the last minute */
	int state;    /* the most urgent */
};

struct groups {
	struct dlq *dlq;
	const struct dlq_filter *filter;
	struct letter_pairs pairs;  /* by group */
	int64_t since_us;           /* the last minute began */
	uint32_t *late;             /* letters of the last minute by number of group; NULL: not counted yet */
	size_t late_count;
	struct text *lines[PAGE_ROWS];
	size_t count;
	int64_t last_id;
};

/*
 * What is counted
 */

static void late_add(struct groups *groups, int64_t group)
{
	size_t at = (size_t)group;

	if (at >= groups->late_count) {
		size_t room = at + 1024;

		groups->late = memory_grow(groups->late, room * sizeof(*groups->late));
		memset(groups->late + groups->late_count, 0, (room - groups->late_count) * sizeof(*groups->late));
		groups->late_count = room;
	}
	groups->late[at]++;
}

/* Once a listing, and only when a group says that it has got one. */
static bool late_read(struct groups *groups, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(groups->dlq, LIST_LATE, err);
	bool has_row = false, is_fine;

	if (!stmt)
		return false;
	late_add(groups, 0);
	sqlite3_bind_int64(stmt, 1, groups->since_us);
	while ((is_fine = dlq_row(groups->dlq, stmt, &has_row, err)) && has_row)
		late_add(groups, sqlite3_column_int64(stmt, 0));
	return is_fine;
}

/* Most groups have got none for long. */
static bool group_late(struct groups *groups, int64_t group, int64_t last_us, int64_t *out, struct error *err)
{
	*out = 0;
	if (last_us < groups->since_us)
		return true;
	if (!groups->late && !late_read(groups, err))
		return false;
	*out = (size_t)group < groups->late_count ? groups->late[group] : 0;
	return true;
}

static size_t first_pair(const struct letter_pairs *pairs, int64_t group)
{
	size_t low = 0, high = pairs->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (pairs->pair[middle].group < group)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct group_sum group_sum(const struct letter_pairs *pairs, int64_t group)
{
	struct group_sum sum = { .state = -1 };

	for (size_t i = first_pair(pairs, group); i < pairs->count && pairs->pair[i].group == group; i++) {
		int state = pairs->pair[i].state;

		sum.count += (int64_t)pairs->pair[i].count;
		sum.open += letter_states[state].is_open ? (int64_t)pairs->pair[i].count : 0;
		if (sum.state < 0 || letter_states[state].urgency > letter_states[sum.state].urgency)
			sum.state = state;
	}
	return sum;
}

/*
 * The list
 */

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

static bool group_row(struct groups *groups, sqlite3_stmt *row, struct error *err)
{
	int64_t group = sqlite3_column_int64(row, 0);
	struct group_sum sum = group_sum(&groups->pairs, group);

	groups->last_id = group;
	if (!sum.count)
		return true;
	if (!group_late(groups, group, sqlite3_column_int64(row, 7), &sum.late, err))
		return false;
	groups->lines[groups->count] = text_new(LINE_LIMIT);
	group_json(groups->lines[groups->count++], row, &sum, groups->filter->job);
	return true;
}

static bool groups_page(struct groups *groups, size_t *out_rows, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(groups->dlq, LIST_GROUPS, err);
	bool has_row = false, is_fine;
	size_t rows = 0;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, groups->last_id);
	sqlite3_bind_int(stmt, 2, PAGE_ROWS);
	while ((is_fine = dlq_row(groups->dlq, stmt, &has_row, err)) && has_row) {
		rows++;
		if (!group_row(groups, stmt, err)) {
			sqlite3_reset(stmt);
			return false;
		}
	}
	*out_rows = rows;
	return is_fine;
}

/* False when the reader has had enough. The page is gone either way. */
static bool page_hand_out(struct groups *groups, dlq_line on_line, void *context)
{
	bool goes_on = true;

	for (size_t i = 0; i < groups->count; i++) {
		goes_on = goes_on && on_line && on_line(context, groups->lines[i]->at);
		text_free(groups->lines[i]);
	}
	groups->count = 0;
	return goes_on;
}

static bool groups_run(struct groups *groups, dlq_line on_line, void *context, struct error *err)
{
	size_t rows = PAGE_ROWS;

	while (rows == PAGE_ROWS) {
		if (!groups_page(groups, &rows, err))
			return false;
		if (!page_hand_out(groups, on_line, context))
			return true;
	}
	return true;
}

bool dlq_groups(struct dlq *dlq, const struct dlq_filter *filter, dlq_line on_line, void *context, struct error *err)
{
	struct groups groups = { .dlq = dlq, .filter = filter, .since_us = clock_utc_us() - MINUTE_US };
	bool is_fine = pairs_read(dlq, &filter->choice, &groups.pairs, err) && groups_run(&groups, on_line, context, err);

	page_hand_out(&groups, NULL, NULL);
	pairs_clear(&groups.pairs);
	free(groups.late);
	return is_fine;
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
