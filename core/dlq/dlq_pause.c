/* Paused tables: which, since when, by whom and why. They outlive the engine. */
#include "dlq/dlq_private.h"

#include "base/clock.h"

bool dlq_pause_table(struct dlq *dlq, const char *table, const char *who, const char *why, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PAUSE_ADD, err);

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(table));
	sqlite3_bind_int64(stmt, 2, clock_utc_us());
	dlq_bind_optional(stmt, 3, span_of(who));
	dlq_bind_optional(stmt, 4, span_of(why));
	return dlq_run(dlq, stmt, err);
}

bool dlq_resume_table(struct dlq *dlq, const char *table, bool *out_was_paused, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PAUSE_DROP, err);

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(table));
	if (!dlq_run(dlq, stmt, err))
		return false;
	*out_was_paused = sqlite3_changes(dlq->store->db) > 0;
	return true;
}

bool dlq_paused(struct dlq *dlq, void (*on_table)(void *context, struct span table), void *context, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PAUSE_LIST, err);
	bool has_row = false;
	bool is_fine;

	if (!stmt)
		return false;
	while ((is_fine = dlq_row(dlq, stmt, &has_row, err)) && has_row)
		on_table(context, store_text(stmt, 0));
	return is_fine;
}

static void paused_json(struct text *out, sqlite3_stmt *row)
{
	member_first(out, "table", store_text(row, 0));
	member_time(out, "since", sqlite3_column_int64(row, 1));
	member_text_or_null(out, "who", store_text(row, 2));
	member_text_or_null(out, "why", store_text(row, 3));
	text_add_char(out, '}');
}

char *dlq_paused_json(struct dlq *dlq, const char *table, struct error *err)
{
	return table_array(dlq, PAUSE_LIST, table, paused_json, err);
}
