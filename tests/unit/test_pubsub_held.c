/* What is held of a subscription: numbers, packed ids, leases; by a clock of the test's own. */
#include "google/proto.h"
#include "source/pubsub_held.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

struct taken {
	struct text *ids;
	uint32_t count, calls;
	int64_t held_ms;
};

static void take(void *context, uint32_t channel, struct span ids, uint32_t count, int64_t held_ms)
{
	struct taken *taken = context;

	(void)channel;
	assert_true(ids_put(taken->ids, ids, 'x'));
	taken->count += count;
	taken->calls++;
	taken->held_ms = held_ms;
}

static uint64_t add(struct held *held, uint32_t channel, int number, int64_t now_ms)
{
	char id[32];
	int len = snprintf(id, sizeof(id), "id-%d", number);

	return held_add(held, channel, span_make(id, (size_t)len), 100, 10000, now_ms);
}

static void test_a_part_of_a_parcel_may_be_confirmed(void **state)
{
	struct held held;
	struct taken taken = { .ids = text_new(1000) };

	(void)state;
	held_begin(&held, 7);
	for (int i = 0; i < 5; i++)
		assert_int_equal(add(&held, 0, i, 1000), 7 + i);
	assert_ptr_equal(held.first, held.last);
	held_confirm(&held, 10, 1500, take, &taken);
	assert_int_equal(taken.count, 3);
	assert_int_equal(taken.held_ms, 500);
	assert_string_equal(taken.ids->at, "x\4id-0x\4id-1x\4id-2");
	assert_int_equal(held.count, 2);
	held_confirm(&held, 10, 1500, take, &taken);
	assert_int_equal(taken.count, 3);
	held_confirm(&held, 100, 1600, take, &taken);
	assert_int_equal(taken.count, 5);
	assert_null(held.first);
	assert_int_equal(held.bytes, 0);
	text_free(taken.ids);
}

static void test_parcels_are_of_one_channel_and_one_moment(void **state)
{
	struct held held;
	struct taken taken = { .ids = text_new(1000) };

	(void)state;
	held_begin(&held, 1);
	add(&held, 0, 1, 1000);
	add(&held, 1, 2, 1000);
	add(&held, 1, 3, 1001);
	add(&held, 1, 4, 1001);
	held_confirm(&held, 5, 2000, take, &taken);
	assert_int_equal(taken.calls, 3);
	held_clear(&held);
	text_free(taken.ids);
}

static void test_long_ids_keep_their_length(void **state)
{
	static char id[ACK_ID_BYTES_MAX];
	struct text *request = text_new(2 * ACK_ID_BYTES_MAX);
	struct held held;
	struct proto_reader reader;
	struct proto_field field;

	(void)state;
	memset(id, 'i', sizeof(id));
	held_begin(&held, 1);
	held_add(&held, 0, span_make(id, sizeof(id)), 1, 10000, 0);
	held_add(&held, 0, span_make(id, 127), 1, 10000, 0);
	held_add(&held, 0, span_make(id, 128), 1, 10000, 0);
	assert_int_equal(held_collect(&held, 0, 0x22, 1, 10000, 5000, request), 3);
	reader = proto_open(text_span(request));
	for (size_t i = 0; i < 3; i++) {
		assert_true(proto_next(&reader, &field));
		assert_int_equal(field.number, 4);
		assert_int_equal(field.bytes.len, i == 0 ? sizeof(id) : i == 1 ? 127 : 128);
	}
	assert_false(proto_next(&reader, &field) || reader.is_broken);
	held_clear(&held);
	text_free(request);
}

/* Ten seconds of lease, and calls that take three: extended so early that none runs out. */
static void test_slow_calls_lose_no_lease(void **state)
{
	struct held held;
	struct text *request = text_new(10000);
	int64_t now = 0, answer_at = -1, sent = 0;
	uint64_t errand = 0;
	uint32_t channel;

	(void)state;
	held_begin(&held, 1);
	add(&held, 0, 1, now);
	for (; now <= 120000; now += 100) {
		held_look(&held, now);
		if (answer_at >= 0 && now >= answer_at) {
			held_extended(&held, errand, sent, 10000, 3000);
			answer_at = -1;
		}
		if (answer_at < 0 && held_due_channel(&held, now, &channel)) {
			text_clear(request);
			assert_int_equal(held_collect(&held, channel, 'x', ++errand, 10000, now, request), 1);
			sent = now;
			answer_at = now + 3000;
		}
	}
	assert_int_equal(held.expired, 0);
	assert_in_range(errand, 12, 41);
	held_clear(&held);
	text_free(request);
}

