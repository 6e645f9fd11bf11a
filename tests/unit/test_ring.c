/* Numbers over time: what is kept, what is forgotten, what idle time costs. */
#include "engine/ring_private.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define LENGTH 120

static size_t pieces(const struct ring *ring)
{
	size_t count = 0;

	for (size_t i = 0; i < ring->piece_count; i++)
		count += ring->pieces[i] != NULL;
	return count;
}

static void put(struct ring *ring, int64_t slot, float a, float b)
{
	float values[] = { a, b };

	ring_put(ring, slot, values);
}

static int open_ring(void **state)
{
	static struct ring ring;

	ring_open(&ring, LENGTH, 2);
	*state = &ring;
	return 0;
}

static int close_ring(void **state)
{
	ring_close(*state);
	return 0;
}

static void test_what_was_put_is_there(void **state)
{
	struct ring *ring = *state;

	put(ring, 59, 1, 2);
	put(ring, 60, 3, 4);
	assert_float_equal(ring_get(ring, 59, 0), 1, 0);
	assert_float_equal(ring_get(ring, 59, 1), 2, 0);
	assert_float_equal(ring_get(ring, 60, 1), 4, 0);
	assert_float_equal(ring_get(ring, 61, 0), 0, 0);
	assert_float_equal(ring_get(ring, -1, 0), 0, 0);
	assert_float_equal(ring_get(ring, 60, 2), 0, 0);
}

static void test_idle_time_takes_no_memory(void **state)
{
	struct ring *ring = *state;

	for (int64_t slot = 0; slot < 10 * LENGTH; slot++)
		put(ring, slot, 0, 0);
	assert_int_equal(pieces(ring), 0);
}

static void test_all_of_the_promised_length_is_kept(void **state)
{
	struct ring *ring = *state;

	for (int64_t newest = 0; newest < 5 * LENGTH; newest++) {
		put(ring, newest, (float)newest + 1, 0);
		for (int64_t slot = newest < LENGTH ? 0 : newest - LENGTH + 1; slot <= newest; slot++)
			assert_float_equal(ring_get(ring, slot, 0), (float)slot + 1, 0);
	}
	assert_true(pieces(ring) <= ring->piece_count);
}

static void test_an_old_number_is_never_shown_as_a_new_one(void **state)
{
	struct ring *ring = *state;
	int64_t around = (int64_t)ring->piece_count * RING_PIECE;

	put(ring, 5, 7, 7);
	assert_float_equal(ring_get(ring, 5 + around, 0), 0, 0);
	put(ring, 6 + around, 8, 8);
	assert_float_equal(ring_get(ring, 5 + around, 0), 0, 0);
	assert_float_equal(ring_get(ring, 5, 0), 0, 0);
	put(ring, 6 + 2 * around, 0, 0);
	assert_int_equal(pieces(ring), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_was_put_is_there, open_ring, close_ring),
		cmocka_unit_test_setup_teardown(test_idle_time_takes_no_memory, open_ring, close_ring),
		cmocka_unit_test_setup_teardown(test_all_of_the_promised_length_is_kept, open_ring, close_ring),
		cmocka_unit_test_setup_teardown(test_an_old_number_is_never_shown_as_a_new_one, open_ring, close_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
