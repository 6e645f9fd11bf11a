/*
 * Schema blocks that were seen before. A block is 4 KB of the same bytes in
 * every message of a table: it is compared, not parsed. Blocks are found by a
 * hash of their head; the table seen last is tried first.
 */
#include "transform/debezium_private.h"

#include "base/hash.h"

#include <stdlib.h>

#define HEAD_BYTES 256
#define TAIL_BYTES 64
#define BLOCKS_MAX 1000
#define BLOCK_BYTES_MAX (64u << 20)
#define BUCKETS 2048
#define TOLD 64

struct block_cache {
	struct block *buckets[BUCKETS];
	struct block *small; /* shorter than the head: compared one by one */
	struct block *last;
	struct told {
		uint64_t number;
		struct block *block;
	} told[TOLD]; /* by the source's numbers */
	size_t count, bytes;
};

struct block_cache *block_cache_new(void)
{
	return memory_zalloc(sizeof(struct block_cache));
}

static void blocks_free(struct block *block)
{
	while (block) {
		struct block *next = block->next;

		arena_free(block->arena);
		block = next;
	}
}

static void cache_empty(struct block_cache *cache)
{
	for (size_t i = 0; i < BUCKETS; i++)
		blocks_free(cache->buckets[i]);
	blocks_free(cache->small);
	*cache = (struct block_cache){ 0 };
}

void block_cache_free(struct block_cache *cache)
{
	if (!cache)
		return;
	cache_empty(cache);
	free(cache);
}

static struct block **cache_bucket(struct block_cache *cache, struct span text, uint64_t *out_hash)
{
	if (text.len < HEAD_BYTES) {
		*out_hash = 0;
		return &cache->small;
	}
	*out_hash = hash_bytes(span_make(text.at, HEAD_BYTES));
	return &cache->buckets[*out_hash % BUCKETS];
}

/* Blocks of two tables mostly begin alike; the name at the end tells them apart. */
static bool block_begins(const struct block *block, struct span rest)
{
	size_t tail = block->text.len < TAIL_BYTES ? block->text.len : TAIL_BYTES, head = block->text.len - tail;

	return rest.len > block->text.len && memcmp(rest.at + head, block->text.at + head, tail) == 0 &&
	       memcmp(rest.at, block->text.at, head) == 0;
}

static struct block *bucket_find(struct block *block, uint64_t hash, struct span rest)
{
	for (; block; block = block->next) {
		if (block->hash == hash && block_begins(block, rest))
			return block;
	}
	return NULL;
}

size_t block_recognise(void *context, struct span rest, void **out_id)
{
	struct block_cache *cache = context;
	struct block *block = cache->last;

	if (!block || !block_begins(block, rest)) {
		uint64_t hash;
		struct block **bucket = cache_bucket(cache, rest, &hash);

		block = bucket_find(*bucket, hash, rest);
		if (!block)
			block = bucket_find(cache->small, 0, rest);
	}
	if (!block)
		return 0;
	cache->last = block;
	*out_id = block;
	return block->text.len;
}

struct block *block_told(struct block_cache *cache, uint64_t number, struct span rest)
{
	struct told *told = &cache->told[number % TOLD];
	void *block = NULL;

	if (number && told->number == number)
		return told->block;
	if (block_recognise(cache, rest, &block))
		*told = (struct told){ number, block };
	return block;
}

/* The fields of a struct node; those whose type cannot be read are left out, as if the block had not named them. */
static void block_fields(const struct json_doc *doc, uint32_t node, struct arena *arena, struct block_row *out)
{
	uint32_t fields = json_is(doc, node, JSON_OBJECT) ? json_member(doc, node, SPAN("fields")) : 0;
	size_t count = 0;

	*out = (struct block_row){ 0 };
	if (!fields || !json_is(doc, fields, JSON_ARRAY))
		return;
	for (uint32_t at = fields + 1; at < doc->tokens[fields].next; at = doc->tokens[at].next)
		count++;
	out->fields = arena_zalloc(arena, (count + 1) * sizeof(*out->fields));
	out->defaults = arena_zalloc(arena, (count + 1) * sizeof(*out->defaults));
	for (uint32_t at = fields + 1; at < doc->tokens[fields].next; at = doc->tokens[at].next) {
		uint32_t name = json_is(doc, at, JSON_OBJECT) ? json_member(doc, at, SPAN("field")) : 0;
		struct source_field *field = &out->fields[out->count];

		if (!name || !json_is(doc, name, JSON_STRING) || !source_type_read(doc, at, arena, &field->type))
			continue;
		field->name = arena_copy(arena, json_text(doc, name, arena));
		uint32_t value = json_member(doc, at, SPAN("default"));

		if (value && !json_is(doc, value, JSON_NULL))
			out->defaults[out->count] = arena_copy(arena, json_slice(doc, value));
		out->count++;
	}
}

/* "after" is the row; "before" stands in where there is none. */
static uint32_t block_row_node(const struct json_doc *doc, uint32_t node)
{
	uint32_t fields = json_member(doc, node, SPAN("fields")), found = 0;

	if (!fields || !json_is(doc, fields, JSON_ARRAY))
		return 0;
	for (uint32_t at = fields + 1; at < doc->tokens[fields].next; at = doc->tokens[at].next) {
		uint32_t name = json_is(doc, at, JSON_OBJECT) ? json_member(doc, at, SPAN("field")) : 0;

		if (!name)
			continue;
		if (span_is(json_raw(doc, name), "data")) /* CloudEvents: both are in there */
			return block_row_node(doc, at);
		if (span_is(json_raw(doc, name), "after"))
			return at;
		if (span_is(json_raw(doc, name), "before"))
			found = at;
	}
	return found;
}

struct block *block_learn(struct block_cache *cache, const struct json_doc *doc, uint32_t token, bool *out_emptied)
{
	struct span text = json_slice(doc, token);

	*out_emptied = false;
	if (!json_is(doc, token, JSON_OBJECT) || text.len > BLOCK_BYTES_MAX)
		return NULL;
	if (cache->count >= BLOCKS_MAX || cache->bytes + text.len > BLOCK_BYTES_MAX) {
		cache_empty(cache);
		*out_emptied = true;
	}
	struct arena *arena = arena_new(4096);
	struct block *block = arena_zalloc(arena, sizeof(*block));
	uint32_t row = block_row_node(doc, token);

	block->arena = arena;
	block->text = arena_copy(arena, text);
	if (row)
		block_fields(doc, row, arena, &block->row);
	block_fields(doc, token, arena, &block->flat);

	struct block **bucket = cache_bucket(cache, text, &block->hash);

	block->next = *bucket;
	*bucket = block;
	cache->last = block;
	cache->count++;
	cache->bytes += text.len;
	return block;
}
