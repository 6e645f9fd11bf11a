/*
 * The JSON forms of commands.md, piece by piece. Text of strangers passes
 * json_quote: control and bidi characters come out as \u escapes.
 */
#include "dlq/dlq_private.h"

#include "base/clean.h"
#include "base/clock.h"

#include <stdlib.h>

/*
 * Limits of what is shown, so that one monstrous letter cannot stop a listing; what is stored is whole (dlq_envelope,
 * dlq_bytes). They count escaped bytes, and together stay below a line of the socket: 13 texts, the attributes twice, a
 * payload.
 */
#define TEXT_SHOWN_MAX ((size_t)32 << 10)
#define ATTRIBUTES_SHOWN_MAX ((size_t)80 << 10)
#define ATTRIBUTE_SHOWN_MAX ((size_t)8 << 10) /* 1 KiB, all escaped, and then some */
#define ATTRIBUTES_SHOWN 200
#define PAYLOAD_SHOWN_MAX ((size_t)384 << 10)

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

/* False: it was cut, and ends with a mark. */
static bool quote_shown(struct text *out, struct span value)
{
	size_t room = TEXT_SHOWN_MAX - 3;
	struct span shown = json_fit(value, &room);

	json_quote(out, shown);
	if (shown.len == value.len)
		return true;
	out->len--;
	text_add(out, "\xe2\x80\xa6\"");
	return false;
}

