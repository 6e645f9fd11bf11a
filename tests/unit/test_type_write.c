/* What leaves: JSON of fullRecord, and the Storage Write API's protobuf. */
#include "type_help.h"

struct write_case {
	const char *node, *column, *value;
	const char *json;
	const char *proto; /* field 1, in hex */
};

static void check_write(const struct write_case *c)
{
	static const char digits[] = "0123456789abcdef";
	struct trial t;
	char *json, *end, *proto;
	char hex[400];

	trial_run(&t, c->node, c->column, c->value);
	assert_int_equal(t.result, CONVERT_OK);
	json = arena_bytes(t.arena, cell_json_room(&t.cell) + 1);
	end = cell_json(&t.cell, &t.to, json);
	assert_true((size_t)(end - json) <= cell_json_room(&t.cell));
	*end = '\0';
	assert_string_equal(json, c->json);

	proto = arena_bytes(t.arena, cell_proto_room(&t.cell));
	end = cell_proto(&t.cell, &t.to, 1, proto);
	assert_true((size_t)(end - proto) <= cell_proto_room(&t.cell));
	assert_true((size_t)(end - proto) * 2 < sizeof(hex));
	for (size_t i = 0; i < (size_t)(end - proto); i++) {
		hex[2 * i] = digits[(unsigned char)proto[i] >> 4];
		hex[2 * i + 1] = digits[(unsigned char)proto[i] & 15];
	}
	hex[2 * (size_t)(end - proto)] = '\0';
	assert_string_equal(hex, c->proto);
	trial_end(&t);
}

