/*
 * Unchanged large values: what an event left out is that of the latest earlier
 * event of its row that carries it. What cannot be found yet is NULL and listed
 * in _weir_unavailable until the event comes.
 */
#include "sink/replica_private.h"

static int column_find(const struct replica *replica, struct span name)
{
	for (size_t i = 0; i < replica->schema.count; i++) {
		if (span_equal(replica->schema.columns[i].name, name))
			return (int)i;
	}
	return -1;
}

bool missing_read(struct replica *replica, struct span unavailable, const unsigned char *position,
                  struct missing **out, struct error *err)
{
	const struct alter_way *way = replica_way(replica, position);
	struct missing *missing = arena_zalloc(replica->scratch, sizeof(*missing));
	struct json_doc *list = &replica->list;
	size_t at;

	if (json_parse(list, unavailable, &at) != JSON_FINE || !json_is(list, 0, JSON_ARRAY))
		return fail(err, ERROR_BUG, "state_damaged", "a change of table '%.*s' has an _weir_unavailable that is no JSON "
		            "list", SPAN_ARG(replica->name));
	for (uint32_t i = 1; i < list->count && missing->count < SCHEMA_COLUMNS_MAX; i = list->tokens[i].next) {
		int column = json_is(list, i, JSON_STRING) ? column_find(replica, json_text(list, i, replica->scratch)) : -1;

		/* A schema change above the event may have given the column another name or a value. */
		if (way && column >= 0)
			column = way->targets[column] == ALTER_GONE ? -1 : (int)way->targets[column];
		if (column >= 0)
			missing->columns[missing->count++] = (uint16_t)column;
	}
	*out = missing;
	return true;
}

/*
 * Finding
 */

static void bind_stored(struct replica *replica, struct missing *missing)
{
	for (size_t i = 0; i < missing->count; i++) {
		int column = missing->columns[i];

		sqlite3_bind_value(replica->upsert, column + 1, sqlite3_column_value(replica->find, column + 1));
		missing->is_found[i] = true;
	}
}

static bool bind_deleted(struct replica *replica, struct span key, struct missing *missing, struct error *err)
{
	bool has_row = false;
	struct span row;

	store_bind_blob(replica->tombstone_find, 2, key);
	if (!store_step(replica->store, replica->tombstone_find, &has_row, err))
		return false;
	if (!has_row)
		return true;
	row = arena_copy(replica->scratch, store_text(replica->tombstone_find, 1));
	sqlite3_reset(replica->tombstone_find);
	for (size_t i = 0; row.len && i < missing->count; i++) {
		if (!replica_bind_from(replica, replica->upsert, missing->columns[i] + 1, missing->columns[i], row, err))
			return false;
		missing->is_found[i] = true;
	}
	return true;
}

/* Without a changelog: the stored row, or what a delete kept of it. */
static bool bind_without_history(struct replica *replica, const struct change *change, struct missing *missing,
                                 struct error *err)
{
	struct span key = change->old_key.len ? change->old_key : change->key;
	bool is_found;

	if (!replica_find(replica, key, &is_found, err))
		return false;
	if (is_found)
		bind_stored(replica, missing);
	sqlite3_reset(replica->find);
	return is_found || !change->old_key.len || bind_deleted(replica, key, missing, err);
}

