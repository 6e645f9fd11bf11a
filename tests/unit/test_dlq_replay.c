/*
 * Runs and claims: a letter belongs to one run at a time, what a run leaves is as
 * it was, attempts go on counting. Paused tables outlive the connection.
 */
#include "base/arena.h"
#include "dlq/dlq.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
	char folder[64], path[128];
	struct dlq *dlq;
	struct batch *batch;
	char states[512]; /* of the last look: "new/1 done/2" */
};

static const struct refusal unknown_column = { "map", "unknown_column", "no such column", { "phone", 5 }, { NULL, 0 } };
static const struct refusal bad_base64 = { "source", "bad_base64", "no base64", { NULL, 0 }, { NULL, 0 } };
static const struct refusal other_trouble = { "map", "type_mismatch", "no number", { "n", 1 }, { NULL, 0 } };

static void must(bool is_fine, const struct error *err)
{
	if (!is_fine)
		fail_msg("%s: %s", err->code, err->message);
}

static void open_store(struct place *place)
{
	struct error err = { 0 };
	struct dlq_origin origin = { "feed", "/feeds/a.jsonl", SPAN("feed-1"), place->folder };

	dlq_close(place->dlq);
	must((place->dlq = dlq_open(place->path, DLQ_WRITE, &err)) != NULL, &err);
	dlq_set_origin(place->dlq, &origin);
}

static int place_make(void **state)
{
	struct place *place = memory_zalloc(sizeof(*place));

	snprintf(place->folder, sizeof(place->folder), "/tmp/weir-test-replay-XXXXXX");
	if (!mkdtemp(place->folder))
		return -1;
	snprintf(place->path, sizeof(place->path), "%s/orders.db", place->folder);
	place->batch = batch_new();
	open_store(place);
	*state = place;
	return 0;
}

static int place_remove(void **state)
{
	struct place *place = *state;
	char command[128];
	int status;

	dlq_close(place->dlq);
	batch_free(place->batch);
	snprintf(command, sizeof(command), "rm -rf '%s'", place->folder);
	status = system(command);
	free(place);
	return status;
}

static struct message *message_at(struct place *place, uint64_t offset, const struct refusal *why)
{
	static const struct attribute attributes[] = { { { "a b", 3 }, { "\0", 1 } }, { { "a", 1 }, { "\xff", 1 } } };
	struct message *m = batch_add_message(place->batch);

	*m = (struct message){ .body = SPAN("{\"x\":\"\0\"}"), .offset = offset, .line = offset + 1, .id = SPAN("id"),
		               .key = SPAN("key"), .publish = SPAN("2026-01-01T00:00:00Z"), .attrs = attributes,
		               .attr_count = 2, .received_us = 1, .fate = MESSAGE_REFUSED, .refusal = why,
		               .table = TABLE_NONE };
	return m;
}

static void keep(struct place *place, const struct message *m)
{
	struct error err = { 0 };

	must(dlq_begin(place->dlq, &err) && dlq_keep(place->dlq, place->batch, m, "shop.orders", &err) &&
	     dlq_commit(place->dlq, &err), &err);
}

static void keep_three(struct place *place)
{
	for (uint64_t i = 0; i < 3; i++)
		keep(place, message_at(place, i, &unknown_column));
}

static bool take_state(void *context, const char *json)
{
	struct place *place = context;
	json_t *line = json_loads(json, JSON_ALLOW_NUL, NULL);
	size_t len = strlen(place->states);

	snprintf(place->states + len, sizeof(place->states) - len, "%s%s/%lld", len ? " " : "",
	         json_string_value(json_object_get(line, "state")),
	         (long long)json_integer_value(json_object_get(line, "attempts")));
	json_decref(line);
	return true;
}

static void expect_states(struct place *place, const char *states)
{
	struct dlq_filter filter = { .job = "orders" };
	struct error err = { 0 };

	place->states[0] = '\0';
	must(dlq_list(place->dlq, &filter, take_state, place, &err), &err);
	assert_string_equal(place->states, states);
}

