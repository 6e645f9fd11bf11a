/*
 * A table's shape as a DescriptorProto, which tells BigQuery how to read our rows
 * (spec: apis-grpc 6.3): one message, those of RECORDs within it, proto2 rules.
 */
#include "sink/bigquery_private.h"

#include "base/hash.h"

#define DESCRIPTOR_BYTES_MAX ((size_t)4 << 20)
#define COLUMN_NAME_OPTION 454943157 /* google.cloud.bigquery.storage.v1.column_name */
#define NAME_ROOM 256
#define FLEXIBLE_DIGITS 32 /* two of a table are never the same */

/* Fields of google.protobuf.DescriptorProto, FieldDescriptorProto and FieldOptions. */
enum { MESSAGE_NAME = 1, MESSAGE_FIELD = 2, MESSAGE_NESTED = 3 };
enum { FIELD_NAME = 1, FIELD_NUMBER = 3, FIELD_LABEL = 4, FIELD_TYPE = 5, FIELD_TYPE_NAME = 6, FIELD_OPTIONS = 8 };
enum { LABEL_OPTIONAL = 1, LABEL_REPEATED = 3 };
enum { TYPE_DOUBLE = 1, TYPE_INT64 = 3, TYPE_INT32 = 5, TYPE_BOOL = 8, TYPE_STRING = 9, TYPE_MESSAGE = 11, TYPE_BYTES = 12 };

/* As cell_proto writes them (record/type_proto.c). */
static const uint8_t proto_types[BQ_KINDS] = {
	[BQ_STRING] = TYPE_STRING,     [BQ_INT64] = TYPE_INT64,         [BQ_FLOAT64] = TYPE_DOUBLE,
	[BQ_BOOL] = TYPE_BOOL,         [BQ_BYTES] = TYPE_BYTES,         [BQ_NUMERIC] = TYPE_STRING,
	[BQ_BIGNUMERIC] = TYPE_STRING, [BQ_DATE] = TYPE_INT32,          [BQ_TIME] = TYPE_INT64,
	[BQ_DATETIME] = TYPE_INT64,    [BQ_TIMESTAMP] = TYPE_INT64,     [BQ_INTERVAL] = TYPE_STRING,
	[BQ_JSON] = TYPE_STRING,       [BQ_GEOGRAPHY] = TYPE_STRING,    [BQ_STRUCT] = TYPE_MESSAGE,
	[BQ_RANGE_DATE] = TYPE_MESSAGE, [BQ_RANGE_DATETIME] = TYPE_MESSAGE, [BQ_RANGE_TIMESTAMP] = TYPE_MESSAGE,
};

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool is_identifier(struct span name)
{
	for (size_t i = 0; i < name.len; i++) {
		if (!is_letter(name.at[i]) && (!i || name.at[i] < '0' || name.at[i] > '9'))
			return false;
	}
	return name.len != 0;
}

/* A name that protobuf cannot have goes by another one and stands in an option. The other is made of its hash, in digits that
 * differ without their case too: names of a message's fields must. */
static void flexible_name(struct text *out, struct span name)
{
	unsigned char hash[SHA256_BYTES];
	char digits[SHA256_TEXT_BYTES];

	sha256(name, hash);
	sha256_text(hash, digits);
	text_add_format(out, "col_%.*s", FLEXIBLE_DIGITS, digits);
}

/* No column can have this name, so a field never stands in a message's way. */
static void message_name(struct text *out, const struct table_field *field)
{
	text_add_format(out, "__ROOT__%u", field->number);
}

static void field_put(struct text *out, const struct table_field *field)
{
	bool is_plain = is_identifier(field->name);
	size_t mark = proto_begin(out, MESSAGE_FIELD), options;
	OWNED(text) name = text_new(NAME_ROOM);

	if (!is_plain)
		flexible_name(name, field->name);
	proto_put_bytes(out, FIELD_NAME, is_plain ? field->name : text_span(name));
	proto_put_uint(out, FIELD_NUMBER, field->number);
	proto_put_uint(out, FIELD_LABEL, field->is_array ? LABEL_REPEATED : LABEL_OPTIONAL);
	proto_put_uint(out, FIELD_TYPE, proto_types[field->kind]);
	if (proto_types[field->kind] == TYPE_MESSAGE) {
		text_clear(name);
		message_name(name, field);
		proto_put_bytes(out, FIELD_TYPE_NAME, text_span(name));
	}
	if (!is_plain) {
		options = proto_begin(out, FIELD_OPTIONS);
		proto_put_bytes(out, COLUMN_NAME_OPTION, field->name);
		proto_end(out, options);
	}
	proto_end(out, mark);
}

static void message_put(struct text *out, const char *name, const struct table_field *fields, size_t count);

/* A RANGE is a message of its two ends, a STRUCT one of its fields. */
static void nested_put(struct text *out, const char *name, const struct table_field *field)
{
	enum bq_kind element = bq_range_element(field->kind);
	struct table_field ends[] = {
		{ .name = SPAN("start"), .kind = element, .number = RANGE_START },
		{ .name = SPAN("end"), .kind = element, .number = RANGE_END },
	};

	if (field->kind == BQ_STRUCT)
		message_put(out, name, field->fields, field->field_count);
	else
		message_put(out, name, ends, sizeof(ends) / sizeof(ends[0]));
}

static void message_put(struct text *out, const char *name, const struct table_field *fields, size_t count)
{
	proto_put_text(out, MESSAGE_NAME, name);
	for (size_t i = 0; i < count; i++)
		field_put(out, &fields[i]);
	for (size_t i = 0; i < count; i++) {
		OWNED(text) nested = text_new(64);
		size_t mark;

		if (proto_types[fields[i].kind] != TYPE_MESSAGE)
			continue;
		message_name(nested, &fields[i]);
		mark = proto_begin(out, MESSAGE_NESTED);
		nested_put(out, nested->at, &fields[i]);
		proto_end(out, mark);
	}
}

struct span descriptor_make(struct arena *arena, const struct table_shape *shape)
{
	OWNED(text) out = text_new(DESCRIPTOR_BYTES_MAX);

	message_put(out, "Row", shape->fields, shape->count);
	return arena_copy(arena, text_span(out));
}
