/*
 * The bytes of protobuf that rows and requests share: varints and tags. Inline,
 * since a row writes dozens of them. Messages are written by google/proto.h, rows
 * by record/type.h and transform/.
 */
#ifndef WEIR_BASE_WIRE_H
#define WEIR_BASE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_VARINT_ROOM 10 /* the longest varint: 64 bits, seven a byte */

enum wire {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_GROUP = 3,     /* of proto1; read over, never written */
	WIRE_GROUP_END = 4,
	WIRE_FIXED32 = 5,
};

/* Writes and gives the end. Room needed: WIRE_VARINT_ROOM. */
static inline char *wire_varint(uint64_t value, char *at)
{
	for (; value >= 128; value >>= 7)
		*at++ = (char)(value | 128);
	*at++ = (char)value;
	return at;
}

static inline char *wire_tag(uint32_t number, enum wire wire, char *at)
{
	if (number < 16) {
		*at = (char)(number << 3 | wire);
		return at + 1;
	}
	return wire_varint((uint64_t)number << 3 | wire, at);
}

/* Little-endian whatever the machine is. */
static inline char *wire_fixed(uint64_t bits, size_t bytes, char *at)
{
	for (size_t i = 0; i < bytes; i++)
		*at++ = (char)(bits >> (8 * i));
	return at;
}

/* Small negative numbers as small varints: sint32 and sint64. */
static inline uint64_t wire_zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t wire_unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (~(value & 1) + 1));
}

#endif
