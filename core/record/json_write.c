/*
 * JSON strings outward: escaping what must be escaped, and the way back for
 * text that is still the inside of a checked JSON string.
 */
#include "record/type_private.h"

#define ESCAPE_NONE 0
#define ESCAPE_HEX 'u'

/* How a byte is escaped; 0 as it stands. */
static const char escapes[256] = {
	'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'b', 't', 'n', 'u', 'f', 'r', 'u', 'u',
	'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u',
	['"'] = '"', ['\\'] = '\\',
};

static char *put_escape(unsigned char c, char *at)
{
	static const char digits[] = "0123456789abcdef";

	*at++ = '\\';
	*at++ = escapes[c];
	if (escapes[c] != ESCAPE_HEX)
		return at;
	*at++ = '0';
	*at++ = '0';
	*at++ = digits[c >> 4];
	*at++ = digits[c & 15];
	return at;
}

char *json_put_inside(struct span text, char *at)
{
	size_t from = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (escapes[(unsigned char)text.at[i]] == ESCAPE_NONE)
			continue;
		memcpy(at, text.at + from, i - from);
		at = put_escape((unsigned char)text.at[i], at + (i - from));
		from = i + 1;
	}
	if (text.len > from)
		memcpy(at, text.at + from, text.len - from);
	return at + (text.len - from);
}

char *json_put_string(struct span text, char *at)
{
	*at++ = '"';
	at = json_put_inside(text, at);
	*at++ = '"';
	return at;
}

static uint32_t hex_four(const char *at)
{
	uint32_t value = 0;

	for (size_t i = 0; i < 4; i++) {
		char c = at[i];

		value = value << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
	}
	return value;
}

static char *put_utf8(uint32_t c, char *at)
{
	if (c < 0x80) {
		*at++ = (char)c;
		return at;
	}
	if (c < 0x800) {
		*at++ = (char)(0xC0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*at++ = (char)(0xE0 | c >> 12);
		} else {
			*at++ = (char)(0xF0 | c >> 18);
			*at++ = (char)(0x80 | (c >> 12 & 63));
		}
		*at++ = (char)(0x80 | (c >> 6 & 63));
	}
	*at++ = (char)(0x80 | (c & 63));
	return at;
}

/* The text was checked: an escape is whole, a high surrogate has its half behind it. */
char *json_unescape(struct span inside, char *at)
{
	static const char plain[128] = { ['b'] = '\b', ['t'] = '\t', ['n'] = '\n', ['f'] = '\f', ['r'] = '\r' };
	const char *from = inside.at, *end = inside.at + inside.len;

	while (from < end) {
		const char *next = memchr(from, '\\', (size_t)(end - from));
		size_t run = (size_t)((next ? next : end) - from);
		uint32_t c;

		memcpy(at, from, run);
		at += run;
		if (!next)
			break;
		if (next[1] != 'u') {
			unsigned char letter = (unsigned char)next[1];

			*at++ = letter < 128 && plain[letter] ? plain[letter] : (char)letter;
			from = next + 2;
			continue;
		}
		c = hex_four(next + 2);
		from = next + 6;
		if (c >= 0xD800 && c < 0xDC00) {
			c = 0x10000 + ((c - 0xD800) << 10) + (hex_four(from + 2) - 0xDC00);
			from += 6;
		}
		at = put_utf8(c, at);
	}
	return at;
}
