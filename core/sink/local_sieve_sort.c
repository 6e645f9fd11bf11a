/*
 * The sieve in order: sorted by key as the replica's B-tree is, equal keys in
 * order of arrival, so that the newest of each can be told in one pass.
 */
#include "sink/sieve_private.h"

#include "record/key.h"

#define KEY_PARTS_MAX 64
#define SORT_SMALL 24

static bool is_number(const struct table_schema *schema, size_t part)
{
	const struct bq_type *type = &schema->columns[schema->keys[part]].type;

	return type->kind == BQ_INT64 && !type->is_array;
}

static uint64_t text_rank(struct span text)
{
	uint64_t rank = 0;

	for (size_t i = 0; i < 8; i++)
		rank = rank << 8 | (i < text.len ? (unsigned char)text.at[i] : 0);
	return rank;
}

/* Must never contradict sieve_compare. */
static uint64_t key_rank(struct span key, const struct table_schema *schema)
{
	struct span parts[KEY_PARTS_MAX];
	int64_t number;

	if (!schema->key_count || schema->key_count > KEY_PARTS_MAX || !key_decode(key, parts, schema->key_count))
		return UINT64_MAX;
	if (!is_number(schema, 0))
		return text_rank(parts[0]);
	return span_int64(parts[0], &number) ? (uint64_t)number ^ UINT64_C(1) << 63 : UINT64_MAX;
}

/* Whole numbers by value and first, the rest by bytes. */
static int part_compare(struct span a, struct span b, bool is_numbers)
{
	int64_t x = 0, y = 0;
	bool has_x = is_numbers && span_int64(a, &x), has_y = is_numbers && span_int64(b, &y);

	if (has_x != has_y)
		return has_x ? -1 : 1;
	return has_x ? (x > y) - (x < y) : span_compare(a, b);
}

int sieve_compare(struct span a, struct span b, const struct table_schema *schema)
{
	struct span x[KEY_PARTS_MAX], y[KEY_PARTS_MAX];
	bool has_parts = schema->key_count <= KEY_PARTS_MAX;
	bool has_x = has_parts && key_decode(a, x, schema->key_count);
	bool has_y = has_parts && key_decode(b, y, schema->key_count);
	int order = 0;

	if (has_x != has_y)
		return has_x ? -1 : 1;
	for (size_t i = 0; has_x && !order && i < schema->key_count; i++)
		order = part_compare(x[i], y[i], is_number(schema, i));
	return order ? order : span_compare(a, b);
}

/* Equal keys in order of arrival: no two items are equal. */
static bool is_before(const struct sieve *sieve, const struct sieve_item *a, const struct sieve_item *b,
                      const struct table_schema *schema)
{
	struct span x, y;

	if (a->rank != b->rank)
		return a->rank < b->rank;
	x = sieve_key(sieve, a);
	y = sieve_key(sieve, b);
	if (span_equal(x, y))
		return a->order < b->order;
	return sieve_compare(x, y, schema) < 0;
}

/* Places come from a generator of their own, so that no order of arrival is a bad one. */
static uint32_t next_place(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void sort_small(const struct sieve *sieve, struct sieve_item *items, size_t count,
                       const struct table_schema *schema)
{
	for (size_t i = 1; i < count; i++) {
		struct sieve_item item = items[i];
		size_t at = i;

		for (; at && is_before(sieve, &item, &items[at - 1], schema); at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* In place: qsort would take as much memory again. */
static void sort(const struct sieve *sieve, struct sieve_item *items, size_t count, const struct table_schema *schema,
                 uint32_t *state)
{
	while (count > SORT_SMALL) {
		struct sieve_item middle = items[next_place(state) % count];
		size_t low = 0, high = count - 1;

		for (;;) {
			while (is_before(sieve, &items[low], &middle, schema))
				low++;
			while (is_before(sieve, &middle, &items[high], schema))
				high--;
			if (low >= high)
				break;
			struct sieve_item item = items[low];

			items[low++] = items[high];
			items[high--] = item;
		}
		/* items[0 .. high] are not behind the rest; the smaller part by recursion. */
		size_t left = high + 1;

		if (left < count - left) {
			sort(sieve, items, left, schema, state);
			items += left;
			count -= left;
		} else {
			sort(sieve, items + left, count - left, schema, state);
			count = left;
		}
	}
	sort_small(sieve, items, count, schema);
}

/* The later of two changes of a key stays if it is greater; a touch has the lowest position. */
static void item_replace(struct sieve *sieve, struct sieve_item *old, const struct sieve_item *item)
{
	unsigned char was[POSITION_BYTES], is[POSITION_BYTES];

	sieve_position(sieve, old, was);
	sieve_position(sieve, item, is);
	if (memcmp(is, was, POSITION_BYTES) > 0)
		*old = *item;
	sieve->bytes[old->at + 1] |= SIEVE_MANY;
}

void sieve_sort(struct sieve *sieve, const struct table_schema *schema)
{
	uint32_t state = 2463534242u;
	size_t kept = 0;

	for (size_t i = 0; i < sieve->count; i++)
		sieve->items[i].rank = key_rank(sieve_key(sieve, &sieve->items[i]), schema);
	sort(sieve, sieve->items, sieve->count, schema, &state);
	for (size_t i = 0; i < sieve->count; i++) {
		struct sieve_item *item = &sieve->items[i], *last = kept ? &sieve->items[kept - 1] : NULL;

		if (last && last->rank == item->rank && span_equal(sieve_key(sieve, last), sieve_key(sieve, item)))
			item_replace(sieve, last, item);
		else
			sieve->items[kept++] = *item;
	}
	sieve->count = kept;
}
