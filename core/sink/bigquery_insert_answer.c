/*
 * What comes of an insertAll request. The unit is the row: a refused one is a
 * letter, one that was only not tried is sent again; what only the table suffers from is
 * the table's trouble.
 */
#include "sink/bigquery_insert_private.h"

#include "base/clock.h"

#include <stdlib.h>

static const char *text_of(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return text ? text : "";
}

/* The first error of a row that says more than "stopped". */
static const json_t *guilty_error(const json_t *entry)
{
	const json_t *errors = json_object_get(entry, "errors"), *error;
	size_t i;

	json_array_foreach(errors, i, error) {
		if (strcmp(text_of(error, "reason"), "stopped") != 0)
			return error;
	}
	return json_array_get(errors, 0);
}

void insert_retry(struct insert *insert, struct insert_request *request, const struct error *why)
{
	int64_t now_ms = clock_mono_ms(), wait_ms = backoff_next(&request->backoff, why->retry_after_ms);
	const struct table_trouble *trouble = &request->part->table->trouble;

	if (!request->failed_ms)
		request->failed_ms = now_ms;
	if (trouble->was_tried || now_ms + wait_ms - request->failed_ms > SHORT_TROUBLE_MS) {
		insert_trouble(insert, request, false, false, why);
		return;
	}
	request->not_before_ms = now_ms + wait_ms;
	insert_add(insert, request);
}

/* A column that was added a moment ago: insertAll learns of it some time after REST said that it is there. */
static bool is_news(struct insert *insert, const struct insert_request *request)
{
	struct table_view view;

	table_desk_look(insert->sink->desk, request->part->table->desk_number, &view);
	return view.changed_ms && clock_mono_ms() - view.changed_ms < INSERT_FIELD_GRACE_MS;
}

/* The desk has seen the column there, so that it comes. Nothing is wrong with the row. */
static void field_lacks(struct insert *insert, struct insert_request *request, const struct error *why)
{
	if (!is_news(insert, request))
		table_desk_doubt(insert->sink->desk, request->part->table->desk_number);
	insert_retry(insert, request, why);
}

struct errors_of {
	uint32_t *again;       /* records to be sent again */
	size_t again_count;
	bool has_lacking;      /* one of them lacks a column */
	struct error lacking;
	struct error passing;  /* of the last one that may pass */
};

static void row_failed(struct insert *insert, struct insert_request *request, uint32_t record, const json_t *entry,
                       struct errors_of *out)
{
	const json_t *error = guilty_error(entry);
	const char *message = text_of(error, "message"), *location = text_of(error, "location");
	struct fate fate = bigquery_judge_row(text_of(error, "reason"), message);

	if (fate.fate == FATE_AGAIN || fate.fate == FATE_LOOK) {
		out->again[out->again_count++] = record;
		fail(&out->passing, ERROR_TRANSIENT, fate.error_code, "rows into '%s': %s%s%s", request->part->table->name, fate.sentence,
		     *message ? ": " : "", message);
		if (fate.fate == FATE_LOOK) {
			out->has_lacking = true;
			fail(&out->lacking, ERROR_TRANSIENT, "column_not_yet", "rows into '%s': BigQuery does not know a new column yet: %s",
			     request->part->table->name, message);
		}
		return;
	}
	bigquery_refuse(insert->batch, &insert->batch->records[record], fate.error_code, span_of(location), "%s: %s", fate.sentence,
	                message);
}

/* At once where others of the request came to their end; a request of which no row did is the table's trouble, in time. */
static void again(struct insert *insert, struct insert_request *request, const struct errors_of *errors)
{
	struct insert_request *next;
	bool is_stuck;

	if (!errors->again_count)
		return;
	is_stuck = errors->again_count == request->count;
	next = insert_request_new(insert, request->part, errors->again, errors->again_count);
	next->failed_ms = errors->has_lacking || is_stuck ? request->failed_ms : 0;
	next->backoff = request->backoff;
	if (errors->has_lacking)
		field_lacks(insert, next, &errors->lacking);
	else if (is_stuck)
		insert_retry(insert, next, &errors->passing);
	else
		insert_add(insert, next);
}

/* Rows that are not named were written, which fails with none of the others: skipInvalidRows. */
static void rows_failed(struct insert *insert, struct insert_request *request, const json_t *list)
{
	struct errors_of errors = { .again = arena_alloc(insert->batch->arena, request->count * sizeof(uint32_t)) };
	bool *is_named = arena_zalloc(insert->batch->arena, request->count);
	const json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry) {
		size_t index = (size_t)json_integer_value(json_object_get(entry, "index"));

		if (index >= request->count || is_named[index])
			continue;
		is_named[index] = true;
		row_failed(insert, request, request->records[index], entry, &errors);
	}
	for (i = 0; i < request->count; i++) {
		if (!is_named[i])
			insert->batch->records[request->records[i]].verdict = VERDICT_WRITTEN;
	}
	if (errors.again_count < request->count)
		bigquery_table_fine(request->part->table, request->number, request->part->shape_version);
	again(insert, request, &errors);
}

