/* Discarding letters: nothing is deleted, nobody is asked to look at them any more. */
#include "dlq/dlq_private.h"

#include <inttypes.h>

static bool run_with(struct dlq *dlq, enum dlq_statement which, int64_t parameter, uint64_t *out_count,
                     struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, which, err);
	bool has_row = false;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, parameter);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	if (has_row) {
		*out_count = (uint64_t)sqlite3_column_int64(stmt, 0);
		sqlite3_reset(stmt);
	}
	return true;
}

/* The number is typed by somebody who has looked: if it is another one now, they have not seen all of it. */
static bool discard(struct dlq *dlq, int64_t group, int64_t id, uint64_t confirm, struct error *err)
{
	uint64_t open = 0;

	if (!run_with(dlq, group ? OPEN_IN_GROUP : OPEN_ONE, group ? group : id, &open, err))
		return false;
	if (open != confirm)
		return fail(err, ERROR_USAGE, "count_differs", "%s %" PRId64 " has %" PRIu64 " open letters, not %" PRIu64
		            "; nothing was discarded", group ? "group" : "letter", group ? group : id, open, confirm);
	return run_with(dlq, group ? DISCARD_GROUP : DISCARD_ONE, group ? group : id, &open, err);
}

bool dlq_discard(struct dlq *dlq, int64_t group, int64_t id, uint64_t confirm, struct error *err)
{
	if (!dlq_begin(dlq, err))
		return false;
	if (discard(dlq, group, id, confirm, err) && dlq_commit(dlq, err))
		return true;
	dlq_rollback(dlq);
	return false;
}
