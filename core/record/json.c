/* Reading a JSON text: what is checked before and behind the walk over it (json_walk.c). */
#include "record/json_private.h"

#include <stdlib.h>

#define ROOM_KEPT (64u << 10) /* tokens; what one huge text needed is not held for ever */

void json_doc_free(struct json_doc *doc)
{
	if (!doc)
		return;
	free(doc->tokens);
	free(doc->places);
	*doc = (struct json_doc){ 0 };
}

/* ASCII in UTF-16 or UTF-32 shows by the places of its zeros (RFC 4627, 3). */
static bool is_wide_text(struct span text)
{
	static const char patterns[][4] = { { 0, 0, 0, 1 }, { 0, 1, 0, 1 }, { 1, 0, 0, 0 }, { 1, 0, 1, 0 } };
	char seen[4];

	if (text.len < sizeof(seen))
		return false;
	for (size_t i = 0; i < sizeof(seen); i++)
		seen[i] = text.at[i] != 0;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		if (memcmp(seen, patterns[i], sizeof(seen)) == 0)
			return true;
	}
	return false;
}

static bool has_byte_order_mark(struct span text)
{
	return text.len >= 3 && memcmp(text.at, "\xef\xbb\xbf", 3) == 0;
}

static enum json_fault refuse(struct json_doc *doc, struct json_end end, size_t *out_at)
{
	bool is_foreign = end.fault == JSON_SYNTAX || end.fault == JSON_TRAILING;

	doc->count = 0;
	*out_at = (size_t)(end.at - doc->text.at);
	if (!is_foreign || (!is_wide_text(doc->text) && !has_byte_order_mark(doc->text)))
		return end.fault;
	*out_at = 0;
	return JSON_NOT_UTF8;
}

static void doc_lend(struct json_doc *doc, struct span text)
{
	doc->text = text.at ? text : SPAN("");
	doc->count = 0;
	doc->trail = 0;
	doc->block = 0;
	if (doc->room <= ROOM_KEPT || text.len > ROOM_KEPT)
		return;
	free(doc->tokens);
	doc->tokens = NULL;
	doc->room = 0;
}

static enum json_followed follow(struct json_doc *doc, struct json_reader *r, const struct json_known *known, void **out_id)
{
	if (!doc->places)
		doc->places = memory_alloc(JSON_PLACES_MAX * sizeof(*doc->places));
	return json_trail_follow(r, doc, known, out_id);
}

/* By the trail as far as it goes. */
static void read_text(struct json_doc *doc, struct json_reader *r, const struct json_known *known, void **out_id)
{
	struct json_trail *trail = known ? known->trail : NULL;
	enum json_followed followed = JSON_LEFT_AT_VALUE;

	if (trail)
		followed = follow(doc, r, known, out_id);
	if (followed != JSON_FOLLOWED)
		json_walk(r, known, out_id, followed == JSON_LEFT_BEHIND);
	doc->tokens = r->tokens;
	doc->room = r->room;
	doc->count = r->count;
	if (trail && followed != JSON_FOLLOWED && r->fault == JSON_FINE)
		json_trail_learn(trail, doc);
}

enum json_fault json_parse_known(struct json_doc *doc, struct span text, const struct json_known *known,
                                 void **out_id, size_t *out_at)
{
	struct json_reader r = { .open = JSON_NO_TOKEN };

	*out_id = NULL;
	doc_lend(doc, text);
	if (text.len > JSON_TEXT_MAX)
		return refuse(doc, json_broken(text.at + JSON_TEXT_MAX, JSON_TOO_LONG), out_at);
	r.begin = doc->text.at;
	r.end = r.begin + doc->text.len;
	r.at = json_white_end(r.begin, r.end);
	r.tokens = doc->tokens;
	r.room = doc->room;
	if (r.at == r.end)
		return refuse(doc, json_broken(r.at, JSON_EMPTY), out_at);
	read_text(doc, &r, known, out_id);
	if (r.fault == JSON_FINE) {
		r.at = json_white_end(r.at, r.end);
		r.fault = r.at < r.end ? JSON_TRAILING : JSON_FINE;
	}
	return r.fault == JSON_FINE ? JSON_FINE : refuse(doc, json_broken(r.at, r.fault), out_at);
}

/* How long the text is tells nothing of the value. */
size_t json_parse_front(struct json_doc *doc, struct span text, const struct json_known *known, void **out_id)
{
	struct json_reader r = { .open = JSON_NO_TOKEN, .begin = text.at, .at = text.at, .end = text.at + text.len, .is_front = true };
	bool is_read;

	*out_id = NULL;
	doc_lend(doc, span_make(text.at, 0));
	if (text.len == 0 || text.len > JSON_TEXT_MAX)
		return 0;
	r.tokens = doc->tokens;
	r.room = doc->room;
	is_read = follow(doc, &r, known, out_id) == JSON_FOLLOWED && r.fault == JSON_FINE;
	doc->tokens = r.tokens;
	doc->room = r.room;
	if (!is_read) {
		doc->trail = 0;
		return 0;
	}
	doc->count = r.count;
	doc->text.len = (size_t)(r.at - r.begin);
	return doc->text.len;
}

enum json_fault json_parse(struct json_doc *doc, struct span text, size_t *out_at)
{
	void *id;

	return json_parse_known(doc, text, NULL, &id, out_at);
}
