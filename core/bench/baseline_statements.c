/*
 * The statements of a table: the plain ones that the baseline prepares, and those
 * that read back what the engine has written. Merge steps are folded and sorted
 * by key here, so that the baseline has nothing to do but SQLite's own work.
 */
#include "base/clean.h"
#include "bench/baseline_private.h"

sqlite3_stmt *recorder_prepare(sqlite3 *db, const char *sql, struct error *err)
{
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK)
		return stmt;
	fail(err, ERROR_BUG, "bench_failed", "the baseline cannot read what the run has written: %s", sqlite3_errmsg(db));
	return NULL;
}

static void add_name(struct text *sql, const char *before, const char *name)
{
	text_add(sql, before);
	sql_identifier(sql, span_of(name));
}

/* The value of a column in the JSON text of a row; a deleted row has only its key. */
static void add_value(struct text *sql, const char *name)
{
	OWNED(text) path = text_new(BASELINE_SQL_MAX);

	text_add_format(path, "$.\"%s\"", name);
	text_add(sql, ", json_extract(coalesce(fullRecord, primaryKey), ");
	sql_string(sql, text_span(path));
	text_add_char(sql, ')');
}

struct texts {
	struct text *upsert, *marks, *updates, *keys, *remove, *folded;
	int columns, key_count;
};

static void add_column(struct texts *t, const char *name, bool is_key)
{
	add_name(t->upsert, t->columns ? ", " : "", name);
	text_add_format(t->marks, "%s?%d", t->columns ? "," : "", t->columns + 1);
	t->columns++;
	if (is_key) {
		add_name(t->keys, t->key_count ? ", " : "", name);
		add_name(t->remove, t->key_count ? " AND " : " WHERE ", name);
		text_add_format(t->remove, "=?%d", ++t->key_count);
		return;
	}
	add_name(t->updates, t->updates->len ? ", " : "", name);
	add_name(t->updates, "=excluded.", name);
}

/* Key columns come first, so that a delete takes the first values of the same row; the position is last. */
static bool read_columns(struct recorder *r, const struct table *table, struct texts *t, struct error *err)
{
	sqlite3_stmt *stmt = recorder_prepare(r->run[REPLICA],
		"SELECT name, pk > 0 FROM pragma_table_info(?1) WHERE name NOT LIKE '\\_weir\\_%' ESCAPE '\\' "
		"ORDER BY pk = 0, pk, cid", err);

	if (!stmt)
		return false;
	sqlite3_bind_text(stmt, 1, table->replica, -1, SQLITE_STATIC);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);

		add_column(t, name, sqlite3_column_int(stmt, 1));
		add_value(t->folded, name);
	}
	sqlite3_finalize(stmt);
	return true;
}

static void put_replica_statements(struct recorder *r, struct table *table, struct texts *t)
{
	table->has_replica = t->key_count > 0;
	table->key_count = t->key_count;
	if (!table->has_replica)
		return;
	add_column(t, "_weir_position", false);
	text_add_format(t->upsert, ") VALUES(%s) ON CONFLICT(%s) DO UPDATE SET %s", t->marks->at, t->keys->at,
	                t->updates->at);
	table->upsert = put_statement(r, REPLICA, t->upsert);
	table->remove = put_statement(r, REPLICA, t->remove);
}

/* SQLite takes the other columns from the row that has the greatest rowid of its key: that is the fold. */
bool recorder_replica(struct recorder *r, struct table *table, struct error *err)
{
	OWNED(text) upsert = text_new(BASELINE_SQL_MAX);
	OWNED(text) marks = text_new(BASELINE_SQL_MAX);
	OWNED(text) updates = text_new(BASELINE_SQL_MAX);
	OWNED(text) keys = text_new(BASELINE_SQL_MAX);
	OWNED(text) remove = text_new(BASELINE_SQL_MAX);
	OWNED(text) folded = text_new(BASELINE_SQL_MAX);
	struct texts t = { upsert, marks, updates, keys, remove, folded, 0, 0 };

	add_name(upsert, "INSERT INTO ", table->replica);
	text_add(upsert, "(");
	add_name(remove, "DELETE FROM ", table->replica);
	text_add(folded, "SELECT max(rowid), fullRecord IS NULL");
	if (!read_columns(r, table, &t, err))
		return false;
	put_replica_statements(r, table, &t);
	add_name(folded, ", _weir_position FROM ", table->changelog);
	text_add(folded, " WHERE rowid > ?1 AND rowid <= ?2 AND length(_weir_key) > 0 GROUP BY _weir_key ORDER BY 3");
	for (int i = 1; i < t.key_count; i++)
		text_add_format(folded, ", %d", 3 + i);
	return !table->has_replica || (table->folded = recorder_prepare(r->run[CHANGELOG], folded->at, err));
}

bool recorder_changelog(struct recorder *r, struct table *table, struct error *err)
{
	OWNED(text) insert = text_new(BASELINE_SQL_MAX);
	OWNED(text) rows = text_new(BASELINE_SQL_MAX);

	add_name(insert, "INSERT INTO ", table->changelog);
	text_add(insert, " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)");
	table->insert = put_statement(r, CHANGELOG, insert);
	add_name(rows, "SELECT * FROM ", table->changelog);
	text_add(rows, " WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid");
	return (table->rows = recorder_prepare(r->run[CHANGELOG], rows->at, err));
}
