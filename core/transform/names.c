/*
 * Names come from outside: what they may hold, what they become, and which
 * table a name of the configuration means.
 */
#include "transform/debezium_private.h"

#include "base/text.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool span_same_word(struct span a, struct span b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++) {
		if (lower(a.at[i]) != lower(b.at[i]))
			return false;
	}
	return true;
}

/* Names reach SQL quoted; a back-quote or a control character in one is an attack or a mistake. */
bool name_is_fine(struct span name)
{
	if (name.len == 0 || name.len > NAME_BYTES_MAX)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.at[i];

		if (c < 0x20 || c == 0x7f || c == '`')
			return false;
		if (c == 0xc2 && i + 1 < name.len && (unsigned char)name.at[i + 1] < 0xa0)
			return false; /* C1 controls */
	}
	return true;
}

static bool begins_with(struct span name, struct span prefix)
{
	return name.len >= prefix.len && span_same_word(span_make(name.at, prefix.len), prefix);
}

bool name_is_reserved(struct span name)
{
	return begins_with(name, SPAN("_weir_")) || begins_with(name, SPAN("sqlite_"));
}

/* "_weir_" is ours and "sqlite_" SQLite's: such names get one "_" in front. */
struct span name_guard(struct span name, struct arena *arena)
{
	if (!name_is_reserved(name))
		return name;
	char *at = arena_bytes(arena, name.len + 1);

	at[0] = '_';
	memcpy(at + 1, name.at, name.len);
	return span_make(at, name.len + 1);
}

struct span source_name(struct arena *arena, struct span db, struct span schema, struct span table)
{
	const struct span parts[] = { db, schema, table };
	size_t len = 0, room = db.len + schema.len + table.len + 2;
	char *at = arena_bytes(arena, room);

	for (size_t i = 0; i < 3; i++) {
		if (parts[i].len == 0)
			continue;
		if (len)
			at[len++] = '.';
		memcpy(at + len, parts[i].at, parts[i].len);
		len += parts[i].len;
	}
	arena_shrink(arena, at, room, len);
	return span_make(at, len);
}

bool name_matches(struct span pattern, struct span source, struct span table)
{
	if (pattern.len == 0)
		return true;
	if (pattern.len < table.len || pattern.len > source.len)
		return false;
	struct span tail = { source.at + source.len - pattern.len, pattern.len };

	return span_equal(tail, pattern) && (pattern.len == source.len || tail.at[-1] == '.');
}

struct span table_destination(const char *pattern, struct arena *arena, struct span db, struct span schema,
                              struct span table)
{
	const struct {
		struct span word, value;
	} parts[] = { { SPAN("{db}"), db }, { SPAN("{schema}"), schema }, { SPAN("{table}"), table } };
	struct span rest = span_of(pattern);
	OWNED(text) out = text_new(4 * NAME_BYTES_MAX + rest.len * NAME_BYTES_MAX);

	while (rest.len) {
		size_t step = 0;

		for (size_t i = 0; i < 3 && !step; i++) {
			if (rest.len >= parts[i].word.len && memcmp(rest.at, parts[i].word.at, parts[i].word.len) == 0) {
				text_add_span(out, parts[i].value);
				step = parts[i].word.len;
			}
		}
		if (!step) {
			text_add_char(out, *rest.at);
			step = 1;
		}
		rest = span_make(rest.at + step, rest.len - step);
	}
	return name_guard(arena_copy(arena, text_span(out)), arena);
}
