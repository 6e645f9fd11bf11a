/*
 * Rules across parameters: one table of condition, fields, code and message. A
 * rule is silent when one of its fields is already refused for itself.
 */
#include "base/arena.h"
#include "options/job_file_private.h"

#include <stdlib.h>

#define RULE_FIELDS 6
#define CDC_ONLY TEMPLATE_CDC
#define EVERY_TEMPLATE (TEMPLATE_PUBSUB_CDC | TEMPLATE_CDC | TEMPLATE_BIGTABLE)

struct rule {
	bool (*is_broken)(const struct draft *draft);
	unsigned applies_to;
	const char *fields[RULE_FIELDS]; /* the first one that is given is where the message points */
	const char *code;
	bool is_warning;
	const char *message, *fix;
};

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

static bool feed_and_subscriptions(const struct draft *draft)
{
	return has(draft, "inputFile") && (has(draft, "inputSubscriptions") || has(draft, "inputSubscription"));
}

static bool feed_and_topics(const struct draft *draft)
{
	return has(draft, "inputFile") && has(draft, "inputTopics");
}

static bool topics_and_subscriptions(const struct draft *draft)
{
	return has(draft, "inputTopics") && has(draft, "inputSubscriptions");
}

static bool no_cdc_input(const struct draft *draft)
{
	return !has(draft, "inputFile") && !has(draft, "inputTopics") && !has(draft, "inputSubscriptions");
}

static bool no_subscription(const struct draft *draft)
{
	return !has(draft, "inputFile") && !has(draft, "inputSubscription");
}

static bool no_instance(const struct draft *draft)
{
	return !has(draft, "inputFile") && !has(draft, "bigtableReadInstanceId");
}

static bool no_source_table(const struct draft *draft)
{
	return !has(draft, "inputFile") && !has(draft, "bigtableReadTableId");
}

static bool no_profile(const struct draft *draft)
{
	return !has(draft, "inputFile") && !has(draft, "bigtableChangeStreamAppProfile");
}

static bool no_dataset(const struct draft *draft)
{
	return !has(draft, "bigQueryDataset");
}

static bool no_changelog_dataset(const struct draft *draft)
{
	return !mode_is(draft, REPLICATION_UPSERT) && !has(draft, "changeLogDataset");
}

static bool no_replica_dataset(const struct draft *draft)
{
	return !mode_is(draft, REPLICATION_CHANGELOG) && !has(draft, "replicaDataset");
}

static bool unused_changelog_dataset(const struct draft *draft)
{
	return mode_is(draft, REPLICATION_UPSERT) && has(draft, "changeLogDataset");
}

static bool unused_replica_dataset(const struct draft *draft)
{
	return mode_is(draft, REPLICATION_CHANGELOG) && has(draft, "replicaDataset");
}

static bool unused_frequency(const struct draft *draft)
{
	return !mode_is(draft, REPLICATION_MERGE) && has(draft, "updateFrequencySecs");
}

static bool merges_too_often(const struct draft *draft)
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
static bool no_project(const struct draft *draft)
{
	bool asks_google = !is_local(draft) || has_short_name(json_string_value(value_of(draft, "inputSubscriptions"))) ||
	                   has(draft, "inputTopics") ||
	                   has(draft, "bigtableReadInstanceId");

	return asks_google && !draft->options->project && !json_object_get(draft->root, "project");
}

static bool bad_project(const struct draft *draft)
{
	return !is_local(draft) && draft->options->project && !type_project.is_word(span_of(draft->options->project));
}

static bool no_trigger(const struct draft *draft)
{
	return is_true(draft, "useStorageWriteApi") && !is_true(draft, "useStorageWriteApiAtLeastOnce") &&
	       !has(draft, "storageWriteApiTriggeringFrequencySec");
}

static bool at_least_once_alone(const struct draft *draft)
{
	return is_true(draft, "useStorageWriteApiAtLeastOnce") && !is_true(draft, "useStorageWriteApi");
}

