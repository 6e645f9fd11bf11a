/*
 * Requests of AppendRows: which rows go into one, and its bytes. A row's bytes are
 * copied once, from where the transform wrote them into the message that is sent.
 */
#include "sink/bigquery_append_private.h"

#include "base/wire.h"

#define TRACE_ID "weir"

/* Fields of AppendRowsRequest, ProtoData, ProtoSchema, ProtoRows. */
enum { REQUEST_STREAM = 1, REQUEST_OFFSET = 2, REQUEST_PROTO_ROWS = 4, REQUEST_TRACE = 6, REQUEST_MISSING = 8 };
enum { DATA_SCHEMA = 1, DATA_ROWS = 2, SCHEMA_DESCRIPTOR = 1, ROWS_ROW = 1 };
#define MISSING_IS_DEFAULT 2 /* columns that we do not know get what their table says */

void list_clear(struct request_list *list)
{
	list->first = NULL;
	list->end = &list->first;
}

void list_put(struct request_list *list, struct request *request)
{
	request->next = NULL;
	*list->end = request;
	list->end = &request->next;
}

struct request *list_take(struct request_list *list, struct request **at)
{
	struct request *request = *at;

	*at = request->next;
	if (!*at)
		list->end = at;
	request->next = NULL;
	return request;
}

/*
 * Rows
 */

static size_t varint_size(uint64_t value)
{
	size_t size = 1;

	for (; value >= 128; value >>= 7)
		size++;
	return size;
}

/* What an ALTER or a RENAME says stands in a column of its own: no fullRecord could hold it. */
static struct span change_of(const struct record *record)
{
	bool is_change = record->operation == OP_ALTER || record->operation == OP_RENAME;

	return is_change ? record->full_record : (struct span){ 0 };
}

/* Append tables have no column of ours. */
static size_t row_size(const struct append *append, const struct record *record)
{
	struct span change;
	size_t size;

	if (append->sink->books.is_append)
		return record->proto.len;
	change = change_of(record);
	size = record->proto.len + 1 + varint_size((uint64_t)append->batch->messages[record->message].received_us);
	return change.len ? size + 1 + varint_size(change.len) + change.len : size;
}

static char *row_put(const struct append *append, const struct record *record, char *at)
{
	struct span change;

	at = wire_varint(row_size(append, record), wire_tag(ROWS_ROW, WIRE_BYTES, at));
	if (record->proto.len)
		memcpy(at, record->proto.at, record->proto.len);
	at += record->proto.len;
	if (append->sink->books.is_append)
		return at;
	change = change_of(record);
	at = wire_varint((uint64_t)append->batch->messages[record->message].received_us, wire_tag(CHANGELOG_RECEIVED, WIRE_VARINT, at));
	if (!change.len)
		return at;
	at = wire_varint(change.len, wire_tag(CHANGELOG_CHANGE, WIRE_BYTES, at));
	memcpy(at, change.at, change.len);
	return at + change.len;
}

/*
 * Requests
 */

static struct request *request_new(struct append *append, struct bigquery_part *part, uint32_t *records)
{
	struct request *request = arena_zalloc(append->batch->arena, sizeof(*request));

	request->part = part;
	request->records = records;
	return request;
}

static bool is_too_large(struct append *append, struct record *record, size_t size)
{
	if (size <= APPEND_ROW_BYTES_MAX)
		return false;
	bigquery_refuse(append->batch, record, "row_too_large", (struct span){ 0 }, "the row has %zu bytes, %zu are allowed", size,
	                APPEND_ROW_BYTES_MAX);
	return true;
}

static bool is_there_already(struct append *append, struct bigquery_part *part, uint32_t record)
{
	struct place place;

	if (exactly_has_landed(append, part, record)) {
		exactly_remember(append, record);
		return true;
	}
	if (!append->recent)
		return false;
	place = place_of(append, record);
	return place.kind != PLACE_LETTER && recent_is_repeat(append->recent, append->batch->number, record, &place);
}

