/*
 * Applying a fold to a replica: each key once, in the order of its B-tree, guarded
 * by position. Greater wins, equal and smaller have no effect.
 */
#include "sink/replica_private.h"

#include "base/clean.h"

#define DELETED_ROW_MAX (128u << 20)

/*
 * Deletes are remembered
 */

/* False in *out_allows: a delete at the same or a greater position has been seen. */
static bool tombstone_check(struct replica *replica, struct change *change, bool *out_allows, struct error *err)
{
	bool has_row = false;
	struct span position;
	int order;

	*out_allows = true;
	if (!replica->has_deleted)
		return true;
	store_bind_blob(replica->tombstone_find, 2, change->key);
	if (!store_step(replica->store, replica->tombstone_find, &has_row, err))
		return false;
	if (!has_row)
		return true;
	position = store_blob(replica->tombstone_find, 0);
	order = span_compare(span_make((const char *)change->position, POSITION_BYTES), position);
	change->is_repeat = order == 0;
	*out_allows = order > 0;
	sqlite3_reset(replica->tombstone_find);
	return true;
}

static bool tombstone_put(struct replica *replica, const struct change *change, struct span row, struct error *err)
{
	store_bind_blob(replica->tombstone_put, 2, change->key);
	store_bind_blob(replica->tombstone_put, 3, span_make((const char *)change->position, POSITION_BYTES));
	store_bind_text(replica->tombstone_put, 4, row);
	replica->has_deleted = true;
	return store_run(replica->store, replica->tombstone_put, err);
}

static bool tombstone_drop(struct replica *replica, const struct change *change, struct error *err)
{
	if (!replica->has_deleted)
		return true;
	store_bind_blob(replica->tombstone_drop, 2, change->key);
	store_bind_blob(replica->tombstone_drop, 3, span_make((const char *)change->position, POSITION_BYTES));
	return store_run(replica->store, replica->tombstone_drop, err);
}

/* The stored row as JSON: without a changelog this is where an unchanged large value survives its key's change. */
static bool stored_row_keep(struct replica *replica, struct span key, struct text *out, struct error *err)
{
	const struct table_schema *schema = &replica->schema;
	bool is_found;
	bool is_fine = true;

	if (!replica_find(replica, key, &is_found, err))
		return false;
	for (size_t i = 0; is_found && is_fine && i < schema->count; i++) {
		is_fine = text_add(out, i ? "," : "{") && json_quote(out, schema->columns[i].name) && text_add_char(out, ':') &&
		          value_json(out, sqlite3_column_value(replica->find, (int)i + 1), &schema->columns[i].type);
	}
	sqlite3_reset(replica->find);
	if (!is_fine)
		text_clear(out);
	else if (is_found)
		text_add_char(out, '}');
	return true;
}

static bool row_delete(struct replica *replica, struct change *change, bool keeps_row, struct error *err)
{
	OWNED(text) row = text_new(DELETED_ROW_MAX);

	if (keeps_row && change->last_record.len)
		text_add_span(row, change->last_record);
	else if (keeps_row && !stored_row_keep(replica, change->key, row, err))
		return false;
	if (!replica_bind_key(replica, replica->remove, 1, change->key))
		return true;
	store_bind_blob(replica->remove, (int)replica->schema.key_count + 1,
	                span_make((const char *)change->position, POSITION_BYTES));
	if (!store_run(replica->store, replica->remove, err))
		return false;
	change->is_applied = sqlite3_changes(replica->store->db) > 0;
	if (change->is_applied && replica->has_unavailable && !missing_clear(replica, change->key, err))
		return false;
	return tombstone_put(replica, change, row->len ? text_span(row) : (struct span){ 0 }, err);
}

static bool row_upsert(struct replica *replica, struct change *change, struct history *history, struct error *err)
{
	struct missing *missing = NULL;

	if (!replica_bind_record(replica, change, err))
		return false;
	if (!replica_bind_record_key(replica, change))
		return true;
	if (change->unavailable.len && (!missing_read(replica, change->unavailable, change->position, &missing, err) ||
	                                !missing_bind(replica, change, history, missing, err)))
		return false;
	if (!store_run(replica->store, replica->upsert, err))
		return false;
	change->is_applied = sqlite3_changes(replica->store->db) > 0;
	if (!change->is_applied)
		return true;
	if (replica_way(replica, change->position))
		replica_way_count(replica, change->position);
	if ((missing || replica->has_unavailable) && !missing_list(replica, change->key, missing, err))
		return false;
	return tombstone_drop(replica, change, err);
}

/* Without history the caller wants to know whether the change was there already. */
static bool repeat_check(struct replica *replica, struct change *change, struct error *err)
{
	bool is_found;

	if (!replica_find(replica, change->key, &is_found, err))
		return false;
	if (is_found)
		change->is_repeat = span_equal(store_blob(replica->find, 0),
		                               span_make((const char *)change->position, POSITION_BYTES));
	sqlite3_reset(replica->find);
	return true;
}

