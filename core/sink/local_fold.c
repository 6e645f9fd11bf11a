/*
 * What a step of changes comes to: the newest of each key, in the order of the
 * replica's B-tree, so that each page is touched once. Table events hide rows;
 * the result does not depend on where a step begins and ends.
 */
#include "sink/local_private.h"

#include "base/hash.h"
#include "record/key.h"

#include <stdlib.h>

#define SLOTS_FIRST 1024
#define KEY_PARTS_MAX 64

void fold_init(struct fold *fold, struct arena *arena)
{
	*fold = (struct fold){ .arena = arena };
}

void fold_clear(struct fold *fold)
{
	fold->count = 0;
	if (fold->slots)
		memset(fold->slots, 0, fold->slot_count * sizeof(*fold->slots));
	if (fold->arena)
		arena_reset(fold->arena);
}

void fold_free(struct fold *fold)
{
	free(fold->items);
	free(fold->slots);
	*fold = (struct fold){ .arena = fold->arena };
}

/* The slot of a key: its own, or the free one where it belongs. */
static uint32_t *slot_find(const struct fold *fold, struct span key)
{
	size_t mask = fold->slot_count - 1;
	size_t at = (size_t)hash_bytes(key) & mask;

	while (fold->slots[at] && !span_equal(fold->items[fold->slots[at] - 1].key, key))
		at = (at + 1) & mask;
	return &fold->slots[at];
}

static void slots_grow(struct fold *fold)
{
	fold->slot_count = fold->slot_count ? fold->slot_count * 2 : SLOTS_FIRST;
	free(fold->slots);
	fold->slots = memory_zalloc(fold->slot_count * sizeof(*fold->slots));
	for (size_t i = 0; i < fold->count; i++)
		*slot_find(fold, fold->items[i].key) = (uint32_t)i + 1;
}

static struct span keep(const struct fold *fold, struct span bytes)
{
	return fold->arena && bytes.len ? arena_copy(fold->arena, bytes) : bytes;
}

static void change_keep(const struct fold *fold, struct change *to, const struct change *from)
{
	*to = *from;
	to->key = keep(fold, from->key);
	to->old_key = keep(fold, from->old_key);
	to->full_record = keep(fold, from->full_record);
	to->unavailable = keep(fold, from->unavailable);
	if (fold->arena)
		to->position = (const unsigned char *)arena_copy(fold->arena,
			span_make((const char *)from->position, POSITION_BYTES)).at;
}

static void change_replace(const struct fold *fold, struct change *old, const struct change *change)
{
	struct span last = old->full_record.len ? old->full_record : old->last_record;

	old->is_many = true;
	if (memcmp(change->position, old->position, POSITION_BYTES) <= 0)
		return;
	change_keep(fold, old, change);
	old->is_many = true;
	old->last_record = last;
}

static void fold_row(struct fold *fold, const struct change *change)
{
	uint32_t *slot;

	if ((fold->count + 1) * 2 > fold->slot_count)
		slots_grow(fold);
	slot = slot_find(fold, change->key);
	if (*slot) {
		change_replace(fold, &fold->items[*slot - 1], change);
		return;
	}
	if (fold->count == fold->room) {
		fold->room = fold->room ? fold->room * 2 : 512;
		fold->items = memory_grow(fold->items, fold->room * sizeof(*fold->items));
	}
	change_keep(fold, &fold->items[fold->count], change);
	fold->items[fold->count].is_many = false;
	*slot = (uint32_t)++fold->count;
}

static const unsigned char lowest[POSITION_BYTES];

void fold_touch(struct fold *fold, struct span key)
{
	struct change touch = { .key = key, .position = lowest, .operation = OPERATIONS };

	fold_row(fold, &touch);
}

static void raise_to(unsigned char *level, const unsigned char *position)
{
	if (memcmp(position, level, POSITION_BYTES) > 0)
		memcpy(level, position, POSITION_BYTES);
}

