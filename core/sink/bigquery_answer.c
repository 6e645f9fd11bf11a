/*
 * What comes of a request: taken, taken without its bad rows, sent again, or given
 * up, by the decision tables (bigquery_fates.def). A whole request is never failed for
 * one row.
 */
#include "sink/bigquery_append_private.h"

#include "base/clean.h"
#include "base/clock.h"

#include <strings.h>

#define RETRY_FIRST_MS 50
#define RETRY_MOST_MS 500
#define STORAGE_EXTRA_FIELDS 7 /* StorageErrorCode SCHEMA_MISMATCH_EXTRA_FIELDS */

/* Fields of AppendRowsResponse and RowError. */
enum { RESPONSE_RESULT = 1, RESPONSE_ERROR = 2, RESPONSE_SCHEMA = 3, RESPONSE_ROW_ERRORS = 4, RESPONSE_STREAM = 5 };
enum { ROW_INDEX = 1, ROW_MESSAGE = 3 };

void append_fail_by(struct error *out, const struct bigquery_table *table, const char *doing, const struct fate *fate,
                    const struct google_status *status)
{
	OWNED(text) words = text_new(1024);
	const char *message = *status->storage_message ? status->storage_message : status->message;

	clean_text(words, span_of(message));
	*out = (struct error){ 0 };
	fail(out, fate->kind, fate->error_code, "rows into '%s': %s%s%s%s%s", table->name, doing ? doing : "", doing ? ": " : "",
	     fate->sentence, *message ? ": " : "", words->at);
	out->retry_after_ms = status->retry_delay_ms > 0 ? status->retry_delay_ms : 0;
}

/*
 * Failures
 */

static bool is_over_time(const struct request *request)
{
	int64_t limit_ms = request->part->table->trouble.was_tried ? 0 : SHORT_TROUBLE_MS;

	return clock_mono_ms() - request->failed_ms >= limit_ms;
}

/* With what else waits of its table: that would wait for ever for a committed stream that this one keeps. */
static void request_give_up(struct append *append, struct request *request)
{
	struct request **at = &append->waiting.first;

	list_put(&append->given_up, request);
	while (*at) {
		struct request *other = *at;

		if (other->part->table != request->part->table) {
			at = &other->next;
			continue;
		}
		other->why = request->why;
		list_put(&append->given_up, list_take(&append->waiting, at));
	}
}

void request_retry(struct append *append, struct request *request, const struct error *why, int64_t asked_ms)
{
	int64_t wait_ms = RETRY_FIRST_MS << (request->tries < 4 ? request->tries : 4);

	if (!request->failed_ms)
		request->failed_ms = clock_mono_ms();
	request->tries++;
	request->why = *why;
	wait_ms = wait_ms < RETRY_MOST_MS ? wait_ms : RETRY_MOST_MS;
	wait_ms = asked_ms > wait_ms ? asked_ms : wait_ms;
	if (is_over_time(request) || clock_mono_ms() + wait_ms > request->failed_ms + 2 * SHORT_TROUBLE_MS) {
		request_give_up(append, request);
		return;
	}
	request->not_before_ms = clock_mono_ms() + wait_ms;
	list_put(&append->waiting, request);
}

/* The write path does not know a column yet that the table has, or the table is another one by now: the desk looks. */
static void request_doubt(struct append *append, struct request *request, const struct error *why)
{
	table_desk_doubt(append->sink->desk, request->part->table->desk_number);
	request_retry(append, request, why, 0);
}

/* Halves, until the guilty row is alone. Whether it is the row or the table is seen when all else is done; where rows
 * of this shape were never taken it is the table: what comes back is mapped anew, by the columns of then. */
static void request_halve(struct append *append, struct request *request, const struct fate *fate, const struct error *why)
{
	struct bigquery_table *table = request->part->table;
	struct record *record = &append->batch->records[request->records[0]];
	bool is_large = strcmp(fate->error_code, "row_too_large") == 0;

	exactly_done(request, 0);
	if (!is_large && table->fine_version != request->part->shape_version) {
		bigquery_trouble(table, table->trouble.was_tried, false, why);
	} else if (!is_large && !bigquery_doubt(table)) {
		bigquery_trouble(table, true, false, why);
	} else if (request->count > 1) {
		request->is_doubtful = true;
		list_put(&append->waiting, request_split(append, request));
		list_put(&append->waiting, request);
	} else if (is_large) {
		bigquery_refuse(append->batch, record, fate->error_code, (struct span){ 0 }, "%s", why->message);
	} else {
		request->why = *why;
		request->is_doubtful = true;
		list_put(&append->given_up, request);
	}
}

static void request_taken(struct append *append, struct request *request);

/* Of a committed stream: what was written before is fine; a stream that is not what we think is asked what it has before
 * anything else is sent, with the rows that come back. */
