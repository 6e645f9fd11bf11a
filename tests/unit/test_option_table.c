/* The option table, walked: every row is well formed, keeps its value on every
 * way it may be written, and reaches one member of struct job_options. */
#include "options/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* What a user could type for a parameter that has neither default nor choices. */
static const struct sample {
	const char *type, *text;
} samples[] = {
	{ "text", "abc" },
	{ "switch", "true" },
	{ "number", "7" },
	{ "path", "/a/b.json" },
	{ "feed", "-" },
	{ "dataset", "orders_log" },
	{ "project", "acme-data" },
	{ "function", "transform" },
	{ "instance", "cbt-one" },
	{ "profile", "app_one" },
	{ "subscription", "projects/acme-data/subscriptions/orders" },
	{ "subscriptions", "a,b" },
	{ "topics", "a.b,c" },
	{ "table_spec", "acme-data:log.errors" },
	{ "gcs_path", "gs://bucket/x" },
	{ "credentials", "vault:prod-key" },
	{ "duration", "30m1h" },
	{ "timestamp", "2026-11-30T02:37:30.5+01:00" },
	{ "names", "cf,cf:col" },
	{ "columns", "is_gc,TIEBREAKER" },
	{ "key columns", "{\"public.events\":[\"id\",\"at\"]}" },
	{ "column types", "{\"orders.note\":{\"encoding\":\"hex\",\"type\":\"BYTES\"},\"orders.price\":\"NUMERIC\"}" },
	{ "labels", "{\"team\":\"data\"}" },
};

static const struct companion {
	const char *name, *other;
} companions[] = {
	{ "javascriptTextTransformGcsPath", "javascriptTextTransformFunctionName=f" },
	{ "pythonTextTransformGcsPath", "pythonTextTransformFunctionName=f" },
	{ "bigQueryChangelogTablePartitionExpirationMs", "bigQueryChangelogTablePartitionGranularity=DAY" },
	{ "maxStaleness", "replicationMode=upsert" },
	{ "partitionColumn", "partition=DAY" },
};

static const char *sample_of(const struct option *option)
{
	if (strcmp(option->name, "enrichment") == 0)
		return "{\"fields\":[\"id\"],\"rowRestrictionTemplate\":\"id={}\",\"tableName\":\"p.d.t\"}";
	if (strcmp(option->name, "deadLetters") == 0)
		return "{\"folder\":\"letters\"}";
	if (option->fallback)
		return option->fallback;
	if (option->choices)
		return option->choices[0];
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		if (strcmp(samples[i].type, option_type_name(option)) == 0)
			return samples[i].text;
	fail_msg("no sample for type %s", option_type_name(option));
	return NULL;
}

static enum job_template template_of(const struct option *option)
{
	if (option->applies_to & TEMPLATE_CDC)
		return TEMPLATE_CDC;
	return option->applies_to & TEMPLATE_PUBSUB_CDC ? TEMPLATE_PUBSUB_CDC : TEMPLATE_BIGTABLE;
}

/* A job whose only interesting parameter is `option` with this text. */
static struct job_options *job_with(const struct option *option, const char *text)
{
	char file[300], value[1000], dataset[] = "bigQueryDataset=d", feed[] = "inputFile=/f";
	const char *overrides[6];
	size_t count = 0;
	bool is_cdc = template_of(option) == TEMPLATE_CDC, is_input = strncmp(option->name, "input", 5) == 0;
	struct option_problems problems;
	struct job_options *job;

	snprintf(file, sizeof file, "{\"name\":\"t\",\"template\":\"%s\",\"project\":\"acme-data\",\"parameters\":{}}",
	         job_template_name(template_of(option)));
	snprintf(value, sizeof value, "%s=%s", option->name, text);
	if (is_cdc) {
		overrides[count++] = "changeLogDataset=a";
		overrides[count++] = "replicaDataset=b";
	}
	if (template_of(option) == TEMPLATE_BIGTABLE)
		overrides[count++] = dataset;
	if (!is_input)
		overrides[count++] = feed;
	for (size_t i = 0; i < sizeof companions / sizeof *companions; i++)
		if (strcmp(companions[i].name, option->name) == 0)
			overrides[count++] = companions[i].other;
	overrides[count++] = value;
	job = job_options_read(span_of(file), "job.json", "/base", overrides, count, &problems);
	if (!job)
		fail_msg("%s: %s: %s", option->name, problems.items[0].parameter, problems.items[0].message);
	option_problems_free(&problems);
	return job;
}

static void names_are_sorted_and_unique(void **state)
{
	(void)state;
	assert_true(job_option_count > 80);
	for (size_t i = 1; i < job_option_count; i++)
		if (strcmp(job_option_table[i - 1].name, job_option_table[i].name) >= 0)
			fail_msg("%s stands before %s", job_option_table[i - 1].name, job_option_table[i].name);
	for (size_t i = 0; i < job_option_count; i++)
		assert_ptr_equal(option_find(job_option_table[i].name), &job_option_table[i]);
	assert_null(option_find("no such name"));
}

static void every_help_is_a_sentence(void **state)
{
	(void)state;
	for (size_t i = 0; i < job_option_count; i++) {
		const struct option *option = &job_option_table[i];
		size_t len = strlen(option->help);

		assert_non_null(option->label);
		if (len < 10 || option->help[len - 1] != '.' || strstr(option->help, "  "))
			fail_msg("help of %s: '%s'", option->name, option->help);
		assert_true(option->applies_to != 0);
		assert_true((option->required_for & ~option->applies_to) == 0);
	}
}

