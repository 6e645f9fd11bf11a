/*
 * Texts read by the trail of earlier ones: the same tokens, the same faults at
 * the same bytes as without, whatever changes in them.
 */
#include "record/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const char long_text[] =
	"{\"before\":null,\"after\":{\"id\":114613,\"zero\":0,\"minus\":-7,\"text\":\"a longer text than one block of bytes\","
	"\"real\":-57.43811,\"odd\":1e5,\"big\":1775304698353194,\"flag\":true,\"off\":false,\"none\":null,\"escaped\":\"a\\\"b\","
	"\"gr\xc3\xbc\xc3\x9f" "e\":\"\xc3\xa9\",\"tags\":[1,{\"x\":2}],\"map\":{\"deep\":{\"er\":1}},\"empty\":{},\"e\":\"\"},"
	"\"source\":{\"db\":\"shop\",\"seq\":\"[\\\"1\\\",\\\"2\\\"]\",\"lsn\":264264488},\"op\":\"u\",\"ts_ms\":1796001000245}";

static const char *const texts[] = {
	long_text,
	"{\"a\":1}",
	"{\"a\":{\"b\":{\"c\":{\"d\":1}}},\"e\":[]}",
	"{ \"a\" : 1 , \"b\" : { \"c\" : \"x\" } }",
	"{\"a\":{\"b\":1} ,\"c\":2}",
	"{\"a\\u0062\":1,\"c\":2}",
	"{\"a\":1,\"a\":2}",
	"{\"schema\":{\"type\":\"struct\"},\"payload\":{\"a\":1}}",
	"{}",
	"[1,2]",
	" {\"a\":1}",
	"{\"a name that is longer than what one step of the trail may hold\":1,\"b\":2}",
};

/* Exactly as long as the text, on the heap: sanitizers see a look behind the end. */
static char *copy_of(struct span text)
{
	char *copy = malloc(text.len ? text.len : 1);

	assert_non_null(copy);
	if (text.len)
		memcpy(copy, text.at, text.len);
	return copy;
}

static enum json_fault read_by(struct json_doc *doc, struct json_trail *trail, struct span text, size_t *out_at)
{
	struct json_known known = { .trail = trail };
	void *id;

	return json_parse_known(doc, text, &known, &id, out_at);
}

static uint32_t trail_of(struct json_trail *trail, const char *text)
{
	struct json_doc doc = { 0 };
	size_t at;
	uint32_t number;

	assert_int_equal(read_by(&doc, trail, span_of(text), &at), JSON_FINE);
	number = doc.trail;
	json_doc_free(&doc);
	return number;
}

/* The places are the values of the members down to three objects deep, in order. */
static void check_places(const struct json_doc *doc)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < doc->place_count; i++) {
		assert_true(doc->places[i] > last && doc->places[i] < doc->count);
		assert_true(json_is(doc, doc->places[i] - 1, JSON_STRING));
		last = doc->places[i];
	}
}

static void check_same(struct json_trail *trail, struct span text)
{
	struct json_doc plain = { 0 }, by_trail = { 0 };
	size_t plain_at = 0, trail_at = 0;
	char *copy = copy_of(text);
	enum json_fault fault = json_parse(&plain, span_make(copy, text.len), &plain_at);

	assert_int_equal(read_by(&by_trail, trail, span_make(copy, text.len), &trail_at), fault);
	assert_int_equal(trail_at, plain_at);
	assert_int_equal(by_trail.count, plain.count);
	if (plain.count)
		assert_memory_equal(by_trail.tokens, plain.tokens, plain.count * sizeof(*plain.tokens));
	if (by_trail.trail)
		check_places(&by_trail);
	json_doc_free(&plain);
	json_doc_free(&by_trail);
	free(copy);
}

static void the_same_text_again_has_the_same_tokens(void **state)
{
	struct json_trail *trail = json_trail_new();

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < COUNT(texts); i++)
			check_same(trail, span_of(texts[i]));
	}
	json_trail_free(trail);
}

/* `other` put in before the byte at `at`, as `{"a":0{"b":1}}`. */
static void check_longer(struct json_trail *trail, struct span text, size_t at, char other)
{
	char *longer = malloc(text.len + 1);

	assert_non_null(longer);
	memcpy(longer, text.at, at);
	longer[at] = other;
	memcpy(longer + at + 1, text.at + at, text.len - at);
	check_same(trail, span_make(longer, text.len + 1));
	free(longer);
}

