/* The columns of the list of groups, and what stands in them. */
#include "view/dlq_private.h"
#include "view/looked.h"
#include "widget/chart.h"

enum column { NUMBER, COUNT, MINUTE, FIRST, LAST, STAGE, REASON, WHERE, STATE, JOB, KEYS };

const struct list_column dlq_columns[] = {
	[NUMBER] = { "#", "group", 3, 1, 0, 0, false, '#' },
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
const size_t dlq_column_count = sizeof(dlq_columns) / sizeof(*dlq_columns);

bool dlq_number(const json_t *row, size_t column, double *out)
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

void dlq_cell(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	const char *where = member_text(row, "column");

	switch ((enum column)column) {
	case NUMBER: text_add_format(out, "%s%lld", dlq_is_new(row) ? "+" : "", (long long)member_int(row, "group")); return;
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

bool dlq_is_open(const json_t *row)
{
	const char *state = member_text(row, "state");

	return strcmp(state, "done") != 0 && strcmp(state, "discarded") != 0;
}

enum role dlq_role(const struct console *console, const json_t *row, size_t column)
{
	if (column == NUMBER && dlq_is_new(row))
		return ROLE_fresh;
	if (column == STATE && (strcmp(member_text(row, "state"), "new") == 0 || strcmp(member_text(row, "state"), "failed again") == 0))
		return ROLE_fresh;
	return console_role(console, dlq_is_open(row) ? ROLE_text : ROLE_dim);
}

/* Cells know their row alone: what was seen before is that of the list which collects its rows for them. */
static const json_t *seen_before;

void dlq_see(const json_t *before)
{
	seen_before = before;
}

bool dlq_is_new(const json_t *row)
{
	return looked_is_new(seen_before, row);
}
