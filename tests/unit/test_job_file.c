/* Job files as people write them, and the exact line that they get to read. */
#include "options/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define HEAD "{\"name\": \"t\", \"template\": \"Cdc_To_BigQuery_Template\", \"parameters\": {\n"
#define SETS "\"changeLogDataset\": \"a\", \"replicaDataset\": \"b\",\n"
#define FEED "\"warehouse\": \"local\", \"inputFile\": \"f.jsonl\""
#define GOOD HEAD SETS FEED "}}"

static struct job_options *read_with(const char *file, const char *override, struct option_problems *problems)
{
	return job_options_read(span_of(file), "job.json", "/base", &override, override ? 1 : 0, problems);
}

/* All problems as lines, warnings with a '?' in front; "" when the job is fine. */
static void expect_lines_with(const char *file, const char *override, const char *expected)
{
	struct option_problems problems;
	struct job_options *job = read_with(file, override, &problems);
	OWNED(text) lines = text_new(10000);

	for (size_t i = 0; i < problems.count; i++) {
		text_add(lines, i ? "\n" : "");
		text_add(lines, problems.items[i].is_warning ? "?" : "");
		option_problem_line(&problems.items[i], "job.json", lines);
	}
	assert_string_equal(lines->at, expected);
	assert_true((job == NULL) == (problems.errors > 0));
	job_options_free(job);
	option_problems_free(&problems);
}

static void expect_lines(const char *file, const char *expected)
{
	expect_lines_with(file, NULL, expected);
}

static struct job_options *good_job(const char *file, const char *override)
{
	struct option_problems problems;
	struct job_options *job = read_with(file, override, &problems);

	if (!job)
		fail_msg("%s: %s", problems.items[0].parameter, problems.items[0].message);
	option_problems_free(&problems);
	return job;
}

static void a_good_file_gives_a_job_with_its_defaults(void **state)
{
	struct job_options *job = good_job(GOOD, NULL);

	(void)state;
	assert_string_equal(job->name, "t");
	assert_int_equal(job->template, TEMPLATE_CDC);
	assert_null(job->project);
	assert_int_equal(job->warehouse, WAREHOUSE_LOCAL);
	assert_string_equal(job->input_file, "/base/f.jsonl");
	assert_string_equal(job->change_log_dataset, "a");
	assert_string_equal(job->replica_dataset, "b");
	assert_int_equal(job->replication_mode, REPLICATION_MERGE);
	assert_int_equal(job->update_frequency_secs, 1);
	assert_int_equal(job->tombstone_days, -1);
	assert_int_equal(job->park_bytes, INT64_C(1) << 30);
	assert_int_equal(job->max_record_bytes, 16 << 20);
	assert_int_equal(job->max_tables, 1000);
	assert_int_equal(job->local_cache_bytes, 64 << 20);
	assert_string_equal(job->unavailable_value, "__debezium_unavailable_value");
	assert_string_equal(job->table_name_pattern, "{table}");
	assert_int_equal(job->on_unrepresentable[0], UNREPRESENTABLE_DEAD_LETTER);
	assert_int_equal(job->on_unrepresentable[1], UNREPRESENTABLE_NULL);
	assert_int_equal(job->on_unrepresentable[2], UNREPRESENTABLE_DEAD_LETTER);
	assert_null(job->source_schema);
	assert_int_equal(job->primary_key_count, 0);
	job_options_free(job);
}

static void on_bigquery_merges_come_every_300_seconds(void **state)
{
	struct job_options *job = good_job("{\"name\":\"t\",\"template\":\"Cdc_To_BigQuery_Template\",\"project\":\"acme-data\","
	                                   "\"parameters\":{\"inputSubscriptions\":[\"a\", \" b \"]," SETS "\"maxTables\":\"12\"}}",
	                                   NULL);

	(void)state;
	assert_int_equal(job->update_frequency_secs, 300);
	assert_int_equal(job->tombstone_days, 31);
	assert_int_equal(job->max_tables, 12);
	assert_string_equal(job->input_subscriptions, "a,b");
	job_options_free(job);
}

