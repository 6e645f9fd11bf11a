/* Checks of BigQuery: rights one by one, and the way rows would go, tried with a table of the check's own. */
#include "engine/check_bigquery_private.h"

#include <stdio.h>

static const struct right {
	const char *permission, *for_what;
	bool is_optional;
} rights[] = {
	{ "bigquery.tables.get", "look tables up", false },
	{ "bigquery.tables.update", "give tables columns", false },
	{ "bigquery.tables.updateData", "write rows", false },
	{ "bigquery.tables.getData", "read rows back, for comparisons", true },
};
#define RIGHTS (sizeof(rights) / sizeof(rights[0]))

static void say_rights(struct check *check, const struct bigquery_asker *asker, const char *dataset, const bool *has)
{
	char fix[CHECK_FIX_BYTES];
	struct error why = { 0 };

	for (size_t i = 0; i < RIGHTS; i++) {
		struct finding about = { .parameter = check_dataset_parameter(check->options), .tried = "tables.testIamPermissions", .fix = has[i] ? NULL : fix };

		check_bigquery_fix(check, asker, dataset, "bigquery_denied", fix);
		if (has[i]) {
			check_ok(check, &about, "%s: the account may %s", rights[i].permission, rights[i].for_what);
			continue;
		}
		fail(&why, ERROR_ACCESS, "bigquery_denied", "%s is missing in dataset '%s': the account may not %s", rights[i].permission,
		     dataset, rights[i].for_what);
		if (rights[i].is_optional)
			check_unknown(check, &about, &why);
		else
			check_fails(check, &about, &why);
	}
}

static void ask_rights(struct check *check, const struct bigquery_asker *asker, const char *dataset, const char *table)
{
	const char *names[RIGHTS];
	bool has[RIGHTS];
	struct finding about = { .parameter = check_dataset_parameter(check->options), .tried = "tables.testIamPermissions" };
	struct error why = { 0 };

	for (size_t i = 0; i < RIGHTS; i++)
		names[i] = rights[i].permission;
	if (bigquery_try_rights(asker, dataset, table, names, RIGHTS, has, &why))
		say_rights(check, asker, dataset, has);
	else
		check_unknown(check, &about, &why);
}

/* One step that rows need, done: what was tried, and in words what works. */
static void say_step(struct check *check, const struct bigquery_asker *asker, const char *dataset, const char *tried, bool is_fine,
                     const char *works, const struct error *why)
{
	char fix[CHECK_FIX_BYTES] = "";
	struct finding about = { .parameter = check_dataset_parameter(check->options), .tried = tried, .fix = fix };

	if (is_fine) {
		check_ok(check, &about, "%s", works);
		return;
	}
	check_bigquery_fix(check, asker, dataset, why->code, fix);
	check_fails(check, &about, why);
}

static void try_rows(struct check *check, const struct bigquery_asker *asker, const char *dataset, const char *table)
{
	struct error why = { 0 };
	bool is_fine = bigquery_try_column(asker, dataset, table, &why);

	say_step(check, asker, dataset, "tables.patch", is_fine, "columns can be added", &why);
	if (!json_is_true(json_object_get(check->options->parameters, "useStorageWriteApi"))) {
		is_fine = bigquery_try_insert(asker, dataset, table, &why);
		say_step(check, asker, dataset, "tabledata.insertAll", is_fine, "rows can be written by insertAll: an entry was taken", &why);
		return;
	}
	is_fine = bigquery_try_stream(asker, dataset, table, false, &why);
	say_step(check, asker, dataset, "GetWriteStream", is_fine, "the Storage Write API is reached, and knows the dataset", &why);
	if (is_fine && !json_is_true(json_object_get(check->options->parameters, "useStorageWriteApiAtLeastOnce"))) {
		is_fine = bigquery_try_stream(asker, dataset, table, true, &why);
		say_step(check, asker, dataset, "CreateWriteStream", is_fine, "streams with offsets can be made, for exactly once", &why);
	}
}

static void try_table(struct check *check, const struct bigquery_asker *asker, const char *dataset)
{
	char name[BIGQUERY_TRY_NAME_BYTES], works[600], fix[CHECK_FIX_BYTES];
	struct finding about = { .parameter = check_dataset_parameter(check->options), .tried = "tables.delete", .fix = fix };
	struct error why = { 0 };
	bool is_fine = bigquery_try_make(asker, dataset, name, &why);

	if (is_fine)
		snprintf(works, sizeof(works), "tables can be made in '%s': %s was, for the checks below", dataset, name);
	say_step(check, asker, dataset, "tables.insert", is_fine, works, &why);
	if (!is_fine)
		return;
	ask_rights(check, asker, dataset, name);
	try_rows(check, asker, dataset, name);
	if (bigquery_try_remove(asker, dataset, name, &why))
		return;
	snprintf(fix, sizeof(fix), "bq rm -f -t %s:%s.%s", asker->project, dataset, name);
	check_warning(check, &about, why.code, "table '%s.%s' of this check could not be removed (%s); it expires in an hour", dataset, name,
	              why.message);
}

/* What is missing has been said. */
static bool is_missing(const struct bigquery_asker *asker, const char *dataset)
{
	struct bigquery_dataset facts;
	struct error why = { 0 };

	return !bigquery_dataset_look(asker, dataset, &facts, &why) && strcmp(why.code, "dataset_missing") == 0;
}

/* A job that makes no tables needs no right to, and is not tried with one. */
void check_bigquery_rows(struct check *check)
{
	bool makes_none = check_is_append(check->options) && !check->options->auto_map_tables;
	struct bigquery_asker asker;
	struct check_datasets datasets;
	struct error why = { 0 };

	if (!check->has_dataset || makes_none || !check_asker_open(check, &asker, &why))
		return;
	check_datasets_find(check, &datasets);
	for (size_t i = 0; i < datasets.count && check_wait_ms(check) > 0; i++) {
		if (!is_missing(&asker, datasets.names[i]))
			try_table(check, &asker, datasets.names[i]);
	}
	arena_free(datasets.arena);
	rest_close(asker.client);
}