static int64_t begin(struct place *place, int64_t group, uint64_t claimed, uint64_t unfit)
{
	struct dlq_replay replay = { .group = group, .rate = 7 };
	struct error err = { 0 };

	must(dlq_replay_begin(place->dlq, &replay, "ops1", &err), &err);
	assert_int_equal(replay.claimed, claimed);
	assert_int_equal(replay.unfit, unfit);
	return replay.run;
}

/* Takes the next letter of a run, which must be `letter`; 0: there is none. */
static const struct message *next(struct place *place, int64_t run, int64_t after, int64_t letter)
{
	struct error err = { 0 };
	int64_t id;

	batch_reset(place->batch);
	must(dlq_replay_next(place->dlq, run, after, place->batch, &id, &err), &err);
	assert_int_equal(id, letter);
	assert_int_equal(place->batch->message_count, letter != 0);
	return place->batch->messages;
}

static void decide(struct place *place, int64_t run, int64_t letter, enum letter_outcome outcome)
{
	uint64_t counts[LETTER_OUTCOMES] = { 0 };
	struct error err = { 0 };

	counts[outcome] = 1;
	must(dlq_begin(place->dlq, &err) && dlq_replay_outcome(place->dlq, letter, outcome, &err) &&
	     dlq_replay_count(place->dlq, run, counts, &err) && dlq_commit(place->dlq, &err), &err);
}

static void end(struct place *place, int64_t run, const uint64_t numbers[LETTER_OUTCOMES])
{
	struct dlq_replay replay;
	struct error err = { 0 };

	must(dlq_replay_end(place->dlq, run, "ended", &replay, &err), &err);
	assert_int_equal(replay.rate, 7);
	assert_int_equal(replay.done, numbers[LETTER_IS_DONE]);
	assert_int_equal(replay.no_effect, numbers[LETTER_HAD_NO_EFFECT]);
	assert_int_equal(replay.failed_again, numbers[LETTER_FAILED]);
	assert_int_equal(replay.left, numbers[LETTER_IS_LEFT]);
}

static void test_a_letter_comes_back_as_it_first_came(void **state)
{
	struct place *place = *state;
	const struct message *m;
	int64_t run;

	keep_three(place);
	run = begin(place, 1, 3, 0);
	m = next(place, run, 1, 2);
	assert_true(span_equal(m->body, SPAN("{\"x\":\"\0\"}")));
	assert_int_equal(m->offset, 1);
	assert_int_equal(m->line, 2);
	assert_int_equal(m->letter, 2);
	assert_true(m->origin > 0);
	assert_true(span_is(m->id, "id") && span_is(m->key, "key") && span_is(m->publish, "2026-01-01T00:00:00Z"));
	assert_int_equal(m->attr_count, 2);
	assert_true(span_equal(m->attrs[0].value, SPAN("\0")) && span_is(m->attrs[1].value, "\xff"));
	next(place, run, 3, 0);
}

static void test_each_letter_ends_as_it_went_and_the_rest_is_as_it_was(void **state)
{
	struct place *place = *state;
	int64_t run;

	keep_three(place);
	keep(place, message_at(place, 3, &unknown_column));
	run = begin(place, 1, 4, 0);
	expect_states(place, "replaying/1 replaying/1 replaying/1 replaying/1");
	decide(place, run, 1, LETTER_IS_DONE);
	decide(place, run, 2, LETTER_HAD_NO_EFFECT);
	decide(place, run, 3, LETTER_IS_LEFT);
	expect_states(place, "done/2 no effect/2 new/1 replaying/1");
	end(place, run, (const uint64_t[]){ 1, 1, 0, 2 });
	expect_states(place, "done/2 no effect/2 new/1 new/1");
}

