/*
 * The single steps of the walk over a JSON text, which the walk without (json_walk.c)
 * and with a memory of earlier texts (json_trail.c) share.
 */
#ifndef WEIR_RECORD_JSON_WALK_PRIVATE_H
#define WEIR_RECORD_JSON_WALK_PRIVATE_H

#include "record/json_private.h"

__attribute__((cold)) struct json_token *json_tokens_grow(struct json_token *tokens, uint32_t *room);
__attribute__((cold)) struct json_end json_word_fault(const char *at, const char *end);

JSON_ALWAYS_INLINE bool stop(struct json_reader *r, struct json_end end)
{
	r->at = end.at;
	r->fault = end.fault;
	return false;
}

/* Once for each value: room for it and for the name behind it; with a trail for an object, its first name and value. */
JSON_ALWAYS_INLINE void ensure_room(struct json_reader *r)
{
	uint32_t room = r->room;

	if (json_likely(r->count + 3 <= room))
		return;
	r->tokens = json_tokens_grow(r->tokens, &room);
	r->room = room;
}

/* One more token; ensure_room has seen to its place. */
JSON_ALWAYS_INLINE void put(struct json_reader *r, int kind, uint32_t flags, const char *start, const char *end)
{
	uint32_t index = r->count++;
	struct json_token *t = &r->tokens[index];

	t->start = (uint32_t)(start - r->begin);
	t->end = (uint32_t)(end - r->begin);
	t->next = index + 1;
	t->kind = (uint8_t)kind;
	t->flags = (uint8_t)flags;
	t->unused = 0;
	r->at = end;
}

JSON_ALWAYS_INLINE bool put_ended(struct json_reader *r, int kind, const char *start, struct json_end end)
{
	if (json_unlikely(end.fault != JSON_FINE))
		return stop(r, end);
	put(r, kind, end.flags, start, end.at);
	return true;
}

JSON_ALWAYS_INLINE bool ends_number(char c)
{
	return c == ',' || c == '}' || c == ']';
}

/* Whole numbers of up to two blocks; times in microseconds need more than one. */
JSON_ALWAYS_INLINE bool read_number(struct json_reader *r)
{
	const char *start = r->at;
	const char *digits = start + (*start == '-');
	struct json_end end = json_ended(digits, 0);
	json_mask mask = 0;

	if (json_likely(r->end - digits >= 2 * JSON_BLOCK && *digits != '0')) {
		mask = json_block_no_digit(digits);
		if (!mask) {
			end.at += JSON_BLOCK;
			mask = json_block_no_digit(end.at);
		}
	}
	if (json_likely(mask))
		end.at += json_mask_first(mask);
	if (json_unlikely(end.at == digits || !ends_number(*end.at)))
		end = json_number_end(start, r->end);
	return put_ended(r, JSON_NUMBER, start, end);
}

/* The length is a constant at each call: the comparison is one of registers. */
JSON_ALWAYS_INLINE bool read_this(struct json_reader *r, const char *word, size_t length, int kind)
{
	if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
		return stop(r, json_word_fault(r->at, r->end));
	put(r, kind, 0, r->at, r->at + length);
	return true;
}

JSON_ALWAYS_INLINE bool read_word(struct json_reader *r)
{
	if (json_likely(*r->at == 'n'))
		return read_this(r, "null", 4, JSON_NULL);
	if (*r->at == 't')
		return read_this(r, "true", 4, JSON_TRUE);
	return read_this(r, "false", 5, JSON_FALSE);
}

JSON_ALWAYS_INLINE bool open_container(struct json_reader *r)
{
	uint32_t index = r->count;

	if (json_unlikely(r->depth == JSON_DEPTH_MAX))
		return stop(r, json_broken(r->at, JSON_TOO_DEEP));
	put(r, *r->at == '{' ? JSON_OBJECT : JSON_ARRAY, 0, r->at, r->at + 1);
	r->tokens[index].next = r->open;
	r->open = index;
	r->depth++;
	return true;
}

JSON_ALWAYS_INLINE void close_container(struct json_reader *r)
{
	struct json_token *t = &r->tokens[r->open];

	r->at++;
	r->open = t->next;
	t->next = r->count;
	t->end = (uint32_t)(r->at - r->begin);
	r->depth--;
}

#endif
