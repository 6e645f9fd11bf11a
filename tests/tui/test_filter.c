/* Filters over lists: what holds, what cannot be read, what takes too long. */
#include "base/arena.h"
#include "base/reason.h"
#include "model/filter.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const fields[] = { "table", "code", "tries", "age", "newer", NULL };

struct letter {
	const char *texts[5];
	double tries, age_s;
};

static const char *get(const void *row, size_t field)
{
	return ((const struct letter *)row)->texts[field];
}

static bool number(const void *row, size_t field, double *out)
{
	const struct letter *letter = row;

	if (field != 2 && field != 3)
		return false;
	*out = field == 2 ? letter->tries : letter->age_s;
	return true;
}

static const struct letter orders = { { "shop.Orders", "type_mismatch", "3", "1h30m", NULL }, 3, 5400 };

static bool holds(const char *text)
{
	struct error err = { 0 };
	struct filter *filter = filter_read(text, fields, &err);
	struct filter_row row = { fields, get, number, &orders };
	bool it_holds;

	if (!filter)
		fail_msg("%s: %s", text, err.message);
	assert_string_equal(filter_text(filter), text);
	it_holds = filter_holds(filter, &row);
	assert_false(filter_is_too_slow(filter));
	filter_free(filter);
	return it_holds;
}

static void refused(const char *text, const char *code, const char *message)
{
	struct error err = { 0 };

	assert_null(filter_read(text, fields, &err));
	assert_string_equal(err.code, code);
	assert_non_null(reason_find(err.code));
	if (message)
		assert_string_equal(err.message, message);
}

static void a_word_is_found_in_any_field_whatever_its_case(void **state)
{
	(void)state;
	assert_true(holds("orders"));
	assert_true(holds("  MISMATCH  "));
	assert_false(holds("items"));
	assert_true(holds("orders type"));
	assert_false(holds("orders items"));
	assert_true(holds("1h3"));
	assert_false(holds("\"orders type\""));
	assert_true(holds("\"shop.orders\""));
}

static void letters_of_other_alphabets_have_cases_too(void **state)
{
	static const struct letter umlaut = { { "\xc3\x84rger", "x\xff", NULL, NULL, NULL }, 0, 0 };
	struct filter_row row = { fields, get, number, &umlaut };
	struct filter *small = filter_read("\xc3\xa4RG", fields, NULL);
	struct filter *other = filter_read("\xc3\xb6RG", fields, NULL);
	struct filter *broken = filter_read("\xff", fields, NULL);

	(void)state;
	assert_true(filter_holds(small, &row));
	assert_false(filter_holds(other, &row));
	assert_true(filter_holds(broken, &row));
	filter_free(small);
	filter_free(other);
	filter_free(broken);
}

static void a_field_is_searched_alone(void **state)
{
	(void)state;
	assert_true(holds("table:orders"));
	assert_true(holds("TABLE:orders"));
	assert_false(holds("code:orders"));
	assert_false(holds("newer:yes"));
	assert_false(holds("newer:")); /* the row has none */
	assert_true(holds("code:"));
	assert_true(holds("!newer:yes"));
}

static void numbers_and_ages_compare_at_their_edges(void **state)
{
	(void)state;
	assert_true(holds("tries:3"));
	assert_false(holds("tries:30"));
	assert_false(holds("!tries:3"));
	assert_true(holds("age:\"1h3\""));
	assert_false(holds("age:54"));
	assert_true(holds("age:5400"));
	assert_true(holds("table:orders"));
	assert_true(holds("tries:>2"));
	assert_false(holds("tries:>3"));
	assert_true(holds("tries:>=3"));
	assert_true(holds("tries:<=3"));
	assert_false(holds("tries:<3"));
	assert_true(holds("age:>1h age:<2h"));
	assert_true(holds("age:<=1.5h"));
	assert_false(holds("age:>90m"));
	assert_true(holds("tries:<1k"));
	assert_false(holds("table:>1")); /* has no number */
}

static void bang_inverts_and_tilde_is_letters_in_order(void **state)
{
	(void)state;
	assert_false(holds("!orders"));
	assert_true(holds("!items"));
	assert_true(holds("~spors"));
	assert_false(holds("~srop"));
	assert_false(holds("!~spors"));
	assert_true(holds("~table:oes"));
	assert_false(holds("!tries:>2"));
}