static void test_a_letter_that_fails_again_is_claimed_the_next_time(void **state)
{
	struct place *place = *state;
	struct message *m;
	struct error err = { 0 };
	int64_t run;

	keep_three(place);
	run = begin(place, 1, 3, 0);
	next(place, run, 0, 1);
	m = &place->batch->messages[0];
	m->fate = MESSAGE_REFUSED;
	m->refusal = &unknown_column;
	must(dlq_begin(place->dlq, &err) && dlq_keep(place->dlq, place->batch, m, "shop.orders", &err) &&
	     dlq_replay_outcome(place->dlq, 1, LETTER_FAILED, &err) && dlq_commit(place->dlq, &err), &err);
	expect_states(place, "failed again/2 replaying/1 replaying/1");
	end(place, run, (const uint64_t[]){ 0, 0, 0, 2 });
	begin(place, 1, 3, 0);
}

static void test_a_new_trouble_moves_the_letter_to_its_own_group(void **state)
{
	struct place *place = *state;
	struct message *m;
	struct error err = { 0 };
	int64_t run;

	keep_three(place);
	run = begin(place, 1, 3, 0);
	next(place, run, 0, 1);
	m = &place->batch->messages[0];
	m->fate = MESSAGE_REFUSED;
	m->refusal = &other_trouble;
	must(dlq_begin(place->dlq, &err) && dlq_keep(place->dlq, place->batch, m, "shop.orders", &err) &&
	     dlq_replay_outcome(place->dlq, 1, LETTER_FAILED, &err) && dlq_commit(place->dlq, &err), &err);
	end(place, run, (const uint64_t[]){ 0, 0, 0, 2 });
	begin(place, 1, 2, 0);
	begin(place, 2, 1, 0);
}

static void test_what_a_dead_run_had_claimed_is_free_but_not_that_of_the_living(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	int64_t dead, living;

	keep(place, message_at(place, 0, &unknown_column));
	keep(place, message_at(place, 1, &other_trouble));
	dead = begin(place, 1, 1, 0);
	living = begin(place, 2, 1, 0);
	open_store(place);
	must(dlq_replay_free_stale(place->dlq, living, &err), &err);
	expect_states(place, "new/1 replaying/1");
	next(place, dead, 0, 0);
	next(place, living, 0, 2);
	must(dlq_replay_free_stale(place->dlq, 0, &err), &err);
	expect_states(place, "new/1 new/1");
}

static void test_lines_that_are_no_messages_are_left(void **state)
{
	static const struct big_body big = { .size = 99, .sha256 = "00" };
	struct place *place = *state;
	struct error err = { 0 };
	struct message *m;
	uint64_t fit, unfit;
	int64_t run;

	keep(place, message_at(place, 0, &bad_base64));
	m = message_at(place, 1, &unknown_column);
	m->big = &big;
	keep(place, m);
	keep(place, message_at(place, 2, &unknown_column));
	must(dlq_replay_ahead(place->dlq, 2, 0, &fit, &unfit, &err), &err);
	assert_int_equal(fit, 1);
	assert_int_equal(unfit, 1);
	run = begin(place, 1, 0, 1);
	end(place, run, (const uint64_t[]){ 0, 0, 0, 1 });
	run = begin(place, 2, 1, 1);
	end(place, run, (const uint64_t[]){ 0, 0, 0, 2 });
	expect_states(place, "new/1 new/1 new/1");
}

static void test_two_runs_share_no_letter(void **state)
{
	struct place *place = *state;

	keep_three(place);
	begin(place, 1, 3, 0);
	begin(place, 1, 0, 0);
}

static void test_an_unknown_group_begins_nothing(void **state)
{
	struct place *place = *state;
	struct dlq_replay replay = { .group = 9 };
	struct error err = { 0 };

	assert_false(dlq_replay_begin(place->dlq, &replay, "ops1", &err));
	assert_string_equal(err.code, "group_unknown");
	assert_int_equal(replay.run, 0);
}

