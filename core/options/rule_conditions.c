/* When a rule across parameters is broken: the conditions of rules.def. */
#include "options/job_file_private.h"
#include "options/rules_private.h"

#include <stdlib.h>

/* Given with a value that is fine. */
static const json_t *value_of(const struct draft *draft, const char *name)
{
	return json_object_get(draft->options->parameters, name);
}

static bool has(const struct draft *draft, const char *name)
{
	return json_object_get(draft->mentioned, name) != NULL;
}

static bool is_true(const struct draft *draft, const char *name)
{
	return json_is_true(value_of(draft, name));
}

static int64_t number_of(const struct draft *draft, const char *name)
{
	return json_integer_value(value_of(draft, name));
}

static bool is_local(const struct draft *draft)
{
	return draft->options->warehouse == WAREHOUSE_LOCAL;
}

static bool mode_is(const struct draft *draft, enum replication_mode mode)
{
	return draft->options->replication_mode == mode;
}

bool rule_feed_and_subscriptions(const struct draft *draft)
{
	return has(draft, "inputFile") && (has(draft, "inputSubscriptions") || has(draft, "inputSubscription"));
}

bool rule_feed_and_topics(const struct draft *draft)
{
	return has(draft, "inputFile") && has(draft, "inputTopics");
}

bool rule_topics_and_subscriptions(const struct draft *draft)
{
	return has(draft, "inputTopics") && has(draft, "inputSubscriptions");
}

bool rule_no_cdc_input(const struct draft *draft)
{
	return !has(draft, "inputFile") && !has(draft, "inputTopics") && !has(draft, "inputSubscriptions");
}

bool rule_no_subscription(const struct draft *draft)
{
	return !has(draft, "inputFile") && !has(draft, "inputSubscription");
}

bool rule_no_instance(const struct draft *draft)
{
	return !has(draft, "inputFile") && !has(draft, "bigtableReadInstanceId");
}

bool rule_no_source_table(const struct draft *draft)
{
	return !has(draft, "inputFile") && !has(draft, "bigtableReadTableId");
}

bool rule_no_profile(const struct draft *draft)
{
	return !has(draft, "inputFile") && !has(draft, "bigtableChangeStreamAppProfile");
}

bool rule_no_dataset(const struct draft *draft)
{
	return !has(draft, "bigQueryDataset");
}

bool rule_no_changelog_dataset(const struct draft *draft)
{
	return !mode_is(draft, REPLICATION_UPSERT) && !has(draft, "changeLogDataset");
}

bool rule_no_replica_dataset(const struct draft *draft)
{
	return !mode_is(draft, REPLICATION_CHANGELOG) && !has(draft, "replicaDataset");
}

bool rule_unused_changelog_dataset(const struct draft *draft)
{
	return mode_is(draft, REPLICATION_UPSERT) && has(draft, "changeLogDataset");
}

bool rule_unused_replica_dataset(const struct draft *draft)
{
	return mode_is(draft, REPLICATION_CHANGELOG) && has(draft, "replicaDataset");
}

bool rule_unused_frequency(const struct draft *draft)
{
	return !mode_is(draft, REPLICATION_MERGE) && has(draft, "updateFrequencySecs");
}

bool rule_merges_too_often(const struct draft *draft)
{
	return !is_local(draft) && mode_is(draft, REPLICATION_MERGE) && draft->options->update_frequency_secs < 95;
}

/* Is there a name in the list whose project would be the job's? */
static bool has_short_name(const char *names)
{
	for (const char *at = names; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
		size_t len = strcspn(at, ",");

		if (!memchr(at, '/', len))
			return true;
	}
	return false;
}

/* Google is asked for rows, messages or look-ups. */
bool rule_no_project(const struct draft *draft)
{
	bool asks_google = !is_local(draft) || has_short_name(json_string_value(value_of(draft, "inputSubscriptions"))) ||
	                   has(draft, "inputTopics") ||
	                   has(draft, "bigtableReadInstanceId");

	return asks_google && !draft->options->project && !json_object_get(draft->root, "project");
}

bool rule_bad_project(const struct draft *draft)
{
	return !is_local(draft) && draft->options->project && !type_project.is_word(span_of(draft->options->project));
}

bool rule_no_trigger(const struct draft *draft)
{
	return is_true(draft, "useStorageWriteApi") && !is_true(draft, "useStorageWriteApiAtLeastOnce") &&
	       !has(draft, "storageWriteApiTriggeringFrequencySec");
}

bool rule_at_least_once_alone(const struct draft *draft)
{
	return is_true(draft, "useStorageWriteApiAtLeastOnce") && !is_true(draft, "useStorageWriteApi");
}

/* Of other templates the modes are one, of PubSub_CDC the others. */
bool rule_mode_of_others(const struct draft *draft)
{
	bool is_json = draft->options->template == TEMPLATE_PUBSUB_CDC;

	return is_json ? !mode_is(draft, REPLICATION_APPEND) && !mode_is(draft, REPLICATION_UPSERT)
	               : mode_is(draft, REPLICATION_APPEND);
}

