/*
 * One replica table: where it stands (_weir_replica), its statements, and the
 * columns that follow those of the changelog.
 */
#include "sink/replica_private.h"

#include "record/key.h"

#include <stdlib.h>

void replica_forget_statements(struct replica *replica)
{
	replica->hinted = 0; /* columns may be others next */
	sql_finalize(&replica->upsert);
	sql_finalize(&replica->remove);
	sql_finalize(&replica->find);
	sql_finalize(&replica->tombstone_find);
	sql_finalize(&replica->tombstone_put);
	sql_finalize(&replica->tombstone_drop);
	sql_finalize(&replica->missing_put);
	sql_finalize(&replica->missing_drop);
}

void replica_free(struct replica *replica)
{
	if (!replica)
		return;
	replica_forget_statements(replica);
	alters_free(replica->alters);
	value_reader_free(replica->reader);
	json_doc_free(&replica->doc);
	json_doc_free(&replica->old_doc);
	json_doc_free(&replica->list);
	free(replica->doc.places);
	json_trail_free(replica->trail);
	free(replica->hints);
	arena_free(replica->scratch);
	arena_free(replica->arena);
	free(replica);
}

struct span replica_name(const struct replica *replica)
{
	return replica->name;
}

int64_t replica_watermark(const struct replica *replica)
{
	return replica->watermark;
}

struct tide *replica_tide(struct replica *replica)
{
	return &replica->tide;
}

/*
 * Opening
 */

static bool level_read(sqlite3_stmt *stmt, int column, unsigned char level[POSITION_BYTES])
{
	struct span bytes = store_blob(stmt, column);

	if (bytes.len != POSITION_BYTES)
		return false;
	memcpy(level, bytes.at, POSITION_BYTES);
	return true;
}

static bool state_check(struct replica *replica, sqlite3_stmt *stmt, struct error *err)
{
	struct span dataset = store_text(stmt, 4), changelog = store_text(stmt, 5);
	const struct replica_source *source = &replica->source;

	if (!level_read(stmt, 1, replica->tide.hidden) || !level_read(stmt, 2, replica->tide.dropped) ||
	    !level_read(stmt, 3, replica->tide.newest))
		return fail(err, ERROR_BUG, "state_damaged", "the warehouse '%s' has a position in _weir_replica that is none",
		            replica->store->path);
	if (dataset.at && source->dataset && (!span_is(dataset, source->dataset) || !span_equal(changelog, source->changelog)))
		return fail(err, ERROR_CONFIG, "name_collision", "table '%.*s' of '%s' is the replica of '%.*s.%.*s', not of "
		            "'%s.%.*s'", SPAN_ARG(replica->name), replica->store->path, SPAN_ARG(dataset),
		            SPAN_ARG(changelog), source->dataset, SPAN_ARG(source->changelog));
	return true;
}

static bool state_read(struct replica *replica, bool *out_known, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(replica->store, "SELECT watermark, hidden, dropped, newest, dataset, changelog "
	                                                   "FROM _weir_replica WHERE table_name=?1", err);
	bool has_row = false;
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, replica->name);
	is_fine = store_step(replica->store, stmt, &has_row, err);
	if (is_fine && has_row) {
		replica->watermark = sqlite3_column_int64(stmt, 0);
		is_fine = state_check(replica, stmt, err);
		memcpy(replica->hidden, replica->tide.hidden, POSITION_BYTES);
	}
	sqlite3_finalize(stmt);
	*out_known = has_row;
	return is_fine;
}

