/*
 * What has been merged is brought to the disk before anybody remembers it: the
 * replica's own file is synced at checkpoints only, and what a store remembers must
 * not be more than what a power cut leaves.
 */
#include "sink/merger_private.h"

static bool settled_read(struct merger *merger, void (*on_replica)(void *context, const struct witness *replica),
                         void *context, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(merger->replica_store, "SELECT table_name, made_from, watermark FROM _weir_replica "
	                                                          "WHERE dataset=?1", err);
	bool has_row = false, is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(merger->changelog_dataset));
	while ((is_fine = store_step(merger->replica_store, stmt, &has_row, err)) && has_row) {
		struct witness replica = { store_text(stmt, 0).at, store_text(stmt, 1).at, sqlite3_column_int64(stmt, 2) };

		on_replica(context, &replica);
	}
	sqlite3_finalize(stmt);
	return is_fine;
}

/* A commit with FULL brings the log behind it to the disk, and all that stands before it in the log. */
static const char settle_sql[] =
	"PRAGMA synchronous=FULL; BEGIN IMMEDIATE;"
	"UPDATE _weir_replica SET watermark=watermark WHERE table_name=(SELECT min(table_name) FROM _weir_replica)";

bool merger_settle(struct merger *merger, void (*on_replica)(void *context, const struct witness *replica), void *context,
                   struct error *err)
{
	bool is_fine = store_exec(merger->replica_store, settle_sql, err) && store_commit(merger->replica_store, err);
	struct error ignored = { 0 };

	store_rollback(merger->replica_store);
	if (merger->is_relaxed)
		store_exec(merger->replica_store, "PRAGMA synchronous=NORMAL", &ignored);
	return is_fine && settled_read(merger, on_replica, context, err);
}
