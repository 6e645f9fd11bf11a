/*
 * Writing by insertAll (useStorageWriteApi=false): all tables' requests are under way
 * at once, on the writer's thread. At least once; rows that come again within a
 * minute are mostly left out by BigQuery, by their ids.
 */
#include "sink/bigquery_insert_private.h"

#include "base/clock.h"

#include <stdlib.h>

#define TRY_MS 30000

struct insert *insert_open(struct bigquery *sink, struct error *err)
{
	struct rest_setup setup = { .ca_file = google_ca_file(sink->google) };
	struct rest_client *client = rest_open(&setup, err);
	struct insert *insert;

	if (!client)
		return NULL;
	insert = memory_zalloc(sizeof(*insert));
	insert->sink = sink;
	insert->client = client;
	return insert;
}

void insert_close(struct insert *insert)
{
	if (!insert)
		return;
	rest_close(insert->client);
	free(insert);
}

void insert_add(struct insert *insert, struct insert_request *request)
{
	request->next = insert->requests;
	insert->requests = request;
}

void insert_trouble(struct insert *insert, struct insert_request *request, bool needs_you, bool is_desk, const struct error *why)
{
	(void)insert;
	bigquery_trouble(request->part->table, needs_you, is_desk, why);
}

/* May its rows be sent now? Else its table has trouble, or *inout_next_ms is when to look again. */
static bool is_ready(struct insert *insert, struct insert_request *request, int64_t *inout_next_ms)
{
	int64_t now_ms = clock_mono_ms(), next_ms = now_ms + INSERT_POLL_MS;
	struct table_view view;
	struct error late;

	table_desk_look(insert->sink->desk, request->part->table->desk_number, &view);
	if (view.state == TABLE_READY && request->not_before_ms <= now_ms && insert->calls < INSERT_CALLS_MAX &&
	    limiter_take(&insert->limiter, QUOTA_INSERT_ALL, now_ms, &next_ms))
		return true;
	request->part->table->is_unfit = view.state == TABLE_DIFFERS;
	if ((view.state == TABLE_WAITING || view.state == TABLE_NEEDS_YOU) &&
	    bigquery_is_everybodys(insert->sink, request->part->table, &view)) {
		insert->whole = view.error;
	} else if (view.state == TABLE_WAITING || view.state == TABLE_NEEDS_YOU) {
		insert_trouble(insert, request, view.state == TABLE_NEEDS_YOU, true, &view.error);
	} else if (view.state == TABLE_ASKING && now_ms - insert->begun_ms > SHORT_TROUBLE_MS) {
		fail(&late, ERROR_TRANSIENT, "table_waits", "rows into '%s': %s takes its time", request->part->table->name, view.what);
		insert_trouble(insert, request, false, true, view.error.kind == ERROR_NONE ? &late : &view.error);
	}
	if (request->not_before_ms > next_ms)
		next_ms = request->not_before_ms;
	if (next_ms < *inout_next_ms)
		*inout_next_ms = next_ms;
	return false;
}

static void start(struct insert *insert, struct insert_request *request, struct span body, bool is_packed)
{
	OWNED(text) url = text_new(8192);
	struct rest_pair packed = { "Content-Encoding", "gzip" };
	struct rest_request rest = {
		.what = "insertAll", .method = "POST", .body = body, .headers = &packed, .header_count = is_packed, .may_repeat = true,
		.try_count_max = 1, .try_ms = TRY_MS, .deadline_ms = TRY_MS,
	};

	text_add_char(url, '/');
	url_add_path(url, request->part->table->path);
	if (request->part->partition.len)
		text_add_format(url, "%%24%.*s", SPAN_ARG(request->part->partition));
	text_add(url, "/insertAll");
	rest.url = url->at;
	request->call = google_rest_start(insert->sink->google, insert->client, SERVICE_BIGQUERY, &rest, &request->token,
	                                  &insert->whole);
	request->sent_ms = clock_mono_ms();
	request->number = request->part->table->doubt.sends++;
	if (!request->call)
		return;
	insert->calls++;
	atomic_fetch_add(&insert->sink->figures->requests, 1);
	atomic_fetch_add(&insert->sink->figures->bytes, body.len);
}

/* False: none of its rows is left. */
static bool request_send(struct insert *insert, struct insert_request *request)
{
	struct insert_request *rest;
	struct text *body = insert_body(insert, request, &rest), *packed;
	bool is_packed;

	if (rest)
		insert_add(insert, rest);
	if (!body)
		return false;
	packed = text_new(body->len);
	is_packed = insert_gzip(text_span(body), packed);
	start(insert, request, text_span(is_packed ? packed : body), is_packed);
	text_free(packed);
	text_free(body);
	return true;
}

