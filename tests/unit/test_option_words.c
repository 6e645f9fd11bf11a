/* What each kind of parameter takes and refuses, and the rules of the Pub/Sub and
 * Bigtable templates: the launch checks of their specs as tables. */
#include "options/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define PUBSUB "PubSub_CDC_to_BigQuery"
#define CDC "Cdc_To_BigQuery_Template"
#define BIGTABLE "Bigtable_Change_Streams_to_BigQuery"

/* The codes of all problems of a job with these parameters, with a space between them. */
static void expect_codes(const char *template, const char *parameters, const char *expected)
{
	OWNED(text) file = text_new(10000);
	OWNED(text) codes = text_new(1000);
	struct option_problems problems;
	const char *always = strcmp(template, CDC) == 0 ? "\"changeLogDataset\":\"a\",\"replicaDataset\":\"b\""
	                     : strcmp(template, BIGTABLE) == 0 ? "\"bigQueryDataset\":\"d\"" : "\"autoMapTables\":true";

	text_add_format(file, "{\"name\":\"t\",\"template\":\"%s\",\"parameters\":{\"warehouse\":\"local\",%s,%s}}", template,
	                always, parameters);
	job_options_free(job_options_read(text_span(file), "job.json", "/base", NULL, 0, &problems));
	for (size_t i = 0; i < problems.count; i++)
		text_add_format(codes, "%s%s", i ? " " : "", problems.items[i].code);
	if (strcmp(codes->at, expected) != 0)
		fail_msg("%s: '%s' in place of '%s'", parameters, codes->at, expected);
	option_problems_free(&problems);
}

