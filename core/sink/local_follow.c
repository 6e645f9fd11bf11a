/*
 * A replica's columns follow those of the changelog: the table is made, gets new
 * columns, or is copied when a declaration changes, for SQLite cannot change one.
 */
#include "sink/replica_private.h"

static bool has_rowid_key(const struct table_schema *schema)
{
	const struct bq_type *type = schema->key_count == 1 ? &schema->columns[schema->keys[0]].type : NULL;

	return type && type->kind == BQ_INT64 && !type->is_array;
}

static void add_column(struct text *sql, const struct column *column)
{
	sql_name(sql, column->name);
	text_add_char(sql, ' ');
	text_add(sql, bq_type_local(&column->type));
}

static void add_keys(struct text *sql, const struct table_schema *schema)
{
	text_add(sql, ", PRIMARY KEY(");
	for (size_t i = 0; i < schema->key_count; i++) {
		text_add(sql, i ? ", " : "");
		sql_name(sql, schema->columns[schema->keys[i]].name);
	}
	text_add(sql, ")) WITHOUT ROWID");
}

static bool table_create(struct replica *replica, struct span name, const struct table_schema *schema,
                         struct error *err)
{
	struct text *sql = sql_new("CREATE TABLE ");
	bool has_rowid = has_rowid_key(schema);

	sql_name(sql, name);
	text_add_char(sql, '(');
	for (size_t i = 0; i < schema->count; i++) {
		add_column(sql, &schema->columns[i]);
		text_add(sql, has_rowid && i == schema->keys[0] ? " PRIMARY KEY, " : ", ");
	}
	text_add(sql, "_weir_position BLOB NOT NULL");
	if (has_rowid)
		text_add_char(sql, ')');
	else if (replica->source.is_append)
		text_add(sql, ", PRIMARY KEY(_weir_position)) WITHOUT ROWID");
	else
		add_keys(sql, schema);
	return sql_run(sql, replica->store, err);
}

static bool column_add(struct replica *replica, const struct column *column, struct error *err)
{
	struct text *sql = sql_new("ALTER TABLE ");

	sql_name(sql, replica->name);
	text_add(sql, " ADD COLUMN ");
	add_column(sql, column);
	return sql_run(sql, replica->store, err);
}

/* The old value as a value of the new type. */
void replica_add_converted(struct text *sql, const struct column *from, const struct column *to)
{
	OWNED(text) type = text_new(64u << 10);

	if (strcmp(bq_type_local(&to->type), "TEXT") == 0 && strcmp(bq_type_local(&from->type), "TEXT") != 0) {
		text_add(sql, "weir_text(");
		sql_name(sql, from->name);
		bq_type_print(type, &from->type);
		text_add_format(sql, ", '%s')", type->at);
	} else if (to->type.kind == BQ_FLOAT64 && from->type.kind == BQ_INT64) {
		text_add(sql, "CAST(");
		sql_name(sql, from->name);
		text_add(sql, " AS REAL)");
	} else {
		sql_name(sql, from->name);
	}
}

static bool rows_copy(struct replica *replica, struct span to, const struct table_schema *schema, struct error *err)
{
	struct text *sql = sql_new("INSERT INTO ");
	OWNED(text) values = text_new(LOCAL_SQL_MAX);

	sql_name(sql, to);
	text_add_char(sql, '(');
	for (size_t i = 0; i < schema->count; i++) {
		int old = schema_find(&replica->schema, schema->columns[i].name);

		if (old < 0)
			continue;
		sql_name(sql, schema->columns[i].name);
		replica_add_converted(values, &replica->schema.columns[old], &schema->columns[i]);
		text_add(sql, ", ");
		text_add(values, ", ");
	}
	text_add(sql, "_weir_position) SELECT ");
	if (values->is_full)
		sql->is_full = true;
	text_add_span(sql, text_span(values));
	text_add(sql, "_weir_position FROM ");
	sql_name(sql, replica->name);
	return sql_run(sql, replica->store, err);
}

static bool table_replace(struct replica *replica, struct span by, struct error *err)
{
	struct text *sql = sql_new("DROP TABLE ");

	sql_name(sql, replica->name);
	text_add(sql, "; ALTER TABLE ");
	sql_name(sql, by);
	text_add(sql, " RENAME TO ");
	sql_name(sql, replica->name);
	return sql_run(sql, replica->store, err);
}

static bool table_copy(struct replica *replica, const struct table_schema *schema, struct error *err)
{
	struct span beside = span_of(arena_printf(replica->scratch, "_weir_new_%.*s", SPAN_ARG(replica->name)));

	return table_create(replica, beside, schema, err) && rows_copy(replica, beside, schema, err) &&
	       table_replace(replica, beside, err);
}

