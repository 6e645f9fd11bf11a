/*
 * Messages of a subscription that have become rows of append tables, exactly once: the
 * service may give any of them again, after a kill between commit and confirmation or
 * by itself, and the tables have no place by which it could be told. The newest are
 * remembered, in two generations, in memory and in the books: a young one that grows
 * and the one before it, which is dropped whole.
 */
#include "sink/bigquery_append_private.h"

#include <stdlib.h>

#define GENERATION_MOST 131072     /* 2 MiB in the books, 4 in memory */
#define SLOTS_FIRST 1024
#define CLAIM_SLOTS 16384          /* more than twice what a batch holds */
#define EMPTY UINT32_MAX           /* an ordinal that no record has */

struct place_set {
	struct place *slots;           /* slot_count, a power of two; at most half of them are used */
	size_t slot_count, count;
};

/* A record of the batch that is being written. */
struct claim {
	struct place place;
	uint32_t record;
	uint32_t turn;                 /* another batch: the claim is over */
};

struct recent {
	struct local_sink *books;
	struct place_set young, old;
	int64_t generation;            /* of the young one */
	struct place *fresh;           /* written, and not committed yet */
	size_t fresh_count, fresh_room;
	struct claim *claims;          /* CLAIM_SLOTS */
	uint32_t turn;
	uint64_t batch;
};

/*
 * Sets
 */

static uint64_t place_hash(const struct place *place)
{
	uint64_t hash = (place->at ^ (uint64_t)place->ordinal << 32 ^ place->kind) * UINT64_C(0x9E3779B97F4A7C15);

	return hash ^ hash >> 29;
}

static bool place_equal(const struct place *a, const struct place *b)
{
	return a->at == b->at && a->ordinal == b->ordinal && a->kind == b->kind;
}

static void set_clear(struct place_set *set)
{
	free(set->slots);
	*set = (struct place_set){ 0 };
}

/* Where it is, or would be. */
static struct place *set_slot(const struct place_set *set, const struct place *place)
{
	size_t at = place_hash(place) & (set->slot_count - 1);

	while (set->slots[at].ordinal != EMPTY && !place_equal(&set->slots[at], place))
		at = (at + 1) & (set->slot_count - 1);
	return &set->slots[at];
}

static bool set_has(const struct place_set *set, const struct place *place)
{
	return set->count && set_slot(set, place)->ordinal != EMPTY;
}

static void set_grow(struct place_set *set)
{
	struct place_set larger = { .slot_count = set->slot_count ? set->slot_count * 2 : SLOTS_FIRST, .count = set->count };

	larger.slots = memory_alloc(larger.slot_count * sizeof(*larger.slots));
	memset(larger.slots, 0xFF, larger.slot_count * sizeof(*larger.slots));
	for (size_t i = 0; i < set->slot_count; i++) {
		if (set->slots[i].ordinal != EMPTY)
			*set_slot(&larger, &set->slots[i]) = set->slots[i];
	}
	free(set->slots);
	*set = larger;
}

static void set_add(struct place_set *set, const struct place *place)
{
	struct place *slot;

	if (2 * (set->count + 1) > set->slot_count)
		set_grow(set);
	slot = set_slot(set, place);
	set->count += slot->ordinal == EMPTY;
	*slot = *place;
}

/*
 * The books
 */

static bool read_row(struct recent *recent, sqlite3_stmt *stmt)
{
	int64_t generation = sqlite3_column_int64(stmt, 0);
	struct span bytes = store_blob(stmt, 1);
	struct place place;

	if (generation > recent->generation) {
		set_clear(&recent->old);
		recent->old = recent->young;
		recent->young = (struct place_set){ 0 };
		recent->generation = generation;
	}
	for (size_t at = 0; at + sizeof(place) <= bytes.len; at += sizeof(place)) {
		memcpy(&place, bytes.at + at, sizeof(place));
		set_add(&recent->young, &place);
	}
	return true;
}

