/*
 * Changes above a watermark, in order of arrival, into the sieve of one step. Rows
 * are kept as long as they fit; in a larger step only keys and positions are, and
 * the rows that turn out to be the newest are read again (local_chunk.c).
 */
#include "sink/merger_private.h"

#include <inttypes.h>

/* Half a million changes reach every page of a table of a million rows: fewer would write each page more often. */
const struct merge_limits merge_limits = {
	.changes = LOCAL_STEP_CHANGES,
	.sieve_bytes = 16u << 20,
	.chunk_changes = 16384,
	.chunk_bytes = 8u << 20,
	.history_changes = 50000,
	.history_bytes = 20u << 20,
};

/* How long the changelog is read in one go: while somebody reads, its log cannot begin anew. */
#define READ_CHANGES 8192

static sqlite3_stmt *prepare(struct merger *merger, const char *select, struct span changelog, const char *where,
                             struct error *err)
{
	struct text *sql = sql_new(select);

	sql_name(sql, changelog);
	text_add(sql, where);
	return sql_prepare(sql, merger->changelog_store, err);
}

bool changes_prepare(struct merger *merger, struct open_replica *place, struct span changelog, struct error *err)
{
	static const char above[] = " WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid LIMIT ?3";

	return (place->read = prepare(merger, "SELECT rowid, _weir_key, _weir_position, operation, primaryKey IS NULL, "
	                              "_weir_old_key, _weir_unavailable, fullRecord FROM ", changelog, above, err)) &&
	       (place->scan = prepare(merger, "SELECT rowid, _weir_key, _weir_position, operation, primaryKey IS NULL FROM ",
	                              changelog, above, err)) &&
	       (place->fetch = prepare(merger, "SELECT fullRecord, _weir_old_key, _weir_unavailable FROM ", changelog,
	                               " WHERE rowid=?1", err));
}

static enum operation operation_read(struct span name)
{
	for (int i = 0; i < OPERATIONS; i++) {
		if (span_is(name, operation_names[i]))
			return (enum operation)i;
	}
	return OPERATIONS;
}

static bool change_read(struct merger *merger, sqlite3_stmt *stmt, struct change *out, struct error *err)
{
	struct span position = store_blob(stmt, 2);

	*out = (struct change){
		.key = store_blob(stmt, 1),
		.position = (const unsigned char *)position.at,
		.operation = operation_read(store_text(stmt, 3)),
	};
	if (position.len != POSITION_BYTES || out->operation == OPERATIONS)
		return fail(err, ERROR_BUG, "state_damaged", "the warehouse '%s' has a change without position or operation at "
		            "rowid %" PRId64, merger->changelog_store->path, (int64_t)sqlite3_column_int64(stmt, 0));
	return true;
}

static void row_keep(struct merger *merger, sqlite3_stmt *stmt, struct change *change)
{
	change->old_key = arena_copy(merger->rows, store_blob(stmt, 5));
	change->unavailable = arena_copy(merger->rows, store_text(stmt, 6));
	change->full_record = arena_copy(merger->rows, store_text(stmt, 7));
}

/* A row event from before its table had a key is in no replica. */
static bool is_keyless(const struct change *change, sqlite3_stmt *stmt)
{
	return sqlite3_column_int(stmt, 4) && change->operation != OP_TRUNCATE && change->operation != OP_DROP &&
	       change->operation != OP_RENAME;
}

/* A schema change is no row: it is kept apart, with what it says. */
static bool alter_take(struct merger *merger, struct step *step, const struct change *change, struct error *err)
{
	sqlite3_stmt *fetch = step->place->fetch;
	bool has_row = false, is_repeat;

	sqlite3_bind_int64(fetch, 1, step->end);
	if (!store_step(merger->changelog_store, fetch, &has_row, err))
		return false;
	bool is_fine = replica_alter_add(step->place->replica, change->position, store_text(fetch, 0), true, &is_repeat, err);

	sqlite3_reset(fetch);
	return is_fine;
}

static bool change_take(struct merger *merger, struct step *step, sqlite3_stmt *stmt, struct error *err)
{
	struct change change;

	if (!change_read(merger, stmt, &change, err))
		return false;
	step->end = sqlite3_column_int64(stmt, 0);
	step->result.changes++;
	if (change.operation == OP_ALTER)
		return alter_take(merger, step, &change, err);
	if (is_keyless(&change, stmt) || !tide_pass(replica_tide(step->place->replica), &change))
		return true;
	if (merger->sieve.has_rows && change.operation != OPERATIONS)
		row_keep(merger, stmt, &change);
	sieve_add(&merger->sieve, step->end, &change);
	return true;
}

static bool rows_fit(const struct merger *merger, bool is_kept)
{
	const struct merge_limits *limits = &merger->limits;

	return merger->sieve.count < (is_kept ? limits->history_changes : limits->chunk_changes) &&
	       arena_used(merger->rows) < (is_kept ? limits->history_bytes : limits->chunk_bytes);
}

static bool step_fits(const struct merger *merger, const struct step *step)
{
	return (uint64_t)(step->end - merger->sieve.base) < merger->limits.changes &&
	       merger->sieve.used < merger->limits.sieve_bytes && !sieve_is_full(&merger->sieve, step->end + 1);
}

enum reading { READ_ON, READ_ALL, READ_ENOUGH };

/* What a change that was just taken means for the next. */
static enum reading read_on(struct merger *merger, const struct step *step)
{
	bool is_kept = history_is_kept(step->history);

	if (!step_fits(merger, step))
		return READ_ENOUGH;
	if (!merger->sieve.has_rows || rows_fit(merger, is_kept))
		return READ_ON;
	if (is_kept)
		return READ_ENOUGH;
	sieve_drop_rows(&merger->sieve);
	sieve_reserve(&merger->sieve, merger->limits.changes, merger->limits.sieve_bytes);
	arena_reset(merger->rows);
	return READ_ON;
}

static bool piece_take(struct merger *merger, struct step *step, sqlite3_stmt *stmt, enum reading *out,
                       struct error *err)
{
	bool had_rows = merger->sieve.has_rows, has_row = false;
	int count = 0;

	for (*out = READ_ON; *out == READ_ON && merger->sieve.has_rows == had_rows; count++) {
		if (!store_step(merger->changelog_store, stmt, &has_row, err))
			return false;
		if (!has_row) {
			*out = count < READ_CHANGES ? READ_ALL : READ_ON;
			return true;
		}
		if (!change_take(merger, step, stmt, err))
			return false;
		*out = read_on(merger, step);
	}
	return true;
}

bool changes_read(struct merger *merger, struct step *step, struct error *err)
{
	enum reading reading = READ_ON;

	step->end = replica_watermark(step->place->replica);
	sieve_clear(&merger->sieve, step->end);
	arena_reset(merger->rows);
	while (reading == READ_ON) {
		sqlite3_stmt *stmt = merger->sieve.has_rows ? step->place->read : step->place->scan;
		bool is_fine;

		sqlite3_bind_int64(stmt, 1, step->end);
		sqlite3_bind_int64(stmt, 2, step->last);
		sqlite3_bind_int(stmt, 3, READ_CHANGES);
		is_fine = piece_take(merger, step, stmt, &reading, err);
		sqlite3_reset(stmt);
		if (!is_fine)
			return false;
	}
	step->result.has_more = step->end < step->last;
	return true;
}
