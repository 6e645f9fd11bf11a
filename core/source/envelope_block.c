/*
 * Schema blocks that were checked before. A block is compared byte by byte, so
 * what is recognised is exactly what was found to be JSON. The list is short:
 * a stream has few tables that are busy at a time.
 */
#include "base/arena.h"
#include "source/envelope_private.h"

#include <stdatomic.h>
#include <stdlib.h>

#define TAIL_BYTES 64 /* there stands the table's name */

/* The blocks of two tables mostly begin alike and end differently. */
static bool begins_with(struct span text, const struct block *block)
{
	size_t tail = block->len < TAIL_BYTES ? block->len : TAIL_BYTES, head = block->len - tail;

	return text.len > block->len && memcmp(text.at + head, block->at + head, tail) == 0 &&
	       memcmp(text.at, block->at, head) == 0;
}

size_t block_list_recognise(void *context, struct span rest, void **out_id)
{
	struct block_list *list = context;

	for (size_t i = 0; i < list->count; i++) {
		/* The newest first: events of one table come in rows. */
		size_t at = (list->newest + i) % list->count;

		if (!begins_with(rest, &list->blocks[at]))
			continue;
		list->newest = at;
		*out_id = &list->blocks[at];
		return list->blocks[at].len;
	}
	return 0;
}

static _Atomic uint64_t numbers;

void block_list_learn(struct block_list *list, struct span block)
{
	struct block *place;

	if (block.len == 0 || block.len > ENVELOPE_BLOCK_MAX)
		return;
	list->newest = list->count < ENVELOPE_BLOCKS ? list->count++ : list->oldest;
	list->oldest = (list->newest + 1) % ENVELOPE_BLOCKS;
	place = &list->blocks[list->newest];
	place->number = atomic_fetch_add(&numbers, 1) + 1;
	place->at = memory_grow(place->at, block.len);
	memcpy(place->at, block.at, block.len);
	place->len = block.len;
}

void block_list_clear(struct block_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->blocks[i].at);
	list->count = 0;
}
