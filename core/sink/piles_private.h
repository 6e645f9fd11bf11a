/*
 * Piles: what a step has read of its changes when they do not fit into memory. Each
 * is a sieve that was full, sorted, with its rows, in one file without a name
 * beside the warehouse's. Read together they give each key once, in order.
 */
#ifndef WEIR_SINK_PILES_PRIVATE_H
#define WEIR_SINK_PILES_PRIVATE_H

#include "sink/sieve_private.h"

#define PILES_MOST 128

struct piles;

/* `folder` is lent: where the file is made when it is first needed. */
struct piles *piles_new(const char *folder);
void piles_free(struct piles *piles);

/* Forgets them, and gives their room on the disk back. */
void piles_clear(struct piles *piles);
size_t piles_count(const struct piles *piles);
/* What reading them takes would be too much with one more. */
bool piles_are_full(const struct piles *piles);

/* A sorted sieve becomes the next pile. Later piles arrived later. */
bool piles_put(struct piles *piles, const struct sieve *sieve, struct error *err);

/* From the beginning. piles_put must not follow until they are cleared. */
bool piles_begin(struct piles *piles, const struct table_schema *schema, struct error *err);
/* The next key's newest change with its row, copied into the arena. */
bool piles_next(struct piles *piles, struct arena *arena, struct change *out, bool *out_has, struct error *err);

/* Shared by writing (local_piles.c) and reading (piles_read.c). */
#define PILE_MANY 1   /* flags */
#define PILE_RECORD 2 /* there is a fullRecord */

/* One change; behind it key, old key, unavailable columns and fullRecord. Only this process reads it. */
struct pile_head {
	uint64_t rank;
	uint32_t key_len, old_key_len, unavailable_len, record_len;
	uint8_t operation, flags;
	unsigned char position[POSITION_BYTES];
	unsigned char unused[5];
};

struct pile {
	int64_t at, end;           /* in the file: what has not been read of it */
	size_t longest_key;
	unsigned char *bytes;      /* what has: lent by `room` of all piles */
	size_t used, filled;
	struct pile_head head;     /* of its present change */
	char *key;
	size_t key_room;
	size_t row_left;           /* bytes of its row that nobody has taken */
};

struct piles {
	const char *folder;
	int fd;                    /* -1: not needed yet */
	int64_t end;               /* of the file */
	struct pile *items;
	size_t count;
	size_t key_bytes;          /* of the longest key of each */
	unsigned char *out;        /* what goes to the disk in one piece */
	size_t out_used;
	const struct table_schema *schema; /* lent while they are read */
	unsigned char *room;
	uint32_t *heap;            /* piles by their present change */
	size_t heap_count;
};

#endif