/* Sends what can be sent and drops what cannot for now; gives when to look again. */
static int64_t send_ready(struct insert *insert)
{
	int64_t next_ms = clock_mono_ms() + TRY_MS;
	struct insert_request *list = insert->requests, *next;

	insert->requests = NULL;
	for (struct insert_request *request = list; request; request = next) {
		next = request->next;
		if (request->call || request->part->table->trouble.is_there) {
			if (request->call)
				insert_add(insert, request);
			continue;
		}
		if (!is_ready(insert, request, &next_ms)) {
			if (!request->part->table->trouble.is_there && !request->part->table->is_unfit)
				insert_add(insert, request);
			continue;
		}
		if (request_send(insert, request))
			insert_add(insert, request);
	}
	return next_ms;
}

static struct insert_request *take_request(struct insert *insert, const struct rest_call *call)
{
	struct insert_request **at = &insert->requests, *request;

	while (*at && (*at)->call != call)
		at = &(*at)->next;
	request = *at;
	if (request)
		*at = request->next;
	return request;
}

static void call_ended(struct insert *insert, struct rest_call *call)
{
	struct insert_request *request = take_request(insert, call);
	struct rest_answer answer = { .status = 0 };
	struct error error = { .kind = ERROR_NONE };
	bool is_again = false, is_fine = google_rest_result(insert->sink->google, call, request->token, &answer, &is_again, &error);

	insert->calls--;
	request->call = NULL;
	sink_figures_answered(insert->sink->figures, is_fine ? request->count : 0);
	if (is_fine && clock_mono_ms() - request->sent_ms < SILENT_MS / 2)
		request->part->table->patience_ms = 0;
	if (is_fine)
		insert_answered(insert, request, &answer);
	else if (is_again)
		insert_add(insert, request);
	else
		insert_failed(insert, request, &answer, &error);
	rest_call_free(call);
}

/* A table that does not answer while others do keeps nobody waiting; its rows may have been written, and come again. One that is only
 * slow would never be done with the same patience each time. */
static void give_up_silent(struct insert *insert)
{
	int64_t now_ms = clock_mono_ms();
	struct insert_request *next;

	for (struct insert_request *request = insert->requests; request; request = next) {
		struct bigquery_table *table = request->part->table;
		int64_t patience_ms = table->patience_ms ? table->patience_ms : SILENT_MS;
		struct error error;

		next = request->next;
		if (!request->call || now_ms - request->sent_ms < patience_ms || !bigquery_others_are_fine(insert->sink, table))
			continue;
		take_request(insert, request->call);
		rest_call_free(request->call);
		insert->calls--;
		fail(&error, ERROR_TRANSIENT, "google_timeout", "rows into '%s': no answer for %lld seconds", table->name,
		     (long long)(patience_ms / 1000));
		table->patience_ms = patience_ms * 2 < PATIENCE_MOST_MS ? patience_ms * 2 : PATIENCE_MOST_MS;
		insert_trouble(insert, request, false, false, &error);
	}
}

static void drop_all(struct insert *insert)
{
	for (struct insert_request *request = insert->requests; request; request = request->next)
		rest_call_free(request->call);
	insert->requests = NULL;
	insert->calls = 0;
}

bool insert_write(struct insert *insert, struct batch *batch, struct bigquery_part *parts, size_t count, struct error *err)
{
	insert->batch = batch;
	insert->begun_ms = clock_mono_ms();
	insert->whole.kind = ERROR_NONE;
	insert->doubtful = NULL;
	for (size_t i = 0; i < count; i++) {
		parts[i].table->doubt.is_there = false;
		insert_add(insert, insert_request_new(insert, &parts[i], parts[i].records, parts[i].count));
	}
	while (insert->requests && insert->whole.kind == ERROR_NONE) {
		int64_t next_ms = send_ready(insert), now_ms = clock_mono_ms();
		struct rest_call *call;

		if (!insert->requests || insert->whole.kind != ERROR_NONE)
			break;
		if (next_ms > now_ms + SILENT_MS / 4)
			next_ms = now_ms + SILENT_MS / 4;
		call = rest_wait(insert->client, next_ms > now_ms ? next_ms - now_ms : 0);
		if (call)
			call_ended(insert, call);
		give_up_silent(insert);
	}
	drop_all(insert);
	insert_judge_doubtful(insert);
	if (insert->whole.kind == ERROR_NONE)
		return true;
	*err = insert->whole;
	return false;
}
