/*
 * google.rpc.Status and the details that tell an operator something. Each kind of
 * detail is a row: its type's name and the function that reads it.
 */
#include "google/status.h"

#include "base/arena.h"
#include "base/hash.h"

#include <stdlib.h>

#define MS_A_SECOND 1000
#define LONGEST_DELAY_S 86400 /* nobody means more than a day */
#define HEADER_BYTES 65536    /* of details; peers refuse headers far below */

/* What fits; text that was cut ends between characters. */
static void keep(char *out, size_t room, struct span text)
{
	size_t len = text.len < room ? text.len : room - 1;

	while (len > 0 && len < text.len && ((unsigned char)text.at[len] & 0xc0) == 0x80)
		len--;
	if (len)
		memcpy(out, text.at, len);
	out[len] = '\0';
}

#define KEEP(out, field) keep(out, sizeof(out), proto_bytes(field))

/* Of a message whose first two fields are bytes; what it lacks is empty. */
static void read_first_two(struct proto_reader *r, struct span *out_first, struct span *out_second)
{
	struct proto_field field;

	*out_first = *out_second = SPAN("");
	while (proto_next(r, &field)) {
		if (field.number == 1)
			*out_first = proto_bytes(&field);
		else if (field.number == 2)
			*out_second = proto_bytes(&field);
	}
}

static void read_error_info(struct proto_reader *r, struct google_status *status)
{
	struct proto_field field;

	while (proto_next(r, &field)) {
		if (field.number == 1)
			KEEP(status->reason, &field);
		else if (field.number == 2)
			KEEP(status->domain, &field);
	}
}

static void read_retry_info(struct proto_reader *r, struct google_status *status)
{
	struct proto_field field;
	struct proto_time delay;

	while (proto_next(r, &field)) {
		if (field.number != 1 || !proto_time(r, &field, &delay))
			continue;
		if (delay.seconds < 0 || delay.nanos < 0)
			delay = (struct proto_time){ 0 };
		if (delay.seconds > LONGEST_DELAY_S)
			delay = (struct proto_time){ .seconds = LONGEST_DELAY_S };
		status->retry_delay_ms = delay.seconds * MS_A_SECOND + delay.nanos / 1000000;
	}
}

/* The three kinds of violations differ only in which fields hold subject and text. */
static void read_violation(struct proto_reader *r, uint32_t subject, uint32_t text, struct google_status *status)
{
	struct status_violation found = { 0 };
	struct proto_field field;

	while (proto_next(r, &field)) {
		if (field.number == subject)
			KEEP(found.subject, &field);
		else if (field.number == text)
			KEEP(found.text, &field);
	}
	if (!r->is_broken && status->violation_count < STATUS_VIOLATIONS)
		status->violations[status->violation_count++] = found;
}

static void read_violations(struct proto_reader *r, uint32_t subject, uint32_t text, struct google_status *status)
{
	struct proto_field field;

	while (proto_next(r, &field)) {
		struct proto_reader inner;

		if (field.number != 1)
			continue;
		inner = proto_enter(r, &field);
		read_violation(&inner, subject, text, status);
		proto_leave(r, &inner);
	}
}

static void read_bad_request(struct proto_reader *r, struct google_status *status)
{
	read_violations(r, 1, 2, status);
}

static void read_quota_failure(struct proto_reader *r, struct google_status *status)
{
	read_violations(r, 1, 2, status);
}

static void read_precondition_failure(struct proto_reader *r, struct google_status *status)
{
	read_violations(r, 1, 3, status);
}

static void read_resource_info(struct proto_reader *r, struct google_status *status)
{
	struct span type = SPAN(""), name = SPAN("");
	struct proto_field field;

	while (proto_next(r, &field)) {
		if (field.number == 1)
			type = proto_bytes(&field);
		else if (field.number == 2)
			name = proto_bytes(&field);
	}
	OWNED(text) both = text_new(HEADER_BYTES);

	text_add_span(both, type);
	text_add(both, type.len && name.len ? " " : "");
	text_add_span(both, name);
	keep(status->resource, sizeof(status->resource), text_span(both));
}

static void read_request_info(struct proto_reader *r, struct google_status *status)
{
	struct proto_field field;

	while (proto_next(r, &field)) {
		if (field.number == 1)
			KEEP(status->request_id, &field);
	}
}

static void read_link(struct proto_reader *r, struct google_status *status)
{
	struct proto_field field;

	while (proto_next(r, &field)) {
		if (field.number == 2 && !status->help_url[0])
			KEEP(status->help_url, &field);
	}
}

static void read_help(struct proto_reader *r, struct google_status *status)
{
	struct proto_field field;

	while (proto_next(r, &field)) {
		struct proto_reader inner;

		if (field.number != 1)
			continue;
		inner = proto_enter(r, &field);
		read_link(&inner, status);
		proto_leave(r, &inner);
	}
}

