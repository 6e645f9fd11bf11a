/*
 * The catalogue of a dataset: which tables a job has filled here, and the types
 * of their columns, which SQLite's own declarations cannot tell.
 */
#include "sink/local_private.h"

#include <stdlib.h>

#define CATALOG_COLUMNS_MAX (SCHEMA_COLUMNS_FAR_MAX + 64) /* the books of BigQuery have such tables too */

#define WAS_KEY_BIT 33 /* of _weir_columns.is_wide, above `told` */

static bool column_read(sqlite3_stmt *stmt, struct arena *arena, struct column *out)
{
	*out = (struct column){
		.name = arena_copy(arena, store_text(stmt, 0)),
		.source_name = arena_copy(arena, store_text(stmt, 1)),
		.key_ordinal = (uint16_t)sqlite3_column_int(stmt, 3),
		.is_provisional = sqlite3_column_int(stmt, 4),
		.is_inferred = sqlite3_column_int(stmt, 5),
		.is_wide = sqlite3_column_int(stmt, 6) & 1,
		.told = (uint32_t)(sqlite3_column_int64(stmt, 6) >> 1),
		.was_key = (uint16_t)(sqlite3_column_int64(stmt, 6) >> WAS_KEY_BIT),
	};
	return bq_type_parse(store_text(stmt, 2), arena, &out->type);
}

static void keys_find(struct table_schema *schema, struct arena *arena)
{
	uint16_t *keys = arena_alloc(arena, (schema->count + 1) * sizeof(*keys));

	schema->key_count = 0;
	for (size_t i = 0; i < schema->count; i++) {
		if (schema->columns[i].key_ordinal)
			schema->key_count++;
	}
	for (size_t i = 0; i < schema->count; i++) {
		uint16_t ordinal = schema->columns[i].key_ordinal;

		if (ordinal && ordinal <= schema->key_count)
			keys[ordinal - 1] = (uint16_t)i;
	}
	schema->keys = keys;
}

/* Rows of the statement into `columns`, which has room for `room`. */
static bool columns_collect(struct store *store, sqlite3_stmt *stmt, struct arena *arena, struct table_schema *out,
                            struct error *err)
{
	struct column *columns = arena_alloc(arena, CATALOG_COLUMNS_MAX * sizeof(*columns));
	size_t count = 0;
	bool has_row;

	while (store_step(store, stmt, &has_row, err)) {
		if (!has_row) {
			out->columns = columns;
			out->count = count;
			keys_find(out, arena);
			return true;
		}
		if (count == CATALOG_COLUMNS_MAX || !column_read(stmt, arena, &columns[count]))
			return fail(err, ERROR_BUG, "state_damaged", "the warehouse '%s' has a column type '%.60s' in "
			            "_weir_columns that is none", store->path, store_text(stmt, 2).at);
		count++;
	}
	return false;
}

bool catalog_columns_read(struct store *store, struct span table, const char *part, struct arena *arena,
                          struct table_schema *out, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(store,
		"SELECT name, source_name, type, key_ordinal, is_provisional, is_inferred, is_wide FROM _weir_columns "
		"WHERE table_name=?1 AND part=?2 ORDER BY ordinal", err);
	struct arena *room;
	struct table_schema found = *out;
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, table);
	store_bind_text(stmt, 2, span_of(part));
	room = arena_new(64u << 10);
	is_fine = columns_collect(store, stmt, room, &found, err);
	sqlite3_finalize(stmt);
	if (is_fine)
		*out = *schema_copy(arena, &found);
	arena_free(room);
	return is_fine;
}

static bool column_write(struct store *store, sqlite3_stmt *stmt, int ordinal, const struct column *column,
                         struct error *err)
{
	OWNED(text) type = text_new(64u << 10);

