/*
 * Storage Write, a batch at a time: requests of all tables at once, sent as their
 * tables are ready, answers as they come, until every row has its verdict or its table
 * has trouble.
 */
#include "sink/bigquery_append_private.h"

#include "base/clock.h"
#include "base/crash.h"

#include <stdlib.h>

#define SILENCE_MOST_MS 60000 /* nothing at all was answered for so long */
#define LOOK_MS 100           /* how long at most until waits are looked at again */

struct append *append_open(struct bigquery *sink, struct error *err)
{
	struct append *append = memory_zalloc(sizeof(*append));

	append->sink = sink;
	append->is_exactly_once = !sink->options->at_least_once;
	list_clear(&append->waiting);
	list_clear(&append->given_up);
	/* A feed's position tells what has come. */
	if (append->is_exactly_once && sink->books.is_append && !sink->options->input_file &&
	    !(append->recent = recent_open(&sink->books, err))) {
		free(append);
		return NULL;
	}
	return append;
}

void append_close(struct append *append)
{
	if (!append)
		return;
	while (append->connections)
		connection_drop(append, append->connections);
	late_close(append);
	recent_close(append->recent);
	free(append);
}

/* A call about a stream: of one table, or everything's. */
static void stream_failed(struct append *append, struct bigquery_table *table, const struct google_status *status,
                          const struct error *why)
{
	bool has_spoken = status->code != GRPC_ANY && status->code != GRPC_UNAVAILABLE && status->code != GRPC_UNAUTHENTICATED;

	if (has_spoken || append->is_fine || bigquery_others_are_fine(append->sink, table))
		bigquery_trouble(table, bigquery_judge(CALL_STREAM, 0, status).fate == FATE_NEEDS_YOU, false, why);
	else
		append->whole = *why;
}

/* What an earlier life may have appended is known before anything else is. */
static void part_begin(struct append *append, struct bigquery_part *part)
{
	struct google_status status = { .code = GRPC_ANY, .retry_delay_ms = -1 };
	struct error why = { 0 };
	enum stream_outcome outcome = STREAM_DONE;

	if (!part->table->trouble.is_there && append->is_exactly_once)
		outcome = exactly_begin(append, part, &status, &why);
	if (outcome == STREAM_FAILED)
		stream_failed(append, part->table, &status, &why);
	part->is_begun = outcome != STREAM_WAITS;
	if (outcome == STREAM_DONE && !part->table->trouble.is_there)
		requests_make(append, part, &append->waiting);
}

/* In their order: a part that waits keeps later ones of its table. True: one waits. */
static bool parts_begin(struct append *append, struct bigquery_part *parts, size_t count)
{
	bool has_waiting = false;

	append->looks++;
	for (size_t i = 0; i < count && !append->whole.kind; i++) {
		struct bigquery_part *part = &parts[i];

		if (!part->is_begun && part->table->waits_at != append->looks)
			part_begin(append, part);
		if (part->is_begun)
			continue;
		part->table->waits_at = append->looks;
		has_waiting = true;
	}
	return has_waiting;
}

/*
 * Sending
 */

enum gate { GATE_OPEN, GATE_WAITS, GATE_CLOSED };

/* A table that is being made is waited for in short; one in trouble is not. */
static enum gate gate_of(struct append *append, struct request *request)
{
	struct bigquery_table *table = request->part->table;
	struct table_view view;
	int64_t now_ms = clock_mono_ms();

	if (table->trouble.is_there)
		return GATE_CLOSED;
	if (request->not_before_ms > now_ms)
		return GATE_WAITS;
	table_desk_look(append->sink->desk, table->desk_number, &view);
	if (view.state == TABLE_READY)
		return GATE_OPEN;
	if (view.state == TABLE_DIFFERS) {
		table->is_unfit = true;
		return GATE_CLOSED;
	}
	if (!request->failed_ms)
		request->failed_ms = now_ms;
	if (view.state != TABLE_NEEDS_YOU && !table->trouble.was_tried && now_ms - request->failed_ms < SHORT_TROUBLE_MS)
		return GATE_WAITS;
	if (view.state == TABLE_ASKING && !view.error.code[0])
		fail(&view.error, ERROR_TRANSIENT, "google_timeout", "%s takes its time", *view.what ? view.what : "asking for the table");
	if (bigquery_is_everybodys(append->sink, table, &view) && !append->is_fine)
		append->whole = view.error;
	else
		bigquery_trouble(table, view.state == TABLE_NEEDS_YOU, true, &view.error);
	return GATE_CLOSED;
}

/* Its place in a committed stream, noted. GATE_CLOSED: it has failed, and that is told. */
static enum gate place_of_request(struct append *append, struct request *request)
{
	struct google_status status = { .code = GRPC_ANY, .retry_delay_ms = -1 };
	struct error why = { 0 };

	if (exactly_prepare(append, request, &status, &why))
		return GATE_OPEN;
	if (!why.kind)
		return GATE_WAITS;
	stream_failed(append, request->part->table, &status, &why);
	return GATE_CLOSED;
}

