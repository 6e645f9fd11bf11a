/* The tables of commands and exit statuses, and usage texts as the command line, the manual and completion read them. */
#include "control/control.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static void test_every_command_has_a_usage_that_can_be_read(void **state)
{
	(void)state;
	for (int i = 0; i < COMMANDS; i++) {
		struct usage_slot slots[USAGE_WORDS];
		const char *args = command_table[i].args;
		size_t count = usage_read(args, slots);

		assert_true(count < USAGE_WORDS);
		assert_int_equal(count == 0, *args == '\0');
		for (size_t s = 0; s < count; s++) {
			assert_true(slots[s].name[0] != '\0');
			assert_true(slots[s].flag[0] == '\0' || strncmp(slots[s].flag, "--", 2) == 0);
			assert_non_null(slots[s].flag[0] ? strstr(args, slots[s].flag) : args);
		}
	}
}

static void test_every_help_is_a_sentence(void **state)
{
	(void)state;
	for (int i = 0; i < COMMANDS; i++) {
		const char *help = command_table[i].help;
		size_t len = strlen(help);

		assert_true(len > 1 && help[len - 1] == '.');
		assert_true(help[0] >= 'A' && help[0] <= 'Z');
	}
}

static void test_usage_with_everything(void **state)
{
	struct usage_slot slots[USAGE_WORDS];

	(void)state;
	assert_int_equal(usage_read("FILE|JOB [TABLE] [--all] [--group N] [--param NAME=VALUE ...]", slots), 5);
	assert_string_equal(slots[0].name, "job");
	assert_false(slots[0].is_optional);
	assert_string_equal(slots[1].name, "table");
	assert_true(slots[1].is_optional);
	assert_string_equal(slots[2].flag, "--all");
	assert_false(slots[2].has_value);
	assert_string_equal(slots[3].flag, "--group");
	assert_true(slots[3].has_value && slots[3].is_number && !slots[3].is_list);
	assert_string_equal(slots[4].name, "param");
	assert_true(slots[4].has_value && slots[4].is_list && !slots[4].is_number);
	assert_int_equal(usage_read("", slots), 0);
}

static bool parses(const char *args, int argc, const char *const *argv, struct error *err)
{
	const struct command command = { .name = "test", .args = args };
	struct command_line line;
	bool is_fine = command_line_parse(&command, argc, (char *const *)argv, &line, err);

	json_decref(line.args);
	return is_fine;
}

static void test_options_outside_of_brackets_are_needed(void **state)
{
	const char *const without[] = { "orders", "--json" }, *const with[] = { "orders", "--group", "3" };
	const char *const in_front[] = { "--group=3", "orders" };
	struct error err = { 0 };

	(void)state;
	assert_false(parses("JOB --group N [--yes]", 2, without, &err));
	assert_string_equal(err.code, "bad_argument");
	assert_non_null(strstr(err.message, "needs --group"));
	assert_true(parses("JOB --group N [--yes]", 3, with, &err));
	assert_true(parses("JOB --group N [--yes]", 2, in_front, &err));
}

static void test_of_a_choice_none_is_needed_by_the_grammar(void **state)
{
	struct usage_slot slots[USAGE_WORDS];

	(void)state;
	assert_int_equal(usage_read("--group N|--id N --confirm COUNT [--job JOB]", slots), 4);
	assert_string_equal(slots[1].flag, "--id");
	assert_true(slots[0].is_optional && slots[1].is_optional && slots[1].has_value && slots[1].is_number);
	assert_false(slots[2].is_optional);
	assert_true(slots[2].has_value && slots[3].is_optional);
}

static void test_an_empty_argument_is_refused(void **state)
{
	const char *const word[] = { "" }, *const value[] = { "x", "--job", "" };
	struct error err = { 0 };

	(void)state;
	assert_false(parses("TABLE", 1, word, &err));
	assert_non_null(strstr(err.message, "'table'"));
	assert_false(parses("TABLE [--job JOB]", 3, value, &err));
	assert_non_null(strstr(err.message, "'--job'"));
}

static bool is_exit_status(int status)
{
	for (size_t i = 0; i < exit_status_count; i++) {
		if (exit_statuses[i].status == status)
			return true;
	}
	return false;
}

static void test_every_failure_ends_with_a_status_that_is_explained(void **state)
{
	(void)state;
	for (int kind = 0; kind < ERROR_KINDS; kind++) {
		if (!is_exit_status(error_policies[kind].exit_status))
			fail_msg("%s ends with %d, which exits.def does not have", error_policies[kind].name,
			         error_policies[kind].exit_status);
	}
	for (size_t i = 1; i < exit_status_count; i++)
		assert_true(exit_statuses[i - 1].status < exit_statuses[i].status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_command_has_a_usage_that_can_be_read),
		cmocka_unit_test(test_every_help_is_a_sentence),
		cmocka_unit_test(test_usage_with_everything),
		cmocka_unit_test(test_options_outside_of_brackets_are_needed),
		cmocka_unit_test(test_of_a_choice_none_is_needed_by_the_grammar),
		cmocka_unit_test(test_an_empty_argument_is_refused),
		cmocka_unit_test(test_every_failure_ends_with_a_status_that_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
