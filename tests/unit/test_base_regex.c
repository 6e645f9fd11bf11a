/* Regexes that somebody typed: what they mean, what is refused and where, and that none takes long, read or searched with. */
#include "base/arena.h"
#include "base/regex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool finds_in(const char *typed, struct span text)
{
	struct regex_fault fault;
	struct regex *regex = regex_new(typed, &fault);
	int64_t used_ns = 0;
	bool is_found;

	if (!regex)
		fail_msg("/%s/, letter %zu: %s", typed, fault.letter, fault.why);
	is_found = regex_finds(regex, text, &used_ns);
	assert_true(used_ns <= REGEX_CPU_NS_MAX);
	regex_free(regex);
	return is_found;
}

static bool finds(const char *typed, const char *text)
{
	return finds_in(typed, span_make(text, strlen(text)));
}

static void refused(const char *typed, size_t letter, const char *why)
{
	struct regex_fault fault;

	if (regex_new(typed, &fault))
		fail_msg("/%s/ is read", typed);
	assert_string_equal(fault.why, why);
	assert_int_equal(fault.letter, letter);
}

static void what_was_typed_for_posix_means_the_same(void **state)
{
	(void)state;
	assert_true(finds("^[[:alpha:]_]+[[:digit:]]{2,3}$", "ab_12"));
	assert_false(finds("^[[:alpha:]_]+[[:digit:]]{2,3}$", "ab_1234"));
	assert_true(finds("(red|green|)x", "greenx"));
	assert_true(finds("^(ab){2,}c?$", "ababab"));
	assert_true(finds("[]a]b[^]x]", "]bc"));
	assert_true(finds("a.c", "a\nc"));       /* a newline is a letter as any other */
	assert_false(finds("a$", "a\n"));        /* and no end */
	assert_false(finds("^b", "a\nb"));
	assert_true(finds("\\{\"id\": ?[0-9]+", "{\"id\": 7}"));
	assert_true(finds("{\"id\":7}", "{\"id\":7}"));
	assert_true(finds("a\\.b\\\\1", "a.b\\1"));
	assert_true(finds("\\bword\\b", "a word."));
	assert_false(finds("Word", "word"));
}

static void a_letter_is_one_however_many_bytes_it_has(void **state)
{
	(void)state;
	assert_true(finds("^h.llo$", "h\xc3\xa9llo"));
	assert_true(finds("^[[:alpha:]]{5}$", "h\xc3\xa9llo"));
	assert_true(finds("^[\xc3\xa0-\xc3\xbf]$", "\xc3\xa9"));
	assert_true(finds("(?i)\xc3\x89", "\xc3\xa9"));
	assert_true(finds("^.$", "\xf0\x9f\x90\x87"));
	refused("\xc3\xa9\xc3\xa9(", 4, "the regex cannot be read: a ( has no )");
}

static void text_that_is_no_utf8_is_searched_around_its_broken_bytes(void **state)
{
	static const char broken[] = "\xff\xfe{\"name\":\"M\xfcller\",\"n\":1}\xc3";
	struct span text = { broken, sizeof(broken) - 1 };

	(void)state;
	assert_true(finds_in("\"n\":1", text));
	assert_true(finds_in(".*name", text));
	assert_true(finds_in("\"M", text));
	assert_true(finds_in("ller\"", text));
	assert_false(finds_in("M.ller", text)); /* a broken byte is no letter */
	assert_false(finds_in("^\\{", text));
	assert_false(finds_in("}$", text));
	assert_true(finds_in("a.b", span_make("a\0b", 3)));
	assert_true(finds_in("^$", span_make("", 0)));
}

static void what_cannot_be_read_says_why_and_where(void **state)
{
	char long_one[REGEX_CHARACTERS_MAX + 2];

	(void)state;
	refused("", 0, "nothing stands in the regex");
	memset(long_one, 'a', sizeof(long_one));
	long_one[sizeof(long_one) - 1] = '\0';
	refused(long_one, 0, "a regex has at most 256 characters, this one has 257");
	refused("a[b", 4, "the regex cannot be read: a [ has no ]");
	refused("a)", 2, "the regex cannot be read: a ) has no (");
	refused("[[:alpa:]]", 4, "the regex cannot be read: no class is called so");
	refused("*a", 1, "the regex cannot be read: there is nothing to repeat; a repeat of a repeat is (a+){2}");
	refused("a{3,2}", 6, "the regex cannot be read: the repeat's second number is smaller than its first");
	refused("a\xff", 2, "the regex cannot be read: it is not UTF-8");
	refused("(a)\\1", 5, "the regex cannot be read: back-references (\\1 to \\9) and calls of groups are not allowed");
	refused("(?<n>a)\\k<n>", 1, "the regex cannot be read: back-references (\\1 to \\9) and calls of groups are not allowed");
	refused("\\C", 3, "the regex cannot be read: \\C is not allowed");
}