static void a_regex_may_have_blanks_and_slashes(void **state)
{
	static const struct letter path = { { "a/b c", NULL, NULL, NULL, NULL }, 0, 0 };
	struct filter_row row = { fields, get, number, &path };
	struct filter *filter = filter_read("/^a\\/b c$/", fields, NULL);

	(void)state;
	assert_true(filter_holds(filter, &row));
	filter_free(filter);
	assert_true(holds("/^shop\\.O.*s$/"));
	assert_true(holds("/^shop"));
	assert_false(holds("/^orders/"));
	assert_true(holds("code:/^type_(mis)?match$/ orders"));
	assert_false(holds("!code:/mis/"));
}

static void what_cannot_be_read_is_named_with_its_column(void **state)
{
	(void)state;
	refused("orders cod:x", "bad_filter", "column 8: no field is called 'cod'; fields: table code tries age newer");
	refused("tries:>", "bad_filter", "column 8: '' is no number; 2, 1.5h, 30s and 10k are");
	refused("tries:>0x10", "bad_filter", NULL);
	refused("tries:>1e3", "bad_filter", NULL);
	refused("tries:>inf", "bad_filter", NULL);
	refused("tries:>2y", "bad_filter", NULL);
	refused("a !", "bad_filter", "column 3: no word stands here");
	refused("~", "bad_filter", "column 1: no word stands here");
	refused("/", "bad_filter", "column 1: nothing stands in the regex");
	refused("/(/", "bad_filter", NULL);
	refused("\xc3\xa4 /a/b", "bad_filter",
	        "column 6: a blank must follow the regex; a slash inside it is written \\/");
	refused("a b c d e f g h i j k l m n o p q", "bad_filter", "column 33: a filter has at most 16 words");
}

static void a_regex_has_limits(void **state)
{
	char text[400];

	(void)state;
	memset(text, 'a', sizeof(text));
	text[0] = '/';
	text[257] = '\0';
	assert_false(holds(text));
	text[257] = 'a';
	text[258] = '\0';
	refused(text, "bad_filter", "column 1: a regex has at most 256 characters, this one has 257");
	refused("/(a)\\1/", "bad_filter",
	        "column 6: the regex cannot be read: back-references (\\1 to \\9) and calls of groups are not allowed");
	assert_false(holds("/a\\\\1/")); /* a backslash, then 1 */
	refused("/((a{1,100}){1,100}){1,100}/", "bad_filter",
	        "column 28: the regex cannot be read: with its repeats written out it is too large");
	refused("\xc3\xa4 /\xc3\xa4\\/[b/", "bad_filter", "column 9: the regex cannot be read: a [ has no ]");
	assert_false(holds("/x+[[:digit:]+)]+a+b+c+d+e+f+g+h+i+j+k+l+m+n+/"));
}

static void nothing_is_an_empty_filter_and_no_error(void **state)
{
	struct error err = { 0 };

	(void)state;
	assert_null(filter_read("", fields, &err));
	assert_null(filter_read("   ", fields, &err));
	assert_int_equal(err.kind, ERROR_NONE);
}

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Rows come until the budget is used up; no single row may use many times as much, however long its text. */
static void a_regex_that_takes_too_long_holds_for_nothing_more(void **state)
{
	char *hay = memory_alloc(60001);
	struct letter letter = { { hay, NULL, NULL, NULL, NULL }, 0, 0 };
	struct filter_row row = { fields, get, number, &letter };
	struct filter *filter = filter_read("!/(a|b|c)*[x-z]{100}$/", fields, NULL);
	double since = cpu_s();

	(void)state;
	memset(hay, 'a', 60000);
	hay[60000] = '\0';
	for (int i = 0; i < 100000 && !filter_is_too_slow(filter); i++)
		filter_holds(filter, &row);
	filter_begin(filter);
	assert_true(filter_is_too_slow(filter));
	assert_true(cpu_s() - since < 1);
	assert_false(filter_holds(filter, &row)); /* nor does its opposite */
	filter_free(filter);
	free(hay);
}

/* A list that is looked at all day tries its rows each time they change: that is no slow regex. */
static void each_time_the_rows_are_tried_has_its_own_budget(void **state)
{
	char hay[16385];
	struct letter letter = { { hay, NULL, NULL, NULL, NULL }, 0, 0 };
	struct filter_row row = { fields, get, number, &letter };
	struct filter *filter = filter_read("/a[^z]*z/", fields, NULL);
	double since = cpu_s();

	(void)state;
	memset(hay, 'a', sizeof(hay));
	memset(hay + 200, 'b', sizeof(hay) - 200);
	hay[16384] = '\0';
	hay[100] = 'z';
	while (cpu_s() - since < 0.5) {
		filter_begin(filter);
		assert_true(filter_holds(filter, &row));
	}
	assert_false(filter_is_too_slow(filter));
	filter_free(filter);
}

