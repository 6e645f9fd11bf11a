/* The journal: acts, events and notes; reading it from its end. */
#include "engine/journal.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "engine/engine.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
	char folder[64];
	char *path;
	struct engine engine;
	struct call call;
};

static int begin(void **state)
{
	struct place *place = memory_zalloc(sizeof(*place));

	snprintf(place->folder, sizeof(place->folder), "/tmp/weir-journal-XXXXXX");
	if (!mkdtemp(place->folder))
		return -1;
	place->path = path_join(place->folder, "journal.jsonl");
	place->engine.journal = journal_open(place->path, NULL, NULL);
	place->call = (struct call){ .engine = &place->engine, .args = json_object(), .access = ADMIN };
	place->call.peer = (struct peer){ .uid = 0, .pid = 77 };
	peer_name(&place->call.peer);
	peer_set_ssh(&place->call.peer, "10.0.0.1 5000 10.0.0.2 22");
	*state = place;
	return 0;
}

static int end(void **state)
{
	struct place *place = *state;
	char command[128];
	int status;

	journal_close(place->engine.journal);
	json_decref(place->call.args);
	snprintf(command, sizeof(command), "rm -rf '%s'", place->folder);
	status = system(command);
	free(place->path);
	free(place);
	return status;
}

static json_t *read_lines(struct place *place, struct journal_filter filter)
{
	struct error err = { 0 };
	json_t *lines;

	if (!filter.limit)
		filter.limit = 1000;
	lines = journal_read(place->engine.journal, &filter, &err);
	if (!lines)
		fail_msg("%s", err.message);
	return lines;
}

static const char *member(const json_t *lines, size_t i, const char *name)
{
	const char *text = json_string_value(json_object_get(json_array_get(lines, i), name));

	return text ? text : "(none)";
}

static void put_event(struct place *place, const char *time, const char *job, const char *table, const char *text)
{
	struct error err = { 0 };

	assert_true(journal_add(place->engine.journal,
	                        json_pack("{s:s, s:s, s:s, s:s*, s:s*, s:s, s:s}", "time", time, "kind", "event", "who",
	                                  "system", "job", job, "table", table, "code", "something", "text", text),
	                        false, &err));
}

static void append_raw(struct place *place, const char *bytes)
{
	FILE *file = fopen(place->path, "a");

	assert_non_null(file);
	fputs(bytes, file);
	assert_int_equal(fclose(file), 0);
}

static void a_journal_that_is_not_there_is_empty(void **state)
{
	json_t *lines = read_lines(*state, (struct journal_filter){ 0 });

	assert_int_equal(json_array_size(lines), 0);
	json_decref(lines);
}

static void an_act_has_a_line_before_and_one_after(void **state)
{
	struct place *place = *state;
	const struct command *command = &command_table[COMMAND_pause];
	struct error err = { 0 };
	struct stat info;
	json_t *lines;

	json_object_set_new(place->call.args, "job", json_string("orders"));
	json_object_set_new(place->call.args, "table", json_string("shop.t"));
	json_object_set_new(place->call.args, "why", json_string("freeze week"));
	assert_true(journal_act_begin(&place->call, command, &err));
	lines = read_lines(place, (struct journal_filter){ 0 });
	assert_int_equal(json_array_size(lines), 1);
	assert_string_equal(member(lines, 0, "phase"), "before");
	assert_null(json_object_get(json_array_get(lines, 0), "ended"));
	json_decref(lines);
	journal_act_changed(&place->call, "ok", "paused");
	journal_act_end(&place->call, command, true, &err);

	lines = read_lines(place, (struct journal_filter){ 0 });
	assert_int_equal(json_array_size(lines), 2);
	assert_true(json_is_true(json_object_get(json_array_get(lines, 0), "ended")));
	assert_string_equal(member(lines, 1, "phase"), "after");
	assert_string_equal(member(lines, 1, "text"), "pause orders shop.t");
	assert_string_equal(member(lines, 1, "why"), "freeze week");
	assert_string_equal(member(lines, 1, "who"), "root");
	assert_string_equal(member(lines, 1, "ssh_as_client_said"), "10.0.0.1 5000 10.0.0.2 22");
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(json_array_get(lines, 1), "change"), "after")),
		"paused");
	json_decref(lines);
	assert_int_equal(stat(place->path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
}

static void an_act_that_fails_and_one_that_is_refused_say_so(void **state)
{
	struct place *place = *state;
	const struct command *command = &command_table[COMMAND_stop];
	struct error err = { 0 };
	json_t *lines;

	assert_true(journal_act_begin(&place->call, command, &err));
	err = (struct error){ .kind = ERROR_CONFIG, .code = "job_unknown", .message = "there is no job 'x'" };
	journal_act_end(&place->call, command, false, &err);
	journal_act_refused(&place->call, command, &err);
	lines = read_lines(place, (struct journal_filter){ 0 });
	assert_string_equal(member(lines, 1, "phase"), "failed");
	assert_string_equal(member(lines, 1, "code"), "job_unknown");
	assert_string_equal(member(lines, 2, "phase"), "refused");
	json_decref(lines);
}

/* A journal that cannot be written: a folder stands in its place. */
static void an_act_that_cannot_be_written_down_does_not_happen(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };

	assert_int_equal(mkdir(place->path, 0700), 0);
	assert_false(journal_act_begin(&place->call, &command_table[COMMAND_stop], &err));
	assert_non_null(strstr(err.message, "'stop' was not done"));
	assert_int_equal(rmdir(place->path), 0);
	assert_true(journal_act_begin(&place->call, &command_table[COMMAND_stop], &err));
}

