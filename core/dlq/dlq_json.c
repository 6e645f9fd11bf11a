/*
 * The JSON forms of commands.md, piece by piece. Text of strangers passes
 * json_quote: control and bidi characters come out as \u escapes.
 */
#include "dlq/dlq_private.h"

#include "base/clean.h"
#include "base/clock.h"

#include <stdlib.h>

/* Limits of what is shown, so that one monstrous letter cannot stop a listing; what is stored is whole. */
#define TEXT_SHOWN_MAX ((size_t)64 << 10)
#define ATTRIBUTES_SHOWN_MAX ((size_t)8 << 20)

/* Without the bytes of a character that the cut has split. */
static struct span cut_at_character(struct span text)
{
	size_t len = text.len;

	for (int i = 0; i < 3 && len > 0 && ((unsigned char)text.at[len - 1] & 0xc0) == 0x80; i++)
		len--;
	if (len > 0 && (unsigned char)text.at[len - 1] >= 0xc0 && !utf8_is_valid(span_make(text.at + len - 1, text.len - len + 1)))
		return span_make(text.at, len - 1);
	return text;
}

static void quote_shown(struct text *out, struct span value)
{
	json_quote(out, value.len <= TEXT_SHOWN_MAX ? value : cut_at_character(span_make(value.at, TEXT_SHOWN_MAX)));
}

void member_first(struct text *out, const char *name, struct span value)
{
	text_add_format(out, "{\"%s\":", name);
	json_quote(out, value);
}

void member_name(struct text *out, const char *name)
{
	text_add_format(out, ",\"%s\":", name);
}

void member_text(struct text *out, const char *name, struct span value)
{
	member_name(out, name);
	quote_shown(out, value);
}

void member_text_or_null(struct text *out, const char *name, struct span value)
{
	member_name(out, name);
	if (value.len)
		quote_shown(out, value);
	else
		text_add(out, "null");
}

void member_int(struct text *out, const char *name, int64_t number)
{
	member_name(out, name);
	text_add_int(out, number);
}

void member_bool(struct text *out, const char *name, bool is_true)
{
	member_name(out, name);
	text_add(out, is_true ? "true" : "false");
}

void member_time(struct text *out, const char *name, int64_t utc_us)
{
	char time[CLOCK_TEXT_BYTES];

	clock_text(utc_us, time);
	member_text(out, name, span_of(time));
}

bool dlq_json_is_whole(struct dlq *dlq, const struct text *out, struct error *err)
{
	if (!out->is_full)
		return true;
	return fail(err, ERROR_BUG, "store_failed", "a line of the store '%s' would be longer than %zu bytes",
	            dlq->store->path, LINE_LIMIT);
}

/* Names may come twice; the order is that of receipt. */
static void json_attributes(struct text *out, struct span packed)
{
	struct span name, value;
	size_t start = out->len;
	bool is_first = true;

	text_add(out, ",\"attrs\":{");
	while (out->len - start < ATTRIBUTES_SHOWN_MAX && attributes_next(&packed, &name) &&
	       attributes_next(&packed, &value)) {
		text_add(out, is_first ? "" : ",");
		quote_shown(out, name);
		text_add_char(out, ':');
		quote_shown(out, value);
		is_first = false;
	}
	text_add_char(out, '}');
}

static void json_source(struct text *out, sqlite3_stmt *row)
{
	member_name(out, "source");
	member_first(out, "kind", store_text(row, COL_KIND));
	member_text_or_null(out, "file", store_text(row, COL_FILE));
	member_int(out, "line", sqlite3_column_int64(row, COL_LINE));
	member_int(out, "offset", sqlite3_column_int64(row, COL_PLACE));
	if (store_text(row, COL_MESSAGE_ID).len)
		member_text(out, "message_id", store_text(row, COL_MESSAGE_ID));
	text_add_char(out, '}');
}

/* Only where the destination can know: a key, and a position of the letter's own. */
static bool is_newer_known(sqlite3_stmt *row, const struct dlq_filter *filter)
{
	struct span table = store_text(row, COL_TABLE);
	struct span key = store_blob(row, COL_WEIR_KEY);
	struct span position = store_blob(row, COL_POSITION);

	if (!filter->is_newer || !key.len || position.len != POSITION_BYTES || span_is(table, "-"))
		return false;
	return filter->is_newer(filter->context, table.at, key, (const unsigned char *)position.at);
}

static void json_reason(struct text *out, sqlite3_stmt *row)
{
	member_text(out, "stage", store_text(row, COL_STAGE));
	member_text(out, "code", store_text(row, COL_CODE));
	member_text_or_null(out, "message", store_text(row, COL_MESSAGE));
	member_text(out, "table", store_text(row, COL_TABLE));
	member_text_or_null(out, "column", store_text(row, COL_COLUMN));
	member_text_or_null(out, "path", store_text(row, COL_PATH));
	member_text_or_null(out, "key", store_text(row, COL_KEY));
}

static const char *state_word(int state)
{
	return state >= 0 && state < LETTER_STATES ? letter_states[state].word : "unknown";
}

void letter_json(struct text *out, sqlite3_stmt *row, const struct dlq_filter *filter)
{
	text_add_format(out, "{\"id\":%lld", (long long)sqlite3_column_int64(row, COL_ID));
	member_text(out, "job", span_of(filter->job));
	member_int(out, "group", sqlite3_column_int64(row, COL_GROUP));
	member_text(out, "state", span_of(state_word(sqlite3_column_int(row, COL_STATE))));
	json_reason(out, row);
	json_source(out, row);
	member_text_or_null(out, "publish", store_text(row, COL_PUBLISH));
	member_text_or_null(out, "ordering_key", store_text(row, COL_ORDERING_KEY));
	json_attributes(out, store_blob(row, COL_ATTRS));
	member_int(out, "bytes", sqlite3_column_int64(row, COL_SIZE));
	member_text(out, "sha256", store_text(row, COL_SHA256));
	member_time(out, "first", sqlite3_column_int64(row, COL_FIRST));
	member_time(out, "last", sqlite3_column_int64(row, COL_LAST));
	member_int(out, "attempts", sqlite3_column_int64(row, COL_ATTEMPTS));
	member_bool(out, "newer", is_newer_known(row, filter));
	if (store_text(row, COL_ORDINALS).len) {
		member_name(out, "ordinals");
		text_add_span(out, store_text(row, COL_ORDINALS));
	}
}

static void json_base64(struct text *out, struct span bytes)
{
	size_t room = base64_room(bytes.len);
	char *encoded = memory_alloc(room + 1);

	member_name(out, "payload_b64");
	json_quote(out, span_make(encoded, base64_encode(bytes, encoded)));
	free(encoded);
}

/* Text only if all of it is text; of a body that is too long to hold only the head can be asked. A null body has no
 * bytes: it is shown as empty text and says so, so that the member's type stays one. */
void letter_payload_json(struct text *out, struct span body, bool is_null, bool is_head)
{
	struct span whole = is_head ? cut_at_character(body) : body;
	bool is_cut = is_head || body.len > PIECE_BYTES;
	struct span shown = span_make(body.at, body.len < PIECE_BYTES ? body.len : PIECE_BYTES);

	if (utf8_is_valid(whole)) {
		member_name(out, "payload");
		json_quote(out, is_cut ? cut_at_character(shown) : shown);
	} else {
		json_base64(out, shown);
	}
	if (is_cut)
		member_bool(out, "cut", true);
	if (is_null)
		member_bool(out, "null", true);
}
