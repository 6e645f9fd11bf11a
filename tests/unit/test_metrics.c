/* What a running job shows over time: tables, what waits for the merge, rates, history. */
#include "base/arena.h"
#include "base/clock.h"
#include "engine/metrics_private.h"
#include "pipeline/progress_private.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define SECOND_US INT64_C(1000000)

/* Two tables, the second without a replica, and "-". */
static struct progress *two_tables(void)
{
	struct progress *progress = progress_new();

	progress_learn_table(progress, 0, "shop.orders", true);
	progress_learn_table(progress, 1, "shop.events", false);
	progress_begin(progress);
	return progress;
}

static void commit(struct progress *progress, uint64_t messages, int64_t committed_us)
{
	struct ledger added[3] = { { .received = messages, .written = messages, .rows = messages } };
	uint64_t bytes[3] = { messages * 10 };
	int64_t oldest_us[3] = { committed_us - 2 * SECOND_US };
	struct batch_times times = { .committed_us = committed_us, .lag_us = 2 * SECOND_US, .bytes = bytes,
		                     .oldest_us = oldest_us, .table_count = 2 };

	progress_taken(progress, messages, messages * 10);
	progress_committed(progress, &added[0], added, 2, &times);
}

static void test_a_table_shows_its_ledger_and_lag(void **state)
{
	struct progress *progress = two_tables();
	struct table_progress table;

	(void)state;
	commit(progress, 5, 100 * SECOND_US);
	progress_table(progress, 0, &table);
	assert_string_equal(table.name, "shop.orders");
	assert_int_equal(table.total.received, 5);
	assert_int_equal(table.bytes, 50);
	assert_int_equal(table.lag_us, 2 * SECOND_US);
	assert_int_equal(table.waiting_changes, 5);
	assert_int_equal(table.waiting_since_us, 100 * SECOND_US);
	progress_table(progress, 1, &table);
	assert_int_equal(table.total.received, 0);
	assert_int_equal(table.lag_us, -1);
	progress_table(progress, 2, &table);
	assert_string_equal(table.name, "-");
	progress_free(progress);
}

static void test_a_merge_takes_what_was_there_when_it_began(void **state)
{
	struct progress *progress = two_tables();
	struct table_progress table;
	struct histogram replica;
	int64_t now_us = clock_utc_us();

	(void)state;
	commit(progress, 5, now_us - 9 * SECOND_US);
	commit(progress, 7, now_us - 1 * SECOND_US);
	progress_merged(progress, "orders", 5, now_us - 5 * SECOND_US, true);
	progress_table(progress, 0, &table);
	assert_int_equal(table.waiting_changes, 7);
	progress_latency(progress, LATENCY_REPLICA, &replica);
	assert_int_equal(replica.count, 5);
	assert_in_range(replica.max_us, 9 * SECOND_US, 12 * SECOND_US);
	/* From now on what waits is counted: a step that could not take all takes so many. */
	progress_merged(progress, "orders", 3, now_us, false);
	progress_table(progress, 0, &table);
	assert_int_equal(table.waiting_changes, 4);
	progress_merged(progress, "nobody", 3, now_us, true);
	progress_merged(progress, "orders", 4, clock_utc_us(), true);
	progress_table(progress, 0, &table);
	assert_int_equal(table.waiting_changes, 0);
	assert_int_equal(table.waiting_since_us, 0);
	progress_free(progress);
}

static void test_a_merge_of_what_an_earlier_run_left_is_not_taken_for_this_runs(void **state)
{
	struct progress *progress = two_tables();
	struct table_progress table;

	(void)state;
	commit(progress, 5, 100 * SECOND_US);
	progress_merged(progress, "orders", 100000, 99 * SECOND_US, false);
	progress_table(progress, 0, &table);
	assert_int_equal(table.waiting_changes, 5);
	progress_free(progress);
}

