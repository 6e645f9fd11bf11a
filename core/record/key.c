/*
 * Row identity as bytes and as JSON, from the cells of the key columns.
 */
#include "record/key.h"

#include "record/type_private.h"

#define PART_MARK 1
#define VARINT_ROOM 10

static const struct column *key_column(const struct table_schema *schema, size_t i)
{
	return &schema->columns[schema->keys[i]];
}

static char *put_part(struct span text, char *at)
{
	size_t left = text.len;

	*at++ = PART_MARK;
	for (; left >= 128; left >>= 7)
		*at++ = (char)(left | 128);
	*at++ = (char)left;
	if (text.len)
		memcpy(at, text.at, text.len);
	return at + text.len;
}

struct span key_encode(const struct table_schema *schema, const struct cell *cells, struct arena *arena)
{
	struct span *texts = arena_alloc(arena, (schema->key_count + 1) * sizeof(*texts));
	size_t room = 0;
	char *key, *at;

	for (size_t i = 0; i < schema->key_count; i++) {
		if (!cell_text(&cells[i], &key_column(schema, i)->type, arena, &texts[i]))
			return SPAN("");
		room += texts[i].len + 1 + VARINT_ROOM;
	}
	key = at = arena_bytes(arena, room + 1);
	for (size_t i = 0; i < schema->key_count; i++)
		at = put_part(texts[i], at);
	arena_shrink(arena, key, room + 1, (size_t)(at - key));
	return span_make(key, (size_t)(at - key));
}

struct span key_json(const struct table_schema *schema, const struct cell *cells, struct arena *arena)
{
	size_t room = 2;
	char *text, *at;

	for (size_t i = 0; i < schema->key_count; i++)
		room += cell_json_room(&cells[i]) + key_column(schema, i)->name.len * 6 + 4;
	text = at = arena_bytes(arena, room);
	*at++ = '{';
	for (size_t i = 0; i < schema->key_count; i++) {
		if (i)
			*at++ = ',';
		at = json_put_string(key_column(schema, i)->name, at);
		*at++ = ':';
		at = cell_json(&cells[i], &key_column(schema, i)->type, at);
	}
	*at++ = '}';
	arena_shrink(arena, text, room, (size_t)(at - text));
	return span_make(text, (size_t)(at - text));
}

/* Lengths come from files: nothing is believed. */
static bool take_part(struct span *rest, struct span *out)
{
	size_t len = 0, at = 1;
	unsigned shift = 0;

	if (rest->len < 2 || *rest->at != PART_MARK)
		return false;
	for (;; at++, shift += 7) {
		if (at == rest->len || shift > 28)
			return false;
		len |= (size_t)((unsigned char)rest->at[at] & 127) << shift;
		if (!((unsigned char)rest->at[at] & 128))
			break;
	}
	at++;
	if (len > rest->len - at)
		return false;
	*out = span_make(rest->at + at, len);
	rest->at += at + len;
	rest->len -= at + len;
	return true;
}

bool key_decode(struct span key, struct span *out_texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!take_part(&key, &out_texts[i]))
			return false;
	}
	return key.len == 0;
}