static void keys_and_types_of_columns_are_taken_apart(void **state)
{
	struct job_options *job = good_job(
		HEAD SETS FEED ", \"primaryKey\": {\"public.events\": [\"id\", \"at\"], \"orders\": \"id , no\"},\n"
		"\"columnTypes\": {\"public.events.body\": {\"type\": \"BYTES\", \"encoding\": \"hex\"}, \"orders.x\": "
		"\"ARRAY<STRUCT<a INT64, b STRING>>\"}, \"onUnrepresentable\": {\"number\": \"text\"}}}", NULL);

	(void)state;
	assert_int_equal(job->primary_key_count, 2);
	assert_string_equal(job->primary_keys[0].table, "public.events");
	assert_string_equal(job->primary_keys[0].columns[1], "at");
	assert_int_equal(job->primary_keys[1].count, 2);
	assert_string_equal(job->primary_keys[1].columns[1], "no");
	assert_int_equal(job->column_type_count, 2);
	assert_string_equal(job->column_types[0].table, "public.events");
	assert_string_equal(job->column_types[0].column, "body");
	assert_string_equal(job->column_types[0].encoding, "hex");
	assert_string_equal(job->column_types[1].encoding, "");
	assert_int_equal(job->on_unrepresentable[0], UNREPRESENTABLE_TEXT);
	assert_int_equal(job->on_unrepresentable[1], UNREPRESENTABLE_NULL);
	job_options_free(job);
	job = good_job(HEAD SETS FEED ", \"primaryKey\": \"id,no\", \"onUnrepresentable\": \"clamp\"}}", NULL);
	assert_string_equal(job->primary_keys[0].table, "");
	assert_int_equal(job->primary_keys[0].count, 2);
	assert_int_equal(job->on_unrepresentable[2], UNREPRESENTABLE_CLAMP);
	job_options_free(job);
}

static void names_that_are_nearly_right_are_recognised(void **state)
{
	(void)state;
	expect_lines(HEAD SETS FEED ",\n  \"updateFrequencySec\": 5}}",
	             "job.json:4:3: updateFrequencySec: there is no parameter of this name; did you mean 'updateFrequencySecs'");
	expect_lines(HEAD SETS FEED ",\n\"replicationMode\": \"upsret\"}}",
	             "job.json:4:20: replicationMode: 'upsret' is not allowed, one of merge, changelog, upsert, append is; did you "
	             "mean 'upsert'");
	expect_lines("{\"name\":\"t\",\"template\":\"Cdc_To_BigQuery\",\"parameters\":{}}",
	             "job.json:1:24: template: 'Cdc_To_BigQuery' is no template, one of PubSub_CDC_to_BigQuery, "
	             "Cdc_To_BigQuery_Template, Bigtable_Change_Streams_to_BigQuery is");
	expect_lines("{\"nme\":\"t\"," "\"name\":\"t\",\n" "\"template\":\"Cdc_To_BigQuery_Template\",\"parameters\":{" SETS FEED "}}",
	             "job.json:1:2: nme: it is no member of a job file, name, template, project, format and parameters are; did "
	             "you mean 'name'");
	expect_lines(HEAD SETS FEED ",\n\"autoMapTables\": true}}",
	             "job.json:4:1: autoMapTables: it is a parameter of PubSub_CDC_to_BigQuery, not of "
	             "Cdc_To_BigQuery_Template");
}

static void every_problem_is_told_at_once_in_file_order(void **state)
{
	(void)state;
	expect_lines("{\n \"name\": \"my job\",\n \"template\": \"Cdc_To_BigQuery_Template\",\n \"parameters\": {\n"
	             "  \"maxTables\": 0,\n  \"replicaDataset\": \"my-set\",\n  \"inputFile\": 5,\n  \"warehouse\": \"local\"\n }\n}",
	             "job.json:2:10: name: 'my job' is no job name, 1 to 63 letters, digits, '_' and '-' are allowed, a letter "
	             "or digit first\n"
	             "job.json:4:2: changeLogDataset: it is missing, the replication modes merge and changelog need it\n"
	             "job.json:5:16: maxTables: 0 is out of range, 1 to 100000 is allowed\n"
	             "job.json:6:21: replicaDataset: 'my-set' is not allowed, a dataset name of 1 to 200 letters, digits and "
	             "underscores is\n"
	             "job.json:7:16: inputFile: a number is given, allowed is the path of a file, or '-' for standard input");
}