static bool stream_has_failed(struct append *append, struct request *request, const struct google_status *status,
                              const struct error *why)
{
	bool is_lost = status->code == GRPC_OUT_OF_RANGE || status->code == GRPC_FAILED_PRECONDITION || status->code == GRPC_NOT_FOUND;

	if (status->code == GRPC_ALREADY_EXISTS) {
		request_taken(append, request);
		return true;
	}
	if (!is_lost)
		return false;
	exactly_doubt(request->part->table);
	table_desk_doubt(append->sink->desk, request->part->table->desk_number);
	bigquery_trouble(request->part->table, false, false, why);
	return true;
}

void request_failed(struct append *append, struct request *request, const struct google_status *status)
{
	struct fate fate = bigquery_judge(CALL_APPEND, 0, status);
	struct bigquery_table *table = request->part->table;
	struct error why;

	append_fail_by(&why, request->part->table, NULL, &fate, status);
	if (request->stream && stream_has_failed(append, request, status, &why))
		return;
	/* The request that told the schema may have been refused, and this one with it. */
	if (status->code == GRPC_INVALID_ARGUMENT && !request->had_schema) {
		request->wants_schema = true;
		list_put(&append->waiting, request);
		return;
	}
	/* Its token was over, or taken back: the next call has a new one. */
	if (status->code == GRPC_UNAUTHENTICATED && !request->was_renewed) {
		request->was_renewed = true;
		list_put(&append->waiting, request);
		return;
	}
	if (status->storage_code == STORAGE_EXTRA_FIELDS) {
		why.kind = ERROR_TRANSIENT;
		request_doubt(append, request, &why);
		return;
	}
	switch (fate.fate) {
	case FATE_LOOK:
		request_doubt(append, request, &why);
		return;
	case FATE_SPLIT:
		request_halve(append, request, &fate, &why);
		return;
	case FATE_NEEDS_YOU:
		bigquery_trouble(table, true, false, &why);
		return;
	case FATE_LETTER:
		request_halve(append, request, &fate, &why);
		return;
	case FATE_AGAIN:
	case FATE_WAIT:
		break;
	}
	request_retry(append, request, &why, why.retry_after_ms);
}

/*
 * Answers
 */

/* The column that BigQuery's words name, if it is one of the shape's. */
static struct span column_named(const struct table_field *fields, size_t count, const char *words)
{
	for (size_t i = 0; i < count; i++) {
		struct span inner = column_named(fields[i].fields, fields[i].field_count, words);
		const char *at;

		if (inner.len)
			return inner;
		for (at = words; fields[i].kind != BQ_STRUCT && (at = memmem(at, strlen(at), fields[i].name.at, fields[i].name.len)); at++) {
			char before = at == words ? ' ' : at[-1], after = at[fields[i].name.len];

			if (strchr(" .'\"`:", before) && strchr(" .,'\"`:;)", after))
				return fields[i].name;
		}
	}
	return (struct span){ 0 };
}

static void row_refuse(struct append *append, struct request *request, uint64_t index, struct span message)
{
	OWNED(text) words = text_new(1024);
	struct fate fate;
	struct record *record;

	if (index >= request->count)
		return;
	clean_text(words, message);
	fate = bigquery_judge_row("", words->at);
	record = &append->batch->records[request->records[index]];
	if (fate.fate == FATE_LOOK)
		table_desk_doubt(append->sink->desk, request->part->table->desk_number);
	if (fate.fate == FATE_LETTER)
		bigquery_refuse(append->batch, record, fate.error_code,
		                column_named(request->part->shape->fields, request->part->shape->count, words->at), "%s: %s",
		                fate.sentence, words->at);
}

static void row_error(struct append *append, struct request *request, struct proto_reader *row)
{
	struct proto_field field;
	struct span message = SPAN("");
	uint64_t index = 0;

	while (proto_next(row, &field)) {
		if (field.number == ROW_INDEX)
			index = proto_uint64(&field);
		else if (field.number == ROW_MESSAGE)
			message = proto_bytes(&field);
	}
	row_refuse(append, request, index, message);
}

static void request_taken(struct append *append, struct request *request)
{
	for (size_t i = 0; i < request->count; i++) {
		append->batch->records[request->records[i]].verdict = VERDICT_WRITTEN;
		exactly_remember(append, request->records[i]);
	}
	exactly_done(request, request->count);
	append->is_fine = true;
	if (!request->part->table->fine_ms)
		table_desk_expect(append->sink->desk, request->part->table->desk_number);
	bigquery_table_fine(request->part->table, request->number, request->part->shape_version);
}

/* None of the request's rows was written; those without an error are sent again at once. */
static void request_again(struct append *append, struct request *request, const struct google_status *status)
{
	size_t had = request->count;
	struct fate fate = { FATE_AGAIN, ERROR_TRANSIENT, "google_unavailable", "rows were refused and may pass later" };
	struct error why;

	exactly_done(request, 0);
	if (!request_sieve(append, request))
		return;
	if (request->count < had) {
		list_put(&append->waiting, request);
		return;
	}
	append_fail_by(&why, request->part->table, NULL, &fate, status);
	request_retry(append, request, &why, 0);
}

