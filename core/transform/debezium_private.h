/*
 * What the rooms of the Debezium transform share. The way of a message:
 * debezium.c parses and classifies (envelope.c, flattened.c), connector.c tells
 * its position, tables.c finds its table, shape.c and row.c read the row,
 * keys.c its key, records.c writes the records.
 */
#ifndef WEIR_TRANSFORM_DEBEZIUM_PRIVATE_H
#define WEIR_TRANSFORM_DEBEZIUM_PRIVATE_H

#include "base/name.h"
#include "record/key.h"
#include "transform/fields_private.h"
#include "transform/history.h"
#include "transform/table_private.h"
#include "transform/transform.h"

#define ROW_BYTES_MAX 10000000
#define ROOT_ORDERS 16
#define NAME_BYTES_MAX 4096 /* of a name in the source; the destination has limits of its own */

struct event {
	struct batch *batch;
	struct message *message;
	const struct json_doc *doc;
	const struct block *block;
	uint32_t root;                  /* the payload */
	char op;                        /* 'c' 'u' 'd' 'r' 't' 's' (schema change) */
	bool is_flattened;
	bool is_document;               /* MongoDB: the row is the key and one document */
	bool is_partial;                /* NULL in before and after: the column was not changed */
	bool is_snapshot;
	struct position position;
	enum position_kind position_kind;
	bool is_in_history;             /* the position counts from an epoch that may be raised */
	bool has_raised_epoch;
	bool is_by_arrival;             /* events of one transaction share their position but for their arrival */
	struct table *table;
	const uint16_t *keys;           /* its key columns at this place of the log; NULL: those of now */
	bool is_mapped;                 /* the message is the row, its table is chosen by templates */
	struct span partition;          /* of its table, that the message names; empty: none */
	bool skips_metadata;            /* _metadata_error and _metadata_retry_count are no columns */
	bool is_key_parsed;
	uint32_t key_object;            /* in key_doc; 0 with key_parsed: look at has_key */
	bool has_key;
	bool is_located;
	int64_t timestamp_ms;
	struct value top[FIELDS];       /* envelope */
	struct value fields[FIELDS];    /* source block, SMT fields, attributes */
};

struct mapping;

struct debezium {
	struct transform base;
	struct mapping *mapping;        /* PubSub_CDC_to_BigQuery: the message chooses table and dataset; else NULL */
	const struct job_options *options;
	bool wants_proto, wants_json;
	struct span placeholder;
	size_t placeholder_base64;      /* its length in that form */
	struct source_type string, integer, real, boolean, any; /* for values that tell their own */
	struct json_doc doc, key_doc, attribute_doc, other_doc, document_doc, row_doc;
	struct block document_block;    /* of the rows that documents become */
	struct member_order root_orders[ROOT_ORDERS]; /* envelopes, heartbeats, rows... take turns */
	struct member_order source_order, transaction_order;
	struct field_plan *root_plans, *source_plans; /* FIELD_PLANS each */
	bool has_ddl, is_ddl_kept;      /* schema changes of MySQL have been seen; that is written down */
	bool decimals_are_text;         /* the file says base64, the messages have text (flattened rows) */
	struct block_cache *blocks;
	struct source_schema *rules;
	struct table **tables;
	size_t table_count, table_room;
	struct table *last_table;
	bool names_have_no_case;        /* a statement has meant a table by a name in another letter case */
	uint32_t *slots;                /* table number + 1 by hash of the source name */
	size_t slot_count;
	struct history history;
	struct row_room {               /* scratch of the rows of one event: after, before */
		uint32_t *tokens;
		struct cell *cells;
		size_t room;
	} rooms[2];
	struct cell *key_cells;
	size_t key_room;
	struct arena *arena;            /* as long as the transform */
};

#define REFUSE(event, code, column, path, ...) \
	message_refuse((event)->batch, (event)->message, "decode", code, column, path, __VA_ARGS__)
#define REFUSE_MAP(event, code, column, path, ...) \
	message_refuse((event)->batch, (event)->message, "map", code, column, path, __VA_ARGS__)
#define NOTHING ((struct span){ NULL, 0 })

