/*
 * Sieve: changes that a step has read, small enough to be sorted: leaves the newest
 * change of each key, in the order of the replica's B-tree. Their rows are the
 * caller's.
 */
#ifndef WEIR_SINK_SIEVE_PRIVATE_H
#define WEIR_SINK_SIEVE_PRIVATE_H

#include "sink/local_private.h"

#define SIEVE_MANY 1 /* flag in an item's second byte */

struct sieve_item {
	uint64_t rank;  /* orders as the first key column does, as far as eight bytes tell */
	uint32_t order; /* of arrival */
	uint32_t at;    /* of its bytes */
};

struct sieve {
	struct sieve_item *items;
	size_t count, room;
	unsigned char *bytes;
	size_t used, byte_room;
};

void sieve_clear(struct sieve *sieve);
void sieve_free(struct sieve *sieve);
/* Offsets end somewhere: no change fits any more. */
bool sieve_is_full(const struct sieve *sieve);
/* In order of arrival. Key and position are copied; the other spans are remembered, and lent until the sieve is cleared. */
void sieve_add(struct sieve *sieve, const struct change *change);
/* One change a key, in order. sieve_add must not follow. */
void sieve_sort(struct sieve *sieve, const struct table_schema *schema);
/* The order of two keys, where their ranks are equal. */
int sieve_compare(struct span a, struct span b, const struct table_schema *schema);

struct span sieve_key(const struct sieve *sieve, const struct sieve_item *item);
void sieve_position(const struct sieve *sieve, const struct sieve_item *item, unsigned char position[POSITION_BYTES]);
/* Lends the key; the position is unpacked. */
void sieve_get(const struct sieve *sieve, size_t at, unsigned char position[POSITION_BYTES], struct change *out);

#endif
