/*
 * malloc and friends for callers that cannot go on without. Sizes that come
 * from outside were limited before they got here, so running out means that the
 * machine is full: the process ends and restarts from its confirmed position.
 */
#include "base/arena.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

static void (*when_exhausted)(void);

void memory_when_exhausted(void (*act)(void))
{
	when_exhausted = act;
}

static void *memory_check(void *piece)
{
	static const char message[] = "weir: out of memory\n";

	if (piece)
		return piece;
	/* Nothing may allocate here; when even the message is lost there is
	 * nobody left to tell. */
	ssize_t ignored = write(STDERR_FILENO, message, sizeof(message) - 1);

	(void)ignored;
	if (when_exhausted)
		when_exhausted();
	_exit(EXIT_OUT_OF_MEMORY);
}

void *memory_alloc(size_t size)
{
	return memory_check(malloc(size ? size : 1));
}

void *memory_zalloc(size_t size)
{
	return memory_check(calloc(1, size ? size : 1));
}

void *memory_grow(void *old, size_t size)
{
	return memory_check(realloc(old, size ? size : 1));
}

void memory_give_back(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

void memory_clear(void *at, size_t size)
{
	memset(at, 0, size);
}

char *memory_string(const char *text)
{
	return text ? memory_string_of(span_of(text)) : NULL;
}

char *memory_string_of(struct span text)
{
	char *copy = memory_alloc(text.len + 1);

	if (text.len)
		memcpy(copy, text.at, text.len);
	copy[text.len] = '\0';
	return copy;
}
