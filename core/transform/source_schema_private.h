/* What is told of columns before any value: by schema blocks of messages, by the file sourceSchema, by columnTypes. */
#ifndef WEIR_TRANSFORM_SOURCE_SCHEMA_PRIVATE_H
#define WEIR_TRANSFORM_SOURCE_SCHEMA_PRIVATE_H

#include "transform/fields_private.h"
#include "transform/transform.h"

/*
 * Schema blocks: {"type":"struct","fields":[..]} in front of a payload, the same bytes message after message.
 */
struct block_row { /* the fields of one struct */
	size_t count;
	struct source_field *fields;
	struct span *defaults;  /* of each field as JSON, or empty */
};

struct block {
	struct span text;
	uint64_t hash;
	struct block_row row;  /* of "after", else "before": an envelope's row */
	struct block_row flat; /* of the root: a flattened row */
	struct arena *arena;
	struct block *next;    /* in its bucket */
};

struct block_cache;
struct block_cache *block_cache_new(void);
void block_cache_free(struct block_cache *cache);
/* For json_parse_known; `context` is the cache, the id is the block. */
size_t block_recognise(void *context, struct span rest, void **out_id);
/* The block that begins `rest` and has `number` in the source's tokens (json_doc.block); NULL: it was not met yet. */
struct block *block_told(struct block_cache *cache, uint64_t number, struct span rest);
/* Keeps the schema node `token`. NULL if it is none. `is_full`: the cache was emptied to make room, so
 * everything that points to a block is void. */
struct block *block_learn(struct block_cache *cache, const struct json_doc *doc, uint32_t token, bool *out_emptied);

/*
 * sourceSchema: columns and keys told by a file. And columnTypes.
 */
struct column_rule {
	struct span name;               /* as the source says */
	const struct source_type *from; /* how it is written, or NULL: each value tells */
	bool has_type;                  /* the owner chose the column's type */
	bool is_encoded;                /* `from` is the owner's word against the schema block's */
	struct bq_type type;
};

struct table_rule {
	struct span name;
	struct column_rule *columns;
	size_t column_count;
	struct span *keys;
	size_t key_count;
};

struct source_schema;
struct source_schema *source_schema_open(const struct job_options *options, struct error *err);
void source_schema_free(struct source_schema *schema);
const struct table_rule *source_schema_table(const struct source_schema *schema, struct span source,
                                             struct span table);
/* What file and columnTypes say of one column; false: nothing. */
bool source_schema_column(const struct source_schema *schema, const struct table_rule *rule, struct span source,
                          struct span table, struct span column, struct column_rule *out);

/* Does `pattern` ("t", "s.t", "d.s.t") name the table `source` ("d.s.t"), whose last part is `table`? */
bool name_matches(struct span pattern, struct span source, struct span table);

#endif
