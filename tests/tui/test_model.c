/* The client's copy of the engine: answers and their age, events, slow answers, an engine that goes away, acts. */
#include "fake_engine.h"
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail

#define LOOK 0 /* the first session that comes */

static struct fake fake;
static struct home home;
static struct model *model;
static int64_t now_ms;

static int begin(void **state)
{
	(void)state;
	fake_begin(&fake);
	home.socket = fake.path;
	model = model_new(&home, false);
	now_ms = clock_mono_ms();
	return 0;
}

static int end(void **state)
{
	(void)state;
	model_free(model);
	fake_end(&fake);
	return 0;
}

static bool step(void)
{
	return model_step(model, now_ms);
}

/* A session that the model has opened is greeted. */
static size_t greet(void)
{
	size_t session = fake_accept(&fake);

	json_decref(fake_hear(&fake, session));
	fake_say(&fake, session, FAKE_HELLO);
	step();
	return session;
}

static const struct answer *ask_on(enum lane lane, const char *call, const char *topics)
{
	return model_ask(model, lane, call, NULL, topics);
}

static const struct answer *ask(const char *call)
{
	return ask_on(LANE_LOOK, call, "");
}

/* Hears the call that is expected next; pings in between are answered. */
static json_int_t hear_on(size_t session, const char *wanted)
{
	char call[64];
	json_int_t id;

	for (;;) {
		step();
		id = fake_call(&fake, session, call);
		if (strcmp(call, "sync") != 0 || strcmp(wanted, "sync") == 0)
			break;
		fake_answer(&fake, session, id, NULL);
	}
	assert_string_equal(call, wanted);
	return id;
}

static json_int_t hear(const char *wanted)
{
	return hear_on(LOOK, wanted);
}

static void answer(json_int_t id, const char *line)
{
	fake_answer(&fake, LOOK, id, line);
	step();
}

/* Connected; the first questions tell as much as a ping. */
static void connected(void)
{
	step();
	greet();
	assert_true(model_reach(model).is_there);
}

static void an_answer_comes_in_pieces(void **state)
{
	const struct answer *answer_of;
	OWNED(text) bytes = text_new(1000);
	json_int_t id;

	(void)state;
	connected();
	answer_of = ask("status");
	assert_false(answer_of->is_known);
	id = hear("status");
	assert_true(answer_of->is_asking);
	text_add_format(bytes, "{\"id\":%lld,\"line\":{\"job\":\"a\"}}\n{\"id\":%lld,\"line\":{\"job\":\"b\"}}\n"
	                "{\"id\":%lld,\"ok\":{\"exit\":0}}\n", (long long)id, (long long)id, (long long)id);
	for (size_t i = 0; i < bytes->len; i++) {
		assert_false(answer_of->is_known);
		fake_send(&fake, LOOK, bytes->at + i, 1);
		step();
	}
	assert_true(answer_of->is_known);
	assert_false(answer_of->is_asking);
	assert_int_equal(json_array_size(answer_of->lines), 2);
	assert_int_equal(answer_of->generation, 1);
	assert_int_equal(answer_of->at_ms, now_ms);
}

static void the_same_question_is_asked_once(void **state)
{
	const struct answer *first, *other;

	(void)state;
	connected();
	first = model_ask(model, LANE_LOOK, "tables", json_pack("{s:s, s:i}", "job", "shop", "a", 1), "");
	other = model_ask(model, LANE_LOOK, "tables", json_pack("{s:i, s:s}", "a", 1, "job", "shop"), "");
	assert_ptr_equal(first, other);
	assert_ptr_not_equal(first, ask("tables"));
	answer(hear("tables"), "{}");
	answer(hear("tables"), "{}");
	step();
	assert_false(fake_is_called(&fake, LOOK));
}

/* A failed answer keeps the lines of the one before. */
static void an_error_keeps_what_was_known(void **state)
{
	const struct answer *answer_of;
	OWNED(text) bytes = text_new(1000);

	(void)state;
	connected();
	answer_of = ask("status");
	answer(hear("status"), "{\"job\":\"a\"}");
	model_refresh(model);
	text_add_format(bytes, "{\"id\":%lld,\"error\":{\"kind\":\"transient\",\"code\":\"disk_full\",\"message\":\"no room\"}}\n",
	                (long long)hear("status"));
	fake_say(&fake, LOOK, bytes->at);
	step();
	assert_string_equal(answer_of->error.code, "disk_full");
	assert_int_equal(json_array_size(answer_of->lines), 1);
	model_refresh(model);
	answer(hear("status"), "{\"job\":\"b\"}");
	assert_int_equal(answer_of->error.kind, ERROR_NONE);
}