/* Of other templates the modes are one, of PubSub_CDC the others. */
static bool mode_of_others(const struct draft *draft)
{
	bool is_json = draft->options->template == TEMPLATE_PUBSUB_CDC;

	return is_json ? !mode_is(draft, REPLICATION_APPEND) && !mode_is(draft, REPLICATION_UPSERT)
	               : mode_is(draft, REPLICATION_APPEND);
}

static bool upsert_without_key(const struct draft *draft)
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
		else if (is_escaped || *template == '{' || *template == '}' ||
		         ((unsigned char)*template < 0x80 && strchr("`\"'./\\;:,?*()[]<>|!@#^~", *template)) ||
		         (also && strchr(also, *template)))
			return true;
	}
	return false;
}

static bool never_a_dataset(const struct draft *draft)
{
	const char *dataset = json_string_value(value_of(draft, "outputDatasetTemplate"));

	return dataset && has_bad_sign(dataset, "$- ");
}

static bool never_a_table(const struct draft *draft)
{
	const char *table = json_string_value(value_of(draft, "outputTableNameTemplate"));

	return table && has_bad_sign(table, NULL);
}

static bool two_languages(const struct draft *draft)
{
	return has(draft, "javascriptTextTransformGcsPath") && has(draft, "pythonTextTransformGcsPath");
}

static bool script_without_function(const struct draft *draft)
{
	return has(draft, "javascriptTextTransformGcsPath") && !has(draft, "javascriptTextTransformFunctionName");
}

static bool python_without_function(const struct draft *draft)
{
	return has(draft, "pythonTextTransformGcsPath") && !has(draft, "pythonTextTransformFunctionName");
}

static bool table_without_braces(const struct draft *draft)
{
	const char *table = json_string_value(value_of(draft, "outputTableNameTemplate"));

	return table && !strchr(table, '{');
}

static bool old_table_spec(const struct draft *draft)
{
	return has(draft, "outputTableSpec");
}

static bool unused_schema_file(const struct draft *draft)
{
	return has(draft, "schemaFilePath") && json_is_false(value_of(draft, "autoMapTables"));
}

static bool expiration_alone(const struct draft *draft)
{
	return has(draft, "bigQueryChangelogTablePartitionExpirationMs") &&
	       !has(draft, "bigQueryChangelogTablePartitionGranularity");
}

static bool resume_without_name(const struct draft *draft)
{
	return is_true(draft, "bigtableChangeStreamResume") && !has(draft, "bigtableChangeStreamName");
}

static bool unused_timeout(const struct draft *draft)
{
	return has(draft, "bigtableReadChangeStreamTimeoutMs");
}

static bool rows_without_schemas(const struct draft *draft)
{
	return draft->options->message_format == FORMAT_BEAM_ROW && has(draft, "inputFile") && !has(draft, "beamSchemas");
}

static bool more_workers_than_most(const struct draft *draft)
{
	return has(draft, "numWorkers") && has(draft, "maxNumWorkers") &&
	       number_of(draft, "numWorkers") > number_of(draft, "maxNumWorkers");
}

static bool region_and_zone(const struct draft *draft)
{
	return has(draft, "workerRegion") && has(draft, "workerZone");
}

static bool several_for_one_topic(const struct draft *draft)
{
	const char *names = json_string_value(value_of(draft, "inputSubscriptions"));

	return is_true(draft, "useSingleTopic") && names && strchr(names, ',');
}

/* How tables of BigQuery are made. */
static bool expires_without_partition(const struct draft *draft)
{
	return draft->options->expiration_days > 0 && draft->options->partition == PARTITION_NONE;
}

static bool column_without_partition(const struct draft *draft)
{
	return has(draft, "partitionColumn") && draft->options->partition == PARTITION_NONE;
}

static bool clusters_by_too_many(const struct draft *draft)
{
	size_t count = 1;

	for (const char *list = draft->options->clustering; list && (list = strchr(list, ',')); list++)
		count++;
	return count > 4;
}

static bool stale_without_upsert(const struct draft *draft)
{
	return has(draft, "maxStaleness") && !mode_is(draft, REPLICATION_UPSERT);
}

