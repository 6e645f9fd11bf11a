/* A session that never waits: hellos, frames in pieces, what is no frame, and an engine that comes and goes. */
#include "fake_engine.h"
#include "model/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail

static struct fake fake;
static struct wire *wire;
static int64_t now_ms;

static int begin(void **state)
{
	(void)state;
	fake_begin(&fake);
	wire = wire_new(fake.path, false);
	now_ms = clock_mono_ms();
	return 0;
}

static int end(void **state)
{
	(void)state;
	wire_free(wire);
	fake_end(&fake);
	return 0;
}

/* Connected, its hello heard; not greeted yet. */
static size_t connected(void)
{
	json_t *hello;
	size_t session;

	assert_true(wire_step(wire, now_ms));
	assert_int_equal(wire_state(wire), WIRE_GREETING);
	session = fake_accept(&fake);
	wire_step(wire, now_ms);
	hello = fake_hear(&fake, session);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(hello, "hello"), "protocol")), PROTOCOL_VERSION);
	json_decref(hello);
	return session;
}

static size_t ready(void)
{
	size_t session = connected();

	fake_say(&fake, session, FAKE_HELLO);
	wire_step(wire, now_ms);
	assert_int_equal(wire_state(wire), WIRE_READY);
	return session;
}

/* What the wire says after the engine has answered the hello so. */
static const char *refused(const char *hello, bool closes)
{
	size_t session = connected();

	fake_say(&fake, session, hello);
	if (closes)
		fake_close(&fake, session);
	wire_step(wire, now_ms);
	assert_int_equal(wire_state(wire), WIRE_OFF);
	assert_int_equal(wire_tries(wire), 1);
	assert_true(wire_due_ms(wire) > now_ms);
	return wire_error(wire)->code;
}

static void a_hello_opens_it(void **state)
{
	(void)state;
	assert_int_equal(wire_access(wire), VIEW);
	ready();
	assert_int_equal(wire_access(wire), ADMIN);
	assert_int_equal(wire_greeting(wire)->protocol, PROTOCOL_VERSION);
	assert_string_equal(wire_greeting(wire)->name, "");
	assert_false(wire_greeting(wire)->is_production);
	assert_int_equal(wire_connections(wire), 1);
	assert_null(wire_take(wire));
	assert_int_equal(wire_state(wire), WIRE_READY);
}

/* The connection by which the engine was found: no second hello is awaited, and losing it is losing any other. */
static void a_greeted_connection_goes_on(void **state)
{
	json_t *greeting = json_loads(FAKE_HELLO, 0, NULL), *heard;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t session;

	(void)state;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", fake.path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	session = fake_accept(&fake);
	wire_adopt(wire, fd, greeting, now_ms);
	json_decref(greeting);
	assert_int_equal(wire_state(wire), WIRE_READY);
	assert_int_equal(wire_access(wire), ADMIN);
	assert_int_equal(wire_connections(wire), 1);
	assert_true(wire_put(wire, json_pack("{s:i}", "id", 7)));
	wire_step(wire, now_ms);
	heard = fake_hear(&fake, session);
	assert_int_equal(json_integer_value(json_object_get(heard, "id")), 7);
	json_decref(heard);
	fake_close(&fake, session);
	wire_step(wire, now_ms);
	assert_null(wire_take(wire));
	assert_int_equal(wire_state(wire), WIRE_OFF);
}

static void another_protocol_can_be_looked_at(void **state)
{
	size_t session = connected();

	(void)state;
	fake_say(&fake, session, "{\"hello\":{\"protocol\":2,\"version\":\"9.1\",\"access\":\"admin\",\"name\":\"far\",\"production\":true}}\n");
	wire_step(wire, now_ms);
	assert_int_equal(wire_state(wire), WIRE_READY);
	assert_int_equal(wire_greeting(wire)->protocol, 2);
	assert_string_equal(wire_greeting(wire)->version, "9.1");
	assert_string_equal(wire_greeting(wire)->name, "far");
	assert_true(wire_greeting(wire)->is_production);
}

static void a_hello_without_a_number_is_none(void **state)
{
	(void)state;
	assert_string_equal(refused("{\"hello\":{\"protocol\":\"1\"}}\n", false), "bad_answer");
}

