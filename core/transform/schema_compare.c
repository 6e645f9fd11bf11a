/*
 * Schema changes of connectors whose DDL is not read (SQL Server, Oracle, Db2): what
 * tableChanges lists behind the statement, held against the columns that are known.
 * Values of new columns come with the first row that has them; the timeline says now
 * what the source did.
 */
#include "transform/statements_private.h"

#include "base/clean.h"
#include "transform/ddl_private.h"

#define WORDS_BYTES_MAX 1024
#define LISTING_BYTES_MAX (1u << 20)

static struct span text_of(struct event *e, uint32_t object, const char *name)
{
	uint32_t token = json_is(e->doc, object, JSON_OBJECT) ? json_member(e->doc, object, span_of(name)) : 0;

	return token && json_is(e->doc, token, JSON_STRING) ? json_text(e->doc, token, e->batch->arena) : SPAN("");
}

static bool was_listed(const struct event *e, struct span name)
{
	struct span rest = e->table->listed;

	while (rest.len) {
		const char *end = memchr(rest.at, '\n', rest.len);
		struct span one = span_make(rest.at, end ? (size_t)(end - rest.at) : rest.len);

		if (span_same_word(one, name))
			return true;
		rest = end ? span_make(end + 1, rest.len - one.len - 1) : SPAN("");
	}
	return false;
}

/* What is told of this listing is not told again of the next. */
static void listing_keep(struct event *e, uint32_t listed)
{
	OWNED(text) names = text_new(LISTING_BYTES_MAX);

	for (uint32_t at = listed + 1; at < e->doc->tokens[listed].next; at = e->doc->tokens[at].next) {
		text_add_span(names, text_of(e, at, "name"));
		text_add_char(names, '\n');
	}
	e->table->listed = arena_copy(e->table->arena, text_span(names));
}

static size_t added_tell(struct event *e, uint32_t listed)
{
	size_t count = 0;

	for (uint32_t at = listed + 1; at < e->doc->tokens[listed].next; at = e->doc->tokens[at].next) {
		OWNED(text) change = text_new(WORDS_BYTES_MAX);
		struct span name = text_of(e, at, "name"), value = text_of(e, at, "defaultValueExpression");

		if (!name.len || column_find(e->table, name) >= 0 || was_listed(e, name))
			continue;
		text_add(change, "added, ");
		text_add_span(change, text_of(e, at, "typeName"));
		text_add(change, value.len ? " default " : "");
		text_add_span(change, value);
		table_step(e->table, name, change->at, "nothing yet, its first row tells, and what older rows have");
		count++;
	}
	return count;
}

static size_t dropped_tell(struct event *e, uint32_t listed)
{
	size_t count = 0;

	for (size_t i = 0; i < e->table->schema.count; i++) {
		const struct column *column = &e->table->columns[i];

		if (column_listed(e, listed, column->source_name) || (e->table->listed.len && !was_listed(e, column->source_name)))
			continue;
		table_step(e->table, column->name, "dropped or renamed", "kept, NULL in rows from now on");
		count++;
	}
	return count;
}

/* RENAME COLUMN is written alike everywhere; its names are those that tableChanges lists. */
static bool renames_read(struct event *e, uint32_t listed, struct ddl *out)
{
	struct span text;
	const char *why;

	if (value_text(&e->top[FIELD_DDL], e->batch->arena, &text) != READ_OK ||
	    !ddl_read(text, e->batch->arena, out, &why) || out->kind != DDL_ALTER_TABLE)
		return false;
	for (struct ddl_clause *c = out->clauses; c; c = c->next) {
		uint32_t column = c->verb == DDL_RENAME ? column_listed(e, listed, c->new_name) : 0;

		if (!column)
			return false;
		c->new_name = text_of(e, column, "name");
	}
	return true;
}

/* A column is made only in a table whose parts of the name are known: an event has come, or the message names them. */
static bool is_met(struct debezium *d, struct event *e)
{
	struct table *table = e->table;
	struct span parts[3] = { NOTHING, NOTHING, NOTHING };

	if (table->is_met)
		return true;
	value_text(&e->fields[FIELD_DB], e->batch->arena, &parts[0]);
	value_text(&e->fields[FIELD_SCHEMA], e->batch->arena, &parts[1]);
	value_text(&e->fields[FIELD_TABLE], e->batch->arena, &parts[2]);
	return span_equal(source_name(e->batch->arena, parts[0], parts[1], parts[2]), table->schema.source) && table_find(d, e) &&
	       e->table == table;
}

static void columns_compare(struct debezium *d, struct event *e, uint32_t listed)
{
	struct ddl ddl;
	size_t added, dropped;

	if (renames_read(e, listed, &ddl) && is_met(d, e)) {
		alter_table(d, e, &ddl, listed);
		listing_keep(e, listed);
		return;
	}
	added = added_tell(e, listed);
	dropped = dropped_tell(e, listed);
	if (added && dropped)
		rows_keep_tell(e, NOTHING, "columns went and others came, and no statement tells whether they were renamed");
	if (added || dropped)
		table_change(e->table, "altered", NOTHING);
	else
		statement_tell(e, "nothing: the same columns; values of a changed type are as they were");
	listing_keep(e, listed);
	table_flush(d, e);
}

void columns_follow(struct debezium *d, struct event *e)
{
	uint32_t changes = e->top[FIELD_TABLE_CHANGES].token, end = e->doc->tokens[changes].next;
	size_t most = d->table_count;

	if (e->is_snapshot)
		return;
	for (uint32_t at = changes + 1; at < end; at = e->doc->tokens[at].next) {
		for (size_t i = 0; i < most && span_is(text_of(e, at, "type"), "ALTER"); i++) {
			uint32_t listed;

			e->table = d->tables[i];
			if (e->table->is_collided || !schema_change_is_of(e, at, e->table->schema.source))
				continue;
			listed = columns_listed(e, e->table->schema.source);
			if (listed)
				columns_compare(d, e, listed);
		}
	}
	e->table = NULL;
	e->message->fate = MESSAGE_FILTERED;
	e->message->refusal = NULL;
}
