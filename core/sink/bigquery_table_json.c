/* A table as it is made, in REST's JSON, and the patch that gives it columns; parts of URLs. */
#include "sink/bigquery_desk_private.h"

#include <inttypes.h>
#include <stdlib.h>

#define DAY_MS INT64_C(86400000)

static const char *const units[] = { "", "HOUR", "DAY", "MONTH", "YEAR" }; /* by enum partition */

static bool shape_has(const struct table_shape *shape, const char *name)
{
	for (size_t i = 0; i < shape->count; i++) {
		if (name_equal(shape->fields[i].name, span_of(name)))
			return true;
	}
	return false;
}

/* A table without the column is partitioned by when its rows were written: not all tables of a job have it. */
static void add_partition(const struct table_desk *desk, const struct desk_table *table, json_t *json)
{
	const struct job_options *options = desk->options;
	json_t *partition;

	if (options->partition == PARTITION_NONE && !table->is_daily)
		return;
	partition = json_pack("{s:s}", "type", units[options->partition == PARTITION_NONE ? PARTITION_DAY : options->partition]);
	if (options->partition_column && shape_has(table->wanted, options->partition_column))
		json_object_set_new(partition, "field", json_string(options->partition_column));
	if (options->expiration_days > 0)
		json_object_set_new(partition, "expirationMs", json_sprintf("%" PRId64, options->expiration_days * DAY_MS));
	json_object_set_new(json, "timePartitioning", partition);
}

/* Columns that this table does not have are left out; without any it is not clustered. */
static void add_clustering(const struct table_desk *desk, const struct desk_table *table, json_t *json)
{
	json_t *fields = json_array();
	char *list = memory_string(desk->options->clustering), *rest, *column;

	for (column = strtok_r(list, ", ", &rest); column; column = strtok_r(NULL, ", ", &rest)) {
		if (shape_has(table->wanted, column))
			json_array_append_new(fields, json_string(column));
	}
	free(list);
	if (json_array_size(fields))
		json_object_set_new(json, "clustering", json_pack("{s:O}", "fields", fields));
	json_decref(fields);
}

/* "10m" as BigQuery writes it: "0-0 0 0:10:0". */
static void add_staleness(const struct table_desk *desk, json_t *json)
{
	const char *at = desk->options->max_staleness;
	long hours = 0, minutes = 0, seconds = 0;
	char *end;

	if (!at)
		return;
	for (; *at; at = *end ? end + 1 : end) {
		long number = strtol(at, &end, 10);

		*(*end == 'h' ? &hours : *end == 'm' ? &minutes : &seconds) += number;
	}
	minutes += seconds / 60;
	json_object_set_new(json, "maxStaleness", json_sprintf("0-0 0 %ld:%ld:%ld", hours + minutes / 60, minutes % 60, seconds % 60));
}

static void add_key(const struct table_shape *shape, json_t *json)
{
	json_t *columns;

	if (!shape->key_count)
		return;
	columns = json_array();
	for (size_t i = 0; i < shape->key_count; i++)
		json_array_append_new(columns, json_stringn(shape->keys[i].at, shape->keys[i].len));
	json_object_set_new(json, "tableConstraints", json_pack("{s:{s:o}}", "primaryKey", "columns", columns));
}

json_t *table_json(const struct table_desk *desk, const struct desk_table *table)
{
	json_t *json = json_pack("{s:{s:s,s:s,s:s}}", "tableReference", "projectId", desk->project, "datasetId", table->dataset,
	                         "tableId", table->name);
	const struct job_options *options = desk->options;
	const char *description = options->description ? options->description : table->wanted->description;
	json_t *labels = json_object_get(options->parameters, "labels");

	json_object_set_new(json, "schema", json_pack("{s:o}", "fields", shape_json(table->wanted)));
	if (description)
		json_object_set_new(json, "description", json_string(description));
	add_partition(desk, table, json);
	if (options->clustering)
		add_clustering(desk, table, json);
	if (labels)
		json_object_set_new(json, "labels", json_deep_copy(labels));
	add_staleness(desk, json);
	add_key(table->wanted, json);
	return json;
}

json_t *table_patch_json(json_t *merged)
{
	return json_pack("{s:{s:O}}", "schema", "fields", merged);
}

static void url_add(struct text *url, const char *text, const char *plain)
{
	for (const char *at = text; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || strchr(plain, c))
			text_add_char(url, *at);
		else
			text_add_format(url, "%%%02X", c);
	}
}

void url_add_part(struct text *url, const char *part)
{
	url_add(url, part, "-_.~");
}

void url_add_path(struct text *url, const char *path)
{
	url_add(url, path, "-_.~:/");
}