/* envelope.c, flattened.c, documents.c, cloud_event.c, schema_change.c: false: the message is refused. */
bool event_apply(struct debezium *d, struct event *e);
bool envelope_apply(struct debezium *d, struct event *e);
bool envelope_write(struct debezium *d, struct event *e); /* op, before, after and the source's fields are read */
bool is_snapshot(const struct event *e);
bool cloud_event_apply(struct debezium *d, struct event *e);
bool has_document(const struct event *e);
bool document_apply(struct debezium *d, struct event *e);
bool document_types(struct debezium *d);
struct span document_id(struct json_doc *doc, uint32_t token, struct arena *arena);
bool event_learn_block(struct debezium *d, struct event *e, const struct value *schema);
bool flattened_apply(struct debezium *d, struct event *e);
bool schema_change_apply(struct debezium *d, struct event *e);
void empty_apply(struct debezium *d, struct event *e);
/* fills.c: columns that first appear with a default. */
int column_add_filled(struct debezium *d, struct event *e, const struct source_field *field, struct span default_json);
/* What the block gives older rows in the column, as JSON; empty: nothing, or nothing that it holds. */
struct span column_default(struct debezium *d, struct event *e, const struct block *block, int column);
/* The table's first row has the column: rows below it that lack it have its default. */
void column_first_default(struct debezium *d, struct event *e, int column, const struct source_type *from, struct span default_json);
/* This row is older than the first, and of another shape: what it lacks has the default that the first told. */
void first_fills_find(struct event *e);
/* What table_schema.history says of it behind the epochs, and back. */
struct span first_defaults_text(const struct table *table, struct span epochs);
void first_defaults_read(struct table *table, struct span text);
bool is_below(const struct position *a, const struct position *b);
/* In front of a record of e->table: what older rows have in columns that came with it. */
void fills_put(struct debezium *d, struct event *e);
/* comebacks.c: columns that blocks lack for a while. For each row, before its record. */
void comebacks_follow(struct debezium *d, struct event *e, struct shape *shape);
void presences_free(struct table *table);
struct presence *presence_of(struct table *table, size_t column);
void presences_gather(struct table *table); /* what only its shapes know */
/* comebacks_kept.c: what is written down of it with the job's position, and whether that is something else than last time. */
bool presences_have_changed(struct debezium *d);
struct span presences_text(struct debezium *d, struct arena *arena);
void presences_read(struct debezium *d, struct span text);
/* Pieces of such texts. False: it is none. */
void position_keep(struct text *out, const struct position *p);
bool kept_number(const char **at, int base, uint64_t *out);
bool kept_char(const char **at, char c);
bool kept_position(const char **at, struct position *out);
bool is_mysql(const struct event *e);
bool is_smt_field(struct span name);

/* connector.c */
bool event_locate(struct debezium *d, struct event *e);
/* By publish time and id, else by line: what tells the change where there is no log. */
void event_place_without_log(struct event *e);
uint64_t arrival_number(const struct message *message);

/* debezium.c: what both transforms share. */
struct debezium *debezium_new(const struct transform_setup *setup, const struct transform_ops *ops,
                              struct mapping *mapping, struct error *err);
void debezium_free(struct debezium *d);
void event_start(struct event *e, struct batch *batch, struct message *message);
void event_keep_place(struct event *e);
bool event_borrow(struct debezium *d, struct event *e);
bool body_is_blank(struct span body);
bool refuse_text(struct event *e, enum json_fault fault, size_t at);

/* mapped_columns.c, mapped_values.c: the rooms of PubSub_CDC_to_BigQuery, called where d->mapping is there. */
void mapped_column_first(struct debezium *d, struct event *e, int column, const struct column_rule *rule);
void mapped_column_known(struct debezium *d, struct table *table, size_t column);
bool mapped_is_metadata(struct span name);
bool mapped_cell(struct debezium *d, struct event *e, int column, const struct json_doc *doc, uint32_t token,
                 struct cell *out);
bool value_inferred(struct debezium *d, struct event *e, int column, const struct json_doc *doc, uint32_t token,
                    struct cell *out);
bool value_convert(struct debezium *d, struct event *e, int column, const struct source_type *from,
                   const struct json_doc *doc, uint32_t token, struct cell *out);

/* tables.c, table_told.c, names.c */
bool table_find(struct debezium *d, struct event *e); /* sets e->table, may make it */
struct table *table_lookup(struct debezium *d, struct span source);
struct table *table_restore(struct debezium *d, const struct table_schema *schema);
/* One that is in no list; the caller frees it. */
struct table *table_alone(const struct table_schema *schema);
void table_free(struct table *table);
void table_note(struct event *e, unsigned note, const char *code, const char *text);
void table_change(struct table *table, const char *what, struct span name); /* "new column", phone */
/* For the timeline: what changed at the source, and what became of it here. `column` may be empty. */
void table_step(struct table *table, struct span column, const char *change, const char *did);
void table_flush(struct debezium *d, struct event *e);
/* Sets e->table to that of these names, may make it. */
bool table_mapped(struct debezium *d, struct event *e, struct span dataset, struct span name);
/* The same, only if this run has met the table already; nothing is made, and no reason given. */
bool table_met(struct debezium *d, struct event *e, struct span dataset, struct span name);
/* A table that an earlier event has made known, by its source's names; NULL: none. */
struct table *table_known(struct debezium *d, struct event *e, struct span db, struct span name);
/* The same, made if it is new; NULL: it cannot be, or nothing can enter it. */
struct table *table_named(struct debezium *d, struct event *e, struct span db, struct span name);
void table_sync(struct table *table);
bool name_is_fine(struct span name);
struct span source_name(struct arena *arena, struct span db, struct span schema, struct span table);
void table_choose_name(struct debezium *d, struct event *e, struct table *table);
bool span_same_word(struct span a, struct span b); /* without regard to ASCII case */