/* At most once a second, however many events come. */
static void an_event_makes_an_answer_old(void **state)
{
	const struct answer *jobs, *still;
	struct pollfd fds[MODEL_FDS];
	unsigned before, unchanged;

	(void)state;
	connected();
	jobs = ask_on(LANE_LOOK, "status", "jobs journal");
	still = ask("schema");
	answer(hear("subscribe"), NULL); /* both topics */
	answer(hear("status"), "{}");
	answer(hear("schema"), "{}");
	before = jobs->generation;
	unchanged = still->generation;
	fake_say(&fake, LOOK, "{\"event\":\"jobs\"}\n{\"event\":\"journal\"}\n{\"event\":\"job\"}\n");
	step();
	assert_false(fake_is_called(&fake, LOOK));
	assert_true(model_poll(model, fds) <= now_ms + 1000);
	now_ms += 1000;
	answer(hear("status"), "{}");
	step();
	assert_false(fake_is_called(&fake, LOOK));
	assert_true(jobs->generation > before);
	assert_int_equal(still->generation, unchanged);
}

static json_int_t hear_exactly(const char *wanted)
{
	char call[64];
	json_int_t id = fake_call(&fake, LOOK, call);

	assert_string_equal(call, wanted);
	return id;
}

/* A screen that opens waits once: nothing is answered before all of it was asked. */
static void what_is_asked_together_is_sent_together(void **state)
{
	json_int_t id[4];

	(void)state;
	connected();
	ask_on(LANE_LOOK, "status", "jobs");
	ask_on(LANE_LOOK, "journal", "journal");
	ask("schema");
	step();
	id[0] = hear_exactly("subscribe");
	id[1] = hear_exactly("sync");
	id[2] = hear_exactly("status");
	id[3] = hear_exactly("journal");
	assert_false(fake_is_called(&fake, LOOK)); /* four at most */
	answer(id[0], NULL);
	hear_exactly("schema");
	answer(id[1], NULL);
	answer(id[2], "{\"job\":\"a\"}");
	answer(id[3], "{\"who\":\"b\"}");
	assert_non_null(json_object_get(json_array_get(ask("status")->lines, 0), "job"));
	assert_non_null(json_object_get(json_array_get(ask("journal")->lines, 0), "who"));
	assert_false(ask("schema")->is_known);
}

/* How things stand comes right after the subscription: a question behind both knows it, one that has begun may not. */
static void an_event_before_a_question_has_begun_makes_nothing_old(void **state)
{
	json_int_t sync, status;

	(void)state;
	connected();
	ask_on(LANE_LOOK, "status", "jobs");
	step();
	answer(hear_exactly("subscribe"), NULL);
	sync = hear_exactly("sync");
	status = hear_exactly("status");
	fake_say(&fake, LOOK, "{\"event\":\"jobs\"}\n");
	answer(sync, NULL);
	answer(status, "{}");
	now_ms += 1500;
	step();
	assert_false(fake_is_called(&fake, LOOK));
	model_refresh(model);
	step();
	status = hear_exactly("status");
	fake_say(&fake, LOOK, "{\"event\":\"jobs\"}\n");
	answer(status, "{}");
	now_ms += 1000;
	step();
	hear("status");
}

static void frames(int count)
{
	for (int i = 0; i < count; i++)
		model_frame_done(model);
}

/* Its topics are given up with it; a question of a key between two frames is kept for a moment. */
static void what_nobody_asks_is_forgotten(void **state)
{
	json_t *frame;

	(void)state;
	connected();
	ask_on(LANE_LOOK, "status", "jobs");
	answer(hear("subscribe"), NULL);
	answer(hear("status"), "{}");
	frames(10);
	assert_int_equal(ask_on(LANE_LOOK, "status", "jobs")->generation, 1);
	now_ms += 3000;
	answer(hear("sync"), NULL);
	frames(3);
	step();
	frame = fake_hear(&fake, LOOK);
	assert_string_equal(json_string_value(json_object_get(frame, "call")), "unsubscribe");
	assert_string_equal(json_string_value(json_array_get(json_object_get(json_object_get(frame, "args"), "topics"), 0)), "jobs");
	answer(json_integer_value(json_object_get(frame, "id")), NULL);
	json_decref(frame);
	assert_false(ask("status")->is_known);
}

/* The answer to what was forgotten meanwhile goes nowhere; the next question is its own. */
static void a_late_answer_is_nobodys(void **state)
{
	json_int_t id;

	(void)state;
	connected();
	ask("status");
	id = hear("status");
	now_ms += 2000;
	step();
	frames(3);
	assert_false(ask("status")->is_known);
	answer(id, "{\"old\":1}");
	assert_false(ask("status")->is_known);
	answer(hear("status"), "{\"new\":1}");
	assert_non_null(json_object_get(json_array_get(ask("status")->lines, 0), "new"));
}

