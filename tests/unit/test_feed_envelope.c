/* What a line of a feed means: envelope, bare body, refused. */
#include "unit/feed_help.h"

#define B(body) "1@0 ||||" body "\n"

static void an_envelope_gives_its_members_and_the_exact_slice(void **state)
{
	assert_feed_gives(*state,
	                  "{\"id\":\"7\",\"key\":\"{\\\"id\\\":1}\",\"attrs\":{\"a\":\"x\\ty\",\"b\":[1, 2],\"c\":null},"
	                  "\"publish\":\"2026-11-30T01:00:52Z\",\"data\": {\"a\" : 1.0, \"b\":\"\\u0041\"} }\n",
	                  "1@0 7|{\"id\":1}|2026-11-30T01:00:52Z|a=x\ty;b=[1, 2];c=null;|{\"a\" : 1.0, \"b\":\"\\u0041\"}\n");
}

static void members_may_follow_the_body_in_any_order(void **state)
{
	const char *gives = "1@0 12|null|p|k=v;|[1]\n";

	assert_feed_gives(*state, "{\"data\":[1],\"id\":12,\"key\":\"null\",\"attrs\":{\"k\":\"v\"},\"publish\":\"p\"}\n", gives);
	assert_feed_gives(*state, "{\"id\":12,\"data\":[1],\"publish\":\"p\",\"attrs\":{\"k\":\"v\"},\"key\":\"null\"}", gives);
	assert_feed_gives(*state, "{\"i\\u0064\":12,\"key\":\"null\",\"publish\":\"p\",\"attrs\":{\"k\":\"v\"},\"data\":[1]}", gives);
	assert_feed_gives(*state, "{\"id\":12,\"key\":\"null\",\"publish\":\"p\",\"attrs\":{\"k\":\"v\"},\"dat\\u0061\":[1]}", gives);
}

static void values_of_other_kinds_are_their_text_and_null_is_none(void **state)
{
	assert_feed_gives(*state, "{\"id\":1.50,\"key\":{\"id\": 1},\"publish\":12,\"data\":1}", "1@0 1.50|{\"id\": 1}|12||1\n");
	assert_feed_gives(*state, "{\"id\":null,\"key\":null,\"attrs\":null,\"publish\":null,\"data\":\"\"}", "1@0 ||||\"\"\n");
	assert_feed_gives(*state, "{\"id\":true,\"key\":\"\\u00e9\\n\",\"data\":false}", "1@0 true|\xc3\xa9\n|||false\n");
}

static void a_null_body_is_told_from_an_empty_one(void **state)
{
	assert_feed_gives(*state, "{\"data\":null}", B("null(null)"));
	assert_feed_gives(*state, "{\"data\": null , \"id\":\"1\"}", "1@0 1||||null(null)\n");
	assert_feed_gives(*state, "{\"data_b64\":\"\"}", B(""));
	assert_feed_gives(*state, "null", B("null"));
}

static void base64_bodies_are_bytes(void **state)
{
	assert_feed_gives(*state, "{\"id\":\"m\",\"data_b64\":\"eyJhIjoxfQ==\"}", "1@0 m||||{\"a\":1}\n");
	assert_feed_gives(*state, "{\"data_b64\":\"Pz8\\/\",\"id\":\"m\"}", "1@0 m||||\?\?\?\n");
	assert_feed_gives(*state, "{\"data_b64\":\"//4A\"}", B("\xff\xfe\0"));
}

static void what_is_not_base64_is_refused_as_the_whole_line(void **state)
{
	static const char *const values[] = { "\"eyJhIjoxfQ\"", "\"eyJh IjoxfQ==\"", "\"_-8=\"", "\"a===\"", "\"YQ=\"", "1", "null", "{}" };

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		OWNED(text) line = text_new(1000);
		OWNED(text) gives = text_new(1000);

		text_add_format(line, "{\"id\":\"m\",\"data_b64\":%s}", values[i]);
		text_add_format(gives, "1@0 m||||%s!source/bad_base64\n", line->at);
		assert_feed_gives(*state, line->at, gives->at);
	}
}

static void everything_else_is_itself_the_body(void **state)
{
	static const char *const lines[] = {
		"{\"id\":\"1\"}", "{}", "[]", "12", "\"data\"", "{\"data\":1,\"x\":2}", "{\"x\":2,\"data\":1}",
		"{\"data\":1,\"data\":1}", "{\"id\":1,\"id\":1,\"data\":1}", "{\"data\":1,\"id\":2,\"i\\u0064\":2}",
		"{\"data\":1,\"data_b64\":\"\"}", "{\"data_b64\":\"\",\"data\":1}", "{\"data_b64\":\"\",\"data_b64\":\"\"}",
		"{\"data\":1,\"attrs\":[]}", "{\"attrs\":\"x\",\"data\":1}", "{\"attrs\":7,\"data_b64\":\"\"}",
		"{\"schema\":{},\"payload\":{}}", " {\"a\":1} ",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		OWNED(text) gives = text_new(1000);

		text_add_format(gives, "1@0 ||||%s\n", lines[i]);
		assert_feed_gives(*state, lines[i], gives->at);
	}
}

