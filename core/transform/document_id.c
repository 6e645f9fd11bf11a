/*
 * The `_id` of a MongoDB document as text. Debezium writes it as extended JSON, in
 * the key in one flavour and in the document in another, so one identity has
 * several texts; here it has one: compact, as the key has it (relaxed, version 2).
 */
#include "transform/debezium_private.h"

#include <inttypes.h>
#include <time.h>

#define LAST_ISO_MS INT64_C(253402300799999) /* the end of the year 9999: later dates stay numbers */
#define ID_ROOM 3 /* "\u00..." of a control character is as long as it was; an old binary form grows by less than this */

struct id_writer {
	struct json_doc *doc;
	char *at;
};

static void put(struct id_writer *w, struct span text)
{
	memcpy(w->at, text.at, text.len);
	w->at += text.len;
}

static void put_value(struct id_writer *w, uint32_t token);

/* {"name":value} with exactly this one member. */
static uint32_t only_member(const struct json_doc *doc, uint32_t object, const char *name)
{
	uint32_t end = doc->tokens[object].next, value = object + 2;

	if (end <= object + 1 || doc->tokens[value].next != end || !span_is(json_raw(doc, object + 1), name))
		return 0;
	return value;
}

/* {"$numberLong":"7"} is 7; NaN and infinity have no number. */
static bool put_number(struct id_writer *w, uint32_t object)
{
	static const char *const names[] = { "$numberLong", "$numberInt", "$numberDouble" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint32_t value = only_member(w->doc, object, names[i]);
		struct span digits = value ? json_raw(w->doc, value) : span_make("", 0);

		if (!digits.len || !strchr("-0123456789", *digits.at) || span_is(digits, "-Infinity"))
			continue;
		put(w, digits);
		return true;
	}
	return false;
}

static bool date_ms(const struct json_doc *doc, uint32_t value, int64_t *out)
{
	if (json_is(doc, value, JSON_OBJECT))
		value = only_member(doc, value, "$numberLong");
	if (!value || (!json_is(doc, value, JSON_NUMBER) && !json_is(doc, value, JSON_STRING)))
		return false;
	return span_int64(json_raw(doc, value), out);
}

/* {"$date":0} is {"$date":"1970-01-01T00:00:00Z"}, where a year has four digits and is not before 1970. */
static bool put_date(struct id_writer *w, uint32_t object)
{
	uint32_t value = only_member(w->doc, object, "$date");
	int64_t ms;
	char text[64];
	struct tm tm;

	if (!value || !date_ms(w->doc, value, &ms))
		return false;
	time_t seconds = (time_t)(ms / 1000);

	if (ms < 0 || ms > LAST_ISO_MS || !gmtime_r(&seconds, &tm)) {
		snprintf(text, sizeof(text), "{\"$date\":{\"$numberLong\":\"%" PRId64 "\"}}", ms);
		put(w, span_of(text));
		return true;
	}
	size_t len = strftime(text, sizeof(text), "{\"$date\":\"%Y-%m-%dT%H:%M:%S", &tm);

	if (ms % 1000)
		len += (size_t)snprintf(text + len, sizeof(text) - len, ".%03d", (int)(ms % 1000));
	put(w, span_make(text, len));
	put(w, SPAN("Z\"}"));
	return true;
}

/* {"$binary":"AQ==","$type":"00"}, in either order, is {"$binary":{"base64":"AQ==","subType":"00"}}. */
static bool put_binary(struct id_writer *w, uint32_t object)
{
	const struct json_doc *doc = w->doc;
	uint32_t binary = json_member(doc, object, SPAN("$binary")), type = json_member(doc, object, SPAN("$type"));

	if (!binary || !type || !json_is(doc, binary, JSON_STRING) || !json_is(doc, type, JSON_STRING))
		return false;
	put(w, SPAN("{\"$binary\":{\"base64\":"));
	put(w, json_slice(doc, binary));
	put(w, SPAN(",\"subType\":"));
	put(w, json_slice(doc, type));
	put(w, SPAN("}}"));
	return true;
}

static void put_object(struct id_writer *w, uint32_t object)
{
	uint32_t end = w->doc->tokens[object].next;

	if (put_number(w, object) || put_date(w, object) || put_binary(w, object))
		return;
	put(w, SPAN("{"));
	for (uint32_t at = object + 1; at < end; at = w->doc->tokens[at + 1].next) {
		put(w, at > object + 1 ? SPAN(",") : SPAN(""));
		put(w, json_slice(w->doc, at));
		put(w, SPAN(":"));
		put_value(w, at + 1);
	}
	put(w, SPAN("}"));
}

static void put_value(struct id_writer *w, uint32_t token)
{
	uint32_t end = w->doc->tokens[token].next;

	if (json_is(w->doc, token, JSON_OBJECT)) {
		put_object(w, token);
	} else if (json_is(w->doc, token, JSON_ARRAY)) {
		put(w, SPAN("["));
		for (uint32_t at = token + 1; at < end; at = w->doc->tokens[at].next) {
			put(w, at > token + 1 ? SPAN(",") : SPAN(""));
			put_value(w, at);
		}
		put(w, SPAN("]"));
	} else {
		put(w, json_slice(w->doc, token));
	}
}

struct span document_id(struct json_doc *doc, uint32_t token, struct arena *arena)
{
	size_t room = json_slice(doc, token).len * ID_ROOM + 64;
	char *start = arena_bytes(arena, room);
	struct id_writer w = { doc, start };

	put_value(&w, token);
	arena_shrink(arena, start, room, (size_t)(w.at - start));
	return span_make(start, (size_t)(w.at - start));
}
