/* The log: what is told, counted, kept, rotated and read back. */
#include "base/log.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct log_filter all = { .least = LEVEL_DEBUG };

static char *scratch(void)
{
	char *folder = memory_string("/tmp/weir-log-XXXXXX");

	assert_non_null(mkdtemp(folder));
	return folder;
}

static void scratch_free(char *folder)
{
	OWNED(text) command = text_new(256);

	text_add_format(command, "rm -rf '%s'", folder);
	assert_int_equal(system(command->at), 0);
	free(folder);
}

static char *next(struct log *log, const struct log_filter *filter, uint64_t *seq)
{
	uint64_t skipped;

	return log_next(log, filter, seq, &skipped);
}

static void expect_line(struct log *log, const struct log_filter *filter, uint64_t *seq, const char *piece)
{
	char *json = next(log, filter, seq);

	assert_non_null(json);
	assert_non_null(strstr(json, piece));
	free(json);
}

static void a_line_has_time_level_part_job_sentence_and_fields(void **state)
{
	struct log *log = log_open(&(struct log_setup){ 0 });
	uint64_t seq = 0;
	char *json;

	(void)state;
	log_info(log, "sink", "orders", "rows written", FIELD_INT("rows", 12), FIELD_TEXT("table", "shop.\"o\"\n"));
	json = next(log, &all, &seq);
	assert_memory_equal(json, "{\"time\":\"2", 10);
	assert_non_null(strstr(
		json, "Z\",\"level\":\"info\",\"part\":\"sink\",\"job\":\"orders\",\"sentence\":\"rows written\","
		      "\"fields\":{\"rows\":12,\"table\":\"shop.\\\"o\\\"\\u000a\"}}"));
	free(json);
	assert_null(next(log, &all, &seq));
	log_close(log);
}

static void a_line_without_job_and_fields_leaves_them_out(void **state)
{
	struct log *log = log_open(&(struct log_setup){ 0 });
	uint64_t seq = 0;

	(void)state;
	log_info(log, "engine", NULL, "started");
	expect_line(log, &all, &seq, "\"part\":\"engine\",\"sentence\":\"started\"}");
	log_close(log);
	log_info(NULL, "engine", NULL, "a log that is not open takes nothing");
}

static void readers_choose_level_and_job(void **state)
{
	struct log *log = log_open(&(struct log_setup){ 0 });
	struct log_filter warn = { .least = LEVEL_WARN }, orders = { .least = LEVEL_DEBUG, .job = "orders" };
	uint64_t seq = 0;

	(void)state;
	log_debug(log, "a", "orders", "one");
	log_warn(log, "a", "items", "two");
	log_error(log, "a", "orders", "three");
	expect_line(log, &warn, &seq, "two");
	expect_line(log, &warn, &seq, "three");
	seq = 0;
	expect_line(log, &orders, &seq, "one");
	expect_line(log, &orders, &seq, "three");
	assert_null(next(log, &orders, &seq));
	assert_int_equal(log_back(log, &orders, 1), 2);
	assert_int_equal(log_back(log, &orders, 2), 0);
	assert_int_equal(log_back(log, &orders, 0), 3);
	log_close(log);
}

static void less_than_the_wanted_level_is_dropped(void **state)
{
	struct log *log = log_open(&(struct log_setup){ .least = LEVEL_INFO });
	uint64_t seq = 0;

	(void)state;
	log_debug(log, "a", NULL, "for us");
	assert_null(next(log, &all, &seq));
	log_close(log);
}

static void a_full_ring_forgets_the_oldest_and_says_how_many(void **state)
{
	struct log *log = log_open(&(struct log_setup){ .ring_lines = 3 });
	uint64_t seq = 0, skipped = 0;
	char *json;

	(void)state;
	for (int i = 1; i <= 5; i++)
		log_info(log, "a", NULL, "line", FIELD_INT("n", i));
	json = log_next(log, &all, &seq, &skipped);
	assert_non_null(strstr(json, "\"n\":3"));
	assert_int_equal(skipped, 2);
	free(json);
	assert_int_equal(log_back(log, &all, 100), 2);
	log_close(log);
}

static void the_ring_is_bounded_in_bytes_too(void **state)
{
	struct log *log = log_open(&(struct log_setup){ .ring_bytes = 300 });
	uint64_t seq = 0, skipped = 0;
	char *json;

	(void)state;
	for (int i = 1; i <= 20; i++)
		log_info(log, "a", NULL, "a sentence of some length that takes its place in the ring",
		         FIELD_INT("n", i));
	json = log_next(log, &all, &seq, &skipped);
	assert_in_range(skipped, 16, 19);
	free(json);
	log_close(log);
}