/* Every cut of every text, and every byte of it made another or put behind another. */
static void a_text_that_leaves_the_trail_is_read_as_without(void **state)
{
	static const char others[] = "\"\\{}[],:0-.en \x01\xc3";

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct json_trail *trail = json_trail_new();
		struct span text = span_of(texts[i]);
		char *copy = copy_of(text);

		check_same(trail, text);
		for (size_t at = 0; at < text.len; at++) {
			check_same(trail, span_make(text.at, at));
			for (size_t o = 0; o < sizeof(others); o++) {
				copy[at] = others[o];
				check_same(trail, span_make(copy, text.len));
				check_longer(trail, text, at, others[o]);
			}
			copy[at] = text.at[at];
		}
		free(copy);
		json_trail_free(trail);
	}
}

static void texts_of_one_make_have_one_number(void **state)
{
	struct json_trail *trail = json_trail_new();
	uint32_t first;

	(void)state;
	assert_int_equal(trail_of(trail, "{\"a\":1,\"b\":{\"c\":\"x\"}}"), 0);
	first = trail_of(trail, "{\"a\":null,\"b\":{\"c\":[1,2,3]}}");
	assert_true(first);
	assert_int_equal(trail_of(trail, "{\"a\":{},\"b\":{\"c\":-1.5}}"), first);
	static const char *const others[] = { "{\"a\":1,\"b\":null}", "{\"a\":1,\"b\":{\"c\":1,\"d\":1}}", "{\"a\":1,\"b\":{\"d\":1}}",
		                              "{\"b\":{\"c\":1},\"a\":1}", "{\"a\":1,\"b\":{\"c\":1},\"d\":1}", "{\"a\":1}" };

	for (size_t i = 0; i < COUNT(others); i++) {
		trail_of(trail, others[i]);
		uint32_t other = trail_of(trail, others[i]);

		assert_true(other && other != first);
	}
	json_trail_free(trail);
}

/* A map with a name of its own in each text is no structure: it is read, and neither learned for ever nor mixed up. */
static void names_that_never_come_again_do_no_harm(void **state)
{
	struct json_trail *trail = json_trail_new();
	char text[100];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "{\"k%d\":{\"n%d\":%d,\"m\":1},\"end\":true}", i % 61, i, i);
		check_same(trail, span_of(text));
	}
	check_same(trail, span_of(long_text));
	json_trail_free(trail);
}

static size_t knows_braces(void *context, struct span rest, void **out_id)
{
	*out_id = context;
	return rest.len > 4 && memcmp(rest.at, "{\"k\"", 4) == 0 ? strlen("{\"k\":1}") : 0;
}

static void a_known_block_is_not_looked_into(void **state)
{
	static const char *const bodies[] = { "{\"schema\":{\"k\":1},\"payload\":{\"a\":1}}",
		                              "{\"schema\":{\"k\":1},\"payload\":{\"a\":2}}",
		                              "{\"schema\":{\"o\":1},\"payload\":{\"a\":2}}" };
	struct json_trail *trail = json_trail_new();
	struct json_doc doc = { 0 };
	size_t at;
	void *id;

	for (size_t i = 0; i < COUNT(bodies); i++) {
		struct json_known known = { knows_braces, state, trail };

		id = NULL;
		assert_int_equal(json_parse_known(&doc, span_of(bodies[i]), &known, &id, &at), JSON_FINE);
		assert_int_equal(doc.tokens[2].next, i < 2 ? 3 : 5);
		assert_true(span_is(json_slice(&doc, json_member(&doc, 0, SPAN("payload"))), i ? "{\"a\":2}" : "{\"a\":1}"));
	}
	assert_true(doc.trail);
	json_doc_free(&doc);
	json_trail_free(trail);
}

/* An array makes the count even, so that the members after it can fill the tokens' room to its end. */
static void members_write(char *out, size_t size, int count, const char *last)
{
	size_t len = (size_t)snprintf(out, size, "{\"a\":[1]");

	for (int i = 0; i < count; i++)
		len += (size_t)snprintf(out + len, size - len, ",\"m%d\":%d", i, i);
	snprintf(out + len, size - len, ",\"%s\":1,\"end\":\"%s\"}", last, "a text that is longer than four blocks of bytes, so that "
	         "the members are followed to the last one, which is a new one behind those that are known, and then some more bytes");
}

static void a_trail_that_ends_where_the_room_does_is_left_in_time(void **state)
{
	char known[8192], other[8192];

	(void)state;
	for (int count = 100; count < 150; count++) {
		struct json_trail *trail = json_trail_new();

		members_write(known, sizeof(known), count, "known");
		members_write(other, sizeof(other), count, "other");
		trail_of(trail, known);
		check_same(trail, span_of(other));
		json_trail_free(trail);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_text_again_has_the_same_tokens),
		cmocka_unit_test(a_text_that_leaves_the_trail_is_read_as_without),
		cmocka_unit_test(texts_of_one_make_have_one_number),
		cmocka_unit_test(names_that_never_come_again_do_no_harm),
		cmocka_unit_test(a_trail_that_ends_where_the_room_does_is_left_in_time),
		cmocka_unit_test(a_known_block_is_not_looked_into),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
