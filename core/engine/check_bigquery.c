/*
 * Checks of BigQuery: where it is, the dataset, the job's tables beside what would be
 * written into them.
 */
#include "engine/check_bigquery_private.h"
#include "engine/result_private.h"

#include <stdio.h>
#include <stdlib.h>

#define DAY_MS INT64_C(86400000)

static const char *dataset_of(const struct job_options *options)
{
	return options->change_log_dataset ? options->change_log_dataset : options->replica_dataset;
}

bool check_is_append(const struct job_options *options)
{
	return options->replication_mode == REPLICATION_APPEND;
}

const char *check_dataset_parameter(const struct job_options *options)
{
	return options->template == TEMPLATE_PUBSUB_CDC ? "outputDatasetTemplate" : "changeLogDataset";
}

bool check_writes_bigquery(const struct job_options *options)
{
	return options->warehouse == WAREHOUSE_BIGQUERY && options->template != TEMPLATE_BIGTABLE && dataset_of(options);
}

/*
 * The job's datasets: the one that it names, else those that messages have chosen so far
 */

static void dataset_add(struct check_datasets *datasets, struct span name)
{
	for (size_t i = 0; i < datasets->count; i++) {
		if (span_is(name, datasets->names[i]))
			return;
	}
	if (datasets->count < DATASETS_MOST)
		datasets->names[datasets->count++] = arena_string(datasets->arena, name);
}

void check_datasets_find(struct check *check, struct check_datasets *out)
{
	struct job_files files;
	struct error ignored = { 0 };

	*out = (struct check_datasets){ .arena = arena_new(1024) };
	if (job_has_one_dataset(check->options)) {
		dataset_add(out, span_of(dataset_of(check->options)));
		return;
	}
	if (!files_open_as_they_are(&files, check->call->engine->home, check->options, &ignored))
		return;
	for (size_t i = 0; i < files.state.table_count; i++)
		dataset_add(out, files.state.tables[i]->dataset);
	files_close(&files);
}

void check_bigquery_place(struct check *check)
{
	const struct finding about = { .parameter = "warehouse", .tried = "the endpoint of BigQuery" };

	check->has_bigquery = check_endpoint(check, SERVICE_BIGQUERY, &about, "BigQuery");
}

bool check_asker_open(struct check *check, struct bigquery_asker *out, struct error *err)
{
	struct rest_setup setup = { .ca_file = check->call->engine->settings.ca_file };

	*out = (struct bigquery_asker){ .google = check->google, .wait_ms = check_wait_ms(check) };
	out->project = google_project(check->google);
	if (!out->project)
		return fail(err, ERROR_CONFIG, "missing_parameter", "the job names no project, and the credentials have none");
	out->client = rest_open(&setup, err);
	return out->client != NULL;
}

/*
 * The dataset
 */

void check_bigquery_fix(struct check *check, const struct bigquery_asker *asker, const char *dataset, const char *code,
                    char fix[CHECK_FIX_BYTES])
{
	char member[MEMBER_BYTES];
	struct bigquery_names names = { .project = asker->project, .dataset = dataset, .location = check->options->location,
	                                .member = member };
	OWNED(text) command = text_new(CHECK_FIX_BYTES - 1);

	check_member(check, member);
	*fix = '\0';
	if (bigquery_fix(code, &names, command))
		memcpy(fix, command->at, command->len + 1);
}

static void say_expiration(struct check *check, struct finding about, const struct bigquery_asker *asker, const char *dataset,
                           const struct bigquery_dataset *facts)
{
	char fix[CHECK_FIX_BYTES];

	about.fix = fix;
	if (facts->table_expiration_ms) {
		snprintf(fix, sizeof(fix), "bq update --default_table_expiration 0 %s:%s", asker->project, dataset);
		check_warning(check, &about, "dataset_expires", "tables made in '%s' are deleted after %.1f days, with all their rows", dataset,
		              (double)facts->table_expiration_ms / (double)DAY_MS);
	}
	if (facts->partition_expiration_ms && check->options->partition != PARTITION_NONE && check->options->expiration_days < 0) {
		snprintf(fix, sizeof(fix), "bq update --default_partition_expiration 0 %s:%s", asker->project, dataset);
		check_warning(check, &about, "dataset_expires", "partitions made in '%s' are deleted after %.1f days", dataset,
		              (double)facts->partition_expiration_ms / (double)DAY_MS);
	}
}

static void say_dataset(struct check *check, const struct finding *about, const struct bigquery_asker *asker, const char *dataset,
                        const struct bigquery_dataset *facts)
{
	const char *wanted = check->options->location;
	struct error why = { 0 };

	if (wanted && *facts->location && strcasecmp(wanted, facts->location) != 0) {
		fail(&why, ERROR_CONFIG, "location_differs", "dataset '%s:%s' is in %s, and location says %s; a dataset never moves",
		     asker->project, dataset, facts->location, wanted);
		check_fails(check, about, &why);
	} else {
		check_ok(check, about, "dataset '%s:%s' is there, in %s", asker->project, dataset, *facts->location ? facts->location : "?");
	}
	say_expiration(check, *about, asker, dataset, facts);
}

static void ask_dataset(struct check *check, const struct bigquery_asker *asker, const char *dataset)
{
	char tried[600], fix[CHECK_FIX_BYTES] = "";
	struct finding about = { .parameter = check_dataset_parameter(check->options), .tried = tried, .fix = fix };
	struct bigquery_dataset facts;
	struct error why = { 0 };

	snprintf(tried, sizeof(tried), "datasets.get %s:%s", asker->project, dataset);
	if (bigquery_dataset_look(asker, dataset, &facts, &why)) {
		check->has_dataset = true;
		say_dataset(check, &about, asker, dataset, &facts);
	} else if (strcmp(why.code, "bigquery_denied") == 0) {
		/* Writing needs no right to look at the dataset. */
		check_bigquery_fix(check, asker, dataset, "bigquery_denied", fix);
		check_unknown(check, &about, &why);
		check->has_dataset = true;
	} else {
		check_bigquery_fix(check, asker, dataset, why.code, fix);
		check_fails(check, &about, &why);
	}
}

