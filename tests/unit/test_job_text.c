/* The registered form, the difference of two jobs, and what may start. */
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

#define HEAD "{\"name\": \"t\", \"template\": \"Cdc_To_BigQuery_Template\", \"parameters\": {"
#define SETS "\"changeLogDataset\": \"a\", \"replicaDataset\": \"b\","
#define FEED "\"warehouse\": \"local\", \"inputFile\": \"f.jsonl\""

static struct job_options *job_in(const char *file, const char *folder)
{
	struct option_problems problems;
	struct job_options *job = job_options_read(span_of(file), "job.json", folder, NULL, 0, &problems);

	if (!job)
		fail_msg("%s: %s", problems.items[0].parameter, problems.items[0].message);
	option_problems_free(&problems);
	return job;
}

static char *text_of(const char *file)
{
	struct job_options *job = job_in(file, "/base");
	char *text = job_options_text(job);

	job_options_free(job);
	return text;
}

static void expect_same_text(const char *a, const char *b)
{
	char *x = text_of(a), *y = text_of(b);

	assert_string_equal(x, y);
	free(x);
	free(y);
}

static void the_registered_form_is_sorted_and_leaves_defaults_out(void **state)
{
	char *text = text_of(HEAD SETS FEED ", \"updateFrequencySecs\": \"1\", \"maxTables\": \"1000\", \"parkBytes\": \"2G\"}}");

	(void)state;
	assert_string_equal(text, "{\n  \"format\": 1,\n  \"name\": \"t\",\n  \"parameters\": {\n    \"changeLogDataset\": \"a\",\n"
	                          "    \"inputFile\": \"/base/f.jsonl\",\n    \"parkBytes\": 2147483648,\n"
	                          "    \"replicaDataset\": \"b\",\n    \"warehouse\": \"local\"\n  },\n"
	                          "  \"template\": \"Cdc_To_BigQuery_Template\"\n}\n");
	free(text);
}

static void files_that_mean_the_same_have_the_same_text(void **state)
{
	(void)state;
	expect_same_text(HEAD SETS FEED ", \"maxTables\": 5}}", HEAD FEED ", " SETS " \"maxTables\": \"5\"}, \"format\": 1}");
	expect_same_text(HEAD SETS FEED ", \"parkBytes\": \"1g\"}}", HEAD SETS FEED "}}");
	expect_same_text(HEAD SETS FEED ", \"onUnrepresentable\": {\"time\": \"null\"}}}", HEAD SETS FEED "}}");
	expect_same_text(HEAD SETS FEED ", \"onUnrepresentable\": \"text\"}}",
	                 HEAD SETS FEED ", \"onUnrepresentable\": {\"time\": \"text\", \"other\": \"text\", \"number\": \"TEXT\"}}}");
	expect_same_text(HEAD SETS FEED ", \"primaryKey\": \"id, no\"}}", HEAD SETS FEED ", \"primaryKey\": [\"id\", \"no\"]}}");
	expect_same_text(HEAD SETS FEED "}}", HEAD SETS "\"warehouse\": \"local\", \"inputFile\": \"./f.jsonl\", \"tombstoneDays\": \"for ever\"}}");
}

static void the_registered_form_reads_back_as_itself(void **state)
{
	char *text = text_of(HEAD SETS FEED ", \"primaryKey\": {\"x\": \"a,b\"}, \"columnTypes\": {\"x.y\": {\"type\": \"BYTES\", "
	                          "\"encoding\": \"base64\"}}, \"tombstoneDays\": 3}, \"project\": \"p\"}");
	char *again = text_of(text);

	(void)state;
	assert_string_equal(text, again);
	free(text);
	free(again);
}

static void expect_difference(const char *a, const char *b, const char *expected)
{
	char *x = text_of(a), *y = text_of(b), *difference = job_options_difference(x, y);

	assert_string_equal(difference, expected);
	free(difference);
	free(x);
	free(y);
}

static void the_difference_names_each_parameter_with_both_values(void **state)
{
	(void)state;
	expect_difference(HEAD SETS FEED "}}", HEAD SETS FEED "}}", "");
	expect_difference(HEAD SETS FEED ", \"updateFrequencySecs\": 300, \"parkBytes\": \"2G\"}}",
	                  HEAD SETS FEED ", \"updateFrequencySecs\": 60, \"sourceSchema\": \"s.json\"}, \"project\": \"p\"}",
	                  "project: not given -> p\nparkBytes: 2G -> 1G (default)\nsourceSchema: not given -> /base/s.json\n"
	                  "updateFrequencySecs: 300 -> 60\n");
	expect_difference(HEAD SETS FEED "}}", HEAD SETS FEED ", \"updateFrequencySecs\": 60}}",
	                  "updateFrequencySecs: 1 (default) -> 60\n");
}

static void a_text_that_cannot_be_read_still_has_a_difference(void **state)
{
	char *difference = job_options_difference("{\"name\":\"a\",\"parameters\":{\"old\\u001b\":1}}", "not json");

	(void)state;
	assert_non_null(strstr(difference, "name: a -> not given\n"));
	assert_null(strchr(difference, '\033'));
	free(difference);
}

