/*
 * The one table of parameters, and the look-ups in it. Defaults are written as
 * a user would type them and pass the same checks.
 */
#include "options/job_options_private.h"

#include <stdlib.h>

#define ALL_TEMPLATES (TEMPLATE_PUBSUB_CDC | TEMPLATE_CDC | TEMPLATE_BIGTABLE)

/* Choices that are stored stand in the order of their enums in options.h. */
static const char *const warehouses[] = { "bigquery", "local", NULL };
static const char *const message_formats[] = { "auto", "debezium-json", "beam-row", "json", NULL };
static const char *const replication_modes[] = { "merge", "changelog", "upsert", "append", NULL };
static const char *const schema_change_words[] = { "add", "reject", "ignore", NULL };
static const char *const unrepresentable_words[] = { "null", "clamp", "text", "dead_letter", NULL };
static const char *const new_column_words[] = { "string", "inferred", NULL };
static const char *const schema_file_words[] = { "full", "original", NULL };
static const char *const cleaning_words[] = { "mended", "original", "exact", NULL };
static const char *const partition_units[] = { "HOUR", "DAY", "MONTH", "YEAR", NULL };
static const char *const table_partitions[] = { "NONE", "HOUR", "DAY", "MONTH", "YEAR", NULL };
static const char *const autoscaling_words[] = { "NONE", "THROUGHPUT_BASED", "AUTOSCALING_ALGORITHM_NONE",
	                                         "AUTOSCALING_ALGORITHM_BASIC", NULL };
static const char *const flexrs_words[] = { "FLEXRS_COST_OPTIMIZED", "FLEXRS_SPEED_OPTIMIZED", NULL };
static const char *const ip_words[] = { "WORKER_IP_PUBLIC", "WORKER_IP_PRIVATE", NULL };
static const char *const streaming_words[] = { "STREAMING_MODE_EXACTLY_ONCE", "STREAMING_MODE_AT_LEAST_ONCE", NULL };

const struct option job_option_table[] = {
#include "options/job_options_a_e.def"
#include "options/job_options_f_z.def"
};

const size_t job_option_count = sizeof job_option_table / sizeof *job_option_table;

const struct template_row job_templates[JOB_TEMPLATES] = {
	{ TEMPLATE_PUBSUB_CDC, "PubSub_CDC_to_BigQuery",
	  "JSON messages appended to tables named by templates, with user functions." },
	{ TEMPLATE_CDC, "Cdc_To_BigQuery_Template", "Debezium changes into changelog tables and replica tables." },
	{ TEMPLATE_BIGTABLE, "Bigtable_Change_Streams_to_BigQuery", "Bigtable change streams into one changelog table." },
};

const char *job_template_name(enum job_template template)
{
	for (size_t i = 0; i < JOB_TEMPLATES; i++) {
		if (job_templates[i].template == template)
			return job_templates[i].name;
	}
	return NULL;
}

const char *option_type_name(const struct option *option)
{
	return option->type->name;
}

static int option_order(const void *name, const void *row)
{
	return strcmp(name, ((const struct option *)row)->name);
}

const struct option *option_find(const char *name)
{
	return bsearch(name, job_option_table, job_option_count, sizeof *job_option_table, option_order);
}

json_t *option_accept(const struct option *option, const json_t *value, const char *base,
                      struct complaint *complaint)
{
	if (json_is_null(value))
		return complain(complaint, "bad_parameter", "null is given, %s is allowed; leave the parameter out for "
		                "its default", option->type->form);
	return option->type->accept(option, value, base, complaint);
}

bool option_print(const struct option *option, const json_t *canonical, struct text *out)
{
	return option->type->print(option, canonical, out);
}

/* Defaults that depend on the rest of the job. */
static bool is_local(const struct job_options *options) { return options->warehouse == WAREHOUSE_LOCAL; }
static bool has_feed(const struct job_options *options) { return options->input_file != NULL; }
static bool is_json(const struct job_options *options) { return options->template == TEMPLATE_PUBSUB_CDC; }
static bool has_no_replica(const struct job_options *options) { return options->template != TEMPLATE_CDC; }

static const struct other_default {
	const char *name;
	bool (*applies)(const struct job_options *options);
	const char *fallback;
} other_defaults[] = {
	{ "replicationMode", is_json, "append" },
	{ "replicationMode", has_no_replica, "changelog" },
	{ "tombstoneDays", has_feed, "for ever" },
	{ "updateFrequencySecs", is_local, "1" },
};

const char *option_default(const struct option *option, const struct job_options *options)
{
	for (size_t i = 0; options && i < sizeof other_defaults / sizeof *other_defaults; i++) {
		if (strcmp(other_defaults[i].name, option->name) == 0 && other_defaults[i].applies(options))
			return other_defaults[i].fallback;
	}
	return option->fallback;
}

bool job_has_one_dataset(const struct job_options *options)
{
	const char *name = options->output_dataset_template;

	return options->template != TEMPLATE_PUBSUB_CDC || (name && is_dataset(span_of(name)));
}

json_t *option_default_value(const struct option *option, const struct job_options *options)
{
	const char *fallback = option_default(option, options);
	struct complaint complaint = { .why = text_new(WHY_MAX) };
	json_t *typed = fallback ? json_string(fallback) : NULL;
	json_t *value = typed ? option_accept(option, typed, "/", &complaint) : NULL;

	json_decref(typed);
	text_free(complaint.why);
	free(complaint.inside);
	return value;
}
