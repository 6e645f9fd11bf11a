/*
 * A changelog row as BigQuery's Storage Write API takes it: the fields of the
 * template's changelog table, then ours. Nested messages are written behind
 * room for their length and moved down to it.
 */
#include "transform/debezium_private.h"

#include "base/wire.h"

#define LENGTH_MOSTLY 2

enum changelog_field {
	PROTO_FULL_RECORD = 1,
	PROTO_PRIMARY_KEY,
	PROTO_OPERATION,
	PROTO_TIMESTAMP_MS,
	PROTO_TABLE_NAME,
	PROTO_POSITION,
	PROTO_KEY,
	PROTO_OLD_KEY,
	PROTO_UNAVAILABLE,
};

static inline char *bytes_write(char *at, uint32_t field, struct span bytes)
{
	if (!bytes.len)
		return at;
	at = wire_varint(bytes.len, wire_tag(field, WIRE_BYTES, at));
	memcpy(at, bytes.at, bytes.len);
	return at + bytes.len;
}

/* Never NULL: that of a table's event is empty. */
static inline char *key_write(char *at, struct span key)
{
	if (key.len)
		return bytes_write(at, PROTO_KEY, key);
	*at++ = (char)(PROTO_KEY << 3 | WIRE_BYTES);
	*at++ = 0;
	return at;
}

static bool cell_counts(const struct cell *cell)
{
	return cell->kind != CELL_NULL && cell->kind != CELL_ABSENT && cell->kind != CELL_UNAVAILABLE;
}

static size_t row_room(const struct row *row)
{
	size_t text = row->has_nested ? row->text_bytes * 8 : row->text_bytes;

	return text + row->shape->count * CELL_PROTO_ROOM + 2 * WIRE_VARINT_ROOM;
}

/* Texts without escapes, and numbers that are written as they are; the rest is a call. */
static inline char *cell_write(char *at, const struct cell *cell, const struct bq_type *type, uint32_t number)
{
	if (cell->kind == CELL_TEXT && cell->text.len && (cell->is_plain || !cell->is_escaped))
		return bytes_write(at, number, cell->text);
	if (cell->kind == CELL_INT && type->kind != BQ_TIME && type->kind != BQ_DATETIME)
		return wire_varint((uint64_t)cell->number, wire_tag(number, WIRE_VARINT, at));
	return cell_counts(cell) ? cell_proto(cell, type, number, at) : at;
}

/* The length goes in front when it is known. Room is left for one of two bytes, as most rows need. */
static char *row_write(char *at, const struct row *row)
{
	char *body = at + 1 + LENGTH_MOSTLY, *end = body, length[WIRE_VARINT_ROOM];

	for (size_t i = 0; i < row->shape->count; i++) {
		int32_t column = row->shape->members[i].column;

		if (column >= 0)
			end = cell_write(end, &row->cells[i], &row->table->columns[column].type, (uint32_t)column + 1);
	}
	size_t len = (size_t)(end - body), need = (size_t)(wire_varint(len, length) - length);

	*at++ = (char)(PROTO_FULL_RECORD << 3 | WIRE_BYTES);
	if (need != LENGTH_MOSTLY)
		memmove(at + need, body, len);
	memcpy(at, length, need);
	return at + need + len;
}

/* The primaryKey message's body: key columns numbered in key order, behind all of them those that have another name now. */
struct span proto_cells(struct event *e, const struct table *table, const struct cell *cells)
{
	size_t room = 0;

	for (size_t k = 0; k < table->schema.key_count; k++)
		room += cell_proto_room(&cells[k]);
	char *start = arena_bytes(e->batch->arena, room), *at = start;

	for (size_t k = 0; k < table->schema.key_count; k++) {
		uint16_t column = key_column(e, k);
		uint16_t ordinal = table->columns[column].key_ordinal;

		at = cell_proto(&cells[k], &table->columns[column].type, ordinal ? ordinal : KEY_COLUMNS_MAX + column + 1u, at);
	}
	arena_shrink(e->batch->arena, start, room, (size_t)(at - start));
	return span_make(start, (size_t)(at - start));
}

/* Without _weir_received: it is the time of the write, and two runs must give the same bytes. `row` NULL: no fullRecord. */
struct span record_proto(struct event *e, const struct record *record, const struct row *row,
                         const struct row_key *key)
{
	struct span operation = span_of(operation_names[record->operation]);
	struct span source = e->table->schema.source;
	struct span key_body = key ? key->proto : NOTHING;
	size_t room = (row ? row_room(row) : 0) + key_body.len + operation.len + source.len + POSITION_BYTES + record->key.len +
	              record->old_key.len + record->unavailable.len + 9 * (1 + WIRE_VARINT_ROOM);
	char *start = arena_bytes(e->batch->arena, room), *at = start;

	if (row)
		at = row_write(at, row);
	at = bytes_write(at, PROTO_PRIMARY_KEY, key_body);
	at = bytes_write(at, PROTO_OPERATION, operation);
	*at++ = (char)(PROTO_TIMESTAMP_MS << 3 | WIRE_VARINT);
	at = wire_varint((uint64_t)record->timestamp_ms, at);
	at = bytes_write(at, PROTO_TABLE_NAME, source);
	at = bytes_write(at, PROTO_POSITION, span_make((const char *)record->position, POSITION_BYTES));
	at = key_write(at, record->key);
	at = bytes_write(at, PROTO_OLD_KEY, record->old_key);
	at = bytes_write(at, PROTO_UNAVAILABLE, record->unavailable);
	arena_shrink(e->batch->arena, start, room, (size_t)(at - start));
	return span_make(start, (size_t)(at - start));
}

struct span row_proto(struct event *e, const struct row *row)
{
	size_t room = row_room(row);
	char *start = arena_bytes(e->batch->arena, room), *at = start;

	for (size_t i = 0; i < row->shape->count; i++) {
		int32_t column = row->shape->members[i].column;

		if (column >= 0)
			at = cell_write(at, &row->cells[i], &row->table->columns[column].type, (uint32_t)column + 1);
	}
	arena_shrink(e->batch->arena, start, room, (size_t)(at - start));
	return span_make(start, (size_t)(at - start));
}