/*
 * Starting.
 */
static char folder[] = "/tmp/weir-test-XXXXXX";

static int folder_set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int folder_tear_down(void **state)
{
	(void)state;
	return rmdir(folder);
}

static void expect_start(const char *file, enum error_kind kind, const char *code, const char *piece)
{
	struct job_options *job = job_in(file, folder);
	struct error err = { 0 };
	bool is_startable = job_options_startable(job, &err);

	job_options_free(job);
	assert_int_equal(is_startable, kind == ERROR_NONE);
	assert_int_equal(err.kind, kind);
	assert_string_equal(err.code, code);
	if (!strstr(err.message, piece))
		fail_msg("'%s' is missing from '%s'", piece, err.message);
}

static void what_the_engine_cannot_do_is_named_at_start(void **state)
{
	(void)state;
	expect_start(HEAD SETS "\"inputTopics\": \"a\", \"numWorkers\": 3}, \"project\": \"acme-data\"}", ERROR_CONFIG, "not_available_yet",
	             "numWorkers");
	expect_start(HEAD SETS FEED ", \"messageFormat\": \"json\", \"numWorkers\": 3}}", ERROR_CONFIG, "not_available_yet",
	             "this weir cannot do messageFormat=json, numWorkers yet");
	expect_start("{\"name\":\"t\",\"template\":\"Bigtable_Change_Streams_to_BigQuery\",\"parameters\":{" FEED
	             ",\"bigQueryDataset\":\"d\"}}", ERROR_CONFIG,
	             "not_available_yet", "template=Bigtable_Change_Streams_to_BigQuery");
	expect_start("{\"name\":\"t\",\"template\":\"PubSub_CDC_to_BigQuery\",\"parameters\":{" FEED
	             ",\"pythonTextTransformGcsPath\":\"a.py\",\"pythonTextTransformFunctionName\":\"f\"}}", ERROR_CONFIG,
	             "not_available_yet", "pythonTextTransformFunctionName, pythonTextTransformGcsPath");
	/* A default that is written out asks for nothing. */
	expect_start(HEAD SETS "\"warehouse\": \"local\", \"inputFile\": \"-\", \"useSingleTopic\": \"false\"}}", ERROR_NONE, "", "");
}

static void a_feed_must_be_a_file_that_can_be_read(void **state)
{
	char *path = path_join(folder, "f.jsonl");

	(void)state;
	expect_start(HEAD SETS FEED "}}", ERROR_CONFIG, "no_such_file", path);
	assert_int_equal(mkdir(path, 0700), 0);
	expect_start(HEAD SETS FEED "}}", ERROR_CONFIG, "not_a_file", "is a folder");
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_start(HEAD SETS FEED "}}", ERROR_NONE, "", "");
	expect_start(HEAD SETS FEED ", \"sourceSchema\": \"none.json\"}}", ERROR_CONFIG, "no_such_file", "sourceSchema: ");
	if (geteuid() != 0) {
		assert_int_equal(chmod(path, 0), 0);
		expect_start(HEAD SETS FEED "}}", ERROR_ACCESS, "no_permission", path);
	}
	assert_int_equal(unlink(path), 0);
	free(path);
}

static void expect_load(const char *path, const char *code)
{
	struct option_problems problems;

	assert_null(job_options_load(path, NULL, 0, &problems));
	assert_int_equal(problems.count, 1);
	assert_string_equal(problems.items[0].code, code);
	option_problems_free(&problems);
}

static void a_job_file_is_read_from_disk_or_refused_in_words(void **state)
{
	char *path = path_join(folder, "job.json"), *big = memory_zalloc((1 << 20) + 1), *feed = path_join(folder, "f.jsonl");
	struct option_problems problems;
	struct job_options *job;
	struct error err;

	(void)state;
	expect_load(path, "no_such_file");
	expect_load(folder, "not_a_file");
	assert_true(file_replace(path, span_make(big, (1 << 20) + 1), &err));
	expect_load(path, "file_too_large");
	assert_true(file_replace(path, SPAN(HEAD SETS FEED "}}"), &err));
	job = job_options_load(path, NULL, 0, &problems);
	assert_non_null(job);
	assert_string_equal(job->input_file, feed);
	assert_int_equal(problems.count, 0);
	job_options_free(job);
	assert_int_equal(unlink(path), 0);
	free(path);
	free(feed);
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_registered_form_is_sorted_and_leaves_defaults_out),
		cmocka_unit_test(files_that_mean_the_same_have_the_same_text),
		cmocka_unit_test(the_registered_form_reads_back_as_itself),
		cmocka_unit_test(the_difference_names_each_parameter_with_both_values),
		cmocka_unit_test(a_text_that_cannot_be_read_still_has_a_difference),
		cmocka_unit_test(what_the_engine_cannot_do_is_named_at_start),
		cmocka_unit_test(a_feed_must_be_a_file_that_can_be_read),
		cmocka_unit_test(a_job_file_is_read_from_disk_or_refused_in_words),
	};

	return cmocka_run_group_tests(tests, folder_set_up, folder_tear_down);
}
