/*
 * The Storage Write API for speed: rows are counted, not kept; offsets run on, nothing is checked. Tables are made at the
 * Go stand-in (REST): two programs, each at what it does well. At the end one line says what came.
 */
#include "fast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 512
#define PACKAGE "/google.cloud.bigquery.storage.v1.BigQueryWrite/"

/* Numbers of fields in the messages of storage.proto and stream.proto. */
enum {
	REQUEST_STREAM = 1, REQUEST_PROTO_ROWS = 4, PROTO_DATA_ROWS = 2, ROWS_SERIALIZED = 1,
	RESPONSE_RESULT = 1, RESPONSE_STREAM = 5, RESULT_OFFSET = 1, INT64_VALUE = 1,
	GET_NAME = 1, GET_VIEW = 3, VIEW_FULL = 2, CREATE_PARENT = 1,
	STREAM_NAME = 1, STREAM_TYPE = 2, STREAM_LOCATION = 8, TYPE_COMMITTED = 1,
	FINALIZED_ROWS = 1,
};
enum { UNIMPLEMENTED = 12, INVALID_ARGUMENT = 3, VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* A stream that was made, by the order in which that happened. */
static struct made_stream {
	uint64_t rows;
} *streams;
static size_t stream_count, stream_room;
static uint64_t all_rows, all_bytes, all_requests;

/* What an AppendRows call is about; kept with the call. */
struct appending {
	char name[NAME_BYTES];
	size_t name_len;
	size_t stream; /* number + 1; 0: the default one */
};

struct reader {
	const uint8_t *at, *end;
	bool is_broken;
};

struct value {
	uint32_t number, kind;
	uint64_t varint;
	const uint8_t *at;
	size_t len;
};

static uint64_t read_varint(struct reader *reader)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
		uint8_t byte = *reader->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	reader->is_broken = true;
	return 0;
}

static bool read_value(struct reader *reader, struct value *out)
{
	uint64_t tag, len = 0;

	if (reader->is_broken || reader->at >= reader->end)
		return false;
	tag = read_varint(reader);
	*out = (struct value){ .number = (uint32_t)(tag >> 3), .kind = tag & 7 };
	if (out->kind == VARINT)
		out->varint = read_varint(reader);
	else if (out->kind == BYTES)
		len = read_varint(reader);
	else
		len = out->kind == FIXED64 ? 8 : out->kind == FIXED32 ? 4 : UINT64_MAX;
	if (len > (uint64_t)(reader->end - reader->at))
		reader->is_broken = true;
	if (reader->is_broken)
		return false;
	out->at = reader->at;
	out->len = (size_t)len;
	reader->at += len;
	return true;
}

static struct reader reader_of(const uint8_t *at, size_t len)
{
	return (struct reader){ .at = at, .end = at + len };
}

/* The last field of that number; false: there is none. */
static bool find(const uint8_t *at, size_t len, uint32_t number, struct value *out)
{
	struct reader reader = reader_of(at, len);
	struct value value;
	bool is_there = false;

	while (read_value(&reader, &value)) {
		if (value.number != number)
			continue;
		*out = value;
		is_there = true;
	}
	return is_there && !reader.is_broken;
}

