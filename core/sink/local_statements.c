/*
 * The statements of a replica table, made for its present columns. Every name is
 * quoted; every value is bound.
 */
#include "sink/replica_private.h"

#include "record/key.h"

void sql_key_match(struct text *sql, const struct table_schema *schema)
{
	for (size_t i = 0; i < schema->key_count; i++) {
		text_add(sql, i ? " AND " : " WHERE ");
		sql_name(sql, schema->columns[schema->keys[i]].name);
		text_add_format(sql, "=?%zu", i + 1);
	}
}

static void add_columns(struct text *sql, const struct table_schema *schema, const char *between)
{
	for (size_t i = 0; i < schema->count; i++) {
		text_add(sql, i ? between : "");
		sql_name(sql, schema->columns[i].name);
	}
}

static void add_key_columns(struct text *sql, const struct table_schema *schema)
{
	for (size_t i = 0; i < schema->key_count; i++) {
		text_add(sql, i ? ", " : "");
		sql_name(sql, schema->columns[schema->keys[i]].name);
	}
}

/* Columns are parameters 1 to count, the position is count + 1. */
static sqlite3_stmt *upsert_prepare(struct replica *replica, struct error *err)
{
	const struct table_schema *schema = &replica->schema;
	struct text *sql = sql_new(replica->source.is_append ? "INSERT OR IGNORE INTO " : "INSERT INTO ");

	sql_name(sql, replica->name);
	text_add(sql, " AS stored(");
	add_columns(sql, schema, ", ");
	text_add(sql, schema->count ? ", _weir_position) VALUES(" : "_weir_position) VALUES(");
	for (size_t i = 0; i <= schema->count; i++)
		text_add_format(sql, "%s?%zu", i ? "," : "", i + 1);
	if (replica->source.is_append) {
		text_add_char(sql, ')');
		return sql_prepare(sql, replica->store, err);
	}
	text_add(sql, ") ON CONFLICT(");
	add_key_columns(sql, schema);
	text_add(sql, ") DO UPDATE SET _weir_position=excluded._weir_position");
	for (size_t i = 0; i < schema->count; i++) {
		if (schema->columns[i].key_ordinal)
			continue;
		text_add(sql, ", ");
		sql_name(sql, schema->columns[i].name);
		text_add(sql, "=excluded.");
		sql_name(sql, schema->columns[i].name);
	}
	text_add(sql, " WHERE excluded._weir_position > stored._weir_position");
	return sql_prepare(sql, replica->store, err);
}

static sqlite3_stmt *remove_prepare(struct replica *replica, struct error *err)
{
	struct text *sql = sql_new("DELETE FROM ");

	sql_name(sql, replica->name);
	sql_key_match(sql, &replica->schema);
	text_add_format(sql, " AND _weir_position < ?%zu", replica->schema.key_count + 1);
	return sql_prepare(sql, replica->store, err);
}

static sqlite3_stmt *find_prepare(struct replica *replica, struct error *err)
{
	struct text *sql = sql_new("SELECT _weir_position, ");

	add_columns(sql, &replica->schema, ", ");
	text_add(sql, " FROM ");
	sql_name(sql, replica->name);
	sql_key_match(sql, &replica->schema);
	return sql_prepare(sql, replica->store, err);
}

/* Statements on tables of our own; the table's name is always parameter 1. */
static sqlite3_stmt *own_prepare(struct replica *replica, const char *sql, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(replica->store, sql, err);

	if (stmt)
		store_bind_text(stmt, 1, replica->name);
	return stmt;
}

static bool own_statements_prepare(struct replica *replica, struct error *err)
{
	replica->tombstone_find = own_prepare(replica,
		"SELECT position, deleted_row FROM _weir_deleted WHERE table_name=?1 AND key=?2", err);
	replica->tombstone_put = replica->tombstone_find ? own_prepare(replica,
		"INSERT INTO _weir_deleted(table_name, key, position, deleted_row) VALUES(?1,?2,?3,?4) ON CONFLICT DO UPDATE SET "
		"position=excluded.position, deleted_row=coalesce(excluded.deleted_row, deleted_row) "
		"WHERE excluded.position > position", err) : NULL;
	replica->tombstone_drop = replica->tombstone_put ? own_prepare(replica,
		"DELETE FROM _weir_deleted WHERE table_name=?1 AND key=?2 AND position < ?3", err) : NULL;
	replica->missing_put = replica->tombstone_drop ? own_prepare(replica,
		"INSERT OR IGNORE INTO _weir_unavailable(table_name, key, column_name) VALUES(?1,?2,?3)", err) : NULL;
	replica->missing_drop = replica->missing_put ? own_prepare(replica,
		"DELETE FROM _weir_unavailable WHERE table_name=?1 AND key=?2", err) : NULL;
	return replica->missing_drop;
}

bool replica_prepare(struct replica *replica, struct error *err)
{
	if (replica->missing_drop || (replica->source.is_append && replica->upsert))
		return true;
	if (replica->source.is_append)
		return (replica->upsert = upsert_prepare(replica, err)) != NULL;
	return (replica->upsert = upsert_prepare(replica, err)) && (replica->remove = remove_prepare(replica, err)) &&
	       (replica->find = find_prepare(replica, err)) && own_statements_prepare(replica, err);
}

bool replica_bind_key(struct replica *replica, sqlite3_stmt *stmt, int first, struct span key)
{
	const struct table_schema *schema = &replica->schema;
	struct span texts[KEY_COLUMNS_MAX];

	if (schema->key_count > KEY_COLUMNS_MAX || !key_decode(key, texts, schema->key_count))
		return false;
	for (size_t i = 0; i < schema->key_count; i++)
		value_bind_canonical(replica->reader, stmt, first + (int)i, &schema->columns[schema->keys[i]].type, texts[i],
		                     replica->scratch);
	return true;
}

bool replica_find(struct replica *replica, struct span key, bool *out_found, struct error *err)
{
	*out_found = false;
	sqlite3_reset(replica->find);
	if (!replica_bind_key(replica, replica->find, 1, key))
		return true;
	return store_step(replica->store, replica->find, out_found, err);
}

static bool tombstone_position(struct replica *replica, struct span key, unsigned char out[POSITION_BYTES],
                               bool *out_found, struct error *err)
{
	struct span bytes;
	bool has_row;

	store_bind_blob(replica->tombstone_find, 2, key);
	if (!store_step(replica->store, replica->tombstone_find, &has_row, err))
		return false;
	if (!has_row)
		return true;
	bytes = store_blob(replica->tombstone_find, 0);
	if (bytes.len == POSITION_BYTES && (!*out_found || memcmp(bytes.at, out, POSITION_BYTES) > 0))
		memcpy(out, bytes.at, POSITION_BYTES);
	*out_found = true;
	sqlite3_reset(replica->tombstone_find);
	return true;
}

bool replica_position(struct replica *replica, struct span key, unsigned char out[POSITION_BYTES], bool *out_found,
                      struct error *err)
{
	*out_found = false;
	if (!replica->schema.count)
		return true;
	if (!replica_prepare(replica, err) || !replica_find(replica, key, out_found, err))
		return false;
	if (*out_found && store_blob(replica->find, 0).len == POSITION_BYTES)
		memcpy(out, store_blob(replica->find, 0).at, POSITION_BYTES);
	sqlite3_reset(replica->find);
	arena_reset(replica->scratch);
	return tombstone_position(replica, key, out, out_found, err);
}
