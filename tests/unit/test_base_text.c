/* Text that grows to a limit, and the arena's pieces. */
#include "base/arena.h"
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void text_stops_at_its_limit(void **state)
{
	OWNED(text) t = text_new(8);

	(void)state;
	assert_true(text_add(t, "12345678"));
	assert_false(t->is_full);
	assert_false(text_add_char(t, '9'));
	assert_true(t->is_full);
	assert_string_equal(t->at, "12345678");
	assert_true(text_add(t, ""));
	text_clear(t);
	assert_false(t->is_full);
	assert_string_equal(t->at, "");
}

static void what_does_not_fit_is_not_added_in_part(void **state)
{
	OWNED(text) t = text_new(8);

	(void)state;
	assert_true(text_add(t, "12345"));
	assert_false(text_add(t, "6789"));
	assert_string_equal(t->at, "12345");
	assert_false(text_add_format(t, "%d", 6789));
	assert_string_equal(t->at, "12345");
	assert_false(text_add_int(t, INT64_MIN));
	assert_true(text_add_format(t, "%d", 678));
	assert_string_equal(t->at, "12345678");
	assert_int_equal(t->len, 8);
}

static void text_with_limit_zero_is_empty(void **state)
{
	OWNED(text) t = text_new(0);

	(void)state;
	assert_string_equal(t->at, "");
	assert_false(text_add_char(t, 'a'));
	assert_string_equal(t->at, "");
}

static void text_grows_over_many_adds(void **state)
{
	OWNED(text) t = text_new(100000);

	(void)state;
	for (int i = 0; i < 100000; i++)
		assert_true(text_add_char(t, (char)('a' + i % 26)));
	assert_int_equal(t->len, 100000);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(t->at[i], 'a' + i % 26);
	assert_false(text_add_char(t, 'z'));
}

static void text_takes_numbers_nul_and_nothing(void **state)
{
	OWNED(text) t = text_new(64);

	(void)state;
	assert_true(text_add_int(t, INT64_MIN));
	assert_string_equal(t->at, "-9223372036854775808");
	assert_true(text_add_span(t, span_make("a\0b", 3)));
	assert_true(text_add_span(t, span_make(NULL, 0)));
	assert_true(text_add(t, NULL));
	assert_true(span_equal(text_span(t), span_make("-9223372036854775808a\0b", 23)));
}

static void taken_bytes_are_the_callers(void **state)
{
	OWNED(text) t = text_new(4);

	(void)state;
	text_add(t, "full");
	text_add(t, "!");

	char *bytes = text_take(t);

	assert_string_equal(bytes, "full");
	assert_string_equal(t->at, "");
	assert_false(t->is_full);
	assert_true(text_add(t, "next"));
	assert_string_equal(bytes, "full");
	free(bytes);
}

static void freeing_nothing_is_fine(void **state)
{
	struct text *none = NULL;

	(void)state;
	text_free(none);
	text_freep(&none);
	arena_free(NULL);
	assert_null(memory_string(NULL));
}

static void arena_pieces_do_not_overlap(void **state)
{
	struct arena *arena = arena_new(64);
	unsigned char *pieces[200];

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		size_t size = i % 70; /* above 64: a block of its own */

		pieces[i] = i % 2 ? arena_alloc(arena, size) : (void *)arena_bytes(arena, size);
		assert_non_null(pieces[i]);
		if (i % 2)
			assert_int_equal((uintptr_t)pieces[i] % 16, 0);
		memset(pieces[i], (int)i, size);
	}
	for (size_t i = 0; i < 200; i++) {
		for (size_t k = 0; k < i % 70; k++)
			assert_int_equal(pieces[i][k], i);
	}
	arena_free(arena);
}

static void arena_counts_what_it_handed_out(void **state)
{
	struct arena *arena = arena_new(64);

	(void)state;
	assert_int_equal(arena_used(arena), 0);
	arena_bytes(arena, 60);
	arena_bytes(arena, 60);
	arena_bytes(arena, 1000);
	assert_int_equal(arena_used(arena), 1120);
	arena_reset(arena);
	assert_int_equal(arena_used(arena), 0);
	arena_free(arena);
}

static void arena_uses_its_blocks_again_after_a_reset(void **state)
{
	struct arena *arena = arena_new(64);
	char *first = arena_bytes(arena, 64);
	char *second = arena_bytes(arena, 64);

	(void)state;
	arena_bytes(arena, 65);
	for (int round = 0; round < 3; round++) {
		arena_reset(arena);
		assert_ptr_equal(arena_bytes(arena, 64), first);
		assert_ptr_equal(arena_bytes(arena, 64), second);
	}
	arena_free(arena);
}

