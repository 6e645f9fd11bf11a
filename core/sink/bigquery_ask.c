/* Questions about BigQuery's datasets and tables, one call at a time (bigquery.h). */
#include "sink/bigquery_ask_private.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>

#define ENTRY "{\"rows\":[{\"insertId\":\"weir-check\",\"json\":{\"entry\":\"weir check\"}}]}"
#define HOUR_MS INT64_C(3600000)
#define STREAM_PATH "/google.cloud.bigquery.storage.v1.BigQueryWrite/"
enum { CREATE_PARENT = 1, CREATE_STREAM = 2, STREAM_TYPE = 2, TYPE_COMMITTED = 1, GET_NAME = 1 };

/* Where a table is new, calls may say for a while that it is not there. */
#define NEWS_FIRST_MS 200
#define NEWS_MOST_MS 2000

static bool refuse(const struct question *question, const struct rest_answer *answer, const struct error *why, struct error *err)
{
	struct google_status status = { .code = GRPC_ANY };
	struct fate fate;

	if (!answer->status) {
		*err = *why;
		return false;
	}
	status_read_json(answer->body, &status);
	fate = bigquery_judge(question->call, answer->status, &status);
	fail(err, fate.kind, fate.error_code, "%s: %s%s%s", question->what, fate.sentence, *status.message ? ": " : "", status.message);
	return false;
}

bool question_ask(const struct bigquery_asker *asker, const struct question *question, int *out_status, json_t **out_json,
                  struct error *err)
{
	OWNED(text) url = text_new(8192);
	char *body = question->body ? json_dumps(question->body, JSON_COMPACT) : NULL;
	struct rest_request request = {
		.what = question->what, .method = question->method, .body = body ? span_of(body) : question->text, .may_repeat = true,
		.try_ms = asker->wait_ms, .deadline_ms = asker->wait_ms, .first_wait_ms = NEWS_FIRST_MS,
	};
	struct rest_answer answer = { .status = 0 };
	struct rest_call *call = NULL;
	struct error why = { .kind = ERROR_NONE };
	bool is_fine;

	text_add(url, "/projects/");
	url_add_part(url, asker->project);
	text_add(url, question->path);
	request.url = url->at;
	is_fine = google_rest(asker->google, asker->client, SERVICE_BIGQUERY, &request, &call, &answer, &why);
	if (out_status)
		*out_status = answer.status;
	if (is_fine && out_json)
		*out_json = json_loadb(answer.body.at, answer.body.len, JSON_ALLOW_NUL, NULL);
	else if (!is_fine)
		refuse(question, &answer, &why, err);
	rest_call_free(call);
	free(body);
	return is_fine;
}

static int64_t number_of(const json_t *object, const char *name)
{
	const json_t *number = json_object_get(object, name);

	return json_is_string(number) ? strtoll(json_string_value(number), NULL, 10) : json_integer_value(number);
}

static void text_keep(char *out, size_t room, const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	snprintf(out, room, "%s", text ? text : "");
}

bool bigquery_dataset_look(const struct bigquery_asker *asker, const char *dataset, struct bigquery_dataset *out, struct error *err)
{
	OWNED(text) path = text_new(4096);
	OWNED(text) what = text_new(2048);
	struct question question = { .call = CALL_TABLE_GET };
	json_t *json = NULL;
	int status;

	text_add(path, "/datasets/");
	url_add_part(path, dataset);
	text_add_format(what, "dataset '%s:%s'", asker->project, dataset);
	question.path = path->at;
	question.what = what->at;
	if (!question_ask(asker, &question, &status, &json, err)) {
		/* A 404 without the dataset's name in it is the dataset's all the same: it is what was asked for. */
		if (status == 404 && strcmp(err->code, "table_missing") == 0)
			fail(err, ERROR_CONFIG, "dataset_missing", "dataset '%s:%s' does not exist", asker->project, dataset);
		return false;
	}
	text_keep(out->location, sizeof(out->location), json, "location");
	out->table_expiration_ms = number_of(json, "defaultTableExpirationMs");
	out->partition_expiration_ms = number_of(json, "defaultPartitionExpirationMs");
	json_decref(json);
	return true;
}

bool bigquery_payer_look(const struct bigquery_asker *asker, struct error *err)
{
	struct question question = { .call = CALL_TABLE_GET, .what = "the project that pays", .path = "/datasets?maxResults=1" };
	struct error why = { .kind = ERROR_NONE };

	if (question_ask(asker, &question, NULL, NULL, &why) || (strcmp(why.code, "quota_project_denied") != 0 && why.kind != ERROR_UNREACHABLE))
		return true;
	*err = why;
	return false;
}

