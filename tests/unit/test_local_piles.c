/* The piles of a merge step: however changes are spread over them, what comes out is what one sieve would have left. */
#include "sink/piles_private.h"
#include "unit/local_help.h"

#include <stdlib.h>
#include <unistd.h>

#define CHANGES 3000
#define KEYS 700

static const char *const text_key[][2] = { { "id", "STRING" }, { "n", "INT64" } };
static const char *const number_key[][2] = { { "id", "INT64" }, { "n", "INT64" } };

struct made {
	struct change change;
	unsigned char position[POSITION_BYTES];
};

static uint64_t random_state;

static unsigned dice(unsigned sides)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % sides;
}

/* Mostly short; some are longer than what is read of a pile at once. */
static struct span text_of(struct batch *batch, char letter, unsigned short_most)
{
	size_t len = dice(100) ? dice(short_most) : dice(100000);
	char *at = arena_bytes(batch->arena, len + 1);

	memset(at, letter, len);
	return span_make(len ? at : NULL, len);
}

static void change_make(struct batch *batch, struct made *made, bool is_number, uint64_t c)
{
	struct position position = { .epoch = 1, .c = c, .ordinal = 1 };
	char key[64];

	snprintf(key, sizeof(key), is_number ? "%u" : "customer-of-many-letters-%u", dice(KEYS));
	position_pack(&position, made->position);
	made->change = (struct change){
		.key = key_one(batch, key),
		.position = made->position,
		.operation = (enum operation)dice(OPERATIONS + 1),
		.full_record = text_of(batch, 'r', 300),
		.old_key = text_of(batch, 'o', 3),
		.unavailable = text_of(batch, 'u', 3),
	};
	if (!made->change.full_record.len && dice(2))
		made->change.full_record = SPAN("");
}

static void check_span(struct span is, struct span expected, const char *what, size_t at)
{
	if (!span_equal(is, expected))
		fail_msg("change %zu: %s has %zu bytes, not the %zu that went in", at, what, is.len, expected.len);
}

static void check_change(const struct change *is, const struct change *expected, size_t at)
{
	check_span(is->key, expected->key, "key", at);
	check_span(is->full_record, expected->full_record, "row", at);
	check_span(is->old_key, expected->old_key, "old key", at);
	check_span(is->unavailable, expected->unavailable, "unavailable", at);
	assert_memory_equal(is->position, expected->position, POSITION_BYTES);
	assert_int_equal(is->operation, expected->operation);
	assert_int_equal(is->is_many, expected->is_many);
	assert_int_equal(is->full_record.at != NULL, expected->full_record.at != NULL);
}

/* All of them in one sieve, and spread over piles. */
static void spread(struct piles *piles, struct sieve *all, const struct made *made, size_t count,
                   const struct table_schema *schema)
{
	struct sieve sieve = { 0 };
	struct error err = { 0 };

	sieve_clear(all);
	for (size_t i = 0; i < count; i++) {
		sieve_add(all, &made[i].change);
		sieve_add(&sieve, &made[i].change);
		if (i + 1 < count && dice(60))
			continue;
		sieve_sort(&sieve, schema);
		assert_true(piles_put(piles, &sieve, &err));
		sieve_clear(&sieve);
	}
	sieve_sort(all, schema);
	sieve_free(&sieve);
}

static void check_all(struct piles *piles, const struct sieve *all, const struct table_schema *schema)
{
	struct arena *arena = arena_new(4096);
	unsigned char position[POSITION_BYTES];
	struct change is, expected;
	struct error err = { 0 };
	bool has_change;

	assert_true(piles_begin(piles, schema, &err));
	for (size_t i = 0; i < all->count; i++) {
		sieve_get(all, i, position, &expected);
		assert_true(piles_next(piles, arena, &is, &has_change, &err));
		assert_true(has_change);
		check_change(&is, &expected, i);
		arena_reset(arena);
	}
	assert_true(piles_next(piles, arena, &is, &has_change, &err));
	assert_false(has_change);
	arena_free(arena);
}

static void play(bool is_number, uint64_t seed)
{
	struct batch *batch = batch_new();
	char folder[] = "/tmp/weir-piles-XXXXXX";
	struct piles *piles = piles_new(mkdtemp(folder));
	struct made *made = calloc(CHANGES, sizeof(*made));
	struct sieve all = { 0 };
	size_t count = 1 + (random_state = seed, dice(CHANGES));

	for (size_t i = 0; i < count; i++)
		change_make(batch, &made[i], is_number, dice(400));
	for (int round = 0; round < 2; round++) {
		const struct table_schema *schema = schema_of(batch, "t", 1, is_number ? number_key : text_key, 2, 1);

		spread(piles, &all, made, count, schema);
		check_all(piles, &all, schema);
		piles_clear(piles);
		assert_int_equal(piles_count(piles), 0);
	}
	piles_free(piles);
	sieve_free(&all);
	free(made);
	batch_free(batch);
	assert_int_equal(rmdir(folder), 0);
}

static void what_comes_out_is_what_one_sieve_leaves(void **state)
{
	const char *first = getenv("WEIR_SEEDS");
	uint64_t seed = first ? strtoull(first, NULL, 10) : 1;

	(void)state;
	for (uint64_t i = 0; i < 6; i++)
		play(i % 2, seed + i);
}

static void a_folder_that_is_gone_is_said(void **state)
{
	struct batch *batch = batch_new();
	struct piles *piles = piles_new("/tmp/weir-piles-that-never-were");
	struct sieve sieve = { 0 };
	struct made made;
	struct error err = { 0 };

	(void)state;
	change_make(batch, &made, true, 1);
	sieve_add(&sieve, &made.change);
	assert_false(piles_put(piles, &sieve, &err));
	assert_non_null(strstr(err.message, "below '/tmp/weir-piles-that-never-were'"));
	assert_int_equal(piles_count(piles), 0);
	piles_free(piles);
	sieve_free(&sieve);
	batch_free(batch);
}

static void many_piles_or_long_keys_are_enough(void **state)
{
	struct batch *batch = batch_new();
	char folder[] = "/tmp/weir-piles-XXXXXX";
	struct piles *piles = piles_new(mkdtemp(folder));
	struct sieve sieve = { 0 };
	struct made made;
	struct error err = { 0 };
	char *key = calloc(1, 5u << 20);

	(void)state;
	change_make(batch, &made, true, 1);
	sieve_add(&sieve, &made.change);
	for (int i = 0; i < PILES_MOST - 1; i++) {
		assert_false(piles_are_full(piles));
		assert_true(piles_put(piles, &sieve, &err));
	}
	assert_true(piles_are_full(piles));
	piles_clear(piles);
	assert_false(piles_are_full(piles));
	made.change.key = span_make(key, 5u << 20);
	sieve_add(&sieve, &made.change);
	assert_true(piles_put(piles, &sieve, &err));
	assert_true(piles_are_full(piles));
	free(key);
	piles_free(piles);
	sieve_free(&sieve);
	batch_free(batch);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_out_is_what_one_sieve_leaves),
		cmocka_unit_test(a_folder_that_is_gone_is_said),
		cmocka_unit_test(many_piles_or_long_keys_are_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
