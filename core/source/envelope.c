/*
 * A line becomes a message. An envelope is an object with either data or
 * data_b64 and no members but those of enum envelope_member, none twice; every
 * other line is itself the body. The light scan answers for nearly all lines;
 * where it cannot, the whole line is parsed. Both give the same (fuzz_feed_line).
 */
#include "base/hash.h"
#include "source/envelope_private.h"

#include <inttypes.h>
#include <stdlib.h>

#define ATTRIBUTES_MAX 100
#define ATTRIBUTE_BYTES_MAX 1024
#define NONE ((struct span){ NULL, 0 })

struct envelope_reader {
	struct json_doc body;  /* lent to the message */
	struct json_doc other; /* whole lines, single members */
	struct block_list blocks;
	struct json_trail *trail;
	struct mold mold;
	struct envelope front; /* of the line that envelope_front has read */
	const char *front_at;  /* that line, or NULL */
	unsigned front_misses; /* one after another */
	unsigned front_rests;  /* lines until the next is tried */
};

struct envelope_reader *envelope_reader_new(void)
{
	struct envelope_reader *reader = memory_zalloc(sizeof(*reader));

	reader->trail = json_trail_new();
	return reader;
}

void envelope_reader_free(struct envelope_reader *reader)
{
	if (!reader)
		return;
	json_doc_free(&reader->body);
	json_doc_free(&reader->other);
	block_list_clear(&reader->blocks);
	json_trail_free(reader->trail);
	free(reader);
}

bool envelope_is_whole(struct envelope_reader *reader, struct span line)
{
	size_t at;

	return json_parse(&reader->other, line, &at) == JSON_FINE;
}

/*
 * Finding the members
 */

/* Duplicates make a line that has no one meaning: it is its own body, and refused later on. */
static bool find_by_parser(struct envelope_reader *reader, struct span line, struct arena *arena,
                           struct envelope *out)
{
	const struct json_doc *doc = &reader->other;
	size_t at;

	*out = (struct envelope){ 0 };
	if (json_parse(&reader->other, line, &at) != JSON_FINE || !json_is(doc, 0, JSON_OBJECT))
		return false;
	for (uint32_t i = 1; i < doc->count; i = doc->tokens[i + 1].next) {
		enum envelope_member member = envelope_member_find(json_text(doc, i, arena));

		if (member == ENVELOPE_UNKNOWN || out->values[member].text.at)
			return false;
		out->values[member].text = json_slice(doc, i + 1);
	}
	return !out->values[ENVELOPE_DATA].text.at != !out->values[ENVELOPE_DATA_B64].text.at;
}

static bool begins_with_block(struct span body)
{
	static const char begin[] = "{\"schema\":";

	return body.len >= sizeof(begin) - 1 && memcmp(body.at, begin, sizeof(begin) - 1) == 0;
}

/* A block that was checked before gets one token, as struct message allows it; a new one is read whole, once. */
static bool check_block_body(struct envelope_reader *reader, struct span body)
{
	const struct json_known known = { block_list_recognise, &reader->blocks, reader->trail };
	struct json_doc *doc = &reader->body;
	void *id = NULL;
	size_t at;
	uint32_t schema;

	if (json_parse_known(doc, body, &known, &id, &at) != JSON_FINE)
		return false;
	if (id) {
		doc->block = ((const struct block *)id)->number;
		return true;
	}
	schema = json_member(doc, 0, SPAN("schema"));
	if (json_is(doc, schema, JSON_OBJECT) && doc->tokens[schema].next > schema + 1)
		block_list_learn(&reader->blocks, json_slice(doc, schema));
	return true;
}

static bool check_body(struct envelope_reader *reader, struct span body, struct envelope *out)
{
	const struct json_known known = { NULL, NULL, reader->trail };
	void *id;
	size_t at;

	out->has_tokens = begins_with_block(body)
	                          ? check_block_body(reader, body)
	                          : json_parse_known(&reader->body, body, &known, &id, &at) == JSON_FINE;
	return out->has_tokens;
}

static enum scanned scan_line(struct envelope_reader *reader, struct span line, struct envelope *out)
{
	enum scanned scanned;

	if (mold_read(&reader->mold, line, out))
		return SCANNED_DATA;
	memory_clear(out, sizeof(*out));
	scanned = envelope_scan(line, out);
	if (scanned == SCANNED_DATA) {
		mold_learn(&reader->mold, line, out);
		memory_clear(&reader->front, sizeof(reader->front)); /* it has the members of the mold */
	}
	return scanned;
}

/*
 * Lines whose end is found by reading them
 */

#define FRONT_RESTS_MOST 64

/* Behind the body: a bracket, and the line's end. */
static size_t front_length(struct span text, const char *at)
{
	const char *end = text.at + text.len;

	if (end - at < 3 || *at++ != '}')
		return 0;
	at += *at == '\r';
	return *at == '\n' ? (size_t)(at - text.at) : 0;
}

