/* What a job was doing when it was killed: a message that kills is known at the next start. */
#include "pipeline/doing.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static char path[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/weir-doing-%d", getpid());
	unlink(path);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

/* A run that transforms `offset`, and dies of `number` while it does or (`is_later`) after it. */
static void die(uint64_t offset, int number, bool is_later)
{
	struct message message = { .offset = offset };
	pid_t child = fork();
	int status;

	if (!child) {
		struct doing *doing = doing_open(path);

		/* A sanitizer has handlers of its own; the signals are ours here. */
		for (int i = 1; i < 32; i++)
			signal(i, SIG_DFL);
		doing_begin(doing, &message);
		if (is_later)
			doing_done(doing);
		kill(getpid(), number);
		pause();
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == number);
}

static bool is_poison(uint64_t offset)
{
	struct message message = { .offset = offset };
	struct doing *doing = doing_open(path);
	bool poison = doing_is_poison(doing, &message);

	assert_non_null(doing);
	doing_close(doing);
	return poison;
}

static void test_a_fatal_signal_blames_its_message(void **state)
{
	(void)state;
	die(7, SIGSEGV, false);
	assert_true(is_poison(7));
	assert_false(is_poison(8));
	die(9, SIGABRT, false);
	assert_true(is_poison(7) && is_poison(9));
}

static void test_a_signal_after_the_message_blames_nobody(void **state)
{
	(void)state;
	die(7, SIGSEGV, true);
	assert_false(is_poison(7));
}

static void test_three_kills_in_a_row_are_no_chance(void **state)
{
	(void)state;
	die(0, SIGKILL, false);
	die(0, SIGKILL, false);
	die(3, SIGKILL, false);
	die(0, SIGKILL, false);
	die(0, SIGKILL, false);
	die(0, SIGKILL, false);
	assert_true(is_poison(0));
	assert_false(is_poison(3));
}

static void test_a_run_that_was_killed_is_told_from_one_that_ended(void **state)
{
	struct doing *doing;

	(void)state;
	doing = doing_open(path);
	assert_false(doing_was_killed(doing));
	doing_close(doing);
	doing = doing_open(path);
	assert_false(doing_was_killed(doing));
	doing_close(doing);
	die(1, SIGKILL, true);
	doing = doing_open(path);
	assert_true(doing_was_killed(doing));
	doing_close(doing);
}

static void test_a_folder_that_is_not_there_guards_nothing(void **state)
{
	struct message message = { .offset = 1 };
	struct doing *doing = doing_open("/nonexistent/x.doing");

	(void)state;
	assert_null(doing);
	doing_begin(doing, &message);
	doing_done(doing);
	assert_false(doing_is_poison(doing, &message) || doing_was_killed(doing));
	doing_close(doing);
}

#define DOING_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DOING_TEST(test_a_fatal_signal_blames_its_message),
		DOING_TEST(test_a_signal_after_the_message_blames_nobody),
		DOING_TEST(test_three_kills_in_a_row_are_no_chance),
		DOING_TEST(test_a_run_that_was_killed_is_told_from_one_that_ended),
		DOING_TEST(test_a_folder_that_is_not_there_guards_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
