/*
 * Verification rebuilds each replica from the changelog by one plain SQL query. It
 * shares the catalogue with the merger, and nothing else.
 */
#ifndef WEIR_SINK_VERIFY_PRIVATE_H
#define WEIR_SINK_VERIFY_PRIVATE_H

#include "sink/local_private.h"

struct verify {
	struct store *store;           /* scratch file, with the replica attached as r, the changelog as l */
	struct arena *arena;           /* of one table */
	struct span table, changelog;
	struct table_schema schema;    /* as the replica's catalogue has it */
	int64_t watermark;
	uint64_t rows;                 /* in the replica */
	const char *difference;        /* NULL: none yet */
};

/* verify_value.c: weir_value(id, record, column, type), weir_has(id, record, column), weir_part(record, member),
 * weir_lists(list, column) */
struct verify_cache;
struct verify_cache *verify_functions(sqlite3 *db);
/* verify_cast.c: weir_casts(value, specs with a blank behind each, type) */
void verify_casts_function(sqlite3_context *context, int count, sqlite3_value **values);
void verify_cache_clear(struct verify_cache *cache); /* of the last record */

/* verify_rebuild.c: the rows as the changelog has them, into main.rebuilt(c0, c1, ...) */
bool verify_rebuild(struct verify *verify, struct error *err);

/* verify_alter.c: what schema changes above an event make of its columns */
/* Into main.effects. `*out_any`: there are some. */
bool verify_effects(struct verify *verify, bool *out_any, struct error *err);
/* Does any of them touch the column? `name` and `type` are quoted for SQL. */
bool verify_is_altered(struct verify *verify, const char *name, bool *out, struct error *err);
/* The column's value of event `e`; `from`: id and text that weir_value reads of it. */
void verify_add_altered(struct text *sql, const char *name, const char *type, const char *from);

/* verify_compare.c */
bool verify_compare(struct verify *verify, struct error *err);
/* Runs a query with the watermark as ?1; its first row's first column. */
bool verify_number(struct verify *verify, struct text *sql, int64_t *out_number, bool *out_found, struct error *err);

#endif
