/* Sessions that misbehave, with the loop's own functions and a clock of our own: each ends in time, with a word where it
 * could be heard, and takes no more than its share. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/session_private.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define HELLO "{\"hello\":{\"protocol\":1}}\n"
#define SUBSCRIBE "{\"id\":1,\"call\":\"subscribe\",\"args\":{\"topics\":[\"journal\"]}}\n"
#define SECOND_MS 1000

static struct engine engine;
static int client;

static int set_up(void **state)
{
	static const struct peer peer = { .uid = 1, .pid = 1 };
	int ends[2];

	(void)state;
	engine = (struct engine){ .lock_fd = -1, .listen_fd = -1, .signal_fd = -1, .wake_fd = eventfd(0, EFD_NONBLOCK) };
	pthread_mutex_init(&engine.lock, NULL);
	pthread_cond_init(&engine.job_ended, NULL);
	events_open(&engine);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return -1;
	client = ends[1];
	session_open(&engine, ends[0], VIEW, &peer);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(client);
	server_close_all(&engine);
	events_close(&engine);
	close(engine.wake_fd);
	pthread_cond_destroy(&engine.job_ended);
	pthread_mutex_destroy(&engine.lock);
	return 0;
}

static void send_text(const char *text)
{
	size_t len = strlen(text);

	assert_int_equal(send(client, text, len, MSG_NOSIGNAL), (ssize_t)len);
	server_serve(engine.sessions, POLLIN);
}

/* What came since; the end of the session shows as the text's end. */
static const char *heard(bool *out_has_ended)
{
	static char text[65536];
	size_t used = 0;
	ssize_t n;

	while ((n = recv(client, text + used, sizeof(text) - 1 - used, MSG_DONTWAIT)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	*out_has_ended = n == 0 || errno != EAGAIN;
	return text;
}

static void expect_end_after(int64_t now_ms, int64_t stays_ms, int64_t ends_ms, const char *word)
{
	bool has_ended;
	const char *text;

	server_sweep(&engine, now_ms + stays_ms);
	assert_non_null(engine.sessions);
	heard(&has_ended);
	assert_false(has_ended);
	server_sweep(&engine, now_ms + ends_ms);
	assert_null(engine.sessions);
	assert_int_equal(engine.session_count, 0);
	text = heard(&has_ended);
	assert_true(has_ended);
	assert_true(!word || strstr(text, word));
}

static void test_without_a_hello_it_ends_after_five_seconds(void **state)
{
	(void)state;
	expect_end_after(clock_mono_ms(), 4 * SECOND_MS, 6 * SECOND_MS, NULL);
}

static void test_half_a_hello_gives_no_more_time(void **state)
{
	(void)state;
	send_text("{\"hello\":");
	expect_end_after(clock_mono_ms(), 4 * SECOND_MS, 6 * SECOND_MS, NULL);
}

static void test_half_a_line_is_not_waited_for_an_hour(void **state)
{
	(void)state;
	send_text(HELLO "{\"id\":1,\"call\":");
	expect_end_after(clock_mono_ms(), 55 * SECOND_MS, 65 * SECOND_MS, "bad_frame");
}

static void test_a_line_in_drops_gets_no_more_time(void **state)
{
	int64_t begun_ms = clock_mono_ms();

	(void)state;
	send_text(HELLO);
	for (int i = 0; i < 50; i++)
		send_text(" ");
	assert_true(engine.sessions->half_since_ms >= begun_ms && engine.sessions->half_since_ms <= clock_mono_ms());
	expect_end_after(begun_ms, 55 * SECOND_MS, 65 * SECOND_MS, "not ended within 60 seconds");
}

static void test_who_says_nothing_between_lines_may_stay(void **state)
{
	bool has_ended;

	(void)state;
	send_text(HELLO "{\"id\":1,\"call\":\"sync\"}\n");
	server_sweep(&engine, clock_mono_ms() + 3600 * SECOND_MS);
	assert_non_null(engine.sessions);
	assert_non_null(strstr(heard(&has_ended), "\"ok\""));
	assert_false(has_ended);
}

static void test_garbage_without_end_takes_a_line_and_no_more(void **state)
{
	static char garbage[65536];
	size_t sent = 0;
	bool has_ended;

	(void)state;
	memset(garbage, 0xfe, sizeof(garbage));
	send_text(HELLO);
	while (sent < (10u << 20) && !engine.sessions->is_closing) {
		ssize_t n = send(client, garbage, sizeof(garbage), MSG_NOSIGNAL | MSG_DONTWAIT);

		sent += n > 0 ? (size_t)n : 0;
		server_serve(engine.sessions, POLLIN);
		assert_true(engine.sessions->room <= FRAME_BYTES_MAX + 4 * sizeof(garbage));
	}
	assert_true(engine.sessions->is_closing);
	server_sweep(&engine, clock_mono_ms());
	assert_null(engine.sessions);
	assert_non_null(strstr(heard(&has_ended), "a line is longer than"));
}

static void test_a_hello_without_a_number_is_refused(void **state)
{
	bool has_ended;
	const char *text;

	(void)state;
	send_text("{\"hello\":{\"protocol\":0}}\n{\"id\":1,\"call\":\"status\"}\n");
	server_sweep(&engine, clock_mono_ms());
	assert_null(engine.sessions);
	text = heard(&has_ended);
	assert_true(has_ended);
	assert_non_null(strstr(text, "protocol_differs"));
	assert_non_null(strstr(text, "protocol 1"));
	assert_null(strstr(text, "\"id\":1"));
}

static void publish_many(void)
{
	for (int i = 0; i < 5000; i++) {
		events_publish(&engine, TOPIC_journal, NULL, json_pack("{s:s%}", "text", memset((char[2000]){ 0 }, 'x', 2000), 2000));
		if (i % 100 == 0)
			events_tick(&engine, clock_mono_ms() + i * SECOND_MS);
	}
}

static void test_who_watches_and_never_reads_is_closed_and_costs_little(void **state)
{
	(void)state;
	send_text(HELLO SUBSCRIBE);
	assert_int_equal(engine.sessions->subscription_count, 1);
	publish_many();
	assert_true(outbox_pending(&engine.sessions->out) > 0);
	assert_true(outbox_pending(&engine.sessions->out) <= OUTBOX_BYTES_MAX);
	server_sweep(&engine, clock_mono_ms() + 9 * SECOND_MS);
	assert_non_null(engine.sessions);
	server_sweep(&engine, clock_mono_ms() + 11 * SECOND_MS);
	assert_null(engine.sessions);
	assert_false(events_wanted(&engine, TOPIC_journal));
}

static void test_who_asks_and_never_reads_is_closed(void **state)
{
	(void)state;
	send_text(HELLO);
	for (int i = 0; i < 100000 && !engine.sessions->is_closing; i++)
		send_text("{\"id\":1,\"call\":\"unsubscribe\",\"args\":{\"topics\":[\"no-such-topic\"]}}\n");
	assert_true(engine.sessions->is_closing);
	assert_true(outbox_pending(&engine.sessions->out) <= OUTBOX_BYTES_MAX);
	server_sweep(&engine, clock_mono_ms());
	assert_null(engine.sessions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(test_without_a_hello_it_ends_after_five_seconds),
		TEST(test_half_a_hello_gives_no_more_time),
		TEST(test_half_a_line_is_not_waited_for_an_hour),
		TEST(test_a_line_in_drops_gets_no_more_time),
		TEST(test_who_says_nothing_between_lines_may_stay),
		TEST(test_garbage_without_end_takes_a_line_and_no_more),
		TEST(test_a_hello_without_a_number_is_refused),
		TEST(test_who_watches_and_never_reads_is_closed_and_costs_little),
		TEST(test_who_asks_and_never_reads_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
