/* Reading protobuf: bounds first, then bytes. Nothing is copied, nothing allocated. */
#include "google/proto.h"

struct proto_reader proto_open(struct span message)
{
	const char *at = message.at ? message.at : "";

	return (struct proto_reader){ .at = at, .end = at + message.len, .depth = PROTO_DEPTH };
}

/* What is broken ends here: the rest is never looked at. */
static bool broken(struct proto_reader *reader)
{
	reader->is_broken = true;
	reader->at = reader->end;
	return false;
}

/* The tenth byte holds one bit: more would not fit into 64. */
static bool read_long_varint(struct proto_reader *reader, uint64_t *out)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70 && reader->at < reader->end; shift += 7) {
		unsigned char byte = (unsigned char)*reader->at++;

		if (shift == 63 && byte > 1)
			return broken(reader);
		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128) {
			*out = value;
			return true;
		}
	}
	return broken(reader);
}

/* Mostly it is one byte. */
static inline bool read_varint(struct proto_reader *reader, uint64_t *out)
{
	if (reader->at < reader->end && (unsigned char)*reader->at < 128) {
		*out = (unsigned char)*reader->at++;
		return true;
	}
	return read_long_varint(reader, out);
}

static bool read_fixed(struct proto_reader *reader, size_t bytes, uint64_t *out)
{
	uint64_t bits = 0;

	if ((size_t)(reader->end - reader->at) < bytes)
		return broken(reader);
	for (size_t i = 0; i < bytes; i++)
		bits |= (uint64_t)(unsigned char)*reader->at++ << (8 * i);
	*out = bits;
	return true;
}

static inline bool read_bytes(struct proto_reader *reader, struct span *out)
{
	uint64_t len;

	if (!read_varint(reader, &len))
		return false;
	if (len > (uint64_t)(reader->end - reader->at))
		return broken(reader);
	*out = span_make(reader->at, (size_t)len);
	reader->at += len;
	return true;
}

static inline bool read_tag(struct proto_reader *reader, struct proto_field *out)
{
	uint64_t tag;

	if (!read_varint(reader, &tag))
		return false;
	if (tag >> 3 == 0 || tag >> 3 > PROTO_NUMBER_MAX || (tag & 7) > WIRE_FIXED32)
		return broken(reader);
	out->number = (uint32_t)(tag >> 3);
	out->wire = (enum wire)(tag & 7);
	return true;
}

static inline bool read_value(struct proto_reader *reader, struct proto_field *out)
{
	uint64_t value = 0;
	struct span bytes = { NULL, 0 };
	bool is_fine;

	if (out->wire == WIRE_VARINT)
		is_fine = read_varint(reader, &value);
	else if (out->wire == WIRE_BYTES)
		is_fine = read_bytes(reader, &bytes);
	else
		is_fine = read_fixed(reader, out->wire == WIRE_FIXED64 ? 8 : 4, &value);
	out->value = value;
	out->bytes = bytes;
	return is_fine;
}

/* Up to the end that fits: a group may hold groups. Their numbers are kept, since each end must be that of the innermost. */
static bool read_group(struct proto_reader *reader, struct proto_field *group)
{
	uint32_t open[PROTO_DEPTH];
	unsigned depth = 0;
	const char *start = reader->at, *last;
	struct proto_field field;

	if (!reader->depth)
		return broken(reader);
	open[depth++] = group->number;
	while (depth) {
		last = reader->at;
		if (!read_tag(reader, &field))
			return false;
		if (field.wire == WIRE_GROUP_END) {
			if (field.number != open[--depth])
				return broken(reader);
		} else if (field.wire == WIRE_GROUP) {
			if (depth == reader->depth)
				return broken(reader);
			open[depth++] = field.number;
		} else if (!read_value(reader, &field)) {
			return false;
		}
	}
	group->bytes = span_make(start, (size_t)(last - start));
	group->value = 0;
	return true;
}

