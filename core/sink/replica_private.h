/*
 * What the rooms of the replica share: its table, statements and memory.
 */
#ifndef WEIR_SINK_REPLICA_PRIVATE_H
#define WEIR_SINK_REPLICA_PRIVATE_H

#include "sink/local_private.h"


/* local_alter.c: what becomes of an event's columns on their way into the table. */
#define ALTER_GONE UINT32_MAX

struct alter_cast {
	struct span spec;
	struct alter_cast *next;
};

struct alter_place {
	uint32_t from;              /* the event's own column, or ALTER_GONE */
	const struct json_doc *doc; /* a value instead: of `from` only where the event lacks it; NULL: none */
	uint32_t token;
	struct alter_cast *casts;   /* what becomes of it then, one after the other */
};

struct alter_way {
	struct alter_place *places; /* by column */
	uint32_t *targets;          /* by the event's own column */
	bool *is_bound;             /* scratch of one event */
	struct alter_place *before; /* scratch while it is made */
};

struct alters;
struct alters *alters_new(void);
void alters_free(struct alters *alters);
void alters_clear(struct alters *alters);
void alters_forget_ways(struct alters *alters);
bool replica_alters_read(struct replica *replica, struct error *err);
bool replica_alters_save(struct replica *replica, struct error *err);
/* NULL: nothing becomes of it. Lent until the columns or schema changes are others. */
struct alter_way *replica_way(struct replica *replica, const unsigned char *position);
/* Binds a value for a column by its way. */
void replica_bind_cast(struct replica *replica, size_t column, const struct alter_cast *casts, const struct json_doc *doc,
                       uint32_t token);
/* A row of that position has come into the table by its way. */
void replica_way_count(struct replica *replica, const unsigned char *position);
/* local_follow.c: a column's value as one of another column's type. */
void replica_add_converted(struct text *sql, const struct column *from, const struct column *to);

struct replica {
	struct alters *alters;             /* schema changes that reach rows */
	struct store *store;               /* lent */
	struct arena *arena;               /* name and schema */
	struct span name;
	struct replica_source source;
	struct table_schema schema;        /* what the table has; count 0: it does not exist */
	int64_t watermark;
	struct tide tide;
	unsigned char hidden[POSITION_BYTES]; /* what the table's rows have already been hidden by */
	bool is_there;                     /* append: the table exists, perhaps without a column */
	bool has_deleted, has_unavailable; /* any at all: spares look-ups */

	sqlite3_stmt *upsert, *remove, *find;
	sqlite3_stmt *tombstone_find, *tombstone_put, *tombstone_drop;
	sqlite3_stmt *missing_put, *missing_drop;

	struct value_reader *reader;
	struct json_doc doc, old_doc, list;
	struct json_trail *trail;          /* NULL: not worth it yet */
	uint32_t parsed;                   /* records, until it is */
	uint32_t hinted;                   /* the trail's number of the record that left the hints; 0: look at each name */
	uint32_t *hints;                   /* column of the n-th member in the last record */
	size_t hint_room;
	struct arena *scratch;             /* of one row */
};

/* Prepared for the table's present columns, when first needed. */
bool replica_prepare(struct replica *replica, struct error *err);
void replica_forget_statements(struct replica *replica);
/* " WHERE a=?1 AND b=?2": the key columns. */
void sql_key_match(struct text *sql, const struct table_schema *schema);

/* Binds the key columns from parameter `first` on; false: no key of this table (from before it had one). */
bool replica_bind_key(struct replica *replica, sqlite3_stmt *stmt, int first, struct span key);

/* The stored row of a key in `find`: position, then the columns. The caller resets it. */
bool replica_find(struct replica *replica, struct span key, bool *out_found, struct error *err);

/* local_append.c: a table that is none of ours becomes one that rows are appended to. */
bool append_adopt(struct replica *replica, struct error *err);

/* local_bind.c */
/* A change's row into the upsert's parameters, and its position. */
bool replica_bind_record(struct replica *replica, const struct change *change, struct error *err);
/* Key columns come from the key itself, so that a delete finds the row that an insert made. False: no key of this table. */
bool replica_bind_record_key(struct replica *replica, const struct change *change);
/* Binds one column from the JSON text of a row; absent is NULL. */
bool replica_bind_from(struct replica *replica, sqlite3_stmt *stmt, int index, size_t column, struct span record,
                       struct error *err);

/* local_missing.c: values that the event does not carry. */
struct missing {
	uint16_t columns[SCHEMA_COLUMNS_MAX];
	bool is_found[SCHEMA_COLUMNS_MAX];
	size_t count;
};
/* `position`: of the event that lists them. */
bool missing_read(struct replica *replica, struct span unavailable, const unsigned char *position,
                  struct missing **out, struct error *err);
/* Binds them into the upsert statement. */
bool missing_bind(struct replica *replica, const struct change *change, struct history *history,
                  struct missing *missing, struct error *err);
/* Lists what was not found, and forgets what was listed before. */
bool missing_list(struct replica *replica, struct span key, const struct missing *missing, struct error *err);
bool missing_clear(struct replica *replica, struct span key, struct error *err);
/* After a step: rows whose history has changed. */
bool missing_redecide(struct replica *replica, struct fold *fold, struct history *history, struct error *err);
bool missing_forget_gone(struct replica *replica, struct error *err);

#endif
