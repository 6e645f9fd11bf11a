/*
 * Reads messages that Google's library made and writes them again, field by field, by the
 * types of tests/emulators/proto.go; and says of damaged bytes whether they are whole.
 */
#include "drive.h"

#include "base/arena.h"

#include <arpa/inet.h>
#include <stdlib.h>

#define LIMIT ((size_t)256 << 20)

enum kind { INT, UINT, SINT, BOOLEAN, FIXED32, FIXED64, FLOAT, DOUBLE, BYTES, MESSAGE };

/* By number; lists of numbers are packed, and are written one by one when they have an odd length. */
static const struct row {
	uint32_t number;
	enum kind kind;
	bool is_list;
} rows[] = {
	{ 1, INT, false },     { 2, INT, false },     { 3, UINT, false },    { 4, UINT, false },   { 5, SINT, false },
	{ 6, SINT, false },    { 7, BOOLEAN, false }, { 8, FIXED32, false }, { 9, FIXED64, false }, { 10, FLOAT, false },
	{ 11, DOUBLE, false }, { 12, BYTES, false },  { 13, BYTES, false },  { 14, MESSAGE, false }, { 15, MESSAGE, true },
	{ 16, INT, true },     { 2047, BYTES, true }, { PROTO_NUMBER_MAX, SINT, true },
};

static const struct row *row_find(uint32_t number)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].number == number)
			return &rows[i];
	}
	return NULL;
}

static void copy_message(struct proto_reader *r, struct text *out);

static void copy_list(struct proto_reader *r, const struct row *row, const struct proto_field *field, struct text *out)
{
	uint64_t values[64], value;
	size_t count = 0, cursor = 0;

	while (proto_element(r, field, WIRE_VARINT, &cursor, &value)) {
		must(count < 64, "a list is too long");
		values[count++] = value;
	}
	if (count % 2 == 0) {
		proto_put_packed(out, row->number, values, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		proto_put_uint(out, row->number, values[i]);
}

static void copy_field(struct proto_reader *r, const struct row *row, const struct proto_field *field, struct text *out)
{
	struct proto_reader inner;
	size_t mark;

	switch (row->kind) {
	case INT:
		proto_put_int(out, row->number, row->number == 1 ? proto_int32(field) : proto_int64(field));
		break;
	case UINT:
		proto_put_uint(out, row->number, proto_uint64(field));
		break;
	case SINT:
		proto_put_sint(out, row->number, proto_sint64(field));
		break;
	case BOOLEAN:
		proto_put_bool(out, row->number, proto_bool(field));
		break;
	case FIXED32:
		proto_put_fixed32(out, row->number, (uint32_t)proto_uint64(field));
		break;
	case FIXED64:
		proto_put_fixed64(out, row->number, proto_uint64(field));
		break;
	case FLOAT:
		proto_put_float(out, row->number, proto_float(field));
		break;
	case DOUBLE:
		proto_put_double(out, row->number, proto_double(field));
		break;
	case BYTES:
		proto_put_bytes(out, row->number, proto_bytes(field));
		break;
	case MESSAGE:
		inner = proto_enter(r, field);
		mark = proto_begin(out, row->number);
		copy_message(&inner, out);
		proto_end(out, mark);
		proto_leave(r, &inner);
		break;
	}
}

static void copy_message(struct proto_reader *r, struct text *out)
{
	struct proto_field field;

	while (proto_next(r, &field)) {
		const struct row *row = row_find(field.number);

		must(row != NULL, "field %u is not in the table", field.number);
		if (row->is_list && row->kind != BYTES && row->kind != MESSAGE)
			copy_list(r, row, &field, out);
		else
			copy_field(r, row, &field, out);
	}
}

/* NULL: the file ends. */
static char *frame_read(FILE *file, struct span *out)
{
	uint32_t length;
	char *bytes;

	if (fread(&length, sizeof(length), 1, file) != 1)
		return NULL;
	length = ntohl(length);
	bytes = memory_alloc(length + 1);
	must(fread(bytes, 1, length, file) == length, "a frame is cut");
	*out = span_make(bytes, length);
	return bytes;
}

static void frame_write(FILE *file, struct span bytes)
{
	uint32_t length = htonl((uint32_t)bytes.len);

	fwrite(&length, sizeof(length), 1, file);
	fwrite(bytes.at, 1, bytes.len, file);
}

/* The first byte is Google's verdict: whole or broken. */
static void judge(struct span bytes, size_t number)
{
	struct proto_reader r = proto_open(span_make(bytes.at + 1, bytes.len - 1));
	struct proto_field field;

	while (proto_next(&r, &field))
		;
	must(r.is_broken == !bytes.at[0], "damaged message %zu is %s for us alone", number, r.is_broken ? "broken" : "whole");
}

int proto_copy(const char *from, const char *to)
{
	FILE *in = fopen(from, "re"), *out = fopen(to, "we");
	OWNED(text) made = text_new(LIMIT);
	size_t count = 0;
	struct span bytes;
	char *at;

	must(in && out, "cannot open the files");
	for (; (at = frame_read(in, &bytes)); count++) {
		struct proto_reader r = proto_open(bytes);

		text_clear(made);
		copy_message(&r, made);
		must(!r.is_broken && !made->is_full, "message %zu is broken", count);
		frame_write(out, text_span(made));
		free(at);
		at = frame_read(in, &bytes);
		must(at != NULL, "a verdict is missing");
		judge(bytes, count);
		free(at);
	}
	fclose(in);
	must(fclose(out) == 0, "cannot write");
	printf("{\"messages\":%zu}\n", count);
	return 0;
}
