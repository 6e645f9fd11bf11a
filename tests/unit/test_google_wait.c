/* When to try again: Retry-After, dates, durations, back-off. */
#include "google/wait.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#define NOW_US INT64_C(1764504000000000) /* 2025-11-30T12:00:00Z */

static void retry_after_is_seconds_or_a_date(void **state)
{
	static const struct {
		const char *value;
		int64_t ms; /* -1: cannot be read */
	} cases[] = {
		{ "0", 0 }, { "120", 120000 }, { " 7\t", 7000 }, { "86400", 86400000 }, { "86401", 86400000 },
		{ "99999999999999999999999999", 86400000 },
		{ "", -1 }, { "-1", -1 }, { "1.5", -1 }, { "1s", -1 }, { "soon", -1 },
		{ "Sun, 30 Nov 2025 12:00:30 GMT", 30000 },
		{ "Sunday, 30-Nov-25 12:00:30 GMT", 30000 },
		{ "Sun Nov 30 12:00:30 2025", 30000 },
		{ "Sun, 30 Nov 2025 11:59:00 GMT", 0 },
		{ "Sun, 30 Nov 2125 11:59:00 GMT", 86400000 },
		{ "Sun, 30 Nov 2025 12:00:30", -1 },
		{ "Sun, 30 Nov 2025 12:00:30 CET", -1 },
		{ "Sun, 30 Nov 2025 24:00:30 GMT", -1 },
		{ "Sun, 31 Nov 2025 12:00:30 GMT", -1 },
		{ "Someday, 30-Nov-25 12:00:30 GMT", -1 },
		{ "Sun, 30 Nov 2025 12:00:30 GMT and more", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t ms = -1;

		if (wait_read_retry_after(span_of(cases[i].value), NOW_US, &ms) != (cases[i].ms >= 0) || ms != cases[i].ms)
			fail_msg("'%s' gave %lld", cases[i].value, (long long)ms);
	}
}

static void dates_are_moments(void **state)
{
	static const struct {
		const char *value;
		int64_t utc_s;
	} cases[] = {
		{ "Sun, 06 Nov 1994 08:49:37 GMT", 784111777 },
		{ "Sunday, 06-Nov-94 08:49:37 GMT", 784111777 },
		{ "Sun Nov  6 08:49:37 1994", 784111777 },
		{ "Thu, 01 Jan 1970 00:00:00 GMT", 0 },
		{ "Tue, 29 Feb 2000 23:59:59 GMT", 951868799 },
		{ "Fri, 31 Dec 9999 23:59:59 GMT", 253402300799 },
		{ "Thursday, 01-Jan-76 00:00:00 GMT", 189302400 },  /* 51 years ahead is the past */
		{ "Wednesday, 01-Jan-75 00:00:00 GMT", 3313526400 }, /* 50 is not */
	};
	int64_t utc_s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(wait_read_date(span_of(cases[i].value), NOW_US, &utc_s));
		assert_int_equal(utc_s, cases[i].utc_s);
	}
	assert_false(wait_read_date(SPAN("Thu, 29 Feb 2001 23:59:59 GMT"), NOW_US, &utc_s));
}

/* Moments of ten years, printed by the C library, in all three forms. */
static void what_is_printed_is_read(void **state)
{
	(void)state;
	for (time_t moment = 1700000000; moment < 2000000000; moment += 7654321) {
		char forms[4][64];
		struct tm utc;

		assert_non_null(gmtime_r(&moment, &utc));
		strftime(forms[0], sizeof(forms[0]), "%a, %d %b %Y %H:%M:%S GMT", &utc);
		strftime(forms[3], sizeof(forms[3]), "%A, %d-%b", &utc);
		snprintf(forms[1], sizeof(forms[1]), "%.30s-%02d %.8s GMT", forms[3], utc.tm_year % 100, forms[0] + strlen("Sun, 30 Nov 2025 "));
		strftime(forms[2], sizeof(forms[2]), "%a %b %e %H:%M:%S %Y", &utc);
		for (size_t i = 0; i < 3; i++) {
			int64_t utc_s = 0;

			assert_true(wait_read_date(span_of(forms[i]), NOW_US, &utc_s));
			assert_int_equal(utc_s, moment);
		}
	}
}

static void durations_are_as_json_has_them(void **state)
{
	static const struct {
		const char *value;
		int64_t ms;
	} cases[] = {
		{ "3.5s", 3500 }, { "0s", 0 }, { "600s", 600000 }, { "0.000000001s", 0 }, { "1.0009s", 1000 }, { "-5s", 0 },
		{ "90000s", 86400000 }, { "315576000000s", 86400000 }, { "s", -1 }, { "1", -1 }, { "1.s", -1 }, { "1ms", -1 }, { "", -1 },
		{ ".5s", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t ms = -1;

		if (wait_read_duration(span_of(cases[i].value), &ms) != (cases[i].ms >= 0) || ms != cases[i].ms)
			fail_msg("'%s' gave %lld", cases[i].value, (long long)ms);
	}
}

static void waits_grow_and_differ(void **state)
{
	struct backoff a = BACKOFF(100, 1000, 2), b = BACKOFF(100, 1000, 2);
	static const int64_t bounds[] = { 100, 200, 400, 800, 1000, 1000 };
	bool is_same = true;

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		int64_t wait = backoff_next(&a, 0), other = backoff_next(&b, 0);

		assert_in_range(wait, bounds[i] / 2, bounds[i]);
		is_same = is_same && wait == other;
	}
	assert_false(is_same);
	backoff_reset(&a);
	assert_in_range(backoff_next(&a, 0), 50, 100);
}

static void what_is_asked_for_is_never_shortened(void **state)
{
	struct backoff backoff = BACKOFF(100, 1000, 2);

	(void)state;
	assert_in_range(backoff_next(&backoff, 30000), 30000, 33000);
	assert_in_range(backoff_next(&backoff, 1), 100, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(retry_after_is_seconds_or_a_date),
		cmocka_unit_test(dates_are_moments),
		cmocka_unit_test(what_is_printed_is_read),
		cmocka_unit_test(durations_are_as_json_has_them),
		cmocka_unit_test(waits_grow_and_differ),
		cmocka_unit_test(what_is_asked_for_is_never_shortened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
