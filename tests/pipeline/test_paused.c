/* Paused tables: their messages wait, the others go on, and it goes on as if nothing had been. */
#include "pipeline/talk.h"

static void test_only_the_paused_table_waits(void **state)
{
	(void)state;
	talk("transform table b other\n"
	     "pause t\n"
	     "source deliver a b c\n"
	     "open\n"
	     "write\n"
	     "expect written b\n"
	     "expect parked a c\n"
	     "expect confirmed c\n"
	     "expect ledger received 3 written 1 parked 2\n"
	     "resume t\n"
	     "source deliver d\n"
	     "open\n"
	     "unpark\n"
	     "write\n"
	     "expect written b a c d\n"
	     "expect parked nothing\n"
	     "expect ledger received 4 written 4\n");
}

static void test_a_table_that_is_still_paused_stays_behind(void **state)
{
	(void)state;
	talk("transform table b other\n"
	     "pause t\n"
	     "pause other\n"
	     "source deliver a b c\n"
	     "open\n"
	     "write\n"
	     "expect written nothing\n"
	     "resume other\n"
	     "open\n"
	     "unpark\n"
	     "expect written b\n"
	     "expect parked a c\n"
	     "expect ledger received 3 written 1 parked 2\n");
}

/* The transform may know better today: a message that was parked under one name comes back as one of a paused table. */
static void test_a_message_that_comes_back_as_one_of_a_paused_table_stays(void **state)
{
	(void)state;
	talk("source deliver a b\n"
	     "sink park a missing_table\n"
	     "open\n"
	     "write\n"
	     "expect parked a\n"
	     "pause other\n"
	     "sink accept a\n"
	     "transform table a other\n"
	     "open\n"
	     "unpark\n"
	     "expect parked a\n"
	     "expect written b\n"
	     "expect ledger received 2 written 1 parked 1\n");
}

static void test_a_message_waits_whole_also_what_is_refused_in_it(void **state)
{
	(void)state;
	talk("source deliver a\n"
	     "transform split a 2\n"
	     "sink refuse a#1 row_too_large\n"
	     "pause t\n"
	     "open\n"
	     "write\n"
	     "expect written nothing\n"
	     "expect letters nothing\n"
	     "expect parked a\n"
	     "expect ledger received 1 parked 1\n"
	     "resume t\n"
	     "open\n"
	     "unpark\n"
	     "expect letters a\n"
	     "expect parked nothing\n"
	     "expect ledger received 1 dead_lettered 1\n");
}

static void test_what_belongs_to_no_row_is_not_held(void **state)
{
	(void)state;
	talk("source deliver a b\n"
	     "transform filter a\n"
	     "pause t\n"
	     "open\n"
	     "write\n"
	     "expect written nothing\n"
	     "expect parked b\n"
	     "expect ledger received 2 filtered 1 parked 1\n");
}

static void test_killed_on_both_sides_of_the_commit(void **state)
{
	(void)state;
	talk("pause t\n"
	     "source deliver a b\n"
	     "open\n"
	     "kill before-commit\n"
	     "write\n"
	     "expect error cancelled\n"
	     "expect nothing committed\n"
	     "open\n"
	     "write\n"
	     "expect parked a b\n"
	     "expect ledger received 2 parked 2\n"
	     "resume t\n"
	     "open\n"
	     "kill after-commit\n"
	     "unpark\n"
	     "open\n"
	     "unpark\n"
	     "expect written a b\n"
	     "expect parked nothing\n"
	     "expect ledger received 2 written 2\n");
}

static void test_from_start_while_it_is_paused(void **state)
{
	(void)state;
	talk("pause t\n"
	     "source deliver a b\n"
	     "open\n"
	     "write\n"
	     "open from-start\n"
	     "unpark\n"
	     "write\n"
	     "expect parked a b\n"
	     "expect ledger received 2 parked 2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_the_paused_table_waits),
		cmocka_unit_test(test_a_table_that_is_still_paused_stays_behind),
		cmocka_unit_test(test_a_message_that_comes_back_as_one_of_a_paused_table_stays),
		cmocka_unit_test(test_a_message_waits_whole_also_what_is_refused_in_it),
		cmocka_unit_test(test_what_belongs_to_no_row_is_not_held),
		cmocka_unit_test(test_killed_on_both_sides_of_the_commit),
		cmocka_unit_test(test_from_start_while_it_is_paused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
