/*
 * The rows of a replica as its changelog has them, by one SQL query over the
 * changes up to the watermark.
 *
 *   drops    DROPs, with their place in the order of arrival
 *   events   row events, without those that came behind a DROP and are older than it
 *   hidden   what the newest TRUNCATE or RENAME, or a DROP behind which the table was made
 *            again, hides: everything smaller
 *   ranked   each key's events, newest first
 *
 * A column that the newest event left out is looked for backwards, through the old
 * key where a key change began the row.
 */
#include "sink/verify_private.h"

#include "base/clean.h"

static const char *declared(const struct bq_type *type)
{
	if (type->is_array)
		return "TEXT";
	return type->kind == BQ_INT64 || type->kind == BQ_BOOL ? "INTEGER"
	       : type->kind == BQ_FLOAT64                      ? "REAL"
	       : type->kind == BQ_BYTES                        ? "BLOB"
	                                                       : "TEXT";
}

static bool table_make(struct verify *verify, struct error *err)
{
	struct text *sql = sql_new("DROP TABLE IF EXISTS main.rebuilt; CREATE TABLE main.rebuilt(");
	const struct table_schema *schema = &verify->schema;

	for (size_t i = 0; i < schema->count; i++)
		text_add_format(sql, "%sc%zu %s", i ? ", " : "", i, declared(&schema->columns[i].type));
	text_add(sql, "); CREATE INDEX main.rebuilt_key ON rebuilt(");
	for (size_t i = 0; i < schema->key_count; i++)
		text_add_format(sql, "%sc%u", i ? ", " : "", (unsigned)schema->keys[i]);
	text_add(sql, ")");
	return sql_run(sql, verify->store, err);
}

static void add_log(struct text *sql, const struct verify *verify)
{
	text_add(sql, "l.");
	sql_name(sql, verify->changelog);
}

static void add_events(struct text *sql, const struct verify *verify)
{
	text_add(sql, "WITH drops(id, position) AS MATERIALIZED (SELECT rowid, _weir_position FROM ");
	add_log(sql, verify);
	text_add(sql, " WHERE rowid <= ?1 AND operation = 'DROP'), "
	              "events(id, key, position, operation) AS (SELECT e.rowid, e._weir_key, e._weir_position, e.operation FROM ");
	add_log(sql, verify);
	text_add(sql, " e WHERE e.rowid <= ?1 AND e.operation IN ('INSERT', 'UPDATE', 'DELETE', 'READ') "
	              "AND e.primaryKey IS NOT NULL AND NOT EXISTS (SELECT 1 FROM drops d WHERE d.id < e.rowid "
	              "AND d.position > e._weir_position)), "
	              "hidden(position) AS MATERIALIZED (SELECT max(position) FROM (SELECT _weir_position AS position FROM ");
	add_log(sql, verify);
	text_add(sql, " WHERE rowid <= ?1 AND operation IN ('TRUNCATE', 'RENAME') UNION ALL "
	              "SELECT position FROM drops WHERE position <= (SELECT max(position) FROM events "
	              "WHERE operation <> 'DELETE') UNION ALL SELECT x'')), "
	              "ranked(id, operation, place) AS (SELECT id, operation, row_number() OVER "
	              "(PARTITION BY key ORDER BY position DESC) FROM events WHERE position >= (SELECT position FROM hidden)) ");
}

static void add_look_back(struct text *sql, const struct verify *verify, const char *name)
{
	text_add(sql, "(WITH RECURSIVE back(key, position, old_key, carries, record) AS ("
	              "SELECT e._weir_key, e._weir_position, e._weir_old_key, 0, NULL UNION ALL "
	              "SELECT p._weir_key, p._weir_position, p._weir_old_key, NOT weir_lists(p._weir_unavailable, ");
	text_add(sql, name);
	text_add(sql, "), p.fullRecord FROM back JOIN ");
	add_log(sql, verify);
	text_add(sql, " p ON p.rowid = (SELECT q.rowid FROM ");
	add_log(sql, verify);
	text_add(sql, " q WHERE q.rowid <= ?1 AND q._weir_key = coalesce(back.old_key, back.key) "
	              "AND q._weir_position < back.position AND (back.old_key IS NULL OR q.operation <> 'DELETE') "
	              "ORDER BY q._weir_position DESC LIMIT 1) WHERE NOT back.carries AND p.operation <> 'DELETE') "
	              "SELECT record FROM back WHERE carries LIMIT 1)");
}

