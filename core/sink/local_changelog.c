/*
 * Changelog tables: every change as it came, in order of arrival (the rowid).
 * A repeat is told by the unique place (position, key).
 */
#include "sink/local_private.h"

struct span changelog_name(struct arena *arena, struct span table)
{
	char *name = arena_printf(arena, "%.*s_changelog", SPAN_ARG(table));

	return span_of(name);
}

/* Column, its BigQuery type, its local declaration. */
static const struct changelog_column {
	const char *name;
	enum bq_kind type;
	const char *declaration;
} changelog_columns[] = {
	{ "fullRecord", BQ_JSON, "TEXT" },
	{ "primaryKey", BQ_JSON, "TEXT" },
	{ "operation", BQ_STRING, "TEXT NOT NULL" },
	{ "timestampMs", BQ_INT64, "INTEGER" },
	{ "tableName", BQ_STRING, "TEXT" },
	{ "_weir_position", BQ_BYTES, "BLOB NOT NULL" },
	{ "_weir_key", BQ_BYTES, "BLOB NOT NULL" },
	{ "_weir_old_key", BQ_BYTES, "BLOB" },
	{ "_weir_unavailable", BQ_JSON, "TEXT" },
	{ "_weir_received", BQ_INT64, "INTEGER" },
};
#define CHANGELOG_COLUMNS (sizeof(changelog_columns) / sizeof(changelog_columns[0]))

static bool own_columns_write(struct store *store, struct span changelog, struct error *err)
{
	struct column columns[CHANGELOG_COLUMNS];
	struct table_schema schema = { .columns = columns, .count = CHANGELOG_COLUMNS };

	memset(columns, 0, sizeof(columns));
	for (size_t i = 0; i < CHANGELOG_COLUMNS; i++) {
		columns[i].name = span_of(changelog_columns[i].name);
		columns[i].type.kind = changelog_columns[i].type;
	}
	return catalog_columns_write(store, changelog, PART_TABLE, &schema, err);
}

static void index_name(struct text *sql, struct span changelog, const char *what)
{
	OWNED(text) name = text_new(LOCAL_SQL_MAX);

	text_add(name, "_weir_");
	text_add_span(name, changelog);
	text_add(name, what);
	sql_name(sql, text_span(name));
}

bool changelog_create(struct store *store, struct span changelog, struct error *err)
{
	struct text *sql = sql_new("CREATE TABLE ");

	sql_name(sql, changelog);
	for (size_t i = 0; i < CHANGELOG_COLUMNS; i++)
		text_add_format(sql, "%s%s %s", i ? ", " : "(", changelog_columns[i].name, changelog_columns[i].declaration);
	text_add(sql, "); CREATE UNIQUE INDEX ");
	index_name(sql, changelog, "_place");
	text_add(sql, " ON ");
	sql_name(sql, changelog);
	text_add(sql, "(_weir_position, _weir_key)");
	return sql_run(sql, store, err) && own_columns_write(store, changelog, err);
}

bool changelog_index_history(struct store *store, struct span changelog, struct error *err)
{
	struct text *sql = sql_new("CREATE INDEX IF NOT EXISTS ");

	index_name(sql, changelog, "_history");
	text_add(sql, " ON ");
	sql_name(sql, changelog);
	text_add(sql, "(_weir_key, _weir_position); CREATE INDEX IF NOT EXISTS ");
	index_name(sql, changelog, "_old_key");
	text_add(sql, " ON ");
	sql_name(sql, changelog);
	text_add(sql, "(_weir_old_key) WHERE _weir_old_key IS NOT NULL");
	return sql_run(sql, store, err);
}

/* In the order of their positions, which are replaced, and of their arrival. */
bool changelog_carry(struct store *store, struct span from, struct span to, const unsigned char *position,
                     struct error *err)
{
	struct text *sql = sql_new("INSERT OR IGNORE INTO ");
	sqlite3_stmt *stmt;
	bool is_fine;

	sql_name(sql, to);
	for (size_t i = 0; i < CHANGELOG_COLUMNS; i++)
		text_add_format(sql, "%s%s", i ? ", " : "(", changelog_columns[i].name);
	text_add(sql, ") SELECT ");
	for (size_t i = 0; i < CHANGELOG_COLUMNS; i++)
		text_add_format(sql, "%s%s", i ? ", " : "", strcmp(changelog_columns[i].name, "_weir_position") == 0
		                ? "weir_carried(?1, row_number() OVER (ORDER BY _weir_position, rowid))"
		                : changelog_columns[i].name);
	text_add(sql, " FROM ");
	sql_name(sql, from);
	text_add(sql, " ORDER BY rowid");
	if (!(stmt = sql_prepare(sql, store, err)))
		return false;
	store_bind_blob(stmt, 1, span_make((const char *)position, POSITION_BYTES));
	is_fine = store_run(store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

sqlite3_stmt *changelog_prepare(struct store *store, struct span changelog, struct error *err)
{
	struct text *sql = sql_new("INSERT OR IGNORE INTO ");

	sql_name(sql, changelog);
	for (size_t i = 0; i < CHANGELOG_COLUMNS; i++)
		text_add_format(sql, "%s%s", i ? ", " : "(", changelog_columns[i].name);
	text_add(sql, ") VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)");
	return sql_prepare(sql, store, err);
}

/* Absent is NULL: an empty span has no text. */
static void bind_optional(sqlite3_stmt *stmt, int index, struct span text)
{
	if (text.len)
		store_bind_text(stmt, index, text);
	else
		sqlite3_bind_null(stmt, index);
}

bool changelog_add(struct store *store, sqlite3_stmt *insert, const struct table_schema *schema,
                   const struct record *record, int64_t received_us, bool *out_repeated, struct error *err)
{
	bind_optional(insert, 1, record->full_record);
	bind_optional(insert, 2, record->primary_key);
	store_bind_text(insert, 3, span_of(operation_names[record->operation]));
	sqlite3_bind_int64(insert, 4, record->timestamp_ms);
	store_bind_text(insert, 5, schema->source);
	store_bind_blob(insert, 6, span_make((const char *)record->position, POSITION_BYTES));
	store_bind_blob(insert, 7, record->key);
	if (record->old_key.len)
		store_bind_blob(insert, 8, record->old_key);
	else
		sqlite3_bind_null(insert, 8);
	bind_optional(insert, 9, record->unavailable);
	sqlite3_bind_int64(insert, 10, received_us);
	if (!store_run(store, insert, err))
		return false;
	*out_repeated = sqlite3_changes(store->db) == 0;
	return true;
}
