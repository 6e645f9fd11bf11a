/*
 * Shared by the rooms of the local warehouse: files, catalogue, fold, replica.
 */
#ifndef WEIR_SINK_LOCAL_PRIVATE_H
#define WEIR_SINK_LOCAL_PRIVATE_H

#include "base/arena.h"
#include "base/text.h"
#include "record/batch.h"
#include "sink/sink.h"
#include "store/store.h"

#define LOCAL_SQL_MAX (4u << 20)
#define LOCAL_RECORD_BYTES_MAX (64u << 20)

/*
 * Files: one a dataset.
 */
struct store *local_open(const char *warehouse, const char *dataset, enum store_mode mode, int64_t cache_bytes,
                         int checkpoint_pages, struct error *err);
/* The books of one job at BigQuery, in a folder of the warehouse's (bigquery_books.c). */
struct store *bigquery_books_open(const char *warehouse, const char *job, enum store_mode mode, struct error *err);
char *bigquery_books_path(const char *warehouse, const char *job);
bool dataset_path(const char *warehouse, const char *dataset, char **out_path, struct error *err);

/*
 * SQL text. A name that may not stand in a statement, or text beyond the limit, is
 * remembered and reported when the statement is prepared.
 */
struct text *sql_new(const char *begin);
void sql_name(struct text *sql, struct span name);
sqlite3_stmt *sql_prepare(struct text *sql, struct store *store, struct error *err);
bool sql_run(struct text *sql, struct store *store, struct error *err);
/* Is there a table or index of that name? */
bool sql_has_table(struct store *store, struct span name, bool *out_has, struct error *err);
void sql_finalize(sqlite3_stmt **stmt); /* and forgets it */

/*
 * Catalogue: _weir_tables and _weir_columns.
 */
#define PART_TABLE ""            /* columns of the table itself */
#define PART_RECORD "fullRecord" /* columns inside fullRecord */

struct catalog_table {
	struct table_schema schema;
	bool has_history_index;
	struct span identity;  /* of its changelog, random */
};

bool catalog_columns_read(struct store *store, struct span table, const char *part, struct arena *arena,
                          struct table_schema *out, struct error *err);
bool catalog_columns_write(struct store *store, struct span table, const char *part,
                           const struct table_schema *schema, struct error *err);
/* All tables of a job, index = number; the array lies in the arena. */
bool catalog_tables_read(struct store *store, const char *job, bool has_changelog, struct arena *arena,
                         struct catalog_table **out_tables, size_t *out_count, struct error *err);
/* One of them, of a dataset that holds changelogs. */
bool catalog_table_read(struct store *store, const char *job, uint32_t number, struct arena *arena,
                        struct catalog_table *out, bool *out_known, struct error *err);
bool catalog_table_write(struct store *store, const char *job, uint32_t number, const struct catalog_table *table,
                         bool has_changelog, struct error *err);
/* Does this source table own the changelog of that name? */
bool catalog_owns_changelog(struct store *store, const struct table_schema *schema, bool *out_owns, struct error *err);

/*
 * What is lost (local_lost.c).
 */
/* As remembered, 0: not at all. `identity` NULL: of whichever changelog. */
int64_t witness_level(const struct sink_setup *setup, struct span table, const struct span *identity);
/* Where a replica stands, as its file says. */
struct standing {
	bool is_known;       /* it has been made */
	int64_t watermark;
	struct span made_from;
};
bool standing_read(struct store *store, struct span table, struct arena *arena, struct standing *out, struct error *err);
/* A sentence into `out` if what the file says cannot be the replica that the job has made. */
bool replica_is_lost(const struct sink_setup *setup, const struct catalog_table *table, const struct standing *standing,
                     struct text *out);

/* "orders" -> "orders_changelog" */
struct span changelog_name(struct arena *arena, struct span table);
bool changelog_create(struct store *store, struct span changelog, struct error *err);
bool changelog_index_history(struct store *store, struct span changelog, struct error *err);
/* All changes of one changelog into another, as of a RENAME at that position. */
bool changelog_carry(struct store *store, struct span from, struct span to, const unsigned char *position,
                     struct error *err);
sqlite3_stmt *changelog_prepare(struct store *store, struct span changelog, struct error *err);
bool changelog_add(struct store *store, sqlite3_stmt *insert, const struct table_schema *schema,
                   const struct record *record, int64_t received_us, bool *out_repeated, struct error *err);

/*
 * Values: JSON of a fullRecord into SQLite values.
 */
struct value_reader;
struct value_reader *value_reader_new(void);
void value_reader_free(struct value_reader *reader);
/* Binds the value of a token for a column of that type. Memory is from the arena. */
void value_bind(struct value_reader *reader, sqlite3_stmt *stmt, int index, const struct bq_type *type,
                const struct json_doc *doc, uint32_t token, struct arena *arena);
/* Binds a key column from its canonical text. */
void value_bind_canonical(struct value_reader *reader, sqlite3_stmt *stmt, int index, const struct bq_type *type,
                          struct span text, struct arena *arena);
/* Canonical text of a stored value; NULL stays NULL. Registered as weir_text(value, type). */
bool value_register(sqlite3 *db);
/* A JSON number as a STRING column has it. */
struct span value_number_text(struct value_reader *reader, struct span raw, struct arena *arena);
/* The shortest text that reads back as the same double; whole numbers without exponent. */
size_t real_text(double number, char out[32]);
/* One stored value as JSON, as fullRecord has it. */
bool value_json(struct text *out, sqlite3_value *value, const struct bq_type *type);

/* local_cast.c: a text when its column has got another type; `spec` as an ALTER has it. Without an address: NULL. */
bool cast_is_fine(struct span spec);
struct span cast_text(struct span spec, struct span text, struct arena *arena);

