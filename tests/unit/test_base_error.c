/* Failures, the table of reasons, times, near words and crash points. */
#include "base/clean.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/error.h"
#include "base/reason.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#undef fail /* cmocka's; ours is meant, so fail_msg cannot be used either */

static void a_failure_has_kind_code_and_message(void **state)
{
	struct error err = { .retry_after_ms = 5 };

	(void)state;
	assert_false(fail(&err, ERROR_RECORD, "bad_name", "table %d is '%s'", 7, "x"));
	assert_int_equal(err.kind, ERROR_RECORD);
	assert_string_equal(err.code, "bad_name");
	assert_string_equal(err.message, "table 7 is 'x'");
	assert_int_equal(err.retry_after_ms, 0);
	assert_false(fail(NULL, ERROR_RECORD, "bad_name", "nobody listens"));
	assert_false(because(NULL, "nobody listens"));
	assert_false(fail_errno(NULL, ENOSPC, "nobody listens"));
}

static void context_stands_in_front(void **state)
{
	struct error err = { 0 };

	(void)state;
	fail(&err, ERROR_CONFIG, "bad_name", "no such table");
	err.retry_after_ms = 250;
	assert_false(because(&err, "opening job '%s'", "orders"));
	assert_string_equal(err.message, "opening job 'orders': no such table");
	assert_string_equal(err.code, "bad_name");
	assert_int_equal(err.kind, ERROR_CONFIG);
	assert_int_equal(err.retry_after_ms, 250);
	/* A message made of the old one. */
	fail(&err, ERROR_BUG, err.code, "again: %s", err.message);
	assert_string_equal(err.message, "again: opening job 'orders': no such table");
	assert_string_equal(err.code, "bad_name");
}

static void a_long_message_is_cut_between_characters(void **state)
{
	struct error err = { 0 };
	char name[700];

	(void)state;
	for (size_t odd = 0; odd < 2; odd++) {
		memset(name, 'a', odd);
		for (size_t i = odd; i + 2 < sizeof(name); i += 2)
			memcpy(name + i, "\xc3\xbc", 2);
		name[sizeof(name) - 2 + odd] = '\0';
		fail(&err, ERROR_RECORD, "bad_name", "%s", name);
		assert_true(utf8_is_valid(span_of(err.message)));
		assert_in_range(strlen(err.message), sizeof(err.message) - 2, sizeof(err.message) - 1);
		because(&err, "%s", name);
		assert_true(utf8_is_valid(span_of(err.message)));
		fail_errno(&err, ENOSPC, "%s", name);
		assert_true(utf8_is_valid(span_of(err.message)));
		/* The reason outlives a long path. */
		assert_non_null(strstr(err.message, strerror(ENOSPC)));
		fail(&err, ERROR_RECORD, "bad_name", "the reason");
		because(&err, "%s", name);
		assert_non_null(strstr(err.message, ": the reason"));
	}
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	fail(&err, ERROR_RECORD, name, "x");
	assert_int_equal(strlen(err.code), sizeof(err.code) - 1);
}

