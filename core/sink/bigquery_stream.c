/*
 * Calls about committed streams: one is made, one is finished and tells what it has.
 * Nobody waits for them: they are begun, and looked at until they have their answer,
 * while rows of all other tables go on.
 */
#include "sink/bigquery_append_private.h"

#include "base/clock.h"

#define WRITE_SERVICE "/google.cloud.bigquery.storage.v1.BigQueryWrite/"
#define CALL_MS 10000
#define STREAM_COMMITTED 1

/* Fields of CreateWriteStreamRequest, FinalizeWriteStreamRequest, WriteStream, FinalizeWriteStreamResponse. */
enum { CREATE_PARENT = 1, CREATE_STREAM = 2, FINALIZE_NAME = 1, STREAM_NAME = 1, STREAM_TYPE = 2, FINALIZED_ROWS = 1 };

static const struct method {
	const char *path, *params;
	const char *words; /* what is done, for people */
	bool is_limited;
} create = { WRITE_SERVICE "CreateWriteStream", "parent", "making a write stream", true },
  finalize = { WRITE_SERVICE "FinalizeWriteStream", "name", "asking a write stream what it has", false };

void stream_call_drop(struct stream_call *call)
{
	grpc_call_free(call->call);
	*call = (struct stream_call){ 0 };
}

/* False: no token, no such endpoint. */
static bool begin(struct append *append, struct stream_call *call, const struct method *method, const char *subject,
                  struct span message, struct error *err)
{
	OWNED(text) params = text_new(8192);
	struct grpc_request request = { .path = method->path, .deadline_ms = CALL_MS, .on_ready = bigquery_ring, .context = append->sink };

	text_add_format(params, "%s=", method->params);
	params_encode(params, subject);
	call->call = google_start(append->sink->google, SERVICE_BIGQUERY_STORAGE, &request, params->at, &call->token, err);
	if (!call->call)
		return false;
	if (!call->since_ms)
		call->since_ms = clock_mono_ms();
	grpc_send(call->call, message, true, 0);
	return true;
}

/* An answer that is late is waited for, but by its own table alone. */
static enum stream_outcome late(struct append *append, const struct bigquery_table *table, const struct stream_call *call,
                                const struct method *method, struct error *err)
{
	int64_t since_ms = clock_mono_ms() - call->since_ms;

	if (since_ms < (table->trouble.was_tried ? SHORT_TROUBLE_MS : SILENT_MS) ||
	    (!append->is_fine && !bigquery_others_are_fine(append->sink, table)))
		return STREAM_WAITS;
	fail(err, ERROR_TRANSIENT, "google_timeout", "rows into '%s': %s: no answer for %lld seconds", table->name, method->words,
	     (long long)(since_ms / 1000));
	return STREAM_FAILED;
}

/* *status has the code GRPC_ANY where it is not the server that spoke. */
static enum stream_outcome ended(struct append *append, const struct bigquery_table *table, struct stream_call *call,
                                 const struct method *method, struct google_status *status, struct error *err)
{
	struct grpc_result result = grpc_result(call->call);
	struct fate fate;

	grpc_check(call->call, method->words, err);
	if (result.code == GRPC_OK)
		fail(err, ERROR_TRANSIENT, "google_bad_answer", "rows into '%s': %s: no answer came", table->name, method->words);
	if (*result.reason || result.code == GRPC_OK)
		return STREAM_FAILED;
	google_ended(append->sink->google, call->token, result.code);
	grpc_status(call->call, status);
	fate = bigquery_judge(CALL_STREAM, 0, status);
	if (fate.fate == FATE_LOOK)
		table_desk_doubt(append->sink->desk, table->desk_number);
	append_fail_by(err, table, method->words, &fate, status);
	return STREAM_FAILED;
}

