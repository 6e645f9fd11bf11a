/*
 * A job's books in a dataset: the position behind its last commit, the identity of
 * the store that belongs to it, and its counters.
 */
#include "sink/local_sink_private.h"

#include <inttypes.h>

#define NUMBER_NO_TABLE (-1)

/* Remembered, not failed: whoever begins anew needs none of it. */
static void note_damage(struct local_sink *sink, const char *what)
{
	if (!sink->damage)
		sink->damage = arena_printf(sink->arena, "the %s of job '%s' in '%s' is not what was written: a bit has turned, or "
		                            "somebody has changed it; nothing was changed ('weir run %s --from-start' begins anew and "
		                            "keeps tables and letters)", what, sink->job, sink->store->path, sink->job);
}

static bool position_read(struct local_sink *sink, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(sink->store, "SELECT incarnation, identity, byte_offset, line, unparked, commits, logs, "
	                                                "digest FROM _weir_position WHERE job=?1", err);
	unsigned char made[DIGEST_BYTES];
	bool has_row = false;
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(sink->job));
	is_fine = store_step(sink->store, stmt, &has_row, err);
	if (is_fine && has_row) {
		sink->is_known = true;
		sink->known_incarnation = arena_string(sink->arena, store_text(stmt, 0));
		sink->position.identity = arena_copy(sink->arena, store_blob(stmt, 1));
		sink->position.offset = (uint64_t)sqlite3_column_int64(stmt, 2);
		sink->position.line = (uint64_t)sqlite3_column_int64(stmt, 3);
		sink->position.unparked = arena_copy(sink->arena, store_blob(stmt, 4));
		sink->commits = sqlite3_column_int64(stmt, 5);
		sink->position.logs = arena_copy(sink->arena, store_text(stmt, 6));
		digest_position(sink->job, sink->known_incarnation, &sink->position, sink->commits, made);
		if (!digest_is(store_blob(stmt, 7), made))
			note_damage(sink, "position");
	}
	sqlite3_finalize(stmt);
	return is_fine;
}

/* Counters and their columns, in the order of the statement. */
static const struct counter {
	size_t at;
} counters[] = {
	{ offsetof(struct ledger, received) },      { offsetof(struct ledger, written) },
	{ offsetof(struct ledger, filtered) },      { offsetof(struct ledger, dead_lettered) },
	{ offsetof(struct ledger, parked) },        { offsetof(struct ledger, repeated) },
	{ offsetof(struct ledger, rows) },
};
#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

static uint64_t *counter_of(struct ledger *ledger, size_t i)
{
	return (uint64_t *)(void *)((char *)ledger + counters[i].at);
}

/* As the statement has them, before they mean anything. */
static bool ledger_row_is_whole(const struct local_sink *sink, sqlite3_stmt *stmt)
{
	unsigned char made[DIGEST_BYTES];
	uint64_t counted[COUNTERS];

	for (size_t i = 0; i < COUNTERS; i++)
		counted[i] = (uint64_t)sqlite3_column_int64(stmt, (int)i + 1);
	digest_ledger(sink->job, sqlite3_column_int64(stmt, 0), store_text(stmt, COUNTERS + 1), counted, COUNTERS, made);
	return digest_is(store_blob(stmt, COUNTERS + 2), made);
}

static bool ledger_row_read(struct local_sink *sink, sqlite3_stmt *stmt, struct error *err)
{
	int64_t number = sqlite3_column_int64(stmt, 0);
	size_t at = number == NUMBER_NO_TABLE ? sink->count : (size_t)number;

	if (!ledger_row_is_whole(sink, stmt)) {
		note_damage(sink, "ledger");
		return true;
	}
	if (number < NUMBER_NO_TABLE || at > sink->count)
		return fail(err, ERROR_BUG, "ledger_mismatch", "the warehouse '%s' counts messages of table number %" PRId64
		            " of job '%s', which it does not know", sink->store->path, number, sink->job);
	for (size_t i = 0; i < COUNTERS; i++)
		*counter_of(&sink->ledgers[at], i) = (uint64_t)sqlite3_column_int64(stmt, (int)i + 1);
	return true;
}

static bool ledgers_read(struct local_sink *sink, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(sink->store,
		"SELECT number, received, written, filtered, dead_lettered, parked, repeated, row_count, "
		"table_name, digest FROM _weir_ledger "
		"WHERE job=?1", err);
	bool has_row = false;
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(sink->job));
	while ((is_fine = store_step(sink->store, stmt, &has_row, err)) && has_row) {
		if (!ledger_row_read(sink, stmt, err)) {
			is_fine = false;
			break;
		}
	}
	sqlite3_finalize(stmt);
	return is_fine;
}

