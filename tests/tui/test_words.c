/* A line as words: quotes, backslashes, ends. */
#include "base/arena.h"
#include "prompt/prompt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Words joined by '|'; "open": a quote is not closed. */
static void splits(const char *line, const char *expected)
{
	OWNED(text) joined = text_new(1000);
	char **words;
	size_t count;

	if (!words_split(line, &words, &count)) {
		assert_string_equal("open", expected);
		return;
	}
	for (size_t i = 0; i < count; i++)
		text_add_format(joined, "%s%s", i ? "|" : "", words[i]);
	words_free(words, count);
	assert_string_equal(joined->at, expected);
}

static void blanks_part_words(void **state)
{
	(void)state;
	splits("", "");
	splits(" \t ", "");
	splits("  pause\tshop   orders ", "pause|shop|orders");
}

static void quotes_hold_blanks_and_join(void **state)
{
	(void)state;
	splits("note 'a  b' \"c d\"", "note|a  b|c d");
	splits("a'b c'\"d\"e", "ab cde");
	splits("note '' x", "note||x");
	splits("'it\"s' \"it's\"", "it\"s|it's");
}

static void a_backslash_takes_the_next_sign_as_it_is(void **state)
{
	(void)state;
	splits("a\\ b \\'c", "a b|'c");
	splits("'a\\b' \"a\\b\" \"\\\"\\\\\"", "a\\b|a\\b|\"\\");
	splits("end\\", "end\\");
}

static void json_behind_a_name_is_taken_as_it_is_typed(void **state)
{
	(void)state;
	splits("set demo columnTypes={\"shop.orders.qty\":\"STRING\"} --why x", "set|demo|columnTypes={\"shop.orders.qty\":\"STRING\"}|--why|x");
	splits("a={ \"b\" : [1, \"c } ] \\\" d\"] } e", "a={ \"b\" : [1, \"c } ] \\\" d\"] }|e");
	splits("k=[\"id\", \"no\"] x", "k=[\"id\", \"no\"]|x");
	splits("'k={\"a\":1}' k=\"v\" {\"a b\"}", "k={\"a\":1}|k=v|{a b}");
	splits("k={\"a\":1", "open");
	splits("k={\"a}", "open");
	splits("k=[\"a\\", "open");
}

static void an_open_quote_is_no_line(void **state)
{
	(void)state;
	splits("note 'a b", "open");
	splits("note \"a b\\\"", "open");
	splits("'", "open");
}

static void nothing_is_expanded(void **state)
{
	(void)state;
	splits("note $HOME * `x` ~ a;b|c", "note|$HOME|*|`x`|~|a;b|c");
}

static void words_have_a_most(void **state)
{
	char line[801];
	char **words;
	size_t count;

	(void)state;
	for (int i = 0; i < 800; i += 2)
		memcpy(line + i, "a ", 2);
	line[800] = '\0';
	assert_true(words_split(line, &words, &count));
	assert_int_equal(count, 200);
	words_free(words, count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_part_words),
		cmocka_unit_test(quotes_hold_blanks_and_join),
		cmocka_unit_test(a_backslash_takes_the_next_sign_as_it_is),
		cmocka_unit_test(json_behind_a_name_is_taken_as_it_is_typed),
		cmocka_unit_test(an_open_quote_is_no_line),
		cmocka_unit_test(nothing_is_expanded),
		cmocka_unit_test(words_have_a_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
