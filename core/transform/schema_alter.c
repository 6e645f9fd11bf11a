/*
 * ALTER TABLE in mid-stream: columns are made and renamed before the first row
 * that has them, and a record at the statement's position says what becomes of
 * the rows below it, for MySQL sends none of them again.
 */
#include "transform/statements_private.h"

#include "base/clean.h"
#include "transform/ddl_private.h"
#include "transform/ddl_value.h"

#define WORDS_BYTES_MAX 1024
#define RECORD_BYTES_MAX (1u << 20)

struct altering {
	struct debezium *d;
	struct event *e;
	const struct ddl *ddl;
	uint32_t listed;           /* token of the table's columns in tableChanges; 0: not listed */
	struct text *moves, *casts, *sets; /* members of the record */
	bool is_told;              /* something for the timeline */
};

/*
 * What becomes of it
 */

/* `had`: bytes of moves and sets before the clause. */
static void step_put(struct altering *a, struct span column, struct text *change, const char *did, size_t had)
{
	/* Only what gives rows another value has rows to be counted. */
	a->e->table->step_at = a->moves->len + a->casts->len + a->sets->len > had ? &a->e->position : NULL;
	table_step(a->e->table, column, change->at, did);
	a->e->table->step_at = NULL;
	a->is_told = true;
}

static bool member_add(struct text *out, struct span name, struct span json)
{
	return text_add(out, out->len ? "," : "") && json_quote(out, name) && text_add_char(out, ':') &&
	       text_add_span(out, json);
}

static bool may_add(const struct altering *a, struct text *did)
{
	static const char *const words[] = { [SCHEMA_REJECT] = "nothing, schemaChanges is reject",
		                             [SCHEMA_IGNORE] = "nothing, schemaChanges is ignore" };

	if (a->d->options->schema_changes == SCHEMA_ADD)
		return true;
	text_add(did, words[a->d->options->schema_changes]);
	return false;
}

/* As tableChanges has it: whether a TIMESTAMP without a word may be NULL is the server's setting. */
static void nullness_read(const struct altering *a, uint32_t listed, struct ddl_column *column)
{
	uint32_t token = json_is(a->e->doc, listed, JSON_OBJECT) ? json_member(a->e->doc, listed, SPAN("optional")) : 0;

	if (token && (json_is(a->e->doc, token, JSON_TRUE) || json_is(a->e->doc, token, JSON_FALSE)))
		column->is_not_null = json_is(a->e->doc, token, JSON_FALSE);
}

/* The column of that name, made if it is new. Below 0: it may not be, or cannot. */
static int column_make(struct altering *a, const struct ddl_column *defined, struct span name, int like, struct text *did)
{
	struct table *table = a->e->table;
	int column = column_find(table, name);
	struct bq_type type;
	bool has_type;

	if (column < 0 && !may_add(a, did))
		return column;
	has_type = defined && ddl_column_type(defined, a->e->block != NULL, a->e->batch->arena, &type);
	if (like >= 0 && (!has_type || table->columns[like].is_inferred)) {
		type = table->columns[like].type;
		has_type = true;
	}
	/* It was there before, and comes back with another type: it holds both. */
	if (column >= 0) {
		if (has_type && column_may_change(a->d, table, column))
			column_widen(a->e, column, &type, !table->columns[column].is_wide);
		return column;
	}
	column = column_expect(a->d, a->e, name, has_type ? &type : NULL);
	if (column < 0)
		text_add(did, "nothing, the column cannot be made");
	return column;
}

static void did_fill(struct text *did, struct span json, bool was_known)
{
	if (span_is(json, "null")) {
		text_add(did, was_known ? ", rows before it are NULL" : "");
		return;
	}
	text_add(did, ", rows before it have ");
	text_add_span(did, json.len > 80 ? span_make(json.at, 80) : json);
}

/* The statement's own time, by the source's clock. */
static int64_t statement_ms(const struct altering *a)
{
	uint64_t ms;

	return value_uint(&a->e->fields[FIELD_TS_MS], &ms) == READ_OK && ms <= INT64_MAX ? (int64_t)ms : a->e->timestamp_ms;
}

