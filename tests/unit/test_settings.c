/* config.json: defaults, limits, and every mistake with its place. */
#include "options/settings.h"

#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char state[] = "/srv/weir", in_home[] = "/srv/weir/weird.sock", elsewhere[] = "/run/user/7/weir/weird.sock";
static const struct home shared = { .config = state, .state = state, .socket = in_home };
static const struct home private = { .config = state, .state = state, .socket = elsewhere };

static void expect_fine(const char *text, const char *group, size_t operators)
{
	struct option_problems problems;
	struct settings settings;

	assert_true(settings_read(&shared, span_of(text), &settings, &problems));
	assert_int_equal(problems.count, 0);
	assert_int_equal(settings.has_group, group != NULL);
	if (group) {
		assert_string_equal(settings.group_name, group);
		assert_int_equal(settings.group, getgrnam(group)->gr_gid);
	}
	assert_int_equal(settings.operator_count, operators);
	assert_int_equal(json_array_size(settings.operator_names), operators);
	settings_release(&settings);
}

static void expect_refused(const struct home *home, const char *text, int line, int column, const char *says)
{
	struct option_problems problems;
	struct settings untouched = { .operator_count = 77 };

	assert_false(settings_read(home, span_of(text), &untouched, &problems));
	assert_int_equal(untouched.operator_count, 77);
	assert_true(problems.count > 0);
	assert_int_equal(problems.items[0].line, line);
	assert_int_equal(problems.items[0].column, column);
	assert_non_null(strstr(problems.items[0].message, says));
	option_problems_free(&problems);
}

static void test_nothing_is_the_default(void **unused)
{
	(void)unused;
	expect_fine("{}", NULL, 0);
	expect_fine("{\"socketGroup\": \"\", \"operators\": []}", NULL, 0);
}

static void test_names_are_looked_up(void **unused)
{
	(void)unused;
	expect_fine("{\"socketGroup\": \"root\"}", "root", 0);
	expect_fine("{\"operators\": [\"root\"], \"socketGroup\": \"r\\u006fot\"}", "root", 1);
	expect_refused(&shared, "{\"socketGroup\":\n  \"0\"}", 2, 3, "is no group");
	expect_refused(&shared, "{\"socketGroup\": \"-r\"}", 1, 17, "is no group");
	expect_refused(&shared, "{\"socketGroup\": \"ro ot\"}", 1, 17, "is no group");
	expect_refused(&shared, "{\"socketGroup\": \"root\", \"operators\": [\"root\", \"\"]}", 1, 47, "is no user");
}

static void test_what_screens_show_of_the_engine(void **unused)
{
	struct option_problems problems;
	struct settings settings;
	char host[SETTING_NAME_BYTES];

	(void)unused;
	assert_true(settings_read(&shared, span_of("{\"name\": \"prod.eu\", \"productionMark\": true, \"escapeDelayMs\": 80}"),
	                          &settings, &problems));
	assert_int_equal(problems.count, 0);
	assert_string_equal(settings_engine_name(&settings, host), "prod.eu");
	assert_true(settings.is_production);
	assert_int_equal(settings.escape_ms, 80);
	settings_release(&settings);
	assert_true(*settings_engine_name(&settings, host) && !strchr(host, '.'));
	expect_refused(&shared, "{\"name\": 7}", 1, 10, "a text is allowed");
	expect_refused(&shared, "{\"name\": \"a\\u001bb\"}", 1, 10, "no control characters");
	expect_refused(&shared, "{\"name\": \"0123456789012345678901234567890123456789012345678901234567890123\"}", 1, 10, "at most 63");
	expect_refused(&shared, "{\"productionMark\": \"yes\"}", 1, 20, "true or false");
	expect_refused(&shared, "{\"escapeDelayMs\": 1001}", 1, 19, "0 to 1000");
	expect_refused(&shared, "{\"escapeDelayMs\": 2.5}", 1, 19, "0 to 1000");
}

