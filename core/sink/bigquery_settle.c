/*
 * Does the write path know a table's columns? It learns of a new table or column
 * some time after REST said that it is there; rows that come sooner are refused.
 * GetWriteStream of the default stream tells the schema that appends are held
 * against.
 */
#include "sink/bigquery_desk_private.h"

#include "base/clock.h"

#define VIEW_FULL 2
#define PATH "/google.cloud.bigquery.storage.v1.BigQueryWrite/GetWriteStream"
enum { REQUEST_NAME = 1, REQUEST_VIEW = 3, STREAM_SCHEMA = 5, STREAM_LOCATION = 8, SCHEMA_FIELDS = 1, FIELD_NAME = 1,
       FIELD_MODE = 3, FIELD_FIELDS = 4 };
#define MODE_REQUIRED 2

/* On the gRPC client's thread, under its lock. */
static void wake(void *client)
{
	rest_wake(client);
}

static void stream_name(struct text *name, const struct table_desk *desk, const struct desk_table *table)
{
	text_add_format(name, "projects/%s/datasets/%s/tables/%s/streams/_default", desk->project, table->dataset, table->name);
}

static void is_settled(struct table_desk *desk, struct desk_table *table)
{
	table->settles_ms = 0;
	table->trouble_ms = 0;
	desk_compare(desk, table);
}

static void again(struct table_desk *desk, struct desk_table *table)
{
	int64_t now_ms = clock_mono_ms();

	if (now_ms - table->settles_ms > SETTLE_LONGEST_MS)
		is_settled(desk, table);
	else
		desk_step(table, STEP_SETTLE, now_ms + backoff_next(&table->settling, 0));
}

void settle_begin(struct table_desk *desk, struct desk_table *table)
{
	OWNED(text) name = text_new(4096);
	OWNED(text) params = text_new(16384);
	OWNED(text) message = text_new(8192);
	struct grpc_request request = { .path = PATH, .deadline_ms = DESK_TRY_MS, .on_ready = wake, .context = desk->client };
	struct error error;

	stream_name(name, desk, table);
	text_add(params, "name=");
	url_add_part(params, name->at);
	proto_put_text(message, REQUEST_NAME, name->at);
	proto_put_uint(message, REQUEST_VIEW, VIEW_FULL);
	pthread_mutex_unlock(&desk->lock);
	table->look = google_start(desk->google, SERVICE_BIGQUERY_STORAGE, &request, params->at, &table->token, &error);
	if (table->look)
		grpc_send(table->look, text_span(message), true, 0);
	pthread_mutex_lock(&desk->lock);
	if (!table->look)
		again(desk, table);
}

/* All wanted fields are in the message with these fields (TableSchema's or TableFieldSchema's number of them). */
static bool fields_known(struct proto_reader reader, uint32_t number, const struct table_field *wanted, size_t count);

static bool field_is(struct proto_reader reader, const struct table_field *wanted)
{
	struct proto_reader whole = reader;
	struct proto_field field;
	bool is_named = false, is_required = false;

	while (proto_next(&reader, &field)) {
		if (field.number == FIELD_NAME)
			is_named = name_equal(proto_bytes(&field), wanted->name);
		else if (field.number == FIELD_MODE)
			is_required = proto_int32(&field) == MODE_REQUIRED;
	}
	return is_named && !(is_required && wanted->is_relaxed) && fields_known(whole, FIELD_FIELDS, wanted->fields, wanted->field_count);
}

static bool field_comes(struct proto_reader *reader, uint32_t number, const struct table_field *wanted)
{
	struct proto_field field;

	while (proto_next(reader, &field)) {
		if (field.number == number && field_is(proto_enter(reader, &field), wanted))
			return true;
	}
	return false;
}

static bool fields_known(struct proto_reader reader, uint32_t number, const struct table_field *wanted, size_t count)
{
	struct proto_reader next = reader;

	/* Mostly in the same order: the next one is looked for behind the last, then everywhere. */
	for (size_t i = 0; i < count; i++) {
		if (field_comes(&next, number, &wanted[i]))
			continue;
		next = reader;
		if (!field_comes(&next, number, &wanted[i]))
			return false;
	}
	return true;
}

static bool stream_knows(struct span message, const struct table_shape *wanted)
{
	struct proto_reader reader = proto_open(message);
	struct proto_field field;

	while (proto_next(&reader, &field)) {
		if (field.number == STREAM_SCHEMA)
			return fields_known(proto_enter(&reader, &field), SCHEMA_FIELDS, wanted->fields, wanted->count);
	}
	return false;
}

static void look_end(struct table_desk *desk, struct desk_table *table, enum grpc_code code)
{
	pthread_mutex_unlock(&desk->lock);
	google_ended(desk->google, table->token, code);
	grpc_call_free(table->look);
	pthread_mutex_lock(&desk->lock);
	table->look = NULL;
}

/* A look that fails says nothing of the columns: the rows themselves will tell what is wrong. UNIMPLEMENTED: an emulator
 * without it. NOT_FOUND: it does not know the table yet. */
static void look_failed(struct table_desk *desk, struct desk_table *table)
{
	enum grpc_code code = grpc_result(table->look).code;

	look_end(desk, table, code);
	if (code == GRPC_UNIMPLEMENTED || code == GRPC_PERMISSION_DENIED)
		is_settled(desk, table);
	else
		again(desk, table);
}

void settle_look(struct table_desk *desk, struct desk_table *table)
{
	struct grpc_message *message = NULL;
	enum grpc_outcome outcome = grpc_receive(table->look, &message, 0);

	if (outcome == GRPC_ENDED) {
		look_failed(desk, table);
		return;
	}
	if (outcome != GRPC_DONE)
		return;
	look_end(desk, table, GRPC_OK);
	if (stream_knows(span_make(message->bytes, message->len), table->wanted))
		is_settled(desk, table);
	else
		again(desk, table);
	grpc_message_free(message);
}
