/*
 * Strings of the JSON reader: finding the end while checking escapes and UTF-8,
 * and making the characters out of the escapes when somebody wants them.
 */
#include "record/json_private.h"

#define ESCAPE_BYTES 6 /* of \uXXXX */

/* What stands behind a backslash, by its byte; 'u' has a path of its own. */
static const char escape_value[256] = {
	['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b', ['f'] = '\f',
	['n'] = '\n', ['r'] = '\r', ['t'] = '\t',
};

static inline bool is_plain(char c)
{
	return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

static int hex_value(char c)
{
	if (json_is_digit(c))
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_high_half(uint32_t unit)
{
	return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low_half(uint32_t unit)
{
	return unit >= 0xdc00 && unit < 0xe000;
}

static bool is_between(char c, unsigned char low, unsigned char high)
{
	return (unsigned char)c >= low && (unsigned char)c <= high;
}

/* Unicode table 3-7: only the second byte has a range that depends on the first. */
int json_utf8_length(const char *at, const char *end)
{
	unsigned char c = (unsigned char)*at;
	int length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	unsigned char low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
	unsigned char high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;

	if (c < 0xc2 || c > 0xf4)
		return 0;
	for (int i = 1; i < length; i++) {
		if (at + i == end)
			return -1;
		if (!is_between(at[i], low, high))
			return 0;
		low = 0x80;
		high = 0xbf;
	}
	return length;
}

static struct json_end utf8_run_end(const char *at, const char *end)
{
	while (at < end && (unsigned char)*at >= 0x80) {
		int length = json_utf8_length(at, end);

		if (length < 0)
			return json_broken(end, JSON_CUT);
		if (length == 0)
			return json_broken(at, JSON_NOT_UTF8);
		at += length;
	}
	return json_ended(at, 0);
}

/* The four digits of \uXXXX; `at` is the backslash. The unit comes back as flags. */
static struct json_end unit_end(const char *at, const char *end)
{
	uint32_t unit = 0;

	for (int i = 2; i < ESCAPE_BYTES; i++) {
		int value = at + i < end ? hex_value(at[i]) : -1;

		if (value < 0)
			return json_unexpected(at + i, end);
		unit = unit << 4 | (uint32_t)value;
	}
	return json_ended(at + ESCAPE_BYTES, unit);
}

/* The second half of a pair whose first began at `first`. */
static struct json_end low_half_end(const char *first, const char *at, const char *end)
{
	struct json_end half;

	for (int i = 0; i < 2; i++) {
		if (at + i == end)
			return json_broken(end, JSON_CUT);
		if (at[i] != "\\u"[i])
			return json_broken(first, JSON_SURROGATE);
	}
	half = unit_end(at, end);
	if (half.fault == JSON_FINE && !is_low_half(half.flags))
		return json_broken(first, JSON_SURROGATE);
	return half;
}

static struct json_end escape_end(const char *at, const char *end)
{
	struct json_end unit;

	if (at + 1 == end)
		return json_broken(end, JSON_CUT);
	if (escape_value[(unsigned char)at[1]])
		return json_ended(at + 2, 0);
	if (at[1] != 'u')
		return json_broken(at + 1, JSON_SYNTAX);
	unit = unit_end(at, end);
	if (unit.fault != JSON_FINE)
		return unit;
	if (is_low_half(unit.flags))
		return json_broken(at, JSON_SURROGATE);
	return is_high_half(unit.flags) ? low_half_end(at, unit.at, end) : unit;
}

/* The special bytes from here on; what was read through is struck out. */
struct look {
	const char *stride;
	uint64_t marks;
};

static inline void look_from(struct look *look, const char *at, const char *end)
{
	if (at - look->stride < JSON_STRIDE) {
		look->marks &= ~UINT64_C(0) << (at - look->stride);
		return;
	}
	look->stride = at;
	look->marks = json_stride_marks(at, end);
}

/* The next byte that may be special, or the end. */
static inline const char *look_next(struct look *look, const char *end)
{
	while (!look->marks) {
		if (end - look->stride <= JSON_STRIDE)
			return end;
		look_from(look, look->stride + JSON_STRIDE, end);
	}
	return look->stride + __builtin_ctzll(look->marks);
}

static inline struct json_end special_end(const char *at, const char *end)
{
	if (*at == '\\')
		return escape_end(at, end);
	if ((unsigned char)*at >= 0x80)
		return utf8_run_end(at, end);
	return (unsigned char)*at < 0x20 ? json_broken(at, JSON_SYNTAX) : json_ended(at + 1, 0);
}

struct json_end json_string_end(const char *at, const char *end)
{
	struct look look = { at, json_stride_marks(at, end) };
	uint32_t flags = 0;

	for (;;) {
		struct json_end piece;

		at = look_next(&look, end);
		if (at == end)
			return json_broken(end, JSON_CUT);
		if (*at == '"')
			return json_ended(at, flags);
		flags |= *at == '\\' ? JSON_HAS_ESCAPES : 0;
		piece = special_end(at, end);
		if (piece.fault != JSON_FINE)
			return piece;
		look_from(&look, piece.at, end);
	}
}

static size_t utf8_encode(uint32_t rune, char out[4])
{
	size_t length = rune < 0x80 ? 1 : rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = length - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (rune & 0x3f));
		rune >>= 6;
	}
	out[0] = (char)(lead[length] | rune);
	return length;
}

size_t json_escape_decode(const char **at, char out[4])
{
	const char *p = *at;
	uint32_t rune;

	if (p[1] != 'u') {
		out[0] = escape_value[(unsigned char)p[1]];
		*at = p + 2;
		return 1;
	}
	rune = unit_end(p, p + ESCAPE_BYTES).flags;
	p += ESCAPE_BYTES;
	if (is_high_half(rune)) {
		rune = 0x10000 + ((rune - 0xd800) << 10) + (unit_end(p, p + ESCAPE_BYTES).flags - 0xdc00);
		p += ESCAPE_BYTES;
	}
	*at = p;
	return utf8_encode(rune, out);
}

/* No escape is shorter than its character, so the raw length is room enough. */
struct span json_text(const struct json_doc *doc, uint32_t token, struct arena *arena)
{
	struct span raw = json_raw(doc, token);
	const char *at = raw.at, *end = raw.at + raw.len;
	char *out, *to;

	if (!(doc->tokens[token].flags & JSON_HAS_ESCAPES) || doc->tokens[token].kind != JSON_STRING)
		return raw;
	out = to = arena_bytes(arena, raw.len);
	while (at < end) {
		const char *slash = memchr(at, '\\', (size_t)(end - at));
		size_t plain = (size_t)((slash ? slash : end) - at);
		char rune[4];
		size_t length;

		memcpy(to, at, plain);
		to += plain;
		at += plain;
		if (!slash)
			break;
		length = json_escape_decode(&at, rune);
		memcpy(to, rune, length);
		to += length;
	}
	arena_shrink(arena, out, raw.len, (size_t)(to - out));
	return span_make(out, (size_t)(to - out));
}

/* Plain text up to the first byte that is none, or to the end. */
static inline const char *plain_run_end(const char *at, const char *end)
{
	for (; end - at >= JSON_BLOCK; at += JSON_BLOCK) {
		json_mask mask = json_block_special(at);

		if (mask)
			return at + json_mask_first(mask);
	}
	while (at < end && is_plain(*at))
		at++;
	return at;
}

const char *json_plain_end(const char *at, const char *end, bool *out_escapes)
{
	for (;;) {
		at = plain_run_end(at, end);
		if (at == end)
			return NULL;
		if (*at == '"')
			return at;
		if (*at != '\\' || end - at < 2 || !json_is_letter_escape(at[1]))
			return NULL;
		*out_escapes = true;
		at += 2;
	}
}

/* Copies whole blocks and stays at the first byte that is not plain text, or at the end. */
static void copy_plain(const char **at, const char *end, char **to)
{
	for (; end - *at >= JSON_BLOCK; *at += JSON_BLOCK, *to += JSON_BLOCK) {
		json_mask mask = json_block_special(*at);

		memcpy(*to, *at, JSON_BLOCK);
		if (mask) {
			*at += json_mask_first(mask);
			*to += json_mask_first(mask);
			return;
		}
	}
	while (*at < end && is_plain(**at))
		*(*to)++ = *(*at)++;
}

bool json_unescape_plain(struct span inside, char *out, size_t *out_len)
{
	const char *at = inside.at, *end = inside.at + inside.len;
	char *to = out;

	for (;;) {
		copy_plain(&at, end, &to);
		if (at == end)
			break;
		if (*at != '\\' || end - at < 2 || !escape_value[(unsigned char)at[1]])
			return false;
		*to++ = escape_value[(unsigned char)at[1]];
		at += 2;
	}
	*out_len = (size_t)(to - out);
	return true;
}