static bool next_group(struct proto_reader *reader, const struct proto_field *head, struct proto_field *out)
{
	struct proto_field group = *head;

	if (!read_group(reader, &group))
		return false;
	*out = group;
	return true;
}

/* Member by member: a copy as a whole would wait for the stores of its parts. */
bool proto_next(struct proto_reader *reader, struct proto_field *out)
{
	struct proto_field field;

	if (reader->is_broken || reader->at >= reader->end || !read_tag(reader, &field))
		return false;
	if (field.wire == WIRE_GROUP_END)
		return broken(reader);
	if (field.wire == WIRE_GROUP)
		return next_group(reader, &(struct proto_field){ .number = field.number, .wire = field.wire }, out);
	if (!read_value(reader, &field))
		return false;
	out->number = field.number;
	out->wire = field.wire;
	out->value = field.value;
	out->bytes.at = field.bytes.at;
	out->bytes.len = field.bytes.len;
	return true;
}

struct proto_reader proto_enter(struct proto_reader *outer, const struct proto_field *field)
{
	struct proto_reader inner = proto_open(field->bytes);

	if ((field->wire != WIRE_BYTES && field->wire != WIRE_GROUP) || !outer->depth) {
		broken(outer);
		inner = proto_open(span_make(NULL, 0));
		inner.is_broken = true;
		return inner;
	}
	inner.depth = outer->depth - 1;
	return inner;
}

bool proto_leave(struct proto_reader *outer, const struct proto_reader *inner)
{
	return !inner->is_broken || broken(outer);
}

uint64_t proto_uint64(const struct proto_field *field)
{
	return field->wire == WIRE_VARINT || field->wire == WIRE_FIXED64 || field->wire == WIRE_FIXED32 ? field->value : 0;
}

int64_t proto_int64(const struct proto_field *field)
{
	return (int64_t)proto_uint64(field);
}

int32_t proto_int32(const struct proto_field *field)
{
	return (int32_t)(uint32_t)proto_uint64(field);
}

int64_t proto_sint64(const struct proto_field *field)
{
	return field->wire == WIRE_VARINT ? wire_unzigzag(field->value) : 0;
}

bool proto_bool(const struct proto_field *field)
{
	return field->wire == WIRE_VARINT && field->value != 0;
}

double proto_double(const struct proto_field *field)
{
	double value = 0;

	if (field->wire == WIRE_FIXED64)
		memcpy(&value, &field->value, sizeof(value));
	return value;
}

float proto_float(const struct proto_field *field)
{
	uint32_t bits = (uint32_t)field->value;
	float value = 0;

	if (field->wire == WIRE_FIXED32)
		memcpy(&value, &bits, sizeof(value));
	return value;
}

struct span proto_bytes(const struct proto_field *field)
{
	return field->wire == WIRE_BYTES ? field->bytes : span_make(NULL, 0);
}

bool proto_element(struct proto_reader *reader, const struct proto_field *field, enum wire wire, size_t *cursor,
                   uint64_t *out)
{
	struct proto_reader packed = proto_open(field->bytes);
	struct proto_field element = { .wire = wire };

	if (field->wire != WIRE_BYTES) {
		if (field->wire != wire || *cursor > 0)
			return false;
		*cursor = 1;
		*out = field->value;
		return true;
	}
	packed.at += *cursor;
	if (packed.at >= packed.end)
		return false;
	if (wire == WIRE_BYTES || !read_value(&packed, &element))
		return broken(reader);
	*cursor = field->bytes.len - (size_t)(packed.end - packed.at);
	*out = element.value;
	return true;
}

bool proto_time(struct proto_reader *outer, const struct proto_field *field, struct proto_time *out)
{
	struct proto_reader inner = proto_enter(outer, field);
	struct proto_time made = { 0 };
	struct proto_field part;

	while (proto_next(&inner, &part)) {
		if (part.number == 1)
			made.seconds = proto_int64(&part);
		else if (part.number == 2)
			made.nanos = proto_int32(&part);
	}
	if (!proto_leave(outer, &inner))
		return false;
	*out = made;
	return true;
}
