/*
 * Numbers over time in a ring of fixed size. It is made of pieces of an hour (or
 * of a minute of seconds) that exist only where something was not zero, so that
 * idle jobs and tables cost nothing.
 */
#ifndef WEIR_ENGINE_RING_PRIVATE_H
#define WEIR_ENGINE_RING_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#define RING_PIECE 60

struct ring_piece {
	int64_t number;   /* of its first slot, divided by RING_PIECE */
	float values[];   /* RING_PIECE x fields */
};

struct ring {
	size_t fields, piece_count;
	struct ring_piece **pieces;
};

/* At least `length` slots are kept. */
void ring_open(struct ring *ring, size_t length, size_t fields);
void ring_close(struct ring *ring);
/* Slots are counted from any zero, not below it, and only ever upwards; those that are left out are zero. */
void ring_put(struct ring *ring, int64_t slot, const float *values);
float ring_get(const struct ring *ring, int64_t slot, size_t field);

#endif