/* It took the batch between its commit and the word of it. */
static void test_a_merge_that_was_faster_than_the_word_of_a_commit_leaves_nothing(void **state)
{
	struct progress *progress = two_tables();
	struct table_progress table;

	(void)state;
	progress_merged(progress, "orders", 5, 99 * SECOND_US, true);
	commit(progress, 5, 100 * SECOND_US);
	progress_merged_all(progress, 99 * SECOND_US);
	progress_table(progress, 0, &table);
	assert_int_equal(table.waiting_changes, 5);
	progress_merged_all(progress, 101 * SECOND_US);
	progress_table(progress, 0, &table);
	assert_int_equal(table.waiting_changes, 0);
	assert_int_equal(table.waiting_since_us, 0);
	progress_free(progress);
}

static void test_thousands_of_waiting_batches_keep_count_and_age(void **state)
{
	struct progress *progress = two_tables();
	struct table_progress table;

	(void)state;
	for (int i = 0; i < 5000; i++)
		commit(progress, 2, (100 + i) * SECOND_US);
	progress_table(progress, 0, &table);
	assert_int_equal(table.waiting_changes, 10000);
	/* The oldest is about there: it was put together with its neighbours. */
	assert_true(table.waiting_since_us < (100 + 2500) * SECOND_US);
	progress_free(progress);
}

static void test_a_table_without_a_replica_never_waits(void **state)
{
	struct progress *progress = progress_new();
	struct table_progress table;

	(void)state;
	progress_learn_table(progress, 0, "shop.log", false);
	progress_learn_table(progress, 1, "shop.log2", false);
	commit(progress, 5, 100 * SECOND_US);
	progress_table(progress, 0, &table);
	assert_int_equal(table.waiting_changes, 0);
	progress_free(progress);
}

static void test_ok_is_shown_as_catching_up_only_while_behind(void **state)
{
	struct progress_view view = { .state = STATE_OK };

	(void)state;
	assert_int_equal(progress_state_shown(&view), STATE_OK);
	view.is_behind = true;
	assert_int_equal(progress_state_shown(&view), STATE_CATCHING_UP);
	view.state = STATE_WAITING;
	assert_int_equal(progress_state_shown(&view), STATE_WAITING);
}

/*
 * Samples
 */

static double in_second(const struct job *job, int64_t second)
{
	return (double)ring_get(&job->metrics->seconds, second, 0);
}

static void test_an_idle_job_has_no_history(void **state)
{
	struct job job = { .progress = two_tables(), .is_running = true };

	(void)state;
	for (int64_t s = 1000; s < 1010; s++)
		metrics_sample(&job, s * 1000, s * SECOND_US);
	assert_null(job.metrics);
	assert_float_equal(metrics_rate(job.metrics, METRIC_received), 0, 0);
	progress_free(job.progress);
}

static void test_seconds_and_minutes_add_up(void **state)
{
	struct job job = { .progress = two_tables(), .is_running = true };
	double sum = 0;
	int64_t begin = 60 * 1000, second;

	(void)state;
	for (second = begin; second < begin + 180; second++) {
		commit(job.progress, second < begin + 90 ? 10 : 0, second * SECOND_US);
		metrics_sample(&job, second * 1000, second * SECOND_US);
		if (second == begin + 30)
			assert_float_equal(metrics_rate(job.metrics, METRIC_received), 10, 0.001);
	}
	for (second = begin; second < begin + 180; second++)
		sum += in_second(&job, second);
	assert_float_equal(sum, 900, 0.001);
	assert_float_equal(metrics_rate(job.metrics, METRIC_received), 0, 0);
	assert_float_equal(ring_get(&job.metrics->minutes, begin / 60, 0), 600, 0.001);
	assert_float_equal(ring_get(&job.metrics->minutes, begin / 60 + 1, 0), 300, 0.001);
	/* The table's first minute begins with the first sample: what came before it is not this history's. */
	assert_float_equal(ring_get(&job.metrics->tables[0].minutes.ring, begin / 60 + 1, 0), 300, 10.001);
	/* A table has its last ten minutes in steps of ten seconds. */
	assert_float_equal(ring_get(&job.metrics->tables[0].tens.ring, begin / 10 + 4, 0), 100, 10.001);
	metrics_free(job.metrics);
	progress_free(job.progress);
}

