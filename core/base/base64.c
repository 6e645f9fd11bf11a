/*
 * base64 after RFC 4648 section 4. Like Java's decoder ours accepts bits that
 * are set behind the last byte; unlike most it accepts nothing else that an
 * encoder would not have written.
 */
#include "base/hash.h"

/* 0: not of the alphabet; else the digit with IS_DIGIT set, so that four
 * characters are checked by one "and". */
#define IS_DIGIT 0x40

#define D(c, digit) [c] = IS_DIGIT | (digit)

static const unsigned char digit_of[256] = {
	D('A', 0), D('B', 1), D('C', 2), D('D', 3), D('E', 4), D('F', 5), D('G', 6), D('H', 7),
	D('I', 8), D('J', 9), D('K', 10), D('L', 11), D('M', 12), D('N', 13), D('O', 14), D('P', 15),
	D('Q', 16), D('R', 17), D('S', 18), D('T', 19), D('U', 20), D('V', 21), D('W', 22), D('X', 23),
	D('Y', 24), D('Z', 25), D('a', 26), D('b', 27), D('c', 28), D('d', 29), D('e', 30), D('f', 31),
	D('g', 32), D('h', 33), D('i', 34), D('j', 35), D('k', 36), D('l', 37), D('m', 38), D('n', 39),
	D('o', 40), D('p', 41), D('q', 42), D('r', 43), D('s', 44), D('t', 45), D('u', 46), D('v', 47),
	D('w', 48), D('x', 49), D('y', 50), D('z', 51), D('0', 52), D('1', 53), D('2', 54), D('3', 55),
	D('4', 56), D('5', 57), D('6', 58), D('7', 59), D('8', 60), D('9', 61), D('+', 62), D('/', 63),
};

#undef D

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Four characters to three bytes; false: one is not of the alphabet. */
static inline bool group_decode(const unsigned char *at, char out[3])
{
	unsigned a = digit_of[at[0]], b = digit_of[at[1]], c = digit_of[at[2]], d = digit_of[at[3]];

	if (!(a & b & c & d & IS_DIGIT))
		return false;

	unsigned bits = (a & 63) << 18 | (b & 63) << 12 | (c & 63) << 6 | (d & 63);

	out[0] = (char)(bits >> 16);
	out[1] = (char)(bits >> 8);
	out[2] = (char)bits;
	return true;
}

/* The last group may end in one or two '='. Returns its bytes, 0 if it is broken. */
static size_t last_group_decode(const unsigned char *at, char *out)
{
	unsigned char padded[4] = { at[0], at[1], at[2], at[3] };
	size_t bytes = 3;
	char decoded[3];

	if (padded[3] == '=') {
		padded[3] = 'A';
		bytes = 2;
		if (padded[2] == '=') {
			padded[2] = 'A';
			bytes = 1;
		}
	}
	if (!group_decode(padded, decoded))
		return 0;
	memcpy(out, decoded, bytes);
	return bytes;
}

bool base64_decode(struct span text, char *out, size_t *out_len)
{
	const unsigned char *at = (const unsigned char *)text.at;
	char *to = out;

	if (text.len % 4 != 0)
		return false;
	if (text.len == 0) {
		*out_len = 0;
		return true;
	}
	for (const unsigned char *last = at + text.len - 4; at < last; at += 4, to += 3) {
		if (!group_decode(at, to))
			return false;
	}

	size_t bytes = last_group_decode(at, to);

	if (bytes == 0)
		return false;
	*out_len = (size_t)(to - out) + bytes;
	return true;
}

size_t base64_room(size_t bytes)
{
	return (bytes + 2) / 3 * 4;
}

static void group_encode(const unsigned char *bytes, size_t count, char out[4])
{
	unsigned bits = (unsigned)bytes[0] << 16;

	if (count > 1)
		bits |= (unsigned)bytes[1] << 8;
	if (count > 2)
		bits |= bytes[2];
	out[0] = digits[bits >> 18];
	out[1] = digits[bits >> 12 & 63];
	out[2] = count > 1 ? digits[bits >> 6 & 63] : '=';
	out[3] = count > 2 ? digits[bits & 63] : '=';
}

size_t base64_encode(struct span bytes, char *out)
{
	const unsigned char *at = (const unsigned char *)bytes.at;
	char *to = out;

	for (size_t i = 0; i < bytes.len; i += 3, to += 4)
		group_encode(at + i, bytes.len - i < 3 ? bytes.len - i : 3, to);
	return (size_t)(to - out);
}
