/*
 * A row's protobuf as insertAll's JSON. Rows have one form (Storage Write's), so
 * both ways to BigQuery write the same: here each value gets the text that the JSON
 * API takes (spec/types.md 1), all numbers that a double would round as strings.
 *
 * Fields come as they were written: those of one array together.
 */
#include "sink/bigquery_insert_private.h"

#include "base/clean.h"
#include "base/hash.h"
#include "google/proto.h"

#include <inttypes.h>
#include <math.h>

/* Packed civil times (apis-grpc 6.3), lowest bits first. */
static int64_t clock_unpack(uint64_t packed)
{
	uint64_t us = packed & 0xFFFFF, seconds = packed >> 20;

	return (int64_t)(((seconds >> 12 & 31) * 3600 + (seconds >> 6 & 63) * 60 + (seconds & 63)) * 1000000 + us);
}

static void clock_add(struct text *out, int64_t us)
{
	int64_t seconds = us / 1000000;

	text_add_format(out, "%02d:%02d:%02d", (int)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60));
	if (us % 1000000)
		text_add_format(out, ".%06d", (int)(us % 1000000));
}

static void datetime_add(struct text *out, uint64_t packed)
{
	uint64_t day = packed >> 37;

	text_add_format(out, "%04u-%02u-%02uT", (unsigned)(day >> 9), (unsigned)(day >> 5 & 15), (unsigned)(day & 31));
	clock_add(out, clock_unpack(packed & ((UINT64_C(1) << 37) - 1)));
}

/* Days and instants have canonical texts already, which BigQuery reads. */
static void cell_add(struct text *out, enum bq_kind kind, const struct cell *cell)
{
	struct bq_type type = { .kind = kind };
	struct arena *arena = arena_new(128);
	struct span text;

	if (cell_text(cell, &type, arena, &text))
		text_add_span(out, text);
	arena_free(arena);
}

static void base64_add(struct text *out, struct span bytes)
{
	char piece[4 * 256 + 1];

	text_add_char(out, '"');
	for (size_t at = 0; at < bytes.len; at += 3 * 256) {
		size_t len = bytes.len - at < 3 * 256 ? bytes.len - at : 3 * 256;

		text_add_span(out, span_make(piece, base64_encode(span_make(bytes.at + at, len), piece)));
	}
	text_add_char(out, '"');
}

/*
 * A reader of each kind
 */
static void add_text(struct text *out, enum bq_kind kind, const struct proto_field *field)
{
	(void)kind;
	json_quote(out, proto_bytes(field));
}

static void add_int(struct text *out, enum bq_kind kind, const struct proto_field *field)
{
	(void)kind;
	text_add_format(out, "\"%" PRId64 "\"", proto_int64(field));
}

static void add_bool(struct text *out, enum bq_kind kind, const struct proto_field *field)
{
	(void)kind;
	text_add(out, proto_bool(field) ? "true" : "false");
}