/* As long as a filter may be, and like the text up to its last letter. */
static void a_long_word_takes_no_longer_than_its_text(void **state)
{
	char *hay = memory_alloc(200001), word[4001];
	struct letter letter = { { hay, NULL, NULL, NULL, NULL }, 0, 0 };
	struct filter_row row = { fields, get, number, &letter };
	struct filter *filter;
	double since;

	(void)state;
	for (size_t i = 0; i < 100000; i++)
		memcpy(hay + 2 * i, i % 2 ? "\xc3\xa9" : "\xc3\x89", 2);
	hay[200000] = '\0';
	for (size_t i = 0; i < 2000; i++)
		memcpy(word + 2 * i, "\xc3\xa9", 2);
	word[4000] = '\0';
	filter = filter_read(word, fields, NULL);
	assert_true(filter_holds(filter, &row));
	filter_free(filter);
	memcpy(word + 3998, "xx", 2);
	filter = filter_read(word, fields, NULL);
	since = cpu_s();
	assert_false(filter_holds(filter, &row));
	assert_true(cpu_s() - since < 1);
	filter_free(filter);
	free(hay);
}

static void a_regex_finds_at_every_place_of_a_long_text(void **state)
{
	char hay[201];
	struct letter letter = { { hay, NULL, NULL, NULL, NULL }, 0, 0 };
	struct filter_row row = { fields, get, number, &letter };
	struct filter *word = filter_read("/xyz/", fields, NULL), *first = filter_read("/^xyz/", fields, NULL);
	struct filter *last = filter_read("/$/", fields, NULL);

	(void)state;
	for (size_t at = 0; at + 3 < sizeof(hay); at++) {
		memset(hay, 'x', sizeof(hay));
		hay[200] = '\0';
		memcpy(hay + at, "xyz", 3);
		assert_true(filter_holds(word, &row));
		assert_int_equal(filter_holds(first, &row), at == 0);
		assert_true(filter_holds(last, &row));
	}
	filter_free(word);
	filter_free(first);
	filter_free(last);
}

/* What is asked of the engine is tried without the rest. */
static void terms_of_some_fields_can_be_tried_alone(void **state)
{
	struct error err = { 0 };
	struct filter *filter = filter_read("!table:items code:unknown tries:>2", fields, &err);
	struct filter *any = filter_read("code:type word", fields, &err);
	struct filter_row row = { fields, get, number, &orders };

	(void)state;
	assert_true(filter_fields(filter) == 7);
	assert_true(filter_fields(any) == (2 | FILTER_EVERY));
	assert_false(filter_holds(filter, &row));
	assert_true(filter_holds_in(filter, &row, 1));
	assert_true(filter_holds_in(filter, &row, 1 | 4));
	assert_false(filter_holds_in(filter, &row, 2));
	assert_true(filter_holds_in(filter, &row, 8));
	assert_true(filter_holds_in(any, &row, 2));
	assert_false(filter_holds_in(any, &row, FILTER_EVERY));
	filter_free(filter);
	filter_free(any);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_is_found_in_any_field_whatever_its_case),
		cmocka_unit_test(letters_of_other_alphabets_have_cases_too),
		cmocka_unit_test(a_field_is_searched_alone),
		cmocka_unit_test(numbers_and_ages_compare_at_their_edges),
		cmocka_unit_test(bang_inverts_and_tilde_is_letters_in_order),
		cmocka_unit_test(a_regex_may_have_blanks_and_slashes),
		cmocka_unit_test(what_cannot_be_read_is_named_with_its_column),
		cmocka_unit_test(a_regex_has_limits),
		cmocka_unit_test(nothing_is_an_empty_filter_and_no_error),
		cmocka_unit_test(a_regex_that_takes_too_long_holds_for_nothing_more),
		cmocka_unit_test(each_time_the_rows_are_tried_has_its_own_budget),
		cmocka_unit_test(a_long_word_takes_no_longer_than_its_text),
		cmocka_unit_test(a_regex_finds_at_every_place_of_a_long_text),
		cmocka_unit_test(terms_of_some_fields_can_be_tried_alone),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
