/* A table as it is made, in REST's JSON, and the patch that gives it columns. */
#include "sink/bigquery_desk_private.h"

json_t *table_json(const struct table_desk *desk, const struct desk_table *table)
{
	json_t *json = json_pack("{s:{s:s,s:s,s:s}}", "tableReference", "projectId", desk->project, "datasetId", table->dataset,
	                         "tableId", table->name);

	json_object_set_new(json, "schema", json_pack("{s:o}", "fields", shape_json(table->wanted)));
	if (table->wanted->description)
		json_object_set_new(json, "description", json_string(table->wanted->description));
	return json;
}

json_t *table_patch_json(json_t *merged)
{
	return json_pack("{s:{s:O}}", "schema", "fields", merged);
}