/* Names of members that were cut, as the inside of a JSON array. */
static void note_cut(struct text *cut, const char *name)
{
	text_add_format(cut, cut->len ? ",\"%s\"" : "\"%s\"", name);
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

bool member_text(struct text *out, const char *name, struct span value)
{
	member_name(out, name);
	return quote_shown(out, value);
}

bool member_text_or_null(struct text *out, const char *name, struct span value)
{
	if (value.len)
		return member_text(out, name, value);
	member_name(out, name);
	text_add(out, "null");
	return true;
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

/*
 * Attributes: an object for who looks one up, and, where a name comes twice, all of them in order besides.
 */

struct shown_attributes {
	struct span names[ATTRIBUTES_SHOWN], values[ATTRIBUTES_SHOWN];
	size_t count;
	bool is_cut, has_repeats;
};

static void attributes_choose(struct shown_attributes *shown, struct span packed)
{
	size_t room = ATTRIBUTES_SHOWN_MAX;
	struct span name, value;

	while (attributes_next(&packed, &name) && attributes_next(&packed, &value)) {
		size_t name_room = ATTRIBUTE_SHOWN_MAX, value_room = ATTRIBUTE_SHOWN_MAX;
		struct span some_name = json_fit(name, &name_room), some_value = json_fit(value, &value_room);
		size_t cost = 2 * ATTRIBUTE_SHOWN_MAX - name_room - value_room + SPAN("[\"\",\"\"],").len;

		shown->is_cut = shown->is_cut || some_name.len < name.len || some_value.len < value.len;
		if (cost > room || shown->count == ATTRIBUTES_SHOWN) {
			shown->is_cut = true;
			return;
		}
		room -= cost;
		shown->names[shown->count] = some_name;
		shown->values[shown->count++] = some_value;
	}
}

static bool comes_again(const struct shown_attributes *shown, size_t i)
{
	for (size_t j = i + 1; j < shown->count; j++) {
		if (span_equal(shown->names[i], shown->names[j]))
			return true;
	}
	return false;
}

/* The last one of a name counts. */
static void attributes_object(struct text *out, struct shown_attributes *shown)
{
	bool is_first = true;

	text_add(out, ",\"attrs\":{");
	for (size_t i = 0; i < shown->count; i++) {
		if (comes_again(shown, i)) {
			shown->has_repeats = true;
			continue;
		}
		text_add(out, is_first ? "" : ",");
		json_quote(out, shown->names[i]);
		text_add_char(out, ':');
		json_quote(out, shown->values[i]);
		is_first = false;
	}
	text_add_char(out, '}');
}

static void attributes_list(struct text *out, const struct shown_attributes *shown)
{
	text_add(out, ",\"attr_list\":[");
	for (size_t i = 0; i < shown->count; i++) {
		text_add(out, i ? ",[" : "[");
		json_quote(out, shown->names[i]);
		text_add_char(out, ',');
		json_quote(out, shown->values[i]);
		text_add_char(out, ']');
	}
	text_add_char(out, ']');
}

static void json_attributes(struct text *out, struct text *cut, struct span packed)
{
	struct shown_attributes shown = { .count = 0 };

	attributes_choose(&shown, packed);
	attributes_object(out, &shown);
	if (shown.has_repeats)
		attributes_list(out, &shown);
	if (shown.is_cut)
		note_cut(cut, "attrs");
}

static void say(struct text *out, struct text *cut, const char *name, struct span value)
{
	if (!member_text_or_null(out, name, value))
		note_cut(cut, name);
}

static void json_source(struct text *out, struct text *cut, sqlite3_stmt *row)
{
	bool is_pubsub = span_is(store_text(row, COL_KIND), "pubsub");

	member_name(out, "source");
	member_first(out, "kind", store_text(row, COL_KIND));
	say(out, cut, is_pubsub ? "subscription" : "file", store_text(row, COL_FILE));
	if (!is_pubsub) {
		member_int(out, "line", sqlite3_column_int64(row, COL_LINE));
		member_int(out, "offset", sqlite3_column_int64(row, COL_PLACE));
	}
	if (store_text(row, COL_MESSAGE_ID).len)
		say(out, cut, "message_id", store_text(row, COL_MESSAGE_ID));
	text_add_char(out, '}');
}

/* Where the source says when it was committed, and where that stands in its log. */
static void json_place(struct text *out, sqlite3_stmt *row)
{
	struct span position = store_blob(row, COL_POSITION);
	char written[POSITION_TEXT_BYTES];
	struct position place;

	if (sqlite3_column_type(row, COL_COMMITTED) == SQLITE_NULL) {
		member_name(out, "commit");
		text_add(out, "null");
	} else {
		member_time(out, "commit", sqlite3_column_int64(row, COL_COMMITTED));
	}
	if (position.len != POSITION_BYTES) {
		member_name(out, "position");
		text_add(out, "null");
		return;
	}
	position_unpack((const unsigned char *)position.at, &place);
	position_text(&place, written);
	member_text(out, "position", span_of(written));
}

static void json_reason(struct text *out, struct text *cut, sqlite3_stmt *row)
{
	member_text(out, "stage", store_text(row, COL_STAGE));
	member_text(out, "code", store_text(row, COL_CODE));
	say(out, cut, "message", store_text(row, COL_MESSAGE));
	if (!member_text(out, "table", store_text(row, COL_TABLE)))
		note_cut(cut, "table");
	say(out, cut, "column", store_text(row, COL_COLUMN));
	say(out, cut, "path", store_text(row, COL_PATH));
	say(out, cut, "key", store_text(row, COL_KEY));
}

static const char *state_word(int state)
{
	return state >= 0 && state < LETTER_STATES ? letter_states[state].word : "unknown";
}

void letter_json(struct text *out, sqlite3_stmt *row, const struct dlq_filter *filter)
{
	OWNED(text) cut = text_new(1024);

	text_add_format(out, "{\"id\":%lld", (long long)sqlite3_column_int64(row, COL_ID));
	member_text(out, "job", span_of(filter->job));
	member_int(out, "group", sqlite3_column_int64(row, COL_GROUP));
	member_text(out, "state", span_of(state_word(sqlite3_column_int(row, COL_STATE))));
	json_reason(out, cut, row);
	json_source(out, cut, row);
	say(out, cut, "publish", store_text(row, COL_PUBLISH));
	say(out, cut, "ordering_key", store_text(row, COL_ORDERING_KEY));
	json_attributes(out, cut, store_blob(row, COL_ATTRS));
	member_int(out, "bytes", sqlite3_column_int64(row, COL_SIZE));
	member_text(out, "sha256", store_text(row, COL_SHA256));
	member_time(out, "first", sqlite3_column_int64(row, COL_FIRST));
	member_time(out, "last", sqlite3_column_int64(row, COL_LAST));
	member_int(out, "attempts", sqlite3_column_int64(row, COL_ATTEMPTS));
	json_place(out, row);
	if (store_text(row, COL_ORDINALS).len) {
		member_name(out, "ordinals");
		text_add_span(out, store_text(row, COL_ORDINALS));
	}
	if (cut->len)
		text_add_format(out, ",\"shortened\":[%s]", cut->at);
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
	struct span shown = span_make(body.at, body.len < PIECE_BYTES ? body.len : PIECE_BYTES);
	size_t room = PAYLOAD_SHOWN_MAX;

	if (utf8_is_valid(whole)) {
		shown = json_fit(shown.len < body.len || is_head ? cut_at_character(shown) : shown, &room);
		member_name(out, "payload");
		json_quote(out, shown);
	} else {
		json_base64(out, shown);
	}
	if (is_head || shown.len < body.len)
		member_bool(out, "cut", true);
	if (is_null)
		member_bool(out, "null", true);
}

/*
 * The line of a feed that has the letter, up to its body: nothing is cut here.
 */

static void envelope_member(struct text *out, const char *name, struct span value)
{
	if (!value.len)
		return;
	text_add_format(out, "\"%s\":", name);
	json_quote(out, value);
	text_add_char(out, ',');
}

struct text *letter_envelope(sqlite3_stmt *row)
{
	struct span packed = store_blob(row, COL_ATTRS), name, value;
	struct span id = store_text(row, COL_MESSAGE_ID), key = store_text(row, COL_ORDERING_KEY);
	struct span publish = store_text(row, COL_PUBLISH);
	/* A packed attribute has eight bytes of lengths: more than its signs here need. */
	struct text *out = text_new(1024 + 6 * (packed.len + id.len + key.len + publish.len));

	text_add_char(out, '{');
	envelope_member(out, "id", id);
	envelope_member(out, "key", key);
	text_add(out, "\"attrs\":{");
	for (bool is_first = true; attributes_next(&packed, &name) && attributes_next(&packed, &value); is_first = false) {
		text_add(out, is_first ? "" : ",");
		json_quote(out, name);
		text_add_char(out, ':');
		json_quote(out, value);
	}
	text_add(out, "},");
	envelope_member(out, "publish", publish);
	return out;
}
