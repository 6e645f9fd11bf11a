/* What the job has brought into the warehouse, remembered where the loss of a file of it does not reach. */
#include "dlq/dlq_private.h"

bool dlq_remember(struct dlq *dlq, const char *dataset, const char *table, const char *identity, int64_t level,
                  struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, REMEMBER, err);

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(dataset));
	store_bind_text(stmt, 2, span_of(table));
	store_bind_text(stmt, 3, span_of(identity));
	sqlite3_bind_int64(stmt, 4, level);
	return dlq_run(dlq, stmt, err);
}

bool dlq_forget(struct dlq *dlq, const char *dataset, const char *table, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, FORGET, err);

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(dataset));
	store_bind_text(stmt, 2, span_of(table));
	return dlq_run(dlq, stmt, err);
}

bool dlq_remembered(struct dlq *dlq, const char *dataset,
                    void (*on_row)(void *context, struct span table, struct span identity, int64_t level), void *context,
                    struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, REMEMBERED, err);
	bool has_row = false, is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(dataset));
	while ((is_fine = dlq_row(dlq, stmt, &has_row, err)) && has_row)
		on_row(context, store_text(stmt, 0), store_text(stmt, 1), sqlite3_column_int64(stmt, 2));
	return is_fine;
}
