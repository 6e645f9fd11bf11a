/* Bodies of insertAll: rows as JSON until a request is full, and gzip. */
#include "sink/bigquery_insert_private.h"

#include "base/clean.h"
#include "base/hash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

#define BODY_BYTES_MAX (INSERT_ROW_BYTES_MAX + 100000)
#define ID_BYTES 18       /* of the hash: 24 characters, and no two rows of a table in a minute are the same */
#define GZIP_LEAST 1024
#define GZIP_LEVEL 1      /* JSON shrinks to a fifth at once; more costs more than it saves */
#define GZIP_WINDOW (15 + 16) /* 16: with gzip's head */

struct insert_request *insert_request_new(struct insert *insert, struct bigquery_part *part, uint32_t *records, size_t count)
{
	struct insert_request *request = arena_zalloc(insert->batch->arena, sizeof(*request));

	request->part = part;
	request->records = records;
	request->count = count;
	request->backoff = (struct backoff)BACKOFF(INSERT_FIRST_WAIT_MS, INSERT_MOST_WAIT_MS, 2);
	return request;
}

/* A row's place is its message's, with the ordinal inside it: the same row that comes again has the same id, by which
 * BigQuery leaves out what it has got a moment ago. All of a key counts: rows of a snapshot share their position. */
static void id_add(struct text *out, const struct record *record)
{
	unsigned char place[POSITION_BYTES + SHA256_BYTES], hash[SHA256_BYTES];
	char id[ID_BYTES / 3 * 4];

	memcpy(place, record->position, POSITION_BYTES);
	sha256(record->key, place + POSITION_BYTES);
	sha256(span_make((const char *)place, sizeof(place)), hash);
	text_add(out, "{\"insertId\":\"");
	text_add_span(out, span_make(id, base64_encode(span_make((const char *)hash, ID_BYTES), id)));
	text_add(out, "\",\"json\":{");
}

/* As the writer of Storage Write adds them: when the message came, and an ALTER's or RENAME's own words; nothing to rows of
 * append tables. */
static void row_add(struct text *out, const struct insert *insert, const struct bigquery_part *part, const struct record *record)
{
	bool is_change = record->operation == OP_ALTER || record->operation == OP_RENAME;
	bool has_members;

	id_add(out, record);
	has_members = row_json_members(out, proto_open(record->proto), part->shape->fields, part->shape->count);
	if (insert->sink->books.is_append) {
		text_add(out, "}}");
		return;
	}
	text_add_format(out, "%s\"_weir_received\":\"%" PRId64 "\"", has_members ? "," : "",
	                insert->batch->messages[record->message].received_us);
	if (is_change && record->full_record.len) {
		text_add(out, ",\"_weir_change\":");
		json_quote(out, record->full_record);
	}
	text_add(out, "}}");
}

static void cut(struct text *body, size_t len)
{
	body->len = len;
	body->at[len] = '\0';
	body->is_full = false;
}

static bool is_pending(const struct insert *insert, uint32_t record)
{
	return insert->batch->records[record].verdict == VERDICT_PENDING;
}

static void too_large(struct insert *insert, uint32_t record)
{
	bigquery_refuse(insert->batch, &insert->batch->records[record], "row_too_large", (struct span){ 0 },
	                "the row has more than %d bytes as insertAll's JSON", INSERT_ROW_BYTES_MAX);
}

struct text *insert_body(struct insert *insert, struct insert_request *request, struct insert_request **out_rest)
{
	struct text *body = text_new(BODY_BYTES_MAX);
	size_t taken = 0, at = 0;

	*out_rest = NULL;
	/* Good rows are written though others are bad; only a column that is not there stops all of them. */
	text_add(body, "{\"skipInvalidRows\":true,\"rows\":[");
	for (; at < request->count && taken < INSERT_ROWS_MAX; at++) {
		size_t before = body->len;

		if (!is_pending(insert, request->records[at]))
			continue;
		text_add(body, taken ? "," : "");
		row_add(body, insert, request->part, &insert->batch->records[request->records[at]]);
		if (taken && (body->is_full || body->len > INSERT_REQUEST_BYTES)) {
			cut(body, before);
			break;
		}
		if (body->is_full || body->len - before > INSERT_ROW_BYTES_MAX) {
			cut(body, before);
			too_large(insert, request->records[at]);
			continue;
		}
		request->records[taken++] = request->records[at];
	}
	if (at < request->count)
		*out_rest = insert_request_new(insert, request->part, request->records + at, request->count - at);
	request->count = taken;
	text_add(body, "]}");
	if (taken)
		return body;
	text_free(body);
	return NULL;
}

bool insert_gzip(struct span body, struct text *out)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)body.at, .avail_in = (unsigned)body.len };
	unsigned char piece[16384];
	int result = Z_OK;

	if (body.len < GZIP_LEAST || deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	while (result == Z_OK) {
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		result = deflate(&z, Z_FINISH);
		text_add_span(out, span_make((const char *)piece, sizeof(piece) - z.avail_out));
	}
	deflateEnd(&z);
	return result == Z_STREAM_END && !out->is_full;
}