static bool recent_read(struct recent *recent, struct error *err)
{
	struct store *store = recent->books->store;
	sqlite3_stmt *stmt = store_prepare(store, "SELECT generation, places FROM _weir_recent WHERE job=?1 ORDER BY generation, number",
	                                   err);
	bool has_row, is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(recent->books->job));
	while ((is_fine = store_step(store, stmt, &has_row, err)) && has_row)
		read_row(recent, stmt);
	sqlite3_finalize(stmt);
	return is_fine;
}

struct recent *recent_open(struct local_sink *books, struct error *err)
{
	struct recent *recent = memory_zalloc(sizeof(*recent));

	recent->books = books;
	recent->claims = memory_zalloc(CLAIM_SLOTS * sizeof(*recent->claims));
	if (recent_read(recent, err))
		return recent;
	recent_close(recent);
	return NULL;
}

void recent_close(struct recent *recent)
{
	if (!recent)
		return;
	set_clear(&recent->young);
	set_clear(&recent->old);
	free(recent->fresh);
	free(recent->claims);
	free(recent);
}

static bool run(struct recent *recent, const char *sql, int64_t generation, struct span places, struct error *err)
{
	struct store *store = recent->books->store;
	sqlite3_stmt *stmt = store_prepare(store, sql, err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(recent->books->job));
	sqlite3_bind_int64(stmt, 2, generation);
	if (places.len)
		store_bind_blob(stmt, 3, places);
	is_fine = store_run(store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

/* A full generation is begun with the next commit, so that a failed one leaves everything as it was. */
static int64_t generation_next(const struct recent *recent)
{
	return recent->generation + (recent->young.count >= GENERATION_MOST);
}

bool recent_commit(struct recent *recent, struct error *err)
{
	struct span places = span_make((const char *)recent->fresh, recent->fresh_count * sizeof(*recent->fresh));
	int64_t generation = generation_next(recent);

	if (!recent->fresh_count)
		return true;
	return run(recent, "INSERT INTO _weir_recent(job, generation, number, places) SELECT ?1, ?2, coalesce(max(number), 0) + 1, ?3 "
	                   "FROM _weir_recent WHERE job=?1 AND generation=?2", generation, places, err) &&
	       (generation == recent->generation ||
	        run(recent, "DELETE FROM _weir_recent WHERE job=?1 AND generation < ?2 - 1", generation, (struct span){ 0 }, err));
}

void recent_committed(struct recent *recent)
{
	int64_t generation = generation_next(recent);

	if (recent->fresh_count && generation != recent->generation) {
		set_clear(&recent->old);
		recent->old = recent->young;
		recent->young = (struct place_set){ 0 };
		recent->generation = generation;
	}
	for (size_t i = 0; i < recent->fresh_count; i++)
		set_add(&recent->young, &recent->fresh[i]);
	recent->fresh_count = 0;
}

/*
 * Rows
 */

void recent_put(struct recent *recent, const struct place *place)
{
	if (recent->fresh_count == recent->fresh_room) {
		recent->fresh_room = recent->fresh_room * 2 + 1024;
		recent->fresh = memory_grow(recent->fresh, recent->fresh_room * sizeof(*recent->fresh));
	}
	recent->fresh[recent->fresh_count++] = *place;
}

/* Has another record of this batch the same message? It came twice before the first was confirmed. */
static bool claim_is_taken(struct recent *recent, uint32_t record, const struct place *place)
{
	size_t at = place_hash(place) & (CLAIM_SLOTS - 1);

	for (size_t tries = 0; tries < CLAIM_SLOTS; tries++, at = (at + 1) & (CLAIM_SLOTS - 1)) {
		struct claim *claim = &recent->claims[at];

		if (claim->turn != recent->turn) {
			*claim = (struct claim){ *place, record, recent->turn };
			return false;
		}
		if (place_equal(&claim->place, place))
			return claim->record != record;
	}
	return false;
}

bool recent_is_repeat(struct recent *recent, uint64_t batch, uint32_t record, const struct place *place)
{
	if (recent->batch != batch || !recent->turn) {
		recent->batch = batch;
		recent->turn++;
	}
	return set_has(&recent->young, place) || set_has(&recent->old, place) || claim_is_taken(recent, record, place);
}
