/* Which table the merger takes next: how much waits, and since when. */
#include "sink/merger_private.h"

#include <inttypes.h>

bool merger_refresh(struct merger *merger, struct error *err)
{
	arena_reset(merger->catalog);
	return catalog_tables_read(merger->changelog_store, merger->job, true, merger->catalog, &merger->tables,
	                           &merger->table_count, err);
}

/* The watermark as stored, without opening the replica. */
bool merger_watermark(struct merger *merger, struct span table, int64_t *out, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(merger->replica_store, "SELECT watermark FROM _weir_replica WHERE table_name=?1", err);
	bool has_row = false;
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, table);
	is_fine = store_step(merger->replica_store, stmt, &has_row, err);
	if (is_fine)
		*out = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return is_fine;
}

struct waiting {
	int64_t changes;
	int64_t since_us; /* when the first that waits was received */
};

static bool waiting_look(struct merger *merger, struct span name, int64_t watermark, struct waiting *out,
                         struct error *err)
{
	struct text *sql = sql_new("SELECT (SELECT coalesce(max(rowid), 0) FROM ");
	struct span changelog = changelog_name(merger->catalog, name);
	sqlite3_stmt *stmt;
	bool has_row = false;
	bool is_fine;

	sql_name(sql, changelog);
	text_add(sql, "), (SELECT _weir_received FROM ");
	sql_name(sql, changelog);
	text_add(sql, " WHERE rowid > ?1 ORDER BY rowid LIMIT 1)");
	if (!(stmt = sql_prepare(sql, merger->changelog_store, err)))
		return false;
	sqlite3_bind_int64(stmt, 1, watermark);
	is_fine = store_step(merger->changelog_store, stmt, &has_row, err);
	if (is_fine)
		*out = (struct waiting){ sqlite3_column_int64(stmt, 0) - watermark, sqlite3_column_int64(stmt, 1) };
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool table_waiting(struct merger *merger, const struct catalog_table *table, struct waiting *out,
                          struct error *err)
{
	OWNED(text) ignored = text_new(256);
	struct standing standing;

	*out = (struct waiting){ 0 };
	if (!table->schema.key_count)
		return true;
	if (!standing_read(merger->replica_store, table->schema.name, merger->catalog, &standing, err))
		return false;
	/* It waits for somebody, not for us. */
	if (replica_is_lost(&merger->setup, table, &standing, ignored))
		return true;
	if (!waiting_look(merger, table->schema.name, standing.watermark, out, err))
		return false;
	if (out->changes < 0)
		return fail(err, ERROR_BUG, "replica_ahead", "table '%.*s': its replica has merged %" PRId64 " changes more than "
		            "the changelog holds", SPAN_ARG(table->schema.name), -out->changes);
	return true;
}

bool merger_waiting(struct merger *merger, uint64_t *out_changes, struct error *err)
{
	uint64_t sum = 0;

	if (!merger_refresh(merger, err))
		return false;
	for (size_t i = 0; i < merger->table_count; i++) {
		struct waiting waiting;

		if (!table_waiting(merger, &merger->tables[i], &waiting, err))
			return false;
		sum += (uint64_t)waiting.changes;
	}
	*out_changes = sum;
	return true;
}

bool merger_choose(struct merger *merger, const char *name, const struct catalog_table **out, bool *out_others,
                   struct error *err)
{
	int64_t since_us = INT64_MAX;
	size_t count = 0;

	*out = NULL;
	for (size_t i = 0; i < merger->table_count; i++) {
		struct waiting waiting;

		if (name && !span_is(merger->tables[i].schema.name, name))
			continue;
		if (!table_waiting(merger, &merger->tables[i], &waiting, err))
			return false;
		if (!waiting.changes)
			continue;
		count++;
		if (waiting.since_us < since_us) {
			since_us = waiting.since_us;
			*out = &merger->tables[i];
		}
	}
	*out_others = count > 1;
	return true;
}

bool merger_last(struct merger *merger, const struct catalog_table *table, int64_t *out, struct error *err)
{
	struct text *sql = sql_new("SELECT coalesce(max(rowid), 0) FROM ");
	sqlite3_stmt *stmt;
	bool has_row = false, is_fine;

	sql_name(sql, changelog_name(merger->catalog, table->schema.name));
	if (!(stmt = sql_prepare(sql, merger->changelog_store, err)))
		return false;
	is_fine = store_step(merger->changelog_store, stmt, &has_row, err);
	if (is_fine)
		*out = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return is_fine;
}
