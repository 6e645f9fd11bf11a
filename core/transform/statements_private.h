/*
 * Schema changes: statements and lists of tables on their way to columns, names and to
 * what becomes of older rows.
 */
#ifndef WEIR_TRANSFORM_STATEMENTS_PRIVATE_H
#define WEIR_TRANSFORM_STATEMENTS_PRIVATE_H

#include "transform/debezium_private.h"

/* schema_statement.c: MySQL's DDL, checked against tableChanges, to columns, names and to what becomes of older rows. */
void ddl_apply(struct debezium *d, struct event *e, struct span ddl);
struct ddl_column;
/* schema_alter.c, schema_drop.c: statements of one kind; `database` is of names without one. */
struct ddl;
void alter_apply(struct debezium *d, struct event *e, const struct ddl *ddl, struct span database);
/* Of e->table; `listed`: token of its columns behind the statement, or 0. */
void alter_table(struct debezium *d, struct event *e, const struct ddl *ddl, uint32_t listed);
void drops_apply(struct debezium *d, struct event *e, const struct ddl *ddl, struct span database);
void emptied_apply(struct debezium *d, struct event *e, const struct ddl *ddl, struct span database);
void create_apply(struct debezium *d, struct event *e, const struct ddl *ddl, struct span database);
/* schema_compare.c: ALTERs of connectors whose DDL is not read, by what tableChanges lists. */
void columns_follow(struct debezium *d, struct event *e);
/* The tables that tableChanges says are dropped. */
void changes_drop(struct debezium *d, struct event *e, const struct value *changes);
/* A record of the filtered message that carries a schema change of e->table; NULL: the batch is full of such. */
struct record *schema_record(struct debezium *d, struct event *e, enum operation operation);
/* schema_rename.c: the clauses that rename tables. */
struct ddl_clause;
void renames_apply(struct debezium *d, struct event *e, const struct ddl_clause *clauses, struct span database);
/* schema_convert.c: what a column's new type makes of older values, as steps of a cast; empty: nothing. `did` says it;
 * `out_sure`: all of them are of the new type then. */
struct span column_convert(struct debezium *d, struct event *e, int column, const struct ddl_column *to, bool *out_sure,
                           struct text *did);
/* Remembers what a statement says of the column. */
void column_told_by(struct event *e, int column, const struct ddl_column *to);
/* Older rows of the column may hold something else than at the source: in the notes of the table. */
void rows_keep_tell(struct event *e, struct span column, const char *why);
/* schema_names.c: the known table that a statement means by "db.table", in whichever letter case; NULL: none, or it cannot
 * be told, and then its timeline says so. `listed`: token of the columns that it must have in doubt, or 0. */
struct table *table_meant(struct debezium *d, struct event *e, struct span typed, uint32_t listed);
struct table *table_of_statement(struct debezium *d, struct event *e, struct span db, struct span name, uint32_t listed);
/* The statement and what became of it, in the timeline of e->table. */
void statement_tell(struct event *e, const char *did);
/* schema_listed.c: tokens of tableChanges; 0: not there. The columns of a table, and one of them. */
uint32_t columns_listed(struct event *e, struct span source);
uint32_t column_listed(struct event *e, uint32_t columns, struct span name);
/* Do the statement and the columns agree? Else `out_why` says in words where not. */
bool statement_agrees(struct event *e, uint32_t columns, const struct ddl *ddl, struct text *out_why);
/* Is the table in tableChanges? The name of it there, which may differ in case; else `source`. */
bool schema_change_lists(struct event *e, struct span source);
struct span name_listed(struct event *e, struct span source);
/* Is this change of tableChanges of the table `source`? */
bool schema_change_is_of(struct event *e, uint32_t change, struct span source);
/* Takes one name of a tableChanges id, "\"db\".\"table\"", as tables are known: db.table. */
bool schema_name_take(struct span *rest, struct arena *arena, struct span *out, size_t *out_parts);

#endif
