/* The rebuilt rows against the replica's, all source columns, by SQL; the first difference in words. */
#include "sink/verify_private.h"

#include "base/clean.h"

#include <inttypes.h>

#define SHOWN_BYTES 60

bool verify_number(struct verify *verify, struct text *sql, int64_t *out_number, bool *out_found, struct error *err)
{
	sqlite3_stmt *stmt = sql_prepare(sql, verify->store, err);
	bool has_row = false;
	bool is_fine;

	if (!stmt)
		return false;
	if (sqlite3_bind_parameter_count(stmt))
		sqlite3_bind_int64(stmt, 1, verify->watermark);
	is_fine = store_step(verify->store, stmt, &has_row, err);
	if (is_fine) {
		*out_number = has_row ? sqlite3_column_int64(stmt, 0) : 0;
		*out_found = has_row;
	}
	sqlite3_finalize(stmt);
	return is_fine;
}

/* Key columns of t and s are equal. */
static void add_match(struct text *sql, const struct verify *verify)
{
	const struct table_schema *schema = &verify->schema;

	for (size_t i = 0; i < schema->key_count; i++) {
		text_add(sql, i ? " AND t." : "t.");
		sql_name(sql, schema->columns[schema->keys[i]].name);
		text_add_format(sql, " = s.c%u", (unsigned)schema->keys[i]);
	}
}

static void add_replica(struct text *sql, const struct verify *verify)
{
	text_add(sql, "r.");
	sql_name(sql, verify->table);
}

static void add_value(struct text *out, sqlite3_stmt *stmt, int column)
{
	struct span text;
	bool is_cut;

	switch (sqlite3_column_type(stmt, column)) {
	case SQLITE_NULL:
		text_add(out, "NULL");
		return;
	case SQLITE_BLOB:
		text_add_format(out, "%d bytes", sqlite3_column_bytes(stmt, column));
		return;
	default:
		text = store_text(stmt, column);
		is_cut = text.len > SHOWN_BYTES;
		clean_text(out, is_cut ? span_make(text.at, SHOWN_BYTES) : text);
		text_add(out, is_cut ? "..." : "");
	}
}

/* "id=7, kind=home" from the columns of the statement that begin at `first`. */
static void add_key(struct text *out, const struct verify *verify, sqlite3_stmt *stmt, int first)
{
	const struct table_schema *schema = &verify->schema;

	for (size_t i = 0; i < schema->key_count; i++) {
		text_add(out, i ? ", " : "");
		clean_text(out, schema->columns[schema->keys[i]].name);
		text_add_char(out, '=');
		add_value(out, stmt, first + (int)i);
	}
}

static void add_key_columns(struct text *sql, const struct verify *verify, bool of_rebuilt)
{
	const struct table_schema *schema = &verify->schema;

	for (size_t i = 0; i < schema->key_count; i++) {
		text_add(sql, i ? ", " : "");
		if (of_rebuilt)
			text_add_format(sql, "s.c%u", (unsigned)schema->keys[i]);
		else
			text_add(sql, "t."), sql_name(sql, schema->columns[schema->keys[i]].name);
	}
}

/* A row that only one side has. */
static bool compare_presence(struct verify *verify, bool of_rebuilt, struct error *err)
{
	struct text *sql = sql_new("SELECT ");
	OWNED(text) words = text_new(8192);
	sqlite3_stmt *stmt;
	bool has_row = false;
	bool is_fine;

	add_key_columns(sql, verify, of_rebuilt);
	text_add(sql, of_rebuilt ? " FROM main.rebuilt s" : " FROM ");
	if (!of_rebuilt)
		add_replica(sql, verify), text_add(sql, " t");
	text_add(sql, of_rebuilt ? " WHERE NOT EXISTS (SELECT 1 FROM " : " WHERE NOT EXISTS (SELECT 1 FROM main.rebuilt s");
	if (of_rebuilt)
		add_replica(sql, verify), text_add(sql, " t");
	text_add(sql, " WHERE ");
	add_match(sql, verify);
	text_add(sql, ") LIMIT 1");
	if (!(stmt = sql_prepare(sql, verify->store, err)))
		return false;
	is_fine = store_step(verify->store, stmt, &has_row, err);
	if (is_fine && has_row) {
		add_key(words, verify, stmt, 0);
		text_add(words, of_rebuilt ? ": only in the changelog" : ": only in the replica");
		verify->difference = arena_string(verify->arena, text_span(words));
	}
	sqlite3_finalize(stmt);
	return is_fine;
}

