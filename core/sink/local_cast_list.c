/* Text that must fit: into so many characters, or into the list of an ENUM or a SET, whose values stand in hexadecimal
 * digits with a colon between them. */
#include "sink/cast_private.h"

#include "base/utf8.h"

static struct span trimmed(struct span text)
{
	while (text.len && text.at[text.len - 1] == ' ')
		text.len--;
	return text;
}

struct span cast_cut(struct span text, struct span argument, struct arena *arena)
{
	struct span rest = text;
	uint64_t most;
	uint32_t code;

	(void)arena;
	if (!span_uint64(argument, &most))
		return text;
	while (rest.len && most--) {
		size_t length = utf8_step(rest, &code);

		if (!length)
			return text;
		rest = span_make(rest.at + length, rest.len - length);
	}
	return span_make(text.at, text.len - rest.len);
}

struct span cast_trim(struct span text, struct span argument, struct arena *arena)
{
	(void)argument, (void)arena;
	return trimmed(text);
}

static int hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

/* Takes the next value off the list; false: there is none. */
static bool value_take(struct span *list, struct arena *arena, struct span *out)
{
	const char *colon = list->at ? memchr(list->at, ':', list->len) : NULL;
	size_t len = colon ? (size_t)(colon - list->at) : list->len;
	char *bytes = arena_bytes(arena, len / 2 + 1);

	if (!list->at)
		return false;
	for (size_t i = 0; i + 1 < len; i += 2)
		bytes[i / 2] = (char)(hex_value(list->at[i]) << 4 | hex_value(list->at[i + 1]));
	*out = trimmed(span_make(bytes, len / 2));
	*list = colon ? span_make(colon + 1, list->len - len - 1) : (struct span){ NULL, 0 };
	return true;
}

static bool same_word(struct span a, struct span b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++) {
		char x = a.at[i], y = b.at[i];

		x = x >= 'A' && x <= 'Z' ? (char)(x | 0x20) : x;
		y = y >= 'A' && y <= 'Z' ? (char)(y | 0x20) : y;
		if (x != y)
			return false;
	}
	return true;
}

/* As the list writes it, which may differ in letter case. */
struct span cast_enum(struct span text, struct span argument, struct arena *arena)
{
	struct span value, found = text;

	for (bool is_first = true; value_take(&argument, arena, &value);) {
		if (span_equal(value, text))
			return value;
		if (is_first && same_word(value, trimmed(text))) {
			found = value;
			is_first = false;
		}
	}
	return found;
}

static bool has_part(struct span text, struct span value)
{
	while (text.len) {
		const char *comma = memchr(text.at, ',', text.len);
		struct span part = span_make(text.at, comma ? (size_t)(comma - text.at) : text.len);

		if (same_word(trimmed(part), value))
			return true;
		text = comma ? span_make(comma + 1, text.len - part.len - 1) : SPAN("");
	}
	return false;
}

static size_t part_count(struct span text)
{
	size_t count = text.len > 0;

	for (size_t i = 0; i < text.len; i++)
		count += text.at[i] == ',';
	return count;
}

/* The parts in the order of the list; a part that it lacks leaves the text as it is. */
struct span cast_set(struct span text, struct span argument, struct arena *arena)
{
	char *out = arena_bytes(arena, text.len + 1);
	size_t len = 0, count = 0;
	struct span value;

	while (value_take(&argument, arena, &value)) {
		if (!value.len || !has_part(text, value) || len + value.len + 1 > text.len + 1)
			continue;
		if (len)
			out[len++] = ',';
		memcpy(out + len, value.at, value.len);
		len += value.len;
		count++;
	}
	return count == part_count(text) ? span_make(out, len) : text;
}

/* A number is the place of a value in the list, from 1. */
struct span cast_index(struct span text, struct span argument, struct arena *arena)
{
	struct span value;
	uint64_t at;

	if (!span_uint64(text, &at))
		return text;
	for (uint64_t i = 1; value_take(&argument, arena, &value); i++) {
		if (i == at)
			return value;
	}
	return text;
}
