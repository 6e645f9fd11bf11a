/* What is written, kept and counted, batch by batch, while nothing dies. */
#include "pipeline/talk.h"

static void test_refused_by_the_sink_is_a_letter_and_the_rest_is_written(void **state)
{
	(void)state;
	talk("source deliver a b c\n"
	     "sink refuse b row_too_large \"10 bytes too many\"\n"
	     "open\n"
	     "write\n"
	     "expect written a c\n"
	     "expect letters b\n"
	     "expect letter b code row_too_large stage write table shop.t text \"10 bytes too many\" body b attempts 1\n"
	     "expect confirmed c\n"
	     "expect ledger received 3 written 2 dead_lettered 1\n");
}

static void test_refused_by_the_transform_before_or_after_a_record_was_made(void **state)
{
	(void)state;
	talk("source deliver a b c\n"
	     "transform choke a bad_json \"no JSON at byte 1\"\n"
	     "transform refuse b unknown_column \"no such field: vat_id\"\n"
	     "open\n"
	     "write\n"
	     "expect written c\n"
	     "expect letter a code bad_json stage decode table -\n"
	     "expect letter b code unknown_column stage map table shop.t ordinals [0]\n"
	     "expect confirmed c\n"
	     "expect ledger received 3 written 1 dead_lettered 2\n");
}

static void test_filtered_is_counted_and_confirmed_though_nothing_is_written(void **state)
{
	(void)state;
	talk("source deliver h1 h2\n"
	     "transform filter h1\n"
	     "transform filter h2\n"
	     "open\n"
	     "write\n"
	     "expect written nothing\n"
	     "expect letters nothing\n"
	     "expect confirmed h2\n"
	     "expect ledger received 2 filtered 2\n");
}

static void test_two_refused_records_of_one_message_are_one_letter(void **state)
{
	(void)state;
	talk("source deliver a b\n"
	     "transform split b 3\n"
	     "sink refuse b#0 value_out_of_range\n"
	     "sink refuse b#2 row_too_large\n"
	     "open\n"
	     "write\n"
	     "expect written a b#1\n"
	     "expect letters b\n"
	     "expect letter b code value_out_of_range ordinals [0,2]\n"
	     "expect ledger received 2 written 1 dead_lettered 1\n");
}

static void test_one_refused_by_the_transform_and_one_by_the_sink_are_one_letter(void **state)
{
	(void)state;
	talk("source deliver b\n"
	     "transform split b 2\n"
	     "transform refuse b#1 bad_value\n"
	     "sink refuse b#0 row_too_large\n"
	     "open\n"
	     "write\n"
	     "expect written nothing\n"
	     "expect letters b\n"
	     "expect letter b ordinals [0,1]\n"
	     "expect ledger received 1 dead_lettered 1\n");
}

static void test_a_batch_of_three_ends_at_three(void **state)
{
	(void)state;
	talk("batch 3\n"
	     "source deliver a b c d\n"
	     "sink refuse c row_too_large\n"
	     "sink refuse d row_too_large\n"
	     "open\n"
	     "write\n"
	     "expect written a b\n"
	     "expect letters c\n"
	     "expect confirmed c\n"
	     "write\n"
	     "expect letters c d\n"
	     "expect confirmed d\n"
	     "source deliver e\n"
	     "write\n"
	     "expect written a b e\n"
	     "expect confirmed e\n"
	     "expect ledger received 5 written 3 dead_lettered 2\n");
}

static void test_nothing_delivered_is_nothing_written(void **state)
{
	(void)state;
	talk("open\n"
	     "write\n"
	     "expect nothing committed\n"
	     "source deliver a\n"
	     "write\n"
	     "expect confirmed a\n");
}

static void test_a_write_that_fails_leaves_nothing_and_goes_well_the_second_time(void **state)
{
	(void)state;
	talk("source deliver a b\n"
	     "sink refuse b row_too_large\n"
	     "sink fail disk_full\n"
	     "open\n"
	     "write\n"
	     "expect error disk_full\n"
	     "expect nothing committed\n"
	     "expect letters nothing\n"
	     "again\n"
	     "expect written a\n"
	     "expect letters b\n"
	     "expect letter b attempts 1\n"
	     "expect confirmed b\n"
	     "expect ledger received 2 written 1 dead_lettered 1\n");
}

static void test_a_commit_that_fails_twice_gives_one_letter(void **state)
{
	(void)state;
	talk("source deliver a b c\n"
	     "transform split c 2\n"
	     "transform refuse c#0 bad_value\n"
	     "sink refuse b row_too_large\n"
	     "sink fail-commit disk_full\n"
	     "open\n"
	     "write\n"
	     "expect error disk_full\n"
	     "expect nothing committed\n"
	     "expect letters b c\n"
	     "sink fail-commit disk_full\n"
	     "again\n"
	     "expect error disk_full\n"
	     "expect nothing committed\n"
	     "again\n"
	     "expect fine\n"
	     "expect written a c#1\n"
	     "expect letters b c\n"
	     "expect letter c ordinals [0]\n"
	     "expect confirmed c\n"
	     "expect ledger received 3 written 1 dead_lettered 2\n");
}

