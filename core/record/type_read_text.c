/*
 * Readers of text, bytes and JSON. Text goes through untouched: a cell of text
 * is the inside of the message's JSON string, still escaped.
 */
#include "record/type_decimal_private.h"
#include "record/type_time_private.h"

#include "base/hash.h"

#define JSON_LEVELS_MAX 500 /* of a JSON column; BigQuery's limit */

enum convert_result read_text(struct reading *r, uint32_t token, struct cell *out)
{
	if (!json_is(r->doc, token, JSON_STRING))
		return reading_mismatch(r, "no text where text is meant");
	out->kind = CELL_TEXT;
	out->text = json_raw(r->doc, token);
	out->is_escaped = true;
	return CONVERT_OK;
}

enum convert_result read_bytes(struct reading *r, uint32_t token, struct cell *out)
{
	struct span text;
	size_t room, len;
	char *bytes;

	if (!json_is(r->doc, token, JSON_STRING))
		return reading_mismatch(r, "no base64 text where bytes are meant");
	text = json_text(r->doc, token, r->arena);
	room = text.len / 4 * 3 + 1;
	bytes = arena_bytes(r->arena, room);
	if (!base64_decode(text, bytes, &len))
		return reading_mismatch(r, "text that is no base64 (A-Z a-z 0-9 + / with = at the end) where bytes are meant");
	arena_shrink(r->arena, bytes, room, len);
	out->kind = CELL_BYTES;
	out->text = span_make(bytes, len);
	return CONVERT_OK;
}

enum convert_result read_base64url(struct reading *r, uint32_t token, struct cell *out)
{
	struct span text;
	size_t len;
	char *copy;

	if (!json_is(r->doc, token, JSON_STRING))
		return reading_mismatch(r, "no base64 text where bytes are meant");
	text = json_text(r->doc, token, r->arena);
	copy = arena_bytes(r->arena, text.len + 3);
	for (len = 0; len < text.len; len++) {
		char c = text.at[len];

		if (c == '+' || c == '/')
			return reading_mismatch(r, "text that is no URL-safe base64 (- and _ for + and /) where bytes are meant");
		copy[len] = c;
		copy[len] = c == '-' ? '+' : c == '_' ? '/' : c;
	}
	while (len % 4)
		copy[len++] = '=';
	out->kind = CELL_BYTES;
	if (!base64_decode(span_make(copy, len), copy, &len)) /* in place: three bytes from each four */
		return reading_mismatch(r, "text that is no URL-safe base64 where bytes are meant");
	out->text = span_make(copy, len);
	return CONVERT_OK;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

enum convert_result read_hex(struct reading *r, uint32_t token, struct cell *out)
{
	struct span text;
	char *bytes;

	if (!json_is(r->doc, token, JSON_STRING))
		return reading_mismatch(r, "no hex text where bytes are meant");
	text = json_text(r->doc, token, r->arena);
	bytes = arena_bytes(r->arena, text.len / 2 + 1);
	if (text.len % 2)
		return reading_mismatch(r, "an odd number of hex digits where bytes are meant");
	for (size_t i = 0; i < text.len; i += 2) {
		int high = hex_digit(text.at[i]), low = hex_digit(text.at[i + 1]);

		if (high < 0 || low < 0)
			return reading_mismatch(r, "text that is no hex where bytes are meant");
		bytes[i / 2] = (char)(high << 4 | low);
	}
	out->kind = CELL_BYTES;
	out->text = span_make(bytes, text.len / 2);
	return CONVERT_OK;
}

/* Lowest byte first; INT64 takes what fits 63 bits. */
enum convert_result read_bits(struct reading *r, uint32_t token, struct cell *out)
{
	enum convert_result result = read_bytes(r, token, out);
	uint64_t number = 0;

	if (result != CONVERT_OK || r->to->kind != BQ_INT64 || r->to->is_array)
		return result;
	r->got = (struct bq_type){ .kind = BQ_INT64 };
	for (size_t i = out->text.len; i-- > 0;) {
		if (number >> 55) {
			*out = (struct cell){ .kind = CELL_INT, .number = INT64_MAX };
			return reading_out_of_range(r, "integer_out_of_range", "INT64 holds 63 bits");
		}
		number = number << 8 | (unsigned char)out->text.at[i];
	}
	*out = (struct cell){ .kind = CELL_INT, .number = (int64_t)number };
	return CONVERT_OK;
}

/* Opening brackets that are still open at the deepest place, at most JSON_LEVELS_MAX. */
bool json_text_depth_ok(const struct json_doc *doc)
{
	uint32_t ends[JSON_LEVELS_MAX];
	size_t depth = 0;

	if (doc->text.len < 2 * JSON_LEVELS_MAX)
		return true;
	for (uint32_t t = 0; t < doc->count; t++) {
		while (depth && ends[depth - 1] <= t)
			depth--;
		if (doc->tokens[t].kind != JSON_OBJECT && doc->tokens[t].kind != JSON_ARRAY)
			continue;
		if (depth == JSON_LEVELS_MAX)
			return false;
		ends[depth++] = doc->tokens[t].next;
	}
	return true;
}

enum convert_result reading_json_text(struct reading *r, struct span text)
{
	struct json_doc doc = { .tokens = NULL };
	size_t at;
	enum json_fault fault = json_parse(&doc, text, &at);

	if (fault == JSON_FINE && !json_text_depth_ok(&doc))
		fault = JSON_TOO_DEEP;
	json_doc_free(&doc);
	if (fault == JSON_FINE)
		return CONVERT_OK;
	if (fault != JSON_TOO_DEEP)
		return reading_mismatch(r, "text that is no JSON where JSON is meant");
	reading_mismatch(r, "a JSON column holds 500 levels");
	r->fault->code = "too_deep";
	return CONVERT_MISMATCH;
}

enum convert_result read_json(struct reading *r, uint32_t token, struct cell *out)
{
	if (!json_is(r->doc, token, JSON_STRING))
		return read_object(r, token, out); /* some converters expand it */
	out->kind = CELL_TEXT;
	out->text = json_raw(r->doc, token);
	out->is_escaped = true;
	return reading_json_text(r, json_text(r->doc, token, r->arena));
}
