/*
 * What a step has read into the replica, in key order: a chunk of rows at a time
 * from the sieve, or from its piles. A table with placeholders takes all at once.
 */
#include "sink/merger_private.h"

static struct change *chunk_add(struct merger *merger)
{
	struct fold *fold = &merger->fold;

	if (fold->count == fold->room) {
		fold->room = fold->room ? fold->room * 2 : 512;
		fold->items = memory_grow(fold->items, fold->room * sizeof(*fold->items));
	}
	return &fold->items[fold->count++];
}

/* The sieve lends what it has; only positions are unpacked. */
static void chunk_sift(struct merger *merger, struct arena *arena, size_t from, size_t most)
{
	merger->fold.count = 0;
	for (size_t i = from; i < merger->sieve.count && i < from + most; i++) {
		unsigned char *position = (unsigned char *)arena_bytes(arena, POSITION_BYTES);

		sieve_get(&merger->sieve, i, position, chunk_add(merger));
	}
}

static bool chunk_apply(struct merger *merger, struct step *step, struct error *err)
{
	return replica_apply(step->place->replica, &merger->fold, step->history, &step->result.rows, err);
}

static bool sieve_apply(struct merger *merger, struct step *step, struct error *err)
{
	size_t most = history_is_kept(step->history) ? SIZE_MAX : merger->limits.chunk_changes, from = 0;

	sieve_sort(&merger->sieve, &step->table->schema);
	/* Also without changes: a table event may be all there is. */
	do {
		arena_reset(merger->chunk);
		chunk_sift(merger, merger->chunk, from, most < merger->sieve.count ? most : merger->sieve.count);
		if (!chunk_apply(merger, step, err))
			return false;
		from += merger->fold.count;
	} while (from < merger->sieve.count);
	return true;
}

static bool chunk_take(struct merger *merger, bool *out_more, struct error *err)
{
	const struct merge_limits *limits = &merger->limits;
	struct fold *fold = &merger->fold;

	arena_reset(merger->chunk);
	fold->count = 0;
	*out_more = true;
	while (*out_more && fold->count < limits->chunk_changes && arena_used(merger->chunk) < limits->chunk_bytes) {
		if (!piles_next(merger->piles, merger->chunk, chunk_add(merger), out_more, err))
			return false;
	}
	fold->count -= !*out_more;
	return true;
}

static bool piles_apply(struct merger *merger, struct step *step, struct error *err)
{
	bool has_more = true;

	if (!piles_begin(merger->piles, &step->table->schema, err))
		return false;
	while (has_more) {
		if (!chunk_take(merger, &has_more, err) || !chunk_apply(merger, step, err))
			return false;
	}
	piles_clear(merger->piles);
	return true;
}

bool chunks_apply(struct merger *merger, struct step *step, struct error *err)
{
	return piles_count(merger->piles) ? piles_apply(merger, step, err) : sieve_apply(merger, step, err);
}
