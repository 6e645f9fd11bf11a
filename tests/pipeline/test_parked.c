/* Messages that wait for their table: kept, counted, and back in order. */
#include "pipeline/talk.h"

static void test_parked_and_back_in_order_before_anything_newer(void **state)
{
	(void)state;
	talk("batch 2\n"
	     "source deliver a p1 p2 b p3\n"
	     "sink park p1 missing_table\n"
	     "sink park p2 missing_table\n"
	     "sink park p3 missing_table\n"
	     "open\n"
	     "write\n"
	     "write\n"
	     "write\n"
	     "expect written a b\n"
	     "expect parked p1 p2 p3\n"
	     "expect confirmed p3\n"
	     "expect ledger received 5 written 2 parked 3\n"
	     "sink accept p1\n"
	     "sink accept p2\n"
	     "sink accept p3\n"
	     "source deliver c\n"
	     "open\n"
	     "unpark\n"
	     "write\n"
	     "expect written a b p1 p2 p3 c\n"
	     "expect parked nothing\n"
	     "expect ledger received 6 written 6\n");
}

/* What the transform would park again stays where it is, without a second entry. */
static void test_what_would_be_parked_again_stays(void **state)
{
	(void)state;
	talk("source deliver p1 p2 p3\n"
	     "transform park p1 name_collision\n"
	     "transform park p2 name_collision\n"
	     "transform park p3 name_collision\n"
	     "open\n"
	     "write\n"
	     "expect parked p1 p2 p3\n"
	     "transform accept p2\n"
	     "open\n"
	     "unpark\n"
	     "expect written p2\n"
	     "expect parked p1 p3\n"
	     "expect ledger received 3 written 1 parked 2\n"
	     "unpark\n"
	     "expect parked p1 p3\n"
	     "expect ledger received 3 written 1 parked 2\n");
}

/* The transform would let it go on, the destination would not: it comes back and is parked once more. */
static void test_what_the_sink_parks_again_stays(void **state)
{
	(void)state;
	talk("source deliver p1 p2 p3\n"
	     "sink park p1 missing_table\n"
	     "sink park p2 missing_table\n"
	     "sink park p3 missing_table\n"
	     "open\n"
	     "write\n"
	     "sink accept p2\n"
	     "unpark\n"
	     "expect written p2\n"
	     "expect parked p1 p3\n"
	     "expect ledger received 3 written 1 parked 2\n"
	     "sink accept p1\n"
	     "kill after-commit\n"
	     "unpark\n"
	     "open\n"
	     "unpark\n"
	     "expect written p2 p1\n"
	     "expect parked p3\n"
	     "expect ledger received 3 written 2 parked 1\n");
}

static void test_a_parked_message_can_become_a_letter_or_nothing(void **state)
{
	(void)state;
	talk("source deliver p1 p2 p3\n"
	     "sink park p1 missing_table\n"
	     "sink park p2 missing_table\n"
	     "sink park p3 missing_table\n"
	     "open\n"
	     "write\n"
	     "sink accept p1\n"
	     "sink accept p2\n"
	     "sink accept p3\n"
	     "transform refuse p1 unknown_column\n"
	     "sink refuse p2 row_too_large\n"
	     "transform filter p3\n"
	     "open\n"
	     "unpark\n"
	     "expect written nothing\n"
	     "expect letters p1 p2\n"
	     "expect parked nothing\n"
	     "expect ledger received 3 dead_lettered 2 filtered 1\n"
	     "open\n"
	     "expect fine\n");
}

static void test_one_record_of_two_refused_is_a_letter_not_parked(void **state)
{
	(void)state;
	talk("source deliver m\n"
	     "transform split m 2\n"
	     "transform park m#0 name_collision\n"
	     "sink refuse m#1 row_too_large\n"
	     "open\n"
	     "write\n"
	     "expect letters m\n"
	     "expect parked nothing\n"
	     "expect ledger received 1 dead_lettered 1\n");
}

static void test_a_full_park_stops_before_anything_is_lost(void **state)
{
	(void)state;
	talk("batch 2\n"
	     "limit park 4\n"
	     "source deliver p1 a p2 p3 b c\n"
	     "sink park p1 missing_table\n"
	     "sink park p2 missing_table\n"
	     "sink park p3 missing_table\n"
	     "open\n"
	     "write\n"
	     "write\n"
	     "expect error park_full\n"
	     "expect written a\n"
	     "expect parked p1\n"
	     "expect confirmed a\n"
	     "expect ledger received 2 written 1 parked 1\n"
	     "limit park 6\n"
	     "open\n"
	     "write\n"
	     "write\n"
	     "expect parked p1 p2 p3\n"
	     "expect written a b c\n"
	     "expect ledger received 6 written 3 parked 3\n");
}