static bool discard(struct place *place, int64_t group, int64_t id, uint64_t confirm, struct error *err)
{
	return dlq_discard(place->dlq, &(struct letter_choice){ .groups = &group, .group_count = 1 }, id, confirm, err);
}

static void test_discard_of_another_count_touches_nothing(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	int64_t run;

	keep_three(place);
	assert_false(discard(place, 1, 0, 2, &err));
	assert_string_equal(err.code, "count_differs");
	expect_states(place, "new/1 new/1 new/1");
	must(discard(place, 0, 2, 1, &err), &err);
	run = begin(place, 1, 2, 0);
	decide(place, run, 1, LETTER_IS_DONE);
	/* One is done, one is being replayed, one is discarded: none is open. */
	assert_false(discard(place, 1, 0, 1, &err));
	end(place, run, (const uint64_t[]){ 1, 0, 0, 1 });
	must(discard(place, 1, 0, 1, &err), &err);
	expect_states(place, "done/2 discarded/1 discarded/1");
}

static void count_table(void *context, struct span table)
{
	*(int *)context += span_is(table, "shop.orders");
}

static void test_a_paused_table_keeps_its_first_reason_until_it_goes_on(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	bool was_paused = false;
	int count = 0;
	char *json;

	must(dlq_pause_table(place->dlq, "shop.orders", "ops1", "ticket \"4711\"", &err) &&
	     dlq_pause_table(place->dlq, "shop.orders", "ops2", "", &err), &err);
	open_store(place);
	must(dlq_paused(place->dlq, count_table, &count, &err), &err);
	assert_int_equal(count, 1);
	must((json = dlq_paused_json(place->dlq, "shop.orders", &err)) != NULL, &err);
	assert_non_null(strstr(json, "\"who\":\"ops1\",\"why\":\"ticket \\\"4711\\\"\""));
	free(json);
	must(dlq_resume_table(place->dlq, "shop.orders", &was_paused, &err), &err);
	assert_true(was_paused);
	must(dlq_resume_table(place->dlq, "shop.orders", &was_paused, &err), &err);
	assert_false(was_paused);
}

static void test_parked_messages_of_a_paused_table_stay_behind(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	bool was_paused;
	int64_t id;

	must(dlq_begin(place->dlq, &err) && dlq_park(place->dlq, message_at(place, 0, NULL), "shop.a", NULL, NULL, &err) &&
	     dlq_park(place->dlq, message_at(place, 1, NULL), "shop.b", NULL, NULL, &err) && dlq_commit(place->dlq, &err), &err);
	must(dlq_pause_table(place->dlq, "shop.a", "", "", &err), &err);
	must(dlq_unpark_begin(place->dlq, 0, NULL, &id, &err), &err);
	assert_int_equal(id, 2);
	must(dlq_resume_table(place->dlq, "shop.a", &was_paused, &err), &err);
	must(dlq_unpark_begin(place->dlq, 0, NULL, &id, &err), &err);
	assert_int_equal(id, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_make, place_remove)
		TEST(test_a_letter_comes_back_as_it_first_came),
		TEST(test_each_letter_ends_as_it_went_and_the_rest_is_as_it_was),
		TEST(test_a_letter_that_fails_again_is_claimed_the_next_time),
		TEST(test_a_new_trouble_moves_the_letter_to_its_own_group),
		TEST(test_what_a_dead_run_had_claimed_is_free_but_not_that_of_the_living),
		TEST(test_lines_that_are_no_messages_are_left),
		TEST(test_two_runs_share_no_letter),
		TEST(test_an_unknown_group_begins_nothing),
		TEST(test_discard_of_another_count_touches_nothing),
		TEST(test_a_paused_table_keeps_its_first_reason_until_it_goes_on),
		TEST(test_parked_messages_of_a_paused_table_stay_behind),
	};

	return cmocka_run_group_tests_name("dlq_replay", tests, NULL, NULL);
}