static void test_a_late_tick_loses_nothing(void **state)
{
	struct job job = { .progress = two_tables(), .is_running = true };
	double sum = 0;

	(void)state;
	commit(job.progress, 10, SECOND_US);
	metrics_sample(&job, 5000, 5 * SECOND_US);
	commit(job.progress, 10, SECOND_US);
	metrics_sample(&job, 6990, 7 * SECOND_US);
	commit(job.progress, 10, SECOND_US);
	metrics_sample(&job, 6999, 7 * SECOND_US);
	for (int64_t second = 0; second < 20; second++)
		sum += in_second(&job, second);
	assert_float_equal(sum, 30, 0);
	metrics_free(job.metrics);
	progress_free(job.progress);
}

static void test_what_an_earlier_engine_counted_is_no_peak(void **state)
{
	struct job job = { .progress = two_tables(), .is_running = true };
	struct ledger before = { .received = 1000000, .written = 1000000 };

	(void)state;
	progress_set_total(job.progress, &before);
	commit(job.progress, 10, SECOND_US);
	metrics_sample(&job, 5000, 5 * SECOND_US);
	assert_float_equal(in_second(&job, 5), 10, 0);
	metrics_free(job.metrics);
	progress_free(job.progress);
}

/*
 * Of late
 */
static void commit_late(struct progress *progress, size_t table, int64_t took_ms)
{
	struct ledger added[3] = { { .received = 0 } };
	uint64_t bytes[3] = { 0 };
	int64_t oldest_us[3] = { 0 };
	struct latency_sample sample = { LATENCY_RECEIVE, table, took_ms * 1000, 1 };
	struct batch_times times = { .committed_us = 1, .lag_us = -1, .bytes = bytes, .oldest_us = oldest_us, .table_count = 2,
		                     .samples = &sample, .sample_count = 1 };

	added[table].received = added[table].written = 1;
	progress_committed(progress, &added[table], added, 2, &times);
}

static double of_receive(const struct job *job, int64_t second)
{
	size_t field = 0;

	for (int i = 0; i < METRIC_receive; i++)
		field += metric_table[i].kept >= OF_JOB;
	return (double)ring_get(&job->metrics->seconds, second, field);
}

static void expect_recent(struct progress *progress, uint64_t count, uint64_t max_ms, const char *table)
{
	struct recent_latency recent;

	progress_recent(progress, LATENCY_RECEIVE, &recent);
	assert_int_equal(recent.histogram.count, count);
	assert_int_equal(recent.histogram.max_us, max_ms * 1000);
	if (table)
		assert_string_equal(recent.table, table);
	else
		assert_null(recent.table);
}

static void test_the_slowest_table_of_a_leg_is_named(void **state)
{
	struct progress *progress = two_tables();

	(void)state;
	expect_recent(progress, 0, 0, NULL);
	commit_late(progress, 1, 20);
	commit_late(progress, 0, 300);
	commit_late(progress, 1, 100);
	expect_recent(progress, 3, 300, "shop.orders");
	commit_late(progress, 2, 400);
	/* "-" keeps its name when there are more tables. */
	progress_learn_table(progress, 2, "shop.later", true);
	expect_recent(progress, 4, 400, "-");
	progress_free(progress);
}

static void expect_young(const struct recent *recent, uint64_t count, uint64_t max_us, size_t table)
{
	struct histogram histogram;

	assert_int_equal(recent_look(recent, &histogram), table);
	assert_int_equal(histogram.count, count);
	assert_int_equal(histogram.max_us, max_us);
}

