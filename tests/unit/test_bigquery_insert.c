/* Rows of insertAll: each type at its extremes says in JSON what its protobuf says, and nothing that is not there. */
#include "sink/bigquery_insert_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct value_case {
	enum bq_kind kind;
	struct cell cell;
	const char *json;
} cases[] = {
	{ BQ_INT64, { .kind = CELL_INT, .number = INT64_MIN }, "\"-9223372036854775808\"" },
	{ BQ_INT64, { .kind = CELL_INT, .number = INT64_MAX }, "\"9223372036854775807\"" },
	{ BQ_BOOL, { .kind = CELL_INT, .number = 1 }, "true" },
	{ BQ_BOOL, { .kind = CELL_INT, .number = 0 }, "false" },
	{ BQ_FLOAT64, { .kind = CELL_REAL, .real = 0.1 }, "0.10000000000000001" },
	{ BQ_FLOAT64, { .kind = CELL_REAL, .real = 1e300 }, "1.0000000000000001e+300" },
	{ BQ_FLOAT64, { .kind = CELL_REAL, .real = -__builtin_inf() }, "\"-Infinity\"" },
	{ BQ_FLOAT64, { .kind = CELL_REAL, .real = __builtin_nan("") }, "\"NaN\"" },
	{ BQ_DATE, { .kind = CELL_INT, .number = -719162 }, "\"0001-01-01\"" },
	{ BQ_DATE, { .kind = CELL_INT, .number = 2932896 }, "\"9999-12-31\"" },
	{ BQ_TIME, { .kind = CELL_INT, .number = 86399999999 }, "\"23:59:59.999999\"" },
	{ BQ_TIME, { .kind = CELL_INT, .number = 0 }, "\"00:00:00\"" },
	{ BQ_DATETIME, { .kind = CELL_INT, .number = -62135596800000000 }, "\"0001-01-01T00:00:00\"" },
	{ BQ_DATETIME, { .kind = CELL_INT, .number = 253402300799999999 }, "\"9999-12-31T23:59:59.999999\"" },
	{ BQ_TIMESTAMP, { .kind = CELL_INT, .number = 253402300799999999 }, "\"9999-12-31 23:59:59.999999+00\"" },
	{ BQ_TIMESTAMP, { .kind = CELL_INT, .number = -1 }, "\"1969-12-31 23:59:59.999999+00\"" },
	{ BQ_NUMERIC, { .kind = CELL_TEXT, .text = { "-0.000000001", 12 } }, "\"-0.000000001\"" },
	{ BQ_STRING, { .kind = CELL_TEXT, .text = { "a\"\\\n\xc3\xa9", 6 } }, "\"a\\\"\\\\\\u000a\xc3\xa9\"" },
	{ BQ_JSON, { .kind = CELL_TEXT, .text = { "{\"a\":1}", 7 } }, "\"{\\\"a\\\":1}\"" },
	{ BQ_INTERVAL, { .kind = CELL_TEXT, .text = { "1-2 3 -4:5:6", 12 } }, "\"1-2 3 -4:5:6\"" },
	{ BQ_GEOGRAPHY, { .kind = CELL_TEXT, .text = { "POINT(-180 90)", 14 } }, "\"POINT(-180 90)\"" },
	{ BQ_RANGE_DATE, { .kind = CELL_TEXT, .text = { "[0001-01-01, 9999-12-31)", 24 } }, "\"[0001-01-01, 9999-12-31)\"" },
	{ BQ_RANGE_DATE, { .kind = CELL_TEXT, .text = { "[UNBOUNDED, UNBOUNDED)", 22 } }, "\"[UNBOUNDED, UNBOUNDED)\"" },
	{ BQ_RANGE_DATETIME, { .kind = CELL_TEXT, .text = { "[0001-01-01T00:00:00, 9999-12-31T23:59:59.999999)", 49 } },
	  "\"[0001-01-01T00:00:00, 9999-12-31T23:59:59.999999)\"" },
	{ BQ_RANGE_TIMESTAMP, { .kind = CELL_TEXT, .text = { "[UNBOUNDED, 9999-12-31 23:59:59.999999+00)", 42 } },
	  "\"[UNBOUNDED, 9999-12-31 23:59:59.999999+00)\"" },
	{ BQ_BYTES, { .kind = CELL_BYTES, .text = { "\0\xff\x01\x02", 4 } }, "\"AP8BAg==\"" },
};

