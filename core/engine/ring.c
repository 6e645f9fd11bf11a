/* A ring of pieces; a piece that is older than the ring is long is taken for the new one, or freed. */
#include "engine/ring_private.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void ring_open(struct ring *ring, size_t length, size_t fields)
{
	*ring = (struct ring){ .fields = fields };
	/* One more than fits: the newest piece is seldom whole. */
	ring->piece_count = (length + RING_PIECE - 1) / RING_PIECE + 1;
	ring->pieces = memory_zalloc(ring->piece_count * sizeof(*ring->pieces));
}

void ring_close(struct ring *ring)
{
	for (size_t i = 0; i < ring->piece_count; i++)
		free(ring->pieces[i]);
	free(ring->pieces);
	*ring = (struct ring){ 0 };
}

static bool are_zero(const float *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (values[i] < 0 || values[i] > 0)
			return false;
	}
	return true;
}

static struct ring_piece **piece_place(const struct ring *ring, int64_t slot)
{
	return &ring->pieces[(size_t)(slot / RING_PIECE) % ring->piece_count];
}

void ring_put(struct ring *ring, int64_t slot, const float *values)
{
	struct ring_piece **place = piece_place(ring, slot);
	int64_t number = slot / RING_PIECE;
	size_t bytes = RING_PIECE * ring->fields * sizeof(float);

	if (*place && (*place)->number != number) {
		free(*place);
		*place = NULL;
	}
	if (are_zero(values, ring->fields))
		return;
	if (!*place) {
		*place = memory_zalloc(sizeof(**place) + bytes);
		(*place)->number = number;
	}
	memcpy((*place)->values + (size_t)(slot % RING_PIECE) * ring->fields, values,
	       ring->fields * sizeof(float));
}

float ring_get(const struct ring *ring, int64_t slot, size_t field)
{
	const struct ring_piece *piece;

	if (slot < 0 || field >= ring->fields)
		return 0;
	piece = *piece_place(ring, slot);
	if (!piece || piece->number != slot / RING_PIECE)
		return 0;
	return piece->values[(size_t)(slot % RING_PIECE) * ring->fields + field];
}
