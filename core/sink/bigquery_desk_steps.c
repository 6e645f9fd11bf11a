/*
 * The steps of a table: look it up, make it, give it columns. A step is one call;
 * its answer decides the next one. Two engines that add columns at once meet at the
 * etag: who comes second looks again and adds his to what he finds.
 */
#include "sink/bigquery_desk_private.h"

#include "base/clock.h"

#include <stdlib.h>

static const struct step_row {
	enum bigquery_call call;
	enum quota quota;
	const char *method, *words;
} step_rows[DESK_STEPS] = {
	[STEP_GET] = { CALL_TABLE_GET, QUOTA_TABLE_GET, "GET", "looking the table up" },
	[STEP_CREATE] = { CALL_TABLE_CREATE, QUOTA_TABLE_INSERT, "POST", "making the table" },
	[STEP_PATCH] = { CALL_TABLE_PATCH, QUOTA_TABLE_UPDATE, "PATCH", "adding columns" },
	[STEP_SETTLE] = { CALL_STREAM, QUOTA_STREAM_GET, "", "waiting until the write path knows the columns" },
};

static void step_path(struct text *url, const struct table_desk *desk, const struct desk_table *table)
{
	text_add(url, "/projects/");
	url_add_part(url, desk->project);
	text_add(url, "/datasets/");
	url_add_part(url, table->dataset);
	text_add(url, "/tables");
	if (table->step == STEP_CREATE)
		return;
	text_add(url, "/");
	url_add_part(url, table->name);
}

/* What is missing beside the table's fields as last read. */
static char *patch_body(struct desk_table *table)
{
	struct shape_difference difference;
	json_t *patch;
	char *body;

	shape_compare(table->fields, table->wanted, &difference);
	patch = table_patch_json(difference.merged ? difference.merged : table->fields);
	body = json_dumps(patch, JSON_COMPACT);
	json_decref(patch);
	json_decref(difference.merged);
	return body;
}

static char *step_body(const struct table_desk *desk, struct desk_table *table)
{
	json_t *json;
	char *body;

	if (table->step == STEP_GET)
		return NULL;
	if (table->step == STEP_PATCH)
		return patch_body(table);
	json = table_json(desk, table);
	body = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	return body;
}

static bool step_is_free(struct table_desk *desk, struct desk_table *table)
{
	enum quota quota = step_rows[table->step].quota;
	struct limiter *limiter = quota == QUOTA_TABLE_UPDATE ? &table->updates : &desk->limits[quota];
	int64_t until_ms;
	struct error error;

	if (limiter_take(limiter, quota, clock_mono_ms(), &until_ms))
		return true;
	fail(&error, ERROR_TRANSIENT, "own_limit", "table '%s.%s': %s waits: BigQuery takes no more than %s", table->dataset, table->name,
	     step_rows[table->step].words, quota_words(quota));
	table->due_ms = until_ms;
	if (table->view.state == TABLE_ASKING && until_ms - clock_mono_ms() > DESK_FIRST_WAIT_MS)
		table->view.error = error;
	table->view.next_ms = until_ms;
	return false;
}

static void step_send(struct table_desk *desk, struct desk_table *table)
{
	OWNED(text) url = text_new(8192);
	OWNED(text) what = text_new(2048);
	char *body = step_body(desk, table);
	struct rest_pair match = { "If-Match", table->etag };
	struct rest_request request = {
		.method = step_rows[table->step].method, .body = span_of(body), .try_count_max = 1, .try_ms = DESK_TRY_MS,
		.deadline_ms = DESK_TRY_MS, .headers = &match, .header_count = table->step == STEP_PATCH && *table->etag,
		.may_repeat = true,
	};
	struct error error = { .kind = ERROR_NONE };

	step_path(url, desk, table);
	text_add_format(what, "%s '%s.%s'", step_rows[table->step].words, table->dataset, table->name);
	request.url = url->at;
	request.what = what->at;
	/* A token may have to be fetched first; others may look and want meanwhile. */
	pthread_mutex_unlock(&desk->lock);
	table->call = google_rest_start(desk->google, desk->client, SERVICE_BIGQUERY, &request, &table->token, &error);
	pthread_mutex_lock(&desk->lock);
	free(body);
	if (table->call)
		return;
	desk_failed(desk, table, NULL, &error);
	table->view.is_everybodys = true;
}

void desk_begin(struct table_desk *desk, size_t number)
{
	struct desk_table *table = desk->tables[number];

	if (!step_is_free(desk, table))
		return;
	snprintf(table->view.what, sizeof(table->view.what), "%s", step_rows[table->step].words);
	if (table->step == STEP_SETTLE)
		settle_begin(desk, table);
	else
		step_send(desk, table);
}

