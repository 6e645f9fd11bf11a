/*
 * What stands between a correct job and its start: parts of the engine that do
 * not exist yet, and files that do not exist here.
 */
#include "base/arena.h"
#include "options/job_options_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Values the engine cannot use yet, of parameters that it can. */
static const struct unavailable_value {
	unsigned templates;
	const char *name, *value;
} unavailable_values[] = {
	{ TEMPLATE_CDC | TEMPLATE_PUBSUB_CDC, "messageFormat", "beam-row" },
	{ TEMPLATE_CDC, "messageFormat", "json" },
	{ TEMPLATE_PUBSUB_CDC, "messageFormat", "debezium-json" },
	{ TEMPLATE_BIGTABLE, "warehouse", "bigquery" },
};

static void list_add(struct text *list, const char *name, const char *value)
{
	text_add_format(list, "%s%s%s%s", list->len ? ", " : "", name, value ? "=" : "", value ? value : "");
}

static void add_value(struct text *list, const struct unavailable_value *row, const struct job_options *options)
{
	const struct option *option = option_find(row->name);
	const json_t *given = json_object_get(options->parameters, row->name);
	const char *value = given ? json_string_value(given) : option_default(option, options);

	if (row->templates & options->template && strcmp(value, row->value) == 0)
		list_add(list, row->name, row->value);
}

/* What of BigQuery cannot be done yet. */
static void add_bigquery(struct text *list, const struct job_options *options)
{
	static const char *const modes[] = { "merge", "changelog", "upsert" };

	if (options->warehouse != WAREHOUSE_BIGQUERY || options->template == TEMPLATE_BIGTABLE)
		return;
	if (options->replication_mode != REPLICATION_CHANGELOG && options->replication_mode != REPLICATION_APPEND)
		text_add_format(list, "%sreplicationMode=%s with warehouse=bigquery", list->len ? ", " : "",
		                modes[options->replication_mode]);
}

/* A parameter that asks for nothing but its default asks for nothing new. */
static bool is_default(const struct option *option, const struct job_options *options)
{
	json_t *fallback = option_default_value(option, options);
	bool is_same = fallback && json_equal(fallback, json_object_get(options->parameters, option->name));

	json_decref(fallback);
	return is_same;
}

/* Of the places where dead letters may also go, a topic and a table. */
static bool are_letters_available(const struct option *option, const struct job_options *options)
{
	const json_t *places = json_object_get(options->parameters, "deadLetters");
	size_t known = (json_object_get(places, "topic") != NULL) + (json_object_get(places, "table") != NULL);

	return strcmp(option->name, "deadLetters") == 0 && known && json_object_size(places) == known;
}

static bool is_available(const struct job_options *options, struct error *err)
{
	OWNED(text) list = text_new(300);

	if (options->template == TEMPLATE_BIGTABLE)
		list_add(list, "template", job_template_name(options->template));
	for (size_t i = 0; i < sizeof unavailable_values / sizeof *unavailable_values; i++)
		add_value(list, &unavailable_values[i], options);
	add_bigquery(list, options);
	for (size_t i = 0; i < job_option_count; i++) {
		const struct option *option = &job_option_table[i];

		if (!option->is_available && json_object_get(options->parameters, option->name) &&
		    !is_default(option, options) && !are_letters_available(option, options))
			list_add(list, option->name, NULL);
	}
	if (list->len == 0)
		return true;
	return fail(err, ERROR_CONFIG, "not_available_yet", "this weir cannot do %s yet%s", list->at,
	            list->is_full ? " (and more)" : "");
}

static bool is_on_storage(const char *path)
{
	return strncmp(path, "gs://", 5) == 0;
}

static bool file_is_ready(const char *name, const char *path, struct error *err)
{
	struct stat info;

	if (is_on_storage(path))
		return fail(err, ERROR_CONFIG, "not_available_yet", "this weir cannot read %s from Cloud Storage yet", name);
	if (stat(path, &info) != 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return fail(err, ERROR_CONFIG, "no_such_file", "%s: there is no file '%s'", name, path);
		return fail_errno(err, errno, "%s: cannot look at '%s'", name, path);
	}
	if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode))
		return fail(err, ERROR_CONFIG, "not_a_file", "%s: '%s' is %s, a file is allowed", name, path,
		            S_ISDIR(info.st_mode) ? "a folder" : "no file");
	if (access(path, R_OK) != 0)
		return fail_errno(err, errno, "%s: cannot read '%s'", name, path);
	return true;
}

bool job_options_startable(const struct job_options *options, struct error *err)
{
	if (!is_available(options, err))
		return false;
	if (options->input_file && strcmp(options->input_file, "-") != 0 &&
	    !file_is_ready("inputFile", options->input_file, err))
		return false;
	if (options->credentials && *options->credentials == '/' &&
	    !file_is_ready("credentials", options->credentials, err))
		return false;
	if (options->schema_file && options->auto_map_tables && !is_on_storage(options->schema_file) &&
	    !file_is_ready("schemaFilePath", options->schema_file, err))
		return false;
	return !options->source_schema || file_is_ready("sourceSchema", options->source_schema, err);
}

const char *job_options_subscriptions(const struct job_options *options)
{
	return options->input_subscriptions ? options->input_subscriptions : options->input_subscription;
}

const char *job_options_letter_topic(const struct job_options *options)
{
	return json_string_value(json_object_get(json_object_get(options->parameters, "deadLetters"), "topic"));
}

const char *job_options_letter_table(const struct job_options *options)
{
	const char *table = json_string_value(json_object_get(json_object_get(options->parameters, "deadLetters"), "table"));

	return table ? table : options->dead_letter_table;
}

bool job_options_letter_place(const struct job_options *options, struct dead_letter_place *out)
{
	const char *spec = job_options_letter_table(options), *table = spec ? strrchr(spec, '.') : NULL, *dataset = spec;

	if (!table)
		return false;
	for (const char *at = spec; at < table; at++) {
		if (*at == ':' || *at == '.')
			dataset = at + 1;
	}
	*out = (struct dead_letter_place){ .dataset = span_make(dataset, (size_t)(table - dataset)), .table = table + 1 };
	if (dataset > spec)
		out->project = span_make(spec, (size_t)(dataset - spec - 1));
	return true;
}

bool job_options_ask_google(const struct job_options *options)
{
	return job_options_subscriptions(options) || options->input_topics || options->warehouse == WAREHOUSE_BIGQUERY ||
	       job_options_letter_topic(options) || job_options_ask_storage(options);
}

bool job_options_ask_storage(const struct job_options *options)
{
	return (options->schema_file && options->auto_map_tables && is_on_storage(options->schema_file)) ||
	       (options->dead_letter_folder && is_on_storage(options->dead_letter_folder));
}