static void a_line_that_is_no_json_is_itself_the_body(void **state)
{
	static const char *const lines[] = {
		"{\"data\":{\"a\":01}}", "{\"data\":{\"a\":1}", "{\"data\":}", "{\"data\"}", "{\"data\":1}x", "{\"data\":1}}",
		"{\"id\":01,\"data\":1}", "{\"id\":\"\x01\",\"data\":1}", "{\"id\":\"\xff\",\"data\":1}", "{\"id\":\"\\q\",\"data\":1}",
		"{\"id\":x,\"data\":1}", "{\"attrs\":{\"a\":},\"data\":1}", "{\"attrs\":{]},\"data\":1}", "{\"data_b64\":\"\"",
		"{\"data_b64\":\"\"}}", "{\"data_b64\":\"\",}", "{,\"data\":1}", "{\"id\":1 \"data\":1}", "{\"data\":1,}", "{\"data\":",
		"{\"data\":{\"schema\":{\"a\":01},\"payload\":1}}", "{\"id\":\"\\\"data\":1}", "{\"id\":\"1\",\"data\":\"\xed\xa0\x80\"}",
		"{\"key\":01,\"data_b64\":\"\"}", "{\"data\":\"\\ud800\"}", "{", "{\"", "{\"id\"", "{\"id\":", "{\"id\":\"",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		OWNED(text) gives = text_new(1000);

		text_add_format(gives, "1@0 ||||%s\n2@%zu ||||1\n", lines[i], strlen(lines[i]) + 1);
		OWNED(text) feed = text_new(1000);
		text_add_format(feed, "%s\n1\n", lines[i]);
		assert_feed_gives(*state, feed->at, gives->at);
	}
}

static void tokens_of_the_body_are_lent(void **state)
{
	struct bench *b = *state;
	const struct json_doc *doc;

	feed_is(b, "{\"id\":\"1\",\"data\":{\"a\":[1,{\"b\":2}]}}\n");
	assert_true(start(b, NULL, 0));
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	doc = last(b)->json;
	assert_non_null(doc);
	assert_true(doc->text.at == last(b)->body.at && doc->text.len == last(b)->body.len);
	assert_true(json_is(doc, 0, JSON_OBJECT));
	assert_true(span_is(json_slice(doc, json_member(doc, 0, SPAN("a"))), "[1,{\"b\":2}]"));
}

/* The first time there are tokens of all of it; the second time the block, which is the same, has only its own. */
static void schema_blocks_are_looked_into_once(void **state)
{
	struct bench *b = *state;
	static const char line[] = "{\"data\":{\"schema\":{\"type\":\"struct\"},\"payload\":{\"a\":1}}}\n"
				   "{\"data\":{\"schema\":{\"type\":\"struct\"},\"payload\":{\"a\":2}},\"id\":\"2\"}\n"
				   "{\"data\":{\"schema\":{\"type\":\"struct\"},\"payload\":{\"a\":03}}}\n"
				   "{\"data\":{\"schema\":{\"type\":\"struct\"}]}}\n"
				   "{\"data\":{\"schema\":{\"type\":\"struct\"}}}\n";
	static const char *const bodies[] = {
		"{\"schema\":{\"type\":\"struct\"},\"payload\":{\"a\":1}}",
		"{\"schema\":{\"type\":\"struct\"},\"payload\":{\"a\":2}}",
		"{\"data\":{\"schema\":{\"type\":\"struct\"},\"payload\":{\"a\":03}}}",
		"{\"data\":{\"schema\":{\"type\":\"struct\"}]}}",
		"{\"schema\":{\"type\":\"struct\"}}",
	};

	static const bool is_lent[] = { true, false, false, false, true };

	feed_is(b, line);
	assert_true(start(b, NULL, 0));
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(pull(b, 0), PULLED_MESSAGE);
		assert_true(!last(b)->json == !is_lent[i]);
		if (is_lent[i])
			assert_int_equal(last(b)->json->tokens[2].next, i == 0 ? 5 : 3);
		assert_true(span_is(last(b)->body, bodies[i]));
	}
}

static void add_attributes(struct text *line, size_t count, size_t name_bytes)
{
	text_add(line, "{\"attrs\":{");
	for (size_t i = 0; i < count; i++)
		text_add_format(line, "%s\"%0*zu\":\"v\"", i ? "," : "", (int)name_bytes, i);
	text_add(line, "},\"data\":1}");
}

static void assert_attributes(void **state, size_t count, size_t name_bytes, bool is_fine)
{
	struct bench *b = *state;
	OWNED(text) line = text_new(1 << 20);

	add_attributes(line, count, name_bytes);
	feed_is(b, line->at);
	assert_true(start(b, NULL, 0));
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_int_equal(last(b)->fate, is_fine ? MESSAGE_OPEN : MESSAGE_REFUSED);
	assert_int_equal(last(b)->attr_count, is_fine ? count : 0);
	if (!is_fine) {
		assert_string_equal(last(b)->refusal->code, "attributes_too_large");
		assert_true(span_equal(last(b)->body, text_span(line)));
	}
}

static void attributes_beyond_their_limits_are_refused(void **state)
{
	assert_attributes(state, 100, 5, true);
	assert_attributes(state, 101, 5, false);
	assert_attributes(state, 2, 1024, true);
	assert_attributes(state, 2, 1025, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FEED_TEST(an_envelope_gives_its_members_and_the_exact_slice),
		FEED_TEST(members_may_follow_the_body_in_any_order),
		FEED_TEST(values_of_other_kinds_are_their_text_and_null_is_none),
		FEED_TEST(a_null_body_is_told_from_an_empty_one),
		FEED_TEST(base64_bodies_are_bytes),
		FEED_TEST(what_is_not_base64_is_refused_as_the_whole_line),
		FEED_TEST(everything_else_is_itself_the_body),
		FEED_TEST(a_line_that_is_no_json_is_itself_the_body),
		FEED_TEST(tokens_of_the_body_are_lent),
		FEED_TEST(schema_blocks_are_looked_into_once),
		FEED_TEST(attributes_beyond_their_limits_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
