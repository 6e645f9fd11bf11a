/*
 * Our reader against jansson: both take a text or both refuse it, and what they
 * take is the same tree. jansson refuses more in two cases (numbers that do not
 * fit, NUL in a member's name) and we in two: depth, and a raw NUL behind a number
 * or word, which jansson loses when it gives it back to its buffer. Those say nothing.
 */
#include "record/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct pair {
	const struct json_doc *doc;
	struct arena *arena;
};

#define MUST(condition) do { if (!(condition)) abort(); } while (0)

static bool same(const struct pair *p, uint32_t token, const json_t *theirs);

/* jansson keeps the last of equal names; `name` is a token of ours. */
static bool is_last_of_its_name(const struct pair *p, uint32_t object, uint32_t name)
{
	const struct json_token *tokens = p->doc->tokens;
	struct span wanted = json_text(p->doc, name, p->arena);

	for (uint32_t i = tokens[name + 1].next; i < tokens[object].next; i = tokens[i + 1].next) {
		if (span_equal(json_text(p->doc, i, p->arena), wanted))
			return false;
	}
	return true;
}

static bool same_object(const struct pair *p, uint32_t object, const json_t *theirs)
{
	const struct json_token *tokens = p->doc->tokens;
	size_t names = 0;

	for (uint32_t i = object + 1; i < tokens[object].next; i = tokens[i + 1].next) {
		struct span name = json_text(p->doc, i, p->arena);

		MUST(tokens[i].kind == JSON_STRING && tokens[i].next == i + 1);
		if (!is_last_of_its_name(p, object, i))
			continue;
		names++;
		if (!same(p, i + 1, json_object_getn(theirs, name.at, name.len)))
			return false;
		MUST(json_member(p->doc, object, name) != 0);
	}
	return names == json_object_size(theirs);
}

static bool same_array(const struct pair *p, uint32_t array, const json_t *theirs)
{
	size_t count = 0;

	for (uint32_t i = array + 1; i < p->doc->tokens[array].next; i = p->doc->tokens[i].next) {
		if (!same(p, i, json_array_get(theirs, count++)))
			return false;
	}
	return count == json_array_size(theirs);
}

static bool same_number(const struct pair *p, uint32_t token, const json_t *theirs)
{
	int64_t ours;

	if (p->doc->tokens[token].flags & JSON_IS_FRACTION)
		return json_is_real(theirs);
	return json_is_integer(theirs) && json_int64(p->doc, token, &ours) && ours == json_integer_value(theirs);
}

static bool same_string(const struct pair *p, uint32_t token, const json_t *theirs)
{
	struct span value = json_text(p->doc, token, p->arena);

	return json_is_string(theirs) &&
	       span_equal(value, span_make(json_string_value(theirs), json_string_length(theirs)));
}

static bool same(const struct pair *p, uint32_t token, const json_t *theirs)
{
	int kind = p->doc->tokens[token].kind;

	if (!theirs)
		return false;
	if (kind == JSON_NUMBER)
		return same_number(p, token, theirs);
	if (kind != (int)json_typeof(theirs))
		return false;
	if (kind == JSON_OBJECT)
		return same_object(p, token, theirs);
	if (kind == JSON_ARRAY)
		return same_array(p, token, theirs);
	return kind != JSON_STRING || same_string(p, token, theirs);
}

/* A whole object or array, cut anywhere inside, is a cut: nothing else, and never fine. */
static void check_cut(struct span text, const struct json_token *root)
{
	struct json_doc doc = { 0 };
	size_t start = root->start, length = root->end - start, at;
	size_t cut = start + 1 + (size_t)(uint8_t)text.at[start + length / 2] % (length - 1);
	char *copy = malloc(cut);

	MUST(copy);
	memcpy(copy, text.at, cut);
	MUST(json_parse(&doc, span_make(copy, cut), &at) == JSON_CUT && at == cut);
	json_doc_free(&doc);
	free(copy);
}

static void check_accepted(const struct json_doc *doc, struct span text, const json_t *theirs, const json_error_t *error)
{
	struct pair pair = { doc, arena_new(4096) };
	int kind = doc->tokens[0].kind;

	MUST(doc->count > 0 && doc->tokens[0].next == doc->count);
	if (theirs)
		MUST(same(&pair, 0, theirs));
	else
		MUST(json_error_code(error) == json_error_numeric_overflow ||
		     json_error_code(error) == json_error_null_byte_in_key);
	if (kind == JSON_OBJECT || kind == JSON_ARRAY)
		check_cut(text, &doc->tokens[0]);
	arena_free(pair.arena);
}

static bool may_take_more(struct span text, enum json_fault fault)
{
	return fault == JSON_TOO_DEEP || (text.len > 0 && memchr(text.at, '\0', text.len));
}

/* By the trail of an ordinary event, then by its own: the same as without. */
static void check_trail(struct span text, enum json_fault fault, const struct json_doc *doc, size_t fault_at)
{
	struct json_known known = { .trail = json_trail_new() };
	struct json_doc again = { 0 };
	void *id;
	size_t at;

	MUST(json_parse_known(&again, SPAN("{\"before\":null,\"after\":{\"id\":1,\"a\":\"x\"},\"op\":\"c\"}"), &known, &id, &at) ==
	     JSON_FINE);
	for (int round = 0; round < 2; round++) {
		MUST(json_parse_known(&again, text, &known, &id, &at) == fault && again.count == doc->count);
		MUST(fault == JSON_FINE || at == fault_at);
		MUST(!doc->count || memcmp(again.tokens, doc->tokens, doc->count * sizeof(*doc->tokens)) == 0);
	}
	json_doc_free(&again);
	json_trail_free(known.trail);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = { (const char *)data, size };
	struct json_doc doc = { 0 };
	json_error_t error;
	json_t *theirs = json_loadb(text.at ? text.at : "", size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	size_t at = 0;
	enum json_fault fault = json_parse(&doc, text, &at);

	check_trail(text, fault, &doc, at);
	if (fault == JSON_FINE)
		check_accepted(&doc, text, theirs, &error);
	else
		MUST(at <= size && (!theirs || may_take_more(text, fault)) && (fault != JSON_CUT || at == size));
	json_decref(theirs);
	json_doc_free(&doc);
	return 0;
}