/* Which lists of unavailable columns there are at all. */
static bool lists_make(struct verify *verify, bool *out_any, struct error *err)
{
	struct text *sql = sql_new("CREATE TABLE main.lists AS SELECT DISTINCT _weir_unavailable AS list FROM ");
	int64_t ignored;
	bool has_row;

	add_log(sql, verify);
	text_add(sql, " WHERE _weir_unavailable IS NOT NULL");
	return store_exec(verify->store, "DROP TABLE IF EXISTS main.lists", err) &&
	       verify_number(verify, sql, &ignored, &has_row, err) &&
	       verify_number(verify, sql_new("SELECT 1 FROM main.lists LIMIT 1"), &ignored, out_any, err);
}

static bool is_ever_listed(struct verify *verify, const char *name, bool *out, struct error *err)
{
	struct text *sql = sql_new("SELECT 1 FROM main.lists WHERE weir_lists(list, ");
	int64_t ignored;

	text_add(sql, name);
	text_add(sql, ") LIMIT 1");
	return verify_number(verify, sql, &ignored, out, err);
}

/* What there is besides an event's own members. */
struct besides {
	bool has_lists, has_effects;
};

/* `from`: the id and text that weir_value reads. */
static void add_value(struct text *sql, const char *name, const char *type, bool is_altered, const char *from)
{
	if (is_altered)
		verify_add_altered(sql, name, type, from);
	else
		text_add_format(sql, "weir_value(%s, %s, %s)", from, name, type);
}

static bool add_column(struct text *sql, struct verify *verify, const struct column *column, struct besides besides,
                       struct error *err)
{
	OWNED(text) name = text_new(4096);
	OWNED(text) type = text_new(64u << 10);
	OWNED(text) quoted = text_new(128u << 10);
	bool is_listed = false, is_altered = false;

	if (!sql_string(name, column->name) || !bq_type_print(type, &column->type) || !sql_string(quoted, text_span(type)))
		return fail(err, ERROR_CONFIG, "bad_name", "table '%.*s' has a column whose name cannot be quoted",
		            SPAN_ARG(verify->table));
	if ((besides.has_lists && !is_ever_listed(verify, name->at, &is_listed, err)) ||
	    (besides.has_effects && !verify_is_altered(verify, name->at, &is_altered, err)))
		return false;
	/* A row may leave out what its message key tells. */
	if (column->key_ordinal) {
		text_add(sql, "coalesce(");
		add_value(sql, name->at, quoted->at, is_altered, "e.rowid, e.fullRecord");
		text_add(sql, ", ");
		add_value(sql, name->at, quoted->at, is_altered, "NULL, e.primaryKey");
		text_add_char(sql, ')');
		return true;
	}
	if (is_listed) {
		text_add_format(sql, "CASE WHEN weir_lists(e._weir_unavailable, %s)", name->at);
		if (is_altered)
			text_add_format(sql, " AND NOT EXISTS (SELECT 1 FROM main.effects WHERE col = %s AND position > e._weir_position)",
			                name->at);
		text_add(sql, " THEN weir_value(NULL, ");
		add_look_back(sql, verify, name->at);
		text_add_format(sql, ", %s, %s) ELSE ", name->at, quoted->at);
	}
	add_value(sql, name->at, quoted->at, is_altered, "e.rowid, e.fullRecord");
	text_add(sql, is_listed ? " END" : "");
	return true;
}

static bool columns_add(struct text *sql, struct verify *verify, struct error *err)
{
	struct besides besides;

	if (!lists_make(verify, &besides.has_lists, err) || !verify_effects(verify, &besides.has_effects, err))
		return false;
	for (size_t i = 0; i < verify->schema.count; i++) {
		text_add(sql, i ? ", " : "");
		if (!add_column(sql, verify, &verify->schema.columns[i], besides, err))
			return false;
	}
	return true;
}

bool verify_rebuild(struct verify *verify, struct error *err)
{
	struct text *sql;
	int64_t ignored;
	bool has_row;

	if (!table_make(verify, err))
		return false;
	sql = sql_new("INSERT INTO main.rebuilt ");
	add_events(sql, verify);
	text_add(sql, "SELECT ");
	if (!columns_add(sql, verify, err)) {
		text_free(sql);
		return false;
	}
	text_add(sql, " FROM ranked JOIN ");
	add_log(sql, verify);
	text_add(sql, " e ON e.rowid = ranked.id WHERE ranked.place = 1 AND ranked.operation <> 'DELETE'");
	return verify_number(verify, sql, &ignored, &has_row, err);
}
