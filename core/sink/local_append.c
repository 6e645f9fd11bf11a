/*
 * Append tables: rows as messages brought them, each once by its position. Columns
 * that the table has are never altered; a value that such a column cannot hold is
 * that row's fault.
 */
#include "sink/local_sink_private.h"
#include "sink/replica_private.h"

#include <stdlib.h>

/*
 * Values against what the table has
 */

static bool is_number_text(struct span text, bool may_be_fraction)
{
	int64_t number;
	double real;

	return span_int64(text, &number) || (may_be_fraction && real_parse_short(text, &real));
}

/* The transform knows the types of its own tables. A table that another job has made may have others, and SQLite would keep
 * any text in them. */
static bool column_takes(const struct bq_type *type, const struct json_doc *doc, uint32_t token, struct arena *arena)
{
	bool is_checked = type->kind == BQ_INT64 || type->kind == BQ_BOOL || type->kind == BQ_FLOAT64;
	struct span text;

	if (!is_checked || type->is_array || json_is(doc, token, JSON_NULL))
		return true;
	text = json_is(doc, token, JSON_STRING) ? json_text(doc, token, arena) : json_slice(doc, token);
	if (type->kind == BQ_INT64)
		return is_number_text(text, false);
	if (type->kind == BQ_BOOL)
		return span_is(text, "true") || span_is(text, "false");
	return is_number_text(text, true) || json_is(doc, token, JSON_NUMBER) || span_is(text, "NaN") ||
	       span_is(text, "Infinity") || span_is(text, "-Infinity");
}

static bool fault_set(struct append_fault *out, const char *code, struct span column, const char *message)
{
	*out = (struct append_fault){ .code = code, .column = column, .message = message };
	return true;
}

/* Binding has left in the hints which column each member is of. */
static bool fault_find(struct replica *replica, struct append_fault *out)
{
	const struct json_doc *doc = &replica->doc;
	size_t member = 0;

	for (uint32_t name = 1; name < doc->count; name = doc->tokens[name + 1].next) {
		uint32_t column = replica->hints[member++];

		if (column == UINT32_MAX && !json_is(doc, name + 1, JSON_NULL))
			return fault_set(out, "unknown_column", json_text(doc, name, replica->scratch), "the table has no such column");
		if (column != UINT32_MAX && !column_takes(&replica->schema.columns[column].type, doc, name + 1, replica->scratch))
			return fault_set(out, "type_mismatch", replica->schema.columns[column].name,
			                 "the column has another type than the value");
	}
	return false;
}

