/*
 * The walk over a JSON text: one pass, no recursion, one token for each value
 * and name. Strings end where the marks say, whole numbers where a block of
 * bytes shows it; json_string.c and json_number.c do the rest.
 */
#include "record/json_walk_private.h"

#include <assert.h>

#define FIRST_ROOM 256

enum first {
	FIRST_OTHER,
	FIRST_STRING,
	FIRST_NUMBER,
	FIRST_WORD,
	FIRST_CONTAINER,
};

static const uint8_t first_of[256] = {
	['"'] = FIRST_STRING, ['{'] = FIRST_CONTAINER, ['['] = FIRST_CONTAINER,
	['n'] = FIRST_WORD, ['t'] = FIRST_WORD, ['f'] = FIRST_WORD, ['-'] = FIRST_NUMBER,
	['0'] = FIRST_NUMBER, ['1'] = FIRST_NUMBER, ['2'] = FIRST_NUMBER, ['3'] = FIRST_NUMBER, ['4'] = FIRST_NUMBER,
	['5'] = FIRST_NUMBER, ['6'] = FIRST_NUMBER, ['7'] = FIRST_NUMBER, ['8'] = FIRST_NUMBER, ['9'] = FIRST_NUMBER,
};

/* A byte that may not stand here, outside of strings. Half a character is no JSON however it goes on. */
static struct json_end misfit(const char *at, const char *end)
{
	if (at < end && (unsigned char)*at >= 0x80 && json_utf8_length(at, end) <= 0)
		return json_broken(at, JSON_NOT_UTF8);
	return json_unexpected(at, end);
}

/* Is `wanted` next? White space is looked for only where it is not: most texts have none. */
JSON_ALWAYS_INLINE bool is_next(struct json_reader *r, char wanted)
{
	if (json_likely(r->at < r->end && *r->at == wanted))
		return true;
	r->at = json_white_end(r->at, r->end);
	return r->at < r->end && *r->at == wanted;
}

struct json_token *json_tokens_grow(struct json_token *tokens, uint32_t *room)
{
	*room += *room / 2 + FIRST_ROOM;
	return memory_grow(tokens, *room * sizeof(*tokens));
}

/* The next special byte, or NULL behind the last one. */
JSON_ALWAYS_INLINE const char *next_mark(struct json_reader *r)
{
	const char *mark;

	while (json_unlikely(!r->marks)) {
		if (r->end - r->stride <= JSON_STRIDE)
			return NULL;
		r->stride += JSON_STRIDE;
		r->marks = json_stride_marks(r->stride, r->end);
	}
	mark = r->stride + __builtin_ctzll(r->marks);
	r->marks &= r->marks - 1;
	return mark;
}

/* The marks do not show this string: it has escapes or foreign letters, or a line break or a known
 * block stood before it. Afterwards they are in step again. */
JSON_ALWAYS_INLINE bool read_string_by_hand(struct json_reader *r)
{
	if (!put_ended(r, JSON_STRING, r->at + 1, json_string_end(r->at + 1, r->end)))
		return false;
	r->at++;
	r->stride = r->at;
	r->marks = json_stride_marks(r->at, r->end);
	return true;
}

/* At the opening quote; afterwards behind the closing one. */
JSON_ALWAYS_INLINE bool read_string(struct json_reader *r)
{
	const char *end;

	if (json_unlikely(next_mark(r) != r->at))
		return read_string_by_hand(r);
	end = next_mark(r);
	if (json_unlikely(!end || *end != '"'))
		return read_string_by_hand(r);
	put(r, JSON_STRING, 0, r->at + 1, end);
	r->at++;
	return true;
}

struct json_end json_word_fault(const char *at, const char *end)
{
	const char *word = *at == 'n' ? "null" : *at == 't' ? "true" : "false";

	while (at < end && *at == *word) {
		at++;
		word++;
	}
	return misfit(at, end);
}

JSON_ALWAYS_INLINE bool in_object(const struct json_reader *r)
{
	return r->tokens[r->open].kind == JSON_OBJECT;
}

