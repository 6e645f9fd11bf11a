/*
 * Any line: the envelope reader, which looks at little and parses only the body,
 * gives the same as a slow reference that parses the whole line first.
 */
#include "base/hash.h"
#include "source/envelope_private.h"

#include <stdio.h>
#include <stdlib.h>

#define LINE_MAX_BYTES (1u << 16)

struct reference {
	struct json_doc doc;
	uint32_t member[ENVELOPE_MEMBERS]; /* token of its value, 0: not there */
	bool is_envelope, is_refused;
	struct span body;
};

static void check(bool is_true, const char *what)
{
	if (is_true)
		return;
	fprintf(stderr, "differs from the reference: %s\n", what);
	abort();
}

static int member_of(struct span name)
{
	static const char *const names[ENVELOPE_MEMBERS] = { "id", "key", "attrs", "publish", "data", "data_b64" };

	for (int i = 0; i < ENVELOPE_MEMBERS; i++) {
		if (span_is(name, names[i]))
			return i;
	}
	return -1;
}

static bool collect(struct reference *r, struct arena *arena)
{
	for (uint32_t i = 1; i < r->doc.tokens[0].next; i = r->doc.tokens[i + 1].next) {
		int member = member_of(json_text(&r->doc, i, arena));

		if (member < 0 || r->member[member])
			return false;
		r->member[member] = i + 1;
	}
	return true;
}

static bool attributes_are_readable(const struct reference *r)
{
	uint32_t attrs = r->member[ENVELOPE_ATTRS];

	return !attrs || json_is(&r->doc, attrs, JSON_OBJECT) || json_is(&r->doc, attrs, JSON_NULL);
}

static bool attributes_fit(const struct reference *r, struct arena *arena)
{
	uint32_t attrs = r->member[ENVELOPE_ATTRS];
	size_t count = 0;

	if (!attrs || !json_is(&r->doc, attrs, JSON_OBJECT))
		return true;
	for (uint32_t i = attrs + 1; i < r->doc.tokens[attrs].next; i = r->doc.tokens[i + 1].next) {
		struct span value = json_is(&r->doc, i + 1, JSON_STRING) ? json_text(&r->doc, i + 1, arena)
									  : json_slice(&r->doc, i + 1);

		if (++count > 100 || value.len > 1024 || json_text(&r->doc, i, arena).len > 1024)
			return false;
	}
	return true;
}

static void decode(struct reference *r, struct arena *arena)
{
	uint32_t token = r->member[ENVELOPE_DATA_B64];
	struct span text;
	char *bytes;
	size_t len;

	r->is_refused = true;
	if (!json_is(&r->doc, token, JSON_STRING))
		return;
	text = json_text(&r->doc, token, arena);
	bytes = arena_bytes(arena, text.len + 4);
	if (!base64_decode(text, bytes, &len))
		return;
	r->is_refused = false;
	r->body = span_make(bytes, len);
}

/* False: nothing can be said (nested deeper in the line than in its body). */
static bool refer(struct reference *r, struct span line, struct arena *arena)
{
	size_t at;
	enum json_fault fault = json_parse(&r->doc, line, &at);

	r->body = line;
	if (fault == JSON_TOO_DEEP)
		return false;
	if (fault != JSON_FINE || !json_is(&r->doc, 0, JSON_OBJECT) || !collect(r, arena) ||
	    !attributes_are_readable(r))
		return true;
	r->is_envelope = !r->member[ENVELOPE_DATA] != !r->member[ENVELOPE_DATA_B64];
	if (!r->is_envelope)
		return true;
	if (r->member[ENVELOPE_DATA])
		r->body = json_slice(&r->doc, r->member[ENVELOPE_DATA]);
	else
		decode(r, arena);
	if (!attributes_fit(r, arena)) {
		r->is_refused = true;
		r->body = line;
	}
	return true;
}

static struct span text_of(const struct reference *r, enum envelope_member member, struct arena *arena)
{
	uint32_t token = r->member[member];

	if (!r->is_envelope || !token || json_is(&r->doc, token, JSON_NULL))
		return (struct span){ NULL, 0 };
	return json_is(&r->doc, token, JSON_STRING) ? json_text(&r->doc, token, arena) : json_slice(&r->doc, token);
}

