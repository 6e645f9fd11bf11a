/*
 * From the sieve into the replica, in key order, a chunk of rows at a time. Rows
 * that are not in memory are read again from the changelog, in order of rowid.
 */
#include "sink/merger_private.h"

#include <inttypes.h>
#include <stdlib.h>

static void chunk_reserve(struct merger *merger, size_t count)
{
	if (count > merger->fold.room) {
		merger->fold.items = memory_grow(merger->fold.items, count * sizeof(*merger->fold.items));
		merger->fold.room = count;
	}
	if (count > merger->fetch_room) {
		merger->fetches = memory_grow(merger->fetches, count * sizeof(*merger->fetches));
		merger->fetch_room = count;
	}
}

/* Deletes have no row, and what is hidden needs none. */
static bool needs_row(const struct merger *merger, const struct step *step, const struct change *change)
{
	return !merger->sieve.has_rows && change->operation != OP_DELETE && change->operation != OPERATIONS &&
	       memcmp(change->position, replica_tide(step->place->replica)->hidden, POSITION_BYTES) >= 0;
}

/* The next changes; returns how many of them miss their row. */
static size_t chunk_take(struct merger *merger, const struct step *step, size_t from, size_t count)
{
	size_t missing = 0;

	for (size_t i = 0; i < count; i++) {
		struct change *change = &merger->fold.items[i];
		unsigned char *position = (unsigned char *)arena_bytes(merger->rows, POSITION_BYTES);

		sieve_get(&merger->sieve, from + i, position, change);
		if (needs_row(merger, step, change))
			merger->fetches[missing++] = (struct fetch){ sieve_rowid(&merger->sieve, from + i), i };
	}
	merger->fold.count = count;
	return missing;
}

static int fetch_compare(const void *left, const void *right)
{
	const struct fetch *a = left, *b = right;

	return (a->rowid > b->rowid) - (a->rowid < b->rowid);
}

static bool row_fetch(struct merger *merger, sqlite3_stmt *stmt, const struct fetch *fetch, struct error *err)
{
	struct change *change = &merger->fold.items[fetch->at];
	bool has_row = false;

	sqlite3_bind_int64(stmt, 1, fetch->rowid);
	if (!store_step(merger->changelog_store, stmt, &has_row, err))
		return false;
	if (!has_row)
		return fail(err, ERROR_BUG, "state_damaged", "the warehouse '%s' has lost the change at rowid %" PRId64,
		            merger->changelog_store->path, fetch->rowid);
	change->full_record = arena_copy(merger->rows, store_text(stmt, 0));
	change->old_key = arena_copy(merger->rows, store_blob(stmt, 1));
	change->unavailable = arena_copy(merger->rows, store_text(stmt, 2));
	sqlite3_reset(stmt);
	return true;
}

/* One read transaction, or each row would pay for its own. *out_fits false: too large together. */
static bool rows_fetch(struct merger *merger, struct step *step, size_t count, bool *out_fits, struct error *err)
{
	*out_fits = true;
	if (!count)
		return true;
	qsort(merger->fetches, count, sizeof(*merger->fetches), fetch_compare);
	if (!store_exec(merger->changelog_store, "BEGIN", err))
		return false;
	for (size_t i = 0; i < count && *out_fits; i++) {
		if (!row_fetch(merger, step->place->fetch, &merger->fetches[i], err))
			return false;
		*out_fits = merger->fold.count == 1 || arena_used(merger->rows) < merger->limits.chunk_bytes;
	}
	return store_exec(merger->changelog_store, "COMMIT", err);
}

/* With the rows in memory all are one chunk. Else as many as their rows fit: the last chunk tells. */
static size_t chunk_size(const struct merger *merger, size_t from)
{
	size_t left = merger->sieve.count - from;

	return merger->sieve.has_rows || left < merger->chunk ? left : merger->chunk;
}

static void chunk_learn(struct merger *merger, bool fits)
{
	if (!fits)
		merger->chunk = merger->fold.count / 2;
	else if (arena_used(merger->rows) < merger->limits.chunk_bytes / 2 &&
	         merger->chunk * 2 <= merger->limits.chunk_changes)
		merger->chunk *= 2;
}

/* The next chunk with all of its rows. */
static bool chunk_fill(struct merger *merger, struct step *step, size_t from, struct error *err)
{
	bool fits;

	do {
		size_t count = chunk_size(merger, from);

		if (!merger->sieve.has_rows)
			arena_reset(merger->rows);
		chunk_reserve(merger, count);
		if (!rows_fetch(merger, step, chunk_take(merger, step, from, count), &fits, err))
			return false;
		chunk_learn(merger, fits);
	} while (!fits);
	return true;
}

bool chunks_apply(struct merger *merger, struct step *step, struct error *err)
{
	size_t from = 0;

	sieve_sort(&merger->sieve, &step->table->schema);
	merger->chunk = merger->limits.chunk_changes;
	do {
		if (!chunk_fill(merger, step, from, err) ||
		    !replica_apply(step->place->replica, &merger->fold, step->history, &step->result.rows, err))
			return false;
		from += merger->fold.count;
	} while (from < merger->sieve.count);
	return true;
}