	if (!bq_type_print(type, &column->type))
		return fail(err, ERROR_CONFIG, "too_many_columns", "the type of column '%.*s' is too long to be stored",
		            SPAN_ARG(column->name));
	sqlite3_bind_int(stmt, 3, ordinal);
	store_bind_text(stmt, 4, column->name);
	store_bind_text(stmt, 5, column->source_name.at ? column->source_name : column->name);
	store_bind_text(stmt, 6, text_span(type));
	sqlite3_bind_int(stmt, 7, column->key_ordinal);
	sqlite3_bind_int(stmt, 8, column->is_provisional);
	sqlite3_bind_int(stmt, 9, column->is_inferred);
	sqlite3_bind_int64(stmt, 10, column->is_wide | (int64_t)column->told << 1 | (int64_t)column->was_key << WAS_KEY_BIT);
	return store_run(store, stmt, err);
}

static bool columns_forget(struct store *store, struct span table, const char *part, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(store, "DELETE FROM _weir_columns WHERE table_name=?1 AND part=?2", err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, table);
	store_bind_text(stmt, 2, span_of(part));
	is_fine = store_run(store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

bool catalog_columns_write(struct store *store, struct span table, const char *part,
                           const struct table_schema *schema, struct error *err)
{
	sqlite3_stmt *stmt;
	bool is_fine = true;

	if (!columns_forget(store, table, part, err))
		return false;
	stmt = store_prepare(store, "INSERT INTO _weir_columns(table_name, part, ordinal, name, source_name, type, "
	                            "key_ordinal, is_provisional, is_inferred, is_wide) "
	                            "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)", err);
	if (!stmt)
		return false;
	store_bind_text(stmt, 1, table);
	store_bind_text(stmt, 2, span_of(part));
	for (size_t i = 0; is_fine && i < schema->count; i++)
		is_fine = column_write(store, stmt, (int)i + 1, &schema->columns[i], err);
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool table_read(struct store *store, sqlite3_stmt *stmt, bool has_changelog, struct arena *arena,
                       struct catalog_table *out, struct error *err)
{
	struct span of;

	out->schema.source = arena_copy(arena, store_text(stmt, 1));
	out->schema.name = arena_copy(arena, store_text(stmt, 2));
	out->schema.version = (uint32_t)sqlite3_column_int64(stmt, 3);
	out->schema.notes = (uint32_t)sqlite3_column_int64(stmt, 4);
	out->has_history_index = sqlite3_column_int(stmt, 5);
	out->schema.history = arena_copy(arena, store_text(stmt, 6));
	out->identity = arena_copy(arena, store_text(stmt, 7));
	/* The columns that stand under its name are those of the table in its way. */
	if (out->schema.notes & NOTE_NAME_COLLISION)
		return true;
	of = has_changelog ? changelog_name(arena, out->schema.name) : out->schema.name;
	return catalog_columns_read(store, of, has_changelog ? PART_RECORD : PART_TABLE, arena, &out->schema, err);
}

#define TABLE_COLUMNS "number, source, name, version, notes, has_history_index, history, identity"

static bool tables_collect(struct store *store, sqlite3_stmt *stmt, bool has_changelog, struct arena *arena,
                           struct catalog_table *tables, size_t room, struct error *err)
{
	bool has_row;

	while (store_step(store, stmt, &has_row, err)) {
		int64_t number;

		if (!has_row)
			return true;
		number = sqlite3_column_int64(stmt, 0);
		if (number < 0 || (uint64_t)number >= room)
			return fail(err, ERROR_BUG, "state_damaged", "the warehouse '%s' has a gap in the table numbers of "
			            "_weir_tables", store->path);
		if (!table_read(store, stmt, has_changelog, arena, &tables[number], err))
			return false;
	}
	return false;
}

static bool tables_count(struct store *store, const char *job, size_t *out_count, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(store, "SELECT count(*) FROM _weir_tables WHERE job=?1", err);
	bool has_row = false;
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(job));
	is_fine = store_step(store, stmt, &has_row, err);
	if (is_fine)
		*out_count = has_row ? (size_t)sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool tables_read(struct store *store, const char *job, bool has_changelog, struct arena *arena,
                        struct catalog_table **out_tables, size_t *out_count, struct error *err)
{
	size_t count;
	struct catalog_table *tables;
	sqlite3_stmt *stmt;
	bool is_fine;

	if (!tables_count(store, job, &count, err))
		return false;
	stmt = store_prepare(store, "SELECT " TABLE_COLUMNS " FROM _weir_tables WHERE job=?1 ORDER BY number", err);
	if (!stmt)
		return false;
	tables = arena_zalloc(arena, (count + 1) * sizeof(*tables));
	store_bind_text(stmt, 1, span_of(job));
	is_fine = tables_collect(store, stmt, has_changelog, arena, tables, count, err);
	sqlite3_finalize(stmt);
	if (is_fine) {
		*out_tables = tables;
		*out_count = count;
	}
	return is_fine;
}

/* Of one moment: a running job adds tables between two looks. */
bool catalog_tables_read(struct store *store, const char *job, bool has_changelog, struct arena *arena,
                         struct catalog_table **out_tables, size_t *out_count, struct error *err)
{
	bool is_inside = !sqlite3_get_autocommit(store->db);
	bool is_fine;

	if (!is_inside && !store_exec(store, "BEGIN", err))
		return false;
	is_fine = tables_read(store, job, has_changelog, arena, out_tables, out_count, err);
	if (!is_inside)
		store_rollback(store);
	return is_fine;
}

bool catalog_table_read(struct store *store, const char *job, uint32_t number, struct arena *arena,
                        struct catalog_table *out, bool *out_known, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(store, "SELECT " TABLE_COLUMNS " FROM _weir_tables WHERE job=?1 AND number=?2", err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(job));
	sqlite3_bind_int64(stmt, 2, number);
	*out = (struct catalog_table){ 0 };
	is_fine = store_step(store, stmt, out_known, err) && (!*out_known || table_read(store, stmt, true, arena, out, err));
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool table_row_write(struct store *store, const char *job, uint32_t number, const struct catalog_table *table,
                            struct span changelog, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(store,
		"INSERT OR REPLACE INTO _weir_tables(job, number, source, name, version, notes, changelog, has_history_index, "
		"history, identity) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9, coalesce((SELECT identity FROM _weir_tables "
		"WHERE job=?1 AND number=?2), lower(hex(randomblob(16)))))", err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(job));
	sqlite3_bind_int64(stmt, 2, number);
	store_bind_text(stmt, 3, table->schema.source);
	store_bind_text(stmt, 4, table->schema.name);
	sqlite3_bind_int64(stmt, 5, table->schema.version);
	sqlite3_bind_int64(stmt, 6, table->schema.notes);
	store_bind_text(stmt, 7, changelog);
	sqlite3_bind_int(stmt, 8, table->has_history_index);
	store_bind_text(stmt, 9, table->schema.history.at ? table->schema.history : SPAN(""));
	is_fine = store_run(store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

bool catalog_table_write(struct store *store, const char *job, uint32_t number, const struct catalog_table *table,
                         bool has_changelog, struct error *err)
{
	struct arena *arena = arena_new(1024);
	struct span changelog = has_changelog ? changelog_name(arena, table->schema.name) : (struct span){ 0 };
	bool is_fine = table_row_write(store, job, number, table, changelog, err);

	if (is_fine && has_changelog)
		is_fine = catalog_columns_write(store, changelog, PART_RECORD, &table->schema, err);
	arena_free(arena);
	return is_fine;
}

bool catalog_owns_changelog(struct store *store, const struct table_schema *schema, bool *out_owns, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(store, "SELECT 1 FROM _weir_tables WHERE name=?1 AND source=?2 "
	                                          "AND changelog IS NOT NULL", err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, schema->name);
	store_bind_text(stmt, 2, schema->source);
	is_fine = store_step(store, stmt, out_owns, err);
	sqlite3_finalize(stmt);
	return is_fine;
}
