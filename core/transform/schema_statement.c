/* A statement of MySQL's or MariaDB's DDL: read, and handed to what applies its kind; what cannot be read is shown. */
#include "transform/statements_private.h"

#include "transform/ddl.h"

/* Whichever known tables tableChanges names: they have changed in a way that could not be read. */
static void unread_tell(struct debezium *d, struct event *e, const char *why)
{
	uint32_t changes = e->top[FIELD_TABLE_CHANGES].token, end = e->doc->tokens[changes].next;

	for (uint32_t at = changes + 1; at < end; at = e->doc->tokens[at].next) {
		for (size_t i = 0; i < d->table_count; i++) {
			e->table = d->tables[i];
			if (e->table->is_collided || !schema_change_is_of(e, at, e->table->schema.source))
				continue;
			statement_tell(e, arena_printf(e->batch->arena, "nothing: %s", why));
			table_flush(d, e);
		}
	}
}

static void columns_apply(struct debezium *d, struct event *e, const struct ddl *ddl, struct span database)
{
	alter_apply(d, e, ddl, database);
	renames_apply(d, e, ddl->clauses, database);
}

static void names_apply(struct debezium *d, struct event *e, const struct ddl *ddl, struct span database)
{
	renames_apply(d, e, ddl->clauses, database);
}

static void (*const kinds[])(struct debezium *, struct event *, const struct ddl *, struct span database) = {
	[DDL_ALTER_TABLE] = columns_apply,       [DDL_RENAME_TABLES] = names_apply,
	[DDL_TRUNCATE] = emptied_apply,  [DDL_REPLACE] = emptied_apply,
	[DDL_CREATE] = create_apply,             [DDL_DROP_TABLES] = drops_apply,
	[DDL_DROP_DATABASE] = drops_apply,       [DDL_ELSE] = NULL,
};

void ddl_apply(struct debezium *d, struct event *e, struct span text)
{
	struct span database = NOTHING;
	const char *why = "";
	struct ddl ddl;

	value_text(&e->fields[FIELD_DB], e->batch->arena, &database);
	if (!ddl_read(text, e->batch->arena, &ddl, &why))
		unread_tell(d, e, why);
	else if (kinds[ddl.kind])
		kinds[ddl.kind](d, e, &ddl, database);
	/* A column that could not be made is no fault of the message. */
	e->message->fate = MESSAGE_FILTERED;
	e->message->refusal = NULL;
	e->table = NULL;
}
