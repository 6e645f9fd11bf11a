/* Histograms: what a percentile may be off by, where the ends are. */
#include "base/histogram.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static void test_nothing_measured_is_zero(void **state)
{
	static struct histogram h;

	(void)state;
	assert_int_equal(histogram_percentile(&h, 50), 0);
	assert_int_equal(histogram_percentile(&h, 99), 0);
	assert_int_equal(histogram_below(&h, UINT64_MAX), 0);
}

static void test_one_value_is_every_percentile(void **state)
{
	struct histogram h = { 0 };

	(void)state;
	histogram_add(&h, 1234567, 1);
	assert_int_equal(histogram_percentile(&h, 1), 1234567);
	assert_int_equal(histogram_percentile(&h, 50), 1234567);
	assert_int_equal(histogram_percentile(&h, 100), 1234567);
	assert_int_equal(h.max_us, 1234567);
}

static void test_a_percentile_is_right_within_a_fourth(void **state)
{
	(void)state;
	/* Every size, with a second value far above so that the longest does not help. */
	for (uint64_t us = 1; us < (UINT64_C(1) << 50); us = us * 5 / 4 + 1) {
		struct histogram h = { 0 };
		uint64_t p50;

		histogram_add(&h, (int64_t)us, 99);
		histogram_add(&h, INT64_MAX / 2, 1);
		p50 = histogram_percentile(&h, 50);
		assert_true(p50 >= us);
		assert_true(p50 - us <= us / 4);
	}
}

static void test_one_slow_change_in_a_hundred_shows_in_max_not_in_p99(void **state)
{
	struct histogram h = { 0 };

	(void)state;
	histogram_add(&h, 1000, 99);
	histogram_add(&h, 9000000, 1);
	assert_in_range(histogram_percentile(&h, 99), 1000, 1250);
	assert_int_equal(histogram_percentile(&h, 100), 9000000);
	assert_int_equal(h.max_us, 9000000);
	assert_int_equal(h.count, 100);
}

static void test_a_clock_that_went_back_counts_as_no_time(void **state)
{
	struct histogram h = { 0 };

	(void)state;
	histogram_add(&h, -5000, 3);
	assert_int_equal(h.count, 3);
	assert_int_equal(h.sum_us, 0);
	assert_int_equal(histogram_percentile(&h, 99), 0);
	assert_int_equal(histogram_below(&h, 0), 3);
}

static void test_years_fit(void **state)
{
	struct histogram h = { 0 };

	(void)state;
	histogram_add(&h, INT64_MAX, 1);
	assert_int_equal(histogram_percentile(&h, 50) > INT64_C(1000000) * 86400 * 365 * 100, 1);
}

static void test_below_counts_whole_buckets(void **state)
{
	struct histogram h = { 0 };

	(void)state;
	histogram_add(&h, 3, 1);
	histogram_add(&h, 1000, 1);
	histogram_add(&h, 1000000, 1);
	assert_int_equal(histogram_below(&h, 2), 0);
	assert_int_equal(histogram_below(&h, 3), 1);
	assert_int_equal(histogram_below(&h, 2000), 2);
	assert_int_equal(histogram_below(&h, UINT64_MAX), 3);
}

static void test_two_jobs_make_one(void **state)
{
	struct histogram a = { 0 }, b = { 0 };

	(void)state;
	histogram_add(&a, 10, 1);
	histogram_add(&b, 5000, 2);
	histogram_merge(&a, &b);
	assert_int_equal(a.count, 3);
	assert_int_equal(a.sum_us, 10010);
	assert_int_equal(a.max_us, 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_measured_is_zero),
		cmocka_unit_test(test_one_value_is_every_percentile),
		cmocka_unit_test(test_a_percentile_is_right_within_a_fourth),
		cmocka_unit_test(test_one_slow_change_in_a_hundred_shows_in_max_not_in_p99),
		cmocka_unit_test(test_a_clock_that_went_back_counts_as_no_time),
		cmocka_unit_test(test_years_fit),
		cmocka_unit_test(test_below_counts_whole_buckets),
		cmocka_unit_test(test_two_jobs_make_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
