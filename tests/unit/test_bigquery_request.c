/* Requests of the Storage Write API: the descriptor that tells how rows are read, which rows go into one request, its bytes. */
#include "sink/bigquery_append_private.h"

#include "google/proto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Behind our headers: its fail() is a macro. */
#include <cmocka.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/*
 * Descriptors, as lines: "number name label type [type name] [column name]", what is nested behind its message
 */

enum { MESSAGE_NAME = 1, MESSAGE_FIELD = 2, MESSAGE_NESTED = 3 };
#define COLUMN_NAME_OPTION 454943157

static void name_print(struct proto_reader reader, struct text *out)
{
	struct proto_field field;

	while (proto_next(&reader, &field)) {
		assert_int_equal(field.number, COLUMN_NAME_OPTION);
		text_add(out, " column=");
		text_add_span(out, proto_bytes(&field));
	}
}

static void field_print(struct proto_reader reader, struct text *out)
{
	struct span name = { 0 }, type_name = { 0 };
	uint64_t number = 0, label = 0, type = 0;
	OWNED(text) option = text_new(4096);
	struct proto_field field;

	while (proto_next(&reader, &field)) {
		switch (field.number) {
		case 1: name = proto_bytes(&field); break;
		case 3: number = proto_uint64(&field); break;
		case 4: label = proto_uint64(&field); break;
		case 5: type = proto_uint64(&field); break;
		case 6: type_name = proto_bytes(&field); break;
		case 8: name_print(proto_enter(&reader, &field), option); break;
		default: fail_msg("field %u of a FieldDescriptorProto", field.number);
		}
	}
	text_add_format(out, "%d %.*s %d %d", (int)number, SPAN_ARG(name), (int)label, (int)type);
	if (type_name.len)
		text_add_format(out, " %.*s", SPAN_ARG(type_name));
	text_add_span(out, text_span(option));
	text_add(out, "; ");
}

static void message_print(struct proto_reader reader, struct text *out)
{
	struct proto_field field;

	while (proto_next(&reader, &field)) {
		if (field.number == MESSAGE_NAME)
			text_add_format(out, "%.*s { ", SPAN_ARG(proto_bytes(&field)));
		else if (field.number == MESSAGE_FIELD)
			field_print(proto_enter(&reader, &field), out);
		else if (field.number == MESSAGE_NESTED)
			message_print(proto_enter(&reader, &field), out);
		else
			fail_msg("field %u of a DescriptorProto", field.number);
	}
	text_add(out, "} ");
}

static void descriptor_is(const struct table_field *fields, size_t count, const char *expected)
{
	struct table_shape shape = { .fields = fields, .count = count };
	struct arena *arena = arena_new(4096);
	OWNED(text) out = text_new(16384);

	message_print(proto_open(descriptor_make(arena, &shape)), out);
	assert_string_equal(out->at, expected);
	arena_free(arena);
}

static void each_kind_has_its_protobuf_type(void **state)
{
	static const struct {
		enum bq_kind kind;
		int type;
	} kinds[] = {
		{ BQ_STRING, 9 }, { BQ_INT64, 3 }, { BQ_FLOAT64, 1 }, { BQ_BOOL, 8 }, { BQ_BYTES, 12 }, { BQ_NUMERIC, 9 }, { BQ_BIGNUMERIC, 9 },
		{ BQ_DATE, 5 }, { BQ_TIME, 3 }, { BQ_DATETIME, 3 }, { BQ_TIMESTAMP, 3 }, { BQ_INTERVAL, 9 }, { BQ_JSON, 9 }, { BQ_GEOGRAPHY, 9 },
	};
	char expected[80];

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct table_field field = { .name = { "c", 1 }, .kind = kinds[i].kind, .number = 536870911 };

		snprintf(expected, sizeof(expected), "Row { 536870911 c 1 %d; } ", kinds[i].type);
		descriptor_is(&field, 1, expected);
		field.is_array = true;
		snprintf(expected, sizeof(expected), "Row { 536870911 c 3 %d; } ", kinds[i].type);
		descriptor_is(&field, 1, expected);
	}
}