static bool is_listed(struct replica *replica, struct span key, bool *out_listed, struct error *err)
{
	sqlite3_stmt *stmt;
	bool is_fine;

	*out_listed = false;
	if (!replica->has_unavailable)
		return true;
	stmt = store_prepare(replica->store, "SELECT 1 FROM _weir_unavailable WHERE table_name=?1 AND key=?2 LIMIT 1", err);
	if (!stmt)
		return false;
	store_bind_text(stmt, 1, replica->name);
	store_bind_blob(stmt, 2, key);
	is_fine = store_step(replica->store, stmt, out_listed, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

/* The event is the newest of its row and the only one of this step: what is stored is what it left unchanged. */
static bool bind_in_order(struct replica *replica, const struct change *change, struct missing *missing,
                          bool *out_done, struct error *err)
{
	bool is_found = false, listed = true;

	*out_done = false;
	if (change->is_many || change->old_key.len)
		return true;
	if (!is_listed(replica, change->key, &listed, err))
		return false;
	if (listed)
		return true;
	if (!replica_find(replica, change->key, &is_found, err))
		return false;
	if (is_found && memcmp(store_blob(replica->find, 0).at, change->position, POSITION_BYTES) < 0) {
		bind_stored(replica, missing);
		*out_done = true;
	}
	sqlite3_reset(replica->find);
	return true;
}

/* One column from the history, into parameter `index` of `stmt`. */
static bool bind_from_history(struct replica *replica, sqlite3_stmt *stmt, int index, const struct moment *event,
                              struct history *history, size_t column, bool *out_found, struct error *err)
{
	struct span record;

	if (!history_find(history, event, replica->schema.columns[column].name, replica->scratch, out_found, &record, err))
		return false;
	if (!*out_found)
		sqlite3_bind_null(stmt, index);
	return !*out_found || replica_bind_from(replica, stmt, index, column, record, err);
}

bool missing_bind(struct replica *replica, const struct change *change, struct history *history,
                  struct missing *missing, struct error *err)
{
	struct moment event = { change->key, change->old_key, change->position };
	bool is_done;

	if (!history)
		return bind_without_history(replica, change, missing, err);
	if (!bind_in_order(replica, change, missing, &is_done, err))
		return false;
	for (size_t i = 0; !is_done && i < missing->count; i++) {
		if (!bind_from_history(replica, replica->upsert, missing->columns[i] + 1, &event, history, missing->columns[i],
		                       &missing->is_found[i], err))
			return false;
	}
	return true;
}

/*
 * The list of what is missing
 */

bool missing_clear(struct replica *replica, struct span key, struct error *err)
{
	store_bind_blob(replica->missing_drop, 2, key);
	return store_run(replica->store, replica->missing_drop, err);
}

bool missing_list(struct replica *replica, struct span key, const struct missing *missing, struct error *err)
{
	if (replica->has_unavailable && !missing_clear(replica, key, err))
		return false;
	for (size_t i = 0; missing && i < missing->count; i++) {
		if (missing->is_found[i])
			continue;
		store_bind_blob(replica->missing_put, 2, key);
		store_bind_text(replica->missing_put, 3, replica->schema.columns[missing->columns[i]].name);
		replica->has_unavailable = true;
		if (!store_run(replica->store, replica->missing_put, err))
			return false;
	}
	return true;
}

static bool listed_keys(struct replica *replica, struct fold *keys, struct arena *arena, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(replica->store, "SELECT DISTINCT key FROM _weir_unavailable WHERE table_name=?1",
	                                   err);
	bool has_row = false;
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, replica->name);
	while ((is_fine = store_step(replica->store, stmt, &has_row, err)) && has_row)
		fold_touch(keys, arena_copy(arena, store_blob(stmt, 0)));
	sqlite3_finalize(stmt);
	return is_fine;
}

bool missing_forget_gone(struct replica *replica, struct error *err)
{
	struct arena *arena = arena_new(4096);
	struct fold keys;
	bool is_fine;

	fold_init(&keys, NULL);
	is_fine = listed_keys(replica, &keys, arena, err);
	for (size_t i = 0; is_fine && i < keys.count; i++) {
		bool is_found = true;

		is_fine = replica_find(replica, keys.items[i].key, &is_found, err);
		sqlite3_reset(replica->find);
		is_fine = is_fine && (is_found || missing_clear(replica, keys.items[i].key, err));
	}
	fold_free(&keys);
	arena_free(arena);
	return is_fine;
}

/*
 * Late events decide again
 */

static bool column_update(struct replica *replica, const struct moment *event, struct history *history, size_t column,
                          bool *out_found, struct error *err)
{
	struct text *sql = sql_new("UPDATE ");
	int value = (int)replica->schema.key_count + 1;
	sqlite3_stmt *stmt;
	bool is_fine;

	sql_name(sql, replica->name);
	text_add(sql, " SET ");
	sql_name(sql, replica->schema.columns[column].name);
	text_add_format(sql, "=?%d", value);
	sql_key_match(sql, &replica->schema);
	if (!(stmt = sql_prepare(sql, replica->store, err)))
		return false;
	is_fine = bind_from_history(replica, stmt, value, event, history, column, out_found, err) &&
	          replica_bind_key(replica, stmt, 1, event->key) && store_run(replica->store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool row_redecide(struct replica *replica, struct span key, struct history *history, struct error *err)
{
	unsigned char position[POSITION_BYTES];
	struct moment event = { .key = key, .position = position };
	struct span unavailable;
	struct missing *missing;
	bool is_found;

	if (!replica_find(replica, key, &is_found, err))
		return false;
	if (is_found)
		memcpy(position, store_blob(replica->find, 0).at, POSITION_BYTES);
	sqlite3_reset(replica->find);
	if (!is_found)
		return true;
	if (!history_event(history, &event, replica->scratch, &event.old_key, &unavailable, err))
		return false;
	if (!unavailable.len)
		return true;
	if (!missing_read(replica, unavailable, position, &missing, err))
		return false;
	for (size_t i = 0; i < missing->count; i++) {
		if (!column_update(replica, &event, history, missing->columns[i], &missing->is_found[i], err))
			return false;
	}
	return missing_list(replica, key, missing, err);
}

static bool redecide_all(struct replica *replica, const struct fold *fold, struct fold *keys, struct history *history,
                         struct error *err)
{
	for (size_t i = 0; i < keys->count; i++) {
		/* Decided already, unless another row's history leads here (then it was touched twice). */
		if (i < fold->count && fold->items[i].is_applied && !keys->items[i].is_many)
			continue;
		if (!row_redecide(replica, keys->items[i].key, history, err))
			return false;
		arena_reset(replica->scratch);
	}
	return true;
}

bool missing_redecide(struct replica *replica, struct fold *fold, struct history *history, struct error *err)
{
	struct arena *arena = arena_new(4096);
	struct fold keys;
	bool is_fine = true;

	fold_init(&keys, NULL);
	for (size_t i = 0; i < fold->count; i++)
		fold_touch(&keys, fold->items[i].key);
	/* The set grows while it is walked: a key change leads from row to row. */
	for (size_t i = 0; is_fine && i < keys.count; i++)
		is_fine = history_dependents(history, keys.items[i].key, &keys, arena, err);
	is_fine = is_fine && redecide_all(replica, fold, &keys, history, err);
	fold_free(&keys);
	arena_free(arena);
	return is_fine;
}
