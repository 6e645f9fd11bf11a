/* Is a dead letter's change the newest of its key? Asked of the replica where there is one, and of what it has not merged. */
#include "sink/newer_private.h"

static bool replica_is_newer(struct store *store, struct span table, struct span key, const unsigned char *position,
                             int64_t *out_watermark, bool *out_newer, struct error *err)
{
	struct replica *replica = replica_open(store, table, NULL, err);
	unsigned char newest[POSITION_BYTES];
	bool is_found = false;
	bool is_fine;

	if (!replica)
		return false;
	is_fine = replica_position(replica, key, newest, &is_found, err);
	if (is_fine) {
		*out_newer = (is_found && memcmp(newest, position, POSITION_BYTES) > 0) ||
		             memcmp(replica_tide(replica)->hidden, position, POSITION_BYTES) > 0;
		*out_watermark = replica_watermark(replica);
	}
	replica_free(replica);
	return is_fine;
}

/* With a replica only what it has not merged is looked through, by rowid; without one the index of positions. */
static sqlite3_stmt *changelog_prepare_newer(struct store *store, struct span table, bool has_replica, struct error *err)
{
	struct arena *arena = arena_new(1024);
	struct text *sql = sql_new("SELECT 1 FROM ");

	sql_name(sql, changelog_name(arena, table));
	text_add(sql, has_replica ? " NOT INDEXED" : "");
	text_add(sql, " WHERE rowid > ?1 AND _weir_key = ?2 AND _weir_position > ?3 LIMIT 1");
	arena_free(arena);
	return sql_prepare(sql, store, err);
}

static bool changelog_is_newer(struct store *store, struct span table, bool has_replica, int64_t watermark,
                               struct span key, const unsigned char *position, bool *out_newer, struct error *err)
{
	sqlite3_stmt *stmt = changelog_prepare_newer(store, table, has_replica, err);
	bool is_fine;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, watermark);
	store_bind_blob(stmt, 2, key);
	store_bind_blob(stmt, 3, span_make((const char *)position, POSITION_BYTES));
	is_fine = store_step(store, stmt, out_newer, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

bool newer_open_file(const struct sink_setup *setup, const char *dataset, struct store **out, struct error *err)
{
	struct error failure = { 0 };

	*out = local_open(setup->warehouse, dataset, STORE_READ, 0, 0, &failure);
	if (*out || strcmp(failure.code, "no_such_file") == 0)
		return true;
	*err = failure;
	return false;
}

static bool ask_replica(const struct sink_setup *setup, struct span table, struct span key,
                        const unsigned char *position, int64_t *out_watermark, bool *out_newer, struct error *err)
{
	struct store *store;
	bool is_fine;

	if (!newer_open_file(setup, setup->options->replica_dataset, &store, err))
		return false;
	if (!store)
		return true;
	is_fine = replica_is_newer(store, table, key, position, out_watermark, out_newer, err);
	store_close(store);
	return is_fine;
}

static bool ask_changelog(const struct sink_setup *setup, struct span table, int64_t watermark, struct span key,
                          const unsigned char *position, bool *out_newer, struct error *err)
{
	bool has_replica = setup->options->replication_mode == REPLICATION_MERGE;
	struct store *store;
	bool is_fine;

	if (!newer_open_file(setup, setup->options->change_log_dataset, &store, err))
		return false;
	if (!store)
		return true;
	is_fine = changelog_is_newer(store, table, has_replica, watermark, key, position, out_newer, err);
	store_close(store);
	return is_fine;
}

struct span newer_plain_name(const struct sink_setup *setup, const char *table)
{
	const char *dataset = setup->options->replication_mode == REPLICATION_CHANGELOG ? setup->options->change_log_dataset
	                                                                               : setup->options->replica_dataset;
	size_t len = dataset ? strlen(dataset) : 0;

	return len && strncmp(table, dataset, len) == 0 && table[len] == '.' ? span_of(table + len + 1) : span_of(table);
}

bool warehouse_has_newer(const struct sink_setup *setup, const char *table, struct span key,
                         const unsigned char *position, bool *out_newer, struct error *err)
{
	enum replication_mode mode = setup->options->replication_mode;
	struct span name = newer_plain_name(setup, table);
	int64_t watermark = 0;
	bool is_newer = false;

	if (mode != REPLICATION_CHANGELOG && !ask_replica(setup, name, key, position, &watermark, &is_newer, err))
		return false;
	if (mode != REPLICATION_UPSERT && !is_newer && !ask_changelog(setup, name, watermark, key, position, &is_newer, err))
		return false;
	*out_newer = is_newer;
	return true;
}
