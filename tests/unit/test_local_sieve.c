/* The sieve of a merge step: order of keys, newest of each, and bytes that come back as they went in. */
#include "sink/sieve_private.h"
#include "unit/local_help.h"

static const char *const number_key[][2] = { { "id", "INT64" }, { "n", "INT64" } };
static const char *const text_key[][2] = { { "id", "STRING" }, { "n", "INT64" } };
static const char *const both_keys[][2] = { { "id", "INT64" }, { "name", "STRING" } };

static void sift(struct sieve *sieve, struct batch *batch, const char *const *parts, uint64_t c,
                 enum operation operation)
{
	struct position position = { .epoch = 1, .a = UINT64_MAX, .c = c, .ordinal = 1 };
	unsigned char bytes[POSITION_BYTES];
	struct change change = { .key = key_of(batch, parts), .position = bytes, .operation = operation };

	position_pack(&position, bytes);
	sieve_add(sieve, &change);
}

static void sift_one(struct sieve *sieve, struct batch *batch, const char *key, uint64_t c)
{
	const char *parts[] = { key, NULL };

	sift(sieve, batch, parts, c, OP_UPDATE);
}

/* Texts of the keys in order, as the decoded parts. */
static void check_order(struct sieve *sieve, const char *const *texts, size_t count, size_t parts)
{
	for (size_t i = 0; i < count; i++) {
		unsigned char position[POSITION_BYTES];
		struct change change;
		struct span part[2];

		sieve_get(sieve, i, position, &change);
		assert_true(key_decode(change.key, part, parts));
		if (!span_is(part[parts - 1], texts[i]))
			fail_msg("place %zu: '%.*s', not '%s'", i, SPAN_ARG(part[parts - 1]), texts[i]);
	}
	assert_int_equal(sieve->count, count);
}

static void numbers_are_ordered_by_value_and_before_texts(void **state)
{
	static const char *const given[] = {
		"9", "abc", "10", "-3", "1x", "9223372036854775807", "-9223372036854775808", "0",
	};
	static const char *const ordered[] = {
		"-9223372036854775808", "-3", "0", "9", "10", "9223372036854775807", "1x", "abc",
	};
	struct batch *batch = batch_new();
	struct sieve sieve = { 0 };

	(void)state;
	sieve_clear(&sieve);
	for (size_t i = 0; i < 8; i++)
		sift_one(&sieve, batch, given[i], 1);
	sieve_sort(&sieve, schema_of(batch, "t", 1, number_key, 2, 1));
	check_order(&sieve, ordered, 8, 1);
	sieve_free(&sieve);
	batch_free(batch);
}

static void texts_are_ordered_by_bytes_beyond_the_first_eight(void **state)
{
	static const char *const given[] = {
		"customer-2", "customer-10", "", "customer", "\xff\xff\xff\xff\xff\xff\xff\xff", "b",
	};
	static const char *const ordered[] = {
		"", "b", "customer", "customer-10", "customer-2", "\xff\xff\xff\xff\xff\xff\xff\xff",
	};
	struct batch *batch = batch_new();
	struct sieve sieve = { 0 };

	(void)state;
	sieve_clear(&sieve);
	for (size_t i = 0; i < 6; i++)
		sift_one(&sieve, batch, given[i], 1);
	sieve_sort(&sieve, schema_of(batch, "t", 1, text_key, 2, 1));
	check_order(&sieve, ordered, 6, 1);
	sieve_free(&sieve);
	batch_free(batch);
}

static void second_key_column_decides_between_equal_first_ones(void **state)
{
	static const char *const given[][3] = { { "7", "b", NULL }, { "7", "a", NULL }, { "6", "c", NULL } };
	static const char *const ordered[] = { "c", "a", "b" };
	struct batch *batch = batch_new();
	struct sieve sieve = { 0 };

	(void)state;
	sieve_clear(&sieve);
	for (size_t i = 0; i < 3; i++)
		sift(&sieve, batch, given[i], 1, OP_UPDATE);
	sieve_sort(&sieve, schema_of(batch, "t", 1, both_keys, 2, 2));
	check_order(&sieve, ordered, 3, 2);
	sieve_free(&sieve);
	batch_free(batch);
}

static void greatest_position_stays_and_the_first_of_equal_ones(void **state)
{
	static const uint64_t places[] = { 5, 7, 7, 6 };
	struct batch *batch = batch_new();
	struct sieve sieve = { 0 };
	unsigned char position[POSITION_BYTES];
	struct position unpacked;
	struct change change;

	(void)state;
	sieve_clear(&sieve);
	for (size_t i = 0; i < 4; i++)
		sift_one(&sieve, batch, "1", places[i]);
	sift_one(&sieve, batch, "2", 1);
	sieve_sort(&sieve, schema_of(batch, "t", 1, number_key, 2, 1));
	assert_int_equal(sieve.count, 2);
	assert_int_equal(sieve.items[0].order, 1);
	sieve_get(&sieve, 0, position, &change);
	assert_true(change.is_many);
	position_unpack(position, &unpacked);
	assert_int_equal(unpacked.c, 7);
	assert_true(unpacked.epoch == 1 && unpacked.a == UINT64_MAX && unpacked.b == 0 && unpacked.ordinal == 1);
	sieve_get(&sieve, 1, position, &change);
	assert_false(change.is_many);
	sieve_free(&sieve);
	batch_free(batch);
}

static void rows_come_back_as_they_were_lent(void **state)
{
	struct batch *batch = batch_new();
	struct sieve sieve = { 0 };
	unsigned char position[POSITION_BYTES] = { 0 };
	struct change change = { .key = key_one(batch, "1"), .position = position, .operation = OP_INSERT };

	(void)state;
	sieve_clear(&sieve);
	change.full_record = SPAN("{}");
	change.old_key = SPAN("old");
	sieve_add(&sieve, &change);
	sieve_get(&sieve, 0, position, &change);
	assert_true(span_is(change.full_record, "{}") && span_is(change.old_key, "old") && !change.unavailable.len);
	assert_int_equal(change.operation, OP_INSERT);
	sieve_free(&sieve);
	batch_free(batch);
}

/* Every key twice, in an order that repeats itself: the worst for many sorts. */
static void many_keys_come_out_once_and_in_order(void **state)
{
	struct batch *batch = batch_new();
	struct sieve sieve = { 0 };
	int64_t last = -1;

	(void)state;
	sieve_clear(&sieve);
	for (int i = 0; i < 20000; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%d", i * 7919 % 10000);
		sift_one(&sieve, batch, key, (uint64_t)i);
	}
	sieve_sort(&sieve, schema_of(batch, "t", 1, number_key, 2, 1));
	assert_int_equal(sieve.count, 10000);
	for (size_t i = 0; i < sieve.count; i++) {
		struct span text;
		int64_t number = 0;

		assert_true(key_decode(sieve_key(&sieve, &sieve.items[i]), &text, 1) && span_int64(text, &number));
		assert_true(number > last);
		assert_true(sieve.items[i].order >= 10000);
		last = number;
	}
	sieve_free(&sieve);
	batch_free(batch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_ordered_by_value_and_before_texts),
		cmocka_unit_test(texts_are_ordered_by_bytes_beyond_the_first_eight),
		cmocka_unit_test(second_key_column_decides_between_equal_first_ones),
		cmocka_unit_test(greatest_position_stays_and_the_first_of_equal_ones),
		cmocka_unit_test(rows_come_back_as_they_were_lent),
		cmocka_unit_test(many_keys_come_out_once_and_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
