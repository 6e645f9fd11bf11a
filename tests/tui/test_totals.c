/* The verdict's words, and times as the screens write them. */
#include "base/arena.h"
#include "console/console_private.h"
#include "view/totals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>
#undef fail

static const char *verdict(struct totals totals, bool is_long)
{
	static char out[200];
	OWNED(text) said = text_new(200);

	totals.is_known = true;
	totals_verdict(&totals, is_long, said);
	snprintf(out, sizeof(out), "%s", said->at);
	return out;
}

static void a_verdict_has_two_lengths(void **state)
{
	static const struct {
		struct totals totals;
		const char *in_short, *in_long;
	} rows[] = {
		{ { .jobs = 2 }, "ok", "ok: nothing needs you" },
		{ { .watch = 3 }, "watch 3", "watch: 3 not ok" },
		{ { .needs_you = 1 }, "RED 1", "RED: 1 table needs you" },
		{ { .needs_you = 2, .watch = 5 }, "RED 2", "RED: 2 tables need you" },
		{ { .needs_you = 1, .needing_jobs = 1 }, "RED 1", "RED: 1 job needs you" },
		{ { .needs_you = 5, .needing_jobs = 2 }, "RED 5", "RED: 3 tables and 2 jobs need you" },
		{ { .unbalanced = 1, .watch = 1 }, "RED", "RED: the ledger is off" },
		{ { .is_blind = true, .needs_you = 4 }, "NOT KNOWN", "NOT KNOWN: engine not reachable" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_string_equal(verdict(rows[i].totals, false), rows[i].in_short);
		assert_string_equal(verdict(rows[i].totals, true), rows[i].in_long);
	}
}

/* What is said in red is red. */
static void the_role_goes_with_the_words(void **state)
{
	(void)state;
	assert_int_equal(totals_role(&(struct totals){ .is_known = true, .jobs = 1 }), ROLE_state_ok);
	assert_int_equal(totals_role(&(struct totals){ .is_known = true, .watch = 1 }), ROLE_state_watch);
	assert_int_equal(totals_role(&(struct totals){ .is_known = true, .needs_you = 1 }), ROLE_state_needs_you);
	assert_int_equal(totals_role(&(struct totals){ .is_known = true, .unbalanced = 1 }), ROLE_state_needs_you);
	assert_int_equal(totals_role(&(struct totals){ .is_blind = true }), ROLE_state_needs_you);
}

/*
 * Times, at 2026-11-30 02:30:00 UTC, a Monday.
 */
static struct console console = { .now_us = 1796005800000000 };

static const char *at(const char *text, bool with_seconds)
{
	static char out[100];
	OWNED(text) said = text_new(100);

	console_time(&console, text, with_seconds, said);
	snprintf(out, sizeof(out), "%s", said->at);
	return out;
}

static void times_are_read(void **state)
{
	(void)state;
	assert_int_equal(time_us_of("2026-11-30T02:30:00Z"), console.now_us);
	assert_int_equal(time_us_of("2026-11-30T02:30:00.25Z"), console.now_us + 250000);
	assert_int_equal(time_us_of("2026-11-30T02:30:00.1234567Z"), console.now_us + 123456);
	assert_int_equal(time_us_of("1970-01-01T00:00:00Z"), 0);
	assert_int_equal(time_us_of(""), -1);
	assert_int_equal(time_us_of("yesterday"), -1);
	assert_int_equal(time_us_of(NULL), -1);
}

static void the_older_the_coarser(void **state)
{
	(void)state;
	assert_string_equal(at("2026-11-30T02:27:03Z", false), "02:27");
	assert_string_equal(at("2026-11-30T02:27:03Z", true), "02:27:03");
	assert_string_equal(at("2026-11-29T02:30:01Z", false), "02:30");
	assert_string_equal(at("2026-11-29T02:30:00Z", false), "Sun");
	assert_string_equal(at("2026-11-23T02:30:01Z", false), "Mon");
	assert_string_equal(at("2026-11-09T00:00:00Z", false), "9 Nov");
	assert_string_equal(at("", false), "-");
}

static void moments_are_whole(void **state)
{
	OWNED(text) said = text_new(100);

	(void)state;
	console_moment(&console, "2026-11-30T02:27:03.551Z", said);
	assert_string_equal(said->at, "2026-11-30 02:27:03.551");
	text_clear(said);
	console_ago(&console, "2026-11-30T01:49:00Z", said);
	assert_string_equal(said->at, "41m00s ago");
	text_clear(said);
	console_ago(&console, "2026-11-30T02:40:00Z", said); /* a clock that goes ahead */
	assert_string_equal(said->at, "0.0s ago");
}

static void t_makes_them_local(void **state)
{
	(void)state;
	setenv("TZ", "UTC-5", 1); /* five hours east */
	tzset();
	console.is_local = true;
	assert_string_equal(at("2026-11-30T02:27:03Z", false), "07:27");
	console.is_local = false;
	assert_string_equal(at("2026-11-30T02:27:03Z", false), "02:27");
}

static void states_have_their_roles(void **state)
{
	(void)state;
	assert_int_equal(state_role("ok"), ROLE_state_ok);
	assert_int_equal(state_role("needs you"), ROLE_state_needs_you);
	assert_int_equal(state_role("stopped"), ROLE_state_off);
	assert_int_equal(state_role("catching up"), ROLE_state_watch);
	assert_int_equal(state_role(""), ROLE_text);
	assert_int_equal(state_rank("needs you"), 0);
	assert_true(state_rank("paused") < state_rank("ok"));
	assert_int_equal(state_rank("stopped"), STATE_RANKS - 1);
	assert_true(state_rank("a new word") < state_rank("ok"));
	assert_string_equal(state_column("needs you"), "NEEDS YOU");
	assert_string_equal(state_column("paused"), "paused");
}

static void members_that_are_missing_are_nothing(void **state)
{
	json_t *object = json_pack("{s:f, s:i, s:n}", "real", 2.9, "text", 5, "null");

	(void)state;
	assert_int_equal(member_int(object, "real"), 2);
	assert_string_equal(member_text(object, "text"), "");
	assert_int_equal(member_int(object, "null"), 0);
	assert_false(member_bool(NULL, "any"));
	assert_string_equal(member_text(NULL, "any"), "");
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_verdict_has_two_lengths),
		cmocka_unit_test(the_role_goes_with_the_words),
		cmocka_unit_test(times_are_read),
		cmocka_unit_test(the_older_the_coarser),
		cmocka_unit_test(moments_are_whole),
		cmocka_unit_test(t_makes_them_local),
		cmocka_unit_test(states_have_their_roles),
		cmocka_unit_test(members_that_are_missing_are_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