static bool unused_table_options(const struct draft *draft)
{
	static const char *const names[] = { "partition", "expiration", "clustering", "labels", "description", "location",
	                                     "maxStaleness" };
	bool is_any = false;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		is_any = is_any || has(draft, names[i]);
	return is_any && is_local(draft);
}

#define EXCLUSIVE "exclusive_parameters", false
#define MISSING "missing_parameter", false
#define RANGE "out_of_range", false
#define UNUSED "parameter_not_used", true

static const struct rule rules[] = {
	{ feed_and_subscriptions, EVERY_TEMPLATE, { "inputSubscriptions", "inputSubscription", "inputFile" }, EXCLUSIVE,
	  "it is given together with inputFile, one of the two is allowed", "Leave one of them out." },
	{ feed_and_topics, CDC_ONLY, { "inputTopics", "inputFile" }, EXCLUSIVE,
	  "it is given together with inputFile, one of the two is allowed", "Leave one of them out." },
	{ topics_and_subscriptions, CDC_ONLY, { "inputTopics", "inputSubscriptions" }, EXCLUSIVE,
	  "it is given together with inputSubscriptions, one of the two is allowed", "Leave one of them out." },
	{ no_cdc_input, CDC_ONLY, { "inputSubscriptions", "inputTopics", "inputFile" }, MISSING,
	  "there is no source, one of inputSubscriptions, inputTopics and inputFile is needed", NULL },
	{ no_subscription, TEMPLATE_PUBSUB_CDC, { "inputSubscription", "inputFile" }, MISSING,
	  "there is no source, inputSubscription or inputFile is needed", NULL },
	{ no_instance, TEMPLATE_BIGTABLE, { "bigtableReadInstanceId", "inputFile" }, MISSING,
	  "it is missing, a Bigtable instance or inputFile is needed", NULL },
	{ no_source_table, TEMPLATE_BIGTABLE, { "bigtableReadTableId", "inputFile" }, MISSING,
	  "it is missing, a Bigtable table or inputFile is needed", NULL },
	{ no_profile, TEMPLATE_BIGTABLE, { "bigtableChangeStreamAppProfile", "inputFile" }, MISSING,
	  "it is missing, a Bigtable app profile or inputFile is needed", NULL },
	{ no_dataset, TEMPLATE_BIGTABLE, { "bigQueryDataset" }, MISSING,
	  "it is missing, the dataset of the changelog table is needed", NULL },
	{ no_changelog_dataset, CDC_ONLY, { "changeLogDataset", "replicationMode" }, MISSING,
	  "it is missing, the replication modes merge and changelog need it", NULL },
	{ no_replica_dataset, CDC_ONLY, { "replicaDataset", "replicationMode" }, MISSING,
	  "it is missing, the replication modes merge and upsert need it",
	  "Name a dataset, or set replicationMode to changelog." },
	{ unused_changelog_dataset, CDC_ONLY, { "changeLogDataset", "replicationMode" }, UNUSED,
	  "it is not used, since the replication mode upsert keeps no changelog", NULL },
	{ unused_replica_dataset, CDC_ONLY, { "replicaDataset", "replicationMode" }, UNUSED,
	  "it is not used, since the replication mode changelog keeps no replica", NULL },
	{ unused_frequency, CDC_ONLY, { "updateFrequencySecs", "replicationMode" }, UNUSED,
	  "it is not used, since only the replication mode merge merges", NULL },
	{ merges_too_often, CDC_ONLY, { "updateFrequencySecs", "warehouse", "replicationMode" }, RANGE,
	  "less than 95 is out of range, on BigQuery 95 or more is allowed (a table takes 1000 merges a day)",
	  "Set it to 95 or more; only with warehouse local less is allowed." },
	{ no_project, EVERY_TEMPLATE,
	  { "project", "warehouse", "inputSubscriptions", "inputTopics", "bigtableReadInstanceId" }, MISSING,
	  "it is missing from the job file, a project is needed where Google is asked",
	  "Name the project, or set warehouse to local and read from inputFile." },
	{ bad_project, EVERY_TEMPLATE, { "project", "warehouse" }, "bad_parameter", false,
	  "it is no project id, lower case letters, digits and '-' are allowed, a letter first", NULL },
	{ no_trigger, TEMPLATE_PUBSUB_CDC | TEMPLATE_CDC,
	  { "useStorageWriteApi", "useStorageWriteApiAtLeastOnce", "storageWriteApiTriggeringFrequencySec" }, MISSING,
	  "storageWriteApiTriggeringFrequencySec is missing, exactly-once mode needs it",
	  "Give the seconds between two commits, or set useStorageWriteApiAtLeastOnce to true." },
	{ at_least_once_alone, TEMPLATE_PUBSUB_CDC | TEMPLATE_CDC,
	  { "useStorageWriteApiAtLeastOnce", "useStorageWriteApi" }, MISSING,
	  "it is given without useStorageWriteApi, only both together are allowed", "Set useStorageWriteApi to true." },
	{ mode_of_others, EVERY_TEMPLATE, { "replicationMode" }, "bad_parameter", false,
	  "this mode is not of this template: PubSub_CDC_to_BigQuery takes append and upsert, the others merge, changelog and "
	  "upsert", NULL },
	{ upsert_without_key, TEMPLATE_PUBSUB_CDC, { "primaryKey", "replicationMode" }, MISSING,
	  "it is missing, the replication mode upsert needs to know what a row's key is", NULL },
	{ never_a_dataset, TEMPLATE_PUBSUB_CDC, { "outputDatasetTemplate" }, "never_a_name", true,
	  "it has a sign outside of {member} that no dataset's name has, so every message will be a dead letter",
	  "Letters, digits and underscores are allowed; ${ stands for a brace itself." },
	{ never_a_table, TEMPLATE_PUBSUB_CDC, { "outputTableNameTemplate" }, "never_a_name", true,
	  "it has a sign outside of {member} that no table's name has, so every message will be a dead letter",
	  "Letters, digits, underscores, hyphens and spaces are allowed; ${ stands for a brace itself." },
	{ two_languages, TEMPLATE_PUBSUB_CDC, { "pythonTextTransformGcsPath", "javascriptTextTransformGcsPath" }, EXCLUSIVE,
	  "it is given together with javascriptTextTransformGcsPath, one of the two is allowed",
	  "Leave one of them out." },
	{ script_without_function, TEMPLATE_PUBSUB_CDC,
	  { "javascriptTextTransformGcsPath", "javascriptTextTransformFunctionName" }, MISSING,
	  "javascriptTextTransformFunctionName is missing, a script needs the name of its function", NULL },
	{ python_without_function, TEMPLATE_PUBSUB_CDC,
	  { "pythonTextTransformGcsPath", "pythonTextTransformFunctionName" }, MISSING,
	  "pythonTextTransformFunctionName is missing, a script needs the name of its function", NULL },
	{ table_without_braces, TEMPLATE_PUBSUB_CDC, { "outputTableNameTemplate" }, "one_table_for_all", true,
	  "it has no {member} in it, so all messages go into one table", NULL },
	{ old_table_spec, TEMPLATE_PUBSUB_CDC, { "outputTableSpec" }, UNUSED,
	  "it is not used, outputDatasetTemplate and outputTableNameTemplate name the table", NULL },
	{ unused_schema_file, TEMPLATE_PUBSUB_CDC, { "schemaFilePath", "autoMapTables" }, UNUSED,
	  "it is not used, since autoMapTables is false", NULL },
	{ expiration_alone, TEMPLATE_BIGTABLE,
	  { "bigQueryChangelogTablePartitionExpirationMs", "bigQueryChangelogTablePartitionGranularity" }, MISSING,
	  "it is given without bigQueryChangelogTablePartitionGranularity, only both together are allowed", NULL },
	{ resume_without_name, TEMPLATE_BIGTABLE, { "bigtableChangeStreamResume", "bigtableChangeStreamName" }, MISSING,
	  "bigtableChangeStreamName is missing, positions are kept under a name", NULL },
	{ unused_timeout, TEMPLATE_BIGTABLE, { "bigtableReadChangeStreamTimeoutMs" }, UNUSED,
	  "it is not used, in the original neither", NULL },
	{ rows_without_schemas, CDC_ONLY, { "messageFormat", "beamSchemas", "inputFile" }, MISSING,
	  "beamSchemas is missing, Beam rows in a feed cannot be read without it", NULL },
	{ more_workers_than_most, EVERY_TEMPLATE, { "numWorkers", "maxNumWorkers" }, RANGE,
	  "it is more than maxNumWorkers, at most that number is allowed", NULL },
	{ region_and_zone, EVERY_TEMPLATE, { "workerZone", "workerRegion" }, EXCLUSIVE,
	  "it is given together with workerRegion, one of the two is allowed", "Leave one of them out." },
	{ several_for_one_topic, CDC_ONLY, { "inputSubscriptions", "useSingleTopic" }, EXCLUSIVE,
	  "several subscriptions are given with useSingleTopic, one is allowed", NULL },
	{ expires_without_partition, TEMPLATE_PUBSUB_CDC | TEMPLATE_CDC, { "expiration", "partition" }, MISSING,
	  "it is given without partition, and the whole table would be deleted", "Give partition too, or leave expiration out." },
	{ column_without_partition, TEMPLATE_PUBSUB_CDC, { "partitionColumn", "partition" }, MISSING,
	  "it is given without partition, the time unit", NULL },
	{ clusters_by_too_many, TEMPLATE_PUBSUB_CDC | TEMPLATE_CDC, { "clustering" }, RANGE,
	  "more than four columns are given, at most four are allowed", NULL },
	{ stale_without_upsert, CDC_ONLY, { "maxStaleness", "replicationMode" }, EXCLUSIVE,
	  "it is given without replicationMode upsert, only both together are allowed", "Leave it out." },
	{ unused_table_options, TEMPLATE_PUBSUB_CDC | TEMPLATE_CDC,
	  { "partition", "expiration", "clustering", "labels", "description", "location" }, UNUSED,
	  "it is not used, since warehouse local makes no tables of BigQuery", NULL },
};

