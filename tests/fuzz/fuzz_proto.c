/*
 * The protobuf reader on any bytes: it stays inside, ends, and what it took can be
 * written and read again with the same values. Every field is also entered as a
 * message, walked as a list, and read as each type.
 */
#include "google/proto.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition) do { if (!(condition)) abort(); } while (0)

static size_t budget; /* of fields: messages in messages could be walked for ever */

static bool is_inside(struct span inner, struct span outer)
{
	return !inner.len || (inner.at >= outer.at && inner.at + inner.len <= outer.at + outer.len);
}

static void walk_list(const struct proto_field *field, enum wire wire)
{
	struct proto_reader r = proto_open(field->bytes);
	size_t cursor = 0, count = 0;
	uint64_t value;

	while (proto_element(&r, field, wire, &cursor, &value))
		count++;
	MUST(count <= field->bytes.len + 1);
}

static void copy_field(const struct proto_field *field, struct text *out)
{
	if (field->wire == WIRE_VARINT)
		proto_put_uint(out, field->number, proto_uint64(field));
	else if (field->wire == WIRE_FIXED64)
		proto_put_fixed64(out, field->number, proto_uint64(field));
	else if (field->wire == WIRE_FIXED32)
		proto_put_fixed32(out, field->number, (uint32_t)proto_uint64(field));
	else if (field->wire == WIRE_BYTES)
		proto_put_bytes(out, field->number, proto_bytes(field));
}

static void walk(struct proto_reader *r, struct span whole, struct text *copy)
{
	struct proto_field field;
	struct proto_time time;

	while (budget && proto_next(r, &field)) {
		struct proto_reader inner = { 0 }, outer = *r;

		budget--;
		MUST(field.number > 0 && field.number <= PROTO_NUMBER_MAX && is_inside(field.bytes, whole));
		walk_list(&field, WIRE_VARINT);
		walk_list(&field, WIRE_FIXED32);
		walk_list(&field, WIRE_FIXED64);
		MUST(proto_int32(&field) == (int32_t)proto_uint64(&field) && (proto_double(&field) == 0 || field.wire == WIRE_FIXED64));
		proto_time(&outer, &field, &time);
		if (field.wire == WIRE_BYTES) {
			outer = *r;
			inner = proto_enter(&outer, &field);
			walk(&inner, field.bytes, NULL);
			MUST(proto_leave(&outer, &inner) == !inner.is_broken && outer.is_broken == inner.is_broken);
		}
		if (copy)
			copy_field(&field, copy);
	}
	MUST(r->at <= r->end && (!r->is_broken || r->at == r->end));
}

/* Both have the same fields but groups, which are never written. */
static void same(struct span a, struct span b)
{
	struct proto_reader x = proto_open(a), y = proto_open(b);
	struct proto_field f, g;

	while (proto_next(&x, &f)) {
		if (f.wire == WIRE_GROUP)
			continue;
		MUST(proto_next(&y, &g) && f.number == g.number && f.wire == g.wire && f.value == g.value);
		MUST(span_equal(f.bytes, g.bytes));
	}
	MUST(!proto_next(&y, &g) && !y.is_broken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span bytes = { (const char *)data, size };
	struct proto_reader r = proto_open(bytes);
	OWNED(text) copy = text_new(size * 2 + 100);

	budget = 20000;
	walk(&r, bytes, copy);
	if (budget && !r.is_broken && !copy->is_full)
		same(bytes, text_span(copy));
	return 0;
}
