/* Schema nodes of Debezium as source types. */
#include "base/text.h"

#include "type_help.h"

static void nodes_become_columns(void **state)
{
	static const char *const cases[][2] = {
		{ "{\"type\":\"int32\",\"optional\":true,\"field\":\"a\"}", "INT64" },
		{ "{\"type\":\"int32\",\"name\":\"io.debezium.time.Date\",\"version\":1}", "DATE" },
		{ "{\"type\":\"int64\",\"name\":\"org.apache.kafka.connect.data.Time\"}", "TIME" },
		{ "{\"type\":\"double\",\"name\":\"io.debezium.time.MicroDuration\"}", "INT64" },
		{ "{\"type\":\"string\",\"name\":\"com.example.Unknown\"}", "STRING" },
		{ "{\"type\":\"string\",\"name\":\"io.debezium.time.MicroTime\"}", "STRING" },
		{ "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":\"int32\"}}}", "JSON" },
		{ "{\"type\":\"map\",\"keys\":{\"type\":\"string\"},\"values\":{\"type\":\"string\"}}", "JSON" },
		{ "{\"type\":\"struct\",\"name\":\"a.b.Value\",\"fields\":[{\"type\":\"string\",\"field\":\"s\"}]}", "STRUCT<s STRING>" },
		{ "{\"type\":\"struct\",\"fields\":[{\"type\":\"string\",\"field\":\"a b\"}]}", "JSON" },
		{ "{\"type\":\"struct\",\"fields\":[{\"type\":\"string\",\"field\":\"_partition_x\"}]}", "JSON" },
		{ "{\"type\":\"struct\",\"fields\":[{\"type\":\"string\",\"field\":\"a\"},{\"type\":\"string\",\"field\":\"A\"}]}", "JSON" },
		{ "{\"type\":\"struct\",\"fields\":[]}", "JSON" },
		{ "{\"type\":\"struct\",\"name\":\"io.debezium.data.geometry.Geography\",\"fields\":[]}", "GEOGRAPHY" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWNED(text) out = text_new(200);
		struct trial t;

		trial_run(&t, cases[i][0], NULL, "null");
		assert_true(bq_type_print(out, &t.to));
		assert_string_equal(out->at, cases[i][1]);
		assert_true(source_type_equal(&t.from, &t.from));
		trial_end(&t);
	}
}

static void what_is_no_node_is_refused(void **state)
{
	static const char *const cases[] = {
		"{}", "5", "[]", "null", "\"int33\"", "\"array\"", "{\"type\":\"array\"}", "{\"type\":\"struct\"}",
		"{\"type\":\"int33\"}", "{\"type\":\"struct\",\"fields\":[{\"type\":\"int32\"}]}", "{\"type\":5}",
		"{\"type\":\"struct\",\"fields\":[5]}",
	};
	struct arena *arena = arena_new(4096);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_doc doc = { .tokens = NULL };
		struct source_type out;
		size_t at;

		assert_int_equal(json_parse(&doc, span_of(cases[i]), &at), JSON_FINE);
		if (source_type_read(&doc, 0, arena, &out))
			fail_msg("%s was taken for a schema node", cases[i]);
		json_doc_free(&doc);
	}
	arena_free(arena);
}

static void parameters_tell_types_apart(void **state)
{
#define NODE(scale) "{\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":" scale "}}"
	struct trial a, b, c;

	(void)state;
	trial_run(&a, NODE("\"2\""), NULL, "null");
	trial_run(&b, NODE("2"), NULL, "null");
	trial_run(&c, NODE("\"3\""), NULL, "null");
	assert_int_equal(a.from.scale, 2);
	assert_true(source_type_equal(&a.from, &b.from));
	assert_false(source_type_equal(&a.from, &c.from));
	assert_string_equal(source_type_name(&a.from), "org.apache.kafka.connect.data.Decimal");
	trial_end(&a);
	trial_end(&b);
	trial_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_become_columns),
		cmocka_unit_test(what_is_no_node_is_refused),
		cmocka_unit_test(parameters_tell_types_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