/* While an answer is awaited nothing is due, not even the ping: else the loop would turn without rest. */
static void a_slow_answer_costs_nothing(void **state)
{
	struct pollfd fds[MODEL_FDS];
	json_int_t id;

	(void)state;
	connected();
	ask("status");
	id = hear("status");
	now_ms += 60000;
	assert_false(step());
	assert_int_equal(model_poll(model, fds), -1);
	assert_false(fake_is_called(&fake, LOOK));
	answer(id, "{}");
	assert_true(ask("status")->is_known);
	hear("sync");
}

/* Letters that take long hold up no look. */
static void lanes_do_not_wait_for_each_other(void **state)
{
	size_t letters;

	(void)state;
	connected();
	ask_on(LANE_LETTERS, "dlq.list", "");
	step();
	letters = greet();
	hear_on(letters, "dlq.list");
	ask("status");
	answer(hear("status"), "{}");
	assert_true(ask("status")->is_known);
	assert_false(model_is_idle(model));
	model_cancel(model);
	step();
	json_t *cancel = fake_hear(&fake, letters);
	assert_non_null(json_object_get(cancel, "cancel"));
	json_decref(cancel);
}

static void go_away(void)
{
	fake_stop(&fake);
	step();
	assert_false(model_reach(model).is_there);
}

static void come_back(void)
{
	fake_listen(&fake);
	now_ms += 10000;
	step();
	greet();
	assert_true(model_reach(model).is_there);
}

/* In the middle of an answer: what was known stays, and all is asked again. */
static void an_engine_that_went_away_is_asked_again(void **state)
{
	const struct answer *answer_of;
	OWNED(text) half = text_new(100);

	(void)state;
	connected();
	answer_of = ask_on(LANE_LOOK, "status", "jobs");
	answer(hear("subscribe"), NULL);
	answer(hear("status"), "{\"job\":\"a\"}");
	model_refresh(model);
	text_add_format(half, "{\"id\":%lld,\"line\":{\"job\":\"b\"}}\n{\"id\":", (long long)hear("status"));
	fake_say(&fake, LOOK, half->at);
	step();
	go_away();
	assert_true(model_reach(model).was_there);
	assert_false(answer_of->is_asking);
	assert_string_equal(json_string_value(json_object_get(json_array_get(answer_of->lines, 0), "job")), "a");
	assert_true(model_age_ms(model, now_ms + 500) >= 500);
	come_back();
	assert_int_equal(model_reach(model).connections, 2);
	answer(hear("subscribe"), NULL);
	answer(hear("status"), "{\"job\":\"c\"}");
	assert_string_equal(json_string_value(json_object_get(json_array_get(answer_of->lines, 0), "job")), "c");
}

static void garbage_is_a_lost_connection(void **state)
{
	(void)state;
	connected();
	fake_say(&fake, LOOK, "\x01\x02 what\n");
	step();
	assert_false(model_reach(model).is_there);
	assert_string_equal(model_reach(model).error->code, "bad_answer");
	fake_stop(&fake);
	come_back();
}

/*
 * Acts.
 */
static unsigned act(const char *line)
{
	return model_act(model, line, "pause", json_pack("{s:s}", "job", "shop"));
}

static void an_act_is_told_with_its_notes(void **state)
{
	const struct act *done;
	OWNED(text) bytes = text_new(1000);
	json_int_t id;
	size_t session;
	unsigned number;

	(void)state;
	connected();
	number = act("pause shop");
	assert_false(model_is_idle(model));
	step();
	session = greet();
	id = hear_on(session, "pause");
	text_add_format(bytes, "{\"id\":%lld,\"note\":\"shop is paused\"}\n", (long long)id);
	fake_say(&fake, session, bytes->at);
	fake_answer(&fake, session, id, "{\"job\":\"shop\"}");
	step();
	done = model_act_of(model, number);
	assert_true(done->is_done);
	assert_string_equal(done->notes->at, "shop is paused");
	assert_int_equal(json_array_size(done->lines), 1);
	assert_int_equal(done->error.kind, ERROR_NONE);
	assert_int_equal(model_act_last(model), 1);
	assert_null(model_act_of(model, 0));
	assert_null(model_act_of(model, 2));
}

/* Nobody knows how far the first came; the second never left, also when the engine is back. */
static void acts_end_with_the_connection(void **state)
{
	const struct act *sent, *waiting;
	size_t session;

	(void)state;
	connected();
	sent = model_act_of(model, act("pause shop"));
	waiting = model_act_of(model, act("pause other"));
	step();
	session = greet();
	hear_on(session, "pause");
	go_away();
	assert_true(sent->is_done);
	assert_string_equal(sent->error.code, "connection_lost");
	assert_non_null(strstr(sent->error.message, "journal"));
	assert_true(waiting->is_done);
	assert_false(waiting->is_sent);
	assert_non_null(strstr(waiting->error.message, "nothing was done"));
	come_back();
	step();
	assert_false(fake_ready(fake.listener, 0)); /* no session for acts is opened */
}

