/*
 * Positions as bytes that compare as the order, and as BigQuery's text
 * (spec/types.md 8).
 */
#include "record/position.h"

#include <endian.h>

/* As big-endian numbers, so that bytes compare as the order. */
static unsigned char *put_number(uint64_t number, unsigned char *at)
{
	number = htobe64(number);
	memcpy(at, &number, sizeof(number));
	return at + sizeof(number);
}

static uint64_t take_number(const unsigned char *at)
{
	uint64_t number;

	memcpy(&number, at, sizeof(number));
	return be64toh(number);
}

void position_pack(const struct position *p, unsigned char out[POSITION_BYTES])
{
	unsigned char *at = put_number(p->epoch, out);

	at = put_number(p->a, at);
	at = put_number(p->b, at);
	at = put_number(p->c, at);
	*at = p->ordinal;
}

void position_unpack(const unsigned char in[POSITION_BYTES], struct position *out)
{
	*out = (struct position){
		.epoch = take_number(in),
		.a = take_number(in + 8),
		.b = take_number(in + 16),
		.c = take_number(in + 24),
		.ordinal = in[32],
	};
}

int position_compare(const struct position *x, const struct position *y)
{
	unsigned char left[POSITION_BYTES], right[POSITION_BYTES];
	int order;

	position_pack(x, left);
	position_pack(y, right);
	order = memcmp(left, right, POSITION_BYTES);
	return (order > 0) - (order < 0);
}

/* Without leading zeros, but for a single one. */
static char *put_hex(uint64_t number, char *at)
{
	static const char digits[] = "0123456789ABCDEF";
	int shift = 60;

	while (shift && !(number >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*at++ = digits[number >> shift & 15];
	return at;
}

void position_text(const struct position *p, char out[POSITION_TEXT_BYTES])
{
	const uint64_t parts[] = { p->epoch, p->a, p->b, p->c };
	char *at = out;

	for (size_t i = 0; i < 4; i++) {
		if (i)
			*at++ = '/';
		at = put_hex(parts[i], at);
	}
	*at = '\0';
}

bool position_file_number(struct span file, uint64_t *out)
{
	size_t dot = file.len;

	while (dot && file.at[dot - 1] != '.')
		dot--;
	return dot && span_uint64(span_make(file.at + dot, file.len - dot), out);
}
