/* Growing text: doubles its room until the limit is reached. */
#include "base/text.h"

#include "base/arena.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_ROOM ((size_t)63)

static void text_begin(struct text *text)
{
	text->room = text->limit < FIRST_ROOM ? text->limit : FIRST_ROOM;
	text->at = memory_alloc(text->room + 1);
	text_clear(text);
}

struct text *text_new(size_t limit)
{
	struct text *text = memory_zalloc(sizeof(*text));

	/* One byte is the NUL's. */
	text->limit = limit < SIZE_MAX ? limit : SIZE_MAX - 1;
	text_begin(text);
	return text;
}

void text_free(struct text *text)
{
	if (!text)
		return;
	free(text->at);
	free(text);
}

void text_freep(struct text **text)
{
	text_free(*text);
}

void text_clear(struct text *text)
{
	text->len = 0;
	text->at[0] = '\0';
	text->is_full = false;
}

char *text_take(struct text *text)
{
	char *bytes = text->at;

	text_begin(text);
	return bytes;
}

static bool text_make_room(struct text *text, size_t more)
{
	if (more <= text->room - text->len)
		return true;
	if (more > text->limit - text->len) {
		text->is_full = true;
		return false;
	}

	size_t wanted = text->len + more;
	size_t doubled = text->room < text->limit / 2 ? text->room * 2 : text->limit;

	text->room = doubled > wanted ? doubled : wanted;
	text->at = memory_grow(text->at, text->room + 1);
	return true;
}

bool text_add_span(struct text *text, struct span piece)
{
	if (!text_make_room(text, piece.len))
		return false;
	if (piece.len)
		memcpy(text->at + text->len, piece.at, piece.len);
	text->len += piece.len;
	text->at[text->len] = '\0';
	return true;
}

bool text_add(struct text *text, const char *piece)
{
	return text_add_span(text, span_of(piece));
}

bool text_add_char(struct text *text, char c)
{
	return text_add_span(text, span_make(&c, 1));
}

bool text_add_int(struct text *text, int64_t number)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRId64, number);

	return text_add_span(text, span_make(digits, (size_t)len));
}

bool text_add_format(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0 || !text_make_room(text, (size_t)len)) {
		text->is_full = true;
		return false;
	}

	va_start(args, format);
	vsnprintf(text->at + text->len, (size_t)len + 1, format, args);
	va_end(args);
	text->len += (size_t)len;
	return true;
}

struct span text_span(const struct text *text)
{
	return span_make(text->at, text->len);
}
