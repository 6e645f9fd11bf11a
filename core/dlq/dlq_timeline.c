/*
 * What happened to tables: their schema timeline, and notes that count what
 * somebody should see once ("12 values of until outside TIMESTAMP").
 */
#include "dlq/dlq_private.h"

#include "base/clock.h"

#include <stdlib.h>

static void column_json(struct text *out, const struct column *column)
{
	OWNED(text) type = text_new(1 << 20);

	bq_type_print(type, &column->type);
	member_first(out, "name", column->name);
	member_text(out, "type", text_span(type));
	member_int(out, "key", column->key_ordinal);
	member_bool(out, "inferred", column->is_inferred);
	text_add_char(out, '}');
}

static struct text *columns_json(const struct table_schema *schema)
{
	struct text *out = text_new(LINE_LIMIT);

	text_add_char(out, '[');
	for (size_t i = 0; schema && i < schema->count; i++) {
		text_add(out, i ? "," : "");
		column_json(out, &schema->columns[i]);
	}
	text_add_char(out, ']');
	return out;
}

static void bind_cause(sqlite3_stmt *stmt, int64_t origin, const struct message *by)
{
	if (by) {
		sqlite3_bind_int64(stmt, 5, origin);
		dlq_bind_count(stmt, 6, by->offset);
		dlq_bind_count(stmt, 7, by->line);
		dlq_bind_optional(stmt, 8, by->id);
		dlq_bind_optional(stmt, 9, by->publish);
	}
	sqlite3_bind_int64(stmt, 10, by ? by->received_us : clock_utc_us());
}

bool dlq_schema_changed(struct dlq *dlq, const char *table, const struct schema_change *change,
                        const struct message *by, struct error *err)
{
	const struct table_schema *schema = change->schema;
	const char *why = change->why ? change->why : "";
	OWNED(text) columns = columns_json(schema);
	sqlite3_stmt *stmt;
	int64_t origin = 0;

	if (!dlq_json_is_whole(dlq, columns, err) || (by && !dlq_origin_row(dlq, by, &origin, err)) ||
	    !(stmt = dlq_statement(dlq, TIMELINE_ADD, err)))
		return false;
	store_bind_text(stmt, 1, span_of(table));
	sqlite3_bind_int64(stmt, 2, schema ? schema->version : 0);
	store_bind_text(stmt, 3, span_of(why));
	store_bind_text(stmt, 4, text_span(columns));
	bind_cause(stmt, origin, by);
	dlq_bind_optional(stmt, 11, span_of(change->steps));
	if (!dlq_run(dlq, stmt, err))
		return false;
	watch_add(dlq, table, "schema_changed", "schema: %s", why);
	return true;
}

static bool notes_place(struct dlq *dlq, bool *out_is_known, uint64_t *out_place, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, NOTE_PLACE, err);

	if (!stmt || !dlq_row(dlq, stmt, out_is_known, err))
		return false;
	*out_place = *out_is_known ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	return true;
}

static bool notes_run(struct dlq *dlq, bool was_committed, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, was_committed ? NOTE_KEEP : NOTE_DROP, err);

	return stmt && dlq_run(dlq, stmt, err);
}

bool dlq_notes_settle(struct dlq *dlq, uint64_t committed, struct error *err)
{
	bool is_known;
	uint64_t place;

	return notes_place(dlq, &is_known, &place, err) && (!is_known || notes_run(dlq, place <= committed, err));
}

bool dlq_notes_recount(struct dlq *dlq, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, NOTE_RECOUNT, err);

	return stmt && dlq_run(dlq, stmt, err);
}

bool dlq_notes_begin(struct dlq *dlq, uint64_t place, struct error *err)
{
	bool is_known;
	uint64_t before;
	sqlite3_stmt *stmt;

	/* The same place again is the same batch, written once more. */
	if (!notes_place(dlq, &is_known, &before, err) || (is_known && !notes_run(dlq, before != place, err)))
		return false;
	stmt = dlq_statement(dlq, NOTE_SET_PLACE, err);
	if (!stmt)
		return false;
	dlq_bind_count(stmt, 1, place);
	return dlq_run(dlq, stmt, err);
}

