/*
 * An arena hands out pieces of blocks by moving a pointer forward. A piece that
 * is larger than a block gets a block of its own, which goes back to the system
 * at the next reset; ordinary blocks are kept and filled again in the same order.
 * An arena of large blocks has huge pages from its second on, where the system has
 * any: it is filled and read from end to end, again and again.
 */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define ARENA_POISONS 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define ARENA_POISONS 1
#endif

/* Under ASan what is not handed out is forbidden ground, so that a look at the
 * last batch's memory after a reset is found. */
#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
#define arena_forbid(at, size) ASAN_POISON_MEMORY_REGION(at, size)
#define arena_permit(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
#else
#define arena_forbid(at, size) ((void)(at), (void)(size))
#define arena_permit(at, size) ((void)(at), (void)(size))
#endif

#define ALIGNMENT ((size_t)16)

#define HUGE_BYTES ((size_t)2 << 20)
#define HUGE_FROM_BYTES ((size_t)1 << 20) /* blocks of less have little of them */

struct block {
	struct block *next;
	size_t size; /* of bytes[] */
	size_t used; /* of a large one */
	bool is_huge; /* a page of HUGE_BYTES of its own */
	alignas(16) char bytes[];
};

/* Lies in the arena. */
struct kept {
	struct kept *next;
	void *what;
	void (*release)(void *what);
};

struct arena {
	char *at;  /* the first free byte of `current` */
	char *end; /* behind its last byte */
	struct block *current;
	struct block *first;
	struct block *large; /* newest first */
	struct kept *kept;
	size_t block_bytes;
	size_t left_bytes; /* handed out of other blocks than `current`, the large ones too */
};

static struct block *block_new(size_t size)
{
	assert(size <= SIZE_MAX - sizeof(struct block));
	struct block *block = memory_alloc(sizeof(*block) + size);

	block->next = NULL;
	block->size = size;
	block->used = 0;
	block->is_huge = false;
	arena_forbid(block->bytes, size);
	return block;
}

/* HUGE_BYTES at a multiple of them, zeroed; NULL: there is no such room. */
static char *huge_page(void)
{
	char *room = mmap(NULL, 2 * HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *page;
	size_t front;

	if (room == MAP_FAILED)
		return NULL;
	front = -(uintptr_t)room & (HUGE_BYTES - 1);
	page = room + front;
	if (front)
		munmap(room, front);
	munmap(page + HUGE_BYTES, HUGE_BYTES - front);
	/* Where the system has none, these are ordinary pages. */
	madvise(page, HUGE_BYTES, MADV_HUGEPAGE);
	return page;
}

static struct block *block_more(size_t size)
{
	char *page = size >= HUGE_FROM_BYTES && size <= HUGE_BYTES - sizeof(struct block) ? huge_page() : NULL;
	struct block *block = (struct block *)(void *)page;

	if (!block)
		return block_new(size);
	*block = (struct block){ .size = HUGE_BYTES - sizeof(*block), .is_huge = true };
	arena_forbid(block->bytes, block->size);
	return block;
}

static void block_free(struct block *block)
{
	arena_permit(block->bytes, block->size);
	if (block->is_huge)
		munmap(block, HUGE_BYTES);
	else
		free(block);
}

static void blocks_free(struct block *block)
{
	while (block) {
		struct block *next = block->next;

		block_free(block);
		block = next;
	}
}

static void arena_enter(struct arena *arena, struct block *block)
{
	arena->current = block;
	arena->at = block->bytes;
	arena->end = block->bytes + block->size;
}

struct arena *arena_new(size_t block_bytes)
{
	struct arena *arena = memory_zalloc(sizeof(*arena));

	arena->block_bytes = block_bytes ? block_bytes : 1;
	arena->first = block_new(arena->block_bytes);
	arena_enter(arena, arena->first);
	return arena;
}

static void release_kept(struct arena *arena)
{
	for (struct kept *kept = arena->kept; kept; kept = kept->next)
		kept->release(kept->what);
	arena->kept = NULL;
}

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	release_kept(arena);
	blocks_free(arena->first);
	blocks_free(arena->large);
	free(arena);
}

void arena_reset(struct arena *arena)
{
	release_kept(arena);
	blocks_free(arena->large);
	arena->large = NULL;
	for (struct block *block = arena->first; block; block = block->next)
		arena_forbid(block->bytes, block->size);
	arena->left_bytes = 0;
	arena_enter(arena, arena->first);
}

static char *arena_large(struct arena *arena, size_t size)
{
	struct block *block = block_new(size);

	block->used = size;
	block->next = arena->large;
	arena->large = block;
	arena->left_bytes += size;
	arena_permit(block->bytes, size);
	return block->bytes;
}

/* The current block is too full: the piece goes to the start of the next one,
 * which is aligned for everything. */
static char *arena_more(struct arena *arena, size_t size)
{
	if (size > arena->block_bytes)
		return arena_large(arena, size);

	struct block *current = arena->current;

	arena->left_bytes += (size_t)(arena->at - current->bytes);
	if (!current->next)
		current->next = block_more(arena->block_bytes);
	arena_enter(arena, current->next);
	arena->at += size;
	arena_permit(arena->current->bytes, size);
	return arena->current->bytes;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	size_t gap = -(uintptr_t)arena->at & (ALIGNMENT - 1);
	size_t left = (size_t)(arena->end - arena->at);

	if (__builtin_expect(gap > left || size > left - gap, 0))
		return arena_more(arena, size);

	char *piece = arena->at + gap;

	arena->at = piece + size;
	arena_permit(piece, size);
	return piece;
}

void *arena_zalloc(struct arena *arena, size_t size)
{
	return memset(arena_alloc(arena, size), 0, size);
}

char *arena_bytes(struct arena *arena, size_t size)
{
	char *piece = arena->at;

	if (__builtin_expect(size > (size_t)(arena->end - piece), 0))
		return arena_more(arena, size);
	arena->at = piece + size;
	arena_permit(piece, size);
	return piece;
}

void arena_shrink(struct arena *arena, char *piece, size_t asked, size_t used)
{
	assert(used <= asked);
	if (piece + asked == arena->at) {
		arena->at = piece + used;
		arena_forbid(piece + used, asked - used);
	} else if (arena->large && piece == arena->large->bytes && arena->large->used == asked) {
		arena->large->used = used;
		arena->left_bytes -= asked - used;
		arena_forbid(piece + used, asked - used);
	}
}

struct span arena_copy(struct arena *arena, struct span text)
{
	if (text.len == 0)
		return span_make(NULL, 0);

	char *copy = arena_bytes(arena, text.len);

	memcpy(copy, text.at, text.len);
	return span_make(copy, text.len);
}

char *arena_string(struct arena *arena, struct span text)
{
	assert(text.len < SIZE_MAX);
	char *copy = arena_bytes(arena, text.len + 1);

	if (text.len)
		memcpy(copy, text.at, text.len);
	copy[text.len] = '\0';
	return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	assert(len >= 0);

	char *text = arena_bytes(arena, (size_t)len + 1);

	va_start(args, format);
	vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	return text;
}

void arena_keep(struct arena *arena, void *what, void (*release)(void *what))
{
	struct kept *kept = arena_alloc(arena, sizeof(*kept));

	*kept = (struct kept){ arena->kept, what, release };
	arena->kept = kept;
}

void arena_count(struct arena *arena, size_t bytes)
{
	arena->left_bytes += bytes;
}

size_t arena_used(const struct arena *arena)
{
	return arena->left_bytes + (size_t)(arena->at - arena->current->bytes);
}
