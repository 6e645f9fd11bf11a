/*
 * UTF-8 after RFC 3629: no overlong forms, no surrogates, nothing above
 * U+10FFFF. Text is mostly ASCII, so that is passed over in large steps.
 */
#include "base/clean.h"
#include "base/utf8.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)

/* Length and allowed second byte by first byte. */
static const struct lead {
	unsigned char first, last; /* first bytes of this row */
	unsigned char length;
	unsigned char low, high; /* allowed second bytes */
} leads[] = {
	{ 0xc2, 0xdf, 2, 0x80, 0xbf },
	{ 0xe0, 0xe0, 3, 0xa0, 0xbf },
	{ 0xe1, 0xec, 3, 0x80, 0xbf },
	{ 0xed, 0xed, 3, 0x80, 0x9f },
	{ 0xee, 0xef, 3, 0x80, 0xbf },
	{ 0xf0, 0xf0, 4, 0x90, 0xbf },
	{ 0xf1, 0xf3, 4, 0x80, 0xbf },
	{ 0xf4, 0xf4, 4, 0x80, 0x8f },
};

static const struct lead *lead_find(unsigned char byte)
{
	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
		if (byte >= leads[i].first && byte <= leads[i].last)
			return &leads[i];
	}
	return NULL;
}

size_t utf8_step(struct span rest, uint32_t *out_code)
{
	const unsigned char *at = (const unsigned char *)rest.at;

	if (at[0] < 0x80) {
		*out_code = at[0];
		return 1;
	}

	const struct lead *lead = lead_find(at[0]);

	if (!lead || rest.len < lead->length || at[1] < lead->low || at[1] > lead->high)
		return 0;

	uint32_t code = at[0] & (0x7fu >> lead->length);

	for (size_t i = 1; i < lead->length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3fu);
	}
	*out_code = code;
	return lead->length;
}

size_t utf8_put(uint32_t code, char out[4])
{
	static const unsigned char marks[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = length - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (code & 0x3f));
		code >>= 6;
	}
	out[0] = (char)(marks[length] | code);
	return length;
}

/* How many bytes at the front are ASCII. */
static size_t ascii_run(const char *at, size_t len)
{
	size_t i = 0;

	for (; i + 16 <= len; i += 16) {
		uint64_t words[2];

		memcpy(words, at + i, sizeof(words));
		if ((words[0] | words[1]) & HIGH_BITS)
			break;
	}
	while (i < len && !((unsigned char)at[i] & 0x80))
		i++;
	return i;
}

bool utf8_is_valid(struct span text)
{
	for (size_t i = ascii_run(text.at, text.len); i < text.len;) {
		uint32_t code;
		size_t length = utf8_step(span_make(text.at + i, text.len - i), &code);

		if (length == 0)
			return false;
		i += length;
		/* Letters of other scripts come in runs: look for ASCII only after them. */
		if (i < text.len && !((unsigned char)text.at[i] & 0x80))
			i += ascii_run(text.at + i, text.len - i);
	}
	return true;
}

bool code_is_unseen(uint32_t code)
{
	/* Cf, what Unicode allows to ignore, and the two separators of lines. */
	static const uint32_t ranges[][2] = {
		{ 0x00ad, 0x00ad }, { 0x034f, 0x034f }, { 0x0600, 0x0605 }, { 0x061c, 0x061c },
		{ 0x06dd, 0x06dd }, { 0x070f, 0x070f }, { 0x0890, 0x0891 }, { 0x08e2, 0x08e2 },
		{ 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f },
		{ 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0x110bd, 0x110bd },
		{ 0x110cd, 0x110cd }, { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
		{ 0xe0000, 0xe0fff },
	};

	if (code < 0xad)
		return false;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && code >= ranges[i][0]; i++) {
		if (code <= ranges[i][1])
			return true;
	}
	return false;
}
