/*
 * The placeholder of unchanged large values in its forms (spec/types.md 5.1):
 * as text, base64, hex, alone in an array or object, as numbers, as a UUID.
 */
#include "record/type_private.h"

#include "base/hash.h"

static bool is_hex_of(struct span text, struct span placeholder)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < placeholder.len; i++) {
		unsigned char c = (unsigned char)placeholder.at[i];

		if (text.at[2 * i] != digits[c >> 4] || text.at[2 * i + 1] != digits[c & 15])
			return false;
	}
	return true;
}

static bool is_base64_of(struct span text, struct span placeholder, struct arena *arena)
{
	char *encoded = arena_bytes(arena, text.len);
	bool is_equal;

	base64_encode(placeholder, encoded);
	is_equal = span_equal(text, span_make(encoded, text.len));
	arena_shrink(arena, encoded, text.len, 0);
	return is_equal;
}

/* Java's name UUID of the default placeholder. Another placeholder's is not known here. */
#define DEFAULT_TEXT "__debezium_unavailable_value"
#define DEFAULT_UUID "b68a35a7-17ad-35b3-af2a-ae46edb4545a"

static bool text_is(struct span text, struct span placeholder, struct arena *arena)
{
	if (text.len == placeholder.len)
		return span_equal(text, placeholder);
	if (text.len == base64_room(placeholder.len) && is_base64_of(text, placeholder, arena))
		return true;
	return text.len == 2 * placeholder.len && is_hex_of(text, placeholder);
}

/* hstore as JSON text: {"P":"P"}. */
static bool text_is_object(struct span text, struct span placeholder)
{
	size_t n = placeholder.len;

	return text.len >= 2 * n + 7 && text.len <= 2 * n + 9 && text.at[0] == '{' && text.at[1] == '"' &&
	       memcmp(text.at + 2, placeholder.at, n) == 0 && memcmp(text.at + text.len - 2 - n, placeholder.at, n) == 0 &&
	       text.at[text.len - 1] == '}' && text.at[text.len - 2] == '"';
}

bool placeholder_is_text(const struct json_doc *doc, uint32_t token, struct span placeholder, struct arena *arena)
{
	struct span text = json_raw(doc, token);

	if (doc->tokens[token].flags & JSON_HAS_ESCAPES) {
		if (text.len > 12 * placeholder.len + 12) /* even as escapes of escapes it would be shorter */
			return false;
		text = json_text(doc, token, arena);
	}
	return text_is(text, placeholder, arena) || text_is_object(text, placeholder);
}

/* 95, and 95.0 where the elements are no whole numbers. */
static bool is_code(struct span number, unsigned char code)
{
	unsigned found = 0;

	if (number.len > 2 && memcmp(number.at + number.len - 2, ".0", 2) == 0)
		number.len -= 2;
	for (size_t i = 0; i < number.len; i++) {
		if (number.at[i] < '0' || number.at[i] > '9' || found > 255)
			return false;
		found = found * 10 + (unsigned)(number.at[i] - '0');
	}
	return number.len && found == code;
}

static bool is_codes(const struct json_doc *doc, uint32_t array, struct span placeholder)
{
	size_t i = 0;

	for (uint32_t t = array + 1; t < doc->tokens[array].next; t = doc->tokens[t].next, i++) {
		if (i == placeholder.len || !json_is(doc, t, JSON_NUMBER) ||
		    !is_code(json_raw(doc, t), (unsigned char)placeholder.at[i]))
			return false;
	}
	return i == placeholder.len;
}

bool placeholder_is_inside(const struct json_doc *doc, uint32_t token, struct span placeholder, struct arena *arena)
{
	uint32_t first = token + 1, end = doc->tokens[token].next;
	struct span text;

	if (first == end)
		return false;
	if (json_is(doc, token, JSON_OBJECT)) {
		bool is_one = doc->tokens[first + 1].next == end && json_is(doc, first + 1, JSON_STRING);

		return is_one && span_equal(json_text(doc, first, arena), placeholder) &&
		       span_equal(json_text(doc, first + 1, arena), placeholder);
	}
	if (json_is(doc, first, JSON_NUMBER))
		return is_codes(doc, token, placeholder);
	if (!json_is(doc, first, JSON_STRING) || doc->tokens[first].next != end)
		return false;
	text = json_text(doc, first, arena);
	return text_is(text, placeholder, arena) || (span_is(placeholder, DEFAULT_TEXT) && span_is(text, DEFAULT_UUID));
}