static void each_kind_in_json_and_protobuf(void **state)
{
	static const struct write_case cases[] = {
		{ "int64", NULL, "null", "null", "" },
		{ "int64", NULL, "150", "150", "089601" },
		{ "int64", NULL, "-1", "-1", "08ffffffffffffffffff01" },
		{ "boolean", NULL, "true", "true", "0801" },
		{ "boolean", NULL, "false", "false", "0800" },
		{ "double", NULL, "1.50", "1.50", "09000000000000f83f" },
		{ "double", NULL, "\"NaN\"", "\"NaN\"", "09000000000000f87f" },
		{ "double", NULL, "\"-Infinity\"", "\"-Infinity\"", "09000000000000f0ff" },
		{ "string", NULL, "\"ab\"", "\"ab\"", "0a026162" },
		{ "string", NULL, "\"\"", "\"\"", "0a00" },
		{ "string", NULL, "\"\\\"\\u00e9\\n\"", "\"\\\"\\u00e9\\n\"", "0a0422c3a90a" },
		{ "string", NULL, "\"\\ud83d\\ude42\"", "\"\\ud83d\\ude42\"", "0a04f09f9982" },
		{ "string", NULL, "\"\\u0000\"", "\"\\u0000\"", "0a0100" },
		{ "bytes", NULL, "\"AP8=\"", "\"AP8=\"", "0a0200ff" },
		{ "string", "NUMERIC", "\"12.30\"", "\"12.3\"", "0a0431322e33" },
		{ "io.debezium.time.Date", NULL, "-1", "\"1969-12-31\"", "08ffffffffffffffffff01" },
		/* 12:34:56.000001 = ((12 << 12 | 34 << 6 | 56) << 20) + 1 */
		{ "io.debezium.time.MicroTime", NULL, "45296000001", "\"12:34:56.000001\"", "08818080dcc801" },
		/* 1970-01-01T00:00:00 = (1970 << 26 | 1 << 22 | 1 << 17) << 20 */
		{ "io.debezium.time.MicroTimestamp", NULL, "0", "\"1970-01-01T00:00:00\"", "08808080808084a1f601" },
		{ "io.debezium.time.ZonedTimestamp", NULL, "\"1970-01-01T00:00:00.000002Z\"", "\"1970-01-01 00:00:00.000002+00\"",
		  "0802" },
		{ "io.debezium.time.Interval", NULL, "\"P0Y1M0DT0H0M0S\"", "\"0-1 0 0:0:0\"", "0a0b302d31203020303a303a30" },
		{ "io.debezium.data.Json", NULL, "\"{\\\"a\\\":1}\"", "\"{\\\"a\\\":1}\"", "0a077b2261223a317d" },
		{ "weir.Object", NULL, "{\"a\":\"\\n\"}", "\"{\\\"a\\\":\\\"\\\\n\\\"}\"", "0a0a7b2261223a225c6e227d" },
		{ "{\"type\":\"array\",\"items\":\"int32\"}", NULL, "[1,-1]", "\"[1,-1]\"", "080108ffffffffffffffffff01" },
		{ "{\"type\":\"array\",\"items\":\"string\"}", NULL, "[\"a\",\"\\n\"]", "\"[\\\"a\\\",\\\"\\\\n\\\"]\"", "0a01610a010a" },
		{ "{\"type\":\"array\",\"items\":\"bytes\"}", NULL, "[\"AP8=\",\"\"]", "\"[\\\"AP8=\\\",\\\"\\\"]\"", "0a0200ff0a00" },
		{ "{\"type\":\"array\",\"items\":\"boolean\"}", NULL, "[true]", "\"[true]\"", "0801" },
		{ "{\"type\":\"array\",\"items\":\"double\"}", NULL, "[\"NaN\"]", "\"[\\\"NaN\\\"]\"", "09000000000000f87f" },
		{ "{\"type\":\"array\",\"items\":{\"type\":\"int32\",\"name\":\"io.debezium.time.Date\"}}", NULL, "[1]",
		  "\"[\\\"1970-01-02\\\"]\"", "0801" },
		{ "io.debezium.data.geometry.Point", NULL, "{\"x\":1.5,\"y\":0}", "\"{\\\"x\\\":1.5,\\\"y\\\":0}\"",
		  "0a1209000000000000f83f110000000000000000" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_write(&cases[i]);
}

/* A text of more than 127 bytes with an escape: its length prefix grows to two bytes. */
static void a_long_escaped_text_keeps_its_length(void **state)
{
	struct bq_type string = { .kind = BQ_STRING };
	char inside[202], proto[250];
	struct cell cell = { .kind = CELL_TEXT, .is_escaped = true, .text = { inside, sizeof(inside) } };
	char *end;

	(void)state;
	memset(inside, 'x', sizeof(inside));
	inside[0] = '\\';
	inside[1] = 'n';
	end = cell_proto(&cell, &string, 16, proto);
	assert_int_equal(end - proto, 2 + 2 + 201);
	assert_memory_equal(proto, "\x82\x01\xc9\x01\nxx", 7);
}

static void plain_text_is_escaped(void **state)
{
	struct bq_type string = { .kind = BQ_STRING };
	struct cell cell = { .kind = CELL_TEXT, .text = { "a\"\\\n\x01\x7f\xc3\xa9", 8 } };
	char json[64];
	char *end = cell_json(&cell, &string, json);

	(void)state;
	*end = '\0';
	assert_string_equal(json, "\"a\\\"\\\\\\n\\u0001\x7f\xc3\xa9\"");
}

static void what_is_not_there_is_null(void **state)
{
	static const enum cell_kind kinds[] = { CELL_NULL, CELL_ABSENT, CELL_UNAVAILABLE };
	struct bq_type string = { .kind = BQ_STRING };
	struct arena *arena = arena_new(256);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct cell cell = { .kind = kinds[i] };
		struct span text;
		char out[8];

		assert_int_equal(cell_json(&cell, &string, out) - out, 4);
		assert_memory_equal(out, "null", 4);
		assert_ptr_equal(cell_proto(&cell, &string, 1, out), out);
		assert_false(cell_text(&cell, &string, arena, &text));
	}
	arena_free(arena);
}

static void nulls_inside_an_array_are_counted(void **state)
{
	struct trial t;

	(void)state;
	trial_run(&t, "{\"type\":\"array\",\"items\":\"int32\"}", NULL, "[1,null,null]");
	assert_int_equal(t.cell.kind, CELL_JSON);
	assert_int_equal(t.cell.number, 2);
	trial_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_in_json_and_protobuf),
		cmocka_unit_test(a_long_escaped_text_keeps_its_length),
		cmocka_unit_test(plain_text_is_escaped),
		cmocka_unit_test(what_is_not_there_is_null),
		cmocka_unit_test(nulls_inside_an_array_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
