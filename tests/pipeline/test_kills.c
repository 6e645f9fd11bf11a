/*
 * Killed between the store of letters and the destination, or behind both: what was
 * not confirmed comes again, and nothing is there or counted twice.
 */
#include "pipeline/talk.h"

static void test_killed_when_letters_were_stored_but_no_row(void **state)
{
	(void)state;
	talk("source deliver a b\n"
	     "sink refuse b row_too_large\n"
	     "open\n"
	     "kill before-commit\n"
	     "write\n"
	     "expect error cancelled\n"
	     "expect nothing committed\n"
	     "expect letters b\n"
	     "open\n"
	     "write\n"
	     "expect written a\n"
	     "expect letters b\n"
	     "expect confirmed b\n"
	     "expect ledger received 2 written 1 dead_lettered 1\n"
	     "open\n"
	     "expect fine\n");
}

static void test_killed_when_everything_was_stored(void **state)
{
	(void)state;
	talk("batch 2\n"
	     "source deliver a b c\n"
	     "sink refuse b row_too_large\n"
	     "open\n"
	     "kill after-commit\n"
	     "write\n"
	     "expect written a\n"
	     "expect confirmed b\n"
	     "open\n"
	     "write\n"
	     "expect written a c\n"
	     "expect letters b\n"
	     "expect letter b attempts 1\n"
	     "expect ledger received 3 written 2 dead_lettered 1\n");
}

static void test_killed_in_the_middle_of_the_feed_twice(void **state)
{
	(void)state;
	talk("batch 2\n"
	     "source deliver a b c d e\n"
	     "sink refuse d row_too_large\n"
	     "open\n"
	     "write\n"
	     "kill before-commit\n"
	     "write\n"
	     "expect error cancelled\n"
	     "expect confirmed b\n"
	     "expect letters d\n"
	     "open\n"
	     "kill before-commit\n"
	     "write\n"
	     "expect error cancelled\n"
	     "open\n"
	     "write\n"
	     "write\n"
	     "expect written a b c e\n"
	     "expect letters d\n"
	     "expect confirmed e\n"
	     "expect ledger received 5 written 4 dead_lettered 1\n");
}

static void test_notes_of_a_killed_batch_are_counted_once(void **state)
{
	(void)state;
	talk("batch 1\n"
	     "source deliver a b c\n"
	     "transform note a value_as_null\n"
	     "transform note b value_as_null\n"
	     "open\n"
	     "write\n"
	     "kill before-commit\n"
	     "write\n"
	     "expect error cancelled\n"
	     "open\n"
	     "expect note value_as_null 1\n"
	     "kill after-commit\n"
	     "write\n"
	     "open\n"
	     "expect note value_as_null 2\n"
	     "write\n"
	     "expect note value_as_null 2\n");
}

static void test_parked_before_the_kill_is_parked_once(void **state)
{
	(void)state;
	talk("batch 2\n"
	     "source deliver a p1 p2 b\n"
	     "sink park p1 missing_table\n"
	     "sink park p2 missing_table\n"
	     "open\n"
	     "write\n"
	     "kill before-commit\n"
	     "write\n"
	     "expect error cancelled\n"
	     "expect parked p1 p2\n"
	     "open\n"
	     "expect parked p1\n"
	     "write\n"
	     "expect parked p1 p2\n"
	     "expect ledger received 4 written 2 parked 2\n");
}

/* p2 was parked by the run that died, and nothing stands against it any more when it is read again. */
static void test_parked_by_a_run_that_died_and_taken_the_next_time(void **state)
{
	(void)state;
	talk("source deliver p1 p2\n"
	     "sink park p1 missing_table\n"
	     "sink park p2 missing_table\n"
	     "open\n"
	     "kill before-commit\n"
	     "write\n"
	     "expect error cancelled\n"
	     "sink accept p1\n"
	     "sink accept p2\n"
	     "open\n"
	     "unpark\n"
	     "write\n"
	     "expect written p1 p2\n"
	     "expect parked nothing\n"
	     "expect ledger received 2 written 2\n");
}