/* An answer that cannot be read says nothing of the rows: they are sent again, with the same ids. */
void insert_answered(struct insert *insert, struct insert_request *request, const struct rest_answer *answer)
{
	json_t *json = json_loadb(answer->body.at, answer->body.len, JSON_ALLOW_NUL, NULL);
	struct error error;

	if (!json_is_object(json)) {
		fail(&error, ERROR_TRANSIENT, "google_bad_answer", "rows into '%s': the answer cannot be read", request->part->table->name);
		insert_retry(insert, request, &error);
	} else {
		insert->answered_ms = clock_mono_ms();
		rows_failed(insert, request, json_object_get(json, "insertErrors"));
	}
	json_decref(json);
}

/* The guilty row of a request that was refused as a whole is found by halves; where the table takes nothing at all it is the
 * table. One row that is too large is guilty. */
static void split(struct insert *insert, struct insert_request *request, const struct fate *fate, const struct error *why)
{
	size_t half = request->count / 2;
	bool is_large = strcmp(fate->error_code, "row_too_large") == 0;

	if (!is_large && !bigquery_doubt(request->part->table)) {
		insert_trouble(insert, request, true, false, why);
	} else if (request->count > 1) {
		insert_add(insert, insert_request_new(insert, request->part, request->records, half));
		insert_add(insert, insert_request_new(insert, request->part, request->records + half, request->count - half));
	} else if (is_large) {
		bigquery_refuse(insert->batch, &insert->batch->records[request->records[0]], fate->error_code, (struct span){ 0 }, "%s",
		                why->message);
	} else {
		request->why = *why;
		request->next = insert->doubtful;
		insert->doubtful = request;
	}
}

/* A letter if the table took others meanwhile; else it is the table, which may take this one too when it is mended. */
void insert_judge_doubtful(struct insert *insert)
{
	for (struct insert_request *request = insert->doubtful; request; request = request->next) {
		struct bigquery_table *table = request->part->table;

		if (insert->whole.kind || table->trouble.is_there)
			continue;
		if (table->doubt.was_taken)
			bigquery_refuse(insert->batch, &insert->batch->records[request->records[0]], "row_refused", (struct span){ 0 }, "%s",
			                request->why.message);
		else
			insert_trouble(insert, request, true, false, &request->why);
	}
	insert->doubtful = NULL;
}

/* Without an answer it is the network's trouble, unless other tables have answers: then this table's call is lost alone. */
static void no_answer(struct insert *insert, struct insert_request *request, const struct error *error)
{
	bool is_passing = error->kind == ERROR_TRANSIENT || error->kind == ERROR_UNREACHABLE;
	int64_t now_ms = clock_mono_ms();
	bool is_short = !request->failed_ms || now_ms - request->failed_ms < SHORT_TROUBLE_MS;

	if (!is_passing || (!is_short && !bigquery_others_are_fine(insert->sink, request->part->table)))
		insert->whole = *error;
	else
		insert_retry(insert, request, error);
}

static bool refuse_partition(struct insert *insert, const struct insert_request *request, const struct fate *fate,
                             const struct error *why)
{
	if (!request->part->partition.len || strcmp(fate->error_code, "bad_destination") != 0)
		return false;
	for (size_t i = 0; i < request->count; i++) {
		struct record *record = &insert->batch->records[request->records[i]];

		bigquery_refuse(insert->batch, record, fate->error_code, (struct span){ 0 }, "%s", why->message);
	}
	return true;
}

void insert_failed(struct insert *insert, struct insert_request *request, const struct rest_answer *answer,
                   const struct error *error)
{
	struct google_status status = { .code = GRPC_ANY };
	struct fate fate;
	struct error said;

	if (!answer->status) {
		no_answer(insert, request, error);
		return;
	}
	status_read_json(answer->body, &status);
	fate = bigquery_judge(CALL_INSERT_ALL, answer->status, &status);
	fail(&said, fate.kind, fate.error_code, "rows into '%s': %s%s%s", request->part->table->name, fate.sentence,
	     *status.message ? ": " : "", status.message);
	said.retry_after_ms = error->retry_after_ms;
	if (answer->status == 401 && !request->was_renewed) { /* the next call has a new one */
		request->was_renewed = true;
		insert_retry(insert, request, &said);
	} else if (refuse_partition(insert, request, &fate, &said)) {
		return;
	} else if (fate.fate == FATE_SPLIT || fate.fate == FATE_LETTER) {
		split(insert, request, &fate, &said);
	} else if (fate.fate == FATE_NEEDS_YOU) {
		insert_trouble(insert, request, true, false, &said);
	} else {
		/* One that was made a moment ago too: it may be dropped by now, and to look costs nobody anything. */
		if (fate.fate == FATE_LOOK)
			table_desk_doubt(insert->sink->desk, request->part->table->desk_number);
		insert_retry(insert, request, &said);
	}
}