static void compare(const json_t *table, const struct table_schema *schema, bool is_append, struct bigquery_table_look *out)
{
	struct arena *arena = arena_new(4096);
	const struct table_shape *shape = is_append ? row_shape_of(arena, schema, NULL, false) : changelog_shape(arena, schema);
	struct shape_difference difference;

	out->is_there = true;
	text_keep(out->type, sizeof(out->type), table, "type");
	out->streamed_rows = number_of(json_object_get(table, "streamingBuffer"), "estimatedRows");
	shape_compare(json_object_get(json_object_get(table, "schema"), "fields"), shape, &difference);
	out->missing = difference.missing;
	out->conflicts = difference.conflicts;
	snprintf(out->first_missing, sizeof(out->first_missing), "%s", difference.first_missing);
	snprintf(out->conflict, sizeof(out->conflict), "%s", difference.conflict);
	snprintf(out->conflict_has, sizeof(out->conflict_has), "%s", difference.conflict_has);
	snprintf(out->conflict_wants, sizeof(out->conflict_wants), "%s", difference.conflict_wants);
	json_decref(difference.merged);
	arena_free(arena);
}

static void table_path(struct text *path, const char *dataset, const char *table, const char *behind)
{
	text_add(path, "/datasets/");
	url_add_part(path, dataset);
	text_add(path, "/tables/");
	url_add_part(path, table);
	text_add(path, behind);
}

bool question_ask_table(const struct bigquery_asker *asker, struct question question, const char *dataset, const char *table,
                      const char *behind, int *out_status, json_t **out_json, struct error *err)
{
	OWNED(text) path = text_new(8192);
	OWNED(text) what = text_new(4096);

	table_path(path, dataset, table, behind);
	text_add_format(what, "table '%s.%s'", dataset, table);
	question.path = path->at;
	question.what = what->at;
	return question_ask(asker, &question, out_status, out_json, err);
}

bool bigquery_table_compare(const struct bigquery_asker *asker, const char *dataset, struct span table,
                            const struct table_schema *schema, bool is_append, struct bigquery_table_look *out, struct error *err)
{
	char *name = memory_string_of(table);
	json_t *json = NULL;
	int status = 0;
	bool is_fine = question_ask_table(asker, (struct question){ .call = CALL_TABLE_GET }, dataset, name, "", &status, &json, err);

	memset(out, 0, sizeof(*out));
	if (is_fine)
		compare(json, schema, is_append, out);
	json_decref(json);
	free(name);
	return is_fine || (status == 404 && strcmp(err->code, "table_missing") == 0);
}

/*
 * A table of our own
 */

bool bigquery_try_make(const struct bigquery_asker *asker, const char *dataset, char out_name[BIGQUERY_TRY_NAME_BYTES],
                       struct error *err)
{
	OWNED(text) path = text_new(4096);
	OWNED(text) what = text_new(2048);
	struct question question = { .call = CALL_TABLE_CREATE, .method = "POST" };
	uint64_t random = 0;
	char name[BIGQUERY_TRY_NAME_BYTES];
	json_t *body;
	bool is_fine;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random))
		random = (uint64_t)clock_utc_us();
	snprintf(name, sizeof(name), "weir_check_%016" PRIx64, random);
	body = json_pack("{s:{s:s,s:s,s:s}, s:s, s:{s:[{s:s,s:s}]}}", "tableReference", "projectId", asker->project, "datasetId",
	                 dataset, "tableId", name, "description", "made by weir check; it may be removed", "schema", "fields",
	                 "name", "entry", "type", "STRING");
	json_object_set_new(body, "expirationTime", json_sprintf("%" PRId64, clock_utc_us() / 1000 + HOUR_MS));
	text_add(path, "/datasets/");
	url_add_part(path, dataset);
	text_add(path, "/tables");
	text_add_format(what, "a table in dataset '%s'", dataset);
	question.path = path->at;
	question.what = what->at;
	question.body = body;
	is_fine = question_ask(asker, &question, NULL, NULL, err);
	json_decref(body);
	if (is_fine)
		memcpy(out_name, name, sizeof(name));
	return is_fine;
}

bool bigquery_try_rights(const struct bigquery_asker *asker, const char *dataset, const char *table,
                         const char *const *permissions, size_t count, bool *out_has, struct error *err)
{
	json_t *list = json_array(), *body = json_pack("{s:o}", "permissions", list), *json = NULL, *granted;
	struct question question = { .call = CALL_TABLE_GET, .method = "POST", .body = body };
	bool is_fine;
	size_t at;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_string(permissions[i]));
	is_fine = question_ask_table(asker, question, dataset, table, ":testIamPermissions", NULL, &json, err);
	for (size_t i = 0; is_fine && i < count; i++) {
		out_has[i] = false;
		json_array_foreach(json_object_get(json, "permissions"), at, granted)
			out_has[i] = out_has[i] || strcmp(json_string_value(granted) ? json_string_value(granted) : "", permissions[i]) == 0;
	}
	json_decref(body);
	json_decref(json);
	return is_fine;
}