static uint8_t *put_varint(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

static uint8_t *put_bytes(uint8_t *at, uint32_t number, const void *bytes, size_t len)
{
	at = put_varint(put_varint(at, number << 3 | BYTES), len);
	if (len)
		memcpy(at, bytes, len);
	return at + len;
}

static uint8_t *put_number(uint8_t *at, uint32_t number, uint64_t value)
{
	return put_varint(put_varint(at, number << 3 | VARINT), value);
}

/* The number behind ".../streams/fast" plus one; 0: a stream that was not made here, so a default one. */
static size_t stream_of(const char *name, size_t len)
{
	static const char mark[] = "/streams/fast";
	char text[NAME_BYTES + 1];
	const char *at;
	unsigned long number;

	if (len > NAME_BYTES)
		return 0;
	memcpy(text, name, len);
	text[len] = '\0';
	at = strstr(text, mark);
	number = at ? strtoul(at + sizeof(mark) - 1, NULL, 10) : stream_count;
	return number < stream_count ? number + 1 : 0;
}

static bool count_rows(const uint8_t *at, size_t len, uint64_t *out_rows)
{
	struct value data, rows, row;
	struct reader reader;
	uint64_t count = 0;

	*out_rows = 0;
	if (!find(at, len, REQUEST_PROTO_ROWS, &data))
		return false;
	if (!find(data.at, data.len, PROTO_DATA_ROWS, &rows))
		return true;
	reader = reader_of(rows.at, rows.len);
	while (read_value(&reader, &row))
		count += row.number == ROWS_SERIALIZED;
	*out_rows = count;
	return !reader.is_broken;
}

/* {append_result {offset}, write_stream}; a default stream has no offset. */
static void answer_rows(struct fast_stream *stream, const struct appending *call, uint64_t rows)
{
	uint8_t result[32], offset[16], message[NAME_BYTES + 64], *end = result, *at;

	if (call->stream) {
		struct made_stream *made = &streams[call->stream - 1];
		size_t len = (size_t)(put_number(offset, INT64_VALUE, made->rows) - offset);

		end = put_bytes(result, RESULT_OFFSET, offset, len);
		made->rows += rows;
	}
	at = put_bytes(message, RESPONSE_RESULT, result, (size_t)(end - result));
	at = put_bytes(at, RESPONSE_STREAM, call->name, call->name_len);
	fast_send(stream, message, (size_t)(at - message));
}

static void append(struct fast_stream *stream, const uint8_t *at, size_t len)
{
	struct appending **slot = (struct appending **)fast_own(stream), *call = *slot;
	struct value name;
	uint64_t rows;

	if (!call)
		call = *slot = calloc(1, sizeof(*call));
	if (!call)
		abort();
	if (find(at, len, REQUEST_STREAM, &name) && name.len && name.len <= NAME_BYTES) {
		memcpy(call->name, name.at, name.len);
		call->name_len = name.len;
		call->stream = stream_of(call->name, call->name_len);
	}
	if (!call->name_len || !count_rows(at, len, &rows)) {
		fast_finish(stream, INVALID_ARGUMENT);
		return;
	}
	all_requests++;
	all_rows += rows;
	all_bytes += len;
	answer_rows(stream, call, rows);
}

static void finish(struct fast_stream *stream)
{
	fast_finish(stream, 0);
}

static void send_stream(struct fast_stream *stream, const void *name, size_t len)
{
	uint8_t message[NAME_BYTES + 64], *at;

	at = put_bytes(message, STREAM_NAME, name, len);
	at = put_number(at, STREAM_TYPE, TYPE_COMMITTED);
	at = put_bytes(at, STREAM_LOCATION, "US", 2);
	fast_send(stream, message, (size_t)(at - message));
}

/* Schemas are not known here. */
static void get_stream(struct fast_stream *stream, const uint8_t *at, size_t len)
{
	struct value name, view;

	if (find(at, len, GET_VIEW, &view) && view.varint == VIEW_FULL)
		fast_finish(stream, UNIMPLEMENTED);
	else if (!find(at, len, GET_NAME, &name) || name.len > NAME_BYTES)
		fast_finish(stream, INVALID_ARGUMENT);
	else
		send_stream(stream, name.at, name.len);
}

static void create_stream(struct fast_stream *stream, const uint8_t *at, size_t len)
{
	char name[NAME_BYTES];
	struct value parent;
	int made;

	if (!find(at, len, CREATE_PARENT, &parent) || parent.len > NAME_BYTES - 64) {
		fast_finish(stream, INVALID_ARGUMENT);
		return;
	}
	if (stream_count == stream_room) {
		stream_room = (stream_room + 8) * 2;
		streams = realloc(streams, stream_room * sizeof(*streams));
		if (!streams)
			abort();
	}
	made = snprintf(name, sizeof(name), "%.*s/streams/fast%zu", (int)parent.len, (const char *)parent.at, stream_count);
	streams[stream_count++] = (struct made_stream){ 0 };
	send_stream(stream, name, (size_t)made);
}

static void finalize(struct fast_stream *stream, const uint8_t *at, size_t len)
{
	uint8_t message[16];
	struct value name;
	size_t made = find(at, len, GET_NAME, &name) ? stream_of((const char *)name.at, name.len) : 0;

	if (!made)
		fast_finish(stream, INVALID_ARGUMENT);
	else
		fast_send(stream, message, (size_t)(put_number(message, FINALIZED_ROWS, streams[made - 1].rows) - message));
}

static const struct fast_service services[] = {
	{ PACKAGE "AppendRows", append, finish },
	{ PACKAGE "GetWriteStream", get_stream, finish },
	{ PACKAGE "CreateWriteStream", create_stream, finish },
	{ PACKAGE "FinalizeWriteStream", finalize, finish },
	{ NULL, NULL, NULL },
};

int main(void)
{
	int status = fast_serve(services);

	printf("{\"requests\":%llu,\"rows\":%llu,\"bytes\":%llu}\n", (unsigned long long)all_requests, (unsigned long long)all_rows,
	       (unsigned long long)all_bytes);
	free(streams);
	return status;
}