static int64_t number_of(const json_t *json)
{
	return json_is_string(json) ? strtoll(json_string_value(json), NULL, 10) : json_integer_value(json);
}

static void text_keep(char *out, size_t room, const json_t *text)
{
	snprintf(out, room, "%s", json_is_string(text) ? json_string_value(text) : "");
}

/* Takes the fields; NULL: a table without any. */
static void fields_keep(struct desk_table *table, json_t *fields)
{
	if (!fields)
		fields = json_array();
	table->view.columns_version += !table->fields || !json_equal(table->fields, fields);
	json_decref(table->fields);
	table->fields = fields;
}

/* Another moment of making is another table. */
static void table_read(struct desk_table *table, const json_t *json)
{
	int64_t made_ms = number_of(json_object_get(json, "creationTime"));

	if (table->view.incarnation == 0 || (made_ms && table->made_ms && made_ms != table->made_ms))
		table->view.incarnation++;
	table->made_ms = made_ms;
	text_keep(table->etag, sizeof(table->etag), json_object_get(json, "etag"));
	text_keep(table->view.location, sizeof(table->view.location), json_object_get(json, "location"));
	fields_keep(table, json_deep_copy(json_object_get(json_object_get(json, "schema"), "fields")));
}

static bool is_table(const json_t *json, const struct desk_table *table, struct error *err)
{
	const char *type = json_string_value(json_object_get(json, "type"));

	if (!json_is_object(json))
		return fail(err, ERROR_TRANSIENT, "google_bad_answer", "table '%s.%s': the answer is no table", table->dataset, table->name);
	if (!type || strcmp(type, "TABLE") == 0)
		return true;
	return fail(err, ERROR_CONFIG, "not_a_table", "'%s.%s' is a %s: rows can be written into tables only", table->dataset, table->name,
	            type);
}

static void settle_from_now(struct table_desk *desk, struct desk_table *table)
{
	if (desk->asks_write_path)
		table->settles_ms = clock_mono_ms();
	backoff_reset(&table->settling);
}

static void table_came(struct table_desk *desk, struct desk_table *table, const json_t *json)
{
	struct error error = { .kind = ERROR_NONE };

	if (!is_table(json, table, &error)) {
		desk_failed(desk, table, NULL, &error);
		return;
	}
	table_read(table, json);
	if (table->step != STEP_GET) {
		table->view.changed_ms = clock_mono_ms();
		settle_from_now(desk, table);
	}
	if (table->is_doubted)
		settle_from_now(desk, table);
	table->is_doubted = false;
	desk_compare(desk, table);
}

void desk_answer(struct table_desk *desk, struct desk_table *table, const struct rest_answer *answer, bool is_fine, bool is_again,
                 const struct error *error)
{
	json_t *json;

	if (is_again) {
		desk_step(table, table->step, 0);
		return;
	}
	if (!is_fine) {
		desk_failed(desk, table, answer, error);
		return;
	}
	json = json_loadb(answer->body.at, answer->body.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	table_came(desk, table, json);
	json_decref(json);
}

static void conflict_say(const struct desk_table *table, const struct shape_difference *difference, struct error *err)
{
	fail(err, ERROR_CONFIG, "column_type_differs", "table '%s.%s': column %s is %s there, and %s is to be written%s", table->dataset,
	     table->name, difference->conflict, difference->conflict_has, difference->conflict_wants,
	     difference->conflicts > 1 ? " (and more columns)" : "");
}

/* The rows are fitted to what there is: who wants the table asks for its columns. */
static bool is_to_adapt(const struct table_shape *wanted, const struct shape_difference *difference)
{
	return wanted->adapts && (difference->conflicts || (difference->missing && wanted->adds_nothing));
}

static void rest(struct table_desk *desk, struct desk_table *table, enum table_state state)
{
	table->looks = 0;
	table->view.what[0] = '\0';
	desk_step(table, STEP_NONE, INT64_MAX);
	desk_state(desk, table, state, NULL, 0);
}

void desk_compare(struct table_desk *desk, struct desk_table *table)
{
	struct shape_difference difference;
	struct error error;

	shape_compare(table->fields, table->wanted, &difference);
	json_decref(difference.merged);
	if (is_to_adapt(table->wanted, &difference)) {
		rest(desk, table, TABLE_DIFFERS);
		return;
	}
	if (difference.conflicts) {
		conflict_say(table, &difference, &error);
		desk_failed(desk, table, NULL, &error);
		return;
	}
	table->trouble_ms = 0;
	backoff_reset(&table->backoff);
	if (difference.missing) {
		desk_step(table, STEP_PATCH, 0);
	} else if (table->settles_ms) {
		desk_step(table, STEP_SETTLE, 0);
	} else {
		rest(desk, table, TABLE_READY);
	}
}