/* columns.c */
int column_find(const struct table *table, struct span source_name);
/* How many a table may have: BigQuery takes more than a file of SQLite. */
size_t columns_most(const struct debezium *d);
int column_add(struct debezium *d, struct event *e, struct span source_name, const struct source_type *from);
bool column_may_change(const struct debezium *d, const struct table *table, int column);
void column_widen(struct event *e, int column, const struct bq_type *seen, bool value_fits);
void column_told(struct table *table, int column, uint32_t told);
void column_tell_case(struct event *e, int column, struct span source_name);
void column_settle(struct event *e, int column, const struct bq_type *type);
void column_adopt(struct debezium *d, struct event *e, int column, const struct source_type *from);
void columns_of_rule(struct debezium *d, struct event *e);
/* A column that a schema change tells of; its type is a guess that the first value settles. */
int column_expect(struct debezium *d, struct event *e, struct span source_name, const struct bq_type *type);

/* shape.c, row.c */
struct shape *shape_compile(struct debezium *d, struct event *e, uint32_t object); /* NULL: refused */
void shape_plan(struct debezium *d, const struct table *table, struct shape *shape);
void shape_find_keys(struct shape *shape, const struct event *e);
const struct source_field *block_field(const struct event *e, struct span name);
void shape_free(struct shape *shape);
void table_forget_shapes(struct table *table);
bool row_shape(struct debezium *d, struct event *e, uint32_t object, struct row_room *room, struct row *out);
bool row_convert(struct debezium *d, struct event *e, struct row *row);
struct span row_json(struct event *e, const struct row *row);
struct span row_unavailable(struct event *e, const struct row *row);
bool cell_read(struct debezium *d, struct event *e, int column, const struct source_type *from,
               const struct json_doc *doc, uint32_t token, struct cell *out);

/* life.c: statements and rows tell at which place the table was dropped or is there. */
void table_dropped_at(struct table *table, const struct position *at);
void table_made_at(struct table *table, const struct position *at);
bool table_is_made_since(const struct table *table, const struct position *at); /* at the place or above it */
void table_lives(struct event *e);                                              /* a row event of it has come */
void life_text(const struct table *table, struct text *out);
bool life_read(struct table *table, const char **at); /* false: it is damaged */

/* former_keys.c: key columns that have been renamed since the event. */
void former_key_add(struct event *e, uint16_t column); /* the statement that is being read renames it */
void former_keys_text(const struct table *table, struct text *out); /* behind the first defaults, and back */
void former_keys_read(struct table *table, const char *text);
void keys_then(struct event *e); /* finds e->keys */
uint16_t key_column(const struct event *e, size_t k);
bool is_key_column(const struct event *e, int column);
struct table_schema schema_then(const struct event *e); /* with the keys of then; lent */

/* keys.c, key_names.c, row_keys.c */
struct row_key {
	struct span key, json;
	struct span proto;              /* body of the primaryKey message, if wanted */
};
void key_tell_type(struct event *e, const struct column *column, const struct bq_type *was);
/* e->table gets the key of a table whose rows it takes. False: it has another one. */
bool table_take_key(struct debezium *d, struct event *e, const struct table *from);
bool key_decide(struct debezium *d, struct event *e, bool has_row);
void key_check(struct event *e); /* what BigQuery takes as a key, said once of a new one */
void row_spell_key(struct event *e, struct row *row); /* a converted row's, before anything is written of it */
bool key_of_row(struct debezium *d, struct event *e, const struct row *row, struct row_key *out); /* row: may be NULL */
bool key_has_changed(struct debezium *d, struct event *e, const struct row *before, const struct row *after,
                     struct span after_key, struct row_key *out);
bool key_of_attribute(struct debezium *d, struct event *e, const char *name, struct span *out_key);
bool message_key(struct debezium *d, struct event *e);
/* Of the names in a key's text, as one number. */
uint64_t key_names_hash(struct table *table, struct span text);
/* The value of a member of a key's object, by name or else by name without case; 0: there is none. */
struct span key_column_name(const struct event *e, struct span name); /* of a member of the message key */
uint32_t key_member(const struct json_doc *doc, uint32_t object, struct arena *arena, struct span name);

/* records.c */
#define NO_ROW UINT32_MAX /* 0 is the root, which may be a row */
bool event_write_row(struct debezium *d, struct event *e, uint32_t after, uint32_t before);
bool event_write_delete(struct debezium *d, struct event *e, uint32_t before);
bool event_write_table(struct debezium *d, struct event *e, enum operation operation);
bool row_is_too_large(struct event *e, struct span json);
struct span row_full_text(struct debezium *d, struct event *e, const struct row *row);
struct record *record_add(struct event *e, enum operation operation, uint8_t ordinal, const struct row_key *key);
void record_park(struct debezium *d, struct event *e);
void note_position(struct event *e);
int64_t event_timestamp(struct event *e);
/* The row as a Storage Write message of its own: column i has number i + 1. */
struct span row_proto(struct event *e, const struct row *row);
struct span record_proto(struct event *e, const struct record *record, const struct row *row,
                         const struct row_key *key);
struct span proto_cells(struct event *e, const struct table *table, const struct cell *cells);

#endif
