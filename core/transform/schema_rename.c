/*
 * RENAME TABLE: the rows go on under another name. The new name's table gets the
 * columns and key of the old one and a record that carries its rows over; the old
 * name's is dropped. Several renames of one statement follow each other, as when
 * two tables take each other's names.
 */
#include "transform/statements_private.h"

#include "base/clean.h"
#include "transform/ddl_private.h"

#define SOURCE_BYTES_MAX (4 * NAME_BYTES_MAX)
#define WORDS_BYTES_MAX 1024
#define RENAMES_MAX 100 /* each takes two places of the event's one byte */

struct renaming {
	struct debezium *d;
	struct event *e;
	const struct ddl_clause *clause;
	struct span database;
	uint8_t ordinal;
};

static struct span db_of(const struct renaming *r, struct span db)
{
	return db.len ? db : r->database;
}

static bool same_table(const struct renaming *r, struct span db, struct span name, struct span other_db, struct span other)
{
	return span_equal(name, other) && span_equal(db_of(r, db), db_of(r, other_db));
}

static bool is_known(const struct renaming *r, struct span db, struct span name)
{
	return table_lookup(r->d, source_name(r->e->batch->arena, db_of(r, db), NOTHING, name));
}

/* An online schema change: a table that this job never sees takes the name, and has the same rows. */
static bool is_replaced(const struct renaming *r)
{
	const struct ddl_clause *c = r->clause;

	for (const struct ddl_clause *other = c->next; other; other = other->next) {
		if (other->verb == DDL_RENAME_TABLE && same_table(r, c->db, c->name, other->new_db, other->new_name) &&
		    !is_known(r, other->db, other->name))
			return true;
	}
	return false;
}

/* A name for the time between two renames of the statement. */
static bool is_passed_on(const struct renaming *r)
{
	const struct ddl_clause *c = r->clause;

	for (const struct ddl_clause *other = c->next; other; other = other->next) {
		if (other->verb == DDL_RENAME_TABLE && same_table(r, c->new_db, c->new_name, other->db, other->name))
			return true;
	}
	return false;
}

static void tell(struct renaming *r, struct table *table, const char *change, struct span other, const char *did)
{
	OWNED(text) words = text_new(WORDS_BYTES_MAX + NAME_BYTES_MAX);

	text_add(words, change);
	text_add_span(words, other);
	r->e->table = table;
	table_step(table, NOTHING, words->at, did);
	table_change(table, change, other);
}

/* Columns and key of a table that gets rows of another. NULL: it can; else why not. */
static const char *columns_take(struct renaming *r, const struct table *from, struct table *to)
{
	struct event *e = r->e;

	e->table = to;
	for (size_t i = 0; i < from->schema.count; i++) {
		const struct column *column = &from->columns[i];
		int at = column_find(to, column->source_name);

		if (at < 0 && to->schema.version && r->d->options->schema_changes != SCHEMA_ADD)
			continue;
		if (at < 0)
			at = column_expect(r->d, e, column->source_name, &column->type);
		else if (column_may_change(r->d, to, at))
			column_widen(e, at, &column->type, !to->columns[at].is_wide && !column->is_wide);
		if (at < 0)
			return "nothing, its columns cannot be made";
		to->columns[at].is_wide |= column->is_wide;
		to->columns[at].is_provisional &= column->is_provisional || !span_equal(to->columns[at].source_name, column->source_name);
	}
	return table_take_key(r->d, e, from) ? NULL : "nothing, its rows have another key";
}

/* Every record of the statement has a place of its own. */
static struct position record_place(const struct renaming *r)
{
	struct position position = r->e->position;

	position.ordinal = r->ordinal;
	return position;
}

static struct record *record_put(struct renaming *r, struct table *table, enum operation operation)
{
	struct position position = record_place(r);
	struct record *record;

	r->e->table = table;
	record = schema_record(r->d, r->e, operation);
	if (!record)
		return NULL;
	r->ordinal++;
	position_pack(&position, record->position);
	return record;
}

static void rows_carry(struct renaming *r, struct table *from, struct table *to)
{
	OWNED(text) json = text_new(SOURCE_BYTES_MAX + 64);
	struct record *record = record_put(r, to, OP_RENAME);

	if (!record)
		return;
	text_add(json, "{\"from\":");
	json_quote(json, from->schema.source);
	text_add_char(json, '}');
	record->full_record = arena_copy(r->e->batch->arena, text_span(json));
	if (r->d->wants_proto)
		record->proto = record_proto(r->e, record, NULL, NULL);
}

static void old_drop(struct renaming *r, struct table *from, struct span to)
{
	tell(r, from, "renamed to ", to, "kept readable until it is made again");
	struct position at = record_place(r);

	table_dropped_at(from, &at);
	struct record *record = record_put(r, from, OP_DROP);

	if (record && r->d->wants_proto)
		record->proto = record_proto(r->e, record, NULL, NULL);
}

/* The new name as the server has it. */
static struct span new_source(struct renaming *r)
{
	const struct ddl_clause *c = r->clause;
	struct span typed = source_name(r->e->batch->arena, db_of(r, c->new_db), NOTHING, c->new_name);
	struct span listed = name_listed(r->e, typed);

	if (!span_equal(typed, listed))
		r->d->names_have_no_case = true;
	return listed;
}

static void table_rename(struct renaming *r, struct table *from, struct span source)
{
	const struct ddl_clause *c = r->clause;
	struct table *to = table_named(r->d, r->e, span_make(source.at, db_of(r, c->new_db).len),
	                               span_make(source.at + (source.len - c->new_name.len), c->new_name.len));
	const char *why = to ? columns_take(r, from, to) : "nothing, the new name cannot be used";

	if (why) {
		tell(r, from, "renamed to ", source, why);
		table_flush(r->d, r->e);
		return;
	}
	tell(r, to, "renamed from ", from->schema.source, "rows carried over");
	struct position at = record_place(r);

	table_made_at(to, &at);
	rows_carry(r, from, to);
	from->renamed_to = arena_copy(from->arena, to->schema.source);
	from->renamed_at = r->e->position;
	old_drop(r, from, source);
}

static void rename_apply(struct renaming *r)
{
	const struct ddl_clause *c = r->clause;
	struct span source = new_source(r);
	bool is_listed = schema_change_lists(r->e, source);
	struct table *from = table_of_statement(r->d, r->e, db_of(r, c->db), c->name, columns_listed(r->e, source));

	if (!from)
		return;
	if (is_replaced(r))
		tell(r, from, "replaced, was renamed to ", source, "rows kept: a table that this job does not see took its name");
	else if (!is_listed && !table_lookup(r->d, source) && !is_passed_on(r))
		old_drop(r, from, source);
	else
		table_rename(r, from, source);
}

void renames_apply(struct debezium *d, struct event *e, const struct ddl_clause *clauses, struct span database)
{
	struct renaming r = { .d = d, .e = e, .database = database };

	/* Place 0 is that of the statement's other changes. */
	r.ordinal = 1;
	for (const struct ddl_clause *c = clauses; c && r.ordinal < 2 * RENAMES_MAX; c = c->next) {
		if (c->verb != DDL_RENAME_TABLE)
			continue;
		r.clause = c;
		rename_apply(&r);
		if (e->table)
			table_flush(d, e);
	}
}
