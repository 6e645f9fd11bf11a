/* Bytes between read(2) and a line: see struct window. */
#include "base/arena.h"
#include "source/feed_private.h"

#include <stdlib.h>
#include <unistd.h>

#define MEMORY_LINE ((size_t)64)

/* A carry beyond this was made for one long line and is given back after it. */
static bool carry_is_large(const struct window *w)
{
	return w->carry_room > 4 * w->block_bytes;
}

static void carry_release(struct window *w)
{
	free(w->carry);
	w->carry = NULL;
	w->carry_room = 0;
}

void window_clear(struct window *w)
{
	carry_release(w);
	w->at = NULL;
	w->arena = NULL;
	w->len = w->seen = 0;
}

static void carry_reserve(struct window *w, size_t room)
{
	size_t twice = w->carry_room * 2;

	if (room <= w->carry_room)
		return;
	w->carry_room = room > twice ? room : twice;
	w->carry = memory_grow(w->carry, w->carry_room);
}

/* The bytes are in `carry` from its first byte on; they may have begun further behind. */
static void settle_in_carry(struct window *w, size_t room)
{
	if (w->arena) {
		carry_reserve(w, room);
		if (w->len)
			memcpy(w->carry, w->at, w->len);
	} else {
		if (w->len && w->at != w->carry)
			memmove(w->carry, w->at, w->len);
		carry_reserve(w, room);
	}
	w->arena = NULL;
	w->at = w->carry;
}

void window_stash(struct window *w)
{
	if (w->arena)
		settle_in_carry(w, w->len);
}

/* To `to`, which lies in the arena. */
static void lift_to(struct window *w, struct arena *arena, char *to)
{
	if (w->len)
		memcpy(to, w->at, w->len);
	if (!w->arena && carry_is_large(w))
		carry_release(w);
	w->at = to;
	w->arena = arena;
}

static void lift(struct window *w, struct arena *arena)
{
	lift_to(w, arena, arena_bytes(arena, w->len));
}

bool window_line(struct window *w, struct arena *arena, struct span *out_line)
{
	const char *newline = w->seen < w->len ? memchr(w->at + w->seen, '\n', w->len - w->seen) : NULL;
	size_t length;

	if (!newline) {
		w->seen = w->len;
		return false;
	}
	length = (size_t)(newline - w->at);
	w->seen = length;
	if (!w->arena)
		lift(w, arena);
	*out_line = span_make(w->at, length);
	return true;
}

struct span window_rest(struct window *w, struct arena *arena)
{
	if (!w->arena)
		lift(w, arena);
	return span_make(w->at, w->len);
}

void window_drop(struct window *w, size_t bytes)
{
	w->at += bytes;
	w->len -= bytes;
	w->seen = w->seen > bytes ? w->seen - bytes : 0;
	if (w->len == 0 && !w->arena && carry_is_large(w))
		window_clear(w);
}

/* What is read begins where a line of memory does: the system copies faster to there. */
static ssize_t read_into_arena(struct window *w, struct arena *arena, size_t want)
{
	size_t asked = w->len + want + MEMORY_LINE - 1, gap;
	char *piece = arena_bytes(arena, asked);
	ssize_t got;

	gap = -(uintptr_t)(piece + w->len) & (MEMORY_LINE - 1);
	lift_to(w, arena, piece + gap);
	got = read(w->fd, w->at + w->len, want);
	arena_shrink(arena, piece, asked, gap + w->len + (got > 0 ? (size_t)got : 0));
	return got;
}

ssize_t window_read(struct window *w, struct arena *arena, size_t want)
{
	ssize_t got;

	if (want > w->block_bytes)
		want = w->block_bytes;
	/* A line longer than a block is gathered outside, else each block would leave a copy of its beginning in the
	 * arena. */
	if (arena && w->len <= w->block_bytes / 2) {
		got = read_into_arena(w, arena, want);
	} else {
		settle_in_carry(w, w->len + want);
		got = read(w->fd, w->at + w->len, want);
	}
	if (got > 0)
		w->len += (size_t)got;
	return got;
}