/* --readonly: the engine is told, so that it refuses acts itself. */
static void who_only_looks_says_so(void **state)
{
	struct wire *looker = wire_new(fake.path, true);
	json_t *hello;
	size_t session;

	(void)state;
	wire_step(looker, now_ms);
	session = fake_accept(&fake);
	wire_step(looker, now_ms);
	hello = fake_hear(&fake, session);
	assert_string_equal(json_string_value(json_object_get(json_object_get(hello, "hello"), "access")), "view");
	json_decref(hello);
	wire_free(looker);
}

/* The engine says why and closes at once: the reason is read, not only the end. */
static void whom_the_engine_sends_away_hears_why(void **state)
{
	(void)state;
	assert_string_equal(refused("{\"error\":{\"kind\":\"access\",\"code\":\"no_permission\",\"message\":\"not you\"}}\n", true),
	                    "no_permission");
	assert_string_equal(wire_error(wire)->message, "not you");
}

static void garbage_for_a_hello_is_told(void **state)
{
	(void)state;
	assert_string_equal(refused("SSH-2.0-OpenSSH_9.6\r\n", false), "bad_answer");
}

static void a_number_is_no_hello(void **state)
{
	(void)state;
	assert_string_equal(refused("17\n", false), "bad_answer");
}

static void an_object_without_a_hello_is_none(void **state)
{
	(void)state;
	assert_string_equal(refused("{\"id\":1,\"ok\":{}}\n", false), "bad_answer");
}

static void an_engine_that_says_nothing_is_given_up(void **state)
{
	(void)state;
	connected();
	wire_step(wire, now_ms + HELLO_WAIT_MS - 1);
	assert_int_equal(wire_state(wire), WIRE_GREETING);
	assert_int_equal(wire_due_ms(wire), now_ms + HELLO_WAIT_MS);
	wire_step(wire, now_ms + HELLO_WAIT_MS);
	assert_int_equal(wire_state(wire), WIRE_OFF);
	assert_string_equal(wire_error(wire)->code, "engine_not_running");
}

static void frames_come_in_pieces_and_together(void **state)
{
	static const char frames[] = "{\"event\":\"a\"}\n{\"event\":\"b\"}\n";
	size_t session = ready();
	json_t *frame;
	int count = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(frames) - 1; i++) {
		fake_send(&fake, session, frames + i, 1);
		wire_step(wire, now_ms);
		while ((frame = wire_take(wire))) {
			assert_string_equal(json_string_value(json_object_get(frame, "event")), count++ ? "b" : "a");
			json_decref(frame);
		}
	}
	assert_int_equal(count, 2);
	fake_say(&fake, session, frames);
	wire_step(wire, now_ms);
	for (count = 0; (frame = wire_take(wire)); count++)
		json_decref(frame);
	assert_int_equal(count, 2);
}

/* The last words before the end are still heard. */
static void what_was_said_before_the_end_is_handed_out(void **state)
{
	size_t session = ready();
	json_t *frame;

	(void)state;
	fake_say(&fake, session, "{\"event\":\"last\"}\n{\"half");
	fake_close(&fake, session);
	wire_step(wire, now_ms);
	frame = wire_take(wire);
	assert_string_equal(json_string_value(json_object_get(frame, "event")), "last");
	json_decref(frame);
	assert_null(wire_take(wire));
	assert_int_equal(wire_state(wire), WIRE_OFF);
	assert_string_equal(wire_error(wire)->code, "connection_lost");
}

static void no_frame(const char *bytes, size_t len)
{
	size_t session = ready();

	fake_send(&fake, session, bytes, len);
	wire_step(wire, now_ms);
	assert_null(wire_take(wire));
	assert_int_equal(wire_state(wire), WIRE_OFF);
	assert_string_equal(wire_error(wire)->code, "bad_answer");
}

static void bytes_that_are_no_utf8_are_no_frame(void **state)
{
	(void)state;
	no_frame("{\"event\":\"\xff\"}\n", 14);
}

static void an_array_is_no_frame(void **state)
{
	(void)state;
	no_frame("[1,2]\n", 6);
}

static void a_nul_between_frames_is_no_frame(void **state)
{
	(void)state;
	no_frame("\0{}\n", 4);
}

/* A NUL written as JSON writes it is data. */
static void a_nul_in_a_text_is_taken(void **state)
{
	size_t session = ready();
	json_t *frame;

	(void)state;
	fake_say(&fake, session, "{\"line\":{\"key\":\"a\\u0000b\"}}\n");
	wire_step(wire, now_ms);
	frame = wire_take(wire);
	assert_int_equal(json_string_length(json_object_get(json_object_get(frame, "line"), "key")), 3);
	json_decref(frame);
}

