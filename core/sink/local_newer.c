/*
 * Which of many changes are the newest of their key? One look at the replica, and one pass over what it has not merged;
 * without a replica the changelog's index of positions.
 */
#include "sink/local_private.h"

#include <stdlib.h>

/* Read only; *out NULL: the file does not exist yet, and holds nothing newer. */
static bool open_file(const struct sink_setup *setup, const char *dataset, struct store **out, struct error *err)
{
	struct error failure = { 0 };

	*out = NULL;
	if (setup->options->warehouse == WAREHOUSE_BIGQUERY) /* rows that are there cannot be asked for yet */
		return true;
	*out = local_open(setup->warehouse, dataset, STORE_READ, 0, 0, &failure);
	if (*out || strcmp(failure.code, "no_such_file") == 0)
		return true;
	*err = failure;
	return false;
}

/* "orders" or "shop.orders". */
static struct span plain_name(const struct sink_setup *setup, const char *table)
{
	const char *dataset = setup->options->replication_mode == REPLICATION_CHANGELOG ? setup->options->change_log_dataset
	                                                                               : setup->options->replica_dataset;
	size_t len = dataset ? strlen(dataset) : 0;

	return len && strncmp(table, dataset, len) == 0 && table[len] == '.' ? span_of(table + len + 1) : span_of(table);
}

/*
 * With a replica
 */

static int compare_keys(const void *a, const void *b)
{
	const struct newer_question *x = a, *y = b;

	return span_compare(x->key, y->key);
}

static bool ask_rows(struct replica *replica, struct newer_question *questions, size_t count, struct error *err)
{
	const unsigned char *hidden = replica_tide(replica)->hidden;
	unsigned char newest[POSITION_BYTES];

	for (size_t i = 0; i < count; i++) {
		bool is_found = false;

		if (!replica_position(replica, questions[i].key, newest, &is_found, err))
			return false;
		questions[i].is_newer = (is_found && memcmp(newest, questions[i].position, POSITION_BYTES) > 0) ||
		                        memcmp(hidden, questions[i].position, POSITION_BYTES) > 0;
	}
	return true;
}

static bool ask_replica(const struct sink_setup *setup, struct span table, struct newer_question *questions,
                        size_t count, int64_t *out_watermark, struct error *err)
{
	struct store *store;
	struct replica *replica;
	bool is_fine;

	if (!open_file(setup, setup->options->replica_dataset, &store, err))
		return false;
	if (!store)
		return true;
	replica = replica_open(store, table, NULL, err);
	is_fine = replica && ask_rows(replica, questions, count, err);
	if (is_fine)
		*out_watermark = replica_watermark(replica);
	replica_free(replica);
	store_close(store);
	return is_fine;
}

static void mark(struct newer_question *questions, size_t count, struct span key, struct span position)
{
	struct newer_question wanted = { .key = key };
	struct newer_question *found = bsearch(&wanted, questions, count, sizeof(*questions), compare_keys);

	if (!found || position.len != POSITION_BYTES)
		return;
	while (found > questions && span_equal(found[-1].key, key))
		found--;
	for (; found < questions + count && span_equal(found->key, key); found++)
		found->is_newer = found->is_newer || memcmp(position.at, found->position, POSITION_BYTES) > 0;
}

static bool scan(struct store *store, struct span table, int64_t watermark, struct newer_question *questions,
                 size_t count, struct error *err)
{
	struct arena *arena = arena_new(1024);
	struct text *sql = sql_new("SELECT _weir_key, _weir_position FROM ");
	sqlite3_stmt *stmt;
	bool has_row = false, is_fine;

	sql_name(sql, changelog_name(arena, table));
	text_add(sql, " NOT INDEXED WHERE rowid > ?1");
	arena_free(arena);
	if (!(stmt = sql_prepare(sql, store, err)))
		return false;
	sqlite3_bind_int64(stmt, 1, watermark);
	while ((is_fine = store_step(store, stmt, &has_row, err)) && has_row)
		mark(questions, count, store_blob(stmt, 0), store_blob(stmt, 1));
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool ask_unmerged(const struct sink_setup *setup, struct span table, int64_t watermark,
                          struct newer_question *questions, size_t count, struct error *err)
{
	struct store *store;
	bool is_fine;

	if (!open_file(setup, setup->options->change_log_dataset, &store, err))
		return false;
	if (!store)
		return true;
	qsort(questions, count, sizeof(*questions), compare_keys);
	is_fine = scan(store, table, watermark, questions, count, err);
	store_close(store);
	return is_fine;
}

/*
 * Without one
 */

static sqlite3_stmt *position_prepare(struct store *store, struct span table, struct error *err)
{
	struct arena *arena = arena_new(1024);
	struct text *sql = sql_new("SELECT 1 FROM ");

	sql_name(sql, changelog_name(arena, table));
	text_add(sql, " WHERE _weir_key = ?1 AND _weir_position > ?2 LIMIT 1");
	arena_free(arena);
	return sql_prepare(sql, store, err);
}

static bool ask_positions(struct store *store, struct span table, struct newer_question *questions, size_t count,
                          struct error *err)
{
	sqlite3_stmt *stmt = position_prepare(store, table, err);
	bool is_fine = stmt != NULL;

	for (size_t i = 0; is_fine && i < count; i++) {
		sqlite3_reset(stmt);
		store_bind_blob(stmt, 1, questions[i].key);
		store_bind_blob(stmt, 2, span_make((const char *)questions[i].position, POSITION_BYTES));
		is_fine = store_step(store, stmt, &questions[i].is_newer, err);
	}
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool ask_changelog(const struct sink_setup *setup, struct span table, struct newer_question *questions,
                          size_t count, struct error *err)
{
	struct store *store;
	bool is_fine;

	if (!open_file(setup, setup->options->change_log_dataset, &store, err))
		return false;
	if (!store)
		return true;
	is_fine = ask_positions(store, table, questions, count, err);
	store_close(store);
	return is_fine;
}

bool warehouse_ask_newer(const struct sink_setup *setup, const char *table, struct newer_question *questions,
                         size_t count, struct error *err)
{
	enum replication_mode mode = setup->options->replication_mode;
	struct span name = plain_name(setup, table);
	int64_t watermark = 0;

	/* Rows that are only appended have nothing newer than themselves. */
	if (mode == REPLICATION_APPEND)
		return true;
	if (mode == REPLICATION_CHANGELOG)
		return ask_changelog(setup, name, questions, count, err);
	return ask_replica(setup, name, questions, count, &watermark, err) &&
	       (mode == REPLICATION_UPSERT || ask_unmerged(setup, name, watermark, questions, count, err));
}