static void wrong_types_are_told_with_what_is_allowed(void **state)
{
	(void)state;
	expect_lines(HEAD SETS FEED ",\n\"maxTables\": \"many\"}}",
	             "job.json:4:14: maxTables: 'many' is given, a whole number from 1 to 100000 is allowed");
	expect_lines(HEAD SETS FEED ",\n\"parkBytes\": \"1T\"}}",
	             "job.json:4:14: parkBytes: '1T' is given, a number of bytes is allowed, also with K, M or G behind it");
	expect_lines(HEAD SETS FEED ",\n\"maxRecordBytes\": \"65M\"}}",
	             "job.json:4:19: maxRecordBytes: 68157440 is out of range, 1024 to 67108864 is allowed");
	expect_lines(HEAD SETS FEED ",\n\"primaryKey\": {\"public.a\": [\"id\", 5]}}}",
	             "job.json:4:35: primaryKey: a number stands in the list, names are allowed");
	expect_lines(HEAD SETS FEED ",\n\"columnTypes\": {\"a.b\": \"VARCHAR\"}}}",
	             "job.json:4:24: columnTypes: 'VARCHAR' is given for 'a.b', a BigQuery type such as INT64, NUMERIC or "
	             "ARRAY<STRING> is allowed");
	expect_lines(HEAD SETS FEED ",\n\"warehouse2\": null, \"sourceSchema\": null}}",
	             "job.json:4:1: warehouse2: there is no parameter of this name; did you mean 'warehouse'\n"
	             "job.json:4:37: sourceSchema: null is given, the path of a file is allowed; leave the parameter out for "
	             "its default");
	expect_lines(HEAD SETS FEED ",\n\"tableNamePattern\": \"{db}_x\"}}",
	             "job.json:4:21: tableNamePattern: '{db}_x' is not allowed, letters, digits, '_', '-' and {db}, {schema}, "
	             "{table}, with {table} in it is");
	expect_lines("[1]", "job.json:1:1: the file holds a list, a JSON object is allowed");
	expect_lines("{\"name\":\"t\",\"template\":\"Cdc_To_BigQuery_Template\",\"parameters\":[]}",
	             "job.json:1:64: parameters: a list is given, an object is allowed");
}

static void two_sources_are_refused_and_none_too(void **state)
{
	(void)state;
	expect_lines(HEAD SETS FEED ",\n\"inputSubscriptions\": \"a\"}, \"project\": \"acme-data\"}",
	             "job.json:4:1: inputSubscriptions: it is given together with inputFile, one of the two is allowed");
	expect_lines(HEAD SETS "\"inputTopics\": \"a\",\n\"inputSubscriptions\": \"a\"}, \"project\": \"acme-data\"}",
	             "job.json:3:1: inputTopics: it is given together with inputSubscriptions, one of the two is allowed");
	expect_lines(HEAD SETS "\"warehouse\": \"local\"}}",
	             "job.json:1:55: inputSubscriptions: there is no source, one of inputSubscriptions, inputTopics and inputFile "
	             "is needed");
	/* An empty text is "not given", as in Dataflow's forms. */
	expect_lines(HEAD SETS FEED ",\n\"inputSubscriptions\": \"\"}}", "");
}

static void datasets_are_needed_only_by_the_modes_that_use_them(void **state)
{
	(void)state;
	expect_lines(HEAD "\"changeLogDataset\": \"a\", \"replicationMode\": \"changelog\", " FEED "}}", "");
	expect_lines(HEAD "\"replicaDataset\": \"a\", \"replicationMode\": \"upsert\", " FEED "}}", "");
	expect_lines(HEAD "\"replicationMode\": \"upsert\", " FEED "}}",
	             "job.json:1:55: replicaDataset: it is missing, the replication modes merge and upsert need it");
	expect_lines(HEAD "\"replicationMode\": \"changelog\",\n" SETS FEED "}}",
	             "?job.json:3:26: replicaDataset: it is not used, since the replication mode changelog keeps no replica");
}

static void merges_below_95_seconds_are_refused_on_bigquery_only(void **state)
{
	(void)state;
	expect_lines(HEAD SETS "\"inputFile\": \"-\",\n\"updateFrequencySecs\": 94}, \"project\": \"acme-data\"}",
	             "job.json:4:1: updateFrequencySecs: less than 95 is out of range, on BigQuery 95 or more is allowed (a table "
	             "takes 1000 merges a day)");
	expect_lines(HEAD SETS "\"inputFile\": \"-\",\n\"updateFrequencySecs\": \"95\"}, \"project\": \"acme-data\"}", "");
	expect_lines(HEAD SETS FEED ", \"updateFrequencySecs\": 1}}", "");
}