static bool columns_add(struct replica *replica, const struct table_schema *schema, struct error *err)
{
	for (size_t i = 0; i < schema->count; i++) {
		if (schema_find(&replica->schema, schema->columns[i].name) < 0 &&
		    !column_add(replica, &schema->columns[i], err))
			return false;
	}
	return true;
}

/* What the table will have: the target's columns, then old ones that the target lacks (a source may drop a column;
 * what was there stays readable as NULL in new rows). */
static const struct table_schema *schema_join(struct replica *replica, const struct table_schema *target)
{
	const struct table_schema *old = &replica->schema;
	struct table_schema joined = *target;
	struct column *columns = arena_alloc(replica->scratch, (target->count + old->count + 1) * sizeof(*columns));

	memcpy(columns, target->columns, target->count * sizeof(*columns));
	joined.count = target->count;
	/* What an append table has is never altered, but for guesses that have turned out too narrow. */
	for (size_t i = 0; replica->source.is_append && i < target->count; i++) {
		int at = schema_find(old, columns[i].name);

		if (at >= 0 && !columns[i].is_inferred && !old->columns[at].is_provisional)
			columns[i].type = old->columns[at].type;
	}
	for (size_t i = 0; i < old->count; i++) {
		if (schema_find(target, old->columns[i].name) >= 0)
			continue;
		columns[joined.count] = old->columns[i];
		columns[joined.count++].key_ordinal = 0;
	}
	joined.columns = columns;
	return schema_copy(replica->scratch, &joined);
}

static bool is_same_column(const struct column *a, const struct column *b)
{
	return span_equal(a->name, b->name) && bq_type_equal(&a->type, &b->type) && a->key_ordinal == b->key_ordinal &&
	       a->is_provisional == b->is_provisional && a->is_wide == b->is_wide;
}

static bool is_same(const struct table_schema *a, const struct table_schema *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (!is_same_column(&a->columns[i], &b->columns[i]))
			return false;
	}
	return true;
}

/* A declaration changes: ALTER TABLE cannot do it. */
static bool needs_copy(const struct table_schema *old, const struct table_schema *schema)
{
	if (has_rowid_key(old) != has_rowid_key(schema))
		return true;
	for (size_t i = 0; i < schema->count; i++) {
		int at = schema_find(old, schema->columns[i].name);

		if (at >= 0 && strcmp(bq_type_local(&old->columns[at].type), bq_type_local(&schema->columns[i].type)) != 0)
			return true;
	}
	return false;
}

static bool table_shape(struct replica *replica, const struct table_schema *schema, struct error *err)
{
	if (!replica->schema.count && !replica->is_there)
		return table_create(replica, replica->name, schema, err);
	return needs_copy(&replica->schema, schema) ? table_copy(replica, schema, err) : columns_add(replica, schema, err);
}

/* Other key columns make other rows: only a rebuild can tell which. */
static bool key_check(const struct replica *replica, const struct table_schema *schema, struct error *err)
{
	const struct table_schema *old = &replica->schema;
	bool is_same_key = old->key_count == schema->key_count;

	for (size_t i = 0; is_same_key && i < old->key_count; i++)
		is_same_key = span_equal(old->columns[old->keys[i]].name, schema->columns[schema->keys[i]].name);
	if (!old->count || is_same_key)
		return true;
	return fail(err, ERROR_CONFIG, "key_changed", "the key columns of table '%.*s' are others than those its replica "
	            "was made with", SPAN_ARG(replica->name));
}

/* SQLite takes 2,000 columns, and the position is one of them. */
static bool width_check(const struct replica *replica, const struct table_schema *schema, struct error *err)
{
	if (schema->count <= SCHEMA_COLUMNS_MAX)
		return true;
	return fail(err, ERROR_CONFIG, "too_many_columns", "table '%.*s' has %zu columns; a replica takes %d",
	            SPAN_ARG(replica->name), schema->count, SCHEMA_COLUMNS_MAX);
}

/* Where the target has the old key column as a plain one, and its new one is no key here yet: the source has renamed it. */
static bool is_key_renamed(const struct table_schema *old, const struct table_schema *target, size_t key)
{
	const struct column *was = &old->columns[old->keys[key]], *is = &target->columns[target->keys[key]];
	int at = schema_find(target, was->name), here = schema_find(old, is->name);

	return !span_equal(was->name, is->name) && at >= 0 && !target->columns[at].key_ordinal &&
	       (here < 0 || !old->columns[here].key_ordinal) && bq_type_equal(&was->type, &is->type);
}

