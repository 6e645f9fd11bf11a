/* Quick readers may only be quick: whatever they take, type_convert takes too, and both write the same. */
#include "type_help.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const char *const nodes[] = {
	"int64", "int32", "double", "boolean", "string", "io.debezium.time.Date", "io.debezium.time.Timestamp",
	"io.debezium.time.MicroTimestamp", "io.debezium.time.NanoTimestamp", "io.debezium.time.ZonedTimestamp",
	"io.debezium.time.IsoTimestamp", "io.debezium.data.Json", "io.debezium.data.Enum", "bytes", "weir.Any", "weir.Number",
	"{\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"2\"}}",
	"{\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"0\"}}",
	"{\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"9\"}}",
	"{\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"10\"}}",
	"{\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"-3\"}}",
};

static const char *const columns[] = { "INT64", "FLOAT64", "BOOL", "STRING", "NUMERIC", "BIGNUMERIC", "DATE", "TIME",
	"DATETIME", "TIMESTAMP", "JSON", "BYTES", "ARRAY<INT64>", "ARRAY<STRING>" };

static const char *const values[] = {
	"0", "-0", "7", "-7", "9007199254740992", "9007199254740993", "-9007199254740993", "999999999999999999",
	"1000000000000000000", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "5.0", "5e3", "1.5", "-1.5",
	"0.0", "-0.0", "1e400", "0.1000", "123456789012345678.5", "-719162", "-719163", "2932896", "2932897",
	"-62135596800000", "-62135596800001", "253402300799999", "253402300800000", "253402300799999999", "253402300800000000",
	"-62135596800000000", "true", "false", "\"\"", "\"x\"", "\"a\\\"b\\u00e9\"", "\"true\"", "\"NaN\"", "\"12.30\"",
	"\"-12.30\"", "\"0.00\"", "\"-0\"", "\"-0.0\"", "\"1200\"", "\"00.5\"", "\".5\"", "\"5.\"", "\"1e3\"", "\"12\\u002e5\"",
	"\"99999999999999999999999999999.999999999\"", "\"100000000000000000000000000000\"", "\"0.1234567890\"",
	"\"2020-02-29T23:59:59Z\"", "\"2021-02-29T00:00:00Z\"", "\"2020-02-29T23:59:59.5Z\"", "\"2020-02-29T23:59:59.1234567Z\"",
	"\"2020-02-29T23:59:59.Z\"", "\"2020-02-29T23:59:59.12345678901Z\"", "\"2020-02-29T24:00:00Z\"", "\"2020-02-29T23:59:60Z\"",
	"\"2020-02-29T23:59:59+01:00\"", "\"0000-01-01T00:00:00Z\"", "\"0001-01-01T00:00:00Z\"", "\"9999-12-31T23:59:59.999999Z\"",
	"\"2020-00-10T00:00:00Z\"", "\"2020-13-10T00:00:00Z\"", "\"2020-04-31T00:00:00Z\"", "\"2020-04-00T00:00:00Z\"",
	"\"2O20-04-10T00:00:00Z\"", "\"2020-04-10 00:00:00Z\"", "\"2020-04-10T00:00:0xZ\"", "\"2020-04-10T00:00:00.1x3Z\"",
	"\"AA==\"", "\"AQ==\"", "\"/w==\"", "\"ZA==\"", "\"AGQ=\"", "\"AfQ=\"", "\"gAAAAAAAAAA=\"", "\"f/////////8=\"",
	"\"AP//////////\"", "\"gAAAAAAAAAE=\"", "\"AfQ\"", "\"Af Q\"", "\"A\\u0066Q=\"", "\"TmV2ZXIgZ29ubmEgZ2l2ZQ==\"",
	"[]", "[1,2]", "{}", "{\"a\":1}", "{\"scale\":2,\"value\":\"AfQ=\"}",
};

static struct span proto_of(struct trial *t, const struct cell *cell)
{
	char *at = arena_bytes(t->arena, cell_proto_room(cell));

	return span_make(at, (size_t)(cell_proto(cell, &t->to, 3, at) - at));
}