static void add_pair(struct text *sql, const struct verify *verify)
{
	text_add(sql, " FROM main.rebuilt s JOIN ");
	add_replica(sql, verify);
	text_add(sql, " t ON ");
	add_match(sql, verify);
}

/* (t.a, t.b) IS NOT (s.c0, s.c1): one comparison however many columns. */
static void add_differs(struct text *sql, const struct verify *verify)
{
	const struct table_schema *schema = &verify->schema;

	text_add(sql, " WHERE (");
	for (size_t i = 0; i < schema->count; i++) {
		text_add(sql, i ? ", t." : "t.");
		sql_name(sql, schema->columns[i].name);
	}
	text_add(sql, ") IS NOT (");
	for (size_t i = 0; i < schema->count; i++)
		text_add_format(sql, "%ss.c%zu", i ? ", " : "", i);
	text_add(sql, ") LIMIT 1");
}

static bool column_words(struct verify *verify, int64_t row, size_t column, bool *out_found, struct error *err)
{
	struct text *sql = sql_new("SELECT t.");
	OWNED(text) words = text_new(8192);
	struct span name = verify->schema.columns[column].name;
	sqlite3_stmt *stmt;
	bool is_fine;

	sql_name(sql, name);
	text_add_format(sql, ", s.c%zu, ", column);
	add_key_columns(sql, verify, true);
	add_pair(sql, verify);
	text_add_format(sql, " WHERE s.rowid = %" PRId64 " AND t.", row);
	sql_name(sql, name);
	text_add_format(sql, " IS NOT s.c%zu", column);
	if (!(stmt = sql_prepare(sql, verify->store, err)))
		return false;
	is_fine = store_step(verify->store, stmt, out_found, err);
	if (is_fine && *out_found) {
		add_key(words, verify, stmt, 2);
		text_add(words, ": column ");
		clean_text(words, name);
		text_add(words, ": replica ");
		add_value(words, stmt, 0);
		text_add(words, ", changelog ");
		add_value(words, stmt, 1);
		verify->difference = arena_string(verify->arena, text_span(words));
	}
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool compare_values(struct verify *verify, struct error *err)
{
	struct text *sql = sql_new("SELECT s.rowid");
	int64_t row;
	bool is_found;

	add_pair(sql, verify);
	add_differs(sql, verify);
	if (!verify_number(verify, sql, &row, &is_found, err))
		return false;
	for (size_t i = 0; is_found && !verify->difference && i < verify->schema.count; i++) {
		bool is_this;

		if (!column_words(verify, row, i, &is_this, err))
			return false;
	}
	if (is_found && !verify->difference)
		verify->difference = "a row differs";
	return true;
}

static bool compare_counts(struct verify *verify, struct error *err)
{
	struct text *sql = sql_new("SELECT count(*) FROM ");
	int64_t rows, rebuilt;
	bool is_found;

	add_replica(sql, verify);
	if (!verify_number(verify, sql, &rows, &is_found, err) ||
	    !verify_number(verify, sql_new("SELECT count(*) FROM main.rebuilt"), &rebuilt, &is_found, err))
		return false;
	verify->rows = (uint64_t)rows;
	if (rows != rebuilt && !verify->difference)
		verify->difference = arena_printf(verify->arena, "the replica has %" PRId64 " rows, the changelog %" PRId64, rows,
		                                  rebuilt);
	return true;
}

bool verify_compare(struct verify *verify, struct error *err)
{
	return compare_values(verify, err) && (verify->difference || compare_presence(verify, true, err)) &&
	       (verify->difference || compare_presence(verify, false, err)) && compare_counts(verify, err);
}