static const struct word_case {
	const char *template, *name, *text;
	bool is_fine;
} word_cases[] = {
	{ PUBSUB, "windowDuration", "5s", true },          { PUBSUB, "windowDuration", "5S", true },
	{ PUBSUB, "windowDuration", "12m", true },         { PUBSUB, "windowDuration", "2h", true },
	{ PUBSUB, "windowDuration", "1s2m3h", true },      { PUBSUB, "windowDuration", "30m1h", true },
	{ PUBSUB, "windowDuration", "1h30m", false },      { PUBSUB, "windowDuration", "5", false },
	{ PUBSUB, "windowDuration", "5x", false },         { PUBSUB, "windowDuration", " 5s", false },
	{ PUBSUB, "windowDuration", "1.5s", false },       { PUBSUB, "windowDuration", "0s", false },
	{ PUBSUB, "windowDuration", "-5s", false },        { PUBSUB, "windowDuration", "5s5s", false },
	{ PUBSUB, "outputDeadletterTable", "p:d.t", true }, { PUBSUB, "outputDeadletterTable", "p-a.d.t-x", true },
	{ PUBSUB, "outputDeadletterTable", "d.t", true },  { PUBSUB, "outputDeadletterTable", "t", false },
	{ PUBSUB, "outputDeadletterTable", "p:d-x.t", false }, { PUBSUB, "outputDeadletterTable", "p:d.", false },
	{ PUBSUB, "outputDeadletterTable", ":d.t", false },
	{ CDC, "changeLogDataset", "A_9", true },          { CDC, "changeLogDataset", "a.b", false },
	{ CDC, "changeLogDataset", "a`b", false },         { CDC, "changeLogDataset", "../x", false },
	{ CDC, "tableNamePattern", "{db}-{schema}_{table}", true }, { CDC, "tableNamePattern", "{table}{x}", false },
	{ CDC, "tableNamePattern", "table", false },       { CDC, "tableNamePattern", "{table}/x", false },
	{ CDC, "replicationMode", "UPSERT", true },        { CDC, "replicationMode", "append", false },
	{ CDC, "credentials", "vault:prod-key", true },    { CDC, "credentials", "/etc/weir/key.json", true },
	{ CDC, "credentials", "vault:", false },           { CDC, "credentials", "vault:-a", false },
	{ CDC, "credentials", "vault:a b", false },        { CDC, "credentials", "key.json", false },
	{ CDC, "credentials", "/", false },                { CDC, "credentials", "Vault:a", false },
	{ CDC, "tombstoneDays", "forever", true },         { CDC, "tombstoneDays", "0", false },
	{ CDC, "tombstoneDays", "-1", false },             { CDC, "tombstoneDays", "soon", false },
	{ CDC, "parkBytes", "1024", true },                { CDC, "parkBytes", "1023", false },
	{ CDC, "parkBytes", "9223372036854775807G", false }, { CDC, "parkBytes", "99999999999999999999", false },
	{ CDC, "parkBytes", "64k", true },                 { CDC, "parkBytes", "1 M", false },
	{ CDC, "maxTables", "1e3", false },                { CDC, "maxTables", "+5", false },
	{ CDC, "maxTables", " 5", false },                 { CDC, "maxTables", "100001", false },
	{ CDC, "onUnrepresentable", "null", true },        { CDC, "onUnrepresentable", "zero", false },
	{ BIGTABLE, "bigQueryChangelogTablePartitionGranularity", "HOUR", true },
	{ BIGTABLE, "bigQueryChangelogTablePartitionGranularity", "", true },
	{ BIGTABLE, "bigQueryChangelogTablePartitionGranularity", "hour", true },
	{ BIGTABLE, "bigQueryChangelogTablePartitionGranularity", "WEEK", false },
	{ BIGTABLE, "bigQueryChangelogTableFieldsToIgnore", " is_gc , TIEBREAKER ", true },
	{ BIGTABLE, "bigQueryChangelogTableFieldsToIgnore", "is_gc,", true },
	{ BIGTABLE, "bigQueryChangelogTableFieldsToIgnore", "is_gc,,tiebreaker", false },
	{ BIGTABLE, "bigQueryChangelogTableFieldsToIgnore", "row_key", false },
	{ BIGTABLE, "bigQueryChangelogTableFieldsToIgnore", "buggy", false },
	{ BIGTABLE, "bigtableChangeStreamStartTimestamp", "2022-05-05T07:59:59.123456789Z", true },
	{ BIGTABLE, "bigtableChangeStreamStartTimestamp", "2022-05-05T07:59:59+14:00", true },
	{ BIGTABLE, "bigtableChangeStreamStartTimestamp", "2022-05-05 07:59:59", false },
	{ BIGTABLE, "bigtableChangeStreamStartTimestamp", "2022-13-05T07:59:59Z", false },
	{ BIGTABLE, "bigtableChangeStreamStartTimestamp", "2022-05-05T07:59:59.Z", false },
	{ BIGTABLE, "bigtableChangeStreamStartTimestamp", "2022-05-05T07:59:59", false },
	{ BIGTABLE, "bigtableReadProjectId", "Acme", false },
};

static void each_kind_of_word_takes_what_its_help_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof word_cases / sizeof *word_cases; i++) {
		const struct word_case *word = &word_cases[i];
		char file[600], override[200];
		const char *overrides[] = { "inputFile=-", override };
		struct option_problems problems;
		struct job_options *job;

		snprintf(file, sizeof file, "{\"name\":\"t\",\"template\":\"%s\",\"parameters\":{\"warehouse\":\"local\"%s}}",
		         word->template, strcmp(word->template, CDC) == 0 ? ",\"changeLogDataset\":\"a\",\"replicaDataset\":\"b\""
		         : strcmp(word->template, BIGTABLE) == 0 ? ",\"bigQueryDataset\":\"d\"" : "");
		snprintf(override, sizeof override, "%s=%s", word->name, word->text);
		job = job_options_read(span_of(file), "job.json", "/base", overrides, 2, &problems);
		if ((job != NULL) != word->is_fine)
			fail_msg("%s is %s", override, job ? "taken" : problems.items[0].message);
		if (!job)
			assert_string_equal(problems.items[0].parameter, word->name);
		job_options_free(job);
		option_problems_free(&problems);
	}
}