/*
 * Fold: what a step of changes comes to. Keeps the newest change of each key.
 */
struct change {
	struct span key, old_key, full_record, unavailable;
	struct span last_record;  /* of a delete: the row as an older change of the same fold made it */
	const unsigned char *position;
	enum operation operation; /* OPERATIONS: only touched, by changes that have no effect */
	uint32_t record;          /* upsert: index in the batch */
	bool is_many;             /* the step has more than one change of this key */
	bool is_applied;          /* replica_apply: the row or its delete was newer than what was there */
	bool is_repeat;           /* replica_apply without history: it was there already */
};

struct fold {
	struct arena *arena;  /* copies; NULL: spans are lent until the fold is cleared */
	struct change *items;
	size_t count, room;
	uint32_t *slots;
	size_t slot_count;
	bool is_sorted;       /* the items came in order */
};

/*
 * What table events hide. `hidden`: row events below have no effect. `dropped`: the
 * newest DROP; events below that arrive behind it have no effect, those before it
 * stay readable until a row at or above it makes the table again. `newest`: the
 * greatest position of a row that has had an effect.
 */
struct tide {
	unsigned char hidden[POSITION_BYTES], dropped[POSITION_BYTES], newest[POSITION_BYTES];
};

void fold_init(struct fold *fold, struct arena *arena);
void fold_clear(struct fold *fold);
void fold_free(struct fold *fold);
/* In order of arrival; the tide moves with it. False: a table event. A row that the tide hides becomes a touch. */
bool tide_pass(struct tide *tide, struct change *change);
/* A row event or a table event, in order of arrival. The tide moves with it. */
void fold_add(struct fold *fold, struct tide *tide, const struct change *change);
/* In the order of the replica's B-tree. Indices change; fold_add must not follow. */
void fold_sort(struct fold *fold, const struct table_schema *schema);

/*
 * Replica: one table, its statements, and what is remembered beside it.
 */
struct history;
struct replica;

struct replica_source {
	const char *dataset;   /* of the changelog; NULL in upsert mode */
	struct span changelog;
	struct span identity;  /* of the changelog */
	bool is_append;        /* a table of rows as they came, each once by its position; no key, and none of the above */
};

struct replica *replica_open(struct store *store, struct span table, const struct replica_source *source,
                             struct error *err);
void replica_free(struct replica *replica);
struct span replica_name(const struct replica *replica);
int64_t replica_watermark(const struct replica *replica);
struct tide *replica_tide(struct replica *replica);
/* The table's columns become those of `schema`: made, added, widened. */
bool replica_follow(struct replica *replica, const struct table_schema *schema, struct error *err);
bool replica_empty(struct replica *replica, struct error *err);
/* Applies a fold. `history` NULL: unavailable values come from the stored rows. Counts rows that changed. */
bool replica_apply(struct replica *replica, struct fold *fold, struct history *history, uint64_t *out_rows,
                   struct error *err);
bool replica_save(struct replica *replica, int64_t watermark, struct error *err);
/* local_append.c: one row of an append table. *out_fault: why the table does not take it, a reason code; else NULL. */
struct append_fault {
	const char *code;      /* NULL: the row was written, or is a repeat */
	struct span column;    /* lent until the next row */
	const char *message;
};
bool replica_append(struct replica *replica, const struct record *record, bool *out_repeated,
                    struct append_fault *out_fault, struct error *err);
/* A schema change that reaches rows below its position; repeats have no effect. `is_new`: stored rows do not know it. */
bool replica_alter_add(struct replica *replica, const unsigned char *position, struct span text, bool is_new,
                       bool *out_repeat, struct error *err);
/* All that have been added are such as rows are changed by on their way in: the table is empty. */
void replica_alters_expect(struct replica *replica);
/* One came behind a later one, which stored rows have had: only a rebuild can tell what they are. */
bool replica_has_late_alter(const struct replica *replica);
/* Brings stored rows up to the schema changes that they do not know. */
bool replica_alters_apply(struct replica *replica, uint64_t *out_rows, struct error *err);
/* All rows of another replica of the same file, as of a RENAME at that position: those it had are gone. */
bool replica_carry(struct replica *replica, struct replica *from, const unsigned char *position, struct error *err);
/* Newest position known of a key, row or delete. */
bool replica_position(struct replica *replica, struct span key, unsigned char out[POSITION_BYTES], bool *out_found,
                      struct error *err);

/*
 * History: earlier events of a row, from the changelog.
 */
/* `is_kept`: the table has had placeholders, so its index of keys exists. */
struct history *history_open(struct store *changelog_store, struct span changelog, bool is_kept);
bool history_is_kept(const struct history *history);
/* Events behind rowid `end` do not exist yet. */
void history_set_end(struct history *history, int64_t end);
void history_close(struct history *history);

struct moment {                /* an event of a row, as look-back sees it */
	struct span key, old_key;
	const unsigned char *position;
};
/* fullRecord of the latest earlier event that carries `column`, copied into the arena. */
bool history_find(struct history *history, const struct moment *event, struct span column, struct arena *arena,
                  bool *out_found, struct span *out_record, struct error *err);
/* old_key and unavailable columns of the event at that place. */
bool history_event(struct history *history, const struct moment *place, struct arena *arena, struct span *out_old_key,
                   struct span *out_unavailable, struct error *err);
/* Touches in `fold` every key whose history leads to `key`. */
bool history_dependents(struct history *history, struct span key, struct fold *fold, struct arena *arena,
                        struct error *err);

/* The fold as a set of keys. */
void fold_touch(struct fold *fold, struct span key);

#endif