bool dlq_note(struct dlq *dlq, const char *table, struct span column, const char *code, uint64_t count,
              const char *text, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, NOTE_ADD, err);
	bool has_row = false, is_new;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(table));
	store_bind_text(stmt, 2, span_of(code));
	store_bind_text(stmt, 3, column.len ? column : SPAN(""));
	dlq_bind_count(stmt, 4, count);
	dlq_bind_optional(stmt, 5, span_of(text));
	sqlite3_bind_int64(stmt, 6, clock_utc_us());
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	is_new = has_row && sqlite3_column_int(stmt, 0);
	if (is_new)
		watch_add_note(dlq, table, code, text);
	return !has_row || dlq_run(dlq, stmt, err);
}

bool dlq_note_over(struct dlq *dlq, const char *table, const char *code, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, NOTE_OVER, err);

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(table));
	store_bind_text(stmt, 2, span_of(code));
	return dlq_run(dlq, stmt, err);
}

static void note_json(struct text *out, sqlite3_stmt *row)
{
	member_first(out, "code", store_text(row, 1));
	member_text(out, "text", store_text(row, 4));
	member_text(out, "table", store_text(row, 0));
	member_text_or_null(out, "column", store_text(row, 2));
	member_int(out, "count", sqlite3_column_int64(row, 3));
	member_time(out, "first", sqlite3_column_int64(row, 5));
	member_time(out, "last", sqlite3_column_int64(row, 6));
	text_add_char(out, '}');
}

static void change_json(struct text *out, sqlite3_stmt *row)
{
	member_first(out, "table", store_text(row, 0));
	member_int(out, "version", sqlite3_column_int64(row, 1));
	member_text(out, "change", store_text(row, 2));
	member_time(out, "time", sqlite3_column_int64(row, 10));
	member_text_or_null(out, "publish", store_text(row, 9));
	member_name(out, "source");
	if (sqlite3_column_type(row, 7) == SQLITE_NULL) {
		text_add(out, "null");
	} else {
		bool is_pubsub = span_is(store_text(row, 4), "pubsub");

		member_first(out, "kind", store_text(row, 4));
		member_text_or_null(out, is_pubsub ? "subscription" : "file", store_text(row, 5));
		if (!is_pubsub) {
			member_int(out, "line", sqlite3_column_int64(row, 6));
			member_int(out, "offset", sqlite3_column_int64(row, 7));
		}
		if (store_text(row, 8).len)
			member_text(out, "message_id", store_text(row, 8));
		text_add_char(out, '}');
	}
	member_name(out, "steps");
	text_add_span(out, store_text(row, 11).len ? store_text(row, 11) : SPAN("[]"));
	member_name(out, "columns");
	text_add_span(out, store_text(row, 3));
	text_add_char(out, '}');
}

char *table_array(struct dlq *dlq, enum dlq_statement which, const char *table,
                  void (*add)(struct text *, sqlite3_stmt *), struct error *err)
{
	OWNED(text) out = text_new(LINE_LIMIT);
	sqlite3_stmt *stmt = dlq_statement(dlq, which, err);
	bool has_row = false;
	bool is_fine;

	if (!stmt)
		return NULL;
	store_bind_text(stmt, 1, span_of(table));
	while ((is_fine = dlq_row(dlq, stmt, &has_row, err)) && has_row) {
		text_add(out, out->len ? "," : "[");
		add(out, stmt);
	}
	text_add(out, out->len ? "]" : "[]");
	return is_fine && dlq_json_is_whole(dlq, out, err) ? text_take(out) : NULL;
}

char *dlq_notes_json(struct dlq *dlq, const char *table, struct error *err)
{
	return table_array(dlq, NOTE_LIST, table, note_json, err);
}

char *dlq_timeline_json(struct dlq *dlq, const char *table, struct error *err)
{
	return table_array(dlq, TIMELINE_LIST, table, change_json, err);
}