static void read_storage_error(struct proto_reader *r, struct google_status *status)
{
	struct proto_field field;

	while (proto_next(r, &field)) {
		if (field.number == 1)
			status->storage_code = proto_int32(&field);
		else if (field.number == 2)
			KEEP(status->storage_entity, &field);
		else if (field.number == 3)
			KEEP(status->storage_message, &field);
	}
}

static const struct detail {
	const char *type; /* behind the last slash of the Any's type_url */
	void (*read)(struct proto_reader *r, struct google_status *status);
} details[] = {
	{ "google.rpc.ErrorInfo", read_error_info },
	{ "google.rpc.RetryInfo", read_retry_info },
	{ "google.rpc.BadRequest", read_bad_request },
	{ "google.rpc.QuotaFailure", read_quota_failure },
	{ "google.rpc.PreconditionFailure", read_precondition_failure },
	{ "google.rpc.ResourceInfo", read_resource_info },
	{ "google.rpc.RequestInfo", read_request_info },
	{ "google.rpc.Help", read_help },
	{ "google.cloud.bigquery.storage.v1.StorageError", read_storage_error },
};

/* An Any: the type's name and the message's bytes. False: broken. */
static bool read_any(struct proto_reader *outer, const struct proto_field *any, struct span *out_type,
                     struct span *out_value)
{
	struct proto_reader r = proto_enter(outer, any);
	struct span type, value;

	read_first_two(&r, &type, &value);
	for (size_t i = type.len; i > 0; i--) {
		if (type.at[i - 1] == '/') {
			type = span_make(type.at + i, type.len - i);
			break;
		}
	}
	*out_type = type;
	*out_value = value;
	return proto_leave(outer, &r);
}

/* A detail that is broken inside says nothing; code and message of the status stand without it. */
static void read_detail(struct span type, struct span value, struct google_status *status)
{
	for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
		struct google_status tried = *status;
		struct proto_reader r = proto_open(value);

		if (!span_is(type, details[i].type))
			continue;
		details[i].read(&r, &tried);
		if (!r.is_broken)
			*status = tried;
	}
}

bool status_read(struct span bytes, struct google_status *out)
{
	struct google_status status = { .retry_delay_ms = -1 };
	struct proto_reader r = proto_open(bytes);
	struct proto_field field;
	struct span type, value;

	while (proto_next(&r, &field)) {
		if (field.number == 1) {
			int32_t code = proto_int32(&field);

			status.code = code >= 0 && code < GRPC_CODES ? (enum grpc_code)code : GRPC_UNKNOWN;
		} else if (field.number == 2) {
			KEEP(status.message, &field);
		} else if (field.number == 3 && read_any(&r, &field, &type, &value)) {
			read_detail(type, value, &status);
		}
	}
	if (r.is_broken)
		return false;
	*out = status;
	return true;
}

/* Unpadded base64, as gRPC writes it, gets its padding: our decoder is strict. */
static char *header_decode(struct span value, size_t *out_len)
{
	const char *comma = value.len ? memchr(value.at, ',', value.len) : NULL;
	size_t len = comma ? (size_t)(comma - value.at) : value.len;
	char *text, *bytes;

	if (len > HEADER_BYTES)
		return NULL;
	text = memory_alloc(len + 4);
	if (len)
		memcpy(text, value.at, len);
	while (len % 4)
		text[len++] = '=';
	bytes = memory_alloc(len / 4 * 3 + 1);
	if (!base64_decode(span_make(text, len), bytes, out_len)) {
		free(bytes);
		bytes = NULL;
	}
	free(text);
	return bytes;
}

bool status_read_header(struct span value, struct google_status *out)
{
	size_t len;
	char *bytes = header_decode(value, &len);
	bool is_fine = bytes && status_read(span_make(bytes, len), out);

	free(bytes);
	return is_fine;
}

static void read_pair(struct proto_reader *r, const struct proto_field *entry,
                      void (*on_pair)(void *context, struct span key, struct span value), void *context)
{
	struct proto_reader inner = proto_enter(r, entry);
	struct span key, value;

	read_first_two(&inner, &key, &value);
	if (proto_leave(r, &inner))
		on_pair(context, key, value);
}

bool status_metadata(struct span bytes, void (*on_pair)(void *context, struct span key, struct span value), void *context)
{
	struct proto_reader r = proto_open(bytes);
	struct proto_field field, pair;
	struct span type, value;

	while (proto_next(&r, &field)) {
		if (field.number != 3 || !read_any(&r, &field, &type, &value) || !span_is(type, "google.rpc.ErrorInfo"))
			continue;
		struct proto_reader info = proto_open(value);

		while (proto_next(&info, &pair)) {
			if (pair.number == 3)
				read_pair(&info, &pair, on_pair, context);
		}
		proto_leave(&r, &info);
	}
	return !r.is_broken;
}

bool status_metadata_header(struct span value, void (*on_pair)(void *context, struct span key, struct span value),
                            void *context)
{
	size_t len;
	char *bytes = header_decode(value, &len);
	bool is_fine = bytes && status_metadata(span_make(bytes, len), on_pair, context);

	free(bytes);
	return is_fine;
}