static bool has_any(struct replica *replica, const char *sql, bool *out_any, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(replica->store, sql, err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, replica->name);
	is_fine = store_step(replica->store, stmt, out_any, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

/* A table that is there but not in our books belongs to somebody else. */
static bool name_is_free(struct replica *replica, struct error *err)
{
	bool has_table;

	if (!sql_has_table(replica->store, replica->name, &has_table, err))
		return false;
	if (has_table)
		return fail(err, ERROR_CONFIG, "name_collision", "'%s' already has a table '%.*s' that is not a replica of this "
		            "job", replica->store->path, SPAN_ARG(replica->name));
	return true;
}

static bool replica_load(struct replica *replica, struct error *err)
{
	bool is_known = false;

	if (!state_read(replica, &is_known, err))
		return false;
	if (!is_known && replica->source.is_append)
		return append_adopt(replica, err);
	if (!is_known)
		return name_is_free(replica, err);
	replica->is_there = replica->source.is_append;
	if (!catalog_columns_read(replica->store, replica->name, PART_TABLE, replica->arena, &replica->schema, err))
		return false;
	/* Columns that were told before a row has told the key: there is no table yet. */
	if (!replica->schema.key_count && !replica->source.is_append)
		memset(&replica->schema, 0, sizeof(replica->schema));
	return has_any(replica, "SELECT 1 FROM _weir_deleted WHERE table_name=?1 LIMIT 1", &replica->has_deleted, err) &&
	       has_any(replica, "SELECT 1 FROM _weir_unavailable WHERE table_name=?1 LIMIT 1", &replica->has_unavailable,
	               err) &&
	       replica_alters_read(replica, err);
}

struct replica *replica_open(struct store *store, struct span table, const struct replica_source *source,
                             struct error *err)
{
	struct replica *replica = memory_zalloc(sizeof(*replica));

	replica->store = store;
	replica->alters = alters_new();
	replica->arena = arena_new(4096);
	replica->scratch = arena_new(64u << 10);
	replica->reader = value_reader_new();
	replica->name = arena_copy(replica->arena, table);
	replica->source.is_append = source && source->is_append;
	if (source && source->dataset) {
		replica->source.dataset = arena_string(replica->arena, span_of(source->dataset));
		replica->source.changelog = arena_copy(replica->arena, source->changelog);
		replica->source.identity = arena_copy(replica->arena, source->identity);
	}
	if (!replica_load(replica, err)) {
		replica_free(replica);
		return NULL;
	}
	return replica;
}

bool replica_save(struct replica *replica, int64_t watermark, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(replica->store,
		"INSERT OR REPLACE INTO _weir_replica(table_name, dataset, changelog, watermark, hidden, dropped, newest, "
		"made_from) VALUES(?1,?2,?3,?4,?5,?6,?7,?8)", err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, replica->name);
	store_bind_text(stmt, 2, span_of(replica->source.dataset));
	store_bind_text(stmt, 3, replica->source.changelog);
	sqlite3_bind_int64(stmt, 4, watermark);
	store_bind_blob(stmt, 5, span_make((const char *)replica->tide.hidden, POSITION_BYTES));
	store_bind_blob(stmt, 6, span_make((const char *)replica->tide.dropped, POSITION_BYTES));
	store_bind_blob(stmt, 7, span_make((const char *)replica->tide.newest, POSITION_BYTES));
	store_bind_text(stmt, 8, replica->source.identity.at ? replica->source.identity : SPAN(""));
	is_fine = store_run(replica->store, stmt, err);
	sqlite3_finalize(stmt);
	if (is_fine)
		replica->watermark = watermark;
	return is_fine && replica_alters_save(replica, err);
}

static bool run_with_name(struct replica *replica, const char *sql, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(replica->store, sql, err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, replica->name);
	is_fine = store_run(replica->store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

bool replica_empty(struct replica *replica, struct error *err)
{
	struct text *sql;

	replica_forget_statements(replica);
	if (replica->schema.count) {
		sql = sql_new("DROP TABLE ");
		sql_name(sql, replica->name);
		if (!sql_run(sql, replica->store, err))
			return false;
	}
	memset(&replica->tide, 0, sizeof(replica->tide));
	memset(replica->hidden, 0, sizeof(replica->hidden));
	memset(&replica->schema, 0, sizeof(replica->schema));
	replica->watermark = 0;
	alters_clear(replica->alters);
	replica->has_deleted = replica->has_unavailable = false;
	return run_with_name(replica, "DELETE FROM _weir_deleted WHERE table_name=?1", err) &&
	       run_with_name(replica, "DELETE FROM _weir_altered WHERE table_name=?1", err) &&
	       run_with_name(replica, "DELETE FROM _weir_unavailable WHERE table_name=?1", err) &&
	       run_with_name(replica, "DELETE FROM _weir_columns WHERE table_name=?1 AND part=''", err);
}
