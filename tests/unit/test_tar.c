/* Archives that tar(1) reads: names, sizes, modes, contents. */
#include "engine/tar.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static bool keep(void *context, struct span bytes)
{
	return text_add_span(context, bytes);
}

static bool stop(void *context, struct span bytes)
{
	(void)context;
	(void)bytes;
	return false;
}

static void run(const char *command, char *out, size_t room)
{
	FILE *pipe = popen(command, "r");
	size_t len;

	assert_non_null(pipe);
	len = fread(out, 1, room - 1, pipe);
	out[len] = '\0';
	assert_int_equal(pclose(pipe), 0);
}

static void tar_lists_and_unpacks_what_was_added(void **state)
{
	OWNED(text) archive = text_new(1 << 20);
	struct tar tar = { .write = keep, .context = archive, .time_s = 1796011046 };
	char block[513], path[] = "/tmp/weir-tar-XXXXXX", command[128], out[4096];
	int fd = mkstemp(path);
	FILE *file;

	(void)state;
	assert_true(fd >= 0);
	memset(block, 'x', sizeof(block));
	assert_true(tar_add(&tar, "a/empty", span_make("", 0)));
	assert_true(tar_add(&tar, "a/whole", span_make(block, 512)));
	assert_true(tar_add(&tar, "a/more", span_make(block, 513)));
	assert_true(tar_end(&tar));
	assert_int_equal(archive->len, 512 + 512 + 512 + 512 + 1024 + 1024);
	file = fdopen(fd, "w");
	fwrite(archive->at, 1, archive->len, file);
	assert_int_equal(fclose(file), 0);
	snprintf(command, sizeof(command), "TZ=UTC tar -tvf %s --numeric-owner", path);
	run(command, out, sizeof(out));
	assert_non_null(strstr(out, "-rw------- 0/0               0 2026-11-30 "));
	assert_non_null(strstr(out, " a/empty\n"));
	assert_non_null(strstr(out, " 513 "));
	snprintf(command, sizeof(command), "tar -xOf %s a/more", path);
	run(command, out, sizeof(out));
	assert_int_equal(strlen(out), 513);
	unlink(path);
}

static void a_name_that_does_not_fit_is_refused(void **state)
{
	OWNED(text) archive = text_new(1 << 20);
	struct tar tar = { .write = keep, .context = archive };
	char name[102];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[101] = '\0';
	assert_false(tar_add(&tar, name, SPAN("x")));
	assert_int_equal(archive->len, 0);
	assert_true(tar_add(&tar, name + 1, SPAN("x")));
}

static void who_stops_is_not_asked_again(void **state)
{
	struct tar tar = { .write = stop };

	(void)state;
	assert_false(tar_add(&tar, "a", SPAN("x")));
	assert_true(tar.has_failed);
	assert_false(tar_end(&tar));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tar_lists_and_unpacks_what_was_added),
		cmocka_unit_test(a_name_that_does_not_fit_is_refused),
		cmocka_unit_test(who_stops_is_not_asked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