/* `len` bytes of a line that begins a text and may end it; as much as the socket takes between two steps. */
static void say_long(size_t session, size_t len, bool ends)
{
	char *bytes = memory_alloc(len);

	memset(bytes, 'x', len);
	memcpy(bytes, "{\"a\":\"", 6);
	if (ends)
		memcpy(bytes + len - 3, "\"}\n", 3);
	for (size_t at = 0; at < len && wire_state(wire) == WIRE_READY;) {
		size_t piece = len - at < 65536 ? len - at : 65536;

		fake_send(&fake, session, bytes + at, piece);
		at += piece;
		wire_step(wire, now_ms);
		if (at < len)
			assert_null(wire_take(wire));
	}
	free(bytes);
}

static void a_frame_may_be_a_mebibyte_long(void **state)
{
	size_t session = ready();
	json_t *frame;

	(void)state;
	say_long(session, FRAME_BYTES_MAX + 1, true); /* the newline does not count */
	frame = wire_take(wire);
	assert_int_equal(json_string_length(json_object_get(frame, "a")), FRAME_BYTES_MAX - 8);
	json_decref(frame);
}

static void a_longer_one_is_no_frame(void **state)
{
	size_t session = ready();

	(void)state;
	say_long(session, FRAME_BYTES_MAX + 1, false);
	assert_null(wire_take(wire));
	assert_int_equal(wire_state(wire), WIRE_OFF);
	assert_string_equal(wire_error(wire)->code, "bad_answer");
}

static void a_longer_one_is_not_sent(void **state)
{
	size_t session = ready();
	char *large = memory_zalloc(FRAME_BYTES_MAX + 1);

	(void)state;
	memset(large, 'x', FRAME_BYTES_MAX);
	assert_false(wire_put(wire, json_pack("{s:s}", "a", large)));
	assert_false(wire_wants_out(wire));
	assert_true(wire_put(wire, json_pack("{s:s}", "a", "b")));
	wire_step(wire, now_ms);
	json_t *frame = fake_hear(&fake, session);
	assert_string_equal(json_string_value(json_object_get(frame, "a")), "b");
	json_decref(frame);
	free(large);
}

/* 250 ms, then twice as long each time, to 8 s. */
static void it_is_tried_again_later_and_later(void **state)
{
	int64_t waited = 0, pause = 250;

	(void)state;
	fake_stop(&fake);
	for (int try = 1; try <= 8; try++) {
		wire_step(wire, now_ms + waited);
		assert_int_equal(wire_state(wire), WIRE_OFF);
		assert_int_equal(wire_tries(wire), try);
		assert_int_equal(wire_due_ms(wire) - now_ms - waited, pause);
		wire_step(wire, wire_due_ms(wire) - 1); /* too early: no try */
		assert_int_equal(wire_tries(wire), try);
		waited += pause;
		pause = pause * 2 < 8000 ? pause * 2 : 8000;
	}
	assert_string_equal(wire_error(wire)->code, "engine_not_running");
	assert_int_equal(wire_lost_ms(wire), now_ms);
	fake_listen(&fake);
	now_ms += waited;
	ready();
	assert_int_equal(wire_tries(wire), 0);
}

#define WITH_WIRE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WIRE(a_hello_opens_it),
		WITH_WIRE(a_greeted_connection_goes_on),
		WITH_WIRE(another_protocol_can_be_looked_at),
		WITH_WIRE(a_hello_without_a_number_is_none),
		WITH_WIRE(who_only_looks_says_so),
		WITH_WIRE(whom_the_engine_sends_away_hears_why),
		WITH_WIRE(garbage_for_a_hello_is_told),
		WITH_WIRE(a_number_is_no_hello),
		WITH_WIRE(an_object_without_a_hello_is_none),
		WITH_WIRE(an_engine_that_says_nothing_is_given_up),
		WITH_WIRE(frames_come_in_pieces_and_together),
		WITH_WIRE(what_was_said_before_the_end_is_handed_out),
		WITH_WIRE(bytes_that_are_no_utf8_are_no_frame),
		WITH_WIRE(an_array_is_no_frame),
		WITH_WIRE(a_nul_between_frames_is_no_frame),
		WITH_WIRE(a_nul_in_a_text_is_taken),
		WITH_WIRE(a_frame_may_be_a_mebibyte_long),
		WITH_WIRE(a_longer_one_is_no_frame),
		WITH_WIRE(a_longer_one_is_not_sent),
		WITH_WIRE(it_is_tried_again_later_and_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