/* Also where only the session of acts is refused. */
static void an_act_without_a_session_is_not_done_later(void **state)
{
	const struct act *refused;
	size_t session;

	(void)state;
	connected();
	refused = model_act_of(model, act("pause shop"));
	step();
	session = fake_accept(&fake);
	fake_say(&fake, session, "{\"error\":{\"kind\":\"transient\",\"code\":\"too_many_sessions\",\"message\":\"full\"}}\n");
	fake_close(&fake, session);
	step();
	assert_true(refused->is_done);
	assert_string_equal(refused->error.code, "too_many_sessions");
	assert_true(model_reach(model).is_there);
	now_ms += 60000;
	step();
	assert_false(fake_ready(fake.listener, 0));
}

static void an_act_while_the_engine_is_away_says_so(void **state)
{
	const struct act *refused;

	(void)state;
	fake_stop(&fake);
	step();
	refused = model_act_of(model, act("pause shop"));
	assert_true(refused->is_done);
	assert_string_equal(refused->error.code, "engine_not_running");
	fake_listen(&fake);
}

static void an_act_that_is_too_long_says_so(void **state)
{
	char *large = memory_zalloc(FRAME_BYTES_MAX + 1);
	size_t session;
	unsigned number;

	(void)state;
	connected();
	memset(large, 'x', FRAME_BYTES_MAX);
	number = model_act(model, "note", "note", json_pack("{s:s}", "text", large));
	act("pause shop");
	step();
	session = greet();
	hear_on(session, "pause");
	assert_string_equal(model_act_of(model, number)->error.code, "frame_too_long");
	free(large);
}

/* The 201st takes the place of the first. */
static void old_acts_are_forgotten(void **state)
{
	(void)state;
	fake_stop(&fake);
	step();
	for (int i = 0; i <= ACTS_KEPT; i++)
		act("pause shop");
	assert_null(model_act_of(model, 1));
	assert_non_null(model_act_of(model, 2));
	assert_int_equal(model_act_last(model), ACTS_KEPT + 1);
	fake_listen(&fake);
}

/* More lines than are kept, and more questions than there is room for. */
static void an_endless_answer_is_cut(void **state)
{
	OWNED(text) line = text_new(100);
	json_int_t id;

	(void)state;
	connected();
	ask("status");
	id = hear("status");
	text_add_format(line, "{\"id\":%lld,\"line\":{}}\n", (long long)id);
	for (int i = 0; i <= ANSWER_LINES_MAX; i++) {
		fake_say(&fake, LOOK, line->at);
		if (i % 100 == 0)
			step();
	}
	answer(id, NULL);
	assert_true(ask("status")->is_cut);
	assert_int_equal(json_array_size(ask("status")->lines), ANSWER_LINES_MAX);
}

/* 10,000 frames of a view whose question changes each time: room is for few of them. */
static void questions_have_an_end(void **state)
{
	(void)state;
	for (int i = 0; i < 10000; i++) {
		model_ask(model, LANE_LOOK, "dlq.show", json_pack("{s:i}", "id", i), "dlq:shop");
		model_frame_done(model);
	}
	step();
	greet();
	answer(hear("subscribe"), NULL);
	for (int kept = 0; kept < 64; kept++)
		answer(hear("dlq.show"), "{}");
	step();
	assert_false(fake_is_called(&fake, LOOK));
}

#define WITH_MODEL(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_MODEL(an_answer_comes_in_pieces),
		WITH_MODEL(the_same_question_is_asked_once),
		WITH_MODEL(an_error_keeps_what_was_known),
		WITH_MODEL(an_event_makes_an_answer_old),
		WITH_MODEL(what_is_asked_together_is_sent_together),
		WITH_MODEL(an_event_before_a_question_has_begun_makes_nothing_old),
		WITH_MODEL(what_nobody_asks_is_forgotten),
		WITH_MODEL(a_late_answer_is_nobodys),
		WITH_MODEL(a_slow_answer_costs_nothing),
		WITH_MODEL(lanes_do_not_wait_for_each_other),
		WITH_MODEL(an_engine_that_went_away_is_asked_again),
		WITH_MODEL(garbage_is_a_lost_connection),
		WITH_MODEL(an_act_is_told_with_its_notes),
		WITH_MODEL(acts_end_with_the_connection),
		WITH_MODEL(an_act_without_a_session_is_not_done_later),
		WITH_MODEL(an_act_while_the_engine_is_away_says_so),
		WITH_MODEL(an_act_that_is_too_long_says_so),
		WITH_MODEL(old_acts_are_forgotten),
		WITH_MODEL(an_endless_answer_is_cut),
		WITH_MODEL(questions_have_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