static void test_refused_at_first_and_taken_at_the_second_try_counts_as_written(void **state)
{
	(void)state;
	talk("source deliver a b\n"
	     "sink refuse b row_too_large\n"
	     "sink fail-commit disk_full\n"
	     "open\n"
	     "write\n"
	     "expect error disk_full\n"
	     "sink accept b\n"
	     "again\n"
	     "expect written a b\n"
	     "expect ledger received 2 written 2\n");
}

static void test_notes_are_counted_once_after_a_retry(void **state)
{
	(void)state;
	talk("batch 2\n"
	     "source deliver a b c\n"
	     "transform note a value_as_null \"one value\"\n"
	     "transform note b value_as_null \"one value\"\n"
	     "transform note c value_as_null \"one value\"\n"
	     "sink fail-commit disk_full\n"
	     "open\n"
	     "write\n"
	     "expect error disk_full\n"
	     "again\n"
	     "expect note value_as_null 2\n"
	     "write\n"
	     "expect note value_as_null 3\n"
	     "open\n"
	     "expect note value_as_null 3\n");
}

static void test_a_source_that_fails_takes_nothing_with_it(void **state)
{
	(void)state;
	talk("source deliver a\n"
	     "open\n"
	     "write\n"
	     "source fail io_error\n"
	     "source deliver b\n"
	     "write\n"
	     "expect error io_error\n"
	     "expect confirmed a\n"
	     "write\n"
	     "expect written a b\n"
	     "expect confirmed b\n");
}

static void test_each_table_has_counters_of_its_own(void **state)
{
	(void)state;
	talk("batch 2\n"
	     "source deliver a b c d\n"
	     "transform table b u\n"
	     "transform table d v\n"
	     "transform filter c\n"
	     "sink refuse d row_too_large\n"
	     "open\n"
	     "write\n"
	     "open\n"
	     "write\n"
	     "expect letter d table shop.v\n"
	     "expect written a b\n"
	     "expect ledger received 4 written 2 filtered 1 dead_lettered 1\n");
}

static void test_from_start_counts_repeats_and_keeps_one_letter(void **state)
{
	(void)state;
	talk("source deliver a b c\n"
	     "sink refuse b row_too_large\n"
	     "open\n"
	     "write\n"
	     "open from-start\n"
	     "expect ledger received 0\n"
	     "expect confirmed nothing\n"
	     "expect written a c\n"
	     "write\n"
	     "expect written a c\n"
	     "expect letters b\n"
	     "expect letter b attempts 2\n"
	     "expect ledger received 3 written 2 repeated 2 dead_lettered 1\n"
	     "open\n"
	     "expect fine\n");
}

static void test_a_store_that_lost_letters_is_said_and_nothing_runs(void **state)
{
	(void)state;
	talk("source deliver a b\n"
	     "sink refuse b row_too_large\n"
	     "open\n"
	     "write\n"
	     "close\n"
	     "lose letters\n"
	     "open\n"
	     "expect error ledger_mismatch\n"
	     "expect confirmed b\n"
	     "open from-start\n"
	     "expect confirmed nothing\n"
	     "write\n"
	     "expect confirmed b\n"
	     "expect letters b\n");
}

static void test_a_store_that_is_another_one_is_said(void **state)
{
	(void)state;
	talk("source deliver a\n"
	     "open\n"
	     "write\n"
	     "close\n"
	     "lose store\n"
	     "open\n"
	     "expect error ledger_mismatch\n"
	     "expect confirmed a\n"
	     "open from-start\n"
	     "write\n"
	     "open\n"
	     "expect fine\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_by_the_sink_is_a_letter_and_the_rest_is_written),
		cmocka_unit_test(test_refused_by_the_transform_before_or_after_a_record_was_made),
		cmocka_unit_test(test_filtered_is_counted_and_confirmed_though_nothing_is_written),
		cmocka_unit_test(test_two_refused_records_of_one_message_are_one_letter),
		cmocka_unit_test(test_one_refused_by_the_transform_and_one_by_the_sink_are_one_letter),
		cmocka_unit_test(test_a_batch_of_three_ends_at_three),
		cmocka_unit_test(test_nothing_delivered_is_nothing_written),
		cmocka_unit_test(test_a_write_that_fails_leaves_nothing_and_goes_well_the_second_time),
		cmocka_unit_test(test_a_commit_that_fails_twice_gives_one_letter),
		cmocka_unit_test(test_refused_at_first_and_taken_at_the_second_try_counts_as_written),
		cmocka_unit_test(test_notes_are_counted_once_after_a_retry),
		cmocka_unit_test(test_a_source_that_fails_takes_nothing_with_it),
		cmocka_unit_test(test_each_table_has_counters_of_its_own),
		cmocka_unit_test(test_from_start_counts_repeats_and_keeps_one_letter),
		cmocka_unit_test(test_a_store_that_lost_letters_is_said_and_nothing_runs),
		cmocka_unit_test(test_a_store_that_is_another_one_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
