/*
 * Protobuf messages on the wire: a reader that looks at bytes where they lie, and
 * a writer that appends to a text. Neither knows message types; the folder's
 * callers know their field numbers (spec of each service).
 *
 * Reading. Unknown fields and groups are for the caller to ignore: proto_next
 * gives each field once, in order. What is broken ends the reading and stays said
 * (is_broken), so that a loop needs one check behind it. As in Google's parsers a
 * field's number is 1 to 536,870,911, a varint has ten bytes at most, and messages
 * within messages are limited.
 */
#ifndef WEIR_GOOGLE_PROTO_H
#define WEIR_GOOGLE_PROTO_H

#include "base/text.h"
#include "base/wire.h"

#define PROTO_DEPTH 100             /* messages and groups within each other */
#define PROTO_NUMBER_MAX 536870911U /* of a field: 29 bits */

struct proto_reader {
	const char *at, *end; /* lent */
	unsigned depth;       /* levels that may still be entered */
	bool is_broken;
};

struct proto_field {
	uint32_t number;
	enum wire wire;
	uint64_t value;    /* varint and fixed: the bits as they were written */
	struct span bytes; /* WIRE_BYTES: the contents; WIRE_GROUP: what is between its tags */
};

/* Lends the bytes to the reader and to all fields that it gives. */
struct proto_reader proto_open(struct span message);
/* False: the end, or broken. */
bool proto_next(struct proto_reader *reader, struct proto_field *out);
/* A message within the message. A field of another wire type, or too deep, breaks the outer reader and gives an
 * empty inner one; what is broken inside is for the caller to hand outwards (proto_leave). */
struct proto_reader proto_enter(struct proto_reader *outer, const struct proto_field *field);
bool proto_leave(struct proto_reader *outer, const struct proto_reader *inner); /* true: the inner one was whole */

/* Values as their types mean them. Of a wire type that the field cannot have they are zero, as for a field that is not there. */
int64_t proto_int64(const struct proto_field *field);
int32_t proto_int32(const struct proto_field *field); /* enum too: upper bits are dropped, never an error */
uint64_t proto_uint64(const struct proto_field *field);
int64_t proto_sint64(const struct proto_field *field);
bool proto_bool(const struct proto_field *field);
double proto_double(const struct proto_field *field);
float proto_float(const struct proto_field *field);
struct span proto_bytes(const struct proto_field *field);

/* Repeated numbers come packed, one by one, or mixed: call this for each field of that number. `wire` is the type of one
 * element, *cursor begins at 0. False: no more, or broken (then the reader is, too). */
bool proto_element(struct proto_reader *reader, const struct proto_field *field, enum wire wire, size_t *cursor,
                   uint64_t *out);

/*
 * google.protobuf.Duration and Timestamp have the same two fields. False: broken.
 */
struct proto_time {
	int64_t seconds;
	int32_t nanos;
};
bool proto_time(struct proto_reader *outer, const struct proto_field *field, struct proto_time *out);

/*
 * Writing. The text's limit is the message's; text_is_full is checked once at the end. The functions write
 * what they are given, zeros too: leave out what the message need not say.
 */
void proto_put_uint(struct text *out, uint32_t number, uint64_t value);
void proto_put_int(struct text *out, uint32_t number, int64_t value); /* int32, int64, enum: negative ones take ten bytes */
void proto_put_sint(struct text *out, uint32_t number, int64_t value);
void proto_put_bool(struct text *out, uint32_t number, bool value);
void proto_put_bytes(struct text *out, uint32_t number, struct span bytes);
void proto_put_text(struct text *out, uint32_t number, const char *text); /* NULL and "": nothing */
void proto_put_fixed64(struct text *out, uint32_t number, uint64_t bits);
void proto_put_fixed32(struct text *out, uint32_t number, uint32_t bits);
void proto_put_double(struct text *out, uint32_t number, double value);
void proto_put_float(struct text *out, uint32_t number, float value);
void proto_put_packed(struct text *out, uint32_t number, const uint64_t *values, size_t count); /* varints */

/* A message within: what is written between the two is its contents. */
size_t proto_begin(struct text *out, uint32_t number);
void proto_end(struct text *out, size_t mark);

#endif