bool response_is_of(const struct response *response, const struct bigquery_table *table)
{
	struct span path = span_of(table->path), stream = response->stream;

	return !stream.len || (stream.len >= path.len && bytes_equal(stream.at, path.at, path.len) &&
	                       (stream.len == path.len || stream.at[path.len] == '/'));
}

/* The first of that stream, or of all if it does not say which. */
static struct request *take_answered(struct connection *connection, const struct response *response)
{
	struct request **at = &connection->sent.first;

	for (; *at && response->stream.len; at = &(*at)->next) {
		if (response_is_of(response, (*at)->part->table))
			return list_take(&connection->sent, at);
	}
	return connection->sent.first ? list_take(&connection->sent, &connection->sent.first) : NULL;
}

struct response response_look(struct span message)
{
	struct proto_reader reader = proto_open(message);
	struct proto_field field;
	struct response out = { 0 };

	while (proto_next(&reader, &field)) {
		if (field.number == RESPONSE_ERROR) {
			out.has_error = true;
			out.error = proto_bytes(&field);
		}
		out.stream = field.number == RESPONSE_STREAM ? proto_bytes(&field) : out.stream;
		out.has_row_errors = out.has_row_errors || field.number == RESPONSE_ROW_ERRORS;
		out.has_schema = out.has_schema || field.number == RESPONSE_SCHEMA;
	}
	return out;
}

static void row_errors_read(struct append *append, struct request *request, struct span message)
{
	struct proto_reader reader = proto_open(message);
	struct proto_field field;

	while (proto_next(&reader, &field)) {
		struct proto_reader row;

		if (field.number != RESPONSE_ROW_ERRORS)
			continue;
		row = proto_enter(&reader, &field);
		row_error(append, request, &row);
		proto_leave(&reader, &row);
	}
}

/* The table has more columns than the connection knows: what waited for them need not wait longer. */
static void schema_is_new(struct append *append, struct connection *connection, const struct bigquery_table *table)
{
	connection->shape_version = 0;
	for (struct request *r = append->waiting.first; r; r = r->next) {
		if (r->part->table == table)
			r->not_before_ms = 0;
	}
}

void answer_read(struct append *append, struct connection *connection, struct span message)
{
	struct response response = response_look(message);
	struct request *request = take_answered(connection, &response);
	struct google_status status = { .code = GRPC_UNKNOWN, .retry_delay_ms = -1 };

	if (!request)
		return;
	request->on = NULL;
	sink_figures_answered(append->sink->figures, response.has_error || response.has_row_errors ? 0 : request->count);
	if (response.has_schema)
		schema_is_new(append, connection, request->part->table);
	if (!response.has_error && !response.has_row_errors) {
		request_taken(append, request);
		return;
	}
	status_read(response.error, &status);
	connection->shape_version = 0; /* whether the server has kept the schema of a refused request is its secret */
	if (response.has_row_errors) {
		row_errors_read(append, request, message);
		request_again(append, request, &status);
	} else {
		request_failed(append, request, &status);
	}
}

/*
 * Ends
 */

bool list_is_of_one_table(const struct request_list *list)
{
	for (const struct request *r = list->first; r; r = r->next) {
		if (r->part->table != list->first->part->table)
			return false;
	}
	return true;
}

/* No network, no name, no trust: nobody's table. */
static bool end_is_whole(struct append *append, struct request *request, struct connection *connection)
{
	struct grpc_result result = grpc_result(connection->call);
	struct error why = { 0 };

	if (!*result.reason)
		return false;
	grpc_check(connection->call, "rows to BigQuery", &why);
	if (!request->failed_ms)
		request->failed_ms = clock_mono_ms();
	if (error_policies[why.kind].batch == BATCH_RETRY && clock_mono_ms() - request->failed_ms < SHORT_TROUBLE_MS)
		return false;
	append->whole = why;
	return true;
}

void answer_ended(struct append *append, struct connection *connection)
{
	bool is_one = list_is_of_one_table(&connection->sent);
	struct google_status status;

	grpc_status(connection->call, &status);
	if (end_is_whole(append, connection->sent.first, connection))
		return;
	while (connection->sent.first) {
		struct request *request = list_take(&connection->sent, &connection->sent.first);

		request->on = NULL;
		sink_figures_answered(append->sink->figures, 0);
		if (is_one) {
			if (request->tries || (status.code != GRPC_UNAVAILABLE && status.code != GRPC_ABORTED)) /* not a server that goes */
				request->part->table->alone_until_ms = clock_mono_ms() + ALONE_MS;
			request_failed(append, request, &status);
			continue;
		}
		request->goes_alone = true; /* whose fault it is shows when each has a call of its own */
		list_put(&append->waiting, request);
	}
}