static enum stream_outcome limited(struct append *append, const struct bigquery_table *table, struct stream_call *call,
                                   const struct method *method, struct error *err)
{
	int64_t now_ms = clock_mono_ms(), until_ms;

	if (!method->is_limited || limiter_take(&append->stream_limit, QUOTA_STREAM_CREATE, now_ms, &until_ms))
		return STREAM_DONE;
	if (!call->limited_ms)
		call->limited_ms = now_ms;
	if (now_ms - call->limited_ms < SHORT_TROUBLE_MS)
		return STREAM_WAITS;
	fail(err, ERROR_TRANSIENT, "own_limit", "rows into '%s': %s waits: BigQuery takes no more than %s", table->name, method->words,
	     quota_words(QUOTA_STREAM_CREATE));
	err->retry_after_ms = until_ms - now_ms;
	return STREAM_FAILED;
}

/* Begins the call, or looks at the one that was begun. DONE: the caller frees *out. */
static enum stream_outcome look(struct append *append, const struct bigquery_table *table, struct stream_call *call,
                                const struct method *method, const char *subject, struct span message, struct grpc_message **out,
                                struct google_status *status, struct error *err)
{
	enum stream_outcome outcome;
	enum grpc_outcome came;
	bool was_renewed = call->was_renewed;

	if (!call->call) {
		if ((outcome = limited(append, table, call, method, err)) != STREAM_DONE)
			return outcome;
		if (!begin(append, call, method, subject, message, err))
			return STREAM_FAILED;
	}
	came = grpc_receive(call->call, out, 0);
	if (came == GRPC_TIMEOUT)
		return late(append, table, call, method, err);
	if (came == GRPC_DONE) {
		google_ended(append->sink->google, call->token, GRPC_OK);
		stream_call_drop(call);
		return STREAM_DONE;
	}
	outcome = ended(append, table, call, method, status, err);
	stream_call_drop(call);
	if (status->code != GRPC_UNAUTHENTICATED || was_renewed)
		return outcome;
	*err = (struct error){ 0 }; /* the next look has a new token */
	call->was_renewed = true;
	bigquery_ring(append->sink);
	return STREAM_WAITS;
}

enum stream_outcome stream_create(struct append *append, const struct bigquery_table *table, struct stream_call *call,
                                  char **out_name, struct google_status *status, struct error *err)
{
	OWNED(text) message = text_new(8192);
	struct grpc_message *answer = NULL;
	struct proto_reader reader;
	struct proto_field field;
	enum stream_outcome outcome;
	size_t mark;

	proto_put_text(message, CREATE_PARENT, table->path);
	mark = proto_begin(message, CREATE_STREAM);
	proto_put_uint(message, STREAM_TYPE, STREAM_COMMITTED);
	proto_end(message, mark);
	outcome = look(append, table, call, &create, table->path, text_span(message), &answer, status, err);
	if (outcome != STREAM_DONE)
		return outcome;
	reader = proto_open(span_make(answer->bytes, answer->len));
	while (proto_next(&reader, &field)) {
		if (field.number == STREAM_NAME && !*out_name)
			*out_name = memory_string_of(proto_bytes(&field));
	}
	grpc_message_free(answer);
	if (*out_name)
		return STREAM_DONE;
	fail(err, ERROR_TRANSIENT, "google_bad_answer", "rows into '%s': %s: the answer has no name", table->name, create.words);
	return STREAM_FAILED;
}

/* A stream that is not there any more has nothing that landed and is still to be seen. */
enum stream_outcome stream_finalize(struct append *append, const struct bigquery_table *table, struct stream_call *call,
                                    const char *name, int64_t *out_rows, struct google_status *status, struct error *err)
{
	OWNED(text) message = text_new(8192);
	struct grpc_message *answer = NULL;
	struct proto_reader reader;
	struct proto_field field;
	enum stream_outcome outcome;

	*out_rows = 0;
	proto_put_text(message, FINALIZE_NAME, name);
	outcome = look(append, table, call, &finalize, name, text_span(message), &answer, status, err);
	if (outcome == STREAM_FAILED && status->code == GRPC_NOT_FOUND) {
		*err = (struct error){ 0 };
		return STREAM_DONE;
	}
	if (outcome != STREAM_DONE)
		return outcome;
	reader = proto_open(span_make(answer->bytes, answer->len));
	while (proto_next(&reader, &field)) {
		if (field.number == FINALIZED_ROWS)
			*out_rows = proto_int64(&field);
	}
	grpc_message_free(answer);
	return STREAM_DONE;
}