/* A name and its colon; afterwards at the value or white space before it. */
JSON_ALWAYS_INLINE bool read_name(struct json_reader *r)
{
	if (json_unlikely(!is_next(r, '"')))
		return stop(r, misfit(r->at, r->end));
	if (!read_string(r))
		return false;
	if (json_unlikely(!is_next(r, ':')))
		return stop(r, misfit(r->at, r->end));
	r->at++;
	return true;
}

JSON_ALWAYS_INLINE char closing(const struct json_reader *r)
{
	return in_object(r) ? '}' : ']';
}

/* Closes what ends here and reads on to the next value; false: the text is done, or broken. */
JSON_ALWAYS_INLINE bool read_behind(struct json_reader *r)
{
	while (r->open != JSON_NO_TOKEN) {
		if (r->at < r->end && *r->at == ',') {
			r->at++;
			return !in_object(r) || read_name(r);
		}
		if (json_likely(is_next(r, closing(r))))
			close_container(r);
		else if (r->at == r->end || *r->at != ',')
			return stop(r, misfit(r->at, r->end));
	}
	return false;
}

JSON_ALWAYS_INLINE bool read_container(struct json_reader *r)
{
	if (!open_container(r))
		return false;
	if (is_next(r, closing(r)))
		return read_behind(r);
	return !in_object(r) || read_name(r);
}

/* The value of the root's "schema", if somebody knows it: one token, its inside is not read.
 * The reader comes by value: see struct json_end. */
static __attribute__((noinline)) size_t known_length(struct json_reader r, const struct json_known *known, void **out_id)
{
	const struct json_token *name = &r.tokens[r.count - 1];
	size_t length = strlen(JSON_SCHEMA_NAME), rest = (size_t)(r.end - r.at);

	if (name->end - name->start != length || memcmp(r.begin + name->start, JSON_SCHEMA_NAME, length) != 0)
		return 0;
	length = known->recognise(known->context, span_make(r.at, rest), out_id);
	assert(length <= rest);
	return length;
}

JSON_ALWAYS_INLINE bool read_known(struct json_reader *r, const struct json_known *known, void **out_id)
{
	size_t length;

	if (json_likely(!known || !known->recognise || r->depth != 1 || *r->at != '{' || !in_object(r) || *out_id))
		return false;
	length = known_length(*r, known, out_id);
	if (length == 0)
		return false;
	put(r, JSON_OBJECT, 0, r->at, r->at + length);
	return true;
}

JSON_ALWAYS_INLINE bool read_scalar(struct json_reader *r, enum first first)
{
	switch (first) {
	case FIRST_STRING:
		return read_string(r);
	case FIRST_NUMBER:
		return read_number(r);
	case FIRST_WORD:
		return read_word(r);
	case FIRST_CONTAINER:
	case FIRST_OTHER:
		break;
	}
	return stop(r, misfit(r->at, r->end));
}

JSON_ALWAYS_INLINE enum first first_byte(struct json_reader *r)
{
	enum first first = r->at < r->end ? first_of[(unsigned char)*r->at] : FIRST_OTHER;

	if (json_likely(first != FIRST_OTHER))
		return first;
	r->at = json_white_end(r->at, r->end);
	return r->at < r->end ? first_of[(unsigned char)*r->at] : FIRST_OTHER;
}

/* Works on a copy of the reader, whose members then live in registers. */
void json_walk(struct json_reader *reader, const struct json_known *known, void **out_id, bool is_behind)
{
	struct json_reader r = *reader;
	bool goes_on = true;

	r.stride = r.at;
	r.marks = json_stride_marks(r.at, r.end);
	if (is_behind) { /* a trail may have filled the room up to here, and a name comes */
		ensure_room(&r);
		goes_on = read_behind(&r);
	}
	while (goes_on) {
		enum first first = first_byte(&r);

		ensure_room(&r);
		if (first == FIRST_CONTAINER && !read_known(&r, known, out_id))
			goes_on = read_container(&r);
		else if (first == FIRST_CONTAINER || read_scalar(&r, first))
			goes_on = read_behind(&r);
		else
			goes_on = false;
	}
	*reader = r;
}
