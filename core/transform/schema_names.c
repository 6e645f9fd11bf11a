/*
 * Which known table a statement means. Servers with lower_case_table_names log a
 * statement as it was typed, and rows come under the server's own name; elsewhere
 * `T` is another table than `t`. What the message names beside its statement tells
 * which; where it does not, that is said and nothing is done.
 */
#include "transform/statements_private.h"

#include "base/clean.h"

#define WORDS_BYTES_MAX 1024

void statement_tell(struct event *e, const char *did)
{
	OWNED(text) change = text_new(WORDS_BYTES_MAX);
	struct span ddl = NOTHING;

	value_text(&e->top[FIELD_DDL], e->batch->arena, &ddl);
	if (!ddl.len)
		text_add(change, "altered");
	text_add_span(change, ddl.len < WORDS_BYTES_MAX - 1 ? ddl : span_make(ddl.at, WORDS_BYTES_MAX - 1));
	table_step(e->table, NOTHING, change->at, did);
	table_change(e->table, "schema change that is not applied", NOTHING);
}

/* `source.table` may name several: "t,u". */
static bool is_in_source(struct event *e, struct span name)
{
	struct span rest;

	if (value_text(&e->fields[FIELD_TABLE], e->batch->arena, &rest) != READ_OK)
		return false;
	while (rest.len) {
		const char *comma = memchr(rest.at, ',', rest.len);
		struct span one = span_make(rest.at, comma ? (size_t)(comma - rest.at) : rest.len);

		if (span_equal(one, name))
			return true;
		rest = comma ? span_make(comma + 1, rest.len - one.len - 1) : SPAN("");
	}
	return false;
}

static struct span last_part(struct span source)
{
	size_t at = source.len;

	while (at && source.at[at - 1] != '.')
		at--;
	return span_make(source.at + at, source.len - at);
}

static bool is_named_beside(struct event *e, struct span source)
{
	return schema_change_lists(e, source) || is_in_source(e, last_part(source));
}

struct meaning {
	struct debezium *d;
	struct event *e;
	struct span typed;
	uint32_t listed; /* token of the columns that the table must have, 0: not told */
};

static bool is_candidate(const struct meaning *m, const struct table *table)
{
	return !table->is_collided && span_same_word(table->schema.source, m->typed);
}

/* Exactly the columns that stand in tableChanges. */
static bool has_columns(const struct meaning *m, const struct table *table)
{
	const struct json_doc *doc = m->e->doc;
	size_t count = 0;

	for (uint32_t at = m->listed + 1; at < doc->tokens[m->listed].next; at = doc->tokens[at].next)
		count++;
	if (!m->listed || count != table->schema.count)
		return false;
	for (size_t i = 0; i < table->schema.count; i++) {
		if (!column_listed(m->e, m->listed, table->columns[i].source_name))
			return false;
	}
	return true;
}

/* The one of several that differ by case; NULL: the message does not tell. */
static struct table *candidate_find(const struct meaning *m)
{
	struct table *only = NULL;
	size_t count = 0;

	for (size_t i = 0; i < m->d->table_count; i++) {
		struct table *table = m->d->tables[i];

		if (!is_candidate(m, table))
			continue;
		if (is_named_beside(m->e, table->schema.source)) {
			m->d->names_have_no_case = true;
			return table;
		}
		only = table;
		count++;
	}
	if (count != 1 || is_named_beside(m->e, m->typed))
		return NULL;
	return m->d->names_have_no_case || has_columns(m, only) ? only : NULL;
}

/* Two tables that differ by case are known: this server tells them apart, and the name is that of a third. */
static void doubt_tell(const struct meaning *m)
{
	struct table *only = NULL;
	struct event *e = m->e;

	for (size_t i = 0; i < m->d->table_count; i++) {
		if (!is_candidate(m, m->d->tables[i]))
			continue;
		if (only)
			return;
		only = m->d->tables[i];
	}
	if (!only)
		return;
	e->table = only;
	statement_tell(e, arena_printf(e->batch->arena, "nothing: %.*s may be another table, the letter case differs",
	                               SPAN_ARG(m->typed)));
	table_flush(m->d, e);
	e->table = NULL;
}

struct table *table_meant(struct debezium *d, struct event *e, struct span typed, uint32_t listed)
{
	const struct meaning m = { d, e, typed, listed };
	struct table *table = table_lookup(d, typed);

	if (table || !is_mysql(e))
		return table;
	table = candidate_find(&m);
	if (!table)
		doubt_tell(&m);
	return table;
}

struct table *table_of_statement(struct debezium *d, struct event *e, struct span db, struct span name, uint32_t listed)
{
	struct table *table = table_meant(d, e, source_name(e->batch->arena, db, NOTHING, name), listed);
	struct span source = table ? table->schema.source : NOTHING;

	if (!table)
		return NULL;
	/* The same bytes but for their case, so its parts are as long as those of the statement. */
	return table_known(d, e, span_make(source.at, db.len), span_make(source.at + (source.len - name.len), name.len));
}
