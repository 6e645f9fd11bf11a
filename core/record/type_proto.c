/*
 * Cells in the Storage Write API's protobuf form (spec/apis-grpc.md 6.3):
 * proto2, fields numbered from 1, an ARRAY as repeated field, a STRUCT as
 * message. NULL is a field that is not there.
 */
#include "record/type_private.h"
#include "record/type_time_private.h"

#include "base/hash.h"
#include "base/wire.h"

static char *put_bytes(uint32_t number, struct span bytes, char *at)
{
	at = wire_varint(bytes.len, wire_tag(number, WIRE_BYTES, at));
	if (bytes.len)
		memcpy(at, bytes.at, bytes.len);
	return at + bytes.len;
}

static char *put_real(uint32_t number, double real, char *at)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	return wire_fixed(bits, sizeof(bits), wire_tag(number, WIRE_FIXED64, at));
}

static uint64_t pack_clock(int64_t us)
{
	uint64_t seconds = (uint64_t)us / 1000000;

	return (seconds / 3600 << 12 | seconds / 60 % 60 << 6 | seconds % 60) << 20 | (uint64_t)us % 1000000;
}

static uint64_t pack_datetime(int64_t us)
{
	int64_t days = us / DAY_US, rest = us % DAY_US;
	struct civil c;

	if (rest < 0) {
		rest += DAY_US;
		days--;
	}
	c = civil_from_days(days);
	return ((uint64_t)c.year << 26 | (uint64_t)c.month << 22 | (uint64_t)c.day << 17) << 20 | pack_clock(rest);
}

static char *put_int(uint32_t number, const struct cell *cell, enum bq_kind kind, char *at)
{
	uint64_t value = (uint64_t)cell->number;

	if (kind == BQ_TIME)
		value = pack_clock(cell->number);
	else if (kind == BQ_DATETIME)
		value = pack_datetime(cell->number);
	return wire_varint(value, wire_tag(number, WIRE_VARINT, at));
}

/* The length of what is behind a prefix is known only afterwards; texts are mostly short. */
static char *close_message(char *start, char *end, size_t reserved)
{
	char prefix[WIRE_VARINT_ROOM];
	size_t len = (size_t)(end - start), need = (size_t)(wire_varint(len, prefix) - prefix);

	if (need != reserved)
		memmove(start - reserved + need, start, len);
	memcpy(start - reserved, prefix, need);
	return start - reserved + need + len;
}

/* A message of two fields, each as its element's column would be; what is unbounded is not there. */
static char *put_range(uint32_t number, struct span text, enum bq_kind kind, char *at)
{
	char *start = wire_tag(number, WIRE_BYTES, at) + 1, *end = start;
	struct cell cell = { .kind = CELL_INT };
	struct range_ends ends;

	if (!range_ends(text, kind, &ends))
		return at;
	cell.number = ends.start;
	if (ends.has_start)
		end = put_int(RANGE_START, &cell, bq_range_element(kind), end);
	cell.number = ends.end;
	if (ends.has_end)
		end = put_int(RANGE_END, &cell, bq_range_element(kind), end);
	return close_message(start, end, 1);
}

static char *put_text(uint32_t number, const struct cell *cell, char *at)
{
	char *start;

	if (cell->is_plain || !cell->is_escaped || !cell->text.len ||
	    !memchr(cell->text.at, '\\', cell->text.len))
		return put_bytes(number, cell->text, at);
	start = wire_tag(number, WIRE_BYTES, at) + 1;
	return close_message(start, json_unescape(cell->text, start), 1);
}

static char *put_element(const struct json_doc *doc, uint32_t token, const struct bq_type *type, uint32_t number,
                         char *at);

static char *put_fields(const struct json_doc *doc, uint32_t token, const struct bq_type *type, uint32_t number,
                        char *at)
{
	char *start = wire_tag(number, WIRE_BYTES, at) + 1, *end = start;
	size_t i = 0;

	/* Our own text: members stand in the order of the fields. */
	for (uint32_t t = token + 1; t < doc->tokens[token].next && i < type->field_count; t = doc->tokens[t].next, i++)
		end = put_element(doc, ++t, &type->fields[i].type, (uint32_t)i + 1, end);
	return close_message(start, end, 1);
}

