/* Schema changes and the rows that are stored: each is changed once, as the source did it, and that is remembered. */
#include "sink/alter_private.h"

#include "base/crash.h"

struct alter_sql {
	struct replica *replica;
	struct alter *alter;
	struct text *sql;
	bool has_any;
};

/* The value of `place`: another column's, or a parameter. */
static void add_value(struct alter_sql *a, size_t column, const struct alter_place *place)
{
	const struct table_schema *schema = &a->replica->schema;

	text_add(a->sql, place->casts ? "weir_cast(" : "");
	if (place->doc)
		text_add_format(a->sql, "?%zu", column + 2);
	else if (place->from == ALTER_GONE)
		text_add(a->sql, "NULL");
	else
		replica_add_converted(a->sql, &schema->columns[place->from], &schema->columns[column]);
	if (!place->casts)
		return;
	text_add(a->sql, ", '");
	text_add_span(a->sql, place->casts->spec);
	text_add_format(a->sql, "', '%s')", bq_type_local(&schema->columns[column].type));
}

static void add_assignment(struct alter_sql *a, size_t column, const struct alter_place *place)
{
	text_add(a->sql, a->has_any ? ", " : " SET ");
	sql_name(a->sql, a->replica->schema.columns[column].name);
	text_add_char(a->sql, '=');
	add_value(a, column, place);
	a->has_any = true;
}

static bool is_only_cast(const struct alter_way *way, size_t column)
{
	return way->places[column].from == column && !way->places[column].doc;
}

/* Where values are only cast, rows that stay the same are not written: most types widen, and hold all values. */
static void add_difference(struct alter_sql *a, const struct alter_way *way)
{
	const struct table_schema *schema = &a->replica->schema;
	const char *between = " AND (";

	for (size_t i = 0; i < schema->count; i++) {
		if (!schema->columns[i].key_ordinal && !is_only_cast(way, i))
			return;
	}
	for (size_t i = 0; i < schema->count; i++) {
		if (schema->columns[i].key_ordinal || !way->places[i].casts)
			continue;
		text_add(a->sql, between);
		sql_name(a->sql, schema->columns[i].name);
		text_add(a->sql, " IS NOT ");
		add_value(a, i, &way->places[i]);
		between = " OR ";
	}
	text_add(a->sql, ")");
}

static struct alter_way *way_of_one(struct replica *replica, struct alter *alter)
{
	struct alters one = *replica->alters, *all = replica->alters;
	struct alter_way *way;

	one.items = alter;
	one.count = 1;
	replica->alters = &one;
	way = way_make(replica, 0);
	replica->alters = all;
	return way;
}

static sqlite3_stmt *update_prepare(struct replica *replica, struct alter *alter, const struct alter_way *way,
                                    struct error *err)
{
	struct alter_sql a = { .replica = replica, .alter = alter, .sql = sql_new("UPDATE ") };

	sql_name(a.sql, replica->name);
	for (size_t i = 0; i < replica->schema.count; i++) {
		/* The key is that of the row's own events, under whichever name. */
		if (!replica->schema.columns[i].key_ordinal && (way->places[i].from != i || way->places[i].doc ||
		                                               way->places[i].casts))
			add_assignment(&a, i, &way->places[i]);
	}
	text_add(a.sql, " WHERE _weir_position < ?1");
	if (a.has_any)
		add_difference(&a, way);
	else
		text_clear(a.sql), text_add(a.sql, "SELECT 1 WHERE 0");
	return sql_prepare(a.sql, replica->store, err);
}

static void literals_bind(struct replica *replica, sqlite3_stmt *stmt, const struct alter_way *way)
{
	for (size_t i = 0; i < replica->schema.count; i++) {
		if (way->places[i].doc && !replica->schema.columns[i].key_ordinal)
			value_bind(replica->reader, stmt, (int)i + 2, &replica->schema.columns[i].type, way->places[i].doc,
			           way->places[i].token, replica->scratch);
	}
}