static void add_apply(struct altering *a, const struct ddl_clause *clause, struct text *change, struct text *did)
{
	struct ddl_column column = clause->column;
	struct table *table = a->e->table;
	bool was_known = column_find(table, clause->name) >= 0;
	const char *why = NULL;
	struct span json;
	int at;

	text_add(change, "added, ");
	text_add_span(change, column.definition);
	if (clause->is_conditional && was_known) {
		text_add(did, "nothing, the column is known");
		return;
	}
	at = column_make(a, &column, clause->name, -1, did);
	if (at < 0)
		return;
	column_told_by(a->e, at, &column);
	nullness_read(a, column_listed(a->e, a->listed, clause->name), &column);
	text_add(did, was_known ? "column was there" : "added ");
	if (!was_known)
		bq_type_print(did, &table->columns[at].type);
	if (!ddl_column_fill(&column, &table->columns[at].type, statement_ms(a), a->e->batch->arena, &json, &why)) {
		text_add_format(did, ", rows before it are NULL: %s", why);
		rows_keep_tell(a->e, table->columns[at].name, why);
		json = SPAN("null");
	} else {
		did_fill(did, json, was_known);
	}
	if (!span_is(json, "null"))
		column_told(table, at, table->columns[at].told | TOLD_HOLDS);
	member_add(a->sets, table->columns[at].name, json);
}

static void drop_apply(struct altering *a, const struct ddl_clause *clause, struct text *change, struct text *did)
{
	text_add(change, "dropped");
	text_add(did, column_find(a->e->table, clause->name) < 0 ? "nothing, it was never seen"
	                                                          : "kept, NULL in rows from now on");
}

/* The key goes on under the new name. */
static void key_move(struct event *e, int from, int to)
{
	struct table *table = e->table;

	if (!table->columns[from].key_ordinal || table->columns[to].key_ordinal)
		return;
	former_key_add(e, (uint16_t)from);
	table->keys[table->columns[from].key_ordinal - 1] = (uint16_t)to;
	table->columns[to].key_ordinal = table->columns[from].key_ordinal;
	table->columns[from].key_ordinal = 0;
	table->columns[to].was_key = 0;
	table->columns[to].type = table->columns[from].type;
	table->columns[to].is_provisional = false;
	table->key_version++;
	table_sync(table);
	table_change(table, "key column", table->columns[to].name);
}

/* Are all values of the column of its new type then? */
static bool cast_add(struct altering *a, int from, int to, const struct ddl_column *defined, struct text *did)
{
	bool is_sure;
	struct span spec = column_convert(a->d, a->e, from, defined, &is_sure, did);

	if (spec.len)
		member_add(a->casts, a->e->table->columns[to].name, span_of(arena_printf(a->e->batch->arena, "\"%.*s\"", SPAN_ARG(spec))));
	return is_sure;
}

/*
 * What was moved is of the old column's type, which may be wider than the source's: a column that held text once is text
 * here. The new one holds it before its first row comes, so no row alone says what it is.
 */
static void column_hold(struct altering *a, int from, int to)
{
	struct table *table = a->e->table;
	struct column *c = &table->columns[to];
	const struct column *was = &table->columns[from];

	if (was->is_provisional || table->more[to].is_fixed)
		return;
	if (c->is_provisional) {
		c->type = was->type;
		c->is_provisional = false;
		table->type_version++;
	} else if (column_may_change(a->d, table, to)) {
		column_widen(a->e, to, &was->type, !c->is_wide && !was->is_wide);
	}
}

/* CHANGE may give another type with the name; RENAME gives none. */
static void retype(struct altering *a, int from, int to, const struct ddl_column *defined, struct text *did)
{
	OWNED(text) more = text_new(WORDS_BYTES_MAX);
	struct table *table = a->e->table;

	uint32_t holds = table->columns[from].is_provisional ? 0 : TOLD_HOLDS;

	column_told(table, to, table->columns[from].told | holds);
	if (!defined || !cast_add(a, from, to, defined, more))
		column_hold(a, from, to);
	table->columns[to].is_wide |= table->columns[from].is_wide;
	if (!defined)
		return;
	column_told(table, to, table->columns[from].told | holds);
	if (memcmp(more->at, "nothing", 7) != 0)
		text_add_format(did, ", %s", more->at);
}

static void move_apply(struct altering *a, const struct ddl_clause *clause, struct text *change, struct text *did)
{
	const struct ddl_column *defined = clause->verb == DDL_CHANGE ? &clause->column : NULL;
	OWNED(text) name = text_new(8 * NAME_BYTES_MAX);
	unsigned changes;
	struct table *table = a->e->table;
	int from = column_find(table, clause->name), to;

	text_add(change, "renamed from ");
	text_add_span(change, clause->name);
	to = column_make(a, defined, clause->new_name, from, did);
	if (to < 0)
		return;
	if (to == from) {
		text_add(did, "nothing, names have no case here");
		return;
	}
	json_quote(name, table->columns[to].name);
	member_add(a->moves, from < 0 ? name_at_destination(NAME_COLUMN, clause->name, a->e->batch->arena, &changes) : table->columns[from].name,
	           text_span(name));
	text_add(did, from < 0 ? "nothing yet, no value of it was seen" : "values carried over");
	if (from >= 0)
		retype(a, from, to, defined, did);
	if (from >= 0)
		key_move(a->e, from, to);
}

