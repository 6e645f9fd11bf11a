/* The type table: plain types, text, bytes, JSON, nested values, placeholders, columns as text. */
#include "base/text.h"

#include "type_help.h"

static void whole_numbers_end_at_64_bits(void **state)
{
	static const struct type_case cases[] = {
		{ "int8", NULL, "127", "127", NULL },
		{ "int8", NULL, "-128", "-128", NULL },
		{ "int16", NULL, "-32768", "-32768", NULL },
		{ "int32", NULL, "2147483647", "2147483647", NULL },
		{ "int64", NULL, "9223372036854775807", "9223372036854775807", NULL },
		{ "int64", NULL, "-9223372036854775808", "-9223372036854775808", NULL },
		{ "int64", NULL, "9223372036854775808", "9223372036854775807", "integer_out_of_range" },
		{ "int64", NULL, "-9223372036854775809", "-9223372036854775808", "integer_out_of_range" },
		{ "int32", NULL, "1e3", "1000", NULL },
		{ "int32", NULL, "1.0", "1", NULL },
		{ "int32", NULL, "1.5", NULL, "type_mismatch" },
		{ "int32", NULL, "\"1\"", NULL, "type_mismatch" },
		{ "int32", NULL, "true", NULL, "type_mismatch" },
		{ "int32", NULL, "{}", NULL, "type_mismatch" },
		{ "io.debezium.time.Year", NULL, "2155", "2155", NULL },
		{ "int32", NULL, "null", "NULL", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void doubles_keep_every_bit(void **state)
{
	static const struct type_case cases[] = {
		{ "double", NULL, "0.1", "0.1", NULL },
		{ "double", NULL, "1e22", "1e+22", NULL },
		{ "double", NULL, "1e23", "1e+23", NULL },
		{ "double", NULL, "123456789012345678", "1.2345678901234568e+17", NULL },
		{ "double", NULL, "1.7976931348623157e308", "1.7976931348623157e+308", NULL },
		{ "double", NULL, "5e-324", "4.94065645841247e-324", NULL },
		{ "double", NULL, "1.8e308", "1.7976931348623157e+308", "float_out_of_range" },
		{ "double", NULL, "-1.8e308", "-1.7976931348623157e+308", "float_out_of_range" },
		{ "double", NULL, "-0.0", "0", NULL },
		{ "double", NULL, "-2.50", "-2.5", NULL },
		{ "double", NULL, "\"NaN\"", "NaN", NULL },
		{ "double", NULL, "\"Infinity\"", "Infinity", NULL },
		{ "double", NULL, "\"-Infinity\"", "-Infinity", NULL },
		{ "double", NULL, "\"abc\"", NULL, "type_mismatch" },
		{ "double", NULL, "\"1.5\"", NULL, "type_mismatch" },
		{ "float", NULL, "3.40282e38", "3.40282e+38", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void truth_text_and_bytes(void **state)
{
	static const struct type_case cases[] = {
		{ "boolean", NULL, "true", "true", NULL },
		{ "boolean", NULL, "false", "false", NULL },
		{ "boolean", NULL, "\"yes\"", NULL, "type_mismatch" },
		{ "boolean", NULL, "1", NULL, "type_mismatch" },
		{ "string", NULL, "\"a\\u0000\\ud83d\\ude42\\n\\\"\"", "a", NULL }, /* as C sees it: up to the NUL */
		{ "string", NULL, "\"\\u00e9\\/\\\\\"", "\xc3\xa9/\\", NULL },
		{ "string", NULL, "{\"a\":1}", NULL, "type_mismatch" },
		{ "string", NULL, "[1]", NULL, "type_mismatch" },
		{ "bytes", NULL, "\"AP8=\"", "AP8=", NULL },
		{ "bytes", NULL, "\"\"", "", NULL },
		{ "bytes", NULL, "\"AP8\"", NULL, "type_mismatch" },
		{ "bytes", NULL, "\"A_8=\"", NULL, "type_mismatch" },
		{ "bytes", NULL, "\"!!!!\"", NULL, "type_mismatch" },
		{ "base64-url-safe", NULL, "\"_-8\"", "/+8=", NULL },
		{ "base64-url-safe", NULL, "\"/+8=\"", NULL, "type_mismatch" },
		{ "hex", NULL, "\"00fF\"", "AP8=", NULL },
		{ "hex", NULL, "\"0\"", NULL, "type_mismatch" },
		{ "hex", NULL, "\"0g\"", NULL, "type_mismatch" },
		{ "io.debezium.data.Bits", NULL, "\"AQI=\"", "AQI=", NULL },
		{ "io.debezium.data.Bits", "INT64", "\"AQI=\"", "513", NULL },
		{ "io.debezium.data.Bits", "INT64", "\"/////////38=\"", "9223372036854775807", NULL },
		{ "io.debezium.data.Bits", "INT64", "\"//////////8=\"", "9223372036854775807", "integer_out_of_range" },
		{ "io.debezium.data.Bits", "INT64", "\"\"", "0", NULL },
		{ "io.debezium.data.Uuid", NULL, "\"3f2504e0-4f89-41d3-9a0c-0305e82c3301\"",
		  "3f2504e0-4f89-41d3-9a0c-0305e82c3301", NULL },
		{ "io.debezium.data.EnumSet", NULL, "\"a,b\"", "a,b", NULL },
		{ "io.debezium.data.EnumSet", "ARRAY<STRING>", "\"a,b\"", "[\"a\",\"b\"]", NULL },
		{ "io.debezium.data.EnumSet", "ARRAY<STRING>", "\"\"", "[]", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void json_is_checked_and_kept(void **state)
{
	static const struct type_case cases[] = {
		{ "io.debezium.data.Json", NULL, "\"{\\\"a\\\": 1.10 }\"", "{\"a\": 1.10 }", NULL },
		{ "io.debezium.data.Json", NULL, "\"null\"", "null", NULL },
		{ "io.debezium.data.Json", NULL, "null", "NULL", NULL },
		{ "io.debezium.data.Json", NULL, "\"{not json\"", NULL, "type_mismatch" },
		{ "io.debezium.data.Json", NULL, "\"\"", NULL, "type_mismatch" },
		{ "io.debezium.data.Json", "STRING", "\"[1]\"", "[1]", NULL },
		{ "string", "JSON", "\"[1, 2]\"", "[1, 2]", NULL },
		{ "string", "JSON", "\"[1, 2\"", NULL, "type_mismatch" },
		{ "weir.Object", NULL, "{\"a\": [ ] }", "{\"a\": [ ] }", NULL },
		{ "int64", "JSON", "12", "12", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void json_columns_have_500_levels(void **state)
{
	char text[3 + 2 * 501 + 1];

	(void)state;
	for (size_t levels = 500; levels <= 501; levels++) {
		struct type_case c = { "io.debezium.data.Json", "JSON", text, NULL, levels > 500 ? "too_deep" : NULL };

		memset(text, '[', levels + 1);
		text[0] = '"';
		memset(text + 1 + levels, ']', levels);
		text[1 + 2 * levels] = '"';
		text[2 + 2 * levels] = '\0';
		check_case(&c);
	}
}

static void nested_values_are_canonical(void **state)
{
#define POINT "{\"type\":\"struct\",\"name\":\"io.debezium.data.geometry.Point\",\"fields\":[]}"
#define DATES "{\"type\":\"array\",\"items\":{\"type\":\"int32\",\"name\":\"io.debezium.time.Date\"}}"
#define ROW                                                                                                     \
	"{\"type\":\"struct\",\"fields\":[{\"field\":\"a\",\"type\":\"int32\"},{\"field\":\"d\",\"type\":\"bytes\"," \
	"\"name\":\"org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"2\"}}]}"
	static const struct type_case cases[] = {
		{ DATES, NULL, "[0,1]", "[\"1970-01-01\",\"1970-01-02\"]", NULL },
		{ DATES, NULL, "[]", "[]", NULL },
		{ DATES, NULL, "[0,null]", "[\"1970-01-01\",null]", NULL },
		{ DATES, NULL, "[0,2932897,-719163]", "[\"1970-01-01\",\"9999-12-31\",\"0001-01-01\"]", "date_out_of_range" },
		{ DATES, NULL, "[0,\"x\"]", NULL, "type_mismatch" },
		{ DATES, "STRING", "[0]", "[\"1970-01-01\"]", NULL },
		{ DATES, "JSON", "[0]", "[\"1970-01-01\"]", NULL },
		{ DATES, NULL, "5", NULL, "type_mismatch" },
		{ "int32", "ARRAY<INT64>", "5", NULL, "type_mismatch" },
		{ "io.debezium.data.FloatVector", NULL, "[0.5,-1]", "[0.5,-1]", NULL },
		{ POINT, NULL, "{\"x\":1.5,\"y\":-2.0,\"wkb\":null,\"srid\":null}", "{\"x\":1.5,\"y\":-2.0}", NULL },
		{ POINT, "GEOGRAPHY", "{\"x\":1.5,\"y\":-2}", "POINT(1.5 -2)", NULL },
		{ POINT, NULL, "{\"x\":1.5}", NULL, "type_mismatch" },
		{ ROW, NULL, "{\"d\":\"AfQ=\",\"a\":1}", "{\"a\":1,\"d\":\"5\"}", NULL },
		{ ROW, "JSON", "{\"a\":1}", "{\"a\":1,\"d\":null}", NULL },
		{ ROW, NULL, "{\"a\":\"x\"}", NULL, "type_mismatch" },
		{ "map", NULL, "{\"a\":\"1\"}", "{\"a\":\"1\"}", NULL },
		{ "map", NULL, "[[1,2]]", "[[1,2]]", NULL },
		{ "map", NULL, "1", NULL, "type_mismatch" },
		{ "io.debezium.data.geometry.Circle", NULL, "{\"center\":{},\"radius\":1}", "{\"center\":{},\"radius\":1}", NULL },
		{ "weir.Any", "ARRAY<INT64>", "[1,2]", "[1,2]", NULL },
		{ "weir.Any", "STRUCT<x FLOAT64, y FLOAT64>", "{\"y\":2,\"x\":1,\"z\":3}", "{\"x\":1,\"y\":2}", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void a_fault_names_the_place_and_the_raw_value(void **state)
{
	struct trial t;

	(void)state;
	trial_run(&t, "{\"type\":\"array\",\"items\":" ROW "}", NULL, "[{\"a\":1},{\"a\":\"x\"}]");
	assert_int_equal(t.result, CONVERT_MISMATCH);
	assert_true(span_is(t.fault.path, "[1].a"));
	assert_true(span_is(t.fault.raw, "[{\"a\":1},{\"a\":\"x\"}]"));
	trial_end(&t);
	trial_run(&t, "io.debezium.time.ZonedTimestamp", NULL, "\"infin\\u0069ty\"");
	assert_int_equal(t.result, CONVERT_OUT_OF_RANGE);
	assert_true(span_is(t.fault.raw, "infinity"));
	trial_end(&t);
}

static void placeholders_are_known_in_every_form(void **state)
{
	static const struct type_case cases[] = {
		{ "string", NULL, "\"" PLACEHOLDER "\"", "UNAVAILABLE", NULL },
		{ "string", NULL, "\"\\u005f_debezium_unavailable_value\"", "UNAVAILABLE", NULL },
		{ "bytes", NULL, "\"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==\"", "UNAVAILABLE", NULL },
		{ "string", NULL, "\"5f5f646562657a69756d5f756e617661696c61626c655f76616c7565\"", "UNAVAILABLE", NULL },
		{ "bytes", NULL, "\"" PLACEHOLDER "\"", "UNAVAILABLE", NULL },
		{ "io.debezium.data.Json", NULL, "\"" PLACEHOLDER "\"", "UNAVAILABLE", NULL },
		{ "io.debezium.data.Json", NULL, "\"{\\\"" PLACEHOLDER "\\\":\\\"" PLACEHOLDER "\\\"}\"", "UNAVAILABLE", NULL },
		{ "map", NULL, "{\"" PLACEHOLDER "\":\"" PLACEHOLDER "\"}", "UNAVAILABLE", NULL },
		{ "{\"type\":\"array\",\"items\":\"string\"}", NULL, "[\"" PLACEHOLDER "\"]", "UNAVAILABLE", NULL },
		{ "{\"type\":\"array\",\"items\":\"bytes\"}", NULL, "[\"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==\"]",
		  "UNAVAILABLE", NULL },
		{ "{\"type\":\"array\",\"items\":\"int32\"}", NULL,
		  "[95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101]",
		  "UNAVAILABLE", NULL },
		{ "{\"type\":\"array\",\"items\":\"int32\"}", NULL,
		  "[95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117]",
		  "[95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117]", NULL },
		{ "{\"type\":\"array\",\"items\":\"string\"}", NULL, "[\"b68a35a7-17ad-35b3-af2a-ae46edb4545a\"]", "UNAVAILABLE",
		  NULL },
		{ "string", NULL, "\"__debezium_unavailable_valuf\"", "__debezium_unavailable_valuf", NULL },
		{ "{\"type\":\"array\",\"items\":\"string\"}", NULL, "[\"" PLACEHOLDER "\",\"x\"]",
		  "[\"" PLACEHOLDER "\",\"x\"]", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void geometry_becomes_text(void **state)
{
#define GEOMETRY "io.debezium.data.geometry.Geometry"
	static const struct type_case cases[] = {
		{ GEOMETRY, NULL, "{\"wkb\":\"AQEAAAAAAAAAAAD4PwAAAAAAAADA\",\"srid\":null}", "POINT(1.5 -2)", NULL },
		/* EWKB with SRID 4326 */
		{ GEOMETRY, "GEOGRAPHY", "{\"wkb\":\"AQEAACDmEAAAAAAAAAAA+D8AAAAAAAAAwA==\",\"srid\":4326}", "POINT(1.5 -2)", NULL },
		/* big endian */
		{ GEOMETRY, NULL, "{\"wkb\":\"AAAAAAE/+AAAAAAAAMAAAAAAAAAA\"}", "POINT(1.5 -2)", NULL },
		{ GEOMETRY, NULL, "{\"wkb\":\"AQcAAAAAAAAA\"}", "GEOMETRYCOLLECTION EMPTY", NULL },
		{ GEOMETRY, NULL, "{\"wkb\":null}", "NULL", NULL },
		{ GEOMETRY, NULL, "{\"wkb\":\"AQEAAAAAAAAAAAD4Pw==\"}", NULL, "type_mismatch" },
		{ GEOMETRY, NULL, "{\"wkb\":\"AQcAAAD/////\"}", NULL, "type_mismatch" },
		{ GEOMETRY, NULL, "{}", NULL, "type_mismatch" },
		{ GEOMETRY, "BYTES", "{\"wkb\":\"AQcAAAAAAAAA\"}", "AQcAAAAAAAAA", NULL },
		{ GEOMETRY, NULL,
		  "{\"wkb\":\"AQMAAAABAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADwPwAAAAAAAAAAAAAAAAAA8D8AAAAAAADwPwAAAAAAAAAAAAAAAAAAAAA=\"}",
		  "POLYGON((0 0, 1 0, 1 1, 0 0))", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void other_columns_take_what_is_exact(void **state)
{
	static const struct type_case cases[] = {
		{ "int64", "STRING", "-5", "-5", NULL },
		{ "int64", "FLOAT64", "9007199254740992", "9007199254740992", NULL },
		{ "int64", "FLOAT64", "9007199254740993", NULL, "type_mismatch" },
		{ "int64", "NUMERIC", "-5", "-5", NULL },
		{ "int64", "BOOL", "1", "true", NULL },
		{ "int64", "BOOL", "2", NULL, "type_mismatch" },
		{ "int64", "DATE", "2", NULL, "type_mismatch" },
		{ "double", "INT64", "5.0", "5", NULL },
		{ "double", "INT64", "5.5", NULL, "type_mismatch" },
		{ "double", "NUMERIC", "0.10", "0.1", NULL },
		{ "double", "JSON", "\"NaN\"", NULL, "type_mismatch" },
		{ "string", "INT64", "\"9223372036854775807\"", "9223372036854775807", NULL },
		{ "string", "INT64", "\"9223372036854775808\"", "9223372036854775807", "integer_out_of_range" },
		{ "string", "INT64", "\"1.5\"", NULL, "type_mismatch" },
		{ "string", "FLOAT64", "\"1.50\"", "1.5", NULL },
		{ "string", "FLOAT64", "\"1e999\"", "1.7976931348623157e+308", "float_out_of_range" },
		{ "string", "BOOL", "\"true\"", "true", NULL },
		{ "string", "BOOL", "\"maybe\"", NULL, "type_mismatch" },
		{ "string", "BYTES", "\"AP8=\"", "AP8=", NULL },
		{ "string", "DATE", "\"2026-02-28\"", "2026-02-28", NULL },
		{ "string", "DATE", "\"2026-02-29\"", NULL, "type_mismatch" },
		{ "boolean", "INT64", "true", "1", NULL },
		{ "boolean", "STRING", "true", "true", NULL },
		{ "boolean", "DATE", "true", NULL, "type_mismatch" },
		{ "bytes", "STRING", "\"AP8=\"", "AP8=", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void column_types_as_text(void **state)
{
	static const char *const good[][2] = {
		{ "INT64", "INT64" }, { "integer", "INT64" }, { "ARRAY<STRING>", "ARRAY<STRING>" },
		{ "NUMERIC(10, 2)", "NUMERIC" }, { "string(20)", "STRING" }, { " Timestamp ", "TIMESTAMP" },
		{ "STRUCT<x FLOAT64, y ARRAY<STRUCT<a JSON>>>", "STRUCT<x FLOAT64, y ARRAY<STRUCT<a JSON>>>" },
		{ "STRUCT", "STRUCT<x FLOAT64, y FLOAT64>" }, { "range < date >", "RANGE<DATE>" },
		{ "ARRAY<RANGE<DATETIME>>", "ARRAY<RANGE<DATETIME>>" }, { "STRUCT<r RANGE<TIMESTAMP>>", "STRUCT<r RANGE<TIMESTAMP>>" },
	};
	static const char *const bad[] = { "", "INT63", "ARRAY<ARRAY<INT64>>", "ARRAY<INT64", "INT64 x", "STRUCT<>", "STRUCT<x>",
		                           "NUMERIC(", "RANGE", "RANGE<>", "RANGE<TIME>", "RANGE<STRING>", "RANGE<ARRAY<DATE>>",
		                           "RANGE<RANGE<DATE>>", "RANGE<DATE" };
	struct arena *arena = arena_new(4096);
	struct bq_type type;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		OWNED(text) out = text_new(200);

		assert_true(bq_type_parse(span_of(good[i][0]), arena, &type));
		assert_true(bq_type_print(out, &type));
		assert_string_equal(out->at, good[i][1]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(bq_type_parse(span_of(bad[i]), arena, &type));
	arena_free(arena);
}

static void columns_widen_to_what_holds_both(void **state)
{
	static const struct {
		const char *old, *seen, *wide;
		bool value_fits, changes;
	} cases[] = {
		{ "INT64", "INT64", "INT64", true, false },
		{ "INT64", "FLOAT64", "FLOAT64", true, true },
		{ "INT64", "FLOAT64", "STRING", false, true },
		{ "FLOAT64", "INT64", "FLOAT64", true, false },
		{ "FLOAT64", "INT64", "STRING", false, true },
		{ "INT64", "STRING", "STRING", true, true },
		{ "STRING", "INT64", "STRING", true, false },
		{ "INT64", "NUMERIC", "NUMERIC", true, true },
		{ "NUMERIC", "BIGNUMERIC", "BIGNUMERIC", true, true },
		{ "BIGNUMERIC", "INT64", "BIGNUMERIC", true, false },
		{ "DATE", "DATETIME", "STRING", true, true },
		{ "ARRAY<INT64>", "ARRAY<STRING>", "JSON", true, true },
		{ "ARRAY<INT64>", "JSON", "JSON", true, true },
		{ "JSON", "ARRAY<INT64>", "JSON", true, false },
		{ "JSON", "INT64", "STRING", true, true },
		{ "BOOL", "JSON", "STRING", true, true },
	};
	struct arena *arena = arena_new(4096);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bq_type old, seen, wide;

		assert_true(bq_type_parse(span_of(cases[i].old), arena, &old));
		assert_true(bq_type_parse(span_of(cases[i].seen), arena, &seen));
		assert_true(bq_type_parse(span_of(cases[i].wide), arena, &wide));
		assert_int_equal(bq_type_widen(&old, &seen, cases[i].value_fits), cases[i].changes);
		assert_true(bq_type_equal(&old, &wide));
	}
	arena_free(arena);
}

static void without_a_schema_the_json_kind_decides(void **state)
{
	static const char *const cases[][2] = {
		{ "true", "BOOL" }, { "1", "INT64" }, { "1.0", "FLOAT64" }, { "1e3", "FLOAT64" }, { "\"1\"", "STRING" },
		{ "{}", "JSON" }, { "[]", "JSON" }, { "[\"a\",\"b\"]", "ARRAY<STRING>" }, { "[1,null]", "JSON" },
		{ "[1,2]", "ARRAY<INT64>" }, { "[1,2.5]", "ARRAY<FLOAT64>" }, { "[9007199254740993,2.5]", "JSON" },
		{ "[1,\"a\"]", "JSON" }, { "[{\"id\":1},{\"id\":2}]", "JSON" }, { "[[1]]", "JSON" }, { "[true,false]", "ARRAY<BOOL>" },
		{ "9223372036854775807", "INT64" }, { "9223372036854775808", "BIGNUMERIC" }, { "-9223372036854775809", "BIGNUMERIC" },
		{ "0.12345678901234567", "FLOAT64" }, { "0.123456789012345678", "BIGNUMERIC" }, { "1e308", "FLOAT64" },
		{ "1e309", "BIGNUMERIC" }, { "1e-400", "BIGNUMERIC" }, { "0e-400", "FLOAT64" }, { "0.00", "FLOAT64" },
		{ "[9223372036854775808]", "JSON" }, { "[1e309]", "JSON" },
		{ "{\"scale\":2,\"value\":\"AfQ=\"}", "BIGNUMERIC" }, { "{\"scale\":2,\"value\":\"x\"}", "JSON" }, { "null", "STRING" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWNED(text) out = text_new(200);
		struct arena *arena = arena_new(4096);
		struct json_doc doc = { .tokens = NULL };
		struct source_type from;
		struct bq_type to;
		bool is_known;
		size_t at;

		assert_int_equal(json_parse(&doc, span_of(cases[i][0]), &at), JSON_FINE);
		type_infer(&doc, 0, arena, &from, &to, &is_known);
		assert_int_equal(is_known, strcmp(cases[i][0], "null") != 0);
		assert_true(bq_type_print(out, &to));
		assert_string_equal(out->at, cases[i][1]);
		json_doc_free(&doc);
		arena_free(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_end_at_64_bits),
		cmocka_unit_test(doubles_keep_every_bit),
		cmocka_unit_test(truth_text_and_bytes),
		cmocka_unit_test(json_is_checked_and_kept),
		cmocka_unit_test(json_columns_have_500_levels),
		cmocka_unit_test(nested_values_are_canonical),
		cmocka_unit_test(a_fault_names_the_place_and_the_raw_value),
		cmocka_unit_test(placeholders_are_known_in_every_form),
		cmocka_unit_test(geometry_becomes_text),
		cmocka_unit_test(other_columns_take_what_is_exact),
		cmocka_unit_test(column_types_as_text),
		cmocka_unit_test(columns_widen_to_what_holds_both),
		cmocka_unit_test(without_a_schema_the_json_kind_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
