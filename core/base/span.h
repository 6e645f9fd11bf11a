/*
 * A span is a look at bytes that somebody else owns. It is passed by value, may
 * hold NUL, and is never freed. An empty span may have at == NULL.
 */
#ifndef WEIR_BASE_SPAN_H
#define WEIR_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const char *at;
	size_t len;
};

/* A span over a string literal. */
#define SPAN(literal) ((struct span){ (literal), sizeof(literal) - 1 })

/* For printf: "%.*s" with SPAN_ARG(s). Not for text from outside; see base/clean.h. */
#define SPAN_ARG(s) (int)(s).len, (s).at

static inline struct span span_of(const char *text)
{
	return (struct span){ text, text ? strlen(text) : 0 };
}

static inline struct span span_make(const char *at, size_t len)
{
	return (struct span){ at, len };
}

static inline bool span_equal(struct span a, struct span b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static inline bool span_is(struct span a, const char *text)
{
	return span_equal(a, span_of(text));
}

/* memcmp for names of a few bytes, fifty times a message: loads may overlap, so no loop is needed below 16. */
static inline bool bytes_equal(const char *a, const char *b, size_t len)
{
	uint64_t x, y;
	uint32_t v, w;

	if (len > 16)
		return memcmp(a, b, len) == 0;
	if (len >= 8) {
		memcpy(&x, a, 8);
		memcpy(&y, b, 8);
		if (x != y)
			return false;
		memcpy(&x, a + len - 8, 8);
		memcpy(&y, b + len - 8, 8);
		return x == y;
	}
	if (len >= 4) {
		memcpy(&v, a, 4);
		memcpy(&w, b, 4);
		if (v != w)
			return false;
		memcpy(&v, a + len - 4, 4);
		memcpy(&w, b + len - 4, 4);
		return v == w;
	}
	for (size_t i = 0; i < len; i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}

/* Bytes decide, then length: the order of memcmp. */
static inline int span_compare(struct span a, struct span b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int order = n ? memcmp(a.at, b.at, n) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

#endif