/* These mean something else in other programs, and would find nothing without a word. */
static void what_only_other_programs_take_is_refused(void **state)
{
	(void)state;
	refused("a\\<b", 2, "the regex cannot be read: \\< is not known; the edge of a word is \\b, the sign itself <");
	refused("\\`a", 1, "the regex cannot be read: \\` is not known; the beginning is ^, the sign itself `");
	refused("a{,3}", 2, "the regex cannot be read: a repeat needs its first number, as {0,3}");
	assert_true(finds("[{,3}\\<]<\\\\<{,x", "<<\\<{,x"));
	assert_true(finds("[[:alpha:]\\]{,3}]{,", "}{,"));
}

/* Read and searched with in the time that is allowed, or given up in it; the C library's took hours for some. */
static const char *const hanging[] = {
	"(\\b|)+{9}", "\\`(a*|b*|c*){9}{0,3}{0,3}*$\\>", "((\\b|)+){9}", "(((((a*|b*|c*){9}){0,3}){0,3})*$)", "((((((((((a*)*)*)*)*)*)*)*)*)*)*b$",
	"a?????????+++?????+???????+++b", "(a+)+[xyz]$", "((a{1,100}){1,100}){1,100}", "((a|a)*)*[bc]$", "(a|aa)+[xyz]$", "(.*)*(.*)*(.*)*[xyz]$",
	"(?:a*+[bc]|a*+[bd]|.)*[xyz]$", "(a?){200}a{200}[xyz]", "(?R)?a(?R)?b?", "(?>a+|(?=a*a*a*[xyz]))*[xyz]", "(?<=a{200})[xyz]|(a*)*[xyz]",
	"(\\X*)*[xyz]", "(|a)+(|a)+(|a)+[xyz]$", "(((.|a)*)*|a)*[xyz]", "(*LIMIT_MATCH=4000000000)(*LIMIT_HEAP=4000000000)(*NO_START_OPT)(a*)*[xyz]",
	"([a-z]+[0-9]*)+[xyz]\\b", "(a|b|ab)*(?=[xyz])", "(()|())*{3}", "(\\B|\\b)*[xyz]", "(((((((((((((((((((a?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?[xyz]",
};

static void no_regex_takes_long_on_no_text(void **state)
{
	char *hay = memory_alloc(60000);

	(void)state;
	memset(hay, 'a', 60000);
	for (size_t i = 0; i < sizeof(hanging) / sizeof(hanging[0]); i++) {
		struct regex_fault fault;
		double since = cpu_s();
		struct regex *regex = regex_new(hanging[i], &fault);
		int64_t used_ns = 0;

		if (regex && regex_finds(regex, span_make(hay, 60000), &used_ns))
			assert_true(used_ns <= REGEX_CPU_NS_MAX);
		regex_free(regex);
		if (cpu_s() - since > 1)
			fail_msg("/%s/ took %.1f s", hanging[i], cpu_s() - since);
	}
	free(hay);
}

static void what_was_given_up_is_told_from_what_was_not_found(void **state)
{
	char hay[5000];
	struct regex_fault fault;
	struct regex *slow = regex_new("^(a+)+[xyz]", &fault), *large = regex_new("^(?:a|b|(?:a|b))*[xyz]", &fault);
	int64_t used_ns = 0;

	(void)state;
	memset(hay, 'a', sizeof(hay));
	assert_false(regex_finds(slow, span_make(hay, sizeof(hay)), &used_ns));
	assert_true(used_ns > REGEX_CPU_NS_MAX);
	used_ns = 0;
	assert_false(regex_finds(large, span_make(hay, 3), &used_ns));
	assert_true(used_ns <= REGEX_CPU_NS_MAX);
	regex_free(slow);
	regex_free(large);
}

/* In UTF-8 of any length, up to where texts are searched and not behind it. */
static void a_long_text_is_searched_to_its_limit(void **state)
{
	char *hay = memory_alloc(REGEX_TEXT_BYTES_MAX + 10);

	(void)state;
	memset(hay, 'a', REGEX_TEXT_BYTES_MAX + 10);
	hay[REGEX_TEXT_BYTES_MAX - 1] = 'z';
	assert_true(finds_in("z", span_make(hay, REGEX_TEXT_BYTES_MAX + 10)));
	assert_true(finds_in(".*z$", span_make(hay, REGEX_TEXT_BYTES_MAX + 10)));
	assert_true(finds_in("^(a|b)*z", span_make(hay, REGEX_TEXT_BYTES_MAX)));
	assert_true(finds_in("^([[:alpha:]]|[[:digit:]])+$", span_make(hay, REGEX_TEXT_BYTES_MAX)));
	hay[REGEX_TEXT_BYTES_MAX - 1] = 'a';
	hay[REGEX_TEXT_BYTES_MAX] = 'z';
	assert_false(finds_in("z", span_make(hay, REGEX_TEXT_BYTES_MAX + 10)));
	free(hay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_typed_for_posix_means_the_same),
		cmocka_unit_test(a_letter_is_one_however_many_bytes_it_has),
		cmocka_unit_test(text_that_is_no_utf8_is_searched_around_its_broken_bytes),
		cmocka_unit_test(what_cannot_be_read_says_why_and_where),
		cmocka_unit_test(what_only_other_programs_take_is_refused),
		cmocka_unit_test(no_regex_takes_long_on_no_text),
		cmocka_unit_test(what_was_given_up_is_told_from_what_was_not_found),
		cmocka_unit_test(a_long_text_is_searched_to_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