/* A row at or above a DROP makes the table again: it starts empty there. */
static void tide_settle(struct tide *tide, const unsigned char *dropped)
{
	if (memcmp(tide->newest, dropped, POSITION_BYTES) >= 0)
		raise_to(tide->hidden, dropped);
}

bool tide_pass(struct tide *tide, struct change *change)
{
	if (change->operation == OP_TRUNCATE || change->operation == OP_RENAME) {
		raise_to(tide->hidden, change->position);
		return false;
	}
	if (change->operation == OP_DROP) {
		/* Behind a newer one too: a row between the two has made the table again. */
		raise_to(tide->dropped, change->position);
		tide_settle(tide, change->position);
		return false;
	}
	if (memcmp(change->position, tide->dropped, POSITION_BYTES) < 0) {
		*change = (struct change){ .key = change->key, .position = lowest, .operation = OPERATIONS };
		return true;
	}
	if (change->operation != OP_DELETE) {
		raise_to(tide->newest, change->position);
		tide_settle(tide, tide->dropped);
	}
	return true;
}

void fold_add(struct fold *fold, struct tide *tide, const struct change *change)
{
	struct change passed = *change;

	if (tide_pass(tide, &passed))
		fold_row(fold, &passed);
}

/* Orders two keys as the replica's index does: whole numbers by value, the rest by bytes. */
static int part_compare(struct span a, struct span b, const struct bq_type *type)
{
	int64_t x, y;

	if (type->kind == BQ_INT64 && span_int64(a, &x) && span_int64(b, &y))
		return (x > y) - (x < y);
	return span_compare(a, b);
}

static int change_compare(const void *left, const void *right, void *context)
{
	const struct change *a = left, *b = right;
	const struct table_schema *schema = context;
	struct span x[KEY_PARTS_MAX], y[KEY_PARTS_MAX];

	if (schema->key_count > KEY_PARTS_MAX || !key_decode(a->key, x, schema->key_count) ||
	    !key_decode(b->key, y, schema->key_count))
		return span_compare(a->key, b->key);
	for (size_t i = 0; i < schema->key_count; i++) {
		int order = part_compare(x[i], y[i], &schema->columns[schema->keys[i]].type);

		if (order)
			return order;
	}
	return 0;
}

/* One whole number as key: sorting by it needs no decoding in each comparison. */
struct numbered {
	int64_t number;
	uint32_t at;
};

static int numbered_compare(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

static bool numbers_read(const struct fold *fold, struct numbered *numbers)
{
	for (size_t i = 0; i < fold->count; i++) {
		struct span text;

		numbers[i].at = (uint32_t)i;
		if (!key_decode(fold->items[i].key, &text, 1) || !span_int64(text, &numbers[i].number))
			return false;
	}
	return true;
}

/* Puts each change where it belongs, in place: a step may fill most of the memory it is allowed. */
static void changes_permute(struct change *items, struct numbered *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct change first = items[i];
		size_t at = i;

		while (numbers[at].at != i) {
			size_t from = numbers[at].at;

			items[at] = items[from];
			numbers[at].at = (uint32_t)at;
			at = from;
		}
		items[at] = first;
		numbers[at].at = (uint32_t)at;
	}
}

static bool fold_sort_numbers(struct fold *fold)
{
	struct numbered *numbers = memory_alloc((fold->count + 1) * sizeof(*numbers));
	bool is_fine = numbers_read(fold, numbers);

	if (is_fine) {
		qsort(numbers, fold->count, sizeof(*numbers), numbered_compare);
		changes_permute(fold->items, numbers, fold->count);
	}
	free(numbers);
	return is_fine;
}

void fold_sort(struct fold *fold, const struct table_schema *schema)
{
	if (fold->is_sorted || fold->count < 2)
		return;
	if (schema->key_count == 1 && schema->columns[schema->keys[0]].type.kind == BQ_INT64 && fold_sort_numbers(fold))
		return;
	qsort_r(fold->items, fold->count, sizeof(*fold->items), change_compare, (void *)schema);
}