bool bigquery_try_column(const struct bigquery_asker *asker, const char *dataset, const char *table, struct error *err)
{
	json_t *body = json_pack("{s:{s:[{s:s,s:s},{s:s,s:s}]}}", "schema", "fields", "name", "entry", "type", "STRING", "name",
	                         "added", "type", "INT64");
	struct question question = { .call = CALL_TABLE_PATCH, .method = "PATCH", .body = body };
	bool is_fine = question_ask_table(asker, question, dataset, table, "", NULL, NULL, err);

	json_decref(body);
	return is_fine;
}

bool bigquery_try_remove(const struct bigquery_asker *asker, const char *dataset, const char *table, struct error *err)
{
	return question_ask_table(asker, (struct question){ .call = CALL_TABLE_GET, .method = "DELETE" }, dataset, table, "", NULL, NULL, err);
}

struct news news_begin(const struct bigquery_asker *asker)
{
	return (struct news){ clock_mono_ms() + asker->wait_ms, BACKOFF(NEWS_FIRST_MS, NEWS_MOST_MS, 2) };
}

bool news_wait(struct news *news, const struct error *err)
{
	if (strcmp(err->code, "table_missing") != 0 || clock_mono_ms() >= news->until_ms)
		return false;
	clock_sleep_ms(backoff_next(&news->backoff, 0));
	return true;
}

static bool entry_taken(const json_t *json, struct error *err)
{
	const json_t *errors = json_object_get(json_array_get(json_object_get(json, "insertErrors"), 0), "errors");
	const char *message = json_string_value(json_object_get(json_array_get(errors, 0), "message"));

	return !errors || fail(err, ERROR_CONFIG, "row_refused", "the entry was refused: %s", message ? message : "no reason given");
}

bool bigquery_try_insert(const struct bigquery_asker *asker, const char *dataset, const char *table, struct error *err)
{
	json_t *body = json_loads(ENTRY, 0, NULL), *json = NULL;
	struct question question = { .call = CALL_INSERT_ALL, .method = "POST", .body = body };
	struct news news = news_begin(asker);
	bool is_fine;

	do
		is_fine = question_ask_table(asker, question, dataset, table, "/insertAll", NULL, &json, err);
	while (!is_fine && news_wait(&news, err));
	is_fine = is_fine && entry_taken(json, err);
	json_decref(body);
	json_decref(json);
	return is_fine;
}

/*
 * Storage Write
 */

static bool ask_stream(const struct bigquery_asker *asker, const char *method, const char *key, const char *name, struct span message,
                       struct error *err)
{
	OWNED(text) path = text_new(256);
	OWNED(text) params = text_new(16384);
	struct google_status status = { .code = GRPC_ANY };
	struct grpc_message *answer = NULL;
	struct grpc_request request = { .deadline_ms = asker->wait_ms };
	struct fate fate;

	text_add_format(path, STREAM_PATH "%s", method);
	text_add_format(params, "%s=", key);
	url_add_part(params, name);
	request.path = path->at;
	if (google_unary(asker->google, SERVICE_BIGQUERY_STORAGE, &request, params->at, method, message, &answer, &status, err)) {
		grpc_message_free(answer);
		return true;
	}
	if (status.code == GRPC_ANY || err->kind == ERROR_UNREACHABLE)
		return false;
	fate = bigquery_judge(CALL_STREAM, 0, &status);
	return fail(err, fate.kind, fate.error_code, "%s: %s: %s", method, fate.sentence, status.message);
}

static bool try_once(const struct bigquery_asker *asker, const char *parent, bool is_exactly_once, struct error *err)
{
	OWNED(text) message = text_new(16384);
	OWNED(text) name = text_new(8192);
	size_t mark;

	if (!is_exactly_once) {
		text_add_format(name, "%s/streams/_default", parent);
		proto_put_text(message, GET_NAME, name->at);
		return ask_stream(asker, "GetWriteStream", "name", name->at, text_span(message), err);
	}
	proto_put_text(message, CREATE_PARENT, parent);
	mark = proto_begin(message, CREATE_STREAM);
	proto_put_uint(message, STREAM_TYPE, TYPE_COMMITTED);
	proto_end(message, mark);
	return ask_stream(asker, "CreateWriteStream", "parent", parent, text_span(message), err);
}

bool bigquery_try_stream(const struct bigquery_asker *asker, const char *dataset, const char *table, bool is_exactly_once,
                         struct error *err)
{
	OWNED(text) parent = text_new(8192);
	struct news news = news_begin(asker);
	bool is_fine;

	text_add_format(parent, "projects/%s/datasets/%s/tables/%s", asker->project, dataset, table);
	do
		is_fine = try_once(asker, parent->at, is_exactly_once, err);
	while (!is_fine && news_wait(&news, err));
	return is_fine;
}