/* Numbers are those of the shape, also where some were left out; messages stand in the one that has the field. */
static void records_and_ranges_are_messages_within(void **state)
{
	static const struct table_field inner[] = { { .name = { "x", 1 }, .kind = BQ_INT64, .number = 1 },
		                                    { .name = { "days", 4 }, .kind = BQ_RANGE_DATE, .number = 3 } };
	static const struct table_field outer[] = { { .name = { "deep", 4 }, .kind = BQ_STRUCT, .number = 2, .fields = inner, .field_count = 2 } };
	static const struct table_field fields[] = {
		{ .name = { "id", 2 }, .kind = BQ_INT64, .number = 1 },
		{ .name = { "list", 4 }, .kind = BQ_STRUCT, .is_array = true, .number = 4, .fields = outer, .field_count = 1 },
		{ .name = { "when", 4 }, .kind = BQ_RANGE_TIMESTAMP, .is_array = true, .number = 9 },
	};

	(void)state;
	descriptor_is(fields, COUNT(fields),
	              "Row { 1 id 1 3; 4 list 3 11 __ROOT__4; 9 when 3 11 __ROOT__9; "
	              "__ROOT__4 { 2 deep 1 11 __ROOT__2; __ROOT__2 { 1 x 1 3; 3 days 1 11 __ROOT__3; "
	              "__ROOT__3 { 1 start 1 5; 2 end 1 5; } } } __ROOT__9 { 1 start 1 3; 2 end 1 3; } } ");
}

static void names_that_protobuf_has_not_stand_in_an_option(void **state)
{
	static const struct table_field fields[] = { { .name = { "a b", 3 }, .kind = BQ_STRING, .number = 1 },
		                                     { .name = { "1st", 3 }, .kind = BQ_STRING, .number = 2 },
		                                     { .name = { "\xc3\xa9\xc3\xbf\xc3\xbe", 6 }, .kind = BQ_STRING, .number = 3 },
		                                     { .name = { "_a1", 3 }, .kind = BQ_STRING, .number = 4 } };

	(void)state;
	descriptor_is(fields, COUNT(fields),
	              "Row { 1 col_c8687a08aa5d6ed2044328fa6a697ab8 1 9 column=a b; 2 col_e01ddf6594a4387bbf520e7d67857815 1 9 column=1st; "
	              "3 col_1baa6db388bfc32123beae5fc9d68db9 1 9 column=\xc3\xa9\xc3\xbf\xc3\xbe; 4 _a1 1 9; } ");
}

/*
 * Requests
 */

struct rig {
	struct bigquery sink;
	struct append append;
	struct bigquery_table table;
	struct bigquery_part part;
	struct request_list list;
	uint32_t records[64];
	char *bytes;
};

/* Rows of an append table, which have no column of ours: so many bytes each. */
static void rig_open(struct rig *rig, bool is_exactly_once, const size_t *sizes, size_t count)
{
	static char path[] = "projects/p/datasets/d/tables/t";
	size_t most = 1;

	*rig = (struct rig){ .append = { .sink = &rig->sink, .batch = batch_new(), .is_exactly_once = is_exactly_once }, .table = { .path = path } };
	rig->sink.books.is_append = true;
	for (size_t i = 0; i < count; i++)
		most = sizes[i] > most ? sizes[i] : most;
	rig->bytes = memory_zalloc(most);
	for (size_t i = 0; i < count; i++) {
		struct record *record = batch_add_record(rig->append.batch, batch_add_message(rig->append.batch));

		record->proto = span_make(rig->bytes, sizes[i]);
		rig->records[i] = (uint32_t)i;
	}
	rig->part = (struct bigquery_part){ .table = &rig->table, .records = rig->records, .count = count, .descriptor = SPAN("DESCRIPTOR") };
	list_clear(&rig->list);
}

static void rig_close(struct rig *rig)
{
	batch_free(rig->append.batch);
	free(rig->bytes);
}

#define PREFIX_BYTES 5 /* of gRPC, in front of each message */

/* Counts of rows, one a request. */
static void requests_are(struct rig *rig, const size_t *counts, size_t count)
{
	struct request *request = rig->list.first;

	for (size_t i = 0; i < count; i++, request = request->next) {
		assert_non_null(request);
		assert_int_equal(request->count, counts[i]);
	}
	assert_null(request);
}

#define MIB ((size_t)1 << 20)

static void requests_are_closed_by_bytes(void **state)
{
	static const size_t small[] = { 1, 1, 1 }, halves[] = { MIB, MIB, MIB, 3 * MIB, 1, 2 * MIB - 7, 1 };
	struct rig rig;

	(void)state;
	rig_open(&rig, false, small, COUNT(small));
	requests_make(&rig.append, &rig.part, &rig.list);
	requests_are(&rig, (size_t[]){ 3 }, 1);
	assert_int_equal(rig.list.first->bytes, 9); /* a tag, a length and a byte each */
	rig_close(&rig);
	/* One that is larger than where requests are closed goes alone; tags and lengths count: the last but one is a request full. */
	rig_open(&rig, false, halves, COUNT(halves));
	requests_make(&rig.append, &rig.part, &rig.list);
	requests_are(&rig, (size_t[]){ 1, 1, 1, 1, 2, 1 }, 6);
	rig_close(&rig);
	/* Exactly once one request is on its way at a time, and takes more. */
	rig_open(&rig, true, halves, COUNT(halves));
	requests_make(&rig.append, &rig.part, &rig.list);
	requests_are(&rig, (size_t[]){ 7 }, 1);
	rig_close(&rig);
}

