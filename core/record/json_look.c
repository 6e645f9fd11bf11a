/* Looking into a document that was read, and what its faults are called. */
#include "record/json_private.h"

static const struct {
	const char *code;
	const char *text;
} faults[] = {
	[JSON_FINE] = { "", "nothing is wrong" },
	[JSON_EMPTY] = { "empty_message", "there is nothing but white space" },
	[JSON_SYNTAX] = { "not_json", "this is not JSON" },
	[JSON_CUT] = { "not_json", "the text ends inside a value" },
	[JSON_TRAILING] = { "not_json", "something follows the value" },
	[JSON_TOO_DEEP] = { "too_deep", "objects and arrays are nested deeper than 512" },
	[JSON_TOO_LONG] = { "record_too_large", "the text is longer than 256 MiB" },
	[JSON_NOT_UTF8] = { "not_utf8", "the text is not UTF-8 (without byte order mark)" },
	[JSON_SURROGATE] = { "not_utf8", "half of a surrogate pair stands alone" },
};

const char *json_fault_text(enum json_fault fault)
{
	return faults[fault].text;
}

const char *json_fault_code(enum json_fault fault)
{
	return faults[fault].code;
}

/* Names with escapes are rare and mostly somebody's test; no arena for them. */
static bool escaped_name_is(struct span raw, struct span name)
{
	const char *at = raw.at, *end = raw.at + raw.len;
	size_t done = 0;

	while (at < end) {
		char rune[4] = { *at };
		size_t length = 1;

		if (*at == '\\')
			length = json_escape_decode(&at, rune);
		else
			at++;
		if (length > name.len - done || memcmp(name.at + done, rune, length) != 0)
			return false;
		done += length;
	}
	return done == name.len;
}

uint32_t json_member(const struct json_doc *doc, uint32_t object, struct span name)
{
	const struct json_token *tokens = doc->tokens;
	uint32_t end = tokens[object].next;

	for (uint32_t i = object + 1; i < end; i = tokens[i + 1].next) {
		struct span raw = json_raw(doc, i);

		if (tokens[i].flags & JSON_HAS_ESCAPES ? escaped_name_is(raw, name) : span_equal(raw, name))
			return i + 1;
	}
	return 0;
}
