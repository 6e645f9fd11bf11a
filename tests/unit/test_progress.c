/* What a running job shows of its state: each thread has its own word, and the worst is shown. */
#include "pipeline/progress.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct progress *running(void)
{
	struct progress *progress = progress_new();

	progress_begin(progress);
	progress_set_state(progress, STATE_OK, "", "running");
	return progress;
}

static void expect(struct progress *progress, enum job_state state, const char *code, const char *sentence)
{
	struct progress_view view;

	progress_look(progress, &view);
	assert_int_equal(view.state, state);
	assert_string_equal(view.code, code);
	assert_string_equal(view.sentence, sentence);
	assert_int_equal(view.until_us != 0, state == STATE_WAITING);
}

static void test_a_merger_that_goes_on_does_not_hide_the_writers_wait(void **state)
{
	struct progress *progress = running();

	(void)state;
	progress_wait(progress, THREAD_WRITER, "disk_full", "no room", 100);
	progress_wait(progress, THREAD_MERGER, "database_locked", "somebody else", 100);
	progress_go_on(progress, THREAD_MERGER);
	expect(progress, STATE_WAITING, "disk_full", "no room");
	progress_go_on(progress, THREAD_WRITER);
	expect(progress, STATE_OK, "", "running");
	progress_free(progress);
}

static void test_the_older_wait_is_shown_then_the_other_with_its_own_since(void **state)
{
	struct progress *progress = running();
	struct progress_view first, second;

	(void)state;
	progress_wait(progress, THREAD_MERGER, "database_locked", "somebody else", 100);
	progress_look(progress, &first);
	/* Two waits of one microsecond are equally old. */
	while (clock_utc_us() <= first.since_us)
		continue;
	progress_wait(progress, THREAD_WRITER, "disk_full", "no room", 100);
	expect(progress, STATE_WAITING, "database_locked", "somebody else");
	/* Each try says it again: it is still the same wait. */
	progress_wait(progress, THREAD_MERGER, "database_locked", "somebody else", 200);
	progress_look(progress, &second);
	assert_int_equal(second.since_us, first.since_us);
	assert_true(second.until_us > first.until_us);
	progress_go_on(progress, THREAD_MERGER);
	expect(progress, STATE_WAITING, "disk_full", "no room");
	progress_free(progress);
}

static void test_the_jobs_own_end_wins_and_a_new_beginning_forgets_waits(void **state)
{
	struct progress *progress = running();

	(void)state;
	progress_wait(progress, THREAD_WRITER, "disk_full", "no room", 100);
	progress_set_state(progress, STATE_NEEDS_YOU, "park_full", "too much");
	expect(progress, STATE_NEEDS_YOU, "park_full", "too much");
	progress_set_state(progress, STATE_STOPPED, "", "");
	expect(progress, STATE_STOPPED, "", "");
	progress_begin(progress);
	progress_set_state(progress, STATE_OK, "", "running");
	expect(progress, STATE_OK, "", "running");
	progress_free(progress);
}

static void test_a_job_at_rest_is_not_behind(void **state)
{
	struct progress *progress = running();
	struct activity_view reader;
	char words[80];

	(void)state;
	progress_rest(progress);
	progress_activity(progress, THREAD_READER, &reader);
	activity_text(&reader, words, sizeof(words));
	assert_string_equal(words, "waiting for new messages");
	expect(progress, STATE_OK, "", "running");
	progress_free(progress);
}

static void test_a_job_at_rest_merges_nothing(void **state)
{
	struct progress *progress = running();
	struct activity_view merger;

	(void)state;
	progress_do(progress, THREAD_MERGER, ACTIVITY_MERGING, 0);
	progress_rest(progress);
	progress_activity(progress, THREAD_MERGER, &merger);
	assert_int_equal(merger.what, ACTIVITY_RESTING);
	progress_free(progress);
	/* A job without a replica has none. */
	progress = running();
	progress_rest(progress);
	progress_activity(progress, THREAD_MERGER, &merger);
	assert_int_equal(merger.what, ACTIVITY_NONE);
	progress_free(progress);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_merger_that_goes_on_does_not_hide_the_writers_wait),
		cmocka_unit_test(test_the_older_wait_is_shown_then_the_other_with_its_own_since),
		cmocka_unit_test(test_the_jobs_own_end_wins_and_a_new_beginning_forgets_waits),
		cmocka_unit_test(test_a_job_at_rest_is_not_behind),
		cmocka_unit_test(test_a_job_at_rest_merges_nothing),
	};

	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
