/*
 * The light scan of a line: see enum scanned. It is sure of what it says: where a
 * value would have to be understood it only remembers its text (the reader parses
 * it later), and where a name is escaped it gives up.
 */
#include "source/envelope_private.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct cursor {
	const char *at, *end;
};

static const struct span member_names[ENVELOPE_MEMBERS] = {
	[ENVELOPE_ID] = { "id", 2 },
	[ENVELOPE_KEY] = { "key", 3 },
	[ENVELOPE_ATTRS] = { "attrs", 5 },
	[ENVELOPE_PUBLISH] = { "publish", 7 },
	[ENVELOPE_DATA] = { "data", 4 },
	[ENVELOPE_DATA_B64] = { "data_b64", 8 },
};

enum envelope_member envelope_member_find(struct span name)
{
	for (int i = 0; i < ENVELOPE_MEMBERS; i++) {
		/* The length tells them apart but for two: memcmp is rarely asked. */
		if (name.len == member_names[i].len && bytes_equal(name.at, member_names[i].at, name.len))
			return (enum envelope_member)i;
	}
	return ENVELOPE_UNKNOWN;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline void skip_space(struct cursor *c)
{
	while (c->at < c->end && is_space(*c->at))
		c->at++;
}

static bool take(struct cursor *c, char wanted)
{
	skip_space(c);
	if (c->at == c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static bool is_plain_byte(char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* To the next byte that is not printable ASCII, or a quote or backslash; or to the end. */
static void skip_plain(struct cursor *c)
{
#ifdef __SSE2__
	for (; c->end - c->at >= 16; c->at += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)c->at);
		/* Compared as signed bytes: those of UTF-8 are below the space too. */
		__m128i odd = _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)),
		                           _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f)));
		__m128i ends = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
		                            _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
		int mask = _mm_movemask_epi8(_mm_or_si128(odd, ends));

		if (mask) {
			c->at += __builtin_ctz((unsigned)mask);
			return;
		}
	}
#endif
	while (c->at < c->end && is_plain_byte(*c->at))
		c->at++;
}

/* Behind the closing quote; the cursor stands behind the opening one. False: there is none. */
static bool skip_string(struct cursor *c, bool *out_plain)
{
	*out_plain = true;
	for (;;) {
		skip_plain(c);
		if (c->at == c->end)
			return false;
		if (*c->at++ == '"')
			return true;
		*out_plain = false;
		if (c->at[-1] == '\\' && c->at < c->end)
			c->at++;
	}
}

/* Behind the bracket that closes the one at the cursor. */
static bool skip_nested(struct cursor *c)
{
	size_t depth = 0;
	bool is_plain;

	while (c->at < c->end) {
		char byte = *c->at++;

		if (byte == '"' && !skip_string(c, &is_plain))
			return false;
		if (byte == '{' || byte == '[')
			depth++;
		if ((byte == '}' || byte == ']') && --depth == 0)
			return true;
	}
	return false;
}

static bool skip_word(struct cursor *c)
{
	const char *begin = c->at;

	while (c->at < c->end && *c->at != ',' && *c->at != '}' && !is_space(*c->at))
		c->at++;
	return c->at > begin;
}

/* One value, not looked into. False: the line cannot be JSON. */
static bool scan_value(struct cursor *c, struct envelope_value *out)
{
	const char *begin = c->at;
	bool is_plain = false, is_there;

	if (c->at == c->end)
		return false;
	if (*c->at == '"') {
		c->at++;
		is_there = skip_string(c, &is_plain);
	} else if (*c->at == '{' || *c->at == '[') {
		is_there = skip_nested(c);
		is_plain = c->at - begin == 2 && *begin == '{';
	} else {
		is_there = skip_word(c);
	}
	out->text = span_make(begin, (size_t)(c->at - begin));
	out->is_plain = is_plain;
	return is_there;
}

enum scanned envelope_scan_data(struct span rest, struct envelope_value *out)
{
	const char *end = rest.at + rest.len;

	/* What stands behind the colon of the line before need not be what stands here. */
	while (rest.at < end && is_space(*rest.at))
		rest.at++;
	while (end > rest.at && is_space(end[-1]))
		end--;
	if (end == rest.at || *--end != '}')
		return SCANNED_BARE;
	while (end > rest.at && is_space(end[-1]))
		end--;
	out->text = span_make(rest.at, (size_t)(end - rest.at));
	return end > rest.at ? SCANNED_DATA : SCANNED_BARE;
}

static enum scanned scan_end(struct cursor *c, const struct envelope *envelope)
{
	skip_space(c);
	return c->at == c->end && envelope->values[ENVELOPE_DATA_B64].text.at ? SCANNED_B64 : SCANNED_BARE;
}

/* A name up to its colon; ENVELOPE_UNKNOWN also for what is none. */
static enum envelope_member scan_name(struct cursor *c, bool *out_odd)
{
	const char *begin;
	struct span name;
	bool is_plain;

	*out_odd = false;
	if (!take(c, '"'))
		return ENVELOPE_UNKNOWN;
	begin = c->at;
	if (!skip_string(c, &is_plain))
		return ENVELOPE_UNKNOWN;
	name = span_make(begin, (size_t)(c->at - begin) - 1);
	*out_odd = !is_plain;
	return take(c, ':') ? envelope_member_find(name) : ENVELOPE_UNKNOWN;
}

enum scanned envelope_scan(struct span line, struct envelope *out)
{
	struct cursor c = { line.at, line.at + line.len };

	if (!take(&c, '{'))
		return SCANNED_BARE;
	do {
		bool is_odd;
		enum envelope_member member = scan_name(&c, &is_odd);

		if (is_odd)
			return SCANNED_ODD;
		if (member == ENVELOPE_UNKNOWN || out->values[member].text.at)
			return SCANNED_BARE;
		skip_space(&c);
		if (member == ENVELOPE_DATA)
			return out->values[ENVELOPE_DATA_B64].text.at ? SCANNED_BARE :
			       envelope_scan_data(span_make(c.at, (size_t)(c.end - c.at)), &out->values[member]);
		if (!scan_value(&c, &out->values[member]))
			return SCANNED_BARE;
	} while (take(&c, ','));
	return take(&c, '}') ? scan_end(&c, out) : SCANNED_BARE;
}