/* True: something was sent, or is no more to be sent. */
static bool send_waiting(struct append *append)
{
	struct request **at = &append->waiting.first;
	bool has_moved = false;

	while (*at && !append->whole.kind) {
		enum gate gate = gate_of(append, *at);

		if (gate == GATE_OPEN && append->is_exactly_once)
			gate = place_of_request(append, *at);
		struct request *request;

		if (gate == GATE_WAITS) {
			at = &(*at)->next;
			continue;
		}
		request = list_take(&append->waiting, at);
		if (gate == GATE_OPEN && !connection_send(append, request))
			return true;
		if (gate == GATE_OPEN && !request->on) { /* no room */
			request->next = *at;
			*at = request;
			if (!request->next)
				append->waiting.end = &request->next;
			return has_moved;
		}
		has_moved = true;
	}
	return has_moved;
}

/*
 * Silence
 */

/* A table whose answer is missing while others have theirs: of a committed stream it is in trouble, and the stream tells later
 * what it has; else its answer is waited for, but by nobody else. */
static void silent_give_up(struct append *append, struct connection *connection, int64_t now_ms)
{
	struct request *request = connection->sent.first;
	int64_t silent_ms = now_ms - request->sent_ms;
	bool are_others_fine = append->is_fine || bigquery_others_are_fine(append->sink, request->part->table);
	struct error why = { 0 };

	if (silent_ms < (request->part->table->trouble.was_tried ? SHORT_TROUBLE_MS : SILENT_MS) ||
	    (silent_ms < SILENCE_MOST_MS && !are_others_fine))
		return;
	fail(&why, are_others_fine ? ERROR_TRANSIENT : ERROR_UNREACHABLE, "google_timeout",
	     "rows to BigQuery: no answer for %lld seconds", (long long)(silent_ms / 1000));
	if (!are_others_fine)
		append->whole = why;
	else if (append->is_exactly_once)
		bigquery_trouble(request->part->table, false, false, &why);
	if (are_others_fine && !append->is_exactly_once)
		late_begin(append, connection);
	else
		connection_drop(append, connection);
}

static void look_for_silence(struct append *append)
{
	int64_t now_ms = clock_mono_ms();
	struct connection *next;

	for (struct connection *c = append->connections; c; c = next) {
		next = c->next;
		if (c->sent.first)
			silent_give_up(append, c, now_ms);
	}
}

/*
 * A batch
 */

static bool is_busy(const struct append *append)
{
	if (append->waiting.first)
		return true;
	for (const struct connection *c = append->connections; c; c = c->next) {
		if (c->sent.first)
			return true;
	}
	return false;
}

/* A row that BigQuery refuses as a whole request is a letter if the table took others meanwhile; else it is the table, which may
 * take this one too when it is mended. */
static void doubtful_end(struct append *append, struct request *request)
{
	struct bigquery_table *table = request->part->table;
	struct record *record = &append->batch->records[request->records[0]];

	if (table->doubt.was_taken)
		bigquery_refuse(append->batch, record, "row_refused", (struct span){ 0 }, "%s", request->why.message);
	else
		bigquery_trouble(table, true, false, &request->why);
}

/* What only some tables suffer from is theirs; what all do is waited for by the job. */
static void end_given_up(struct append *append)
{
	while (append->given_up.first && !append->whole.kind) {
		struct request *request = list_take(&append->given_up, &append->given_up.first);
		struct bigquery_table *table = request->part->table;

		if (table->trouble.is_there)
			continue;
		if (request->is_doubtful && request->count == 1)
			doubtful_end(append, request);
		else if (append->is_fine || table->trouble.was_tried || bigquery_others_are_fine(append->sink, table))
			bigquery_trouble(table, false, false, &request->why);
		else
			append->whole = request->why;
	}
	list_clear(&append->given_up);
}

static bool batch_end(struct append *append, struct error *err)
{
	end_given_up(append);
	connections_drop_busy(append);
	list_clear(&append->waiting);
	append->batch = NULL;
	if (!append->whole.kind)
		return true;
	*err = append->whole;
	return false;
}

bool append_write(struct append *append, struct batch *batch, struct bigquery_part *parts, size_t count, struct error *err)
{
	uint64_t seen = bigquery_rings(append->sink);
	bool has_waiting;

	append->batch = batch;
	append->is_fine = false;
	append->whole = (struct error){ 0 };
	late_look(append);
	for (size_t i = 0; i < count; i++)
		parts[i].table->doubt.is_there = false;
	has_waiting = parts_begin(append, parts, count);
	while ((has_waiting || is_busy(append)) && !append->whole.kind) {
		bool has_moved = send_waiting(append);

		has_moved = connections_receive(append) || has_moved;
		look_for_silence(append);
		if (!has_moved && (has_waiting || is_busy(append)))
			bigquery_wait_ring(append->sink, &seen, clock_mono_ms() + LOOK_MS);
		has_waiting = parts_begin(append, parts, count);
	}
	for (size_t i = 0; i < count; i++)
		exactly_end(&parts[i]);
	return batch_end(append, err);
}

void append_tend(struct append *append)
{
	late_look(append);
}
