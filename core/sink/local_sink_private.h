/* The sink's own state, shared by its rooms: rows (local_write.c), books (local_books.c), operations. */
#ifndef WEIR_SINK_LOCAL_SINK_PRIVATE_H
#define WEIR_SINK_LOCAL_SINK_PRIVATE_H

#include "sink/local_private.h"

/* One source table of the job. The schema is replaced, never changed: a batch in flight keeps its own. */
struct local_table {
	const struct table_schema *schema, *committed; /* committed NULL: made in the open transaction */
	bool has_history_index, had_history_index;     /* the second as committed */
	sqlite3_stmt *insert;                          /* changelog */
	struct replica *replica;                       /* upsert */
	struct fold fold;                              /* upsert */
	bool is_touched;                               /* upsert: by the open transaction */
	bool is_missing;                               /* append: it is not there, and may not be made */
	bool folds_one;                                /* upsert: placeholders, so each change is applied by itself */
};

struct local_sink {
	struct sink sink;
	struct store *store;
	struct arena *arena;           /* schemas and texts that live until close */
	char *job, *dataset;
	const char *incarnation;       /* of the store that fills it now */
	bool is_upsert, is_append;     /* neither: changelogs */
	bool has_own_dataset;          /* schemas name it: messages choose it */
	bool are_columns_by_source;    /* append tables at BigQuery: the books have several datasets, and no rows */
	bool may_make;                 /* tables and columns (autoMapTables) */
	bool is_open;                  /* a transaction */
	bool is_known;
	const char *damage; /* of the books, in words; NULL: they are what was written */
	const char *known_incarnation;
	int64_t commits, known_commits; /* here, and as the job's store remembers */
	struct source_position position;
	struct local_table *tables;
	size_t count, committed_count, room;
	const struct table_schema **schemas; /* for the state */
	struct ledger *ledgers;        /* count + 1 */
};

/* local_sink.c: what a sink whose books are kept here shares. Its `write` may leave the transaction to be begun by commit. */
void local_state(struct sink *self, struct sink_state *out);
bool local_commit(struct sink *self, const struct source_position *position, const struct ledger *added, size_t table_count,
                  struct error *err);
void local_rollback(struct sink *self);
bool local_forget(struct sink *self, struct error *err);
/* All but the struct itself. */
void local_clear(struct local_sink *sink);

/* local_books.c */
bool books_read(struct local_sink *sink, struct error *err);
bool books_write_position(struct local_sink *sink, const struct source_position *position, struct error *err);
bool books_write_ledger(struct local_sink *sink, uint32_t number, const char *name, const struct ledger *sum,
                        struct error *err);
bool books_forget(struct local_sink *sink, struct error *err);
#define BOOKS_NO_TABLE UINT32_MAX

/* local_digest.c: the first bytes of SHA-256 over a row of the books. */
#define DIGEST_BYTES 16
void digest_position(const char *job, const char *incarnation, const struct source_position *position, int64_t commits,
                     unsigned char out[DIGEST_BYTES]);
void digest_ledger(const char *job, int64_t number, struct span table, const uint64_t *counters, size_t count,
                   unsigned char out[DIGEST_BYTES]);
/* Also if none is stored: the row is of an older version. */
bool digest_is(struct span stored, const unsigned char made[DIGEST_BYTES]);

/* local_tables.c */
void local_tables_grow(struct local_sink *sink, size_t count);
/* Another source table has its name: it is known and counted, its records are parked, and nothing is made for it. */
bool local_table_is_collided(const struct table_schema *schema);
bool local_table_begin_replica(struct local_sink *sink, struct local_table *table, struct error *err);
/* Also of a table without a replica the columns are known. */
bool local_table_follow(struct local_sink *sink, struct local_table *table, struct error *err);
bool local_table_save(struct local_sink *sink, uint32_t number, struct error *err);
/* A schema change where it stands between the batch's records. */
bool local_table_change(struct local_sink *sink, struct batch *batch, const struct schema_change *change, struct error *err);

/* local_many.c: the books of a job with several datasets, read by a connection that only reads. */
bool many_look(const struct sink_setup *setup,
               bool (*look_at_one)(const struct sink_setup *, struct arena *, struct sink_state *, struct error *),
               struct arena *arena, struct sink_state *out, struct error *err);

/* local_append.c */
bool record_append(struct local_sink *sink, struct batch *batch, struct record *record, struct error *err);
/* Without autoMapTables: is the table there? It is nobody's to be made. */
bool append_table_look(struct local_sink *sink, struct local_table *table, struct error *err);

/* local_write.c */
bool record_refuse(struct batch *batch, struct record *record, const char *code, const char *message);
/* What was folded so far into the replica. */
bool local_table_apply(struct local_sink *sink, struct local_table *table, struct batch *batch, struct error *err);
bool local_write(struct sink *self, struct batch *batch, struct error *err);

#endif