static bool alter_apply(struct replica *replica, struct alter *alter, uint64_t *out_rows, struct error *err)
{
	struct alter_way *way = way_of_one(replica, alter);
	sqlite3_stmt *stmt = update_prepare(replica, alter, way, err);
	int64_t before = sqlite3_total_changes64(replica->store->db);
	bool is_fine;

	if (!stmt)
		return false;
	if (sqlite3_bind_parameter_count(stmt))
		store_bind_blob(stmt, 1, span_make((const char *)alter->position, POSITION_BYTES));
	literals_bind(replica, stmt, way);
	is_fine = store_run(replica->store, stmt, err);
	sqlite3_finalize(stmt);
	arena_reset(replica->scratch);
	alter->rows = sqlite3_total_changes64(replica->store->db) - before;
	alter->is_applied = is_fine;
	*out_rows += (uint64_t)alter->rows;
	return is_fine;
}

bool replica_alters_apply(struct replica *replica, uint64_t *out_rows, struct error *err)
{
	struct alters *alters = replica->alters;

	for (size_t i = 0; i < alters->count; i++) {
		if (alters->items[i].is_applied)
			continue;
		if (!alter_apply(replica, &alters->items[i], out_rows, err))
			return false;
		crash_point(rows_altered);
	}
	return true;
}

/*
 * What is remembered of them
 */

static bool alters_read(struct replica *replica, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(replica->store, "SELECT position, change, row_count FROM _weir_altered WHERE table_name=?1 "
	                                                   "ORDER BY position", err);
	bool has_row = false, is_fine, is_repeat;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, replica->name);
	while ((is_fine = store_step(replica->store, stmt, &has_row, err)) && has_row) {
		struct span position = store_blob(stmt, 0);

		is_fine = position.len == POSITION_BYTES ||
		          fail(err, ERROR_BUG, "state_damaged", "the warehouse '%s' has a schema change without a position",
		               replica->store->path);
		if (!is_fine || !replica_alter_add(replica, (const unsigned char *)position.at, store_text(stmt, 1), false,
		                                   &is_repeat, err)) {
			is_fine = false;
			break;
		}
		/* In order, so it is the last. */
		replica->alters->items[replica->alters->count - 1].rows = sqlite3_column_int64(stmt, 2);
	}
	sqlite3_finalize(stmt);
	return is_fine;
}

bool replica_alters_read(struct replica *replica, struct error *err)
{
	bool has_table;

	/* A file of an earlier version that is only read. */
	if (!sql_has_table(replica->store, SPAN("_weir_altered"), &has_table, err))
		return false;
	return !has_table || alters_read(replica, err);
}

static bool alter_save(struct replica *replica, sqlite3_stmt *stmt, struct alter *alter, struct error *err)
{
	store_bind_text(stmt, 1, replica->name);
	store_bind_blob(stmt, 2, span_make((const char *)alter->position, POSITION_BYTES));
	store_bind_text(stmt, 3, alter->text);
	sqlite3_bind_int64(stmt, 4, alter->rows);
	alter->is_saved = store_run(replica->store, stmt, err);
	return alter->is_saved;
}

bool replica_alters_save(struct replica *replica, struct error *err)
{
	struct alters *alters = replica->alters;
	sqlite3_stmt *stmt = NULL;
	bool is_fine = true;

	for (size_t i = 0; is_fine && i < alters->count; i++) {
		if (alters->items[i].is_saved)
			continue;
		if (!stmt)
			stmt = store_prepare(replica->store, "INSERT OR REPLACE INTO _weir_altered(table_name, position, change, "
			                                     "row_count) VALUES(?1,?2,?3,?4)", err);
		is_fine = stmt && alter_save(replica, stmt, &alters->items[i], err);
	}
	sqlite3_finalize(stmt);
	return is_fine;
}