/* A block that is new is not read here: it would not be learned. */
static const char *front_body_end(struct envelope_reader *reader, struct span rest)
{
	bool has_block = begins_with_block(rest);
	const struct json_known known = { has_block ? block_list_recognise : NULL, &reader->blocks, reader->trail };
	void *id;
	size_t len = json_parse_front(&reader->body, rest, &known, &id);

	if (!len || (has_block && !id))
		return NULL;
	if (id)
		reader->body.block = ((const struct block *)id)->number;
	reader->front.values[ENVELOPE_DATA] = (struct envelope_value){ .text = span_make(rest.at, len) };
	return rest.at + len;
}

static size_t front_read(struct envelope_reader *reader, struct span text)
{
	struct span rest;
	const char *end;

	if (!mold_read_head(&reader->mold, text, &reader->front, &rest))
		return 0;
	end = front_body_end(reader, rest);
	return end ? front_length(text, end) : 0;
}

/* Where lines are not alike, trying costs half of reading: less and less is tried. */
size_t envelope_front(struct envelope_reader *reader, struct span text, uint64_t most)
{
	size_t len;

	reader->front_at = NULL;
	if (reader->front_rests) {
		reader->front_rests--;
		return 0;
	}
	len = front_read(reader, text);
	if (len && len <= most) {
		reader->front_at = text.at;
		reader->front.has_tokens = true;
		reader->front_misses = 0;
		return len;
	}
	reader->front_misses += reader->front_misses < FRONT_RESTS_MOST;
	reader->front_rests = reader->front_misses - 1;
	return 0;
}

/* `out` is zero. */
static bool find_members(struct envelope_reader *reader, struct span line, struct arena *arena, struct envelope *out)
{
	enum scanned scanned = scan_line(reader, line, out);

	if (scanned == SCANNED_BARE)
		return false;
	if (scanned == SCANNED_B64)
		return true;
	if (scanned == SCANNED_DATA && check_body(reader, out->values[ENVELOPE_DATA].text, out))
		return true;
	return find_by_parser(reader, line, arena, out);
}

/*
 * Reading them. False: not JSON after all, or not of the kind that it must be.
 */

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

static void refuse_attributes(struct batch *batch, struct message *message)
{
	message_refuse(batch, message, "source", "attributes_too_large", NONE, SPAN("attrs"),
	               "line %" PRIu64 ": its attributes are too many or too long; allowed: %d, each name and value up to %d "
	               "bytes",
	               message->line, ATTRIBUTES_MAX, ATTRIBUTE_BYTES_MAX);
}

static void refuse_base64(struct batch *batch, struct message *message)
{
	message_refuse(batch, message, "source", "bad_base64", NONE, SPAN("data_b64"),
	               "line %" PRIu64 ": data_b64 is not base64; allowed: a string in the standard alphabet with padding",
	               message->line);
}

/* Everything but the body; *out_fit: the attributes are within their limits. */
static bool read_head(struct envelope_reader *reader, struct arena *arena, const struct envelope *envelope,
                      struct message *message, bool *out_fit)
{
	return read_text(reader, arena, &envelope->values[ENVELOPE_ID], &message->id) &&
	       read_text(reader, arena, &envelope->values[ENVELOPE_KEY], &message->key) &&
	       read_text(reader, arena, &envelope->values[ENVELOPE_PUBLISH], &message->publish) &&
	       read_attributes(reader, arena, &envelope->values[ENVELOPE_ATTRS], message, out_fit);
}

static void take_head(struct message *to, const struct message *from)
{
	to->id = from->id;
	to->key = from->key;
	to->publish = from->publish;
	to->attrs = from->attrs;
	to->attr_count = from->attr_count;
}

static bool read_body(struct envelope_reader *reader, struct arena *arena, const struct envelope *envelope,
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

/* Most lines were read when their end was found. */
static const struct envelope *find_envelope(struct envelope_reader *reader, struct span line, struct arena *arena,
                                            struct envelope *other)
{
	bool is_front = reader->front_at == line.at;

	reader->front_at = NULL;
	if (is_front)
		return &reader->front;
	memory_clear(other, sizeof(*other));
	return find_members(reader, line, arena, other) ? other : NULL;
}

/* A message that is refused here keeps the whole line: nothing of it is lost. */
void envelope_read(struct envelope_reader *reader, struct batch *batch, struct message *message, struct span line)
{
	const struct envelope *envelope;
	struct envelope other;
	struct message found;
	bool fits, is_bad = false;

	memory_clear(&found, sizeof(found));
	message->body = line;
	envelope = find_envelope(reader, line, batch->arena, &other);
	if (!envelope || !read_head(reader, batch->arena, envelope, &found, &fits))
		return;
	if (!read_body(reader, batch->arena, envelope, &found, &is_bad) && !is_bad)
		return;
	if (fits)
		take_head(message, &found);
	if (is_bad || !fits) {
		if (is_bad)
			refuse_base64(batch, message);
		else
			refuse_attributes(batch, message);
		return;
	}
	message->body = found.body;
	message->body_is_null = found.body_is_null;
	message->json = found.json;
}