static void every_row_keeps_its_value_through_text_and_json(void **state)
{
	(void)state;
	for (size_t i = 0; i < job_option_count; i++) {
		const struct option *option = &job_option_table[i];
		struct job_options *first = job_with(option, sample_of(option)), *second;
		const json_t *value = json_object_get(first->parameters, option->name);
		OWNED(text) printed = text_new(1000);

		assert_non_null(value);
		assert_true(option_print(option, value, printed));
		second = job_with(option, printed->at);
		if (!json_equal(value, json_object_get(second->parameters, option->name)))
			fail_msg("%s: '%s' became '%s'", option->name, sample_of(option), printed->at);
		job_options_free(first);
		job_options_free(second);
	}
}

static void a_default_that_is_written_out_changes_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < job_option_count; i++) {
		const struct option *option = &job_option_table[i];
		struct job_options *plain, *written;
		char *a, *b;

		/* The default of tombstoneDays is another one with a feed. */
		if (!option->fallback || strcmp(option->name, "tombstoneDays") == 0)
			continue;
		plain = job_with(option, "");
		written = job_with(option, option->fallback);
		a = job_options_text(plain);
		b = job_options_text(written);
		assert_string_equal(a, b);
		free(a);
		free(b);
		job_options_free(plain);
		job_options_free(written);
	}
}

/* Everything behind `parameters` that holds one parameter. Counts belong to the list before them. */
static const size_t members[] = {
#define MEMBER(name) offsetof(struct job_options, name)
	MEMBER(warehouse), MEMBER(input_file), MEMBER(input_subscriptions), MEMBER(input_subscription),
	MEMBER(input_topics),
	MEMBER(message_format), MEMBER(source_schema), MEMBER(replication_mode), MEMBER(change_log_dataset),
	MEMBER(replica_dataset), MEMBER(update_frequency_secs), MEMBER(primary_keys), MEMBER(schema_changes),
	MEMBER(column_types), MEMBER(on_unrepresentable), MEMBER(unavailable_value), MEMBER(tombstone_days),
	MEMBER(table_name_pattern), MEMBER(park_bytes), MEMBER(max_record_bytes), MEMBER(max_tables),
	MEMBER(local_cache_bytes), MEMBER(credentials), MEMBER(quota_project), MEMBER(partition), MEMBER(partition_column), MEMBER(clustering),
	MEMBER(description), MEMBER(location), MEMBER(max_staleness), MEMBER(expiration_days), MEMBER(parameters),
	MEMBER(output_dataset_template), MEMBER(output_table_template), MEMBER(auto_map_tables), MEMBER(message_metadata),
	MEMBER(schema_file), MEMBER(schema_file_reading), MEMBER(schema_file_interval_ms), MEMBER(new_column_types), MEMBER(value_cleaning),
	MEMBER(dead_letter_table), MEMBER(dead_letter_folder), MEMBER(dead_letter_metadata), MEMBER(window_ms),
	MEMBER(dead_letter_retry_ms), MEMBER(dead_letter_retries), MEMBER(output_table_spec), MEMBER(thread_count),
	MEMBER(use_storage_write_api), MEMBER(at_least_once), MEMBER(write_stream_count), MEMBER(write_interval_s),
#undef MEMBER
};

static void every_member_is_reached_by_one_row(void **state)
{
	size_t reached = 0;

	(void)state;
	for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
		size_t rows = 0;

		for (size_t i = 0; i < job_option_count; i++)
			rows += job_option_table[i].at == members[m];
		if (rows != 1)
			fail_msg("member at offset %zu is reached by %zu rows", members[m], rows);
	}
	for (size_t i = 0; i < job_option_count; i++)
		reached += job_option_table[i].at != SIZE_MAX;
	assert_int_equal(reached, sizeof members / sizeof *members);
}

static void a_row_that_is_available_has_a_member(void **state)
{
	(void)state;
	for (size_t i = 0; i < job_option_count; i++)
		if (job_option_table[i].is_available && job_option_table[i].at == SIZE_MAX)
			fail_msg("%s is available but nobody can read it", job_option_table[i].name);
	assert_true(option_find("parkBytes")->is_available);
	assert_false(option_find("numWorkers")->is_available);
}

static void the_reference_page_has_a_line_for_every_row(void **state)
{
	OWNED(text) page = text_new(1 << 20);

	(void)state;
	assert_true(job_options_explain(page));
	for (size_t i = 0; i < job_option_count; i++) {
		char row[200];

		snprintf(row, sizeof row, "\n| `%s` |", job_option_table[i].name);
		if (!strstr(page->at, row))
			fail_msg("%s does not stand on the page", job_option_table[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_sorted_and_unique),
		cmocka_unit_test(every_help_is_a_sentence),
		cmocka_unit_test(every_row_keeps_its_value_through_text_and_json),
		cmocka_unit_test(a_default_that_is_written_out_changes_nothing),
		cmocka_unit_test(every_member_is_reached_by_one_row),
		cmocka_unit_test(a_row_that_is_available_has_a_member),
		cmocka_unit_test(the_reference_page_has_a_line_for_every_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
