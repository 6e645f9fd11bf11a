/* The journal's files: full ones move back, the last one's lines are dropped with a word, readers go through all of them. */
#include "engine/engine.h"
#include "engine/journal_private.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_BYTES 2000
#define FILES 3

struct place {
	char folder[64];
	char *path;
	struct journal *journal;
	int told;
};

static void open_journal(struct place *place)
{
	place->journal = journal_open(place->path, NULL, NULL);
	place->journal->file_bytes = FILE_BYTES;
	place->journal->files = FILES;
}

static int begin(void **state)
{
	struct place *place = memory_zalloc(sizeof(*place));

	snprintf(place->folder, sizeof(place->folder), "/tmp/weir-journal-XXXXXX");
	if (!mkdtemp(place->folder))
		return -1;
	place->path = path_join(place->folder, "journal.jsonl");
	open_journal(place);
	*state = place;
	return 0;
}

static int end(void **state)
{
	struct place *place = *state;
	char command[128];
	int status;

	journal_close(place->journal);
	snprintf(command, sizeof(command), "rm -rf '%s'", place->folder);
	status = system(command);
	free(place->path);
	free(place);
	return status;
}

/* Lines with numbers, so that one that is missing is seen. */
static void tell(struct place *place, int count)
{
	struct error err = { 0 };

	for (int i = 0; i < count; i++)
		assert_true(journal_add(place->journal, json_pack("{s:s, s:s, s:i}", "kind", "event", "who", "system", "number",
		                                                  place->told++), true, &err));
}

/* Are the numbers of these lines those that end with `last`, one after the other? Gives the first. */
static int assert_in_a_row(const json_t *lines, int last)
{
	int expected = last;

	for (size_t i = json_array_size(lines); i-- > 0;) {
		const json_t *number = json_object_get(json_array_get(lines, i), "number");

		if (!number)
			continue;
		assert_int_equal(json_integer_value(number), expected);
		expected--;
	}
	return expected + 1;
}

static json_t *read_lines(struct journal *journal, struct journal_filter filter)
{
	struct error err = { 0 };
	json_t *lines = journal_read(journal, &filter, &err);

	assert_non_null(lines);
	return lines;
}

static off_t size_of(const struct place *place, const char *end_of_name)
{
	char path[128];
	struct stat info;

	snprintf(path, sizeof(path), "%s%s", place->path, end_of_name);
	return stat(path, &info) == 0 ? info.st_size : -1;
}

static void what_is_kept_is_read_as_one_and_stays_small(void **state)
{
	struct place *place = *state;

	for (int i = 0; i < 40; i++) {
		json_t *lines;
		int first;

		tell(place, 7);
		lines = read_lines(place->journal, (struct journal_filter){ .limit = 1000 });
		first = assert_in_a_row(lines, place->told - 1);
		/* All of them until the first files are full, and two full files at least afterwards. */
		assert_true(first == 0 || (place->told - first) * 100 >= 2 * FILE_BYTES);
		json_decref(lines);
		assert_true(size_of(place, "") <= FILE_BYTES + 200);
		assert_true(size_of(place, ".1") <= FILE_BYTES + 200 && size_of(place, ".2") <= FILE_BYTES + 200);
		assert_int_equal(size_of(place, ".3"), -1);
	}
}

static void what_is_dropped_is_said(void **state)
{
	struct place *place = *state;
	json_t *lines, *all;
	const char *text, *oldest;
	int first;

	tell(place, 200);
	lines = read_lines(place->journal, (struct journal_filter){ .limit = 1, .what = "journal_trimmed" });
	assert_int_equal(json_array_size(lines), 1);
	text = json_string_value(json_object_get(json_array_get(lines, 0), "text"));
	all = read_lines(place->journal, (struct journal_filter){ .limit = 1000 });
	first = assert_in_a_row(all, 199);
	assert_true(first > 0);
	oldest = json_string_value(json_object_get(json_array_get(all, 0), "time"));
	assert_int_equal(strncmp(text, "lines before ", 13), 0);
	assert_int_equal(strncmp(text + 13, oldest, 19), 0);
	assert_non_null(strstr(text, "Z are dropped: the journal keeps 3 files of 1 KiB"));
	json_decref(lines);
	json_decref(all);
}

static void nothing_is_said_while_nothing_is_dropped(void **state)
{
	struct place *place = *state;
	json_t *lines;

	tell(place, 40);
	assert_true(size_of(place, ".1") > 0);
	lines = read_lines(place->journal, (struct journal_filter){ .limit = 1000 });
	assert_int_equal(json_array_size(lines), 40);
	json_decref(lines);
}

static void an_act_whose_beginning_lies_in_an_older_file_has_ended(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	json_t *lines;

	assert_true(journal_add(place->journal, json_pack("{s:s, s:i, s:s}", "kind", "act", "act", 7, "phase", "before"), true, &err));
	tell(place, 30);
	assert_true(size_of(place, ".1") > 0);
	assert_true(journal_add(place->journal, json_pack("{s:s, s:i, s:s}", "kind", "act", "act", 7, "phase", "after"), true, &err));
	lines = read_lines(place->journal, (struct journal_filter){ .limit = 1000 });
	assert_true(json_is_true(json_object_get(json_array_get(lines, 0), "ended")));
	json_decref(lines);
}

static void limits_of_a_reading_hold_across_files(void **state)
{
	struct place *place = *state;
	json_t *lines;

	tell(place, 40);
	lines = read_lines(place->journal, (struct journal_filter){ .limit = 30 });
	assert_int_equal(json_array_size(lines), 30);
	assert_int_equal(assert_in_a_row(lines, 39), 10);
	json_decref(lines);
	lines = read_lines(place->journal, (struct journal_filter){ .limit = 1000, .bytes_max = 1 });
	assert_true(json_array_size(lines) > 0 && json_array_size(lines) < 40);
	json_decref(lines);
}