static void a_project_is_needed_only_where_google_is_asked(void **state)
{
	(void)state;
	expect_lines(HEAD SETS "\"inputFile\": \"-\"}}",
	             "job.json:1:1: project: it is missing from the job file, a project is needed where Google is asked");
	expect_lines(HEAD SETS FEED "},\n\"project\": \"Not Checked\"}", "");
	expect_lines(HEAD SETS "\"inputFile\": \"-\"},\n\"project\": \"Not Fine\"}",
	             "job.json:4:12: project: it is no project id, lower case letters, digits and '-' are allowed, a letter first");
}

static void mistakes_of_grammar_have_line_and_column(void **state)
{
	(void)state;
	expect_lines("{\n  \"name\": \"t\",\n}", "job.json:3:1: the file is not JSON: a comma stands before the '}'");
	expect_lines("{\n  \"name\": \"t\"\n  \"project\": 1}", "job.json:3:3: the file is not JSON: a comma or '}' is missing");
	expect_lines("{'name': 1}", "job.json:1:2: the file is not JSON: the name of a member is missing (names stand in double quotes)");
	expect_lines("{\"a\": \"b", "job.json:1:7: the file is not JSON: the text never ends");
	expect_lines("{\"a\": \"b\\q\"}", "job.json:1:9: the file is not JSON: a backslash stands before a letter that needs none");
	expect_lines("{\"a\": 01}", "job.json:1:7: the file is not JSON: this is no number");
	expect_lines("{\"a\": 1", "job.json:1:8: the file is not JSON: the file ends too early");
	expect_lines("{} // x", "job.json:1:4: the file is not JSON: something stands behind the end of the JSON text");
	expect_lines("", "job.json:1:1: the file is empty, a JSON object is allowed");
	expect_lines("\xEF\xBB\xBF{}", "job.json:1:1: the file is not JSON: the file begins with a byte order mark, which JSON does not have");
	expect_lines("{\"a\": \"\xff\"}", "job.json:1:7: the file is not JSON: the text is not UTF-8");
}

static void a_member_that_stands_twice_is_shown_with_both_lines(void **state)
{
	(void)state;
	expect_lines(HEAD SETS FEED ",\n\"maxTables\": 5,\n\"max\\u0054ables\": 6}}",
	             "job.json:5:1: maxTables: 'maxTables' stands twice, on line 4 and on line 5, once is allowed");
	expect_lines(HEAD SETS FEED ",\n\"primaryKey\": {\"a\": \"x\",\n \"a\": \"y\"}}}",
	             "job.json:5:2: 'a' stands twice, on line 4 and on line 5, once is allowed");
}

static void a_file_for_a_newer_weir_is_refused_in_words(void **state)
{
	(void)state;
	expect_lines("{\"format\": 2, \"anything\": []}", "job.json:1:12: format: the file has format 2, this weir reads 1");
	expect_lines("{\"format\": 1," SETS "\"name\":\"t\"}",
	             "job.json:1:1: template: it is missing from the job file\n"
	             "job.json:1:1: parameters: it is missing from the job file\n"
	             "job.json:1:14: changeLogDataset: it is a parameter, which is allowed below parameters only\n"
	             "job.json:1:39: replicaDataset: it is a parameter, which is allowed below parameters only");
}

static void keys_are_refused_and_never_repeated(void **state)
{
	static const char *const files[] = {
		HEAD SETS FEED ",\n\"maxTables\": \"-----BEGIN RSA PRIVATE KEY-----\\nMIIsecret\"}}",
		HEAD SETS FEED ",\n\"maxTables\": {\"private_key\": \"MIIsecret\"}}}",
		HEAD SETS FEED ",\n\"private\\u005fkey\": \"MIIsecret\"}}",
		"{\"a\": \"-----BEGIN PRIVATE KEY----- MIIsecret",
	};

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct option_problems problems;

		assert_null(read_with(files[i], NULL, &problems));
		assert_int_equal(problems.count, 1);
		assert_string_equal(problems.items[0].code, "secret_in_job_file");
		assert_null(strstr(problems.items[0].message, "secret\""));
		assert_null(strstr(problems.items[0].message, "MII"));
		assert_true(problems.items[0].line > 0);
		option_problems_free(&problems);
	}
	expect_lines_with(GOOD, "unavailableValue=-----BEGIN PRIVATE KEY-----",
	                  "job.json: a value on the command line holds a private key; secrets are not allowed there");
}

