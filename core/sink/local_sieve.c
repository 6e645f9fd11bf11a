/*
 * The sieve in memory: sixteen bytes a change that are sorted, and a heap of
 * bytes that stays where it is: operation, flags, position without its leading
 * zeros, key, and where the caller keeps the row.
 */
#include "sink/sieve_private.h"

#include <stdlib.h>

#define ITEMS_FIRST 1024
#define BYTES_FIRST (64u << 10)
#define POSITION_PARTS 4
#define HEAD_BYTES (2 + 2 + POSITION_BYTES + 5) /* at most, before the key */

struct kept { /* lent */
	struct span full_record, old_key, unavailable;
};

void sieve_clear(struct sieve *sieve)
{
	sieve->count = sieve->used = 0;
}

void sieve_free(struct sieve *sieve)
{
	free(sieve->items);
	free(sieve->bytes);
	*sieve = (struct sieve){ 0 };
}

bool sieve_is_full(const struct sieve *sieve)
{
	return sieve->used > UINT32_MAX / 2;
}

/*
 * Bytes of a change
 */

/* Each of the four numbers without its leading zeros; their lengths are a half byte each. */
static size_t position_put(unsigned char *out, const unsigned char *position)
{
	size_t used = 2;

	out[0] = out[1] = 0;
	for (size_t i = 0; i < POSITION_PARTS; i++, position += 8) {
		size_t zeros = 0;

		while (zeros < 8 && !position[zeros])
			zeros++;
		out[i / 2] |= (unsigned char)((8 - zeros) << (i % 2 * 4));
		memcpy(out + used, position + zeros, 8 - zeros);
		used += 8 - zeros;
	}
	out[used] = *position;
	return used + 1;
}

static size_t position_take(const unsigned char *in, unsigned char *position)
{
	size_t used = 2;

	memset(position, 0, POSITION_BYTES);
	for (size_t i = 0; i < POSITION_PARTS; i++, position += 8) {
		size_t len = in[i / 2] >> (i % 2 * 4) & 15;

		memcpy(position + 8 - len, in + used, len);
		used += len;
	}
	*position = in[used];
	return used + 1;
}

static size_t length_put(unsigned char *out, size_t len)
{
	size_t used = 0;

	for (; len >= 128; len >>= 7)
		out[used++] = (unsigned char)(len | 128);
	out[used++] = (unsigned char)len;
	return used;
}

static size_t length_take(const unsigned char *in, size_t *len)
{
	size_t used = 0;
	unsigned shift = 0;

	*len = 0;
	do {
		*len |= (size_t)(in[used] & 127) << shift;
		shift += 7;
	} while (in[used++] & 128);
	return used;
}

static void bytes_reserve(struct sieve *sieve, size_t more)
{
	if (sieve->byte_room - sieve->used >= more)
		return;
	while (sieve->byte_room - sieve->used < more)
		sieve->byte_room = sieve->byte_room ? sieve->byte_room * 2 : BYTES_FIRST;
	sieve->bytes = memory_grow(sieve->bytes, sieve->byte_room);
}

static void change_put(struct sieve *sieve, const struct change *change)
{
	unsigned char *begin = sieve->bytes + sieve->used, *at = begin;
	struct kept kept = { change->full_record, change->old_key, change->unavailable };

	*at++ = (unsigned char)change->operation;
	*at++ = 0;
	at += position_put(at, change->position);
	at += length_put(at, change->key.len);
	if (change->key.len)
		memcpy(at, change->key.at, change->key.len);
	at += change->key.len;
	memcpy(at, &kept, sizeof(kept));
	at += sizeof(kept);
	sieve->used += (size_t)(at - begin);
}

void sieve_add(struct sieve *sieve, const struct change *change)
{
	bytes_reserve(sieve, HEAD_BYTES + change->key.len + sizeof(struct kept));
	if (sieve->count == sieve->room) {
		sieve->room = sieve->room ? sieve->room * 2 : ITEMS_FIRST;
		sieve->items = memory_grow(sieve->items, sieve->room * sizeof(*sieve->items));
	}
	sieve->items[sieve->count] = (struct sieve_item){ .order = (uint32_t)sieve->count, .at = (uint32_t)sieve->used };
	sieve->count++;
	change_put(sieve, change);
}

void sieve_position(const struct sieve *sieve, const struct sieve_item *item, unsigned char position[POSITION_BYTES])
{
	position_take(sieve->bytes + item->at + 2, position);
}

void sieve_get(const struct sieve *sieve, size_t at, unsigned char position[POSITION_BYTES], struct change *out)
{
	const struct sieve_item *item = &sieve->items[at];
	const unsigned char *head = sieve->bytes + item->at;
	struct kept kept;

	*out = (struct change){ .position = position, .operation = (enum operation)head[0] };
	out->key = sieve_key(sieve, item);
	sieve_position(sieve, item, position);
	out->is_many = head[1] & SIEVE_MANY;
	memcpy(&kept, out->key.at + out->key.len, sizeof(kept));
	out->full_record = kept.full_record;
	out->old_key = kept.old_key;
	out->unavailable = kept.unavailable;
}

struct span sieve_key(const struct sieve *sieve, const struct sieve_item *item)
{
	const unsigned char *at = sieve->bytes + item->at + 2;
	size_t len;

	at += 3 + (at[0] & 15) + (at[0] >> 4) + (at[1] & 15) + (at[1] >> 4);
	at += length_take(at, &len);
	return span_make((const char *)at, len);
}
