/* The JSON reader of the hot path: what it takes, what it refuses, and where. */
#include "record/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Exactly as long as the text, on the heap: sanitizers see a look behind the end. */
static enum json_fault read_text(struct json_doc *doc, struct span text, char **out_copy, size_t *out_at)
{
	*out_copy = malloc(text.len ? text.len : 1);
	assert_non_null(*out_copy);
	if (text.len)
		memcpy(*out_copy, text.at, text.len);
	return json_parse(doc, span_make(*out_copy, text.len), out_at);
}

static enum json_fault fault_of(struct span text, size_t *out_at)
{
	struct json_doc doc = { 0 };
	char *copy;
	enum json_fault fault = read_text(&doc, text, &copy, out_at);

	if (fault != JSON_FINE)
		assert_int_equal(doc.count, 0);
	json_doc_free(&doc);
	free(copy);
	return fault;
}

static void expect(struct span text, enum json_fault fault, size_t at)
{
	size_t seen_at = 0;
	enum json_fault seen = fault_of(text, &seen_at);

	if (seen != fault || (fault != JSON_FINE && seen_at != at))
		fail_msg("'%.*s': fault %d at %zu, wanted %d at %zu", SPAN_ARG(text), seen, seen_at, fault, at);
}

static void takes_what_the_grammar_allows(void **state)
{
	static const char *const texts[] = {
		"null", "true", "false", "0", "-0", "1e5", "-0.0", "0e0", "0E+1", "1.5e-7", "123456789012345678901234567890",
		"1e999999", "-1234567890123456", "12345678901234567", "\"\"", "\"a\"", "[]", "{}", " \t\r\n1 \t\r\n", "[1]",
		"[1,2]", "[ ]", "{ }", "{\"\":0}", "{\"a\":1,\"a\":2}", "[[],{},\"\",0,null]", "{\"a\":{\"b\":[{}]}}",
		"[ 1 , 2 ]", "{ \"a\" : 1 , \"b\" : [ 2 ] }", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u0000\"", "\"\\uD834\\uDd1e\"",
		"\"\x7f\"", "\"\xc2\x80\xdf\xbf\"", "\"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\"",
		"\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"", "[0,0]", "[-1,-0]", "[1e1,1.0,1E1]", "{\"a\\u0062\":1}", "[\"\",\"\"]",
		"\"0123456789abcdef\"", "\"0123456789abcde\"", "\"0123456789abcdefg\"", "[true,false,null]",
		"\"\xef\xbb\xbf\"", "\"\\ufeff\\uffff\\ud7ff\\ue000\"",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		expect(span_of(texts[i]), JSON_FINE, 0);
}

static void says_what_is_wrong_and_where(void **state)
{
	static const struct {
		const char *text;
		enum json_fault fault;
		size_t at;
	} cases[] = {
		{ "", JSON_EMPTY, 0 }, { " \n\t\r", JSON_EMPTY, 4 },
		{ "01", JSON_SYNTAX, 1 }, { "-01", JSON_SYNTAX, 2 }, { "[00]", JSON_SYNTAX, 2 }, { "1.", JSON_CUT, 2 },
		{ "[1.]", JSON_SYNTAX, 3 }, { ".5", JSON_SYNTAX, 0 }, { "+1", JSON_SYNTAX, 0 }, { "-", JSON_CUT, 1 },
		{ "[-]", JSON_SYNTAX, 2 }, { "1e", JSON_CUT, 2 }, { "1e+", JSON_CUT, 3 }, { "[1e+]", JSON_SYNTAX, 4 },
		{ "1.e5", JSON_SYNTAX, 2 }, { "--1", JSON_SYNTAX, 1 }, { "-a", JSON_SYNTAX, 1 }, { "0x1", JSON_TRAILING, 1 },
		{ "1.5.5", JSON_TRAILING, 3 }, { "1a", JSON_TRAILING, 1 }, { "[1a]", JSON_SYNTAX, 2 }, { "[1 2]", JSON_SYNTAX, 3 },
		{ "[12345678901234567890123456789012345a]", JSON_SYNTAX, 36 }, { "Infinity", JSON_SYNTAX, 0 },
		{ "NaN", JSON_SYNTAX, 0 }, { "-Infinity", JSON_SYNTAX, 1 }, { "[-12345678901234567890-]", JSON_SYNTAX, 22 },
		{ "n", JSON_CUT, 1 }, { "nul", JSON_CUT, 3 }, { "nulL", JSON_SYNTAX, 3 }, { "tru", JSON_CUT, 3 },
		{ "trux", JSON_SYNTAX, 3 }, { "fals", JSON_CUT, 4 }, { "falze", JSON_SYNTAX, 3 }, { "Null", JSON_SYNTAX, 0 },
		{ "nulll", JSON_TRAILING, 4 }, { "[nulll]", JSON_SYNTAX, 5 }, { "[nul]", JSON_SYNTAX, 4 }, { "[falsee]", JSON_SYNTAX, 6 },
		{ "[", JSON_CUT, 1 }, { "{", JSON_CUT, 1 }, { "[ ", JSON_CUT, 2 }, { "[1", JSON_CUT, 2 }, { "[1,", JSON_CUT, 3 },
		{ "[1,]", JSON_SYNTAX, 3 }, { "[,1]", JSON_SYNTAX, 1 }, { "[1,,2]", JSON_SYNTAX, 3 }, { "[}", JSON_SYNTAX, 1 },
		{ "{]", JSON_SYNTAX, 1 }, { "[1}", JSON_SYNTAX, 2 }, { "{\"a\":1]", JSON_SYNTAX, 6 }, { "]", JSON_SYNTAX, 0 },
		{ "}", JSON_SYNTAX, 0 }, { ",", JSON_SYNTAX, 0 }, { ":", JSON_SYNTAX, 0 }, { "{a:1}", JSON_SYNTAX, 1 },
		{ "{\"a\"}", JSON_SYNTAX, 4 }, { "{\"a\":}", JSON_SYNTAX, 5 }, { "{\"a\":1,}", JSON_SYNTAX, 7 },
		{ "{\"a\" 1}", JSON_SYNTAX, 5 }, { "{\"a\"::1}", JSON_SYNTAX, 5 }, { "{1:1}", JSON_SYNTAX, 1 },
		{ "{\"a\":1 \"b\":2}", JSON_SYNTAX, 7 }, { "{\"a\":1,,\"b\":2}", JSON_SYNTAX, 7 }, { "{null:1}", JSON_SYNTAX, 1 },
		{ "{\"a\",1}", JSON_SYNTAX, 4 }, { "{\"a\"", JSON_CUT, 4 }, { "{\"a\":", JSON_CUT, 5 }, { "{\"a\":1,", JSON_CUT, 7 },
		{ "[\"a\":1]", JSON_SYNTAX, 4 }, { "'a'", JSON_SYNTAX, 0 }, { "/* */1", JSON_SYNTAX, 0 }, { "1/**/", JSON_TRAILING, 1 },
		{ "\"", JSON_CUT, 1 }, { "\"a", JSON_CUT, 2 }, { "\"\\", JSON_CUT, 2 }, { "\"\\x\"", JSON_SYNTAX, 2 },
		{ "\"\\'\"", JSON_SYNTAX, 2 }, { "\"\\U0041\"", JSON_SYNTAX, 2 }, { "\"\\u12\"", JSON_SYNTAX, 5 },
		{ "\"\\u12g4\"", JSON_SYNTAX, 5 }, { "\"\\u12", JSON_CUT, 5 }, { "\"\\u", JSON_CUT, 3 }, { "\"a\nb\"", JSON_SYNTAX, 2 },
		{ "\"\x1f\"", JSON_SYNTAX, 1 }, { "\"0123456789abcdef\t\"", JSON_SYNTAX, 17 }, { "[\"\t\"]", JSON_SYNTAX, 2 },
		{ "\"\\ud800\"", JSON_SURROGATE, 1 }, { "\"\\udc00\"", JSON_SURROGATE, 1 }, { "\"a\\ud800\\n\"", JSON_SURROGATE, 2 },
		{ "\"\\ud800\\ud800\"", JSON_SURROGATE, 1 }, { "\"\\ud800\\u0041\"", JSON_SURROGATE, 1 },
		{ "\"\\ud800", JSON_CUT, 7 }, { "\"\\ud800\\", JSON_CUT, 8 }, { "\"\\ud800\\u", JSON_CUT, 9 },
		{ "\"\\ud800\\udc0", JSON_CUT, 12 }, { "\"\\ud800\\udcx0\"", JSON_SYNTAX, 11 }, { "\"\\ud800x", JSON_SURROGATE, 1 },
		{ "1 2", JSON_TRAILING, 2 }, { "{}{}", JSON_TRAILING, 2 }, { "[]]", JSON_TRAILING, 2 }, { "\"\"x", JSON_TRAILING, 2 },
		{ "null,", JSON_TRAILING, 4 }, { "\v1", JSON_SYNTAX, 0 }, { "\f1", JSON_SYNTAX, 0 }, { "1\f", JSON_TRAILING, 1 },
		{ "[1,\x0b""2]", JSON_SYNTAX, 3 },
		/* with enough behind them for the fast way */
		{ "[01,\"0123456789012345678901234567890123456789\"]", JSON_SYNTAX, 2 },
		{ "[-01,\"0123456789012345678901234567890123456789\"]", JSON_SYNTAX, 3 },
		{ "[-,\"0123456789012345678901234567890123456789\"]", JSON_SYNTAX, 2 },
		{ "[1x,\"0123456789012345678901234567890123456789\"]", JSON_SYNTAX, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		expect(span_of(cases[i].text), cases[i].fault, cases[i].at);
}

static void refuses_what_is_not_utf8(void **state)
{
	static const struct {
		const char *text;
		enum json_fault fault;
		size_t at;
	} cases[] = {
		{ "\"\x80\"", JSON_NOT_UTF8, 1 }, { "\"\xbf\"", JSON_NOT_UTF8, 1 }, { "\"\xc0\xaf\"", JSON_NOT_UTF8, 1 },
		{ "\"\xc1\xbf\"", JSON_NOT_UTF8, 1 }, { "\"\xe0\x9f\xbf\"", JSON_NOT_UTF8, 1 }, { "\"\xf0\x8f\xbf\xbf\"", JSON_NOT_UTF8, 1 },
		{ "\"a\xed\xa0\x80\"", JSON_NOT_UTF8, 2 }, { "\"\xed\xbf\xbf\"", JSON_NOT_UTF8, 1 }, { "\"\xf4\x90\x80\x80\"", JSON_NOT_UTF8, 1 },
		{ "\"\xf5\x80\x80\x80\"", JSON_NOT_UTF8, 1 }, { "\"\xff\"", JSON_NOT_UTF8, 1 }, { "\"\xc3\"", JSON_NOT_UTF8, 1 },
		{ "\"\xe2\x82\"", JSON_NOT_UTF8, 1 }, { "\"\xf0\x9f\x98\"", JSON_NOT_UTF8, 1 }, { "\"\xc3\xa9\x80\"", JSON_NOT_UTF8, 3 },
		{ "\"0123456789abcde\xff\"", JSON_NOT_UTF8, 16 }, { "{\"\xff\":1}", JSON_NOT_UTF8, 2 },
		{ "\"\xc3", JSON_CUT, 2 }, { "\"\xe2\x82", JSON_CUT, 3 }, { "\"\xf0\x9f\x98", JSON_CUT, 4 }, { "\"\xff", JSON_NOT_UTF8, 1 },
		{ "\"\xe0\x80", JSON_NOT_UTF8, 1 },
		{ "\xef\xbb\xbf{}", JSON_NOT_UTF8, 0 }, { "\xef\xbb\xbf", JSON_NOT_UTF8, 0 }, { "\xff", JSON_NOT_UTF8, 0 },
		{ "[\xff]", JSON_NOT_UTF8, 1 }, { "[\xc2\xa0]", JSON_SYNTAX, 1 }, { "1\xc2\xa0", JSON_TRAILING, 1 },
	};
	static const struct span wide[] = {
		{ "\xff\xfe{\0}\0", 6 }, { "\xfe\xff\0{\0}", 6 }, { "{\0}\0", 4 }, { "\0{\0}", 4 }, { "[\0\"\0\"\0]\0", 8 },
		{ "{\0\0\0}\0\0\0", 8 }, { "\0\0\0{\0\0\0}", 8 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		expect(span_of(cases[i].text), cases[i].fault, cases[i].at);
	for (size_t i = 0; i < COUNT(wide); i++)
		expect(wide[i], JSON_NOT_UTF8, 0);
}

static void a_nul_byte_is_never_fine(void **state)
{
	(void)state;
	expect(SPAN("\"\0\""), JSON_SYNTAX, 1);
	expect(SPAN("\"a\0b\""), JSON_SYNTAX, 2);
	expect(SPAN("{}\0"), JSON_TRAILING, 2);
	expect(SPAN("[1,\0]"), JSON_SYNTAX, 3);
	expect(SPAN("\0"), JSON_SYNTAX, 0);
	expect(span_make(NULL, 0), JSON_EMPTY, 0);
}

static void nest(char *text, size_t depth, bool objects)
{
	size_t at = 0;

	for (size_t i = 0; i < depth; i++) {
		memcpy(text + at, objects ? "{\"a\":" : "[", objects ? 5 : 1);
		at += objects ? 5 : 1;
	}
	text[at++] = '1';
	memset(text + at, objects ? '}' : ']', depth);
	text[at + depth] = '\0';
}

static void depth_512_is_fine_and_513_is_not(void **state)
{
	static char text[JSON_DEPTH_MAX * 8];

	(void)state;
	for (int objects = 0; objects < 2; objects++) {
		nest(text, JSON_DEPTH_MAX, objects);
		expect(span_of(text), JSON_FINE, 0);
		nest(text, JSON_DEPTH_MAX + 1, objects);
		expect(span_of(text), JSON_TOO_DEEP, objects ? 5 * JSON_DEPTH_MAX : JSON_DEPTH_MAX);
	}
	memset(text, '[', JSON_DEPTH_MAX);
	expect(span_make(text, JSON_DEPTH_MAX), JSON_CUT, JSON_DEPTH_MAX);
}

static void siblings_are_not_depth(void **state)
{
	static char text[4 * JSON_DEPTH_MAX * 2];
	size_t at = 0;

	(void)state;
	text[at++] = '[';
	for (int i = 0; i < JSON_DEPTH_MAX + 5; i++) {
		memcpy(text + at, "[],", 3);
		at += 3;
	}
	text[at - 1] = ']';
	expect(span_make(text, at), JSON_FINE, 0);
}

static void a_text_over_the_limit_is_not_looked_at(void **state)
{
	size_t at = 0;
	struct json_doc doc = { 0 };

	(void)state;
	assert_int_equal(json_parse(&doc, span_make("1", (size_t)JSON_TEXT_MAX + 1), &at), JSON_TOO_LONG);
	assert_int_equal(at, JSON_TEXT_MAX);
	json_doc_free(&doc);
}

static const char sample[] =
	"{\"before\":null, \"after\":{\"id\":17,\"name\":\"K\xc3\xb6ln \\u00e9\\ud83d\\ude00 and a longer text, over a block\",\n"
	"\"price\":-12.50e+3,\"big\":12345678901234567890123,\"tags\":[true,false,[],{}, \"\\\"x\\\"\"]},\"op\":\"u\","
	"\"ts_us\":1796000565158855,\"\xd0\x9a\xd0\xbb\xd1\x8e\xd1\x87\":\"\xe2\x82\xac\xf0\x9f\x98\x80\" , \"last\":0 }";

static void a_cut_at_any_byte_is_called_a_cut(void **state)
{
	(void)state;
	expect(span_of(sample), JSON_FINE, 0);
	for (size_t i = 1; i < sizeof(sample) - 1; i++)
		expect(span_make(sample, i), JSON_CUT, i);
}

/* The same strings at every place relative to blocks, strides and the end. */
static void where_a_string_stands_changes_nothing(void **state)
{
	static const char *const bodies[] = { "", "a", "\\n", "\\\"", "\xc3\xa9", "\\\\", "0123456789abcdef", "\\ud834\\udd1e" };
	char text[256];

	(void)state;
	for (size_t b = 0; b < COUNT(bodies); b++) {
		for (int before = 0; before < 70; before++) {
			int len = snprintf(text, sizeof(text), "[\"%0*d\",\"%s\",{\"%s\":\"%s\"}]", before, 0, bodies[b], bodies[b], bodies[b]);

			expect(span_make(text, (size_t)len), JSON_FINE, 0);
			expect(span_make(text, (size_t)len - 1), JSON_CUT, (size_t)len - 1);
			text[len - 4] = '\x01';
			assert_int_not_equal(fault_of(span_make(text, (size_t)len), &(size_t){ 0 }), JSON_FINE);
		}
	}
}

static void check_token(const struct json_doc *doc, uint32_t index, int kind, const char *raw, uint32_t next)
{
	if (!span_is(json_raw(doc, index), raw) || doc->tokens[index].kind != kind || doc->tokens[index].next != next)
		fail_msg("token %u is '%.*s' of kind %d, next %u", index, SPAN_ARG(json_raw(doc, index)),
		         doc->tokens[index].kind, doc->tokens[index].next);
}

static void every_token_knows_its_text_and_its_next(void **state)
{
	struct json_doc doc = { 0 };
	size_t at;

	(void)state;
	assert_int_equal(json_parse(&doc, SPAN(" {\"a\":[1,-2.5,[ ]], \"b\":{\"c\":\"x\\n\"},\"d\":true} "), &at), JSON_FINE);
	assert_int_equal(doc.count, 12);
	check_token(&doc, 0, JSON_OBJECT, "{\"a\":[1,-2.5,[ ]], \"b\":{\"c\":\"x\\n\"},\"d\":true}", 12);
	check_token(&doc, 1, JSON_STRING, "a", 2);
	check_token(&doc, 2, JSON_ARRAY, "[1,-2.5,[ ]]", 6);
	check_token(&doc, 3, JSON_NUMBER, "1", 4);
	check_token(&doc, 4, JSON_NUMBER, "-2.5", 5);
	check_token(&doc, 5, JSON_ARRAY, "[ ]", 6);
	check_token(&doc, 6, JSON_STRING, "b", 7);
	check_token(&doc, 7, JSON_OBJECT, "{\"c\":\"x\\n\"}", 10);
	check_token(&doc, 8, JSON_STRING, "c", 9);
	check_token(&doc, 9, JSON_STRING, "x\\n", 10);
	check_token(&doc, 10, JSON_STRING, "d", 11);
	check_token(&doc, 11, JSON_TRUE, "true", 12);
	assert_int_equal(doc.tokens[3].flags, 0);
	assert_int_equal(doc.tokens[4].flags, JSON_IS_FRACTION);
	assert_int_equal(doc.tokens[8].flags, 0);
	assert_int_equal(doc.tokens[9].flags, JSON_HAS_ESCAPES);
	assert_true(span_is(json_slice(&doc, 9), "\"x\\n\""));
	assert_true(span_is(json_slice(&doc, 3), "1"));
	assert_true(json_is(&doc, 11, JSON_TRUE));
	json_doc_free(&doc);
}

static void a_doc_serves_text_after_text(void **state)
{
	size_t members = 70000, len = 0, at;
	char *big = malloc(members * 2 + 2);
	struct json_doc doc = { 0 };

	(void)state;
	assert_non_null(big);
	for (size_t i = 0; i < members; i++) {
		big[len++] = i ? ',' : '[';
		big[len++] = '1';
	}
	big[len++] = ']';
	assert_int_equal(json_parse(&doc, span_make(big, len), &at), JSON_FINE);
	assert_int_equal(doc.count, members + 1);
	assert_int_equal(doc.tokens[0].next, members + 1);
	assert_int_equal(json_parse(&doc, SPAN("[1"), &at), JSON_CUT);
	assert_int_equal(json_parse(&doc, SPAN("[1]"), &at), JSON_FINE);
	assert_int_equal(doc.count, 2);
	assert_true(doc.room < members); /* what one huge text needed is given back */
	json_doc_free(&doc);
	json_doc_free(&doc);
	json_doc_free(NULL);
	free(big);
}

static void members_are_found_by_name(void **state)
{
	struct json_doc doc = { 0 };
	size_t at;

	(void)state;
	assert_int_equal(json_parse(&doc, SPAN("{\"a\":{\"z\":0},\"\\u0062\":2,\"a\":3,\"\":4,\"b\":5,\"c\\n\\u00e9\":6,\"cc\":7}"), &at), JSON_FINE);
	assert_int_equal(json_member(&doc, 0, SPAN("a")), 2);
	assert_true(span_is(json_raw(&doc, json_member(&doc, 0, SPAN("b"))), "2"));
	assert_true(span_is(json_raw(&doc, json_member(&doc, 0, SPAN(""))), "4"));
	assert_true(span_is(json_raw(&doc, json_member(&doc, 0, SPAN("c\n\xc3\xa9"))), "6"));
	assert_true(span_is(json_raw(&doc, json_member(&doc, 0, SPAN("cc"))), "7"));
	assert_int_equal(json_member(&doc, 0, SPAN("z")), 0);
	assert_int_equal(json_member(&doc, 0, SPAN("c")), 0);
	assert_int_equal(json_member(&doc, 0, SPAN("c\n\xc3")), 0);
	assert_int_equal(json_member(&doc, 0, SPAN("c\n\xc3\xa9x")), 0);
	assert_int_equal(json_member(&doc, 2, SPAN("z")), 4);
	assert_int_equal(json_parse(&doc, SPAN("{}"), &at), JSON_FINE);
	assert_int_equal(json_member(&doc, 0, SPAN("a")), 0);
	json_doc_free(&doc);
}

static void strings_come_out_unescaped(void **state)
{
	static const struct {
		const char *text;
		struct span value;
	} cases[] = {
		{ "\"plain\"", { "plain", 5 } }, { "\"\"", { "", 0 } }, { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", { "\"\\/\b\f\n\r\t", 8 } },
		{ "\"a\\u0000b\"", { "a\0b", 3 } }, { "\"\\u007f\\u0080\"", { "\x7f\xc2\x80", 3 } },
		{ "\"\\u07ff\\u0800\\uFFFF\"", { "\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf", 8 } },
		{ "\"\\ud800\\udc00\\uDBFF\\uDFFF\"", { "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8 } },
		{ "\"\xc3\xa9\\n\xe2\x82\xac\"", { "\xc3\xa9\n\xe2\x82\xac", 6 } }, { "\"\\\\u0041\"", { "\\u0041", 6 } },
	};
	struct arena *arena = arena_new(4096);
	struct json_doc doc = { 0 };
	size_t at;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(json_parse(&doc, span_of(cases[i].text), &at), JSON_FINE);
		assert_true(span_equal(json_text(&doc, 0, arena), cases[i].value));
	}
	assert_int_equal(json_parse(&doc, SPAN("\"plain\""), &at), JSON_FINE);
	assert_ptr_equal(json_text(&doc, 0, arena).at, doc.text.at + 1); /* no copy */
	json_doc_free(&doc);
	arena_free(arena);
}

static void integers_fit_or_are_refused(void **state)
{
	static const struct {
		const char *text;
		bool fits;
		int64_t value;
	} cases[] = {
		{ "0", true, 0 }, { "-0", true, 0 }, { "17", true, 17 }, { "-17", true, -17 },
		{ "9223372036854775807", true, INT64_MAX }, { "9223372036854775808", false, 0 },
		{ "-9223372036854775808", true, INT64_MIN }, { "-9223372036854775809", false, 0 },
		{ "18446744073709551616", false, 0 }, { "99999999999999999999999999", false, 0 },
		{ "1.0", false, 0 }, { "1e3", false, 0 }, { "\"1\"", false, 0 }, { "true", false, 0 },
	};
	struct json_doc doc = { 0 };
	size_t at;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t value = 4711;

		assert_int_equal(json_parse(&doc, span_of(cases[i].text), &at), JSON_FINE);
		assert_int_equal(json_int64(&doc, 0, &value), cases[i].fits);
		assert_true(value == (cases[i].fits ? cases[i].value : 4711));
	}
	json_doc_free(&doc);
}

static void text_becomes_integers_only_whole(void **state)
{
	int64_t number = 4711;
	uint64_t natural = 4711;

	(void)state;
	assert_true(span_uint64(SPAN("18446744073709551615"), &natural) && natural == UINT64_MAX);
	assert_true(span_uint64(SPAN("007"), &natural) && natural == 7);
	assert_true(span_int64(SPAN("-12"), &number) && number == -12);
	for (size_t i = 0; i < 5; i++) {
		static const char *const bad[] = { "", "-", "+1", "1 ", "0x1" };

		assert_false(span_int64(span_of(bad[i]), &number));
		assert_false(span_uint64(span_of(bad[i]), &natural));
	}
	assert_false(span_int64(SPAN("01"), &number) || span_int64(SPAN("-01"), &number) || span_int64(SPAN("--1"), &number));
	assert_false(span_uint64(SPAN("-1"), &natural) || span_uint64(SPAN("18446744073709551616"), &natural));
	assert_true(number == -12 && natural == 7);
}

/* A block that is no JSON inside: whoever looked into it would stumble. */
#define BLOCK "{the block}"

static size_t recognise_block(void *context, struct span rest, void **out_id)
{
	int *calls = context;

	++*calls;
	if (rest.len < strlen(BLOCK) || memcmp(rest.at, BLOCK, strlen(BLOCK)) != 0)
		return 0;
	*out_id = calls;
	return strlen(BLOCK);
}

static void known_case(const char *text, enum json_fault fault, int calls, bool is_known)
{
	int seen = 0;
	struct json_known known = { recognise_block, &seen };
	struct json_doc doc = { 0 };
	void *id = &known;
	size_t at;

	assert_int_equal(json_parse_known(&doc, span_of(text), &known, &id, &at), fault);
	assert_int_equal(seen, calls);
	assert_ptr_equal(id, is_known ? (void *)&seen : NULL);
	if (is_known && fault == JSON_FINE) {
		uint32_t schema = json_member(&doc, 0, SPAN("schema"));

		check_token(&doc, schema, JSON_OBJECT, BLOCK, schema + 1);
		assert_int_equal(json_member(&doc, schema, SPAN("x")), 0);
	}
	json_doc_free(&doc);
}

static void a_known_schema_is_not_looked_into(void **state)
{
	(void)state;
	known_case("{\"schema\":" BLOCK ",\"payload\":{\"a\":\"b\"}}", JSON_FINE, 1, true);
	known_case("{\"payload\":{\"a\":\"b\"} , \"schema\" : " BLOCK " }", JSON_FINE, 1, true);
	known_case("{\"schema\":" BLOCK "}", JSON_FINE, 1, true);
	known_case("{\"schema\":" BLOCK, JSON_CUT, 1, true);
	known_case("{\"schema\":" BLOCK "x}", JSON_SYNTAX, 1, true);
	known_case("{\"schema\":{\"unknown\":1},\"payload\":1}", JSON_FINE, 1, false);
	known_case("{\"schema\":null,\"a\":{}}", JSON_FINE, 0, false);
	known_case("{\"schemas\":{},\"x\":\"schema\",\"y\":{}}", JSON_FINE, 0, false);
	known_case("{\"payload\":{\"schema\":" BLOCK "}}", JSON_SYNTAX, 0, false);
	known_case("[\"schema\",{}]", JSON_FINE, 0, false);
	known_case("{\"schema\":[" BLOCK "]}", JSON_SYNTAX, 0, false);
}

static void every_fault_has_words_and_a_code(void **state)
{
	(void)state;
	for (int fault = JSON_FINE; fault <= JSON_SURROGATE; fault++)
		assert_true(strlen(json_fault_text((enum json_fault)fault)) > 0);
	assert_string_equal(json_fault_code(JSON_EMPTY), "empty_message");
	assert_string_equal(json_fault_code(JSON_CUT), "not_json");
	assert_string_equal(json_fault_code(JSON_TOO_DEEP), "too_deep");
	assert_string_equal(json_fault_code(JSON_TOO_LONG), "record_too_large");
	assert_string_equal(json_fault_code(JSON_SURROGATE), "not_utf8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_what_the_grammar_allows),
		cmocka_unit_test(says_what_is_wrong_and_where),
		cmocka_unit_test(refuses_what_is_not_utf8),
		cmocka_unit_test(a_nul_byte_is_never_fine),
		cmocka_unit_test(depth_512_is_fine_and_513_is_not),
		cmocka_unit_test(siblings_are_not_depth),
		cmocka_unit_test(a_text_over_the_limit_is_not_looked_at),
		cmocka_unit_test(a_cut_at_any_byte_is_called_a_cut),
		cmocka_unit_test(where_a_string_stands_changes_nothing),
		cmocka_unit_test(every_token_knows_its_text_and_its_next),
		cmocka_unit_test(a_doc_serves_text_after_text),
		cmocka_unit_test(members_are_found_by_name),
		cmocka_unit_test(strings_come_out_unescaped),
		cmocka_unit_test(integers_fit_or_are_refused),
		cmocka_unit_test(text_becomes_integers_only_whole),
		cmocka_unit_test(a_known_schema_is_not_looked_into),
		cmocka_unit_test(every_fault_has_words_and_a_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