static void what_looks_like_a_secret_is_not_written_down(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	char *bytes;
	size_t len;

	json_object_set_new(place->call.args, "params",
	                    json_pack("[s, s, s]", "project=acme", "authToken=s3cr3t", "x=-----BEGIN KEY s3cr3t"));
	json_object_set_new(place->call.args, "password", json_string("s3cr3t"));
	assert_true(journal_act_begin(&place->call, &command_table[COMMAND_run], &err));
	assert_true(file_read(place->path, 100000, &bytes, &len, &err));
	assert_null(strstr(bytes, "s3cr3t"));
	assert_non_null(strstr(bytes, "project=acme"));
	assert_non_null(strstr(bytes, "authToken=***"));
	free(bytes);
}

static void a_setting_tells_both_sides(void **state)
{
	struct place *place = *state;

	journal_act_difference(&place->call,
	                       "schemaChanges: add -> reject\nupdateFrequencySecs: 300 -> 60\nno arrow\n");
	assert_string_equal(json_string_value(json_object_get(place->call.change, "before")),
	                    "schemaChanges: add; updateFrequencySecs: 300");
	assert_string_equal(json_string_value(json_object_get(place->call.change, "after")),
	                    "schemaChanges: reject; updateFrequencySecs: 60");
	json_decref(place->call.change);
}

static void what_the_client_says_of_ssh_is_numbers_only(void **state)
{
	struct peer peer = { 0 };

	(void)state;
	peer_set_ssh(&peer, "\033[31mroot");
	assert_string_equal(peer.ssh, "");
	peer_set_ssh(&peer, "fe80::1%25 5000 ::1 22");
	assert_string_equal(peer.ssh, "fe80::1%25 5000 ::1 22");
	peer_set_ssh(&peer, NULL);
	assert_string_equal(peer.ssh, "");
}

static void the_newest_lines_come_in_order_of_time(void **state)
{
	struct place *place = *state;
	json_t *lines;
	char text[32];

	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "event %d", i);
		put_event(place, "2026-11-30T02:00:00.000000Z", "orders", NULL, text);
	}
	lines = read_lines(place, (struct journal_filter){ .limit = 2 });
	assert_int_equal(json_array_size(lines), 2);
	assert_string_equal(member(lines, 0, "text"), "event 2998");
	assert_string_equal(member(lines, 1, "text"), "event 2999");
	json_decref(lines);
	lines = read_lines(place, (struct journal_filter){ .limit = 5000 });
	assert_int_equal(json_array_size(lines), 3000);
	assert_string_equal(member(lines, 0, "text"), "event 0");
	json_decref(lines);
}

static void filters_choose_job_table_word_and_time(void **state)
{
	struct place *place = *state;
	json_t *lines;
	int64_t two, three;

	assert_true(journal_time("2026-11-30T02:00:00Z", 0, &two, NULL));
	assert_true(journal_time("2026-11-30T03:00:00Z", 0, &three, NULL));
	put_event(place, "2026-11-30T01:59:59.999999Z", NULL, NULL, "engine");
	put_event(place, "2026-11-30T02:00:00.000000Z", "orders", "shop.t", "first");
	put_event(place, "2026-11-30T02:30:00.000000Z", "orders", "shop.u", "second");
	put_event(place, "2026-11-30T03:00:00.000000Z", "items", NULL, "Third");

	lines = read_lines(place, (struct journal_filter){ .since_us = two, .until_us = three });
	assert_int_equal(json_array_size(lines), 2);
	json_decref(lines);
	lines = read_lines(place, (struct journal_filter){ .job = "orders" });
	assert_int_equal(json_array_size(lines), 2);
	json_decref(lines);
	lines = read_lines(place, (struct journal_filter){ .job = "orders", .with_jobless = true, .table = "shop.t" });
	assert_int_equal(json_array_size(lines), 2);
	assert_string_equal(member(lines, 0, "text"), "engine");
	assert_string_equal(member(lines, 1, "text"), "first");
	json_decref(lines);
	lines = read_lines(place, (struct journal_filter){ .what = "third" });
	assert_int_equal(json_array_size(lines), 1);
	json_decref(lines);
}

