/*
 * The dead-letter table in BigQuery: looked up, made where it is missing, and given
 * letters by insertAll, each with an id made of its store and number, so that one
 * that is sent again stands there once as a rule. Every call is made by the thread of
 * the letters, and never waits longer than the asker says.
 */
#include "sink/bigquery_ask_private.h"
#include "sink/letters_private.h"

#include "base/clean.h"
#include "base/hash.h"

#include <stdlib.h>

#define ROW_BYTES_MAX ((size_t)9 << 20)  /* insertAll takes 10 MB */
#define BODY_BYTES_MAX ((size_t)9 << 20)
#define ROWS_MAX 500
#define PAYLOAD_SHORT_BYTES ((size_t)256 << 10) /* of a text that does not fit beside its bytes */
#define TRIES 4                          /* of rows that failed for what passes */

/*
 * The table
 */

static json_t *columns_json(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < LETTER_COLUMNS; i++) {
		const struct letter_column *column = &letter_columns[i];
		bool is_required = i < LETTER_ORIGINALS && strstr(column->declaration, "NOT NULL");
		struct table_field field = { .name = span_of(column->name), .kind = column->type.kind, .is_array = column->type.is_array };
		struct table_field inner[2];
		struct table_shape shape = { .fields = &field, .count = 1 };
		json_t *one;

		for (size_t f = 0; f < column->type.field_count && f < 2; f++)
			inner[f] = (struct table_field){ .name = column->type.fields[f].name, .kind = column->type.fields[f].type.kind };
		field.fields = inner;
		field.field_count = column->type.field_count;
		one = shape_json(&shape);
		if (is_required)
			json_object_set_new(json_array_get(one, 0), "mode", json_string("REQUIRED"));
		json_array_extend(list, one);
		json_decref(one);
	}
	return list;
}

static bool table_make(const struct bigquery_asker *asker, const char *dataset, const char *table, struct error *err)
{
	OWNED(text) path = text_new(4096);
	OWNED(text) what = text_new(4096);
	json_t *body = json_pack("{s:{s:s,s:s,s:s}, s:s, s:{s:o}}", "tableReference", "projectId", asker->project, "datasetId", dataset,
	                         "tableId", table, "description", "Dead letters of weir", "schema", "fields", columns_json());
	struct question question = { .call = CALL_TABLE_CREATE, .method = "POST", .body = body };
	int status = 0;
	bool is_fine;

	text_add(path, "/datasets/");
	url_add_part(path, dataset);
	text_add(path, "/tables");
	text_add_format(what, "dead-letter table '%s.%s'", dataset, table);
	question.path = path->at;
	question.what = what->at;
	/* Somebody else may have made it meanwhile. */
	is_fine = question_ask(asker, &question, &status, NULL, err) || status == 409;
	json_decref(body);
	return is_fine;
}

/* The original's columns must be there as they are; ours is written where it is. */
static bool table_fits(const char *dataset, const char *table, const json_t *json, struct error *err)
{
	json_t *all = columns_json(), *present = json_object_get(json_object_get(json, "schema"), "fields"), *wanted, *have;
	bool is_fine = true;
	size_t i, j;

	json_array_foreach(all, i, wanted) {
		const char *name = json_string_value(json_object_get(wanted, "name"));
		bool is_there = i >= LETTER_ORIGINALS;

		json_array_foreach(present, j, have) {
			const char *other = json_string_value(json_object_get(have, "name"));

			is_there = is_there || (other && name_equal(span_of(other), span_of(name)));
		}
		if (!is_there && is_fine)
			is_fine = fail(err, ERROR_CONFIG, "letters_table_differs", "table '%s.%s' has no column %s, and dead letters have one", dataset,
			               table, name);
	}
	json_decref(all);
	return is_fine;
}

bool bigquery_letters_look(const struct bigquery_asker *asker, const char *dataset, const char *table, bool *out_there,
                           struct error *err)
{
	json_t *json = NULL;
	int status = 0;
	bool is_fine = question_ask_table(asker, (struct question){ .call = CALL_TABLE_GET }, dataset, table, "", &status, &json, err);

	*out_there = is_fine;
	if (is_fine)
		is_fine = table_fits(dataset, table, json, err);
	else
		is_fine = status == 404 && strcmp(err->code, "table_missing") == 0;
	json_decref(json);
	return is_fine;
}

bool bigquery_letters_open(const struct bigquery_asker *asker, const char *dataset, const char *table, struct error *err)
{
	bool is_there;

	return bigquery_letters_look(asker, dataset, table, &is_there, err) && (is_there || table_make(asker, dataset, table, err));
}

/*
 * Rows
 */

static void member_add(struct text *out, const char *name, struct span value)
{
	text_add_format(out, ",\"%s\":", name);
	json_quote(out, value);
}

static void bytes_add(struct text *out, struct span body)
{
	char *coded = memory_alloc(base64_room(body.len) + 1);

	text_add(out, ",\"payloadBytes\":\"");
	text_add_span(out, span_make(coded, base64_encode(body, coded)));
	text_add_char(out, '"');
	free(coded);
}