static void modify_apply(struct altering *a, const struct ddl_clause *clause, struct text *change, struct text *did)
{
	int at = column_find(a->e->table, clause->name);

	text_add(change, "now ");
	text_add_span(change, clause->column.definition);
	if (at < 0)
		text_add(did, "nothing, it was never seen");
	else
		cast_add(a, at, at, &clause->column, did);
}

static void (*const appliers[])(struct altering *, const struct ddl_clause *, struct text *change, struct text *did) = {
	[DDL_ADD] = add_apply,       [DDL_DROP] = drop_apply,     [DDL_CHANGE] = move_apply, [DDL_MODIFY] = modify_apply,
	[DDL_RENAME] = move_apply,   [DDL_RENAME_TABLE] = NULL,   [DDL_OTHER] = NULL,
};

/* CHANGE a a .. is MODIFY a .. */
static void (*applier_of(const struct ddl_clause *clause))(struct altering *, const struct ddl_clause *, struct text *,
                                                           struct text *)
{
	bool is_same = clause->verb == DDL_CHANGE && span_equal(clause->name, clause->new_name);

	return is_same ? modify_apply : appliers[clause->verb];
}

static void clause_apply(struct altering *a, const struct ddl_clause *clause)
{
	OWNED(text) change = text_new(WORDS_BYTES_MAX + 4 * NAME_BYTES_MAX);
	OWNED(text) did = text_new(WORDS_BYTES_MAX);
	bool has_new = clause->verb == DDL_CHANGE || clause->verb == DDL_RENAME;

	size_t had = a->moves->len + a->casts->len + a->sets->len;

	if (!applier_of(clause))
		return;
	applier_of(clause)(a, clause, change, did);
	step_put(a, has_new ? clause->new_name : clause->name, change, did->at, had);
}

static void record_put(struct altering *a)
{
	struct event *e = a->e;
	struct record *record;

	if (!a->moves->len && !a->casts->len && !a->sets->len)
		return;
	/* What did not fit whole is no JSON any more. */
	if (a->moves->is_full || a->casts->is_full || a->sets->is_full) {
		statement_tell(e, "nothing for rows before it: it changes more than one record holds");
		return;
	}
	record = schema_record(a->d, e, OP_ALTER);
	if (!record)
		return;
	record->full_record = span_of(arena_printf(e->batch->arena, "{\"move\":{%s},\"cast\":{%s},\"set\":{%s},\"fill\":{}}",
	                                           a->moves->at, a->casts->at, a->sets->at));
	if (a->d->wants_proto)
		record->proto = record_proto(e, record, NULL, NULL);
}

static void alter_run(struct altering *a)
{
	OWNED(text) why = text_new(WORDS_BYTES_MAX);

	text_add(why, "nothing: ");
	if (!statement_agrees(a->e, a->listed, a->ddl, why)) {
		statement_tell(a->e, why->at);
		return;
	}
	for (const struct ddl_clause *c = a->ddl->clauses; c; c = c->next)
		clause_apply(a, c);
	if (a->is_told)
		table_change(a->e->table, "altered", NOTHING);
	record_put(a);
}

static const struct ddl_clause *clause_of_columns(const struct ddl *ddl)
{
	const struct ddl_clause *c = ddl->clauses;

	while (c && (c->verb == DDL_OTHER || c->verb == DDL_RENAME_TABLE))
		c = c->next;
	return c;
}

/* Where the statement also renames the table, tableChanges has it under its new name. */
static uint32_t columns_behind(struct event *e, const struct ddl *ddl, struct span database)
{
	uint32_t listed = columns_listed(e, e->table->schema.source);

	for (const struct ddl_clause *c = ddl->clauses; c && !listed; c = c->next) {
		if (c->verb == DDL_RENAME_TABLE)
			listed = columns_listed(e, name_listed(e, source_name(e->batch->arena, c->new_db.len ? c->new_db : database,
			                                                      NOTHING, c->new_name)));
	}
	return listed;
}

void alter_table(struct debezium *d, struct event *e, const struct ddl *ddl, uint32_t listed)
{
	struct altering a = { .d = d, .e = e, .ddl = ddl, .listed = listed };

	a.moves = text_new(RECORD_BYTES_MAX);
	a.casts = text_new(RECORD_BYTES_MAX);
	a.sets = text_new(RECORD_BYTES_MAX);
	alter_run(&a);
	table_flush(d, e);
	text_free(a.moves);
	text_free(a.casts);
	text_free(a.sets);
}

void alter_apply(struct debezium *d, struct event *e, const struct ddl *ddl, struct span database)
{
	if (!clause_of_columns(ddl))
		return;
	e->table = table_of_statement(d, e, ddl->db.len ? ddl->db : database, ddl->table, 0);
	if (e->table)
		alter_table(d, e, ddl, columns_behind(e, ddl, database));
}