static void add_real(struct text *out, enum bq_kind kind, const struct proto_field *field)
{
	double real = proto_double(field);

	(void)kind;
	if (isnan(real) || isinf(real))
		text_add(out, isnan(real) ? "\"NaN\"" : real < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	else
		text_add_format(out, "%.17g", real);
}

static void add_bytes(struct text *out, enum bq_kind kind, const struct proto_field *field)
{
	(void)kind;
	base64_add(out, proto_bytes(field));
}

static void add_time(struct text *out, enum bq_kind kind, const struct proto_field *field)
{
	(void)kind;
	text_add_char(out, '"');
	clock_add(out, clock_unpack(proto_uint64(field)));
	text_add_char(out, '"');
}

static void add_datetime(struct text *out, enum bq_kind kind, const struct proto_field *field)
{
	(void)kind;
	text_add_char(out, '"');
	datetime_add(out, proto_uint64(field));
	text_add_char(out, '"');
}

static void add_moment(struct text *out, enum bq_kind kind, const struct proto_field *field)
{
	text_add_char(out, '"');
	cell_add(out, kind, &(struct cell){ .kind = CELL_INT, .number = proto_int64(field) });
	text_add_char(out, '"');
}

static void end_add(struct text *out, enum bq_kind element, const struct proto_field *field, bool is_there)
{
	if (!is_there)
		text_add(out, "UNBOUNDED");
	else if (element == BQ_DATETIME)
		datetime_add(out, proto_uint64(field));
	else
		cell_add(out, element, &(struct cell){ .kind = CELL_INT, .number = proto_int64(field) });
}

static void add_range(struct text *out, enum bq_kind kind, const struct proto_field *field)
{
	struct proto_reader reader = proto_open(proto_bytes(field));
	struct proto_field each, ends[RANGE_END + 1];
	bool is_there[RANGE_END + 1] = { false };

	while (proto_next(&reader, &each)) {
		if (each.number != RANGE_START && each.number != RANGE_END)
			continue;
		ends[each.number] = each;
		is_there[each.number] = true;
	}
	text_add(out, "\"[");
	end_add(out, bq_range_element(kind), &ends[RANGE_START], is_there[RANGE_START]);
	text_add(out, ", ");
	end_add(out, bq_range_element(kind), &ends[RANGE_END], is_there[RANGE_END]);
	text_add(out, ")\"");
}

static void (*const adders[BQ_KINDS])(struct text *out, enum bq_kind kind, const struct proto_field *field) = {
	[BQ_STRING] = add_text, [BQ_INT64] = add_int, [BQ_FLOAT64] = add_real, [BQ_BOOL] = add_bool, [BQ_BYTES] = add_bytes,
	[BQ_NUMERIC] = add_text, [BQ_BIGNUMERIC] = add_text, [BQ_DATE] = add_moment, [BQ_TIME] = add_time,
	[BQ_DATETIME] = add_datetime, [BQ_TIMESTAMP] = add_moment, [BQ_INTERVAL] = add_text, [BQ_JSON] = add_text,
	[BQ_GEOGRAPHY] = add_text, [BQ_RANGE_DATE] = add_range, [BQ_RANGE_DATETIME] = add_range, [BQ_RANGE_TIMESTAMP] = add_range,
};

/* Numbers are those of the shape's order but where a field was left out. */
static const struct table_field *field_of(const struct table_field *fields, size_t count, uint32_t number)
{
	size_t at = number < count ? number : count;

	while (at > 0 && fields[at - 1].number > number)
		at--;
	return at > 0 && fields[at - 1].number == number ? &fields[at - 1] : NULL;
}

static void value_add(struct text *out, struct proto_reader *reader, const struct table_field *field, const struct proto_field *value)
{
	if (field->kind != BQ_STRUCT) {
		adders[field->kind](out, field->kind, value);
		return;
	}
	text_add_char(out, '{');
	row_json_members(out, proto_enter(reader, value), field->fields, field->field_count);
	text_add_char(out, '}');
}

/* Gives whether anything was written: what follows needs a comma. */
bool row_json_members(struct text *out, struct proto_reader reader, const struct table_field *fields, size_t count)
{
	const struct table_field *open = NULL; /* an array whose elements come */
	bool is_first = true;
	struct proto_field value;

	while (proto_next(&reader, &value)) {
		const struct table_field *field = field_of(fields, count, value.number);

		if (!field)
			continue;
		if (open && open != field)
			text_add_char(out, ']');
		if (open != field || !field->is_array) {
			text_add(out, is_first ? "" : ",");
			json_quote(out, field->name);
			text_add(out, field->is_array ? ":[" : ":");
		} else {
			text_add_char(out, ',');
		}
		is_first = false;
		value_add(out, &reader, field, &value);
		open = field->is_array ? field : NULL;
	}
	if (open)
		text_add_char(out, ']');
	return !is_first;
}
