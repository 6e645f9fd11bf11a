/* Where jobs, state and socket are looked for, and which folders are refused. */
#include "base/arena.h"
#include "base/file.h"
#include "options/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/weir-home-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return rmdir(root);
}

static int clean_environment(void **state)
{
	static const char *const variables[] = { "WEIR_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR" };

	(void)state;
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
	setenv("HOME", "/h", 1);
	return setenv("TMPDIR", root, 1);
}

static struct home *found(void)
{
	struct error err = { 0 };
	struct home *home = home_find(&err);

	if (!home)
		fail_msg("%s: %s", err.code, err.message);
	return home;
}

static void expect_refused(enum error_kind kind, const char *code)
{
	struct error err = { 0 };

	assert_null(home_find(&err));
	assert_int_equal(err.kind, kind);
	assert_string_equal(err.code, code);
}

/* The folder weir-UID below the temporary folder; the caller frees. */
static char *temporary(void)
{
	char name[40];

	snprintf(name, sizeof name, "weir-%u", (unsigned)geteuid());
	return path_join(root, name);
}

static void weir_home_holds_everything(void **state)
{
	struct home *home;

	(void)state;
	setenv("WEIR_HOME", "/w", 1);
	home = found();
	assert_string_equal(home->config, "/w");
	assert_string_equal(home->state, "/w");
	assert_string_equal(home->jobs_config, "/w/jobs");
	assert_string_equal(home->jobs_state, "/w/jobs");
	assert_string_equal(home->warehouse, "/w/warehouse");
	assert_string_equal(home->socket, "/w/weird.sock");
	assert_string_equal(home->lock, "/w/weird.lock");
	assert_false(home->is_temporary);
	home_free(home);
}

static void a_relative_weir_home_is_below_the_working_folder(void **state)
{
	char *here = getcwd(NULL, 0), *expected = path_join(here, "build/demo");
	struct home *home;

	(void)state;
	setenv("WEIR_HOME", "build/demo", 1);
	home = found();
	assert_string_equal(home->state, expected);
	home_free(home);
	free(expected);
	free(here);
}

static void without_it_the_xdg_folders_are_used(void **state)
{
	struct home *home;

	(void)state;
	setenv("XDG_CONFIG_HOME", "/c", 1);
	setenv("XDG_STATE_HOME", "/s", 1);
	setenv("XDG_RUNTIME_DIR", root, 1);
	home = found();
	assert_string_equal(home->jobs_config, "/c/weir/jobs");
	assert_string_equal(home->jobs_state, "/s/weir/jobs");
	assert_string_equal(home->lock, "/s/weir/weird.lock");
	assert_memory_equal(home->socket, root, strlen(root));
	assert_string_equal(home->socket + strlen(root), "/weir/weird.sock");
	home_free(home);
}

static void without_any_of_them_the_home_folder_is_used(void **state)
{
	struct home *home;

	(void)state;
	setenv("XDG_CONFIG_HOME", "relative/means/nothing", 1);
	home = found();
	assert_string_equal(home->config, "/h/.config/weir");
	assert_string_equal(home->state, "/h/.local/state/weir");
	home_free(home);
}

static void without_a_runtime_folder_one_of_our_own_is_made(void **state)
{
	char *folder = temporary(), *made = path_join(root, "state");
	struct home *home;
	struct stat info;
	struct error err = { 0 };

	(void)state;
	setenv("XDG_RUNTIME_DIR", "/no/such/folder", 1);
	home = found();
	assert_true(home->is_temporary);
	assert_memory_equal(home->socket, folder, strlen(folder));
	free(home->config), free(home->state), free(home->jobs_config), free(home->jobs_state), free(home->warehouse);
	home->config = memory_string(made), home->state = memory_string(made);
	home->jobs_config = memory_string(made), home->jobs_state = memory_string(made);
	home->warehouse = memory_string(made);
	assert_true(home_make(home, &err));
	assert_int_equal(lstat(folder, &info), 0);
	assert_true(S_ISDIR(info.st_mode));
	assert_int_equal(info.st_mode & 07777, 0700);
	assert_true(home_make(home, &err));
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(rmdir(made), 0);
	home_free(home);
	free(folder);
	free(made);
}

static void a_link_a_file_or_an_open_folder_in_its_place_is_refused(void **state)
{
	char *folder = temporary();

	(void)state;
	assert_int_equal(symlink(root, folder), 0);
	expect_refused(ERROR_ACCESS, "folder_not_ours");
	assert_int_equal(unlink(folder), 0);
	assert_int_equal(mkfifo(folder, 0600), 0);
	expect_refused(ERROR_ACCESS, "folder_not_ours");
	assert_int_equal(unlink(folder), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	expect_refused(ERROR_ACCESS, "folder_not_ours");
	assert_int_equal(chmod(folder, 0700), 0);
	home_free(found());
	if (geteuid() == 0) {
		assert_int_equal(chown(folder, 12345, (gid_t)-1), 0);
		expect_refused(ERROR_ACCESS, "folder_not_ours");
	}
	assert_int_equal(rmdir(folder), 0);
	free(folder);
}

static void a_link_that_comes_between_finding_and_making_is_refused(void **state)
{
	char *folder = temporary();
	struct home *home;
	struct error err = { 0 };

	(void)state;
	setenv("HOME", root, 1);
	setenv("XDG_CONFIG_HOME", root, 1);
	setenv("XDG_STATE_HOME", root, 1);
	home = found();
	assert_int_equal(symlink("/tmp", folder), 0);
	assert_false(home_make(home, &err));
	assert_string_equal(err.code, "folder_not_ours");
	assert_int_equal(unlink(folder), 0);
	assert_int_equal(rmdir(home->warehouse), 0);
	assert_int_equal(rmdir(home->jobs_state), 0);
	assert_int_equal(rmdir(home->state), 0);
	home_free(home);
	free(folder);
}

static void a_socket_path_has_at_most_107_bytes(void **state)
{
	char longest[120] = "/";
	size_t len = 107 - strlen("/weird.sock");
	struct home *home;

	(void)state;
	memset(longest + 1, 'x', len - 1);
	setenv("WEIR_HOME", longest, 1);
	home = found();
	assert_int_equal(strlen(home->socket), 107);
	home_free(home);
	longest[len] = 'x';
	setenv("WEIR_HOME", longest, 1);
	expect_refused(ERROR_CONFIG, "socket_path_too_long");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(weir_home_holds_everything, clean_environment),
		cmocka_unit_test_setup(a_relative_weir_home_is_below_the_working_folder, clean_environment),
		cmocka_unit_test_setup(without_it_the_xdg_folders_are_used, clean_environment),
		cmocka_unit_test_setup(without_any_of_them_the_home_folder_is_used, clean_environment),
		cmocka_unit_test_setup(without_a_runtime_folder_one_of_our_own_is_made, clean_environment),
		cmocka_unit_test_setup(a_link_a_file_or_an_open_folder_in_its_place_is_refused, clean_environment),
		cmocka_unit_test_setup(a_link_that_comes_between_finding_and_making_is_refused, clean_environment),
		cmocka_unit_test_setup(a_socket_path_has_at_most_107_bytes, clean_environment),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
