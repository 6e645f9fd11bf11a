/*
 * Cells as text: canonical (data/README "Canonical text") and as JSON in a
 * changelog's fullRecord.
 */
#include "record/type_private.h"

#include "base/hash.h"

#include <math.h>

struct span cell_plain(const struct cell *cell, struct arena *arena)
{
	char *plain;
	size_t len;

	if (cell->is_plain || !cell->is_escaped || !cell->text.len || !memchr(cell->text.at, '\\', cell->text.len))
		return cell->text;
	plain = arena_bytes(arena, cell->text.len);
	len = (size_t)(json_unescape(cell->text, plain) - plain);
	arena_shrink(arena, plain, cell->text.len, len);
	return span_make(plain, len);
}

/* Canonical text of a number, at `at`. */
static char *int_text(const struct cell *cell, const struct bq_type *type, char *at)
{
	if (type->kind == BQ_INT64)
		return int_print(cell->number, at);
	if (type->kind == BQ_BOOL) {
		memcpy(at, cell->number ? "true" : "false", 5);
		return at + (cell->number ? 4 : 5);
	}
	if (bq_value_group(type) == GROUP_TIME)
		return time_print(type->kind, cell->number, at);
	return int_print(cell->number, at);
}

static struct span number_text(const struct cell *cell, const struct bq_type *type, struct arena *arena)
{
	char *text = arena_bytes(arena, TIME_TEXT_BYTES), *end;

	end = cell->kind == CELL_REAL ? real_print(cell->real, text) : int_text(cell, type, text);
	arena_shrink(arena, text, TIME_TEXT_BYTES, (size_t)(end - text));
	return span_make(text, (size_t)(end - text));
}

static struct span bytes_text(const struct cell *cell, struct arena *arena)
{
	size_t room = base64_room(cell->text.len);
	char *text = arena_bytes(arena, room + 1);

	return span_make(text, base64_encode(cell->text, text));
}

bool cell_text(const struct cell *cell, const struct bq_type *type, struct arena *arena, struct span *out)
{
	switch (cell->kind) {
	case CELL_INT:
	case CELL_REAL:
		*out = number_text(cell, type, arena);
		return true;
	case CELL_TEXT:
		*out = cell_plain(cell, arena);
		return true;
	case CELL_BYTES:
		*out = bytes_text(cell, arena);
		return true;
	case CELL_JSON:
		*out = cell->text;
		return true;
	case CELL_NULL:
	case CELL_ABSENT:
	case CELL_UNAVAILABLE:
		break;
	}
	return false;
}

#define NUMBER_ROOM (TIME_TEXT_BYTES + 2)
_Static_assert(NUMBER_ROOM <= CELL_JSON_ROOM, "a number must fit the room that type.h promises");

size_t cell_json_room(const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_TEXT:
		return (cell->is_escaped ? cell->text.len : cell->text.len * 6) + 2;
	case CELL_BYTES:
		return base64_room(cell->text.len) + 3;
	case CELL_JSON:
		return cell->text.len * 6 + 2;
	case CELL_REAL:
		return cell->text.len + NUMBER_ROOM;
	case CELL_INT:
		return NUMBER_ROOM;
	case CELL_NULL:
	case CELL_ABSENT:
	case CELL_UNAVAILABLE:
		break;
	}
	return 4;
}

static char *put(struct span text, char *at)
{
	if (text.len)
		memcpy(at, text.at, text.len);
	return at + text.len;
}

static char *put_text(const struct cell *cell, char *at)
{
	if (!cell->is_escaped)
		return json_put_string(cell->text, at);
	*at++ = '"';
	at = put(cell->text, at);
	*at++ = '"';
	return at;
}

static char *put_real(const struct cell *cell, char *at)
{
	if (cell->text.len && isfinite(cell->real))
		return put(cell->text, at);
	if (isfinite(cell->real))
		return real_print(cell->real, at);
	*at++ = '"';
	at = real_print(cell->real, at);
	*at++ = '"';
	return at;
}

static char *put_int(const struct cell *cell, const struct bq_type *type, char *at)
{
	if (type->kind == BQ_INT64)
		return int_print(cell->number, at);
	if (bq_value_group(type) != GROUP_TIME)
		return int_text(cell, type, at);
	*at++ = '"';
	at = time_print(type->kind, cell->number, at);
	*at++ = '"';
	return at;
}

static char *put_bytes(const struct cell *cell, char *at)
{
	*at++ = '"';
	at += base64_encode(cell->text, at);
	*at++ = '"';
	return at;
}

char *cell_json(const struct cell *cell, const struct bq_type *type, char *at)
{
	switch (cell->kind) {
	case CELL_TEXT:
		return put_text(cell, at);
	case CELL_INT:
		return put_int(cell, type, at);
	case CELL_REAL:
		return put_real(cell, at);
	case CELL_BYTES:
		return put_bytes(cell, at);
	case CELL_JSON:
		return json_put_string(cell->text, at);
	case CELL_NULL:
	case CELL_ABSENT:
	case CELL_UNAVAILABLE:
		break;
	}
	return put(SPAN("null"), at);
}

char *cell_json_value(const struct cell *cell, const struct bq_type *type, char *at)
{
	return cell->kind == CELL_JSON ? put(cell->text, at) : cell_json(cell, type, at);
}