/* The source of a table whose message chose it is DATASET.TABLE, and no dataset has a point in its name. */
static struct span dataset_of_source(struct span source)
{
	const char *point = source.len ? memchr(source.at, '.', source.len) : NULL;

	return point ? span_make(source.at, (size_t)(point - source.at)) : source;
}

static bool tables_read(struct local_sink *sink, struct error *err)
{
	struct catalog_table *tables;
	size_t count;

	if (!catalog_tables_read(sink->store, sink->job, !sink->is_upsert && !sink->is_append, sink->arena, &tables, &count, err))
		return false;
	sink->room = count + 16;
	sink->count = sink->committed_count = count;
	sink->tables = memory_zalloc(sink->room * sizeof(*sink->tables));
	sink->schemas = memory_zalloc(sink->room * sizeof(*sink->schemas));
	sink->ledgers = memory_zalloc((sink->room + 1) * sizeof(*sink->ledgers));
	for (size_t i = 0; i < count; i++) {
		if (sink->are_columns_by_source &&
		    !catalog_columns_read(sink->store, tables[i].schema.source, PART_TABLE, sink->arena, &tables[i].schema, err))
			return false;
		if (sink->has_own_dataset)
			tables[i].schema.dataset = dataset_of_source(tables[i].schema.source);
		sink->tables[i].schema = sink->tables[i].committed = &tables[i].schema;
		sink->tables[i].has_history_index = sink->tables[i].had_history_index = tables[i].has_history_index;
		sink->schemas[i] = &tables[i].schema;
	}
	return true;
}

bool books_read(struct local_sink *sink, struct error *err)
{
	return tables_read(sink, err) && position_read(sink, err) && ledgers_read(sink, err);
}

bool books_write_position(struct local_sink *sink, const struct source_position *position, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(sink->store,
		"INSERT INTO _weir_position(job, incarnation, identity, byte_offset, line, unparked, commits, logs, digest) "
		"VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9) ON CONFLICT(job) DO UPDATE SET incarnation=excluded.incarnation, "
		"identity=excluded.identity, byte_offset=excluded.byte_offset, line=excluded.line, unparked=excluded.unparked, "
		"commits=excluded.commits, digest=excluded.digest, logs=CASE excluded.logs WHEN '' THEN logs ELSE excluded.logs END", err);
	unsigned char made[DIGEST_BYTES];
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(sink->job));
	store_bind_text(stmt, 2, span_of(sink->incarnation));
	store_bind_blob(stmt, 3, position->identity);
	sqlite3_bind_int64(stmt, 4, (int64_t)position->offset);
	sqlite3_bind_int64(stmt, 5, (int64_t)position->line);
	store_bind_blob(stmt, 6, position->unparked);
	sqlite3_bind_int64(stmt, 7, sink->commits + 1);
	store_bind_text(stmt, 8, position->logs.at ? position->logs : span_of(""));
	digest_position(sink->job, sink->incarnation, position, sink->commits + 1, made);
	store_bind_blob(stmt, 9, span_make((const char *)made, DIGEST_BYTES));
	is_fine = store_run(sink->store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

bool books_write_ledger(struct local_sink *sink, uint32_t number, const char *name, const struct ledger *sum,
                        struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(sink->store,
		"INSERT OR REPLACE INTO _weir_ledger(job, number, table_name, received, written, filtered, dead_lettered, parked, "
		"repeated, row_count, digest) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)", err);
	unsigned char made[DIGEST_BYTES];
	uint64_t counted[COUNTERS];
	struct ledger copy = *sum;
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(sink->job));
	sqlite3_bind_int64(stmt, 2, number == BOOKS_NO_TABLE ? NUMBER_NO_TABLE : (int64_t)number);
	store_bind_text(stmt, 3, span_of(name));
	for (size_t i = 0; i < COUNTERS; i++) {
		counted[i] = *counter_of(&copy, i);
		sqlite3_bind_int64(stmt, (int)i + 4, (int64_t)counted[i]);
	}
	digest_ledger(sink->job, number == BOOKS_NO_TABLE ? NUMBER_NO_TABLE : (int64_t)number, span_of(name), counted, COUNTERS,
	              made);
	store_bind_blob(stmt, 11, span_make((const char *)made, DIGEST_BYTES));
	is_fine = store_run(sink->store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool forget_from(struct local_sink *sink, const char *sql, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(sink->store, sql, err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(sink->job));
	is_fine = store_run(sink->store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

bool books_forget(struct local_sink *sink, struct error *err)
{
	return forget_from(sink, "DELETE FROM _weir_position WHERE job=?1", err) &&
	       forget_from(sink, "DELETE FROM _weir_ledger WHERE job=?1", err) &&
	       (sink->commits >= sink->known_commits ||
	        forget_from(sink, "UPDATE _weir_tables SET identity=lower(hex(randomblob(16))) WHERE job=?1", err));
}
