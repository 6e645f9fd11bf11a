/*
 * How many changes have come since a moment? The changelog's row numbers are the order of arrival, so a search by halves
 * finds the first of them; nothing is read but a few rows.
 */
#include "sink/local_private.h"

static bool row_look(struct store *store, sqlite3_stmt *stmt, int64_t from, int64_t *out_row, int64_t *out_received_us,
                     struct error *err)
{
	bool has_row = false;

	sqlite3_reset(stmt);
	sqlite3_bind_int64(stmt, 1, from);
	if (!store_step(store, stmt, &has_row, err))
		return false;
	*out_row = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	*out_received_us = has_row ? sqlite3_column_int64(stmt, 1) : INT64_MAX;
	return true;
}

static bool last_row(struct store *store, struct span changelog, int64_t *out, struct error *err)
{
	struct text *sql = sql_new("SELECT coalesce(max(rowid), 0) FROM ");
	sqlite3_stmt *stmt;
	bool has_row = false, is_fine;

	sql_name(sql, changelog);
	if (!(stmt = sql_prepare(sql, store, err)))
		return false;
	is_fine = store_step(store, stmt, &has_row, err);
	*out = is_fine && has_row ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return is_fine;
}

/* Rows of one changelog that were received at or after the moment. */
static bool count_since(struct store *store, struct span changelog, int64_t since_us, uint64_t *added, struct error *err)
{
	struct text *sql = sql_new("SELECT rowid, _weir_received FROM ");
	int64_t low = 1, last = 0, row = 0, received_us = 0;
	sqlite3_stmt *stmt;
	bool is_fine;

	sql_name(sql, changelog);
	text_add(sql, " WHERE rowid >= ?1 ORDER BY rowid LIMIT 1");
	if (!(stmt = sql_prepare(sql, store, err)))
		return false;
	is_fine = last_row(store, changelog, &last, err);
	for (int64_t high = last + 1; is_fine && low < high;) {
		int64_t middle = low + (high - low) / 2;

		is_fine = row_look(store, stmt, middle, &row, &received_us, err);
		if (received_us >= since_us)
			high = middle;
		else
			low = row + 1;
	}
	if (is_fine && low <= last)
		*added += (uint64_t)(last - low + 1);
	sqlite3_finalize(stmt);
	return is_fine;
}

bool warehouse_since(const struct sink_setup *setup, int64_t since_us, uint64_t *out_changes, bool *out_known,
                     struct error *err)
{
	const struct job_options *options = setup->options;
	struct error failure = { 0 };
	struct arena *arena;
	struct store *store;
	struct catalog_table *tables = NULL;
	size_t count = 0;
	uint64_t changes = 0;
	bool is_fine;

	*out_known = options->warehouse == WAREHOUSE_LOCAL && options->replication_mode != REPLICATION_UPSERT;
	if (!*out_known)
		return true;
	store = local_open(setup->warehouse, options->change_log_dataset, STORE_READ, 0, 0, &failure);
	if (!store && strcmp(failure.code, "no_such_file") != 0) {
		*err = failure;
		return false;
	}
	arena = arena_new(1 << 16);
	is_fine = !store || catalog_tables_read(store, options->name, true, arena, &tables, &count, err);
	for (size_t i = 0; is_fine && i < count; i++)
		is_fine = count_since(store, changelog_name(arena, tables[i].schema.name), since_us, &changes, err);
	store_close(store);
	arena_free(arena);
	if (is_fine)
		*out_changes = changes;
	return is_fine;
}
