/*
 * The dead-letter table of PubSub_CDC_to_BigQuery in the local warehouse: the
 * original's columns, with the bytes and attributes that came. Each letter stands
 * in it once, by the store it is of and its number there.
 */
#include "sink/letters_private.h"
#include "sink/local_private.h"

#include <stdlib.h>

static bool table_make(struct store *store, struct span table, struct error *err)
{
	struct column columns[LETTER_COLUMNS] = { 0 };
	struct table_schema schema = { .columns = columns, .count = LETTER_COLUMNS };
	struct text *sql;
	bool has_table;

	if (!sql_has_table(store, table, &has_table, err))
		return false;
	if (has_table)
		return true;
	sql = sql_new("CREATE TABLE ");
	sql_name(sql, table);
	for (size_t i = 0; i < LETTER_COLUMNS; i++) {
		text_add_format(sql, "%s\"%s\" %s", i ? ", " : "(", letter_columns[i].name, letter_columns[i].declaration);
		columns[i].name = columns[i].source_name = span_of(letter_columns[i].name);
		columns[i].type = letter_columns[i].type;
	}
	text_add_char(sql, ')');
	return sql_run(sql, store, err) && catalog_columns_write(store, table, PART_TABLE, &schema, err);
}

static bool row_add(struct store *store, sqlite3_stmt *stmt, const char *incarnation, const struct letter_row *row,
                    struct error *err)
{
	const struct message *message = row->message;
	OWNED(text) when = text_new(64);
	OWNED(text) payload = text_new(message->body.len * 3 + 16);
	OWNED(text) attributes = text_new(4u << 20);
	OWNED(text) error = text_new(64u << 10);
	OWNED(text) trace = text_new(8192);
	OWNED(text) name = text_new(80);

	letter_time_text(row->published_us, when);
	letter_payload_text(message->body, payload);
	message_attributes_text(message, attributes);
	letter_error_text(row, error, trace);
	text_add_format(name, "%s/%lld", incarnation, (long long)row->id);
	store_bind_text(stmt, 1, text_span(when));
	store_bind_text(stmt, 2, text_span(payload));
	store_bind_blob(stmt, 3, message->body);
	store_bind_text(stmt, 4, text_span(attributes));
	store_bind_text(stmt, 5, text_span(error));
	store_bind_text(stmt, 6, trace->len ? text_span(trace) : (struct span){ NULL, 0 });
	store_bind_text(stmt, 7, text_span(name));
	return store_run(store, stmt, err);
}

static bool rows_add(struct store *store, struct span table, const char *incarnation, const struct letter_row *rows,
                     size_t count, struct error *err)
{
	struct text *sql = sql_new("INSERT OR IGNORE INTO ");
	sqlite3_stmt *stmt;
	bool is_fine = true;

	sql_name(sql, table);
	for (size_t i = 0; i < LETTER_COLUMNS; i++)
		text_add_format(sql, "%s\"%s\"", i ? ", " : "(", letter_columns[i].name);
	text_add(sql, ") VALUES(?1,?2,?3,?4,?5,?6,?7)");
	if (!(stmt = sql_prepare(sql, store, err)))
		return false;
	for (size_t i = 0; is_fine && i < count; i++)
		is_fine = row_add(store, stmt, incarnation, &rows[i], err);
	sqlite3_finalize(stmt);
	return is_fine;
}

bool warehouse_add_letters(const char *warehouse, const char *dataset, const char *table, const char *incarnation,
                           const struct letter_row *rows, size_t count, struct error *err)
{
	struct store *store = local_open(warehouse, dataset, STORE_WRITE, 0, 0, err);
	struct span name = span_of(table);
	bool is_fine = store && store_begin(store, err) && table_make(store, name, err) &&
	               rows_add(store, name, incarnation, rows, count, err) && store_commit(store, err);

	if (store && !is_fine)
		store_rollback(store);
	store_close(store);
	return is_fine || because(err, "dead-letter table '%s.%s'", dataset, table);
}
