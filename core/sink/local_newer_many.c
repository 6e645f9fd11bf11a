/*
 * Which of many changes are the newest of their key? As local_newer.c asks for
 * one, but with one look at the replica and one pass over what it has not merged.
 */
#include "sink/newer_private.h"

#include <stdlib.h>

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

	if (!newer_open_file(setup, setup->options->replica_dataset, &store, err))
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

static bool ask_changelog(const struct sink_setup *setup, struct span table, int64_t watermark,
                          struct newer_question *questions, size_t count, struct error *err)
{
	struct store *store;
	bool is_fine;

	if (!newer_open_file(setup, setup->options->change_log_dataset, &store, err))
		return false;
	if (!store)
		return true;
	qsort(questions, count, sizeof(*questions), compare_keys);
	is_fine = scan(store, table, watermark, questions, count, err);
	store_close(store);
	return is_fine;
}

bool warehouse_ask_newer(const struct sink_setup *setup, const char *table, struct newer_question *questions,
                         size_t count, struct error *err)
{
	struct span name = newer_plain_name(setup, table);
	int64_t watermark = 0;

	return ask_replica(setup, name, questions, count, &watermark, err) &&
	       (setup->options->replication_mode == REPLICATION_UPSERT ||
	        ask_changelog(setup, name, watermark, questions, count, err));
}