static bool is_silent(const struct rule *rule, const struct draft *draft)
{
	for (size_t i = 0; i < RULE_FIELDS && rule->fields[i]; i++) {
		if (json_object_get(draft->refused, rule->fields[i]))
			return true;
	}
	return !(rule->applies_to & draft->options->template);
}

/* The first field that stands somewhere; if none does, the first of all. */
static const char *rule_field(const struct rule *rule, const struct draft *draft)
{
	for (size_t i = 0; i < RULE_FIELDS && rule->fields[i]; i++) {
		if (has(draft, rule->fields[i]))
			return rule->fields[i];
	}
	return rule->fields[0];
}

static void rule_report(const struct rule *rule, struct draft *draft)
{
	bool is_missing = strcmp(rule->code, "missing_parameter") == 0 && !has(draft, rule->fields[0]);
	const char *field = is_missing ? rule->fields[0] : rule_field(rule, draft);
	struct arena *arena = arena_new(512);
	const char *spot = arena_printf(arena, "@parameters.%s", field);

	if (strcmp(field, "project") == 0)
		spot = is_missing ? "" : "project";
	else if (json_object_get(draft->overridden, field))
		spot = NULL;
	else if (!has(draft, field))
		spot = "@parameters";
	if (rule->is_warning)
		problem_add_warning(draft, rule->code, spot, field, rule->fix, rule->message);
	else
		problem_add(draft, rule->code, spot, field, rule->fix, "%s", rule->message);
	arena_free(arena);
}

void rules_apply(struct draft *draft)
{
	if (!draft->has_template || !json_is_object(json_object_get(draft->root, "parameters")))
		return;
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		if (!is_silent(&rules[i], draft) && rules[i].is_broken(draft))
			rule_report(&rules[i], draft);
	}
}
