/*
 * Memory with one lifetime: everything of a batch is freed at once. Never
 * fails: sizes that come from outside are limited before they are allocated,
 * and exhaustion ends the process, which restarts from its confirmed position.
 */
#ifndef WEIR_BASE_ARENA_H
#define WEIR_BASE_ARENA_H

#include "base/span.h"

#include <stdint.h>

struct arena;

struct arena *arena_new(size_t block_bytes);
void arena_free(struct arena *arena);

/* Forgets everything but keeps the blocks for the next round (large ones that
 * were made for one piece only are given back). */
void arena_reset(struct arena *arena);

/* Aligned for any type; contents undefined. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size);

/* Byte-aligned room for text. arena_shrink gives back the unused tail of the
 * newest piece, so a writer may ask for the worst case first. */
char *arena_bytes(struct arena *arena, size_t size);
void arena_shrink(struct arena *arena, char *piece, size_t asked, size_t used);

struct span arena_copy(struct arena *arena, struct span text);
char *arena_string(struct arena *arena, struct span text); /* adds a NUL */
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Pieces may point into what is somebody else's: it is released with them, by whoever resets or frees the arena. */
void arena_keep(struct arena *arena, void *what, void (*release)(void *what));
/* So many bytes of what is kept count as handed out. */
void arena_count(struct arena *arena, size_t bytes);

/* Bytes handed out since the last reset. */
size_t arena_used(const struct arena *arena);

/* malloc and friends that never return NULL. */
void *memory_alloc(size_t size);
void *memory_zalloc(size_t size);
void *memory_grow(void *old, size_t size);
/* Called by the thread that finds nothing left, after the word on standard error; it may not allocate, and if it returns
 * the process ends with EXIT_OUT_OF_MEMORY. */
#define EXIT_OUT_OF_MEMORY 70
void memory_when_exhausted(void (*act)(void));
/* Zeros, for structs of a hundred bytes and more in hot loops: compilers clear a size that they know by a slow string
 * instruction, so this is out of line. */
void memory_clear(void *at, size_t size);
/* What was freed stays with the allocator, in pieces; only when told does it go back to the system. A few ms. */
void memory_give_back(void);
char *memory_string(const char *text);           /* NULL stays NULL */
char *memory_string_of(struct span text);

#endif
