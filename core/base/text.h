/*
 * Text that grows up to a limit given at birth. Adding beyond it returns false,
 * adds nothing and is remembered (text_is_full), so that a row of adds can be
 * checked once at the end.
 */
#ifndef WEIR_BASE_TEXT_H
#define WEIR_BASE_TEXT_H

#include "base/span.h"

#include <stdarg.h>
#include <stdint.h>

struct text {
	char *at;      /* always ends with a NUL that does not count */
	size_t len;
	size_t room;
	size_t limit;
	bool is_full;
};

struct text *text_new(size_t limit);
void text_free(struct text *text);
void text_freep(struct text **text); /* for OWNED */
void text_clear(struct text *text);
char *text_take(struct text *text);  /* the bytes, to free(); the text stays, empty */

bool text_add(struct text *text, const char *piece);
bool text_add_span(struct text *text, struct span piece);
bool text_add_char(struct text *text, char c);
bool text_add_int(struct text *text, int64_t number);
bool text_add_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct span text_span(const struct text *text);

/* OWNED(text) t = text_new(4096);  frees at the end of the block. */
#define OWNED(noun) __attribute__((cleanup(noun##_freep))) struct noun *

#endif