bool rule_upsert_without_key(const struct draft *draft)
{
	return mode_is(draft, REPLICATION_UPSERT) && !has(draft, "primaryKey");
}

/* A sign that no name has, outside of every {member}. What a member is replaced by is not known here. */
static bool has_bad_sign(const char *template, const char *also)
{
	const char *end;

	for (; *template; template++) {
		bool is_escaped = *template == '$' && template[1] == '{';

		if (*template == '{' && (end = strchr(template, '}')) && !memchr(template + 1, '{', (size_t)(end - template - 1)))
			template = end;
		else if (is_escaped || *template == '{' || *template == '}' || (unsigned char)*template < ' ' || *template == 127 ||
		         ((unsigned char)*template < 0x80 && strchr("`\"'./\\;:,?*()[]<>|!@#^~", *template)) ||
		         (also && strchr(also, *template)))
			return true;
	}
	return false;
}

bool rule_never_a_dataset(const struct draft *draft)
{
	const char *dataset = json_string_value(value_of(draft, "outputDatasetTemplate"));

	return dataset && has_bad_sign(dataset, "$- ");
}

bool rule_never_a_table(const struct draft *draft)
{
	const char *table = json_string_value(value_of(draft, "outputTableNameTemplate"));

	return table && has_bad_sign(table, NULL);
}

bool rule_two_languages(const struct draft *draft)
{
	return has(draft, "javascriptTextTransformGcsPath") && has(draft, "pythonTextTransformGcsPath");
}

bool rule_script_without_function(const struct draft *draft)
{
	return has(draft, "javascriptTextTransformGcsPath") && !has(draft, "javascriptTextTransformFunctionName");
}

bool rule_python_without_function(const struct draft *draft)
{
	return has(draft, "pythonTextTransformGcsPath") && !has(draft, "pythonTextTransformFunctionName");
}

/* A row of append is never compared with others. */
bool rule_key_without_upsert(const struct draft *draft)
{
	return has(draft, "primaryKey") && mode_is(draft, REPLICATION_APPEND);
}

bool rule_unused_folder_options(const struct draft *draft)
{
	return !has(draft, "deadLetterQueueDirectory") && (has(draft, "deadLetterRetryInterval") || has(draft, "deadLetterRetries"));
}

bool rule_table_without_braces(const struct draft *draft)
{
	const char *table = json_string_value(value_of(draft, "outputTableNameTemplate"));

	return table && !strchr(table, '{');
}

bool rule_old_table_spec(const struct draft *draft)
{
	return has(draft, "outputTableSpec");
}

bool rule_unused_schema_file(const struct draft *draft)
{
	return has(draft, "schemaFilePath") && json_is_false(value_of(draft, "autoMapTables"));
}

bool rule_expiration_alone(const struct draft *draft)
{
	return has(draft, "bigQueryChangelogTablePartitionExpirationMs") &&
	       !has(draft, "bigQueryChangelogTablePartitionGranularity");
}

bool rule_resume_without_name(const struct draft *draft)
{
	return is_true(draft, "bigtableChangeStreamResume") && !has(draft, "bigtableChangeStreamName");
}

bool rule_unused_timeout(const struct draft *draft)
{
	return has(draft, "bigtableReadChangeStreamTimeoutMs");
}

bool rule_rows_without_schemas(const struct draft *draft)
{
	return draft->options->message_format == FORMAT_BEAM_ROW && has(draft, "inputFile") && !has(draft, "beamSchemas");
}

bool rule_more_workers_than_most(const struct draft *draft)
{
	return has(draft, "numWorkers") && has(draft, "maxNumWorkers") &&
	       number_of(draft, "numWorkers") > number_of(draft, "maxNumWorkers");
}

bool rule_region_and_zone(const struct draft *draft)
{
	return has(draft, "workerRegion") && has(draft, "workerZone");
}

bool rule_several_for_one_topic(const struct draft *draft)
{
	const char *names = json_string_value(value_of(draft, "inputSubscriptions"));

	return is_true(draft, "useSingleTopic") && names && strchr(names, ',');
}

/* How tables of BigQuery are made. */
bool rule_expires_without_partition(const struct draft *draft)
{
	return draft->options->expiration_days > 0 && draft->options->partition == PARTITION_NONE;
}

bool rule_column_without_partition(const struct draft *draft)
{
	return has(draft, "partitionColumn") && draft->options->partition == PARTITION_NONE;
}

bool rule_clusters_by_too_many(const struct draft *draft)
{
	size_t count = 1;

	for (const char *list = draft->options->clustering; list && (list = strchr(list, ',')); list++)
		count++;
	return count > 4;
}

bool rule_stale_without_upsert(const struct draft *draft)
{
	return has(draft, "maxStaleness") && !mode_is(draft, REPLICATION_UPSERT);
}

bool rule_unused_table_options(const struct draft *draft)
{
	static const char *const names[] = { "partition", "expiration", "clustering", "labels", "description", "location",
	                                     "maxStaleness" };
	bool is_any = false;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		is_any = is_any || has(draft, names[i]);
	return is_any && is_local(draft);
}