static void a_system_error_becomes_kind_and_code(void **state)
{
	static const struct {
		int number;
		enum error_kind kind;
		const char *code;
	} rows[] = {
		{ ENOSPC, ERROR_TRANSIENT, "disk_full" },      { EACCES, ERROR_ACCESS, "no_permission" },
		{ EPERM, ERROR_ACCESS, "no_permission" },      { EROFS, ERROR_ACCESS, "no_permission" },
		{ ELOOP, ERROR_ACCESS, "no_permission" },      { EMFILE, ERROR_TRANSIENT, "no_descriptors" },
		{ EIO, ERROR_TRANSIENT, "io_error" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error err = { 0 };

		assert_false(fail_errno(&err, rows[i].number, "cannot write '%s'", "f"));
		assert_int_equal(err.kind, rows[i].kind);
		assert_string_equal(err.code, rows[i].code);
		assert_non_null(reason_find(err.code));
		assert_true(strncmp(err.message, "cannot write 'f': ", 18) == 0);
		assert_string_equal(err.message + 18, strerror(rows[i].number));
	}
}

static void each_kind_has_its_exit_status(void **state)
{
	static const int statuses[ERROR_KINDS] = { 0, 69, 1, 2, 78, 77, 69, 1, 70 };

	(void)state;
	for (int kind = 0; kind < ERROR_KINDS; kind++) {
		assert_non_null(error_policies[kind].name);
		assert_int_equal(error_policies[kind].exit_status, statuses[kind]);
	}
	assert_int_equal(error_policies[ERROR_TRANSIENT].batch, BATCH_RETRY);
	assert_int_equal(error_policies[ERROR_RECORD].batch, BATCH_SPLIT);
	assert_int_equal(error_policies[ERROR_CONFIG].job, JOB_NEEDS_OPERATOR);
	assert_int_equal(error_policies[ERROR_CANCELLED].job, JOB_STOPS);
}

static bool ends_with_stop(const char *text)
{
	return *text && text[strlen(text) - 1] == '.';
}

/* Causes and checks are lists, one a line, without empty lines. */
static bool is_list(const char *text)
{
	return *text && *text != '\n' && !strstr(text, "\n\n") && text[strlen(text) - 1] != '\n';
}

static bool is_code(const char *code)
{
	return strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(code) && *code >= 'a' && *code <= 'z' &&
	       strlen(code) < sizeof(((struct error *)NULL)->code);
}

static void every_reason_is_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < reason_count; i++) {
		const struct reason *row = &reasons[i];

		bool is_complete = is_code(row->code) && ends_with_stop(row->summary) && ends_with_stop(row->next) &&
		                   is_list(row->causes) && is_list(row->checks);
		bool is_sorted = i == 0 || strcmp(reasons[i - 1].code, row->code) < 0;

		if (!is_complete || !is_sorted)
			print_error("reasons.def: row '%s' is %s\n", row->code, is_complete ? "not in its place" : "not complete");
		assert_true(is_complete);
		assert_true(is_sorted);
		assert_ptr_equal(reason_find(row->code), row);
	}
	assert_null(reason_find("no_such_code"));
	assert_null(reason_find(""));
	assert_null(reason_find(NULL));
}

static void time_is_shown_in_utc(void **state)
{
	static const struct {
		int64_t us;
		const char *text;
	} rows[] = {
		{ 0, "1970-01-01T00:00:00.000000Z" },
		{ -1, "1969-12-31T23:59:59.999999Z" },
		{ INT64_C(1796006250123456), "2026-11-30T02:37:30.123456Z" },
		{ INT64_C(951782400000000), "2000-02-29T00:00:00.000000Z" },
	};
	char text[CLOCK_TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		clock_text(rows[i].us, text);
		assert_string_equal(text, rows[i].text);
	}
	clock_text(INT64_MAX, text);
	assert_int_equal(strlen(text), CLOCK_TEXT_BYTES - 1);
	assert_memory_equal(text, "9999-12-31T", 11);
	clock_text(INT64_MIN, text);
	assert_memory_equal(text, "0000-01-01T", 11);
}

static void tests_can_move_the_wall_clock(void **state)
{
	int64_t before_us = clock_utc_us();

	(void)state;
	clock_shift_us(INT64_C(-86400000000));
	assert_true(clock_utc_us() < before_us);
	clock_shift_us(0);
	assert_true(clock_utc_us() >= before_us - 60000000);
	int64_t begin_ms = clock_mono_ms();

	assert_true(clock_mono_ms() >= begin_ms);
}

static void a_near_word_is_offered(void **state)
{
	static const char *const words[] = { "run", "check", "status", "replicationMode", "updateFrequencySecs", "dlq", "a" };
	static const struct {
		const char *word, *nearest;
	} rows[] = {
		{ "chekc", "check" },     { "stats", "status" },       { "rnu", "run" },
		{ "STATUS", "status" },   { "replicatonmode", "replicationMode" }, { "updateFrequencySec", "updateFrequencySecs" },
		{ "dlg", "dlq" },         { "xyz", NULL },             { "", NULL },
		{ "x", NULL },            { "replay", NULL },          { "b", NULL },
	};
	char endless[200];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *nearest = nearest_word(rows[i].word, words, sizeof(words) / sizeof(words[0]));

		if (rows[i].nearest)
			assert_string_equal(nearest, rows[i].nearest);
		else
			assert_null(nearest);
	}
	memset(endless, 'r', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	assert_null(nearest_word(endless, words, sizeof(words) / sizeof(words[0])));
	assert_null(nearest_word("run", words, 0));
}

