/* Writing protobuf into a text, whose limit is the message's. */
#include "google/proto.h"

#define TAG_AND_NUMBER (2 * WIRE_VARINT_ROOM)

/* Adds what was written into `bytes` up to `end`. */
static void put(struct text *out, const char *bytes, const char *end)
{
	text_add_span(out, span_make(bytes, (size_t)(end - bytes)));
}

void proto_put_uint(struct text *out, uint32_t number, uint64_t value)
{
	char bytes[TAG_AND_NUMBER];

	put(out, bytes, wire_varint(value, wire_tag(number, WIRE_VARINT, bytes)));
}

void proto_put_int(struct text *out, uint32_t number, int64_t value)
{
	proto_put_uint(out, number, (uint64_t)value);
}

void proto_put_sint(struct text *out, uint32_t number, int64_t value)
{
	proto_put_uint(out, number, wire_zigzag(value));
}

void proto_put_bool(struct text *out, uint32_t number, bool value)
{
	proto_put_uint(out, number, value);
}

/* All or nothing, as text_add is: a tag without its bytes would make the rest unreadable. */
void proto_put_bytes(struct text *out, uint32_t number, struct span bytes)
{
	char head[TAG_AND_NUMBER];
	size_t before = out->len;

	put(out, head, wire_varint(bytes.len, wire_tag(number, WIRE_BYTES, head)));
	if (!out->is_full && !text_add_span(out, bytes)) {
		out->len = before;
		out->at[before] = '\0';
	}
}

void proto_put_text(struct text *out, uint32_t number, const char *text)
{
	if (text && *text)
		proto_put_bytes(out, number, span_of(text));
}

static void put_fixed(struct text *out, uint32_t number, enum wire wire, uint64_t bits)
{
	char bytes[TAG_AND_NUMBER];

	put(out, bytes, wire_fixed(bits, wire == WIRE_FIXED64 ? 8 : 4, wire_tag(number, wire, bytes)));
}

void proto_put_fixed64(struct text *out, uint32_t number, uint64_t bits)
{
	put_fixed(out, number, WIRE_FIXED64, bits);
}

void proto_put_fixed32(struct text *out, uint32_t number, uint32_t bits)
{
	put_fixed(out, number, WIRE_FIXED32, bits);
}

void proto_put_double(struct text *out, uint32_t number, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_fixed(out, number, WIRE_FIXED64, bits);
}

void proto_put_float(struct text *out, uint32_t number, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_fixed(out, number, WIRE_FIXED32, bits);
}

void proto_put_packed(struct text *out, uint32_t number, const uint64_t *values, size_t count)
{
	char bytes[WIRE_VARINT_ROOM];
	size_t mark;

	if (!count)
		return;
	mark = proto_begin(out, number);
	for (size_t i = 0; i < count; i++)
		put(out, bytes, wire_varint(values[i], bytes));
	proto_end(out, mark);
}

/* One byte is kept for the length, which most messages need; longer ones are moved. */
size_t proto_begin(struct text *out, uint32_t number)
{
	char bytes[TAG_AND_NUMBER], *end = wire_tag(number, WIRE_BYTES, bytes);

	*end++ = '\0';
	put(out, bytes, end);
	return out->len;
}

void proto_end(struct text *out, size_t mark)
{
	char length[WIRE_VARINT_ROOM];
	size_t len = out->len - mark, need = (size_t)(wire_varint(len, length) - length);

	if (out->is_full)
		return;
	if (need > 1) {
		/* The text grows by what the length needs more; its bytes are overwritten by the move. */
		if (!text_add_span(out, span_make(length, need - 1)))
			return;
		memmove(out->at + mark - 1 + need, out->at + mark, len);
	}
	memcpy(out->at + mark - 1, length, need);
}
