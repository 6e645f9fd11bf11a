/*
 * A line becomes a message. An envelope is an object with either data or
 * data_b64 and no members but those of enum envelope_member, none twice; every
 * other line is itself the body. The light scan answers for nearly all lines;
 * where it cannot, the whole line is parsed. Both give the same (fuzz_feed_line).
 */
#include "source/envelope_private.h"

#include <stdlib.h>

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
 * The message
 */

/* Only what an envelope tells: a whole message is some three hundred bytes. */
static void found_clear(struct message *message)
{
	message->id = message->key = message->publish = message->body = (struct span){ 0 };
	message->attrs = NULL;
	message->attr_count = 0;
	message->body_is_null = false;
	message->json = NULL;
}

static void take_head(struct message *to, const struct message *from)
{
	to->id = from->id;
	to->key = from->key;
	to->publish = from->publish;
	to->attrs = from->attrs;
	to->attr_count = from->attr_count;
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

	found_clear(&found);
	message->body = line;
	envelope = find_envelope(reader, line, batch->arena, &other);
	if (!envelope || !envelope_read_head(reader, batch->arena, envelope, &found, &fits))
		return;
	if (!envelope_read_body(reader, batch->arena, envelope, &found, &is_bad) && !is_bad)
		return;
	if (fits)
		take_head(message, &found);
	if (is_bad || !fits) {
		if (is_bad)
			envelope_refuse_base64(batch, message);
		else
			envelope_refuse_attributes(batch, message);
		return;
	}
	message->body = found.body;
	message->body_is_null = found.body_is_null;
	message->json = found.json;
}