static struct span json_of(struct trial *t, const struct cell *cell)
{
	char *at = arena_bytes(t->arena, cell_json_room(cell));

	return span_make(at, (size_t)(cell_json(cell, &t->to, at) - at));
}

/* True: the quick reader took the value. */
static bool check_quick(struct trial *t, const struct type_quick *quick, const char *value)
{
	struct cell cell;
	struct span quick_text = { 0 }, text = { 0 };

	if (!quick->read || !quick->read(quick, &t->value, 0, t->arena, &cell))
		return false;
	if (t->result != CONVERT_OK)
		fail_msg("%s was taken, but type_convert says %s", value, t->fault.code);
	assert_true(cell_text(&cell, &t->to, t->arena, &quick_text) && cell_text(&t->cell, &t->to, t->arena, &text));
	if (!span_equal(quick_text, text))
		fail_msg("%s: %.*s, but type_convert says %.*s", value, SPAN_ARG(quick_text), SPAN_ARG(text));
	assert_true(span_equal(proto_of(t, &cell), proto_of(t, &t->cell)));
	assert_true(span_equal(json_of(t, &cell), json_of(t, &t->cell)));
	return true;
}

static void quick_readers_say_what_type_convert_says(void **state)
{
	(void)state;
	for (size_t n = 0; n < COUNT(nodes); n++) {
		for (size_t c = 0; c < COUNT(columns); c++) {
			for (size_t v = 0; v < COUNT(values); v++) {
				struct trial t;

				trial_run(&t, nodes[n], columns[c], values[v]);
				struct type_quick quick = type_quick(&t.from, &t.to);

				check_quick(&t, &quick, values[v]);
				trial_end(&t);
			}
		}
	}
}

static void values_that_tell_their_own_kind(void **state)
{
	static const char *const pairs[][2] = { { "string", "STRING" }, { "int64", "INT64" }, { "double", "FLOAT64" },
		                                { "boolean", "BOOL" } };

	(void)state;
	for (size_t p = 0; p < COUNT(pairs); p++) {
		size_t taken = 0;

		for (size_t v = 0; v < COUNT(values); v++) {
			struct trial t;

			trial_run(&t, pairs[p][0], pairs[p][1], values[v]);
			struct type_quick quick = type_quick_untold(&t.to);
			bool is_taken = check_quick(&t, &quick, values[v]);

			/* A whole number does not tell that it belongs to a column of fractions. */
			assert_false(is_taken && p == 2 && !(t.value.tokens[0].flags & JSON_IS_FRACTION));
			taken += is_taken;
			trial_end(&t);
		}
		assert_true(taken > 1);
	}
}

static void ordinary_values_are_quick(void **state)
{
	const struct {
		const char *node, *column, *value;
	} cases[] = {
		{ "int64", "INT64", "-12" }, { "double", "FLOAT64", "-57.43811" }, { "boolean", "BOOL", "true" },
		{ "string", "STRING", "\"a\\\"b\"" }, { "string", "NUMERIC", "\"1696.0072\"" },
		{ "io.debezium.time.Date", "DATE", "20511" }, { "io.debezium.time.Timestamp", "DATETIME", "1775304698353" },
		{ "io.debezium.time.MicroTimestamp", "DATETIME", "1775304698353194" },
		{ "io.debezium.time.ZonedTimestamp", "TIMESTAMP", "\"2022-03-20T06:56:07.146991Z\"" },
		{ nodes[16], "NUMERIC", "\"AfQ=\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct trial t;

		trial_run(&t, cases[i].node, cases[i].column, cases[i].value);
		struct type_quick quick = type_quick(&t.from, &t.to);

		if (!check_quick(&t, &quick, cases[i].value))
			fail_msg("%s into %s: %s went the slow way", cases[i].node, cases[i].column, cases[i].value);
		trial_end(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quick_readers_say_what_type_convert_says),
		cmocka_unit_test(values_that_tell_their_own_kind),
		cmocka_unit_test(ordinary_values_are_quick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
