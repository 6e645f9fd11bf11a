/* What the members of an envelope say: texts, attributes, the body. Only those are parsed that are not plain. */
#include "base/hash.h"
#include "source/envelope_private.h"

#include <inttypes.h>

#define ATTRIBUTES_MAX 100
#define ATTRIBUTE_BYTES_MAX 1024
#define NONE ((struct span){ NULL, 0 })

/* Keys are JSON in a JSON string: escapes, but of one kind. */
static bool read_plain_string(const struct envelope_value *value, const struct stem *stem, struct arena *arena,
                              struct span *out)
{
	size_t room = value->text.len - 2, len, done = value->has_stem ? stem->raw_len : 0;
	size_t begun = done ? stem->plain_len : 0;
	char *at = arena_bytes(arena, room);
	bool is_read;

	if (begun)
		memcpy(at, stem->plain, begun);
	is_read = json_unescape_plain(span_make(value->text.at + 1 + done, room - done), at + begun, &len);
	arena_shrink(arena, at, room, is_read ? begun + len : 0);
	if (is_read)
		*out = span_make(at, begun + len);
	return is_read;
}

static bool read_text(struct envelope_reader *reader, struct arena *arena, const struct envelope_value *value,
                      struct span *out)
{
	size_t at;

	if (!value->text.at)
		return true;
	if (value->is_plain && !value->has_stem && *value->text.at == '"') {
		*out = span_make(value->text.at + 1, value->text.len - 2);
		return true;
	}
	if (*value->text.at == '"' && read_plain_string(value, &reader->mold.stem, arena, out))
		return true;
	if (json_parse(&reader->other, value->text, &at) != JSON_FINE)
		return false;
	if (json_is(&reader->other, 0, JSON_STRING))
		*out = json_text(&reader->other, 0, arena);
	else if (!json_is(&reader->other, 0, JSON_NULL))
		*out = json_slice(&reader->other, 0);
	return true;
}

static uint32_t count_members(const struct json_doc *doc)
{
	uint32_t count = 0;

	for (uint32_t i = 1; i < doc->count; i = doc->tokens[i + 1].next)
		count++;
	return count;
}

static struct span attribute_text(const struct json_doc *doc, uint32_t token, struct arena *arena)
{
	return json_is(doc, token, JSON_STRING) ? json_text(doc, token, arena) : json_slice(doc, token);
}

static void copy_attributes(const struct json_doc *doc, struct arena *arena, struct message *message)
{
	struct attribute *attrs = arena_alloc(arena, message->attr_count * sizeof(*attrs));
	uint32_t i = 1;

	for (size_t n = 0; n < message->attr_count; n++) {
		attrs[n].name = json_text(doc, i, arena);
		attrs[n].value = attribute_text(doc, i + 1, arena);
		i = doc->tokens[i + 1].next;
	}
	message->attrs = attrs;
}

static bool attributes_fit(const struct message *message)
{
	for (size_t i = 0; i < message->attr_count; i++) {
		if (message->attrs[i].name.len > ATTRIBUTE_BYTES_MAX || message->attrs[i].value.len > ATTRIBUTE_BYTES_MAX)
			return false;
	}
	return true;
}

static bool read_attributes(struct envelope_reader *reader, struct arena *arena, const struct envelope_value *value,
                            struct message *message, bool *out_fit)
{
	const struct json_doc *doc = &reader->other;
	uint32_t count;
	size_t at;

	*out_fit = true;
	if (!value->text.at || value->is_plain)
		return !value->text.at || *value->text.at == '{';
	if (json_parse(&reader->other, value->text, &at) != JSON_FINE)
		return false;
	if (!json_is(doc, 0, JSON_OBJECT))
		return json_is(doc, 0, JSON_NULL);
	count = count_members(doc);
	*out_fit = count <= ATTRIBUTES_MAX;
	if (!*out_fit)
		return true;
	message->attr_count = count;
	copy_attributes(doc, arena, message);
	*out_fit = attributes_fit(message);
	return true;
}

/* Also false if it is JSON but no base64: then *out_bad. */
static bool read_base64(struct envelope_reader *reader, struct arena *arena, const struct envelope_value *value,
                        struct span *out, bool *out_bad)
{
	struct span text = { 0 };
	size_t room, len;
	char *bytes;

	if (!read_text(reader, arena, value, &text))
		return false;
	*out_bad = true;
	if (*value->text.at != '"')
		return false;
	room = text.len / 4 * 3 + 3;
	bytes = arena_bytes(arena, room);
	if (!base64_decode(text, bytes, &len))
		return false;
	arena_shrink(arena, bytes, room, len);
	*out = span_make(bytes, len);
	*out_bad = false;
	return true;
}

void envelope_refuse_attributes(struct batch *batch, struct message *message)
{
	message_refuse(batch, message, "source", "attributes_too_large", NONE, SPAN("attrs"),
	               "line %" PRIu64 ": its attributes are too many or too long; allowed: %d, each name and value up to %d "
	               "bytes",
	               message->line, ATTRIBUTES_MAX, ATTRIBUTE_BYTES_MAX);
}

void envelope_refuse_base64(struct batch *batch, struct message *message)
{
	message_refuse(batch, message, "source", "bad_base64", NONE, SPAN("data_b64"),
	               "line %" PRIu64 ": data_b64 is not base64; allowed: a string in the standard alphabet with padding",
	               message->line);
}

bool envelope_read_head(struct envelope_reader *reader, struct arena *arena, const struct envelope *envelope,
                        struct message *message, bool *out_fit)
{
	return read_text(reader, arena, &envelope->values[ENVELOPE_ID], &message->id) &&
	       read_text(reader, arena, &envelope->values[ENVELOPE_KEY], &message->key) &&
	       read_text(reader, arena, &envelope->values[ENVELOPE_PUBLISH], &message->publish) &&
	       read_attributes(reader, arena, &envelope->values[ENVELOPE_ATTRS], message, out_fit);
}

bool envelope_read_body(struct envelope_reader *reader, struct arena *arena, const struct envelope *envelope,
                        struct message *message, bool *out_bad)
{
	*out_bad = false;
	if (!envelope->values[ENVELOPE_DATA].text.at)
		return read_base64(reader, arena, &envelope->values[ENVELOPE_DATA_B64], &message->body, out_bad);
	message->body = envelope->values[ENVELOPE_DATA].text;
	message->body_is_null = span_equal(message->body, SPAN("null"));
	message->json = envelope->has_tokens ? &reader->body : NULL;
	return true;
}