/* `payload_most`: of the text, for the bytes beside it are whole. */
static bool row_write(const struct letter_row *row, const char *name, size_t payload_most, struct text *out)
{
	const struct message *message = row->message;
	struct span body = message->body;
	OWNED(text) when = text_new(64);
	OWNED(text) payload = text_new(ROW_BYTES_MAX);
	OWNED(text) error = text_new(64u << 10);
	OWNED(text) trace = text_new(8192);

	if (body.len > payload_most)
		body.len = payload_most;
	letter_time_text(row->published_us, when);
	letter_payload_text(body, payload);
	letter_error_text(row, error, trace);
	text_add_format(out, "{\"insertId\":\"%s\",\"json\":{\"timestamp\":\"%s\"", name, when->at);
	member_add(out, "payloadString", text_span(payload));
	bytes_add(out, message->body);
	text_add(out, ",\"attributes\":");
	if (message->attr_count)
		message_attributes_text(message, out);
	else
		text_add(out, "[]");
	member_add(out, "errorMessage", text_span(error));
	if (trace->len)
		member_add(out, "stacktrace", text_span(trace));
	member_add(out, "_weir_letter", span_of(name));
	text_add(out, "}}");
	return !out->is_full && !payload->is_full;
}

static bool row_add(struct text *body, const struct letter_row *row, const char *incarnation)
{
	OWNED(text) out = text_new(ROW_BYTES_MAX);
	char name[80];

	snprintf(name, sizeof(name), "%.60s/%lld", incarnation, (long long)row->id);
	if (!row_write(row, name, SIZE_MAX, out)) {
		text_clear(out);
		if (!row_write(row, name, PAYLOAD_SHORT_BYTES, out))
			return false;
	}
	if (body->len + out->len + 16 > BODY_BYTES_MAX)
		return false;
	text_add(body, body->at[body->len - 1] == '[' ? "" : ",");
	return text_add_span(body, text_span(out));
}

/* As many as fit, from `from`; 0: the first is larger than any request. *out_indices[i]: whose row the request's i-th is. */
static size_t body_make(struct text *body, const struct letter_row *rows, const bool *is_done, size_t count, const char *incarnation,
                        size_t *out_indices)
{
	size_t taken = 0;

	text_add(body, "{\"skipInvalidRows\":true,\"ignoreUnknownValues\":true,\"rows\":[");
	for (size_t i = 0; i < count && taken < ROWS_MAX; i++) {
		if (is_done[i])
			continue;
		if (!row_add(body, &rows[i], incarnation))
			break;
		out_indices[taken++] = i;
	}
	text_add(body, "]}");
	return taken;
}

/* What of the request was refused: for ever, or only this time. */
static void verdicts_take(const json_t *answer, const size_t *indices, size_t taken, bool *is_done, bool *is_again,
                          void (*on_unfit)(void *, const struct letter_row *, const char *), void *context,
                          const struct letter_row *rows)
{
	json_t *one;
	size_t at;

	for (size_t i = 0; i < taken; i++)
		is_done[indices[i]] = true;
	json_array_foreach(json_object_get(answer, "insertErrors"), at, one) {
		const json_t *error = json_array_get(json_object_get(one, "errors"), 0);
		const char *reason = json_string_value(json_object_get(error, "reason"));
		const char *message = json_string_value(json_object_get(error, "message"));
		size_t index = (size_t)json_integer_value(json_object_get(one, "index"));

		if (index >= taken)
			continue;
		if (bigquery_judge_row(reason ? reason : "", message ? message : "").fate == FATE_LETTER)
			on_unfit(context, &rows[indices[index]], message ? message : "BigQuery did not take the row");
		else
			is_done[indices[index]] = !(*is_again = true);
	}
}

static bool rows_put(const struct bigquery_asker *asker, const char *dataset, const char *table, const struct text *body,
                     json_t **out_answer, struct error *err)
{
	struct question question = { .call = CALL_INSERT_ALL, .method = "POST", .text = text_span(body) };
	struct news news = news_begin(asker);
	bool is_fine;

	do
		is_fine = question_ask_table(asker, question, dataset, table, "/insertAll", NULL, out_answer, err);
	while (!is_fine && news_wait(&news, err));
	return is_fine;
}

static size_t done_first(const bool *is_done, size_t count)
{
	size_t done = 0;

	while (done < count && is_done[done])
		done++;
	return done;
}

bool bigquery_letters_put(const struct bigquery_asker *asker, const char *dataset, const char *table, const char *incarnation,
                          const struct letter_row *rows, size_t count, size_t *out_done,
                          void (*on_unfit)(void *context, const struct letter_row *, const char *why), void *context, struct error *err)
{
	bool *is_done = memory_zalloc(count + 1);
	size_t indices[ROWS_MAX], taken;
	bool is_fine = true, is_again = false;

	for (int tries = 0; is_fine && done_first(is_done, count) < count;) {
		OWNED(text) body = text_new(BODY_BYTES_MAX);
		json_t *answer = NULL;

		taken = body_make(body, rows, is_done, count, incarnation, indices);
		if (!taken) {
			size_t first = done_first(is_done, count);

			on_unfit(context, &rows[first], "it is larger than insertAll takes (10 MB)");
			is_done[first] = true;
			continue;
		}
		is_again = false;
		is_fine = rows_put(asker, dataset, table, body, &answer, err);
		if (is_fine)
			verdicts_take(answer, indices, taken, is_done, &is_again, on_unfit, context, rows);
		json_decref(answer);
		if (is_again && ++tries == TRIES)
			is_fine = fail(err, ERROR_TRANSIENT, "google_unavailable", "table '%s.%s' does not take some letters now", dataset, table);
	}
	*out_done = done_first(is_done, count);
	free(is_done);
	return is_fine;
}