static void test_killed_between_coming_back_and_being_removed(void **state)
{
	(void)state;
	talk("source deliver p1 p2\n"
	     "sink park p1 missing_table\n"
	     "sink park p2 missing_table\n"
	     "open\n"
	     "write\n"
	     "sink accept p1\n"
	     "sink accept p2\n"
	     "kill after-commit\n"
	     "unpark\n"
	     "expect written p1 p2\n"
	     "expect parked p1 p2\n"
	     "expect ledger received 2 written 2\n"
	     "open\n"
	     "unpark\n"
	     "expect parked nothing\n"
	     "expect written p1 p2\n"
	     "expect ledger received 2 written 2\n"
	     "source deliver c\n"
	     "write\n"
	     "expect written p1 p2 c\n"
	     "expect ledger received 3 written 3\n");
}

static void test_killed_before_what_came_back_was_committed(void **state)
{
	(void)state;
	talk("source deliver p1 p2\n"
	     "sink park p1 missing_table\n"
	     "sink park p2 missing_table\n"
	     "open\n"
	     "write\n"
	     "sink accept p1\n"
	     "sink accept p2\n"
	     "transform note p1 value_as_null\n"
	     "sink refuse p2 row_too_large\n"
	     "open\n"
	     "kill before-commit\n"
	     "unpark\n"
	     "expect error cancelled\n"
	     "expect written nothing\n"
	     "expect letters p2\n"
	     "open\n"
	     "expect ledger received 2 parked 2\n"
	     "unpark\n"
	     "expect written p1\n"
	     "expect letters p2\n"
	     "expect parked nothing\n"
	     "expect note value_as_null 1\n"
	     "expect ledger received 2 written 1 dead_lettered 1\n");
}

/* What stays parked is not removed with what came back, whichever side of the kill it stands on. */
static void test_killed_while_only_some_came_back(void **state)
{
	(void)state;
	talk("source deliver p1 p2 p3\n"
	     "transform park p1 name_collision\n"
	     "transform park p2 name_collision\n"
	     "transform park p3 name_collision\n"
	     "open\n"
	     "write\n"
	     "transform accept p2\n"
	     "open\n"
	     "kill after-commit\n"
	     "unpark\n"
	     "expect parked p1 p2 p3\n"
	     "open\n"
	     "unpark\n"
	     "expect parked p1 p3\n"
	     "expect written p2\n"
	     "transform accept p1\n"
	     "transform accept p3\n"
	     "open\n"
	     "unpark\n"
	     "expect written p2 p1 p3\n"
	     "expect ledger received 3 written 3\n");
}

static void test_from_start_after_that_kill_counts_everything_as_repeated(void **state)
{
	(void)state;
	talk("source deliver p1 a\n"
	     "sink park p1 missing_table\n"
	     "open\n"
	     "write\n"
	     "sink accept p1\n"
	     "kill after-commit\n"
	     "unpark\n"
	     "open from-start\n"
	     "unpark\n"
	     "write\n"
	     "expect written a p1\n"
	     "expect parked nothing\n"
	     "expect ledger received 2 written 2 repeated 2\n");
}

static void test_from_start_and_killed_before_the_first_commit(void **state)
{
	(void)state;
	talk("source deliver a b p1\n"
	     "sink refuse b row_too_large\n"
	     "sink park p1 missing_table\n"
	     "open\n"
	     "write\n"
	     "open from-start\n"
	     "kill before-commit\n"
	     "write\n"
	     "expect error cancelled\n"
	     "open\n"
	     "unpark\n"
	     "write\n"
	     "expect written a\n"
	     "expect letters b\n"
	     "expect parked p1\n"
	     "expect ledger received 3 written 1 repeated 1 dead_lettered 1 parked 1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_when_letters_were_stored_but_no_row),
		cmocka_unit_test(test_killed_when_everything_was_stored),
		cmocka_unit_test(test_killed_in_the_middle_of_the_feed_twice),
		cmocka_unit_test(test_notes_of_a_killed_batch_are_counted_once),
		cmocka_unit_test(test_parked_before_the_kill_is_parked_once),
		cmocka_unit_test(test_parked_by_a_run_that_died_and_taken_the_next_time),
		cmocka_unit_test(test_killed_between_coming_back_and_being_removed),
		cmocka_unit_test(test_killed_before_what_came_back_was_committed),
		cmocka_unit_test(test_killed_while_only_some_came_back),
		cmocka_unit_test(test_from_start_after_that_kill_counts_everything_as_repeated),
		cmocka_unit_test(test_from_start_and_killed_before_the_first_commit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
