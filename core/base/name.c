/*
 * Names at the destination: the rules stand in name_rules.def, the characters
 * that may not stand in a name in name_signs.def.
 */
#include "base/name.h"

#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>

static const struct name_rule {
	size_t characters, bytes;
	const char *signs;
	bool beyond_ascii;
} rules[NAME_KINDS] = {
#define NAME_RULE(kind, characters, bytes, signs, beyond_ascii) [kind] = { characters, bytes, signs, beyond_ascii },
#define NAME_PREFIX(kind, prefix, whose)
#include "base/name_rules.def"
#undef NAME_RULE
#undef NAME_PREFIX
};

static const struct name_prefix {
	enum name_kind kind;
	const char *prefix;
} prefixes[] = {
#define NAME_RULE(kind, characters, bytes, signs, beyond_ascii)
#define NAME_PREFIX(kind, prefix, whose) { kind, prefix },
#include "base/name_rules.def"
#undef NAME_RULE
#undef NAME_PREFIX
};

static const struct sign_range {
	uint32_t first, last;
} sign_ranges[] = {
#define SIGNS(first, last) { first, last },
#include "base/name_signs.def"
#undef SIGNS
};

static int sign_compare(const void *code, const void *range)
{
	const struct sign_range *r = range;
	uint32_t c = *(const uint32_t *)code;

	return c < r->first ? -1 : c > r->last;
}

static bool code_is_sign(uint32_t code)
{
	return bsearch(&code, sign_ranges, sizeof(sign_ranges) / sizeof(sign_ranges[0]), sizeof(sign_ranges[0]), sign_compare);
}

static bool code_is_allowed(const struct name_rule *rule, uint32_t code)
{
	if ((code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || (code >= '0' && code <= '9'))
		return true;
	if (code < 0x80)
		return code && strchr(rule->signs, (int)code);
	return rule->beyond_ascii && !code_is_sign(code);
}

static char small(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool begins_with(struct span name, const char *prefix)
{
	for (size_t i = 0; prefix[i]; i++) {
		if (i == name.len || small(name.at[i]) != small(prefix[i]))
			return false;
	}
	return true;
}

static bool is_taken(enum name_kind kind, struct span name)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (prefixes[i].kind == kind && begins_with(name, prefixes[i].prefix))
			return true;
	}
	return false;
}

/* The name sign by sign into `out`, which has room for one byte for each of `name` (or is NULL: only look), until
 * the rule's limits. A byte that begins no character is a sign, too. */
static size_t name_write(const struct name_rule *rule, struct span name, size_t most_bytes, char *out,
                         unsigned *out_changes)
{
	size_t len = 0, characters = 0;
	uint32_t code = 0;

	while (name.len) {
		size_t step = utf8_step(name, &code);
		bool is_fine = step && code_is_allowed(rule, code);
		size_t more = is_fine ? step : 1;

		if (len + more > most_bytes || characters == rule->characters) {
			*out_changes |= NAME_CUT;
			return len;
		}
		if (!is_fine)
			*out_changes |= NAME_SIGNS;
		if (out && is_fine)
			memcpy(out + len, name.at, step);
		else if (out)
			out[len] = '_';
		len += more;
		characters++;
		name = span_make(name.at + (step ? step : 1), name.len - (step ? step : 1));
	}
	return len;
}

bool name_is_allowed(enum name_kind kind, struct span name)
{
	unsigned changes = 0;

	name_write(&rules[kind], name, rules[kind].bytes, NULL, &changes);
	return name.len && !changes && !is_taken(kind, name);
}

struct span name_at_destination(enum name_kind kind, struct span source, struct arena *arena, unsigned *out_changes)
{
	const struct name_rule *rule = &rules[kind];

	*out_changes = 0;
	if (name_is_allowed(kind, source))
		return source;

	/* A mark in front, and replaced signs, are looked for together: "$file_x" would become one of BigQuery's names. */
	char *room = arena_bytes(arena, source.len + 2), *at = room + 1;
	size_t len = name_write(rule, source, rule->bytes, at, out_changes);

	room[0] = '_';
	if (is_taken(kind, span_make(at, len))) {
		*out_changes |= NAME_MARKED;
		unsigned again = 0;

		at = arena_bytes(arena, len + 2);
		len = name_write(rule, span_make(room, len + 1), rule->bytes, at, &again);
		*out_changes |= again;
	}
	return span_make(at, len);
}

struct span name_numbered(enum name_kind kind, struct span name, unsigned number, struct arena *arena)
{
	const struct name_rule *rule = &rules[kind];
	struct name_rule shorter = *rule;
	char tail[16];
	size_t tail_len = (size_t)snprintf(tail, sizeof(tail), "_%u", number);
	char *at = arena_bytes(arena, name.len + tail_len);
	unsigned changes = 0;

	shorter.characters -= tail_len;
	size_t len = name_write(&shorter, name, rule->bytes - tail_len, at, &changes);

	memcpy(at + len, tail, tail_len);
	return span_make(at, len + tail_len);
}

const char *name_change_text(unsigned changes)
{
	if (changes & NAME_CUT)
		return "it is longer than names may be there";
	if (changes & NAME_SIGNS)
		return "it has a sign that is not allowed there";
	return "names that begin so are reserved there";
}