static void test_a_commit_that_fails_parks_once(void **state)
{
	(void)state;
	talk("source deliver p1 a\n"
	     "sink park p1 missing_table\n"
	     "sink fail-commit disk_full\n"
	     "open\n"
	     "write\n"
	     "expect error disk_full\n"
	     "expect nothing committed\n"
	     "again\n"
	     "expect parked p1\n"
	     "expect ledger received 2 written 1 parked 1\n");
}

static void test_unpark_that_fails_changes_nothing(void **state)
{
	(void)state;
	talk("source deliver p1 p2\n"
	     "sink park p1 missing_table\n"
	     "sink park p2 missing_table\n"
	     "open\n"
	     "write\n"
	     "sink accept p1\n"
	     "sink accept p2\n"
	     "sink fail-commit disk_full\n"
	     "unpark\n"
	     "expect error disk_full\n"
	     "expect written nothing\n"
	     "expect parked p1 p2\n"
	     "expect ledger received 2 parked 2\n"
	     "unpark\n"
	     "expect written p1 p2\n"
	     "expect parked nothing\n"
	     "expect ledger received 2 written 2\n");
}

static void test_from_start_forgets_what_was_parked_and_meets_it_again(void **state)
{
	(void)state;
	talk("source deliver p1 a\n"
	     "sink park p1 missing_table\n"
	     "open\n"
	     "write\n"
	     "open from-start\n"
	     "unpark\n"
	     "expect parked nothing\n"
	     "expect ledger received 0\n"
	     "write\n"
	     "expect parked p1\n"
	     "expect ledger received 2 written 1 repeated 1 parked 1\n");
}

static void test_a_store_that_lost_parked_messages_is_said(void **state)
{
	(void)state;
	talk("source deliver p1\n"
	     "sink park p1 missing_table\n"
	     "open\n"
	     "write\n"
	     "close\n"
	     "lose parked\n"
	     "open\n"
	     "expect error ledger_mismatch\n");
}

/* They come back in several batches of 500; each is counted once, its notes too. */
static void test_more_parked_messages_than_one_batch_takes_back(void **state)
{
	(void)state;
	talk("source many 502 p\n"
	     "transform park p0 missing_table\n"
	     "transform park p1 missing_table\n"
	     "open\n"
	     "write\n"
	     "expect rows 500\n"
	     "transform accept p0\n"
	     "transform accept p1\n"
	     "open\n"
	     "unpark\n"
	     "expect rows 502\n"
	     "expect ledger received 502 written 502\n");
	talk("source many 502 p\n"
	     "sink park-all t missing_table\n"
	     "open\n"
	     "write\n"
	     "expect rows 0\n"
	     "expect ledger received 502 parked 502\n"
	     "sink accept t\n"
	     "transform note p0 value_as_null\n"
	     "transform note p501 value_as_null\n"
	     "open\n"
	     "unpark\n"
	     "expect rows 502\n"
	     "expect parked nothing\n"
	     "expect ledger received 502 written 502\n"
	     "expect note value_as_null 2\n"
	     "open\n"
	     "expect note value_as_null 2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parked_and_back_in_order_before_anything_newer),
		cmocka_unit_test(test_what_would_be_parked_again_stays),
		cmocka_unit_test(test_what_the_sink_parks_again_stays),
		cmocka_unit_test(test_a_parked_message_can_become_a_letter_or_nothing),
		cmocka_unit_test(test_one_record_of_two_refused_is_a_letter_not_parked),
		cmocka_unit_test(test_a_full_park_stops_before_anything_is_lost),
		cmocka_unit_test(test_a_commit_that_fails_parks_once),
		cmocka_unit_test(test_unpark_that_fails_changes_nothing),
		cmocka_unit_test(test_from_start_forgets_what_was_parked_and_meets_it_again),
		cmocka_unit_test(test_a_store_that_lost_parked_messages_is_said),
		cmocka_unit_test(test_more_parked_messages_than_one_batch_takes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