/* Of its request the others go on; the largest row that BigQuery takes is one by itself. */
static void a_row_that_is_too_large_is_a_letter_alone(void **state)
{
	static const size_t sizes[] = { 10, APPEND_ROW_BYTES_MAX, APPEND_ROW_BYTES_MAX - 5, 10, 0 };
	struct rig rig;
	struct record *records;

	(void)state;
	rig_open(&rig, false, sizes, COUNT(sizes));
	records = rig.append.batch->records;
	requests_make(&rig.append, &rig.part, &rig.list);
	requests_are(&rig, (size_t[]){ 1, 1, 2 }, 3);
	assert_int_equal(records[1].verdict, VERDICT_REFUSED);
	assert_string_equal(records[1].refusal->code, "row_too_large");
	for (size_t i = 0; i < COUNT(sizes); i++)
		assert_int_equal(records[i].verdict, i == 1 ? VERDICT_REFUSED : VERDICT_PENDING);
	rig_close(&rig);
}

static void halves_and_what_is_left_keep_their_rows(void **state)
{
	static const size_t sizes[] = { 1, 200, 3, 4, 5 };
	struct rig rig;
	struct request *request, *rest;

	(void)state;
	rig_open(&rig, false, sizes, COUNT(sizes));
	requests_make(&rig.append, &rig.part, &rig.list);
	request = list_take(&rig.list, &rig.list.first);
	assert_null(rig.list.first);
	assert_ptr_equal(rig.list.end, &rig.list.first);
	rest = request_split(&rig.append, request);
	assert_int_equal(request->count, 2);
	assert_int_equal(request->bytes, 3 + 203);
	assert_int_equal(rest->count, 3);
	assert_int_equal(rest->records[0], 2);
	assert_int_equal(rest->bytes, 5 + 6 + 7);
	rig.append.batch->records[3].verdict = VERDICT_REFUSED;
	assert_true(request_sieve(&rig.append, rest));
	assert_int_equal(rest->count, 2);
	assert_int_equal(rest->records[1], 4);
	assert_int_equal(rest->bytes, 5 + 7);
	rig.append.batch->records[2].verdict = rig.append.batch->records[4].verdict = VERDICT_WRITTEN;
	assert_false(request_sieve(&rig.append, rest));
	rig_close(&rig);
}

/* Stream, rows and, where the connection does not know them yet, descriptor, name of the writer and what columns get that the
 * descriptor has not: their default. */
static void message_is(const struct rig *rig, bool has_schema)
{
	struct grpc_message *message = request_message((struct append *)&rig->append, rig->list.first, has_schema);
	struct proto_reader reader = proto_open(span_make(message->bytes + PREFIX_BYTES, message->len - PREFIX_BYTES)), data, rows;
	struct proto_field field, inner, row;
	unsigned seen = 0, row_count = 0;

	while (proto_next(&reader, &field)) {
		seen |= 1u << field.number;
		if (field.number == 1)
			assert_true(span_is(proto_bytes(&field), "projects/p/datasets/d/tables/t/streams/_default"));
		if (field.number == 6)
			assert_true(span_is(proto_bytes(&field), "weir"));
		if (field.number == 8)
			assert_int_equal(proto_uint64(&field), 2);
		if (field.number != 4)
			continue;
		data = proto_enter(&reader, &field);
		while (proto_next(&data, &inner)) {
			seen |= 0x10000u << inner.number;
			rows = proto_enter(&data, &inner);
			while (inner.number == 2 && proto_next(&rows, &row))
				assert_int_equal(proto_bytes(&row).len, ++row_count * 100);
		}
	}
	assert_int_equal(row_count, 3);
	assert_int_equal(seen, has_schema ? (1u << 1 | 1u << 4 | 1u << 6 | 1u << 8 | 0x10000u << 1 | 0x10000u << 2) : (1u << 1 | 1u << 4 | 0x10000u << 2));
	grpc_message_free(message);
}

static void a_message_tells_its_schema_once(void **state)
{
	static const size_t sizes[] = { 100, 200, 300 };
	struct rig rig;

	(void)state;
	rig_open(&rig, false, sizes, COUNT(sizes));
	requests_make(&rig.append, &rig.part, &rig.list);
	message_is(&rig, true);
	message_is(&rig, false);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_has_its_protobuf_type),
		cmocka_unit_test(records_and_ranges_are_messages_within),
		cmocka_unit_test(names_that_protobuf_has_not_stand_in_an_option),
		cmocka_unit_test(requests_are_closed_by_bytes),
		cmocka_unit_test(a_row_that_is_too_large_is_a_letter_alone),
		cmocka_unit_test(halves_and_what_is_left_keep_their_rows),
		cmocka_unit_test(a_message_tells_its_schema_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