static char *put_list(const struct json_doc *doc, uint32_t token, const struct bq_type *type, uint32_t number,
                      char *at)
{
	struct bq_type element = *type;

	element.is_array = false;
	for (uint32_t t = token + 1; t < doc->tokens[token].next; t = doc->tokens[t].next)
		at = put_element(doc, t, &element, number, at);
	return at;
}

/* Texts of ours become numbers again; they are short, so a copy on the stack will do. */
static char *put_parsed(struct span text, const struct bq_type *type, uint32_t number, char *at)
{
	struct cell cell = { .kind = CELL_INT };

	if (type->kind == BQ_FLOAT64) {
		real_parse_words(text, &cell.real);
		return put_real(number, cell.real, at);
	}
	time_parse(type->kind, text, &cell.number);
	return put_int(number, &cell, type->kind, at);
}

/* A number of ours is short; only source texts of doubles may be longer, and those fit the room too. */
static char *put_number(struct span text, const struct bq_type *type, uint32_t number, char *at)
{
	struct cell cell = { .kind = CELL_INT };
	struct arena *arena;

	if (type->kind != BQ_FLOAT64) {
		span_int64(text, &cell.number);
		return put_int(number, &cell, type->kind, at);
	}
	arena = arena_new(256);
	real_parse(text, arena, &cell.real);
	arena_free(arena);
	return put_real(number, cell.real, at);
}

static char *put_string(struct span inside, const struct bq_type *type, uint32_t number, char *at)
{
	struct cell cell = { .kind = CELL_TEXT, .is_escaped = true, .text = inside };
	size_t room, len;
	char *start;

	if (type->kind == BQ_FLOAT64 || (bq_value_group(type) == GROUP_TIME && type->kind != BQ_INTERVAL))
		return put_parsed(inside, type, number, at);
	if (bq_range_element(type->kind))
		return put_range(number, inside, type->kind, at);
	if (type->kind != BQ_BYTES)
		return put_text(number, &cell, at);
	room = inside.len;
	start = wire_tag(number, WIRE_BYTES, at) + 1;
	return base64_decode(inside, start, &len) && len <= room ? close_message(start, start + len, 1) : at;
}

static char *put_element(const struct json_doc *doc, uint32_t token, const struct bq_type *type, uint32_t number,
                         char *at)
{
	struct cell truth = { .kind = CELL_INT, .number = json_is(doc, token, JSON_TRUE) };

	switch (doc->tokens[token].kind) {
	case JSON_NULL:
		return at;
	case JSON_TRUE:
	case JSON_FALSE:
		return put_int(number, &truth, BQ_BOOL, at);
	case JSON_NUMBER:
		return put_number(json_raw(doc, token), type, number, at);
	case JSON_STRING:
		return put_string(json_raw(doc, token), type, number, at);
	case JSON_ARRAY:
		return put_list(doc, token, type, number, at);
	default:
		break;
	}
	return put_fields(doc, token, type, number, at);
}

static char *put_nested(uint32_t number, const struct cell *cell, const struct bq_type *type, char *at)
{
	struct json_doc doc = { .tokens = NULL };
	size_t where;

	if (json_parse(&doc, cell->text, &where) == JSON_FINE)
		at = put_element(&doc, 0, type, number, at);
	json_doc_free(&doc);
	return at;
}

char *cell_proto(const struct cell *cell, const struct bq_type *type, uint32_t number, char *at)
{
	switch (cell->kind) {
	case CELL_INT:
		return put_int(number, cell, type->kind, at);
	case CELL_REAL:
		return put_real(number, cell->real, at);
	case CELL_TEXT:
		return bq_range_element(type->kind) ? put_range(number, cell->text, type->kind, at) : put_text(number, cell, at);
	case CELL_BYTES:
		return put_bytes(number, cell->text, at);
	case CELL_JSON:
		return put_nested(number, cell, type, at);
	case CELL_NULL:
	case CELL_ABSENT:
	case CELL_UNAVAILABLE:
		break;
	}
	return at;
}
