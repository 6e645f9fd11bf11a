/* Files: whole reads, replacement in one step, folders and paths. */
#include "base/file.h"

#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/weir-test-XXXXXX";

static int folder_begin(void **state)
{
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int folder_end(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return chdir("/") == 0 ? system(command) : -1;
}

static void put(const char *path, const char *content)
{
	struct error err = { 0 };

	if (!file_replace(path, span_of(content), &err))
		fail_msg("%s", err.message);
}

static void expect(const char *path, const char *content)
{
	char *bytes = NULL;
	size_t len = 0;

	assert_true(file_read(path, 1000, &bytes, &len, NULL));
	assert_string_equal(bytes, content);
	assert_int_equal(len, strlen(content));
	free(bytes);
}

static size_t names_in(const char *path)
{
	DIR *dir = opendir(path);
	size_t count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static void a_file_is_replaced_whole_and_private(void **state)
{
	struct stat info;

	(void)state;
	assert_int_equal(mkdir("replace", 0700), 0);
	put("replace/job.json", "old and longer");
	put("replace/job.json", "new");
	expect("replace/job.json", "new");
	put("replace/job.json", "");
	expect("replace/job.json", "");
	assert_int_equal(stat("replace/job.json", &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	assert_int_equal(names_in("replace"), 1);
}

static void a_link_is_replaced_not_followed(void **state)
{
	struct stat info;

	(void)state;
	put("target", "mine");
	assert_int_equal(symlink("target", "link"), 0);
	put("link", "new");
	expect("target", "mine");
	expect("link", "new");
	assert_int_equal(lstat("link", &info), 0);
	assert_true(S_ISREG(info.st_mode));
}

static void a_failed_replacement_leaves_nothing_behind(void **state)
{
	struct error err = { 0 };

	(void)state;
	assert_int_equal(mkdir("taken", 0700), 0);
	assert_int_equal(mkdir("taken/x", 0700), 0);
	assert_false(file_replace("taken/x", SPAN("new"), &err));
	assert_string_equal(err.code, "io_error");
	assert_int_equal(names_in("taken"), 1);
	assert_false(file_replace("no/such/folder", SPAN("new"), &err));
	assert_false(file_replace("/proc/self/x", SPAN("new"), NULL));
}

static void reading_keeps_to_its_limit(void **state)
{
	struct error err = { 0 };
	char *bytes = (char *)1;
	size_t len = 77;

	(void)state;
	put("eight", "12345678");
	assert_false(file_read("eight", 7, &bytes, &len, &err));
	assert_string_equal(err.code, "file_too_large");
	assert_int_equal(err.kind, ERROR_CONFIG);
	assert_ptr_equal(bytes, (char *)1);
	assert_int_equal(len, 77);
	assert_false(file_read("/dev/zero", 100000, &bytes, &len, &err));
	assert_string_equal(err.code, "not_a_file");
	assert_true(file_read("eight", 8, &bytes, &len, &err));
	assert_string_equal(bytes, "12345678");
	free(bytes);
	assert_true(file_read("eight", SIZE_MAX, &bytes, &len, &err));
	assert_int_equal(len, 8);
	free(bytes);
}

static void a_large_file_is_read_whole(void **state)
{
	size_t size = 300001, len = 0;
	char *content = memory_alloc(size), *bytes = NULL;

	(void)state;
	for (size_t i = 0; i < size; i++)
		content[i] = (char)(i % 251);
	assert_true(file_replace("large", span_make(content, size), NULL));
	assert_true(file_read("large", size, &bytes, &len, NULL));
	assert_int_equal(len, size);
	assert_memory_equal(bytes, content, size);
	free(bytes);
	free(content);
}

/* A pipe that nobody reads takes what it has room for, in more than one piece. */
static void what_could_not_be_written_is_told_by_its_count(void **state)
{
	size_t size = 300001, put;
	char *content = memory_zalloc(size);
	int ends[2], room;

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	room = fcntl(ends[1], F_GETPIPE_SZ);
	put = fd_write_all(ends[1], span_make(content, size));
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(put, room);
	assert_int_equal(read(ends[0], content, size), room);
	assert_int_equal(fd_write_all(ends[1], SPAN("end")), 3);
	close(ends[0]);
	close(ends[1]);
	free(content);
}

static void temporary_files_have_names_of_their_own(void **state)
{
	char one[] = "part-XXXXXX", other[] = "part-XXXXXX", nowhere[] = "no/such/part-XXXXXX";
	struct stat st;
	int fd = fd_temporary(one), second = fd_temporary(other);

	(void)state;
	assert_true(fd >= 0 && second >= 0);
	assert_string_not_equal(one, other);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	close(fd);
	close(second);
	assert_int_equal(fd_temporary(nowhere), -1);
	assert_int_equal(errno, ENOENT);
}

static void a_wrong_path_is_said_in_words(void **state)
{
	struct error err = { 0 };
	char *bytes = NULL;
	size_t len = 0;

	(void)state;
	assert_false(file_read("missing", 10, &bytes, &len, &err));
	assert_string_equal(err.code, "no_such_file");
	assert_string_equal(err.message, "cannot open 'missing': there is no such file");
	put("plain", "x");
	assert_false(file_read("plain/below", 10, &bytes, &len, &err));
	assert_string_equal(err.code, "no_such_file");
	assert_false(file_read(".", 10, &bytes, &len, &err));
	assert_string_equal(err.code, "not_a_file");
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_false(file_read("fifo", 10, &bytes, &len, &err)); /* at once: nobody ever writes into it */
	assert_string_equal(err.code, "not_a_file");
	assert_false(folder_make("plain", &err));
	assert_string_equal(err.code, "not_a_folder");
	assert_false(folder_make("plain/below", &err));
}

static void folders_are_made_on_the_way(void **state)
{
	struct error err = { 0 };
	struct stat info;

	(void)state;
	assert_true(folder_make("a//b/c/", &err));
	assert_true(folder_make("a/b/c", &err));
	assert_int_equal(stat("a/b", &info), 0);
	assert_true(S_ISDIR(info.st_mode));
	assert_int_equal(info.st_mode & 0777, 0700);
	assert_true(folder_make("/", &err));
	assert_int_equal(chmod("a/b", 0755), 0);
	assert_true(folder_make("a/b", &err));
	assert_int_equal(stat("a/b", &info), 0);
	assert_int_equal(info.st_mode & 0777, 0755);
}

static void string_check(char *made, const char *expected)
{
	assert_string_equal(made, expected);
	free(made);
}

static void paths_are_joined_and_cut(void **state)
{
	(void)state;
	string_check(path_join("a", "b"), "a/b");
	string_check(path_join("a/", "b"), "a/b");
	string_check(path_join("/", "b"), "/b");
	string_check(path_join("", "b"), "b");
	string_check(path_resolve("/job", "feed"), "/job/feed");
	string_check(path_resolve("/job", "/feed"), "/feed");
	string_check(path_folder("a"), ".");
	string_check(path_folder(""), ".");
	string_check(path_folder("/"), "/");
	string_check(path_folder("/a"), "/");
	string_check(path_folder("a/b"), "a");
	string_check(path_folder("a//b/"), "a");
	string_check(path_folder("//a"), "/");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_replaced_whole_and_private),
		cmocka_unit_test(a_link_is_replaced_not_followed),
		cmocka_unit_test(a_failed_replacement_leaves_nothing_behind),
		cmocka_unit_test(reading_keeps_to_its_limit),
		cmocka_unit_test(a_large_file_is_read_whole),
		cmocka_unit_test(what_could_not_be_written_is_told_by_its_count),
		cmocka_unit_test(temporary_files_have_names_of_their_own),
		cmocka_unit_test(a_wrong_path_is_said_in_words),
		cmocka_unit_test(folders_are_made_on_the_way),
		cmocka_unit_test(paths_are_joined_and_cut),
	};

	return cmocka_run_group_tests_name("base_file", tests, folder_begin, folder_end);
}
