/*
 * Sieve: what a step has read of its changes, small enough for half a million of
 * them. Leaves the newest change of each key, in the order of the replica's
 * B-tree; rows themselves stay in the changelog, or where the caller keeps them.
 */
#ifndef WEIR_SINK_SIEVE_PRIVATE_H
#define WEIR_SINK_SIEVE_PRIVATE_H

#include "sink/local_private.h"

#define SIEVE_MANY 1 /* flags in an item's second byte */
#define SIEVE_ROW 2

struct sieve_item {
	uint64_t rank; /* orders as the first key column does, as far as eight bytes tell */
	uint32_t row;  /* rowid - base */
	uint32_t at;   /* of its bytes */
};

struct sieve {
	struct sieve_item *items;
	size_t count, room;
	unsigned char *bytes;
	size_t used, byte_room;
	int64_t base;      /* rowids count from it */
	bool has_rows;     /* each change that was added brought its row */
};

/* A step's first change has a rowid behind `base`. */
void sieve_clear(struct sieve *sieve, int64_t base);
void sieve_free(struct sieve *sieve);
/* Offsets end somewhere: no change fits any more. */
bool sieve_is_full(const struct sieve *sieve, int64_t next_rowid);
/* In order of arrival. Key and position are copied; the other spans are remembered while `has_rows`. */
void sieve_add(struct sieve *sieve, int64_t rowid, const struct change *change);
/* Forgets the rows: those of later changes are not remembered either. */
void sieve_drop_rows(struct sieve *sieve);
void sieve_reserve(struct sieve *sieve, size_t changes, size_t bytes);
/* One change a key, in order. sieve_add must not follow. */
void sieve_sort(struct sieve *sieve, const struct table_schema *schema);

struct span sieve_key(const struct sieve *sieve, const struct sieve_item *item);
void sieve_position(const struct sieve *sieve, const struct sieve_item *item, unsigned char position[POSITION_BYTES]);
int64_t sieve_rowid(const struct sieve *sieve, size_t at);
/* Lends the key; the position is unpacked. Without `has_rows` the row's spans are empty. */
void sieve_get(const struct sieve *sieve, size_t at, unsigned char position[POSITION_BYTES], struct change *out);

#endif