static bool change_apply(struct replica *replica, struct change *change, struct history *history, struct error *err)
{
	bool is_allowed;

	change->is_applied = change->is_repeat = false;
	if (change->operation == OPERATIONS || memcmp(change->position, replica->tide.hidden, POSITION_BYTES) < 0)
		return true;
	if (!tombstone_check(replica, change, &is_allowed, err))
		return false;
	if (!is_allowed)
		return true;
	if (!(change->operation == OP_DELETE ? row_delete(replica, change, !history, err)
	                                     : row_upsert(replica, change, history, err)))
		return false;
	return change->is_applied || history || change->operation == OP_DELETE || repeat_check(replica, change, err);
}

/*
 * Table events
 */

static bool hide_rows(struct replica *replica, struct error *err)
{
	struct text *sql = sql_new("DELETE FROM ");
	sqlite3_stmt *stmt;
	bool is_fine;

	sql_name(sql, replica->name);
	text_add(sql, " WHERE _weir_position < ?1");
	if (!(stmt = sql_prepare(sql, replica->store, err)))
		return false;
	store_bind_blob(stmt, 1, span_make((const char *)replica->tide.hidden, POSITION_BYTES));
	is_fine = store_run(replica->store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine && (!replica->has_unavailable || missing_forget_gone(replica, err));
}

static bool hide_tombstones(struct replica *replica, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(replica->store, "DELETE FROM _weir_deleted WHERE table_name=?1 AND position < ?2",
	                                   err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, replica->name);
	store_bind_blob(stmt, 2, span_make((const char *)replica->tide.hidden, POSITION_BYTES));
	is_fine = store_run(replica->store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool tide_apply(struct replica *replica, uint64_t *out_rows, struct error *err)
{
	int64_t before = sqlite3_total_changes64(replica->store->db);

	if (memcmp(replica->tide.hidden, replica->hidden, POSITION_BYTES) <= 0)
		return true;
	if (!hide_rows(replica, err))
		return false;
	*out_rows += (uint64_t)(sqlite3_total_changes64(replica->store->db) - before);
	memcpy(replica->hidden, replica->tide.hidden, POSITION_BYTES);
	return hide_tombstones(replica, err);
}

static bool rows_carry(struct replica *replica, const struct replica *from, const unsigned char *position,
                       struct error *err)
{
	struct text *sql = sql_new("INSERT INTO ");
	OWNED(text) values = text_new(LOCAL_SQL_MAX);
	sqlite3_stmt *stmt;
	bool is_fine;

	sql_name(sql, replica->name);
	text_add_char(sql, '(');
	for (size_t i = 0; i < replica->schema.count; i++) {
		int old = schema_find(&from->schema, replica->schema.columns[i].name);

		if (old < 0)
			continue;
		sql_name(sql, replica->schema.columns[i].name);
		replica_add_converted(values, &from->schema.columns[old], &replica->schema.columns[i]);
		text_add(sql, ", ");
		text_add(values, ", ");
	}
	text_add(sql, "_weir_position) SELECT ");
	sql->is_full |= values->is_full;
	text_add_span(sql, text_span(values));
	text_add(sql, "weir_carried(?1, 0) FROM ");
	sql_name(sql, from->name);
	if (!(stmt = sql_prepare(sql, replica->store, err)))
		return false;
	store_bind_blob(stmt, 1, span_make((const char *)position, POSITION_BYTES));
	is_fine = store_run(replica->store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

bool replica_carry(struct replica *replica, struct replica *from, const unsigned char *position, struct error *err)
{
	uint64_t rows = 0;

	/* A repeat: rows have come since, or it has been done. */
	if (memcmp(position, replica->tide.hidden, POSITION_BYTES) <= 0)
		return true;
	memcpy(replica->tide.hidden, position, POSITION_BYTES);
	if (!replica->schema.count || !from->schema.count)
		return true;
	return replica_prepare(replica, err) && tide_apply(replica, &rows, err) && rows_carry(replica, from, position, err);
}

bool replica_apply(struct replica *replica, struct fold *fold, struct history *history, uint64_t *out_rows,
                   struct error *err)
{
	uint64_t rows = 0;

	if (!replica->schema.count) /* only table events yet: the tide is all there is */
		return true;
	if (!replica_prepare(replica, err) || !tide_apply(replica, &rows, err) ||
	    !replica_alters_apply(replica, &rows, err))
		return false;
	fold_sort(fold, &replica->schema);
	for (size_t i = 0; i < fold->count; i++) {
		if (!change_apply(replica, &fold->items[i], history, err))
			return false;
		rows += fold->items[i].is_applied;
		arena_reset(replica->scratch);
	}
	if (history && history_is_kept(history) && !missing_redecide(replica, fold, history, err))
		return false;
	*out_rows += rows;
	return true;
}
