/*
 * Changes above a watermark, in order of arrival, into the sieve of one step. What
 * does not fit into memory is sorted and put on a pile; the changelog is read once.
 */
#include "sink/merger_private.h"

#include <inttypes.h>

/* Half a million changes reach every page of a table of a million rows: fewer would write each page more often. */
const struct merge_limits merge_limits = {
	.changes = LOCAL_STEP_CHANGES,
	.pile_changes = 32768,
	.pile_bytes = 8u << 20,
	.chunk_changes = 512,
	.chunk_bytes = 1u << 20,
	.history_changes = 50000,
	.history_bytes = 20u << 20,
};

/* How long the changelog is read in one go: while somebody reads, its log cannot begin anew. */
#define READ_CHANGES 8192

bool changes_prepare(struct merger *merger, struct open_replica *place, struct span changelog, struct error *err)
{
	struct text *sql = sql_new("SELECT rowid, _weir_key, _weir_position, operation, primaryKey IS NULL, _weir_old_key, "
	                           "_weir_unavailable, fullRecord FROM ");

	sql_name(sql, changelog);
	text_add(sql, " WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid LIMIT ?3");
	place->read = sql_prepare(sql, merger->changelog_store, err);
	return place->read;
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

static bool change_take(struct merger *merger, struct step *step, sqlite3_stmt *stmt, struct error *err)
{
	struct replica *replica = step->place->replica;
	struct change change;
	bool is_repeat;

	if (!change_read(merger, stmt, &change, err))
		return false;
	step->end = sqlite3_column_int64(stmt, 0);
	step->result.changes++;
	/* A schema change is no row: it is kept apart, with what it says. */
	if (change.operation == OP_ALTER)
		return replica_alter_add(replica, change.position, store_text(stmt, 7), true, &is_repeat, err);
	if (is_keyless(&change, stmt) || !tide_pass(replica_tide(replica), &change))
		return true;
	if (change.operation != OPERATIONS)
		row_keep(merger, stmt, &change);
	sieve_add(&merger->sieve, &change);
	return true;
}

static bool rows_fit(const struct merger *merger, const struct step *step)
{
	const struct merge_limits *limits = &merger->limits;
	bool is_kept = history_is_kept(step->history);

	return merger->sieve.count < (is_kept ? limits->history_changes : limits->pile_changes) &&
	       merger->sieve.used + arena_used(merger->rows) < (is_kept ? limits->history_bytes : limits->pile_bytes) &&
	       !sieve_is_full(&merger->sieve);
}

static bool step_fits(const struct merger *merger, const struct step *step)
{
	return (uint64_t)(step->end - step->begin) < merger->limits.changes;
}

/* One look at the changelog, which ends early when something is full. */
static bool piece_take(struct merger *merger, struct step *step, bool *out_more, struct error *err)
{
	sqlite3_stmt *stmt = step->place->read;
	bool has_row = true;
	int count = 0;

	sqlite3_bind_int64(stmt, 1, step->end);
	sqlite3_bind_int64(stmt, 2, step->last);
	sqlite3_bind_int(stmt, 3, READ_CHANGES);
	while (step_fits(merger, step) && rows_fit(merger, step)) {
		if (!store_step(merger->changelog_store, stmt, &has_row, err) ||
		    (has_row && !change_take(merger, step, stmt, err)))
			return false;
		if (!has_row)
			break;
		count++;
	}
	*out_more = has_row || count == READ_CHANGES;
	return true;
}

/* What is in memory is put on a pile. */
static bool rows_pile(struct merger *merger, const struct step *step, struct error *err)
{
	sieve_sort(&merger->sieve, &step->table->schema);
	if (!piles_put(merger->piles, &merger->sieve, err))
		return false;
	sieve_clear(&merger->sieve);
	arena_reset(merger->rows);
	return true;
}

/* A table with placeholders looks back and forth between its keys, so its step ends where the rows do not fit. */
static bool may_pile(const struct merger *merger, const struct step *step)
{
	return !history_is_kept(step->history) && !piles_are_full(merger->piles);
}

static void changes_begin(struct merger *merger, struct step *step)
{
	step->begin = step->end = replica_watermark(step->place->replica);
	sieve_clear(&merger->sieve);
	piles_clear(merger->piles);
	arena_reset(merger->rows);
}

bool changes_read_more(struct merger *merger, struct step *step, struct error *err)
{
	bool has_more = true, is_fine;

	if (!ahead_take(merger, step))
		changes_begin(merger, step);
	while (has_more && step_fits(merger, step)) {
		if (!rows_fit(merger, step)) {
			if (!may_pile(merger, step))
				break;
			if (!rows_pile(merger, step, err))
				return false;
		}
		is_fine = piece_take(merger, step, &has_more, err);
		sqlite3_reset(step->place->read);
		if (!is_fine)
			return false;
	}
	return true;
}

bool changes_read(struct merger *merger, struct step *step, struct error *err)
{
	if (!changes_read_more(merger, step, err))
		return false;
	step->result.has_more = step->end < step->last;
	return !piles_count(merger->piles) || !merger->sieve.count || rows_pile(merger, step, err);
}
