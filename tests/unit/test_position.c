/* Places in a source's log: the examples of spec/types.md 8, and order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "record/position.h"

#include <cmocka.h>

static void the_text_is_bigquerys(void **state)
{
	static const struct {
		struct position position;
		const char *text;
	} cases[] = {
		{ { 0, 123, 4567, 3, 0 }, "0/7B/11D7/3" },
		{ { 0, 0x2700000758, 0x5000000270000, 0x758000300000001, 0 }, "0/2700000758/5000000270000/758000300000001" },
		{ { 0, 0, 0, 0, 1 }, "0/0/0/0" },
		{ { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, 0 },
		  "FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF" },
	};
	char text[POSITION_TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		position_text(&cases[i].position, text);
		assert_string_equal(text, cases[i].text);
	}
}

static void bytes_compare_as_the_order(void **state)
{
	static const struct position rising[] = {
		{ 0, 0, 0, 0, 0 },   { 0, 0, 0, 0, 1 },   { 0, 0, 0, 1, 0 },          { 0, 0, 0, 256, 0 },
		{ 0, 0, 1, 0, 0 },   { 0, 255, 0, 0, 0 }, { 0, 256, 0, 0, 0 },        { 0, UINT64_MAX, 0, 0, 0 },
		{ 1, 0, 0, 0, 0 },   { 1, 0, 0, 0, 255 },
	};
	size_t count = sizeof(rising) / sizeof(rising[0]);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < count; k++) {
			unsigned char x[POSITION_BYTES], y[POSITION_BYTES];
			int order;

			position_pack(&rising[i], x);
			position_pack(&rising[k], y);
			order = memcmp(x, y, POSITION_BYTES);
			assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
			assert_int_equal(position_compare(&rising[i], &rising[k]), (i > k) - (i < k));
		}
	}
}

static void bytes_give_the_position_back(void **state)
{
	struct position before = { 1, 0x0102030405060708, UINT64_MAX, 42, 7 }, after;
	unsigned char bytes[POSITION_BYTES];

	(void)state;
	position_pack(&before, bytes);
	position_unpack(bytes, &after);
	assert_int_equal(bytes[8], 1);
	assert_int_equal(bytes[15], 8);
	assert_int_equal(position_compare(&before, &after), 0);
}

static void log_files_are_numbered(void **state)
{
	static const char *const none[] = { "", "binlog", "binlog.", "binlog.12a", "binlog.-1", "binlog.99999999999999999999" };
	uint64_t number = 0;

	(void)state;
	assert_true(position_file_number(SPAN("binlog.000123"), &number));
	assert_int_equal(number, 123);
	assert_true(position_file_number(SPAN("my.server-bin.1000000"), &number));
	assert_int_equal(number, 1000000);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(position_file_number(span_of(none[i]), &number));
	assert_int_equal(number, 1000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_is_bigquerys),
		cmocka_unit_test(bytes_compare_as_the_order),
		cmocka_unit_test(bytes_give_the_position_back),
		cmocka_unit_test(log_files_are_numbered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