static void half_a_line_is_left_out_and_the_next_one_is_whole(void **state)
{
	struct place *place = *state;
	json_t *lines;

	append_raw(place, "{\"time\":\"2026-11-30T02:00:00Z\",\"kind\":\"ev");
	put_event(place, "2026-11-30T02:00:01.000000Z", NULL, NULL, "after the power cut");
	append_raw(place, "garbage\n\n[1]\n");
	lines = read_lines(place, (struct journal_filter){ 0 });
	assert_int_equal(json_array_size(lines), 1);
	assert_string_equal(member(lines, 0, "text"), "after the power cut");
	json_decref(lines);
}

static void a_journal_that_was_taken_away_begins_anew(void **state)
{
	struct place *place = *state;
	json_t *lines;

	put_event(place, "2026-11-30T02:00:00.000000Z", NULL, NULL, "one");
	assert_int_equal(unlink(place->path), 0);
	put_event(place, "2026-11-30T02:00:01.000000Z", NULL, NULL, "two");
	lines = read_lines(place, (struct journal_filter){ 0 });
	assert_int_equal(json_array_size(lines), 1);
	assert_string_equal(member(lines, 0, "text"), "two");
	json_decref(lines);
}

static void an_event_cut_inside_a_character_is_still_a_line(void **state)
{
	struct place *place = *state;
	json_t *lines;

	journal_event(&place->engine, "orders", "shop.t", "dlq_group", "column caf\xc3");
	lines = read_lines(place, (struct journal_filter){ 0 });
	assert_string_equal(member(lines, 0, "text"), "column caf\xef\xbf\xbd");
	assert_string_equal(member(lines, 0, "who"), "system");
	json_decref(lines);
}

static void *tell_many(void *context)
{
	struct place *place = context;

	for (int i = 0; i < 50; i++)
		journal_event(&place->engine, "orders", NULL, "something", "told by one of many threads");
	return NULL;
}

static void threads_tell_while_somebody_reads(void **state)
{
	struct place *place = *state;
	pthread_t tellers[4];
	json_t *lines;

	for (int i = 0; i < 4; i++)
		pthread_create(&tellers[i], NULL, tell_many, place);
	for (int i = 0; i < 10; i++)
		json_decref(read_lines(place, (struct journal_filter){ .limit = 20 }));
	for (int i = 0; i < 4; i++)
		pthread_join(tellers[i], NULL);
	lines = read_lines(place, (struct journal_filter){ 0 });
	assert_int_equal(json_array_size(lines), 200);
	json_decref(lines);
}

static void expect_time(const char *text, const char *expected)
{
	int64_t now_us, us;
	char shown[CLOCK_TEXT_BYTES];
	struct error err = { 0 };

	assert_true(journal_time("2026-11-30T03:30:00Z", 0, &now_us, NULL));
	if (!journal_time(text, now_us, &us, &err))
		fail_msg("%s", err.message);
	clock_text(us, shown);
	assert_string_equal(shown, expected);
}

static void times_are_read_as_operators_type_them(void **state)
{
	static const char *const bad[] = {
		"",     "x",  "2026", "2026-13-01", "2026-11-30T25:00", "25:00",
		"2:60", "3w", "-5m",  "5",          "02:30x",           "2026-11-30T02:30:00+01:00"
	};
	int64_t us;

	(void)state;
	expect_time("02:30", "2026-11-30T02:30:00.000000Z");
	expect_time("03:30:01", "2026-11-29T03:30:01.000000Z");
	expect_time("2026-11-28", "2026-11-28T00:00:00.000000Z");
	expect_time("2026-11-28T01:02", "2026-11-28T01:02:00.000000Z");
	expect_time("2026-11-28 01:02:03.5Z", "2026-11-28T01:02:03.500000Z");
	expect_time("90s", "2026-11-30T03:28:30.000000Z");
	expect_time("2h", "2026-11-30T01:30:00.000000Z");
	expect_time("7d", "2026-11-23T03:30:00.000000Z");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error err = { 0 };

		if (journal_time(bad[i], 0, &us, &err))
			fail_msg("'%s' was read as a time", bad[i]);
		assert_string_equal(err.code, "bad_argument");
	}
}

#define JOURNAL_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(a_journal_that_is_not_there_is_empty),
		JOURNAL_TEST(an_act_has_a_line_before_and_one_after),
		JOURNAL_TEST(an_act_that_fails_and_one_that_is_refused_say_so),
		JOURNAL_TEST(an_act_that_cannot_be_written_down_does_not_happen),
		JOURNAL_TEST(what_looks_like_a_secret_is_not_written_down),
		JOURNAL_TEST(a_setting_tells_both_sides),
		JOURNAL_TEST(what_the_client_says_of_ssh_is_numbers_only),
		JOURNAL_TEST(the_newest_lines_come_in_order_of_time),
		JOURNAL_TEST(filters_choose_job_table_word_and_time),
		JOURNAL_TEST(half_a_line_is_left_out_and_the_next_one_is_whole),
		JOURNAL_TEST(a_journal_that_was_taken_away_begins_anew),
		JOURNAL_TEST(threads_tell_while_somebody_reads),
		JOURNAL_TEST(an_event_cut_inside_a_character_is_still_a_line),
		cmocka_unit_test(times_are_read_as_operators_type_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