static void the_launch_checks_of_the_pubsub_template_hold(void **state)
{
	(void)state;
	expect_codes(PUBSUB, "\"inputFile\":\"f\"", "");
	expect_codes(PUBSUB, "\"outputTableNameTemplate\":\"{t}\"", "missing_parameter");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"inputSubscription\":\"projects/acme-data/subscriptions/s\"",
	             "exclusive_parameters");
	expect_codes(PUBSUB, "\"inputSubscription\":\"s\"", "bad_parameter");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"deadLetterQueueDirectory\":\"gs://b/d\",\"outputDeadletterTable\":\"p:d.t\"",
	             ""); /* the original refuses both together; here both are written */
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"replicationMode\":\"upsert\"", "missing_parameter");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"replicationMode\":\"merge\"", "bad_parameter");
	expect_codes(CDC, "\"inputFile\":\"f\",\"replicationMode\":\"append\"", "bad_parameter");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"outputTableNameTemplate\":\"${a}\"", "never_a_name");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"outputTableNameTemplate\":\"t_{a:-x.y}\"", "");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"outputDatasetTemplate\":\"a.{b}\"", "never_a_name");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"useStorageWriteApiAtLeastOnce\":true", "missing_parameter");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"useStorageWriteApi\":\"true\"", "missing_parameter");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"useStorageWriteApi\":true,\"storageWriteApiTriggeringFrequencySec\":5", "");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"useStorageWriteApi\":true,\"useStorageWriteApiAtLeastOnce\":true", "");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"javascriptTextTransformGcsPath\":\"a.js\",\"pythonTextTransformGcsPath\":\"b\"",
	             "missing_parameter exclusive_parameters missing_parameter");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"primaryKey\":\"id\"", "parameter_not_used");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"deadLetterRetries\":3", "parameter_not_used");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"deadLetterRetries\":3,\"deadLetterQueueDirectory\":\"d\"", "");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"outputTableNameTemplate\":\"{t}\\t\"", "never_a_name");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"outputTableNameTemplate\":\"one\",\"outputTableSpec\":\"p:d.t\"",
	             "one_table_for_all parameter_not_used");
}

static void tables_are_made_as_the_job_says(void **state)
{
	(void)state;
	expect_codes(CDC, "\"inputFile\":\"f\",\"warehouse\":\"bigquery\",\"updateFrequencySecs\":300,\"partition\":\"day\","
	             "\"expiration\":30,\"clustering\":\"operation, tableName\",\"labels\":{\"team\":\"shop\"},"
	             "\"location\":\"EU\"", "missing_parameter duplicate_member");
	expect_codes(CDC, "\"inputFile\":\"f\",\"expiration\":30", "missing_parameter parameter_not_used");
	expect_codes(CDC, "\"inputFile\":\"f\",\"clustering\":\"a,b,c,d,e\"", "out_of_range parameter_not_used");
	expect_codes(CDC, "\"inputFile\":\"f\",\"maxStaleness\":\"10m\"", "parameter_not_used exclusive_parameters");
	expect_codes(CDC, "\"inputFile\":\"f\",\"partition\":\"WEEK\"", "bad_parameter");
	expect_codes(PUBSUB, "\"inputFile\":\"f\",\"outputTableNameTemplate\":\"{t}\",\"partitionColumn\":\"at\"", "missing_parameter");
}

static void the_launch_checks_of_the_bigtable_template_hold(void **state)
{
	(void)state;
	expect_codes(BIGTABLE, "\"inputFile\":\"f\",\"bigQueryChangelogTablePartitionExpirationMs\":1000", "missing_parameter");
	expect_codes(BIGTABLE, "\"writeRowkeyAsBytes\":true", "missing_parameter missing_parameter missing_parameter");
	expect_codes(BIGTABLE, "\"inputFile\":\"f\",\"bigtableChangeStreamResume\":true", "missing_parameter");
	expect_codes(BIGTABLE, "\"bigtableReadInstanceId\":\"cbt-one\",\"bigtableReadTableId\":\"t\","
	             "\"bigtableChangeStreamAppProfile\":\"app\"", "missing_parameter"); /* the project */
}