static void the_command_line_wins_over_the_file(void **state)
{
	struct job_options *job = good_job(HEAD SETS FEED ", \"maxTables\": \"wrong in the file\"}}", "maxTables=7");

	(void)state;
	assert_int_equal(job->max_tables, 7);
	job_options_free(job);
	job = good_job(HEAD SETS FEED ", \"maxTables\": 5}}", "maxTables=");
	assert_int_equal(job->max_tables, 1000);
	job_options_free(job);
	job = good_job(GOOD, "primaryKey={\"a\":[\"x\"]}");
	assert_string_equal(job->primary_keys[0].table, "a");
	job_options_free(job);
	expect_lines_with(GOOD, "maxTables", "job.json: 'maxTables' is given on the command line, NAME=VALUE is allowed");
	expect_lines_with(GOOD, "maxTable=4", "job.json: maxTable: there is no parameter of this name; did you mean 'maxTables'");
	expect_lines_with(GOOD, "maxTables=0", "job.json: maxTables: 0 is out of range, 1 to 100000 is allowed");
	expect_lines_with(GOOD, "maxTables=\xff", "job.json: 'maxTables' on the command line is not UTF-8");
}

static void the_first_problem_becomes_the_error(void **state)
{
	struct option_problems problems;
	struct error err = { 0 };

	(void)state;
	assert_null(read_with(HEAD FEED ",\n\"maxTables\": 0}}", NULL, &problems));
	assert_false(option_problems_error(&problems, "job.json", &err));
	assert_int_equal(err.kind, ERROR_CONFIG);
	assert_string_equal(err.code, "missing_parameter");
	assert_string_equal(err.message, "job.json:1:55: changeLogDataset: it is missing, the replication modes merge and "
	                                 "changelog need it (and 2 more problems)");
	option_problems_free(&problems);
}

static void a_problem_as_json_has_the_members_of_check(void **state)
{
	struct option_problems problems;
	OWNED(text) line = text_new(1000);

	(void)state;
	assert_null(read_with(GOOD, "maxTables=0", &problems));
	assert_true(option_problem_json(&problems.items[0], "job.json", line));
	assert_string_equal(line->at, "{\"level\":\"fails\",\"code\":\"out_of_range\",\"file\":\"job.json\",\"line\":null,\"column\":null,"
	                              "\"parameter\":\"maxTables\",\"message\":\"0 is out of range, 1 to 100000 is allowed\","
	                              "\"fix\":null}");
	option_problems_free(&problems);
}

static void a_thousand_problems_are_counted_but_not_listed(void **state)
{
	OWNED(text) file = text_new(100000);
	struct option_problems problems;

	(void)state;
	text_add(file, "{\"name\":\"t\",\"template\":\"Cdc_To_BigQuery_Template\",\"parameters\":{" SETS FEED);
	for (int i = 0; i < 1000; i++)
		text_add_format(file, ",\"zz%d\":1", i);
	text_add(file, "}}");
	assert_null(read_with(file->at, NULL, &problems));
	assert_int_equal(problems.errors, 1000);
	assert_int_equal(problems.count, 100);
	option_problems_free(&problems);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_file_gives_a_job_with_its_defaults),
		cmocka_unit_test(on_bigquery_merges_come_every_300_seconds),
		cmocka_unit_test(keys_and_types_of_columns_are_taken_apart),
		cmocka_unit_test(names_that_are_nearly_right_are_recognised),
		cmocka_unit_test(every_problem_is_told_at_once_in_file_order),
		cmocka_unit_test(wrong_types_are_told_with_what_is_allowed),
		cmocka_unit_test(two_sources_are_refused_and_none_too),
		cmocka_unit_test(datasets_are_needed_only_by_the_modes_that_use_them),
		cmocka_unit_test(merges_below_95_seconds_are_refused_on_bigquery_only),
		cmocka_unit_test(a_project_is_needed_only_where_google_is_asked),
		cmocka_unit_test(mistakes_of_grammar_have_line_and_column),
		cmocka_unit_test(a_member_that_stands_twice_is_shown_with_both_lines),
		cmocka_unit_test(a_file_for_a_newer_weir_is_refused_in_words),
		cmocka_unit_test(keys_are_refused_and_never_repeated),
		cmocka_unit_test(the_command_line_wins_over_the_file),
		cmocka_unit_test(the_first_problem_becomes_the_error),
		cmocka_unit_test(a_problem_as_json_has_the_members_of_check),
		cmocka_unit_test(a_thousand_problems_are_counted_but_not_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