static const char *json_of(struct span message, const struct table_field *fields, size_t count, char room[1000])
{
	OWNED(text) out = text_new(1000);

	row_json_members(out, proto_open(message), fields, count);
	snprintf(room, 1000, "%s", out->at);
	return room;
}

static void each_type_has_the_text_that_the_json_api_takes(void **state)
{
	char bytes[200], room[1000], expected[1000];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct bq_type type = { .kind = cases[i].kind };
		struct table_field field = { .name = { "v", 1 }, .kind = cases[i].kind, .number = 3 };
		char *end = cell_proto(&cases[i].cell, &type, 3, bytes);

		snprintf(expected, sizeof(expected), "\"v\":%s", cases[i].json);
		assert_string_equal(json_of(span_make(bytes, (size_t)(end - bytes)), &field, 1, room), expected);
	}
}

/* NULL is a member that is not there; arrays and records are nested as they are written. */
static void arrays_and_records_are_nested(void **state)
{
	static const struct bq_field inner[] = { { { "x", 1 }, { .kind = BQ_INT64 } }, { { "tags", 4 }, { .kind = BQ_STRING, .is_array = true } } };
	static const struct table_field fields_of[] = { { .name = { "x", 1 }, .kind = BQ_INT64, .number = 1 },
		                                        { .name = { "tags", 4 }, .kind = BQ_STRING, .is_array = true, .number = 2 } };
	static const struct table_field fields[] = {
		{ .name = { "list", 4 }, .kind = BQ_INT64, .is_array = true, .number = 1 },
		{ .name = { "none", 4 }, .kind = BQ_STRING, .number = 2 },
		{ .name = { "records", 7 }, .kind = BQ_STRUCT, .is_array = true, .number = 3, .fields = fields_of, .field_count = 2 },
		{ .name = { "last", 4 }, .kind = BQ_BOOL, .number = 7 },
	};
	const struct bq_type list = { .kind = BQ_INT64, .is_array = true }, truth = { .kind = BQ_BOOL };
	const struct bq_type records = { .kind = BQ_STRUCT, .is_array = true, .fields = inner, .field_count = 2 };
	const struct cell numbers = { .kind = CELL_JSON, .text = span_of("[1,2]") }, yes = { .kind = CELL_INT, .number = 1 };
	const struct cell rows = { .kind = CELL_JSON, .text = span_of("[{\"x\":1,\"tags\":[\"a\",\"b\"]},{\"x\":2,\"tags\":[]}]") };
	char bytes[400], room[1000], *at = bytes;

	(void)state;
	at = cell_proto(&numbers, &list, 1, at);
	at = cell_proto(&rows, &records, 3, at);
	at = cell_proto(&yes, &truth, 7, at);
	assert_string_equal(json_of(span_make(bytes, (size_t)(at - bytes)), fields, COUNT(fields), room),
	                    "\"list\":[\"1\",\"2\"],\"records\":[{\"x\":\"1\",\"tags\":[\"a\",\"b\"]},{\"x\":\"2\"}],\"last\":true");
	assert_string_equal(json_of(span_make(bytes, 0), fields, COUNT(fields), room), "");
}

static void small_bodies_are_not_packed_and_large_ones_shrink(void **state)
{
	OWNED(text) body = text_new(100000);
	OWNED(text) packed = text_new(100000);

	(void)state;
	assert_false(insert_gzip(span_of("{}"), packed));
	for (int i = 0; i < 1000; i++)
		text_add_format(body, "{\"insertId\":\"%d\",\"json\":{}},", i);
	assert_true(insert_gzip(text_span(body), packed));
	assert_true(packed->len < body->len / 3);
	assert_memory_equal(packed->at, "\x1f\x8b", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_has_the_text_that_the_json_api_takes),
		cmocka_unit_test(arrays_and_records_are_nested),
		cmocka_unit_test(small_bodies_are_not_packed_and_large_ones_shrink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
