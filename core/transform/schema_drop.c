/*
 * Tables that are gone: dropped, by tableChanges or by the statement where that lists
 * none, emptied, or made anew. Their rows below the statement go with it.
 */
#include "transform/statements_private.h"

#include "transform/ddl_private.h"

#define DROPS_MAX 256

static void table_drop(struct debezium *d, struct event *e, struct table *table)
{
	struct record *record;

	if (!table || table->is_collided)
		return;
	e->table = table;
	if (table->is_met) { /* a table of a snapshot that begins anew is dropped before it is met */
		table_change(table, "dropped", NOTHING);
		table_step(table, NOTHING, "dropped", "kept readable until it is made again");
	}
	table_dropped_at(table, &e->position);
	record = schema_record(d, e, OP_DROP);
	if (record && d->wants_proto)
		record->proto = record_proto(e, record, NULL, NULL);
}

static bool change_is_drop(const struct json_doc *doc, uint32_t change)
{
	uint32_t type = json_is(doc, change, JSON_OBJECT) ? json_member(doc, change, SPAN("type")) : 0;

	return type && json_is(doc, type, JSON_STRING) && span_is(json_raw(doc, type), "DROP");
}

void changes_drop(struct debezium *d, struct event *e, const struct value *changes)
{
	const struct json_doc *doc = changes->doc;
	uint32_t end = doc->tokens[changes->token].next;
	size_t parts, count = 0;

	for (uint32_t at = changes->token + 1; at < end; at = doc->tokens[at].next, count++) {
		uint32_t id = change_is_drop(doc, at) ? json_member(doc, at, SPAN("id")) : 0;
		struct span text, name;

		if (!id || !json_is(doc, id, JSON_STRING) || count >= DROPS_MAX)
			continue;
		text = json_text(doc, id, e->batch->arena);
		if (schema_name_take(&text, e->batch->arena, &name, &parts))
			table_drop(d, e, table_meant(d, e, name, 0));
	}
}

static bool is_of_database(struct span source, struct span database)
{
	return source.len > database.len && source.at[database.len] == '.' &&
	       span_same_word(span_make(source.at, database.len), database);
}

/* tableChanges lists none of its tables. */
static void database_drop(struct debezium *d, struct event *e, struct span database)
{
	size_t most = d->table_count;

	for (size_t i = 0; i < most; i++) {
		struct table *table = d->tables[i];

		if (!is_of_database(table->schema.source, database) || table->is_collided ||
		    schema_change_lists(e, table->schema.source))
			continue;
		if (span_equal(span_make(table->schema.source.at, database.len), database) || d->names_have_no_case) {
			table_drop(d, e, table);
			continue;
		}
		e->table = table;
		statement_tell(e, "nothing: it may be another database, the letter case differs");
		table_flush(d, e);
	}
}

void drops_apply(struct debezium *d, struct event *e, const struct ddl *ddl, struct span database)
{
	size_t count = 0;

	if (ddl->kind == DDL_DROP_DATABASE)
		database_drop(d, e, ddl->db);
	for (const struct ddl_clause *c = ddl->clauses; c && count < DROPS_MAX; c = c->next, count++) {
		struct span source = source_name(e->batch->arena, c->db.len ? c->db : database, NOTHING, c->name);

		/* What tableChanges lists it has said already. */
		if (c->verb == DDL_DROP_TABLE && !schema_change_lists(e, source))
			table_drop(d, e, table_meant(d, e, source, 0));
	}
}

/*
 * The rows below the statement are gone. Connectors skip `t` events by default, and then this message is the only word
 * of it; where one comes too, both have the same position and count once.
 */
void emptied_apply(struct debezium *d, struct event *e, const struct ddl *ddl, struct span database)
{
	struct record *record;

	e->table = table_of_statement(d, e, ddl->db.len ? ddl->db : database, ddl->table, 0);
	if (!e->table)
		return;
	if (ddl->kind != DDL_TRUNCATE) {
		table_change(e->table, "made again", NOTHING);
		table_step(e->table, NOTHING, "dropped and made again", "rows before it are gone");
	}
	record = schema_record(d, e, OP_TRUNCATE);
	if (record && d->wants_proto)
		record->proto = record_proto(e, record, NULL, NULL);
	table_flush(d, e);
}

/* A table that can be made was not there any more, whether its drop was read or not. */
void create_apply(struct debezium *d, struct event *e, const struct ddl *ddl, struct span database)
{
	struct table *table;

	if (e->is_snapshot)
		return;
	table = table_of_statement(d, e, ddl->db.len ? ddl->db : database, ddl->table, 0);
	if (!table || table_is_made_since(table, &e->position)) /* delivered twice */
		return;
	if (!table->is_dropped)
		emptied_apply(d, e, ddl, database);
	e->table = table;
	table_made_at(table, &e->position);
	table_flush(d, e);
}
