/*
 * The destination's columns of one source table. A schema is immutable: a change
 * makes a new one with version + 1, so that a batch in flight keeps its own.
 */
#ifndef WEIR_RECORD_SCHEMA_H
#define WEIR_RECORD_SCHEMA_H

#include "record/type.h"

#define SCHEMA_COLUMNS_MAX 1999 /* local: SQLite takes 2,000, and a replica has its position besides */
#define SCHEMA_COLUMNS_FAR_MAX 9900 /* at BigQuery, which takes 10,000: those of a changelog and of keys are among them */
#define KEY_COLUMNS_MAX 64 /* no database has keys of more; BigQuery takes 16 */

struct column {
	struct span name;         /* in the destination */
	struct span source_name;  /* in the message */
	struct bq_type type;
	uint16_t key_ordinal;     /* 1.. among the key columns, 0: not in the key */
	uint16_t was_key;         /* the same before it was renamed: rows of then still come, with the key of then; 0: never */
	bool is_provisional;      /* only NULL has been seen: STRING until the first real value */
	bool is_inferred;         /* the type was guessed from values, not told by a schema */
	bool is_wide;             /* INT64: a value beyond 2^53 has been seen, FLOAT64 would not be exact */
	uint32_t told;            /* of its source type, what a schema change needs and the type here does not tell: enum column_told */
};

enum column_told {
	TOLD_ANYTHING = 1,        /* a schema block, or a statement, has told the rest */
	TOLD_SINGLE = 2,          /* a float of four bytes */
	TOLD_LIST = 4,            /* ENUM, SET */
	TOLD_DECIMAL = 8,         /* its scale stands above: told >> TOLD_SCALE_BITS */
	TOLD_REQUIRED = 16,       /* of JSON rows: the table is made with it, and the schema file says REQUIRED */
	TOLD_RELAXED = 32,        /* the same once, and the file says so no more */
	TOLD_HOLDS = 64,          /* no row has come yet, but older ones have values in it: a default, or those of a renamed column */
	TOLD_SCALE_BITS = 8,
};

enum table_note {
	NOTE_NO_KEY = 1,         /* changelog only; equal rows of one transaction may be taken for one */
	NOTE_ORDER_BY_TIME = 2,
	NOTE_ORDER_BY_LINE = 4,
	NOTE_INFERRED = 8,       /* at least one column type is guessed */
	NOTE_RENAMED = 16,       /* a column or the table has another name than in the source */
	NOTE_NAME_COLLISION = 32,
	NOTE_PLACEHOLDERS = 64,  /* unchanged large values have been seen */
	NOTE_HISTORY_CHANGED = 128, /* positions that cannot be compared with the earlier ones: an epoch began */
	NOTE_ORDER_BY_ARRIVAL = 256, /* inside a transaction */
};

struct table_schema {
	struct span source;       /* "db.schema.table" as the source says; identity of the table */
	struct span name;         /* of the replica table; the changelog adds "_changelog" */
	struct span dataset;      /* where messages choose it; empty: the job's own */
	uint32_t version;         /* from 1 */
	uint32_t notes;           /* enum table_note */
	size_t count;
	const struct column *columns;
	size_t key_count;
	const uint16_t *keys;     /* indices of the key columns, in key order */
	struct span history;      /* the transform's memory (epochs, the first row's defaults); opaque, kept with the table */
};

/* A deep copy into the arena. */
const struct table_schema *schema_copy(struct arena *arena, const struct table_schema *schema);

/* Index of a column by destination name without regard to (ASCII and simple Unicode) case, or -1. */
int schema_find(const struct table_schema *schema, struct span name);

/* The same name but for (ASCII and simple Unicode) case, as BigQuery compares them. */
bool name_equal(struct span a, struct span b);

#endif