/* Of a table that somebody else has made, constraints may have refused what looks like a repeat. */
static bool has_position(struct replica *replica, const struct record *record, bool *out_has, struct error *err)
{
	struct text *sql = sql_new("SELECT 1 FROM ");
	sqlite3_stmt *stmt;
	bool is_fine;

	sql_name(sql, replica->name);
	text_add(sql, " WHERE _weir_position=?1");
	if (!(stmt = sql_prepare(sql, replica->store, err)))
		return false;
	store_bind_blob(stmt, 1, span_make((const char *)record->position, POSITION_BYTES));
	is_fine = store_step(replica->store, stmt, out_has, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

bool replica_append(struct replica *replica, const struct record *record, bool *out_repeated,
                    struct append_fault *out_fault, struct error *err)
{
	struct change change = { .full_record = record->full_record, .position = record->position,
	                         .operation = record->operation };

	*out_fault = (struct append_fault){ 0 };
	*out_repeated = false;
	if (!replica_prepare(replica, err) || !replica_bind_record(replica, &change, err))
		return false;
	if (fault_find(replica, out_fault))
		return true;
	if (!store_run(replica->store, replica->upsert, err))
		return false;
	arena_reset(replica->scratch);
	if (sqlite3_changes(replica->store->db))
		return true;
	if (!has_position(replica, record, out_repeated, err))
		return false;
	return *out_repeated || fault_set(out_fault, "row_refused", SPAN(""), "a constraint of the table refuses the row");
}

/*
 * Tables that are there already
 */

/* Declared types that mean one of ours; the rest goes by SQLite's affinity, and is text at last. */
static const struct {
	const char *word;
	enum bq_kind kind;
} declared[] = {
	{ "RANGE<DATETIME>", BQ_RANGE_DATETIME }, { "RANGE<DATE>", BQ_RANGE_DATE }, { "RANGE<TIMESTAMP>", BQ_RANGE_TIMESTAMP },
	{ "BOOL", BQ_BOOL },     { "INT", BQ_INT64 },    { "REAL", BQ_FLOAT64 },       { "FLOA", BQ_FLOAT64 },
	{ "DOUB", BQ_FLOAT64 },  { "BLOB", BQ_BYTES },   { "BYTES", BQ_BYTES },        { "NUMERIC", BQ_NUMERIC },
	{ "DATETIME", BQ_DATETIME }, { "TIMESTAMP", BQ_TIMESTAMP }, { "DATE", BQ_DATE }, { "TIME", BQ_TIME },
	{ "JSON", BQ_JSON },
};

static enum bq_kind declared_kind(const char *type)
{
	for (size_t i = 0; i < sizeof(declared) / sizeof(declared[0]); i++) {
		if (strcasestr(type, declared[i].word))
			return declared[i].kind;
	}
	return BQ_STRING;
}

static bool columns_look(struct replica *replica, struct column *columns, size_t *out_count, bool *out_has_position,
                         struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(replica->store, "SELECT name, type FROM pragma_table_info(?1)", err);
	bool has_row, is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, replica->name);
	while ((is_fine = store_step(replica->store, stmt, &has_row, err)) && has_row && *out_count < SCHEMA_COLUMNS_MAX) {
		struct span name = store_text(stmt, 0);

		if (span_is(name, "_weir_position")) {
			*out_has_position = true;
			continue;
		}
		columns[*out_count] = (struct column){ .name = arena_copy(replica->scratch, name) };
		columns[*out_count].source_name = columns[*out_count].name;
		columns[(*out_count)++].type.kind = declared_kind(arena_string(replica->scratch, store_text(stmt, 1)));
	}
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool position_add(struct replica *replica, struct error *err)
{
	struct text *sql = sql_new("ALTER TABLE ");
	OWNED(text) index = text_new(LOCAL_SQL_MAX);

	text_add(index, "_weir_");
	text_add_span(index, replica->name);
	text_add(index, "_place");
	sql_name(sql, replica->name);
	text_add(sql, " ADD COLUMN _weir_position BLOB; CREATE UNIQUE INDEX ");
	sql_name(sql, text_span(index));
	text_add(sql, " ON ");
	sql_name(sql, replica->name);
	text_add(sql, "(_weir_position)");
	return sql_run(sql, replica->store, err);
}

bool append_adopt(struct replica *replica, struct error *err)
{
	struct table_schema schema = { .name = replica->name };
	struct column *columns;
	bool has_table, has_position_column = false;

	if (!sql_has_table(replica->store, replica->name, &has_table, err))
		return false;
	if (!has_table)
		return true;
	columns = arena_zalloc(replica->scratch, SCHEMA_COLUMNS_MAX * sizeof(*columns));
	if (!columns_look(replica, columns, &schema.count, &has_position_column, err) ||
	    (!has_position_column && !position_add(replica, err)))
		return false;
	schema.columns = columns;
	if (!catalog_columns_write(replica->store, replica->name, PART_TABLE, &schema, err) || !replica_save(replica, 0, err))
		return false;
	replica->schema = *schema_copy(replica->arena, &schema);
	replica->is_there = true;
	arena_reset(replica->scratch);
	return true;
}

/*
 * The sink's side
 */

bool append_table_look(struct local_sink *sink, struct local_table *table, struct error *err)
{
	bool has_table;

	if (!sql_has_table(sink->store, table->schema->name, &has_table, err))
		return false;
	table->is_missing = !has_table;
	return true;
}

static bool refuse(struct local_sink *sink, struct batch *batch, struct record *record, const struct append_fault *fault)
{
	const struct table_schema *schema = sink->tables[record->table].schema;
	struct refusal *refusal;

	record_refuse(batch, record, fault->code,
	              arena_printf(batch->arena, "%s%.*s%s%s.%.*s: %s", fault->column.len ? "column " : "", SPAN_ARG(fault->column),
	                           fault->column.len ? " of " : "table ", sink->dataset, SPAN_ARG(schema->name),
	                           fault->message));
	refusal = (struct refusal *)record->refusal;
	refusal->column = arena_copy(batch->arena, fault->column);
	refusal->path = refusal->column;
	return true;
}

/* A table may have come since it was last looked for. */
static bool missing_again(struct local_sink *sink, struct local_table *table, struct error *err)
{
	return !table->is_missing || append_table_look(sink, table, err);
}

bool record_append(struct local_sink *sink, struct batch *batch, struct record *record, struct error *err)
{
	struct local_table *table = &sink->tables[record->table];
	struct append_fault fault;
	bool is_repeated;

	if (!sink->may_make && !table->replica && !append_table_look(sink, table, err))
		return false;
	if (!missing_again(sink, table, err))
		return false;
	if (table->is_missing)
		return record_refuse(batch, record, "table_not_found",
		                     arena_printf(batch->arena, "there is no table %s.%.*s, and autoMapTables is false",
		                                  sink->dataset, SPAN_ARG(table->schema->name)));
	if (!table->replica && !(local_table_begin_replica(sink, table, err) && local_table_follow(sink, table, err)))
		return false;
	if (!replica_append(table->replica, record, &is_repeated, &fault, err))
		return false;
	if (fault.code)
		return refuse(sink, batch, record, &fault);
	table->is_touched = true;
	record->verdict = is_repeated ? VERDICT_REPEATED : VERDICT_WRITTEN;
	return true;
}