static void test_a_call_without_answer_is_made_again_beside_it(void **state)
{
	struct held held;
	struct text *request = text_new(1000);
	uint32_t channel;

	(void)state;
	held_begin(&held, 1);
	add(&held, 3, 1, 0);
	assert_false(held_due_channel(&held, 2499, &channel));
	assert_true(held_due_channel(&held, 2500, &channel));
	assert_int_equal(channel, 3);
	held_collect(&held, 3, 'x', 1, 10000, 2500, request);
	assert_false(held_due_channel(&held, 4999, &channel));
	assert_true(held_due_channel(&held, 5000, &channel));
	held_collect(&held, 3, 'x', 2, 10000, 5000, request);
	/* The first one's answer counts no more: the second one's will. */
	held_extended(&held, 1, 2500, 10000, 100);
	assert_int_equal(held.first->until_ms, 10000);
	held_extended(&held, 2, 5000, 10000, 100);
	assert_int_equal(held.first->until_ms, 15000);
	held_not_extended(&held, 2, 5600);
	assert_true(held_due_channel(&held, 5600, &channel));
	held_look(&held, 15001);
	assert_int_equal(held.expired, 1);
	held_look(&held, 16000);
	assert_int_equal(held.expired, 1);
	held_clear(&held);
	text_free(request);
}

/* Or the keeper, who sleeps until then, would not sleep again. */
static void test_what_was_due_first_and_is_confirmed_is_due_no_more(void **state)
{
	struct held held;
	struct taken taken = { .ids = text_new(1000) };
	uint32_t channel;

	(void)state;
	held_begin(&held, 1);
	add(&held, 0, 1, 0);
	add(&held, 0, 2, 1000);
	held_confirm(&held, 2, 2000, take, &taken);
	assert_false(held_due_channel(&held, 2500, &channel));
	assert_int_equal(held.due_ms, 3500);
	held_confirm(&held, 3, 3000, take, &taken);
	assert_false(held_due_channel(&held, 3500, &channel));
	assert_int_equal(held.due_ms, INT64_MAX);
	text_free(taken.ids);
}

static void test_requests_take_what_the_server_takes(void **state)
{
	struct held held;
	struct text *request = text_new(2 * REQUEST_BYTES);
	uint32_t all = 0;

	(void)state;
	held_begin(&held, 1);
	for (int i = 0; i < 6000; i++)
		add(&held, 0, i, i / 1000);
	for (uint32_t count = 1; count; all += count) {
		text_clear(request);
		count = held_collect(&held, 0, 'x', 9, 10000, 5000, request);
		assert_true(count <= PARCEL_MESSAGES);
	}
	assert_int_equal(all, 6000);
	held_clear(&held);
	text_free(request);
}

static void test_a_lease_follows_work_and_the_slowest_call(void **state)
{
	struct lease lease = { .least_ms = 10000 };

	(void)state;
	assert_int_equal(lease_wanted_ms(&lease, 0), 10000);
	assert_int_equal(lease_wanted_ms(&lease, 60000), 240000);
	lease_learn(&lease, 5, 1000);
	assert_int_equal(lease_wanted_ms(&lease, 0), 10000);
	lease_learn(&lease, 90000, 100);
	assert_int_equal(lease_wanted_ms(&lease, 0), 100000);
	lease.least_ms = 600000;
	assert_int_equal(lease_wanted_ms(&lease, 0), 600000);
	lease_learn(&lease, INT64_MAX, 1000000);
	assert_int_equal(lease_wanted_ms(&lease, INT64_MAX / 8), LEASE_MOST_MS);
}

static void test_an_hour_is_told_once_and_again_when_it_was_over(void **state)
{
	struct held held;
	struct taken taken = { .ids = text_new(1000) };

	(void)state;
	held_begin(&held, 1);
	assert_false(held_long(&held, HELD_LONG_MS));
	add(&held, 0, 1, 1000);
	add(&held, 0, 2, 5000);
	assert_false(held_long(&held, HELD_LONG_MS + 999));
	assert_true(held_long(&held, HELD_LONG_MS + 1000));
	assert_false(held_long(&held, HELD_LONG_MS + 1200));
	held_confirm(&held, 2, HELD_LONG_MS + 1300, take, &taken);
	assert_false(held_long(&held, HELD_LONG_MS + 1400));
	assert_true(held_long(&held, HELD_LONG_MS + 5000));
	held_confirm(&held, 3, HELD_LONG_MS + 5100, take, &taken);
	assert_false(held_long(&held, 3 * HELD_LONG_MS));
	text_free(taken.ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_part_of_a_parcel_may_be_confirmed),
		cmocka_unit_test(test_parcels_are_of_one_channel_and_one_moment),
		cmocka_unit_test(test_long_ids_keep_their_length),
		cmocka_unit_test(test_slow_calls_lose_no_lease),
		cmocka_unit_test(test_a_call_without_answer_is_made_again_beside_it),
		cmocka_unit_test(test_what_was_due_first_and_is_confirmed_is_due_no_more),
		cmocka_unit_test(test_requests_take_what_the_server_takes),
		cmocka_unit_test(test_an_hour_is_told_once_and_again_when_it_was_over),
		cmocka_unit_test(test_a_lease_follows_work_and_the_slowest_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
