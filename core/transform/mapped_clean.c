/*
 * Cleaning of values as the original does it, by text alone. With `is_original`
 * its faults come too, for whoever depends on them.
 */
#include "transform/mapped_private.h"

#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NESTED_BYTES_MAX (128u << 20)
#define MEMBERS_COMPARED 256 /* of one object; beyond them a name that stands twice is written twice */

/*
 * Dates
 */

static struct span without_all(struct span text, struct span what, struct arena *arena)
{
	char *out = arena_bytes(arena, text.len + 1);
	size_t len = 0;

	for (size_t i = 0; i < text.len;) {
		if (text.len - i >= what.len && memcmp(text.at + i, what.at, what.len) == 0) {
			i += what.len;
			continue;
		}
		out[len++] = text.at[i++];
	}
	return span_make(out, len);
}

static struct span date_original(struct span text, struct arena *arena)
{
	static const char *const midnights[] = { "T00:00:00Z", "T00:00:00.000" };

	for (size_t i = 0; i < sizeof(midnights) / sizeof(midnights[0]); i++) {
		if (memmem(text.at, text.len, midnights[i], strlen(midnights[i])))
			return without_all(text, span_of(midnights[i]), arena);
	}
	return text;
}

static bool is_offset(struct span text)
{
	return text.len == 6 && strchr("+-", text.at[0]) && text.at[3] == ':';
}

/* Midnight with whatever fraction of zeros, and Z or an offset: the date is the one that was written. */
struct span clean_date(struct span text, bool is_original, struct arena *arena)
{
	static const char midnight[] = "T00:00:00";
	const char *at;
	struct span rest;

	if (!text.len)
		return text;
	if (is_original)
		return date_original(text, arena);
	at = memmem(text.at, text.len, midnight, sizeof(midnight) - 1);
	if (!at)
		return text;
	rest = span_make(at + sizeof(midnight) - 1, text.len - (size_t)(at - text.at) - (sizeof(midnight) - 1));
	if (rest.len > 1 && *rest.at == '.') {
		rest = span_make(rest.at + 1, rest.len - 1);
		while (rest.len && *rest.at == '0')
			rest = span_make(rest.at + 1, rest.len - 1);
	}
	if (rest.len && !span_is(rest, "Z") && !is_offset(rest))
		return text;
	return span_make(text.at, (size_t)(at - text.at));
}

struct span clean_datetime(struct span text)
{
	return text.len && text.at[text.len - 1] == 'Z' ? span_make(text.at, text.len - 1) : text;
}

/*
 * Numbers
 */

/* The shortest digits that read back as the same double, without point and exponent; *out_point: where the point stands. */
static size_t digits_of(double number, char out[32], int *out_point)
{
	char text[40];
	int precision = 1, exponent;
	size_t len = 0;

	do {
		snprintf(text, sizeof(text), "%.*e", precision - 1, number);
	} while (precision++ < 17 && strtod(text, NULL) != number);
	for (const char *c = text; *c && *c != 'e'; c++) {
		if (*c >= '0' && *c <= '9')
			out[len++] = *c;
	}
	exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
	while (len > 1 && out[len - 1] == '0')
		len--;
	*out_point = exponent + 1;
	return len;
}

/* 0.001 to 10,000,000 with a point, all others with an exponent; at least one digit behind the point. */
static void double_write(struct text *out, double number)
{
	char digits[32];
	int point;
	size_t len = digits_of(fabs(number), digits, &point);

	if (signbit(number))
		text_add_char(out, '-');
	if (point > 7 || point < -2) {
		text_add_format(out, "%c.%.*s%sE%d", digits[0], (int)len - 1, digits + 1, len == 1 ? "0" : "", point - 1);
		return;
	}
	for (int i = 0; i < point; i++)
		text_add_char(out, i < (int)len ? digits[i] : '0');
	text_add(out, point < 1 ? "0." : ".");
	for (int i = point; i < 0; i++)
		text_add_char(out, '0');
	if (point < (int)len)
		text_add_span(out, span_make(digits + (point < 0 ? 0 : point), len - (size_t)(point < 0 ? 0 : point)));
	else
		text_add_char(out, '0');
}

struct span clean_number(struct span text, struct arena *arena)
{
	OWNED(text) out = text_new(64);
	OWNED(text) copy = text_new(4096);
	double number;

