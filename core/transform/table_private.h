/* Tables as the Debezium transform knows them, and the rows of one: how messages spell them, and one that was read. */
#ifndef WEIR_TRANSFORM_TABLE_PRIVATE_H
#define WEIR_TRANSFORM_TABLE_PRIVATE_H

#include "base/text.h"
#include "transform/source_schema_private.h"

#define SHAPES_MAX 4
#define SHAPE_TRAILS 4 /* an insert, updates with and without before, a delete */

/*
 * Tables. The transform keeps the newest schema; batches get copies.
 */
struct column_more {
	const struct source_type *from; /* by sourceSchema or columnTypes, or NULL */
	bool is_fixed;                  /* the owner chose the type: never widened */
	bool is_encoded;
	bool is_required;               /* by the schema file: a row without a value is refused */
	const struct bq_type *inside;   /* as the schema file has it, where fields of its records are required; else NULL */
	bool is_case_told;              /* that a second name is this column, but for its case */
	struct span quoted;             /* "\"name\":" */
	struct span first_default;      /* of the table's first row, as JSON, until an older row lacks the column */
};

/* What message keys of a table begin with, up to their first name behind a schema block, and key_names of so far. */
#define KEY_HEAD_BYTES 1024

struct key_head {
	char text[KEY_HEAD_BYTES];
	size_t len;
	uint64_t hash;
};

/* Newest places of the log where a table was dropped, and where it was made or had a row again behind a drop. */
struct life {
	bool was_dropped, was_made;
	struct position dropped_at, made_at;
};

struct table {
	struct table_schema schema;     /* points into the members below */
	uint32_t number;
	struct span db, schema_name, name; /* as the source says */
	uint64_t hash;
	struct arena *arena;
	struct column *columns;
	struct column_more *more;
	size_t column_room;
	uint16_t *keys;
	struct former_key *former_keys; /* oldest first */
	size_t former_key_count;
	uint32_t key_version;           /* counts changes of the key */
	uint32_t type_version;          /* counts changes of what decides how values are read, from 1 */
	const struct table_rule *rule;
	bool is_key_compared;           /* with primaryKey, in this run */
	bool is_key_new;                /* chosen by this event; its first row tells the types */
	bool is_key_told;               /* that the source has given it a key, or taken it away, too late */
	bool is_key_told_by_messages;   /* and neither by primaryKey nor by sourceSchema; known once it is compared */
	struct key_head *key_head;      /* NULL: none was met */
	uint64_t key_names;             /* hash of the names in a message key that is the table's */
	bool is_met;                    /* an event of it has come in this run */
	struct span listed;             /* columns as the last ALTER of this run listed them, a line each */
	struct span renamed_to;         /* in this run; empty: it was not */
	struct position renamed_at;
	struct life life;
	bool is_dropped;                /* and not made again since, by `life` */
	bool is_collided;
	const char *collision;          /* with whom, in words */
	size_t told_count;              /* columns that the newest schema in a batch has */
	struct text *why;               /* what changed since the last batch_add_change; empty: nothing */
	struct text *steps;             /* the same by columns, for the timeline: JSON without its brackets */
	const struct position *step_at; /* of the schema change that steps are of, if it reaches rows; else NULL */
	struct text *fills;             /* values of new columns for older rows, until a record of it is written */
	struct text *first_fills;       /* the same of columns that the first row had, for rows below `first_at` */
	struct position first_at;
	bool is_first_changed;          /* first defaults, former keys or life are other than schema.history says */
	struct span epochs;             /* the part of schema.history that is the log's */
	bool is_quietly_changed;        /* something that no timeline needs */
	struct text *guesses;           /* "a STRING, b INT64": columns whose types were guessed by this message */
	size_t guess_count;
	struct span guessed;            /* the one, if it is one */
	uint32_t history_version;
	size_t required_count;          /* columns that are required */
	bool has_inside;                /* a column has fields that are */
	struct shape *shapes[SHAPES_MAX]; /* newest first */
	size_t lacks_count;             /* of columns, when it was last asked whether a shape lacks one */
	bool may_lack;                  /* a row whose block lacks a column has been seen in this run */
	struct presence *presences;     /* by column: where rows have it and where not; NULL until may_lack */
	size_t presence_room;
	bool is_followed;               /* rows have been since its presences were last written down */
	struct text *presences_text;    /* as they were written down; NULL: never */
	size_t past_count;              /* columns that it had when an earlier run ended, if that is remembered; else 0 */
	struct position past_last;      /* of the rows of then */
};

/* A key column before it was renamed: its rows below the place have it in their key. */
#define FORMER_KEYS_MAX 64              /* of a table; then the oldest is forgotten, and its late rows are letters */
struct former_key {
	uint16_t column, ordinal;
	struct position at;             /* of the renaming */
};

/* Where the log had a column, and where it had not. */
struct presence {
	bool is_seen, is_gone, is_told;
	bool has_default;            /* in the block of the last row that has it */
	struct position first, last; /* of the rows that have it */
	struct position gone;        /* the last row without it */
	struct position told;        /* the one for which older rows were changed */
};

/* One member of a row and where it goes. */
#define MEMBER_SKIPPED (-1) /* a field of the SMT */
#define MEMBER_UNKNOWN (-2) /* no such column, and none may be added */

struct member {
	struct span name;               /* as it stands in the message, still escaped */
	int32_t column;
	const struct source_type *from; /* NULL: each value tells */
	bool has_default;               /* the schema block has one */
	struct type_quick quick;        /* how its values nearly always look */
};

struct shape {
	const struct block *block;
	struct arena *arena;
	size_t count;
	struct member *members;
	uint32_t key_version;
	int32_t *key_members;           /* by key column: index of its member, or -1 */
	size_t key_count;               /* for which they have room */
	size_t names_room;              /* bytes of all quoted names and commas */
	uint32_t type_version;          /* of the table, when the quick readers were chosen */
	size_t column_count;            /* of the table, when `has` was made */
	bool *has, lacks, is_placed;    /* which of them it has; not all; it has been used, from `first` to `last` */
	bool *has_default;              /* in its block, of each column */
	struct position first, last;
	uint32_t used;                  /* of `trails`, which takes turns */
	struct {
		uint32_t trail, place;  /* texts with this trail have such a row, its first member there */
	} trails[SHAPE_TRAILS];
};

/* The row of one event, by the members of its shape. */
struct row {
	struct table *table;
	struct shape *shape;
	const struct json_doc *doc;
	uint32_t object;                /* token of the row itself */
	const uint32_t *tokens;         /* of the value, by member */
	struct cell *cells;             /* by member */
	bool is_converted;
	bool has_unavailable;
	bool has_nested;                /* an ARRAY or STRUCT is among the cells */
	size_t text_bytes;              /* of all cells */
};

#endif