static void compare_attributes(const struct reference *r, const struct message *m, struct arena *arena)
{
	uint32_t attrs = r->is_envelope ? r->member[ENVELOPE_ATTRS] : 0;
	size_t n = 0;

	if (!attrs || !json_is(&r->doc, attrs, JSON_OBJECT)) {
		check(m->attr_count == 0, "no attributes");
		return;
	}
	for (uint32_t i = attrs + 1; i < r->doc.tokens[attrs].next; i = r->doc.tokens[i + 1].next, n++) {
		struct span value = json_is(&r->doc, i + 1, JSON_STRING) ? json_text(&r->doc, i + 1, arena)
									  : json_slice(&r->doc, i + 1);

		check(n < m->attr_count, "number of attributes");
		check(span_equal(m->attrs[n].name, json_text(&r->doc, i, arena)), "name of an attribute");
		check(span_equal(m->attrs[n].value, value), "value of an attribute");
	}
	check(n == m->attr_count, "number of attributes");
}

static void compare_tokens(const struct message *m)
{
	struct json_doc fresh = { 0 };
	size_t at;

	if (!m->json)
		return;
	check(m->json->text.at == m->body.at && m->json->text.len == m->body.len, "text of the tokens");
	check(json_parse(&fresh, m->body, &at) == JSON_FINE, "body is JSON");
	uint32_t left_out = fresh.count - m->json->count;

	/* A schema block that was met before may be one token. */
	if (left_out)
		check(span_equal(json_raw(&fresh, 1), SPAN("schema")) && m->json->tokens[2].next == 3 &&
		              fresh.tokens[2].next == 3 + left_out,
		      "number of tokens");
	for (uint32_t i = 0; i < m->json->count; i++) {
		const struct json_token *ours = &m->json->tokens[i], *whole = &fresh.tokens[i > 2 ? i + left_out : i];

		check(whole->start == ours->start && whole->end == ours->end &&
		              whole->next == ours->next + (i == 1 ? 0 : left_out) && whole->kind == ours->kind,
		      "a token");
	}
	json_doc_free(&fresh);
}

static void compare(const struct reference *r, const struct message *m, struct arena *arena)
{
	check(span_equal(m->body, r->body), "body");
	check((m->fate == MESSAGE_REFUSED) == r->is_refused, "refused");
	check(m->body_is_null == (r->is_envelope && r->member[ENVELOPE_DATA] && span_is(r->body, "null")), "null");
	compare_tokens(m);
	if (m->refusal && span_is(span_of(m->refusal->code), "attributes_too_large"))
		return;
	if (!attributes_fit(r, arena))
		return;
	check(span_equal(m->id, text_of(r, ENVELOPE_ID, arena)), "id");
	check(span_equal(m->key, text_of(r, ENVELOPE_KEY, arena)), "key");
	check(span_equal(m->publish, text_of(r, ENVELOPE_PUBLISH, arena)), "publish");
	compare_attributes(r, m, arena);
}

/* The line again, with another behind it and nobody having looked for its end. */
static void check_front(struct envelope_reader *reader, const struct reference *reference, struct span line, struct batch *batch)
{
	char *text = arena_bytes(batch->arena, 2 * line.len + 1);
	struct message *message = batch_add_message(batch);
	size_t len;

	memcpy(text, line.at, line.len);
	text[line.len] = '\n';
	memcpy(text + line.len + 1, line.at, line.len);
	len = envelope_front(reader, span_make(text, 2 * line.len + 1), LINE_MAX_BYTES);
	if (!len)
		return;
	check(len == line.len, "where the line ends");
	envelope_read(reader, batch, message, span_make(text, len));
	compare(reference, message, batch->arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* One reader for all lines: what it remembers of schema blocks must not change what it says. */
	static struct envelope_reader *reader;
	struct reference reference = { 0 };
	struct batch *batch;
	struct span line;

	if (size > LINE_MAX_BYTES || memchr(data, '\n', size))
		return 0;
	if (!reader)
		reader = envelope_reader_new();
	batch = batch_new();
	line = arena_copy(batch->arena, span_make((const char *)data, size));
	if (size && refer(&reference, line, batch->arena)) {
		struct message *message = batch_add_message(batch);

		envelope_read(reader, batch, message, line);
		compare(&reference, message, batch->arena);
		check_front(reader, &reference, line, batch);
	}
	json_doc_free(&reference.doc);
	batch_free(batch);
	return 0;
}