static void ask_datasets(struct check *check, const struct bigquery_asker *asker)
{
	struct finding about = { .parameter = check_dataset_parameter(check->options) };
	struct check_datasets datasets;

	check_datasets_find(check, &datasets);
	for (size_t i = 0; i < datasets.count; i++)
		ask_dataset(check, asker, datasets.names[i]);
	if (!datasets.count)
		check_ok(check, &about, "messages choose the dataset, and none has come yet: a dataset that is not there then parks its "
		         "rows until somebody makes it");
	arena_free(datasets.arena);
}

void check_bigquery_dataset(struct check *check)
{
	struct finding about = { .parameter = "project" };
	struct bigquery_asker asker;
	struct error why = { 0 };

	if (!check->google || !check->has_bigquery)
		return;
	if (!check_asker_open(check, &asker, &why)) {
		check_fails(check, &about, &why);
		return;
	}
	ask_datasets(check, &asker);
	rest_close(asker.client);
}

/*
 * Tables
 */

/* An append table that somebody else has made is used as it is. */
static void say_others_table(struct check *check, const struct finding *about, const char *dataset, const char *table,
                             const struct bigquery_table_look *look)
{
	if (look->conflicts)
		check_ok(check, about, "table '%s.%s' is there; column %s is %s%s: values are converted, and what it does not take is a dead letter",
		         dataset, table, look->conflict, look->conflict_has, look->conflicts > 1 ? " (and more differ)" : "");
	else
		check_warning(check, about, "unknown_column", "table '%s.%s' has no column %s%s, and autoMapTables=false adds none: rows with a "
		              "value for it are dead letters", dataset, table, look->first_missing, look->missing > 1 ? " (and more)" : "");
}

static void say_table(struct check *check, const struct finding *about, const char *dataset, const char *table,
                      const struct bigquery_table_look *look)
{
	bool adds_nothing = check_is_append(check->options) && !check->options->auto_map_tables;
	struct error why = { 0 };

	if (!look->is_there && adds_nothing) {
		fail(&why, ERROR_CONFIG, "table_missing", "table '%s.%s' does not exist, and autoMapTables=false makes none", dataset, table);
		check_fails(check, about, &why);
	} else if (!look->is_there) {
		check_ok(check, about, "table '%s.%s' is not there yet; the job makes it", dataset, table);
	} else if (strcmp(look->type, "TABLE") != 0 && *look->type) {
		fail(&why, ERROR_CONFIG, "not_a_table", "'%s.%s' is a %s, which takes no rows", dataset, table, look->type);
		check_fails(check, about, &why);
	} else if (check_is_append(check->options) && (look->conflicts || (look->missing && adds_nothing))) {
		say_others_table(check, about, dataset, table, look);
	} else if (look->conflicts) {
		fail(&why, ERROR_CONFIG, "column_type_differs", "table '%s.%s': column %s is %s there, and %s would be written%s", dataset, table,
		     look->conflict, look->conflict_has, look->conflict_wants, look->conflicts > 1 ? " (and more columns)" : "");
		check_fails(check, about, &why);
	} else if (look->missing) {
		check_ok(check, about, "table '%s.%s' is there; the job adds %zu column%s (%s%s)", dataset, table, look->missing,
		         look->missing > 1 ? "s" : "", look->first_missing, look->missing > 1 ? ", .." : "");
	} else {
		check_ok(check, about, "table '%s.%s' has all columns", dataset, table);
	}
}

static void ask_table(struct check *check, const struct bigquery_asker *asker, const struct table_schema *schema)
{
	char *own = schema->dataset.len ? memory_string_of(schema->dataset) : NULL;
	const char *dataset = own ? own : dataset_of(check->options);
	char name[1100], tried[2000], fix[CHECK_FIX_BYTES] = "";
	struct finding about = { .parameter = check_dataset_parameter(check->options), .tried = tried, .fix = fix };
	struct bigquery_table_look look;
	struct error why = { 0 };

	snprintf(name, sizeof(name), "%.*s%s", SPAN_ARG(schema->name), check_is_append(check->options) ? "" : "_changelog");
	snprintf(tried, sizeof(tried), "tables.get %s:%s.%s", asker->project, dataset, name);
	if (bigquery_table_compare(asker, dataset, span_of(name), schema, check_is_append(check->options), &look, &why)) {
		say_table(check, &about, dataset, name, &look);
	} else if (strcmp(why.code, "dataset_missing") != 0) { /* that was said of the dataset */
		check_bigquery_fix(check, asker, dataset, why.code, fix);
		check_fails(check, &about, &why);
	}
	free(own);
}

/* Those that the job knows: a job that never ran has none. */
void check_bigquery_tables(struct check *check)
{
	struct bigquery_asker asker;
	struct job_files files;
	struct error why = { 0 };

	if (!check->has_dataset || !check_asker_open(check, &asker, &why))
		return;
	if (files_open_as_they_are(&files, check->call->engine->home, check->options, &why)) {
		for (size_t i = 0; i < files.state.table_count && check_wait_ms(check) > 0; i++)
			ask_table(check, &asker, files.state.tables[i]);
		files_close(&files);
	}
	rest_close(asker.client);
}