static void valid_utf8_is_told_from_broken(void **state)
{
	char text[64];

	(void)state;
	/* A broken byte at every place around the steps of 16. */
	for (size_t len = 0; len < sizeof(text); len++) {
		memset(text, 'a', sizeof(text));
		assert_true(utf8_is_valid(span_make(text, len)));
		for (size_t i = 0; i < len; i++) {
			memset(text, 'a', sizeof(text));
			text[i] = (char)0xbf;
			assert_false(utf8_is_valid(span_make(text, len)));
			text[i] = (char)0xc3;
			assert_false(utf8_is_valid(span_make(text, len)));
			if (i + 1 < len) {
				text[i + 1] = (char)0xbc;
				assert_true(utf8_is_valid(span_make(text, len)));
			}
		}
	}
	assert_true(utf8_is_valid(span_make(NULL, 0)));
	assert_true(utf8_is_valid(SPAN("\xf4\x8f\xbf\xbf\xee\x80\x80\xed\x9f\xbf")));
	assert_false(utf8_is_valid(SPAN("\xed\xbf\xbf")));
	assert_false(utf8_is_valid(SPAN("\xc1\x81")));
}

/* Passes two points in a child; returns its wait status. */
static int pass_points(const char *wish, const char *trace)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		setenv("WEIR_CRASH", wish, 1);
		setenv("WEIR_CRASH_TRACE", trace, 1);
		if (!freopen("/dev/null", "w", stderr))
			_exit(99);
		for (int i = 0; i < 3; i++) {
			crash_point(batch_read);
			crash_point(confirmed);
		}
		_exit(0);
	}
	waitpid(child, &status, 0);
	return status;
}

static void a_crash_point_does_what_this_build_promises(void **state)
{
	char trace[] = "/tmp/weir-trace-XXXXXX";
	int fd = mkstemp(trace);

	(void)state;
	assert_true(fd >= 0);
#ifdef WEIR_TEST_SWITCHES
	char content[100] = "";

	assert_int_equal(pass_points("", trace), 0);
	assert_int_equal(read(fd, content, sizeof(content) - 1), 21);
	assert_string_equal(content, "batch_read\nconfirmed\n");
	assert_int_equal(WTERMSIG(pass_points("confirmed", trace)), SIGKILL);
	assert_int_equal(WTERMSIG(pass_points("batch_read:3", trace)), SIGKILL);
	assert_int_equal(pass_points("batch_read:4", trace), 0);
	assert_int_equal(pass_points("merge_read", trace), 0);
	assert_int_equal(WEXITSTATUS(pass_points("batch_raed", trace)), 2);
	assert_int_equal(WEXITSTATUS(pass_points("batch_read:x", trace)), 2);
#else
	assert_int_equal(pass_points("confirmed", trace), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
#endif
	close(fd);
	unlink(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_has_kind_code_and_message),
		cmocka_unit_test(context_stands_in_front),
		cmocka_unit_test(a_long_message_is_cut_between_characters),
		cmocka_unit_test(a_system_error_becomes_kind_and_code),
		cmocka_unit_test(each_kind_has_its_exit_status),
		cmocka_unit_test(every_reason_is_complete),
		cmocka_unit_test(time_is_shown_in_utc),
		cmocka_unit_test(tests_can_move_the_wall_clock),
		cmocka_unit_test(a_near_word_is_offered),
		cmocka_unit_test(valid_utf8_is_told_from_broken),
		cmocka_unit_test(a_crash_point_does_what_this_build_promises),
	};

	return cmocka_run_group_tests_name("base_error", tests, NULL, NULL);
}
