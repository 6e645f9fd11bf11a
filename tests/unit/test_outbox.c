/* What a session is sent: whole lines in order, never more than the limit, never a wait for who may not wait. */
#include "base/arena.h"
#include "engine/outbox_private.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#define LIMIT 4096

struct ends {
	struct outbox outbox;
	int ours, theirs;
};

static int open_ends(void **state)
{
	struct ends *ends = memory_zalloc(sizeof(*ends));
	int fds[2], bytes = 2048;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
		return -1;
	/* As little as the kernel allows, so that a slow reader shows early. */
	setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	ends->ours = fds[0];
	ends->theirs = fds[1];
	outbox_open(&ends->outbox, ends->ours, LIMIT);
	*state = ends;
	return 0;
}

static int close_ends(void **state)
{
	struct ends *ends = *state;

	outbox_close(&ends->outbox);
	close(ends->ours);
	if (ends->theirs >= 0)
		close(ends->theirs);
	free(ends);
	return 0;
}

static void expect_read(int fd, const char *text)
{
	char read_text[256];
	size_t len = strlen(text);

	assert_int_equal(recv(fd, read_text, len, MSG_WAITALL), (ssize_t)len);
	assert_memory_equal(read_text, text, len);
}

static void test_a_line_goes_out_at_once(void **state)
{
	struct ends *ends = *state;

	assert_true(outbox_post(&ends->outbox, "one\n", 4));
	assert_int_equal(outbox_pending(&ends->outbox), 0);
	expect_read(ends->theirs, "one\n");
}

/* Posts lines until one is not taken; gives how many were. */
static int post_until_full(struct ends *ends)
{
	char line[32];
	int count = 0;

	while (snprintf(line, sizeof(line), "line %06d\n", count) && outbox_post(&ends->outbox, line, strlen(line)))
		count++;
	return count;
}

static void test_a_deaf_session_costs_its_limit_and_nothing_more(void **state)
{
	struct ends *ends = *state;

	assert_true(post_until_full(ends) > 0);
	assert_true(outbox_pending(&ends->outbox) <= LIMIT);
	assert_true(outbox_pending(&ends->outbox) > LIMIT - 16);
	assert_true(outbox_wants_room(&ends->outbox));
	assert_true(atomic_load(&ends->outbox.stalled_ms) > 0);
	assert_false(atomic_load(&ends->outbox.is_broken));
}

static void test_lines_of_a_slow_session_come_whole_and_in_order(void **state)
{
	struct ends *ends = *state;
	int count = post_until_full(ends);

	for (int i = 0; i < count; i++) {
		char line[32];

		snprintf(line, sizeof(line), "line %06d\n", i);
		expect_read(ends->theirs, line);
		outbox_flush(&ends->outbox);
	}
	assert_int_equal(outbox_pending(&ends->outbox), 0);
	assert_int_equal(atomic_load(&ends->outbox.stalled_ms), 0);
}

static void *write_answer(void *context)
{
	struct ends *ends = context;
	bool is_fine = true;

	for (int i = 0; i < 2000; i++)
		is_fine = is_fine && outbox_write(&ends->outbox, "answer\n", 7);
	return is_fine ? ends : NULL;
}

static void test_events_and_an_answer_never_mix_inside_a_line(void **state)
{
	struct ends *ends = *state;
	FILE *reader = fdopen(dup(ends->theirs), "r");
	int answers = 0, events = 0, posted = 0;
	char line[64];
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, write_answer, ends);
	while (answers < 2000 && fgets(line, sizeof(line), reader)) {
		answers += strcmp(line, "answer\n") == 0;
		events += strcmp(line, "event\n") == 0;
		assert_true(strcmp(line, "answer\n") == 0 || strcmp(line, "event\n") == 0);
		posted += outbox_post(&ends->outbox, "event\n", 6);
		outbox_flush(&ends->outbox);
	}
	pthread_join(thread, &result);
	assert_ptr_equal(result, ends);
	assert_int_equal(answers, 2000);
	while (events < posted) {
		/* First: what is read next may still wait for somebody to send it. */
		outbox_flush(&ends->outbox);
		assert_non_null(fgets(line, sizeof(line), reader));
		assert_string_equal(line, "event\n");
		events++;
	}
	assert_int_equal(events, posted);
	fclose(reader);
}

static void test_who_waits_for_a_reader_that_goes_is_let_go(void **state)
{
	struct ends *ends = *state;
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, write_answer, ends);
	outbox_break(&ends->outbox);
	pthread_join(thread, &result);
	assert_null(result);
}

static void test_a_closed_end_breaks_the_outbox(void **state)
{
	struct ends *ends = *state;

	close(ends->theirs);
	ends->theirs = -1;
	assert_false(outbox_write(&ends->outbox, "x\n", 2));
	assert_true(atomic_load(&ends->outbox.is_broken));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_line_goes_out_at_once, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(test_a_deaf_session_costs_its_limit_and_nothing_more, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(test_lines_of_a_slow_session_come_whole_and_in_order, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(test_events_and_an_answer_never_mix_inside_a_line, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(test_who_waits_for_a_reader_that_goes_is_let_go, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(test_a_closed_end_breaks_the_outbox, open_ends, close_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
