/* Piles read together: the least key of all is next, and of equal ones the newest change. */
#include "sink/piles_private.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define PILE_BYTES ((size_t)32 << 10) /* of each that is in memory */

/*
 * Bytes of one pile, in order
 */

static bool read_at(const struct piles *piles, int64_t at, void *out, size_t len, struct error *err)
{
	char *to = out;

	while (len) {
		ssize_t n = pread(piles->fd, to, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail_errno(err, n ? errno : EIO, "reading the changes of a merge step below '%s'", piles->folder);
		to += n;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool refill(const struct piles *piles, struct pile *pile, struct error *err)
{
	int64_t left = pile->end - pile->at;
	size_t len = left < (int64_t)PILE_BYTES ? (size_t)left : PILE_BYTES;

	pile->used = pile->filled = 0;
	if (left <= 0)
		return fail_errno(err, EIO, "reading the changes of a merge step below '%s'", piles->folder);
	if (!read_at(piles, pile->at, pile->bytes, len, err))
		return false;
	pile->at += (int64_t)len;
	pile->filled = len;
	return true;
}

/* What is longer than the room goes past it. */
static bool take(const struct piles *piles, struct pile *pile, void *out, size_t len, struct error *err)
{
	char *to = out;

	while (len) {
		size_t ready = pile->filled - pile->used;
		size_t some = ready < len ? ready : len;

		memcpy(to, pile->bytes + pile->used, some);
		pile->used += some;
		to += some;
		len -= some;
		if (len >= PILE_BYTES) {
			pile->at += (int64_t)len;
			return read_at(piles, pile->at - (int64_t)len, to, len, err);
		}
		if (len && !refill(piles, pile, err))
			return false;
	}
	return true;
}

static void skip(struct pile *pile, size_t len)
{
	size_t ready = pile->filled - pile->used;

	if (len <= ready) {
		pile->used += len;
		return;
	}
	pile->used = pile->filled;
	pile->at += (int64_t)(len - ready);
}

static bool is_over(const struct pile *pile)
{
	return pile->used == pile->filled && pile->at == pile->end;
}

/* Its next change without the row. */
static bool head_take(const struct piles *piles, struct pile *pile, struct error *err)
{
	if (!take(piles, pile, &pile->head, sizeof(pile->head), err))
		return false;
	if (pile->head.key_len > pile->key_room) {
		pile->key_room = pile->head.key_len;
		pile->key = memory_grow(pile->key, pile->key_room);
	}
	pile->row_left = (size_t)pile->head.old_key_len + pile->head.unavailable_len + pile->head.record_len;
	return take(piles, pile, pile->key, pile->head.key_len, err);
}

static struct span pile_key(const struct pile *pile)
{
	return span_make(pile->key, pile->head.key_len);
}

/*
 * The heap
 */

/* Equal keys in order of arrival. */
static bool is_before(const struct piles *piles, uint32_t one, uint32_t other)
{
	const struct pile *a = &piles->items[one], *b = &piles->items[other];

	if (a->head.rank != b->head.rank)
		return a->head.rank < b->head.rank;
	if (span_equal(pile_key(a), pile_key(b)))
		return one < other;
	return sieve_compare(pile_key(a), pile_key(b), piles->schema) < 0;
}

static void heap_down(struct piles *piles, size_t at)
{
	uint32_t *heap = piles->heap, moved = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= piles->heap_count)
			break;
		if (child + 1 < piles->heap_count && is_before(piles, heap[child + 1], heap[child]))
			child++;
		if (!is_before(piles, heap[child], moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

/* The first pile goes on to its next change. */
static bool heap_advance(struct piles *piles, struct error *err)
{
	struct pile *pile = &piles->items[piles->heap[0]];

	skip(pile, pile->row_left);
	if (is_over(pile))
		piles->heap[0] = piles->heap[--piles->heap_count];
	else if (!head_take(piles, pile, err))
		return false;
	if (piles->heap_count)
		heap_down(piles, 0);
	return true;
}

bool piles_begin(struct piles *piles, const struct table_schema *schema, struct error *err)
{
	piles->schema = schema;
	piles->room = memory_alloc(piles->count * PILE_BYTES);
	piles->heap = memory_alloc(piles->count * sizeof(*piles->heap));
	for (size_t i = 0; i < piles->count; i++) {
		struct pile *pile = &piles->items[i];

		pile->bytes = piles->room + i * PILE_BYTES;
		if (is_over(pile))
			continue;
		if (!head_take(piles, pile, err))
			return false;
		piles->heap[piles->heap_count++] = (uint32_t)i;
	}
	for (size_t i = piles->heap_count / 2; i-- > 0;)
		heap_down(piles, i);
	return true;
}

/*
 * Changes
 */

static struct span part(const char **at, size_t len)
{
	struct span span = { len ? *at : NULL, len };

	*at += len;
	return span;
}

/* The present change of a pile, with its row. */
static bool change_take(const struct piles *piles, struct pile *pile, struct arena *arena, struct change *out,
                        struct error *err)
{
	const struct pile_head *head = &pile->head;
	char *position = arena_bytes(arena, POSITION_BYTES), *row = arena_bytes(arena, pile->row_left + 1);
	const char *at = row;

	if (!take(piles, pile, row, pile->row_left, err))
		return false;
	pile->row_left = 0;
	memcpy(position, head->position, POSITION_BYTES);
	*out = (struct change){
		.key = arena_copy(arena, pile_key(pile)),
		.position = (const unsigned char *)position,
		.operation = (enum operation)head->operation,
		.is_many = head->flags & PILE_MANY,
		.old_key = part(&at, head->old_key_len),
		.unavailable = part(&at, head->unavailable_len),
	};
	out->full_record = head->flags & PILE_RECORD ? span_make(at, head->record_len) : (struct span){ 0 };
	return true;
}

/* A later pile's change of the same key: it stays if it is greater, as in a sieve. */
static bool change_meet(struct piles *piles, struct pile *pile, struct arena *arena, struct change *out,
                        struct error *err)
{
	if (memcmp(pile->head.position, out->position, POSITION_BYTES) > 0 &&
	    !change_take(piles, pile, arena, out, err))
		return false;
	out->is_many = true;
	return true;
}

bool piles_next(struct piles *piles, struct arena *arena, struct change *out, bool *out_has, struct error *err)
{
	struct pile *pile;

	*out_has = piles->heap_count > 0;
	if (!*out_has)
		return true;
	pile = &piles->items[piles->heap[0]];
	if (!change_take(piles, pile, arena, out, err))
		return false;

	uint64_t rank = pile->head.rank;

	for (;;) {
		if (!heap_advance(piles, err))
			return false;
		if (!piles->heap_count)
			return true;
		pile = &piles->items[piles->heap[0]];
		if (pile->head.rank != rank || !span_equal(pile_key(pile), out->key))
			return true;
		if (!change_meet(piles, pile, arena, out, err))
			return false;
	}
}