/* An engine that begins finds the files of the one before. */
static void the_next_engine_goes_on(void **state)
{
	struct place *place = *state;
	json_t *lines;

	tell(place, 45);
	journal_close(place->journal);
	open_journal(place);
	tell(place, 5);
	lines = read_lines(place->journal, (struct journal_filter){ .limit = 1000 });
	assert_int_equal(assert_in_a_row(lines, 49), 0);
	json_decref(lines);
}

/* A folder stands where the oldest file would be. */
static void a_file_that_cannot_be_moved_goes_on_growing(void **state)
{
	struct place *place = *state;
	char blocked[128];
	json_t *lines;

	snprintf(blocked, sizeof(blocked), "%s.1", place->path);
	assert_int_equal(mkdir(blocked, 0700), 0);
	snprintf(blocked, sizeof(blocked), "%s.1/inside", place->path);
	assert_int_equal(mkdir(blocked, 0700), 0);
	snprintf(blocked, sizeof(blocked), "%s.2", place->path);
	assert_int_equal(mkdir(blocked, 0700), 0);
	tell(place, 60);
	lines = read_lines(place->journal, (struct journal_filter){ .limit = 1000 });
	assert_int_equal(assert_in_a_row(lines, 59), 0);
	/* It is tried again now and then, not with each line. */
	assert_true(json_array_size(lines) < 60 * 2);
	json_decref(lines);
	assert_true(size_of(place, "") > FILE_BYTES);
}

static size_t lines_with(struct place *place, const char *code)
{
	json_t *lines = read_lines(place->journal, (struct journal_filter){ .limit = 1000, .what = code });
	size_t count = json_array_size(lines);

	json_decref(lines);
	return count;
}

/* Something that is no file stands in the last place. */
static void a_last_file_that_cannot_be_dropped_is_said_once(void **state)
{
	struct place *place = *state;
	char blocked[128];
	json_t *lines;

	snprintf(blocked, sizeof(blocked), "%s.2", place->path);
	assert_int_equal(mkdir(blocked, 0700), 0);
	tell(place, 60);
	assert_int_equal(lines_with(place, "journal_trimmed"), 0);
	assert_int_equal(lines_with(place, "io_error") + lines_with(place, "not_a_file"), 1);
	lines = read_lines(place->journal, (struct journal_filter){ .limit = 1000 });
	assert_int_equal(assert_in_a_row(lines, 59), 0);
	json_decref(lines);
	assert_int_equal(rmdir(blocked), 0);
	tell(place, 200);
	assert_true(size_of(place, ".2") > 0);
	assert_true(lines_with(place, "journal_trimmed") > 0);
}

/* In the place of the C library's, for a file system that lets a file be renamed and not removed. */
static bool unlinks_fail;

int unlink(const char *path)
{
	if (!unlinks_fail)
		return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
	errno = EIO;
	return -1;
}

static void lines_are_said_to_be_dropped_once_whatever_becomes_of_their_file(void **state)
{
	struct place *place = *state;

	unlinks_fail = true;
	tell(place, 200);
	unlinks_fail = false;
	assert_true(place->journal->turns > FILES && size_of(place, ".dropped") > 0);
	/* Each turn has one such line, and three files are kept. */
	assert_true(lines_with(place, "journal_trimmed") >= 2 && lines_with(place, "journal_trimmed") <= FILES);
	assert_true(size_of(place, "") <= FILE_BYTES + 200 && size_of(place, ".2") <= FILE_BYTES + 200);
}

/* A kill came after the file had left the row. */
static void a_file_that_was_left_aside_is_said_and_removed(void **state)
{
	struct place *place = *state;
	char aside[128];
	FILE *file;

	snprintf(aside, sizeof(aside), "%s.dropped", place->path);
	file = fopen(aside, "w");
	assert_non_null(file);
	fclose(file);
	tell(place, 30);
	assert_int_equal(size_of(place, ".dropped"), -1);
	assert_int_equal(lines_with(place, "journal_trimmed"), 1);
}

static void *tell_many(void *context)
{
	tell(context, 400);
	return NULL;
}

static void who_reads_while_files_move_misses_no_line(void **state)
{
	struct place *place = *state;
	pthread_t teller;

	pthread_create(&teller, NULL, tell_many, place);
	for (int i = 0; i < 60; i++) {
		json_t *lines = read_lines(place->journal, (struct journal_filter){ .limit = 1000 });
		const json_t *last = NULL;

		for (size_t at = json_array_size(lines); at-- > 0 && !last;)
			last = json_object_get(json_array_get(lines, at), "number");
		if (last)
			assert_in_a_row(lines, (int)json_integer_value(last));
		json_decref(lines);
	}
	pthread_join(teller, NULL);
}

#define FILES_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILES_TEST(what_is_kept_is_read_as_one_and_stays_small),
		FILES_TEST(what_is_dropped_is_said),
		FILES_TEST(nothing_is_said_while_nothing_is_dropped),
		FILES_TEST(an_act_whose_beginning_lies_in_an_older_file_has_ended),
		FILES_TEST(limits_of_a_reading_hold_across_files),
		FILES_TEST(the_next_engine_goes_on),
		FILES_TEST(a_file_that_cannot_be_moved_goes_on_growing),
		FILES_TEST(a_last_file_that_cannot_be_dropped_is_said_once),
		FILES_TEST(lines_are_said_to_be_dropped_once_whatever_becomes_of_their_file),
		FILES_TEST(a_file_that_was_left_aside_is_said_and_removed),
		FILES_TEST(who_reads_while_files_move_misses_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