void requests_make(struct append *append, struct bigquery_part *part, struct request_list *out)
{
	struct batch *batch = append->batch;
	struct request *request = NULL;

	for (size_t i = 0; i < part->count; i++) {
		struct record *record = &batch->records[part->records[i]];
		size_t size;

		if (record->verdict != VERDICT_PENDING)
			continue;
		if (append->is_exactly_once && is_there_already(append, part, part->records[i])) {
			record->verdict = VERDICT_REPEATED;
			continue;
		}
		if (part->table->landed_count && late_has_landed(append, part, part->records[i])) {
			record->verdict = VERDICT_WRITTEN;
			continue;
		}
		size = row_size(append, record);
		size += 1 + varint_size(size);
		if (is_too_large(append, record, size))
			continue;
		if (!request || request->bytes + size > (append->is_exactly_once ? APPEND_WHOLE_BYTES : APPEND_REQUEST_BYTES)) {
			request = request_new(append, part, arena_alloc(batch->arena, (part->count - i) * sizeof(*part->records)));
			list_put(out, request);
		}
		request->records[request->count++] = part->records[i];
		request->bytes += size;
	}
}

static void bytes_count(struct append *append, struct request *request)
{
	request->bytes = 0;
	for (size_t i = 0; i < request->count; i++) {
		size_t size = row_size(append, &append->batch->records[request->records[i]]);

		request->bytes += size + 1 + varint_size(size);
	}
}

bool request_sieve(struct append *append, struct request *request)
{
	size_t kept = 0;

	for (size_t i = 0; i < request->count; i++) {
		if (append->batch->records[request->records[i]].verdict == VERDICT_PENDING)
			request->records[kept++] = request->records[i];
	}
	request->count = kept;
	bytes_count(append, request);
	return kept != 0;
}

struct request *request_split(struct append *append, struct request *request)
{
	size_t half = request->count / 2;
	struct request *rest = request_new(append, request->part, request->records + half);

	rest->count = request->count - half;
	rest->is_doubtful = request->is_doubtful;
	request->count = half;
	bytes_count(append, request);
	bytes_count(append, rest);
	return rest;
}

/*
 * The message
 */

static size_t field_size(size_t len)
{
	return 1 + varint_size(len) + len;
}

static char *text_put(char *at, uint32_t number, struct span text)
{
	at = wire_varint(text.len, wire_tag(number, WIRE_BYTES, at));
	memcpy(at, text.at, text.len);
	return at + text.len;
}

static char *data_put(struct append *append, const struct request *request, size_t schema_bytes, char *at)
{
	if (schema_bytes) {
		at = wire_varint(schema_bytes, wire_tag(DATA_SCHEMA, WIRE_BYTES, at));
		at = text_put(at, SCHEMA_DESCRIPTOR, request->part->descriptor);
	}
	at = wire_varint(request->bytes, wire_tag(DATA_ROWS, WIRE_BYTES, at));
	for (size_t i = 0; i < request->count; i++)
		at = row_put(append, &append->batch->records[request->records[i]], at);
	return at;
}

/* An Int64Value. */
static char *offset_put(char *at, uint64_t offset)
{
	at = wire_varint(1 + varint_size(offset), wire_tag(REQUEST_OFFSET, WIRE_BYTES, at));
	return wire_varint(offset, wire_tag(1, WIRE_VARINT, at));
}

/* Every size is known before, so nothing is moved. */
struct grpc_message *request_message(struct append *append, const struct request *request, bool has_schema)
{
	OWNED(text) stream = text_new(4096);
	size_t schema_bytes = has_schema ? field_size(request->part->descriptor.len) : 0;
	size_t data_bytes = (has_schema ? field_size(schema_bytes) : 0) + field_size(request->bytes), size;
	struct grpc_message *message;
	char *at;

	if (request->stream)
		text_add(stream, exactly_stream(request->stream));
	else
		text_add_format(stream, "%s/streams/_default", request->part->table->path);
	size = field_size(stream->len) + (request->stream ? field_size(1 + varint_size((uint64_t)request->first_row)) : 0) + field_size(data_bytes) + (has_schema ? field_size(sizeof(TRACE_ID) - 1) + 2 : 0);
	message = grpc_message_make(size, &at);
	at = text_put(at, REQUEST_STREAM, text_span(stream));
	if (request->stream)
		at = offset_put(at, (uint64_t)request->first_row);
	at = wire_varint(data_bytes, wire_tag(REQUEST_PROTO_ROWS, WIRE_BYTES, at));
	at = data_put(append, request, schema_bytes, at);
	if (has_schema) {
		at = text_put(at, REQUEST_TRACE, SPAN(TRACE_ID));
		wire_varint(MISSING_IS_DEFAULT, wire_tag(REQUEST_MISSING, WIRE_VARINT, at));
	}
	return message;
}