static bool has_values(struct replica *replica, struct span column, bool *out_has, struct error *err)
{
	struct text *sql = sql_new("SELECT 1 FROM ");
	sqlite3_stmt *stmt;
	bool is_fine;

	sql_name(sql, replica->name);
	text_add(sql, " WHERE ");
	sql_name(sql, column);
	text_add(sql, " IS NOT NULL LIMIT 1");
	stmt = sql_prepare(sql, replica->store, err);
	is_fine = stmt && store_step(replica->store, stmt, out_has, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool column_drop(struct replica *replica, size_t at, struct error *err)
{
	struct table_schema *schema = (struct table_schema *)schema_copy(replica->arena, &replica->schema);
	struct column *columns = (struct column *)schema->columns;
	uint16_t *keys = (uint16_t *)schema->keys;
	struct text *sql = sql_new("ALTER TABLE ");

	sql_name(sql, replica->name);
	text_add(sql, " DROP COLUMN ");
	sql_name(sql, columns[at].name);
	memmove(&columns[at], &columns[at + 1], (--schema->count - at) * sizeof(*columns));
	for (size_t i = 0; i < schema->key_count; i++)
		keys[i] = (uint16_t)(keys[i] - (keys[i] > at));
	replica->schema = *schema;
	return sql_run(sql, replica->store, err);
}

/* A key that takes its former name back finds the empty column that was left there. One with values may be the source's
 * still, and the key then another one: it stays, and so does the key. */
static bool name_is_free(struct replica *replica, struct span name, bool *out_is_free, struct error *err)
{
	int here = schema_find(&replica->schema, name);
	bool has = false;

	if (here >= 0 && !has_values(replica, replica->schema.columns[here].name, &has, err))
		return false;
	*out_is_free = !has;
	return here < 0 || has || column_drop(replica, (size_t)here, err);
}

static bool key_rename(struct replica *replica, size_t key, struct span name, struct error *err)
{
	struct table_schema *schema = (struct table_schema *)schema_copy(replica->arena, &replica->schema);
	struct column *columns = (struct column *)schema->columns;
	struct text *sql = sql_new("ALTER TABLE ");

	sql_name(sql, replica->name);
	text_add(sql, " RENAME COLUMN ");
	sql_name(sql, columns[schema->keys[key]].name);
	text_add(sql, " TO ");
	sql_name(sql, name);
	columns[schema->keys[key]].name = arena_copy(replica->arena, name);
	replica->schema = *schema;
	return sql_run(sql, replica->store, err);
}

/* Rows keep their keys, which are values; only the column has another name. */
static bool keys_rename(struct replica *replica, const struct table_schema *target, struct error *err)
{
	bool is_free = false;

	if (!replica->schema.count || replica->schema.key_count != target->key_count)
		return true;
	for (size_t i = 0; i < target->key_count; i++) {
		if (!is_key_renamed(&replica->schema, target, i))
			continue;
		replica_forget_statements(replica);
		if (!name_is_free(replica, target->columns[target->keys[i]].name, &is_free, err) ||
		    (is_free && !key_rename(replica, i, target->columns[target->keys[i]].name, err)))
			return false;
	}
	return true;
}

/* A table may be without any column: {} is a row too. */
static bool append_create(struct replica *replica, const struct table_schema *schema, struct error *err)
{
	if (!width_check(replica, schema, err) || !table_create(replica, replica->name, schema, err) ||
	    !catalog_columns_write(replica->store, replica->name, PART_TABLE, schema, err) || !replica_save(replica, 0, err))
		return false;
	replica->schema = *schema_copy(replica->arena, schema);
	replica->is_there = true;
	return true;
}

bool replica_follow(struct replica *replica, const struct table_schema *target, struct error *err)
{
	const struct table_schema *schema;
	bool is_fine;

	if (replica->source.is_append && !replica->is_there && !replica->schema.count)
		return append_create(replica, target, err);
	if (is_same(&replica->schema, target))
		return true;
	if (!keys_rename(replica, target, err))
		return false;
	schema = schema_join(replica, target);
	if (is_same(&replica->schema, schema))
		return true;
	replica_forget_statements(replica);
	alters_forget_ways(replica->alters);
	is_fine = width_check(replica, schema, err) && key_check(replica, schema, err) && table_shape(replica, schema, err);
	is_fine = is_fine && catalog_columns_write(replica->store, replica->name, PART_TABLE, schema, err);
	if (is_fine)
		replica->schema = *schema_copy(replica->arena, schema);
	arena_reset(replica->scratch);
	return is_fine;
}