static void test_what_is_long_ago_is_left_out_once_something_comes(void **state)
{
	struct recent recent = { 0 };
	int64_t minute_ms = 60000, now_ms = 5000;

	(void)state;
	expect_young(&recent, 0, 0, NO_TABLE);
	recent_add(&recent, now_ms, 0, 900, 1);
	recent_add(&recent, now_ms + 4 * minute_ms, 1, 500, 1);
	expect_young(&recent, 2, 900, 0);
	recent_add(&recent, now_ms + 9 * minute_ms, 1, 100, 1);
	expect_young(&recent, 3, 900, 0);
	recent_add(&recent, now_ms + 15 * minute_ms, 1, 200, 1);
	expect_young(&recent, 2, 200, 1);
	recent_add(&recent, now_ms + 35 * minute_ms, 2, 50, 7);
	expect_young(&recent, 7, 50, 2);
}

static void test_each_second_has_the_mean_of_its_own(void **state)
{
	struct job job = { .progress = two_tables() };

	(void)state;
	for (int64_t second = 100; second < 104; second++) {
		commit_late(job.progress, 0, second == 101 ? 0 : 10);
		commit_late(job.progress, 0, second == 101 ? 0 : 30);
		metrics_sample(&job, second * 1000, second * SECOND_US);
	}
	metrics_sample(&job, 104000, 104 * SECOND_US);
	assert_float_equal(of_receive(&job, 100), 20, 0.001);
	/* None at all is not the same as no time at all. */
	assert_true(of_receive(&job, 101) > 0 && of_receive(&job, 101) < 0.1);
	assert_float_equal(of_receive(&job, 103), 20, 0.001);
	assert_float_equal(of_receive(&job, 104), 0, 0);
	metrics_free(job.metrics);
	progress_free(job.progress);
}

static void test_every_metric_is_named_as_scrapers_want_it(void **state)
{
	(void)state;
	for (int i = 0; i < METRICS; i++) {
		const struct metric *metric = &metric_table[i];
		size_t len = strlen(metric->name);

		assert_int_equal(strncmp(metric->name, "weir_", 5), 0);
		assert_int_equal(strspn(metric->name, "abcdefghijklmnopqrstuvwxyz_"), len);
		assert_int_equal(len > 6 && strcmp(metric->name + len - 6, "_total") == 0, metric->kind == COUNTER);
		assert_true(metric->help[strlen(metric->help) - 1] == '.');
		for (int k = 0; k < i; k++)
			assert_string_not_equal(metric_table[k].name, metric->name);
		/* A job has means of its own; a table has none. */
		if (metric->kind == HISTOGRAM)
			assert_int_not_equal(metric->kept, OF_TABLE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_table_shows_its_ledger_and_lag),
		cmocka_unit_test(test_a_merge_takes_what_was_there_when_it_began),
		cmocka_unit_test(test_a_merge_that_was_faster_than_the_word_of_a_commit_leaves_nothing),
		cmocka_unit_test(test_a_merge_of_what_an_earlier_run_left_is_not_taken_for_this_runs),
		cmocka_unit_test(test_thousands_of_waiting_batches_keep_count_and_age),
		cmocka_unit_test(test_a_table_without_a_replica_never_waits),
		cmocka_unit_test(test_ok_is_shown_as_catching_up_only_while_behind),
		cmocka_unit_test(test_an_idle_job_has_no_history),
		cmocka_unit_test(test_seconds_and_minutes_add_up),
		cmocka_unit_test(test_a_late_tick_loses_nothing),
		cmocka_unit_test(test_what_an_earlier_engine_counted_is_no_peak),
		cmocka_unit_test(test_the_slowest_table_of_a_leg_is_named),
		cmocka_unit_test(test_what_is_long_ago_is_left_out_once_something_comes),
		cmocka_unit_test(test_each_second_has_the_mean_of_its_own),
		cmocka_unit_test(test_every_metric_is_named_as_scrapers_want_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