static void test_where_secrets_lie_and_go(void **unused)
{
	struct option_problems problems;
	struct settings settings;

	(void)unused;
	assert_true(settings_read(&shared, span_of("{\"vaultKeyFile\": \"/run/key\", \"allowedTokenHosts\": [\"a.example\", \"::1\"]}"),
	                          &settings, &problems));
	assert_int_equal(problems.count, 0);
	assert_string_equal(settings.vault_key_file, "/run/key");
	assert_string_equal(settings.token_hosts[0], "a.example");
	assert_string_equal(settings.token_hosts[1], "::1");
	assert_null(settings.token_hosts[2]);
	settings_release(&settings);
	assert_true(settings_read(&shared, span_of("{\"caFile\": \"/etc/ca.pem\"}"), &settings, &problems));
	assert_string_equal(settings.ca_file, "/etc/ca.pem");
	assert_null(settings.vault_key_file);
	settings_release(&settings);
	expect_refused(&shared, "{\"vaultKeyFile\": \"vault.key\"}", 1, 18, "an absolute path");
	expect_refused(&shared, "{\"vaultKeyFile\": \"/a\\u0007b\"}", 1, 18, "an absolute path");
	expect_refused(&shared, "{\"allowedTokenHosts\": \"a.example\"}", 1, 23, "a list of at most");
	expect_refused(&shared, "{\"allowedTokenHosts\": [\"https://a.example\"]}", 1, 24, "without scheme");
	expect_refused(&shared, "{\"allowedTokenHosts\": [\"\"]}", 1, 24, "without scheme");
}

static void test_kinds_are_told(void **unused)
{
	(void)unused;
	expect_refused(&shared, "{\"socketGroup\": null}", 1, 17, "the name of a group is allowed");
	expect_refused(&shared, "{\"socketGroup\": \"root\", \"operators\": {}}", 1, 38, "a list of names");
	expect_refused(&shared, "{\"socketGroup\": \"root\", \"operators\": [[]]}", 1, 39, "the name of a user");
	expect_refused(&shared, "7", 1, 1, "a JSON object is allowed");
	expect_refused(&shared, "{\"socketGroup\" \"root\"}", 1, 16, "not JSON");
}

static void test_operators_need_a_group(void **unused)
{
	(void)unused;
	expect_refused(&shared, "{\"operators\": [\"root\"]}", 1, 15, "members of socketGroup");
	expect_refused(&shared, "{\"operators\": [\"root\"], \"socketGroup\": \"\"}", 1, 15, "members of socketGroup");
}

static void test_a_group_needs_a_home_that_it_can_reach(void **unused)
{
	(void)unused;
	expect_refused(&private, "{\"socketGroup\": \"root\"}", 1, 17, "set WEIR_HOME");
}

static void test_the_hundred_and_first_operator_is_refused(void **unused)
{
	OWNED(text) text = text_new(8192);

	(void)unused;
	text_add(text, "{\"socketGroup\": \"root\",\n\"operators\": [");
	for (int i = 0; i < OPERATORS_MAX - 1; i++)
		text_add(text, "\"root\",");
	text_add(text, "\"root\"");
	text_add(text, "]}");
	expect_fine(text->at, "root", OPERATORS_MAX);
	text->at[text->len - 2] = '\0';
	text->len -= 2;
	text_add(text, ",\n\"root\"]}");
	expect_refused(&shared, text->at, 3, 1, "more than 100");
}

static void test_what_is_no_setting_is_a_warning(void **unused)
{
	struct option_problems problems;
	struct settings settings;

	(void)unused;
	assert_true(settings_read(&shared, span_of("{\n\"theme\": \"dark\", \"operator\": 1}"), &settings, &problems));
	assert_int_equal(problems.errors, 0);
	assert_int_equal(problems.count, 2);
	assert_true(problems.items[1].is_warning && problems.items[1].line == 2);
	assert_non_null(strstr(problems.items[1].message, "did you mean 'operators'"));
	option_problems_free(&problems);
	settings_release(&settings);
}

static void count_setting(struct text *out, const char *name, const char *help)
{
	assert_true(*name && help[0] >= 'A' && help[0] <= 'Z' && help[strlen(help) - 1] == '.');
	text_add_char(out, 'x');
}

static void test_each_setting_has_its_help(void **unused)
{
	OWNED(text) out = text_new(64);

	(void)unused;
	assert_true(settings_explain(out, count_setting));
	assert_int_equal(out->len, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_the_default),
		cmocka_unit_test(test_names_are_looked_up),
		cmocka_unit_test(test_what_screens_show_of_the_engine),
		cmocka_unit_test(test_where_secrets_lie_and_go),
		cmocka_unit_test(test_kinds_are_told),
		cmocka_unit_test(test_operators_need_a_group),
		cmocka_unit_test(test_a_group_needs_a_home_that_it_can_reach),
		cmocka_unit_test(test_the_hundred_and_first_operator_is_refused),
		cmocka_unit_test(test_what_is_no_setting_is_a_warning),
		cmocka_unit_test(test_each_setting_has_its_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