/* The blocks behind the first are huge pages: nothing else about them is different. */
static void arena_of_large_blocks_gives_each_piece_its_own_room(void **state)
{
	enum { PIECES = 64, PIECE = 150000 };
	struct arena *arena = arena_new(1u << 20);
	char *pieces[PIECES];

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < PIECES; i++) {
			char *piece = arena_bytes(arena, PIECE);

			assert_true(!round || piece == pieces[i]);
			pieces[i] = memset(piece, i + round, PIECE);
		}
		for (int i = 0; i < PIECES; i++) {
			assert_int_equal(pieces[i][0], i + round);
			assert_int_equal(pieces[i][PIECE - 1], i + round);
		}
		assert_int_equal(arena_used(arena), PIECES * PIECE);
		assert_int_equal(*(char *)memset(arena_alloc(arena, 3u << 20), 1, 3u << 20), 1); /* larger than any block */
		arena_reset(arena);
	}
	arena_free(arena);
}

static void arena_shrinks_only_the_newest_piece(void **state)
{
	struct arena *arena = arena_new(64);
	char *old = arena_bytes(arena, 10);
	char *newest = arena_bytes(arena, 30);

	(void)state;
	arena_shrink(arena, old, 10, 1);
	assert_int_equal(arena_used(arena), 40);
	arena_shrink(arena, newest, 30, 5);
	assert_int_equal(arena_used(arena), 15);
	assert_ptr_equal(arena_bytes(arena, 1), newest + 5);

	char *large = arena_bytes(arena, 500);

	arena_shrink(arena, large, 500, 20);
	assert_int_equal(arena_used(arena), 36);
	arena_free(arena);
}

static void arena_makes_strings(void **state)
{
	struct arena *arena = arena_new(16);

	(void)state;
	assert_string_equal(arena_string(arena, SPAN("orders")), "orders");
	assert_string_equal(arena_string(arena, span_make(NULL, 0)), "");
	assert_string_equal(arena_printf(arena, "%s.%d", "a-long-table-name", 17), "a-long-table-name.17");
	assert_true(span_is(arena_copy(arena, SPAN("x")), "x"));
	assert_int_equal(arena_copy(arena, span_make(NULL, 0)).len, 0);

	const unsigned char *zeros = arena_zalloc(arena, 40);

	for (int i = 0; i < 40; i++)
		assert_int_equal(zeros[i], 0);
	arena_free(arena);
}

static void count_release(void *what)
{
	(*(int *)what)++;
}

static void arena_holds_what_its_pieces_lie_in(void **state)
{
	struct arena *arena = arena_new(64);
	int first = 0, second = 0;
	size_t used;

	(void)state;
	arena_keep(arena, &first, count_release);
	used = arena_used(arena);
	arena_count(arena, 1000);
	assert_int_equal(arena_used(arena), used + 1000);
	assert_int_equal(first, 0);
	arena_reset(arena);
	assert_int_equal(first, 1);
	assert_int_equal(arena_used(arena), 0);
	arena_reset(arena);
	assert_int_equal(first, 1);
	arena_keep(arena, &first, count_release);
	arena_keep(arena, &second, count_release);
	arena_free(arena);
	assert_int_equal(first, 2);
	assert_int_equal(second, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_stops_at_its_limit),
		cmocka_unit_test(what_does_not_fit_is_not_added_in_part),
		cmocka_unit_test(text_with_limit_zero_is_empty),
		cmocka_unit_test(text_grows_over_many_adds),
		cmocka_unit_test(text_takes_numbers_nul_and_nothing),
		cmocka_unit_test(taken_bytes_are_the_callers),
		cmocka_unit_test(freeing_nothing_is_fine),
		cmocka_unit_test(arena_pieces_do_not_overlap),
		cmocka_unit_test(arena_counts_what_it_handed_out),
		cmocka_unit_test(arena_uses_its_blocks_again_after_a_reset),
		cmocka_unit_test(arena_of_large_blocks_gives_each_piece_its_own_room),
		cmocka_unit_test(arena_shrinks_only_the_newest_piece),
		cmocka_unit_test(arena_makes_strings),
		cmocka_unit_test(arena_holds_what_its_pieces_lie_in),
	};

	return cmocka_run_group_tests_name("base_text", tests, NULL, NULL);
}