static void objects_have_their_own_grammar(void **state)
{
	(void)state;
	expect_codes(CDC, "\"inputFile\":\"f\",\"enrichment\":{\"queryFn\":\"q\"}", "");
	expect_codes(CDC, "\"inputFile\":\"f\",\"enrichment\":{\"queryFn\":\"q\",\"tableName\":\"t\"}", "exclusive_parameters");
	expect_codes(CDC, "\"inputFile\":\"f\",\"enrichment\":{\"tableName\":\"t\"}", "missing_parameter");
	expect_codes(CDC, "\"inputFile\":\"f\",\"enrichment\":{\"queryfn\":\"q\"}", "unknown_member");
	expect_codes(CDC, "\"inputFile\":\"f\",\"enrichment\":{\"queryFn\":\"q\",\"minBatchSize\":0}", "out_of_range");
	expect_codes(CDC, "\"inputFile\":\"f\",\"deadLetters\":\"{\\\"folder\\\":\\\"x\\\"}\"", "");
	expect_codes(CDC, "\"inputFile\":\"f\",\"primaryKey\":{\"\":[\"id\"]}", "bad_parameter");
	expect_codes(CDC, "\"inputFile\":\"f\",\"primaryKey\":[]", "bad_parameter");
	expect_codes(CDC, "\"inputFile\":\"f\",\"primaryKey\":[\"id\",\"id\"]", "bad_parameter");
	expect_codes(CDC, "\"inputFile\":\"f\",\"primaryKey\":[\"i\\u0001d\"]", "bad_parameter");
	expect_codes(CDC, "\"inputFile\":\"f\",\"primaryKey\":{\"a\\u007f\":[\"id\"]}", "bad_parameter");
	expect_codes(CDC, "\"inputFile\":\"f\",\"primaryKey\":{\"a\":\"x,y\\u001b\"}", "bad_parameter");
	expect_codes(CDC, "\"inputFile\":\"f\",\"columnTypes\":{\"nodot\":\"INT64\"}", "bad_parameter");
	expect_codes(CDC, "\"inputFile\":\"f\",\"columnTypes\":{\"a.b\":\"ARRAY<ARRAY<INT64>>\"}", "bad_parameter");
	expect_codes(CDC, "\"inputFile\":\"f\",\"columnTypes\":{\"a.b\":\"RANGE<DATE>\",\"a.c\":\"ARRAY<RANGE< TIMESTAMP >>\"}", "");
	expect_codes(CDC, "\"inputFile\":\"f\",\"columnTypes\":{\"a.b\":\"RANGE<TIME>\"}", "bad_parameter");
	expect_codes(CDC, "\"inputFile\":\"f\",\"columnTypes\":{\"a.b\":\"STRUCT<x FLOAT64, y ARRAY<STRING>>\"}", "");
	expect_codes(CDC, "\"inputFile\":\"f\",\"columnTypes\":{\"a.b\":{\"type\":\"BYTES\",\"encoding\":\"utf8\"}}", "bad_parameter");
	expect_codes(CDC, "\"inputFile\":\"f\",\"onUnrepresentable\":{\"date\":\"null\"}", "bad_parameter");
	expect_codes(CDC, "\"inputFile\":\"f\",\"numWorkers\":3,\"maxNumWorkers\":2", "out_of_range");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_word_takes_what_its_help_says),
		cmocka_unit_test(the_launch_checks_of_the_pubsub_template_hold),
		cmocka_unit_test(tables_are_made_as_the_job_says),
		cmocka_unit_test(the_launch_checks_of_the_bigtable_template_hold),
		cmocka_unit_test(objects_have_their_own_grammar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
