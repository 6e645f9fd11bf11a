/* Changes above a watermark, in order of arrival, into the fold of one step. */
#include "sink/merger_private.h"

#include <inttypes.h>

#define STEP_CHANGES_MAX 100000
#define STEP_BYTES_MAX (24u << 20)

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
		.old_key = store_blob(stmt, 4),
		.unavailable = store_text(stmt, 5),
		.full_record = store_text(stmt, 6),
	};
	if (position.len != POSITION_BYTES || out->operation == OPERATIONS)
		return fail(err, ERROR_BUG, "state_damaged", "the warehouse '%s' has a change without position or operation at "
		            "rowid %" PRId64, merger->changelog_store->path, (int64_t)sqlite3_column_int64(stmt, 0));
	return true;
}

static size_t step_bytes(const struct merger *merger)
{
	return arena_used(merger->arena) + merger->fold.count * sizeof(struct change);
}

/* A row event from before its table had a key is in no replica. */
static bool is_keyless(const struct change *change, sqlite3_stmt *stmt)
{
	return sqlite3_column_int(stmt, 7) && change->operation != OP_TRUNCATE && change->operation != OP_DROP;
}

bool merger_read(struct merger *merger, struct open_replica *place, int64_t *out_end, uint64_t *out_changes,
                 bool *out_more, struct error *err)
{
	bool has_row = true;

	*out_changes = 0;
	*out_more = false;
	*out_end = replica_watermark(place->replica);
	sqlite3_bind_int64(place->read, 1, *out_end);
	while (store_step(merger->changelog_store, place->read, &has_row, err)) {
		struct change change;

		*out_more = has_row && (*out_changes == STEP_CHANGES_MAX || step_bytes(merger) >= STEP_BYTES_MAX);
		if (!has_row || *out_more) {
			sqlite3_reset(place->read);
			return true;
		}
		if (!change_read(merger, place->read, &change, err)) {
			sqlite3_reset(place->read);
			return false;
		}
		if (!is_keyless(&change, place->read))
			fold_add(&merger->fold, replica_tide(place->replica), &change);
		*out_end = sqlite3_column_int64(place->read, 0);
		++*out_changes;
	}
	return false;
}