static void the_same_failure_is_told_once_and_then_counted(void **state)
{
	struct log *log = log_open(&(struct log_setup){ 0 });
	int64_t now_ms = clock_mono_ms();
	uint64_t seq = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		log_warn(log, "sink", "orders", "the disk is full", FIELD_TEXT("code", "disk_full"));
		log_warn(log, "sink", "items", "the disk is full", FIELD_TEXT("code", "disk_full"));
	}
	expect_line(log, &all, &seq, "\"job\":\"orders\"");
	expect_line(log, &all, &seq, "\"job\":\"items\"");
	assert_null(next(log, &all, &seq));
	log_tick(log, now_ms + 30000);
	assert_null(next(log, &all, &seq));
	log_tick(log, now_ms + 61000);
	expect_line(log, &all, &seq, "\"again\":999,\"seconds\":6");
	expect_line(log, &all, &seq, "\"code\":\"disk_full\"");
	assert_null(next(log, &all, &seq));
	log_close(log);
}

static void news_are_never_counted(void **state)
{
	struct log *log = log_open(&(struct log_setup){ 0 });
	uint64_t seq = 0;

	(void)state;
	log_info(log, "a", NULL, "again");
	log_info(log, "a", NULL, "again");
	free(next(log, &all, &seq));
	expect_line(log, &all, &seq, "again");
	log_close(log);
}

/* A stream that invents a failure a message costs no more memory than the table of failures has. */
static void many_different_failures_push_each_other_out(void **state)
{
	struct log *log = log_open(&(struct log_setup){ 0 });
	uint64_t seq = 0;
	int lines = 0;
	char *json;

	(void)state;
	for (int i = 0; i < 200; i++) {
		char sentence[32];

		snprintf(sentence, sizeof(sentence), "failure %d", i);
		log_warn(log, "a", NULL, sentence);
		log_warn(log, "a", NULL, sentence);
	}
	while ((json = next(log, &all, &seq))) {
		lines++;
		free(json);
	}
	/* 200 first lines, and the count of each that was pushed out. */
	assert_int_equal(lines, 200 + 200 - 64);
	log_close(log);
}

static void a_sentence_that_is_too_long_is_cut_between_characters(void **state)
{
	struct log *log = log_open(&(struct log_setup){ 0 });
	uint64_t seq = 0;
	char sentence[4001];
	char *json;

	(void)state;
	for (int i = 0; i < 4000; i += 2)
		memcpy(sentence + i, "\xc3\xa9", 2);
	sentence[4000] = '\0';
	log_info(log, "a", NULL, sentence, FIELD_TEXT("field", sentence));
	json = next(log, &all, &seq);
	assert_in_range(strlen(json), 1024, 4000);
	assert_null(strstr(json, "\\ufffd"));
	free(json);
	log_close(log);
}

static uint64_t size_of(const char *folder, const char *name)
{
	char *path = path_join(folder, name);
	struct stat info = { 0 };
	uint64_t size = stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;

	if (size)
		assert_int_equal(info.st_mode & 07777, 0600);
	free(path);
	return size;
}

static void files_rotate_by_size_and_the_oldest_goes(void **state)
{
	char *folder = scratch();
	struct log *log = log_open(&(struct log_setup){ .folder = folder, .file_bytes = 300, .file_count = 3 });

	(void)state;
	for (int i = 0; i < 20; i++)
		log_info(log, "a", NULL, "a sentence of some length that fills a file", FIELD_INT("n", i));
	log_close(log);
	assert_in_range(size_of(folder, "weird.log"), 1, 300);
	assert_in_range(size_of(folder, "weird.log.1"), 1, 300);
	assert_in_range(size_of(folder, "weird.log.2"), 1, 300);
	assert_int_equal(size_of(folder, "weird.log.3"), 0);
	scratch_free(folder);
}

static void the_next_engine_shows_what_the_last_one_told(void **state)
{
	char *folder = scratch();
	struct log *log = log_open(&(struct log_setup){ .folder = folder });
	struct log_filter orders = { .least = LEVEL_ERROR, .job = "orders" };
	char *path = path_join(folder, "weird.log");
	uint64_t seq = 0;
	FILE *file;

	(void)state;
	log_error(log, "a", "orders", "it broke");
	log_close(log);
	file = fopen(path, "a");
	fputs("{\"time\":\"half a line of a power cut\nnot ours\n", file);
	fclose(file);
	log = log_open(&(struct log_setup){ .folder = folder });
	expect_line(log, &orders, &seq, "it broke");
	assert_null(next(log, &all, &seq));
	log_close(log);
	free(path);
	scratch_free(folder);
}