	if (!memchr(text.at, '.', text.len) && !memchr(text.at, 'e', text.len) && !memchr(text.at, 'E', text.len))
		return text;
	text_add_span(copy, text);
	number = strtod(copy->at, NULL);
	if (!isfinite(number))
		return text;
	if (number == 0)
		text_add(out, signbit(number) ? "-0.0" : "0.0");
	else
		double_write(out, number);
	return arena_copy(arena, text_span(out));
}

/*
 * Objects and lists in a text column
 */

struct nested {
	const struct json_doc *doc;
	struct arena *arena;
	struct text *out;
	bool is_original;
};

/* Signs that the original's writer escapes, so that its JSON may stand in a page. */
static const char *escape_of(unsigned char c, char room[8])
{
	static const char named[] = "\"\"\\\\\b" "b\ff\nn\rr\tt";

	for (const char *pair = named; *pair; pair += 2) {
		if (c == (unsigned char)*pair) {
			snprintf(room, 8, "\\%c", pair[1]);
			return room;
		}
	}
	if (c >= 0x20 && !strchr("<>&'=", c))
		return NULL;
	snprintf(room, 8, "\\u%04x", c);
	return room;
}

static void string_write(struct nested *n, uint32_t token)
{
	struct span text = json_text(n->doc, token, n->arena);
	char room[8];

	text_add_char(n->out, '"');
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.at[i];
		const char *escape = escape_of(c, room);
		bool is_separator = c == 0xe2 && i + 2 < text.len && (unsigned char)text.at[i + 1] == 0x80 &&
		                    ((unsigned char)text.at[i + 2] | 1) == 0xa9;

		if (escape) {
			text_add(n->out, escape);
		} else if (is_separator) {
			text_add(n->out, (unsigned char)text.at[i + 2] == 0xa8 ? "\\u2028" : "\\u2029");
			i += 2;
		} else {
			text_add_char(n->out, (char)c);
		}
	}
	text_add_char(n->out, '"');
}

static void value_write(struct nested *n, uint32_t token);

static void list_write(struct nested *n, uint32_t token)
{
	uint32_t end = n->doc->tokens[token].next;

	text_add_char(n->out, '[');
	for (uint32_t at = token + 1; at < end; at = n->doc->tokens[at].next) {
		if (at != token + 1)
			text_add_char(n->out, ',');
		value_write(n, at);
	}
	text_add_char(n->out, ']');
}

/* A name that stands twice keeps its first place and has its last value. 0: it has stood before. */
static uint32_t member_value(const struct json_doc *doc, uint32_t object, uint32_t name, size_t count)
{
	uint32_t end = doc->tokens[object].next, value = name + 1;
	struct span raw = json_raw(doc, name);

	if (count > MEMBERS_COMPARED)
		return value;
	for (uint32_t at = object + 1; at < end; at = doc->tokens[at + 1].next) {
		if (at == name || !span_equal(json_raw(doc, at), raw))
			continue;
		if (at < name)
			return 0;
		value = at + 1;
	}
	return value;
}

static void object_write(struct nested *n, uint32_t token)
{
	uint32_t end = n->doc->tokens[token].next;
	size_t count = 0;
	bool is_first = true;

	for (uint32_t at = token + 1; at < end; at = n->doc->tokens[at + 1].next)
		count++;
	text_add_char(n->out, '{');
	for (uint32_t at = token + 1; at < end; at = n->doc->tokens[at + 1].next) {
		uint32_t value = member_value(n->doc, token, at, count);

		if (!value || json_is(n->doc, value, JSON_NULL))
			continue;
		if (!is_first)
			text_add_char(n->out, ',');
		is_first = false;
		string_write(n, at);
		text_add_char(n->out, ':');
		value_write(n, value);
	}
	text_add_char(n->out, '}');
}

static void value_write(struct nested *n, uint32_t token)
{
	if (json_is(n->doc, token, JSON_OBJECT))
		object_write(n, token);
	else if (json_is(n->doc, token, JSON_ARRAY))
		list_write(n, token);
	else if (json_is(n->doc, token, JSON_STRING))
		string_write(n, token);
	else if (json_is(n->doc, token, JSON_NUMBER) && n->is_original)
		text_add_span(n->out, clean_number(json_raw(n->doc, token), n->arena));
	else
		text_add_span(n->out, json_slice(n->doc, token));
}

struct span clean_nested(const struct json_doc *doc, uint32_t token, bool is_original, struct arena *arena)
{
	OWNED(text) out = text_new(NESTED_BYTES_MAX);
	struct nested nested = { doc, arena, out, is_original };

	value_write(&nested, token);
	return arena_copy(arena, text_span(out));
}