static void a_file_that_was_taken_away_is_made_again(void **state)
{
	char *folder = scratch();
	struct log *log = log_open(&(struct log_setup){ .folder = folder });
	char *path = path_join(folder, "weird.log");

	(void)state;
	log_info(log, "a", NULL, "one");
	assert_int_equal(unlink(path), 0);
	log_tick(log, clock_mono_ms());
	log_info(log, "a", NULL, "two");
	log_close(log);
	assert_in_range(size_of(folder, "weird.log"), 1, 200);
	free(path);
	scratch_free(folder);
}

static void a_home_that_is_gone_does_not_come_back(void **state)
{
	char *folder = scratch(), *logs = path_join(folder, "logs");
	struct log *log = log_open(&(struct log_setup){ .folder = logs });

	(void)state;
	log_info(log, "a", NULL, "one");
	scratch_free(folder);
	log_tick(log, clock_mono_ms());
	log_info(log, "a", NULL, "two");
	assert_int_equal(access(logs, F_OK), -1);
	log_close(log);
	free(logs);
}

static void waiting_ends_with_a_line_or_with_time(void **state)
{
	struct log *log = log_open(&(struct log_setup){ 0 });

	(void)state;
	assert_false(log_wait(log, 0, 10));
	log_info(log, "a", NULL, "one");
	assert_true(log_wait(log, 0, 10));
	assert_false(log_wait(log, 1, 10));
	log_close(log);
}

static void *write_many(void *context)
{
	struct log *log = context;

	for (int i = 0; i < 200; i++) {
		log_info(log, "a", "orders", "one of many", FIELD_INT("n", i));
		log_warn(log, "a", "orders", "the same failure");
	}
	return NULL;
}

/* A follower beside four threads that write into files that rotate: each line is seen once, or told as skipped. */
static void threads_write_while_somebody_follows(void **state)
{
	char *folder = scratch();
	struct log *log = log_open(&(struct log_setup){ .folder = folder, .ring_lines = 50, .file_bytes = 2000 });
	pthread_t writers[4];
	uint64_t seq = 0, skipped, seen = 0;
	char *json;

	(void)state;
	for (int i = 0; i < 4; i++)
		pthread_create(&writers[i], NULL, write_many, log);
	while (seen < 801) {
		assert_true(log_wait(log, seq, 20000));
		while ((json = log_next(log, &all, &seq, &skipped))) {
			seen += 1 + skipped;
			free(json);
		}
		seen += skipped;
		log_tick(log, clock_mono_ms());
	}
	for (int i = 0; i < 4; i++)
		pthread_join(writers[i], NULL);
	assert_int_equal(seen, 801);
	assert_int_equal(seq, 801);
	log_close(log);
	scratch_free(folder);
}

static void levels_have_names(void **state)
{
	enum log_level level;

	(void)state;
	for (int i = 0; i < LOG_LEVELS; i++) {
		assert_true(log_level_find(log_level_name((enum log_level)i), &level));
		assert_int_equal(level, i);
	}
	assert_false(log_level_find("loud", &level));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_time_level_part_job_sentence_and_fields),
		cmocka_unit_test(a_line_without_job_and_fields_leaves_them_out),
		cmocka_unit_test(readers_choose_level_and_job),
		cmocka_unit_test(less_than_the_wanted_level_is_dropped),
		cmocka_unit_test(a_full_ring_forgets_the_oldest_and_says_how_many),
		cmocka_unit_test(the_ring_is_bounded_in_bytes_too),
		cmocka_unit_test(the_same_failure_is_told_once_and_then_counted),
		cmocka_unit_test(news_are_never_counted),
		cmocka_unit_test(many_different_failures_push_each_other_out),
		cmocka_unit_test(a_sentence_that_is_too_long_is_cut_between_characters),
		cmocka_unit_test(files_rotate_by_size_and_the_oldest_goes),
		cmocka_unit_test(the_next_engine_shows_what_the_last_one_told),
		cmocka_unit_test(a_file_that_was_taken_away_is_made_again),
		cmocka_unit_test(a_home_that_is_gone_does_not_come_back),
		cmocka_unit_test(waiting_ends_with_a_line_or_with_time),
		cmocka_unit_test(threads_write_while_somebody_follows),
		cmocka_unit_test(levels_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
