/*
 * Dead letters: bytes and attributes come back as they were received, a message
 * met twice is one letter, counts follow states, parked messages keep their order.
 */
#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "control/control.h"
#include "dlq/dlq.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
	char folder[64];
	char path[128];
	struct dlq *dlq;
	struct batch *batch;
	json_t *lines;   /* what the last look gave */
	int wanted;      /* lines to take before stopping, 0: all */
};

static const struct refusal type_mismatch = { "map", "type_mismatch", "text where a number is meant",
	                                          { "total", 5 }, { "after.tags[3].total", 19 } };
static const struct refusal unknown_column = { "write", "unknown_column", "no such column", { "phone", 5 }, { NULL, 0 } };

static void open_store(struct place *place, enum dlq_mode mode, const char *identity)
{
	struct error err = { 0 };
	struct dlq_origin origin = { "feed", "/feeds/a.jsonl", span_of(identity), place->folder };

	dlq_close(place->dlq);
	place->dlq = dlq_open(place->path, mode, &err);
	if (!place->dlq)
		fail_msg("%s: %s", err.code, err.message);
	dlq_set_origin(place->dlq, &origin);
}

static int place_make(void **state)
{
	struct place *place = memory_zalloc(sizeof(*place));

	snprintf(place->folder, sizeof(place->folder), "/tmp/weir-test-dlq-XXXXXX");
	if (!mkdtemp(place->folder))
		return -1;
	snprintf(place->path, sizeof(place->path), "%s/orders.db", place->folder);
	place->batch = batch_new();
	place->lines = json_array();
	open_store(place, DLQ_WRITE, "feed-1");
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
	json_decref(place->lines);
	snprintf(command, sizeof(command), "rm -rf '%s'", place->folder);
	status = system(command);
	free(place);
	return status;
}

static struct message *message_at(struct place *place, uint64_t offset, struct span body, const struct refusal *why)
{
	struct message *m = batch_add_message(place->batch);

	m->body = body;
	m->offset = offset;
	m->line = offset + 1;
	m->received_us = 1767582600123456 + (int64_t)offset;
	m->fate = MESSAGE_REFUSED;
	m->refusal = why;
	return m;
}

static void keep(struct place *place, const struct message *m, const char *table)
{
	struct error err = { 0 };

	if (!dlq_begin(place->dlq, &err) || !dlq_keep(place->dlq, place->batch, m, table, &err) ||
	    !dlq_commit(place->dlq, &err))
		fail_msg("%s: %s", err.code, err.message);
}

static void keep_simple(struct place *place, uint64_t offset, const struct refusal *why)
{
	keep(place, message_at(place, offset, SPAN("{}"), why), "shop.orders");
}

static bool take_line(void *context, const char *json)
{
	struct place *place = context;
	json_error_t problem;
	json_t *line = json_loads(json, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &problem);

	if (!line)
		fail_msg("%s: %s", problem.text, json);
	assert_null(strchr(json, '\n'));
	json_array_append_new(place->lines, line);
	return place->wanted == 0 || json_array_size(place->lines) < (size_t)place->wanted;
}

enum look { LIST, GROUPS, SHOW };

static size_t look(struct place *place, enum look what, struct dlq_filter filter)
{
	static bool (*const looks[])(struct dlq *, const struct dlq_filter *, dlq_line, void *, struct error *) = {
		dlq_list, dlq_groups, dlq_show
	};
	struct error err = { 0 };

	filter.job = "orders";
	json_array_clear(place->lines);
	if (!looks[what](place->dlq, &filter, take_line, place, &err))
		fail_msg("%s: %s", err.code, err.message);
	return json_array_size(place->lines);
}

/* One group (0: all) in one state (NULL: all). */
static struct dlq_filter chosen(int64_t group, const char *state)
{
	static int64_t one;
	struct dlq_filter filter = { 0 };
	struct error err = { 0 };

	one = group;
	if (group)
		filter.choice = (struct letter_choice){ .groups = &one, .group_count = 1 };
	if (state)
		assert_true(dlq_states_read(state, &filter.choice.states, &err));
	return filter;
}

static const json_t *member(const struct place *place, size_t line, const char *name)
{
	const json_t *found = json_object_get(json_array_get(place->lines, line), name);

	if (!found)
		fail_msg("line %zu has no member %s", line, name);
	return found;
}

static void member_is(const struct place *place, size_t line, const char *name, const char *text)
{
	const char *value = json_string_value(member(place, line, name));

	assert_non_null(value);
	assert_string_equal(value, text);
}

static void member_is_number(const struct place *place, size_t line, const char *name, json_int_t number)
{
	assert_true(json_is_integer(member(place, line, name)));
	assert_int_equal(json_integer_value(member(place, line, name)), number);
}

static bool add_piece(void *context, struct span piece)
{
	return text_add_span(context, piece);
}

static void bytes_are(struct place *place, int64_t id, struct span bytes)
{
	struct error err = { 0 };
	OWNED(text) all = text_new(1 << 20);

	if (!dlq_bytes(place->dlq, id, place->folder, add_piece, all, &err))
		fail_msg("%s: %s", err.code, err.message);
	assert_true(span_equal(text_span(all), bytes));
}

/* case B23 of the reports: what is dropped at failure time cannot be had back */
static void letter_keeps_bytes_attributes_and_reason(void **state)
{
	static const char body[] = "{\"id\":1,\"n\":\"not-a-number\"}\n";
	const struct attribute attrs[] = { { SPAN("trace"), SPAN("abc") }, { SPAN("tenant"), SPAN("t1") } };
	struct place *place = *state;
	struct message *m = message_at(place, 100, SPAN(body), &type_mismatch);
	char *text;

	m->id = SPAN("m1");
	m->key = SPAN("7");
	m->publish = SPAN("2026-01-05T03:10:00.123Z");
	m->attrs = attrs;
	m->attr_count = 2;
	keep(place, m, "shop.orders");

	assert_int_equal(look(place, SHOW, (struct dlq_filter){ .id = 1 }), 1);
	member_is_number(place, 0, "id", 1);
	member_is(place, 0, "job", "orders");
	member_is(place, 0, "state", "new");
	member_is(place, 0, "stage", "map");
	member_is(place, 0, "code", "type_mismatch");
	member_is(place, 0, "message", "text where a number is meant");
	member_is(place, 0, "table", "shop.orders");
	member_is(place, 0, "column", "total");
	member_is(place, 0, "path", "after.tags[3].total");
	member_is(place, 0, "key", "7");
	member_is(place, 0, "ordering_key", "7");
	member_is(place, 0, "publish", "2026-01-05T03:10:00.123Z");
	member_is(place, 0, "payload", body);
	member_is_number(place, 0, "bytes", sizeof(body) - 1);
	member_is(place, 0, "sha256", "0f5ff744a9f9294320268cc4ff35187234f63473e819eb558422faac5d29029e");
	member_is(place, 0, "first", "2026-01-05T03:10:00.123556Z");
	member_is(place, 0, "last", "2026-01-05T03:10:00.123556Z");
	member_is_number(place, 0, "attempts", 1);
	assert_true(json_is_null(member(place, 0, "newer")));
	text = json_dumps(member(place, 0, "attrs"), JSON_COMPACT);
	assert_string_equal(text, "{\"trace\":\"abc\",\"tenant\":\"t1\"}");
	free(text);
	text = json_dumps(member(place, 0, "source"), JSON_COMPACT);
	assert_string_equal(text, "{\"kind\":\"feed\",\"file\":\"/feeds/a.jsonl\",\"line\":101,\"offset\":100,"
	                          "\"message_id\":\"m1\"}");
	free(text);
	bytes_are(place, 1, SPAN(body));
}

static void nul_and_newline_are_text(void **state)
{
	static const char body[] = "a\0b\nc\x1b[31m\xe2\x80\xae!";
	struct place *place = *state;

	keep(place, message_at(place, 0, SPAN(body), &type_mismatch), "-");
	look(place, SHOW, (struct dlq_filter){ .id = 1 });
	assert_int_equal(json_string_length(member(place, 0, "payload")), sizeof(body) - 1);
	assert_memory_equal(json_string_value(member(place, 0, "payload")), body, sizeof(body) - 1);
	assert_null(json_object_get(json_array_get(place->lines, 0), "payload_b64"));
	bytes_are(place, 1, SPAN(body));
}

static bool has_no_raw_control(void *context, const char *json)
{
	struct place *place = context;

	assert_null(strchr(json, '\x1b'));
	assert_null(strstr(json, "\xe2\x80\xae"));
	assert_non_null(strstr(json, "\\u001b"));
	assert_non_null(strstr(json, "\\u202e"));
	return take_line(place, json);
}

static void control_and_bidi_characters_are_escaped(void **state)
{
	static const char odd[] = "\x1b[31m\xe2\x80\xae";
	struct place *place = *state;
	struct message *m = message_at(place, 0, SPAN("x"), &type_mismatch);
	const struct attribute attrs[] = { { SPAN("name"), SPAN(odd) } };
	struct dlq_filter filter = { .job = "orders" };
	struct error err = { 0 };

	m->attrs = attrs;
	m->attr_count = 1;
	keep(place, m, "-");
	assert_true(dlq_list(place->dlq, &filter, has_no_raw_control, place, &err));
	assert_string_equal(json_string_value(json_object_get(member(place, 0, "attrs"), "name")), odd);
}

static void bytes_that_are_no_text_are_base64(void **state)
{
	static const char body[] = "\xff\xfe\0x";
	struct place *place = *state;

	keep(place, message_at(place, 0, SPAN(body), &type_mismatch), "-");
	look(place, SHOW, (struct dlq_filter){ .id = 1 });
	member_is(place, 0, "payload_b64", "//4AeA==");
	assert_null(json_object_get(json_array_get(place->lines, 0), "payload"));
	bytes_are(place, 1, SPAN(body));
}

static void null_and_empty_bodies_differ(void **state)
{
	struct place *place = *state;
	struct message *m = message_at(place, 0, span_make(NULL, 0), &type_mismatch);

	m->body_is_null = true;
	keep(place, m, "-");
	keep(place, message_at(place, 1, SPAN(""), &type_mismatch), "-");
	look(place, SHOW, (struct dlq_filter){ .id = 1 });
	member_is(place, 0, "payload", "");
	assert_true(json_is_true(member(place, 0, "null")));
	look(place, SHOW, (struct dlq_filter){ .id = 2 });
	member_is(place, 0, "payload", "");
	assert_null(json_object_get(json_array_get(place->lines, 0), "null"));
	bytes_are(place, 1, SPAN(""));
}

static void long_payload_is_cut_but_bytes_are_whole(void **state)
{
	struct place *place = *state;
	size_t len = ((size_t)256 << 10) + 1;
	char *body = memory_alloc(len);

	/* the two bytes of the last character stand on both sides of the cut */
	memset(body, 'a', len);
	body[len - 2] = '\xc3';
	body[len - 1] = '\xa9';
	keep(place, message_at(place, 0, span_make(body, len), &type_mismatch), "-");
	look(place, SHOW, (struct dlq_filter){ .id = 1 });
	assert_int_equal(json_string_length(member(place, 0, "payload")), len - 2);
	assert_true(json_is_true(member(place, 0, "cut")));
	member_is_number(place, 0, "bytes", (json_int_t)len);
	bytes_are(place, 1, span_make(body, len));
	free(body);
}

static void line_too_long_to_hold_shows_its_head_and_gives_all(void **state)
{
	struct place *place = *state;
	struct big_body big = { .size = 11 };
	struct message *m = message_at(place, 0, SPAN("hello"), &type_mismatch);
	unsigned char hash[SHA256_BYTES];
	struct error err = { 0 };
	char *path;

	sha256(SPAN("hello world"), hash);
	sha256_text(hash, big.sha256);
	m->big = &big;
	path = path_join(place->folder, big.sha256);
	assert_true(file_replace(path, SPAN("hello world"), &err));
	keep(place, m, "-");

	look(place, SHOW, (struct dlq_filter){ .id = 1 });
	member_is(place, 0, "payload", "hello");
	assert_true(json_is_true(member(place, 0, "cut")));
	member_is_number(place, 0, "bytes", 11);
	member_is(place, 0, "sha256", big.sha256);
	bytes_are(place, 1, SPAN("hello world"));

	assert_int_equal(unlink(path), 0);
	assert_false(dlq_bytes(place->dlq, 1, place->folder, add_piece, NULL, &err));
	assert_string_equal(err.code, "state_damaged");
	free(path);
}

static void monstrous_key_does_not_stop_a_listing(void **state)
{
	struct place *place = *state;
	struct message *m = message_at(place, 0, SPAN("{}"), &type_mismatch);
	size_t len = (size_t)16 << 20;
	char *key = memory_zalloc(len);
	const struct attribute attrs[] = { { SPAN("a"), { key, len } }, { SPAN("b"), { key, len } } };

	m->key = span_make(key, len);
	m->attrs = attrs;
	m->attr_count = 2;
	keep(place, m, "-");
	assert_int_equal(look(place, LIST, (struct dlq_filter){ 0 }), 1);
	assert_in_range(json_string_length(member(place, 0, "key")), 1000, (size_t)32 << 10);
	assert_int_equal(json_object_size(member(place, 0, "attrs")), 2);
	assert_int_equal(json_array_size(member(place, 0, "shortened")), 3);
	free(key);
}

/* A thousand letters of which each fills the socket's line must not hide one another. */
static void what_is_shown_of_a_letter_fits_into_a_line(void **state)
{
	static const char *const fillers[] = { "\x01", "\xe2\x80\xa8", "\"", "\xff", "\xc2\x85", "x" };
	struct place *place = *state;
	size_t len = (size_t)1 << 20;

	for (size_t f = 0; f < sizeof(fillers) / sizeof(fillers[0]); f++) {
		char *text = memory_alloc(len);
		struct message *m;
		struct attribute attrs[100];
		struct refusal why = { "map", "type_mismatch", NULL, { NULL, 0 }, { NULL, 0 } };
		char *line, *frame;

		for (size_t i = 0; i < len; i++)
			text[i] = fillers[f][i % strlen(fillers[f])];
		for (size_t i = 0; i < 100; i++)
			attrs[i] = (struct attribute){ i % 2 ? SPAN("twice") : span_make(text, 900), span_make(text, 1024) };
		why.message = "no";
		why.column = why.path = span_make(text, len);
		m = message_at(place, 10 + f, span_make(text, len), &why);
		m->id = m->key = m->publish = span_make(text, len);
		m->attrs = attrs;
		m->attr_count = 100;
		keep(place, m, "shop.t");
		assert_int_equal(look(place, SHOW, (struct dlq_filter){ .id = (int64_t)f + 1 }), 1);
		line = json_dumps(json_array_get(place->lines, 0), JSON_COMPACT);
		assert_non_null(line);
		frame = frame_print(json_array_get(place->lines, 0));
		if (!frame)
			fail_msg("filler %zu: %zu bytes", f, strlen(line));
		assert_true(strlen(frame) < FRAME_BYTES_MAX - 1000);
		assert_true(json_is_true(member(place, 0, "cut")));
		free(frame);
		free(line);
		free(text);
	}
}

static void envelope_has_every_attribute(void **state)
{
	const struct attribute attrs[] = { { SPAN("a"), SPAN("1\0") }, { SPAN("b"), SPAN("x") }, { SPAN("a"), SPAN("2\n") } };
	struct place *place = *state;
	struct message *m = message_at(place, 0, SPAN("{}"), &type_mismatch);
	OWNED(text) all = text_new(1 << 20);
	struct error err = { 0 };
	char *list;

	m->id = SPAN("m1");
	m->attrs = attrs;
	m->attr_count = 3;
	keep(place, m, "shop.t");
	assert_true(dlq_envelope(place->dlq, 1, add_piece, all, &err));
	assert_string_equal(all->at, "{\"id\":\"m1\",\"attrs\":{\"a\":\"1\\u0000\",\"b\":\"x\",\"a\":\"2\\u000a\"},");

	/* The object of a listing holds the last of a name; the list all. */
	look(place, LIST, (struct dlq_filter){ 0 });
	assert_int_equal(json_object_size(member(place, 0, "attrs")), 2);
	list = json_dumps(member(place, 0, "attr_list"), JSON_COMPACT);
	assert_string_equal(list, "[[\"a\",\"1\\u0000\"],[\"b\",\"x\"],[\"a\",\"2\\n\"]]");
	free(list);
	assert_false(dlq_envelope(place->dlq, 99, add_piece, all, &err));
	assert_string_equal(err.code, "letter_unknown");
}

static void message_met_twice_is_one_letter(void **state)
{
	struct place *place = *state;
	struct message *m = message_at(place, 7, SPAN("{}"), &type_mismatch);

	keep(place, m, "shop.orders");
	m->received_us += 5000000;
	open_store(place, DLQ_WRITE, "feed-1");
	keep(place, m, "shop.orders");
	assert_int_equal(look(place, LIST, (struct dlq_filter){ 0 }), 1);
	member_is(place, 0, "state", "new");
	member_is(place, 0, "first", "2026-01-05T03:10:00.123463Z");
	member_is(place, 0, "last", "2026-01-05T03:10:05.123463Z");
	member_is_number(place, 0, "attempts", 2);
	assert_int_equal(look(place, GROUPS, (struct dlq_filter){ 0 }), 1);
	member_is_number(place, 0, "count", 1);
}

static void same_place_in_another_feed_is_another_letter(void **state)
{
	struct place *place = *state;
	uint64_t letters, parked;
	struct error err = { 0 };

	keep_simple(place, 7, &type_mismatch);
	open_store(place, DLQ_WRITE, "feed-2");
	keep_simple(place, 7, &type_mismatch);
	keep_simple(place, 8, &type_mismatch);
	assert_int_equal(look(place, LIST, (struct dlq_filter){ 0 }), 3);
	assert_true(dlq_count(place->dlq, SPAN("feed-2"), 8, &letters, &parked, &err));
	assert_int_equal(letters, 2);
	assert_int_equal(parked, 0);
	assert_true(dlq_count(place->dlq, SPAN("feed-3"), 0, &letters, &parked, &err));
	assert_int_equal(letters, 3);
}

static void nothing_is_left_after_a_rollback(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	const struct message *m = message_at(place, 7, SPAN("{}"), &type_mismatch);

	assert_true(dlq_begin(place->dlq, &err));
	assert_true(dlq_keep(place->dlq, place->batch, m, "shop.orders", &err));
	assert_true(dlq_park(place->dlq, m, "shop.orders", NULL, NULL, &err));
	dlq_rollback(place->dlq);
	assert_int_equal(look(place, LIST, (struct dlq_filter){ 0 }), 0);
	assert_int_equal(look(place, GROUPS, (struct dlq_filter){ 0 }), 0);
	/* the origin's row went too and must be made again */
	keep(place, m, "shop.orders");
	assert_int_equal(look(place, LIST, (struct dlq_filter){ 0 }), 1);
	assert_string_equal(json_string_value(json_object_get(member(place, 0, "source"), "kind")), "feed");
}

static void letters_that_fail_alike_are_one_group(void **state)
{
	struct place *place = *state;
	struct refusal other_index = type_mismatch;

	other_index.path = SPAN("after.tags[12].total");
	for (uint64_t i = 0; i < 6; i++) {
		struct message *m = message_at(place, i, SPAN("{}"), i % 2 ? &type_mismatch : &other_index);

		m->key = i < 3 ? SPAN("a") : SPAN("b");
		keep(place, m, "shop.orders");
	}
	keep_simple(place, 6, &unknown_column);
	assert_int_equal(look(place, GROUPS, (struct dlq_filter){ 0 }), 2);
	member_is_number(place, 0, "group", 1);
	member_is(place, 0, "job", "orders");
	member_is(place, 0, "code", "type_mismatch");
	member_is(place, 0, "stage", "map");
	member_is(place, 0, "table", "shop.orders");
	member_is(place, 0, "column", "total");
	member_is(place, 0, "state", "new");
	member_is_number(place, 0, "count", 6);
	member_is_number(place, 0, "keys", 2);
	member_is_number(place, 0, "sample", 1);
	member_is(place, 0, "first", "2026-01-05T03:10:00.123456Z");
	member_is(place, 0, "last", "2026-01-05T03:10:00.123461Z");
	member_is_number(place, 1, "count", 1);
	member_is_number(place, 1, "keys", 0);

	assert_int_equal(look(place, LIST, chosen(2, NULL)), 1);
	member_is(place, 0, "code", "unknown_column");
	assert_int_equal(look(place, GROUPS, chosen(2, NULL)), 1);
	member_is_number(place, 0, "group", 2);
}

static void letter_that_fails_otherwise_moves_to_the_other_group(void **state)
{
	struct place *place = *state;
	struct message *m = message_at(place, 1, SPAN("{}"), &type_mismatch);

	m->key = SPAN("a");
	keep_simple(place, 0, &type_mismatch);
	keep(place, m, "shop.orders");
	m->refusal = &unknown_column;
	keep(place, m, "shop.orders");
	assert_int_equal(look(place, GROUPS, (struct dlq_filter){ 0 }), 2);
	member_is_number(place, 0, "count", 1);
	member_is_number(place, 0, "keys", 0);
	member_is_number(place, 1, "count", 1);
	member_is_number(place, 1, "keys", 1);
	member_is_number(place, 1, "sample", 2);
}

static void set_state(struct place *place, int64_t id, const char *word)
{
	struct error err = { 0 };

	if (!dlq_set_state(place->dlq, id, word, &err))
		fail_msg("%s: %s", err.code, err.message);
}

static void counts_are(struct place *place, const char *table, uint64_t open, uint64_t needs)
{
	struct error err = { 0 };
	uint64_t is_open = 99, do_need = 99;

	assert_true(dlq_open_count(place->dlq, table, &is_open, &do_need, &err));
	assert_int_equal(is_open, open);
	assert_int_equal(do_need, needs);
}

static void states_decide_what_is_open_and_who_needs_you(void **state)
{
	static const struct {
		const char *word;
		uint64_t open, needs;
	} rows[] = {
		{ "new", 1, 1 }, { "planned", 1, 0 }, { "replaying", 0, 0 }, { "done", 0, 0 }, { "no effect", 0, 0 },
		{ "failed again", 1, 1 }, { "set aside", 1, 0 }, { "discarded", 0, 0 },
	};
	struct place *place = *state;

	keep_simple(place, 0, &type_mismatch);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		set_state(place, 1, rows[i].word);
		counts_are(place, "shop.orders", rows[i].open, rows[i].needs);
		counts_are(place, NULL, rows[i].open, rows[i].needs);
		counts_are(place, "shop.other", 0, 0);
		assert_int_equal(look(place, LIST, chosen(0, rows[i].word)), 1);
		member_is(place, 0, "state", rows[i].word);
		assert_int_equal(look(place, GROUPS, chosen(0, rows[i].word)), 1);
		member_is(place, 0, "state", rows[i].word);
	}
	assert_int_equal(look(place, LIST, chosen(0, "new")), 0);
	assert_int_equal(look(place, GROUPS, chosen(0, "new")), 0);
}

static void group_shows_its_most_urgent_state(void **state)
{
	struct place *place = *state;

	for (uint64_t i = 0; i < 3; i++)
		keep_simple(place, i, &type_mismatch);
	set_state(place, 1, "done");
	set_state(place, 2, "failed again");
	look(place, GROUPS, (struct dlq_filter){ 0 });
	member_is(place, 0, "state", "failed again");
	member_is_number(place, 0, "count", 3);
	look(place, GROUPS, chosen(0, "done"));
	member_is_number(place, 0, "count", 1);
}

static void unknown_words_and_numbers_are_refused(void **state)
{
	struct place *place = *state;
	struct dlq_filter filter = { .job = "orders", .id = 5 };
	unsigned states;
	struct error err = { 0 };

	assert_false(dlq_show(place->dlq, &filter, take_line, place, &err));
	assert_string_equal(err.code, "letter_unknown");
	assert_false(dlq_bytes(place->dlq, 5, place->folder, add_piece, NULL, &err));
	assert_string_equal(err.code, "letter_unknown");
	assert_false(dlq_set_state(place->dlq, 5, "done", &err));
	assert_string_equal(err.code, "letter_unknown");
	assert_false(dlq_set_state(place->dlq, 5, "finished", &err));
	assert_string_equal(err.code, "bad_state");
	assert_false(dlq_states_read("new,no_effect", &states, &err));
	assert_string_equal(err.code, "bad_state");
}

static void done_letter_met_again_has_failed_again(void **state)
{
	static const struct {
		const char *before;
		const struct refusal *why;
		const char *after;
	} rows[] = {
		{ "new", &type_mismatch, "new" },
		{ "set aside", &type_mismatch, "set aside" },
		{ "done", &type_mismatch, "failed again" },
		{ "discarded", &type_mismatch, "discarded" },
		{ "discarded", &unknown_column, "new" },
		{ "set aside", &unknown_column, "set aside" },
		{ "done", &unknown_column, "new" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct place *place = *state;

		keep_simple(place, i, &type_mismatch);
		set_state(place, (int64_t)i + 1, rows[i].before);
		keep_simple(place, i, rows[i].why);
		look(place, LIST, (struct dlq_filter){ .id = (int64_t)i + 1 });
		member_is(place, 0, "state", rows[i].after);
		member_is(place, 0, "code", rows[i].why->code);
	}
}

static void first_letter_is_the_oldest_that_needs_you(void **state)
{
	struct place *place = *state;
	struct dlq_filter filter = { .job = "orders" };
	struct error err = { 0 };
	char *json;

	assert_null(dlq_first_letter(place->dlq, &filter, "shop.orders", &err));
	for (uint64_t i = 0; i < 3; i++)
		keep_simple(place, i, &type_mismatch);
	set_state(place, 1, "done");
	json = dlq_first_letter(place->dlq, &filter, "shop.orders", &err);
	assert_non_null(json);
	assert_non_null(strstr(json, "{\"id\":2,\"job\":\"orders\""));
	free(json);
	assert_null(dlq_first_letter(place->dlq, &filter, "shop.other", &err));
	assert_int_equal(err.kind, ERROR_NONE);
}

static void key_change_names_the_refused_half(void **state)
{
	struct place *place = *state;
	struct message *m = message_at(place, 0, SPAN("{}"), NULL);
	char *text;

	m->fate = MESSAGE_OPEN;
	m->refusal = &type_mismatch;
	m->key = SPAN("ordering");
	for (int i = 0; i < 2; i++) {
		struct record *r = batch_add_record(place->batch, m);

		r->verdict = i ? VERDICT_REFUSED : VERDICT_WRITTEN;
		r->position[POSITION_BYTES - 1] = (unsigned char)i;
		r->key = SPAN("\1\1" "7");
		r->primary_key = SPAN("{\"id\":7}");
	}
	keep(place, m, "shop.orders");
	look(place, LIST, (struct dlq_filter){ 0 });
	member_is(place, 0, "key", "{\"id\":7}");
	member_is(place, 0, "ordering_key", "ordering");
	text = json_dumps(member(place, 0, "ordinals"), JSON_COMPACT);
	assert_string_equal(text, "[1]");
	free(text);
	place->batch->records[0].verdict = VERDICT_REFUSED;
	keep(place, m, "shop.orders");
	look(place, LIST, (struct dlq_filter){ 0 });
	text = json_dumps(member(place, 0, "ordinals"), JSON_COMPACT);
	assert_string_equal(text, "[0,1]");
	free(text);
}

static void ask_newer(void *context, struct span table, struct letter_question *questions, size_t count)
{
	*(size_t *)context += count;
	assert_true(span_is(table, "shop.orders") || span_is(table, "shop.items"));
	for (size_t i = 0; i < count; i++) {
		struct letter_question question = questions[i];

		assert_int_equal(question.position[0], 3);
		question.is_newer = span_equal(question.key, SPAN("\1\1" "7"));
		questions[i] = questions[count - 1 - i]; /* the order is theirs */
		questions[count - 1 - i] = question;
	}
}

static void keep_with_key(struct place *place, uint64_t at, struct span key, const char *table)
{
	struct message *m = message_at(place, at, SPAN("{}"), &type_mismatch);
	struct record *r;

	m->fate = MESSAGE_OPEN;
	r = batch_add_record(place->batch, m);
	r->verdict = VERDICT_REFUSED;
	r->key = key;
	r->position[0] = 3;
	m->committed_ms = 1700000000123;
	keep(place, m, table);
}

/* once a table and page, and only where it can be known */
static void newer_is_asked_of_a_table_at_once(void **state)
{
	static const bool is_newer[] = { true, false, false, true, false };
	struct place *place = *state;
	size_t asked = 0;

	keep_with_key(place, 0, SPAN("\1\1" "7"), "shop.orders");
	keep_simple(place, 1, &type_mismatch);
	keep_with_key(place, 2, SPAN("\1\1" "8"), "shop.orders");
	keep_with_key(place, 3, SPAN("\1\1" "7"), "shop.items");
	keep_with_key(place, 4, SPAN("\1\1" "7"), "-");
	assert_int_equal(look(place, LIST, (struct dlq_filter){ .ask_newer = ask_newer, .context = &asked }), 5);
	assert_int_equal(asked, 3);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(json_is_true(member(place, i, "newer")), is_newer[i]);
		assert_int_equal(json_is_null(member(place, i, "newer")), i == 1 || i == 4); /* no key, no table: nobody can know */
	}
	member_is(place, 0, "commit", "2023-11-14T22:13:20.123000Z");
	assert_true(json_is_null(member(place, 1, "commit")));
}

static void parked_messages_come_back_in_order(void **state)
{
	static const struct refusal why = { "write", "name_collision", "two tables with one name", { NULL, 0 }, { NULL, 0 } };
	const struct attribute attrs[] = { { SPAN("a"), SPAN("1\0") }, { SPAN("a"), SPAN("") } };
	struct place *place = *state;
	struct error err = { 0 };
	int64_t id = 0, first, ids[3];
	json_t *other = json_pack("[s]", "shop.other");
	uint64_t count, bytes;

	assert_true(dlq_begin(place->dlq, &err));
	for (uint64_t i = 0; i < 3; i++) {
		struct message *m = message_at(place, 30 - i, i == 1 ? SPAN("\xff\0") : SPAN("{}"), NULL);

		m->attrs = attrs;
		m->attr_count = 2;
		m->publish = SPAN("2026-01-05T03:10:00.123Z");
		assert_true(dlq_park(place->dlq, m, "shop.orders", &why, NULL, &err));
		assert_true(dlq_park(place->dlq, m, "shop.orders", &why, NULL, &err));
	}
	assert_true(dlq_park(place->dlq, message_at(place, 40, SPAN("x"), NULL), "shop.other", &why, NULL, &err));
	assert_true(dlq_commit(place->dlq, &err));
	assert_true(dlq_parked(place->dlq, "shop.orders", &count, &bytes, &err));
	assert_int_equal(count, 3);
	assert_int_equal(bytes, 6);

	batch_reset(place->batch);
	assert_true(dlq_unpark_begin(place->dlq, 0, other, &first, &err));
	json_decref(other);
	for (size_t i = 0; i < 3; i++) {
		assert_true(dlq_unpark_next(place->dlq, place->batch, &id, &err));
		assert_true(id > 0);
		ids[i] = id;
	}
	assert_int_equal(first, ids[0]);
	assert_true(dlq_unpark_next(place->dlq, place->batch, &id, &err));
	assert_int_equal(id, 0);
	dlq_unpark_end(place->dlq);
	assert_int_equal(place->batch->message_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct message *m = &place->batch->messages[i];

		assert_int_equal(m->offset, 30 - i);
		assert_int_equal(m->line, 31 - i);
		assert_true(span_equal(m->body, i == 1 ? SPAN("\xff\0") : SPAN("{}")));
		assert_int_equal(m->attr_count, 2);
		assert_true(span_equal(m->attrs[0].value, SPAN("1\0")));
		assert_true(span_is(m->attrs[1].name, "a") && m->attrs[1].value.len == 0);
		assert_true(span_is(m->publish, "2026-01-05T03:10:00.123Z"));
		assert_true(dlq_unpark_done(place->dlq, ids[i], &err));
	}
	assert_true(dlq_parked(place->dlq, NULL, &count, &bytes, &err));
	assert_int_equal(count, 1);
	assert_int_equal(bytes, 1);
}

static void park_some(struct place *place, uint64_t from, uint64_t count, const char *table)
{
	struct error err = { 0 };

	assert_true(dlq_begin(place->dlq, &err));
	for (uint64_t i = from; i < from + count; i++) {
		assert_true(dlq_park(place->dlq, message_at(place, i, SPAN("{}"), NULL), table, NULL, NULL, &err));
		if (i % 1000 == 0)
			batch_reset(place->batch);
	}
	assert_true(dlq_commit(place->dlq, &err));
	batch_reset(place->batch);
}

/* from one free message to the next, however many of others lie between, before and behind */
static void parked_messages_of_tables_that_are_left_out_are_stepped_over(void **state)
{
	static const int64_t free_ids[] = { 6001, 6003, 10004 };
	struct place *place = *state;
	struct error err = { 0 };
	json_t *held = json_pack("[s]", "shop.\xc3\xa9\"x");
	int64_t first, id, after = 0;
	size_t found = 0;

	park_some(place, 0, 6000, "shop.\xc3\xa9\"x");
	park_some(place, 6000, 1, "shop.a");
	park_some(place, 6001, 1, "shop.\xc3\xa9\"x");
	park_some(place, 6002, 1, "shop.b");
	park_some(place, 6003, 4000, "shop.\xc3\xa9\"x");
	park_some(place, 10003, 1, "shop.a");
	park_some(place, 10004, 2000, "shop.\xc3\xa9\"x");
	while (assert_true(dlq_unpark_begin(place->dlq, after, held, &first, &err)), first) {
		assert_int_equal(first, free_ids[found]);
		while (assert_true(dlq_unpark_next(place->dlq, place->batch, &id, &err)), id)
			assert_int_equal(id, free_ids[found++]);
		dlq_unpark_end(place->dlq);
		after = first + DLQ_STRETCH - 1;
	}
	assert_int_equal(found, 3);
	assert_int_equal(place->batch->message_count, 3);
	json_decref(held);
}

static void check_parked(struct place *place, const char *table, uint64_t count_is, uint64_t bytes_are)
{
	struct error err = { 0 };
	uint64_t count, bytes;

	assert_true(dlq_parked(place->dlq, table, &count, &bytes, &err));
	assert_int_equal(count, count_is);
	assert_int_equal(bytes, bytes_are);
}

/* Sums that are stored at the end are those that are stored message by message, also behind a rollback. */
/* Parks messages at places from..from+count, each third in shop.other, as a batch does. */
static void park_batch(struct place *place, uint64_t from, size_t count, bool is_many)
{
	static const struct refusal why = { "write", "paused", "the table is paused", { NULL, 0 }, { NULL, 0 } };
	static const char *const tables[] = { "shop.orders", "shop.other" };
	struct error err = { 0 };
	struct message *first = &place->batch->messages[place->batch->message_count];

	for (size_t i = 0; i < count; i++)
		message_at(place, from + i, SPAN("{}"), NULL);
	assert_true(dlq_park_begin(place->dlq, first, first + count - 1, is_many, &err));
	for (size_t i = 0; i < count; i++)
		assert_true(dlq_park(place->dlq, first + i, tables[i % 3 == 0], &why, NULL, &err));
}

static void end_parking(struct place *place)
{
	struct error err = { 0 };

	assert_true(dlq_park_end(place->dlq, &err) && dlq_commit(place->dlq, &err));
}

/* Also when the same batch comes again: then each is looked for by itself. */
static void many_parked_messages_are_summed_up_once(void **state)
{
	static const struct refusal why = { "write", "paused", "the table is paused", { NULL, 0 }, { NULL, 0 } };
	struct place *place = *state;
	struct error err = { 0 };

	assert_true(dlq_begin(place->dlq, &err));
	park_batch(place, 100, 9, true);
	dlq_rollback(place->dlq);
	check_parked(place, NULL, 0, 0);
	for (int round = 0; round < 4; round++) {
		assert_true(dlq_begin(place->dlq, &err));
		park_batch(place, 100, 9, round != 2);
		end_parking(place);
		check_parked(place, NULL, 9, 18);
	}
	check_parked(place, "shop.orders", 6, 12);
	assert_true(dlq_begin(place->dlq, &err));
	assert_true(dlq_park(place->dlq, message_at(place, 200, SPAN("one"), NULL), "shop.orders", &why, NULL, &err));
	assert_true(dlq_unpark_done(place->dlq, 1, &err));
	assert_true(dlq_commit(place->dlq, &err));
	check_parked(place, "shop.orders", 7, 15);
	check_parked(place, "shop.other", 2, 4);
}

static void check_back(struct place *place, const uint64_t *offsets, size_t count)
{
	struct error err = { 0 };
	int64_t after = 0, first, id;

	batch_reset(place->batch);
	while (assert_true(dlq_unpark_begin(place->dlq, after, NULL, &first, &err)), first) {
		while (assert_true(dlq_unpark_next(place->dlq, place->batch, &id, &err)), id)
			assert_int_equal(place->batch->messages[place->batch->message_count - 1].offset, offsets[place->batch->message_count - 1]);
		dlq_unpark_end(place->dlq);
		after = first + DLQ_STRETCH - 1;
	}
	assert_int_equal(place->batch->message_count, count);
}

/* Numbers go on, whether messages were stored together or one by one, and so does the order in which they come back. */
static void messages_that_were_parked_together_come_back_among_the_others(void **state)
{
	uint64_t offsets[24];
	struct place *place = *state;
	struct error err = { 0 };
	const char *code, *sentence;

	for (uint64_t i = 0; i < 24; i++)
		offsets[i] = 300 - i / 4 * 10 + i % 4;
	for (uint64_t i = 0; i < 6; i++) {
		assert_true(dlq_begin(place->dlq, &err));
		park_batch(place, 300 - i * 10, 4, i % 3 != 1);
		end_parking(place);
	}
	assert_true(dlq_parked_why(place->dlq, "shop.other", &code, &sentence));
	assert_string_equal(code, "paused");
	assert_string_equal(sentence, "the table is paused");
	check_back(place, offsets, 24);
	check_parked(place, NULL, 24, 48);
}

/* A run died behind what was parked together: what the source gives again is forgotten, the rest is there. */
static void of_messages_that_were_parked_together_the_last_are_forgotten(void **state)
{
	static const uint64_t offsets[] = { 0, 1, 2, 3, 4, 30 };
	struct place *place = *state;
	struct error err = { 0 };
	json_t *further = json_pack("{sI}", "shop.other", (json_int_t)31);

	assert_true(dlq_begin(place->dlq, &err));
	park_batch(place, 0, 9, true);
	end_parking(place);
	assert_true(dlq_begin(place->dlq, &err));
	park_batch(place, 30, 9, true);
	end_parking(place);
	assert_true(dlq_unpark_forget(place->dlq, SPAN("feed-1"), 5, NULL, &err));
	check_back(place, offsets, 5);
	check_parked(place, "shop.other", 2, 4);
	assert_true(dlq_begin(place->dlq, &err));
	park_batch(place, 30, 9, true);
	end_parking(place);
	assert_true(dlq_unpark_forget(place->dlq, SPAN("feed-1"), 5, further, &err));
	json_decref(further);
	check_back(place, offsets, 6);
}

static void check_same(const struct message *got, const struct message *want)
{
	assert_true(span_equal(got->id, want->id) && span_equal(got->key, want->key) && span_equal(got->publish, want->publish));
	assert_true(span_equal(got->body, want->body) && span_equal(got->kept, want->kept));
	assert_int_equal(got->body_is_null, want->body_is_null);
	assert_int_equal(got->line, want->line);
	assert_int_equal(got->received_us, want->received_us);
	assert_int_equal(got->attr_count, want->attr_count);
	for (size_t i = 0; i < got->attr_count; i++)
		assert_true(span_equal(got->attrs[i].name, want->attrs[i].name) && span_equal(got->attrs[i].value, want->attrs[i].value));
	assert_int_equal(got->big != NULL, want->big != NULL);
	if (got->big) {
		assert_int_equal(got->big->size, want->big->size);
		assert_string_equal(got->big->sha256, want->big->sha256);
	}
}

/* Every byte of a message, and a body that fills what is stored together. */
static void messages_that_were_parked_together_are_whole(void **state)
{
	static char large[400000];
	static const struct attribute attrs[] = { { SPAN("a"), SPAN("1\0") }, { SPAN("a"), SPAN("") } };
	static const struct big_body big = { 5000000000, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" };
	struct place *place = *state;
	struct error err = { 0 };
	struct message sent[5], *m;
	int64_t id;

	memset(large, 'x', sizeof(large));
	for (uint64_t i = 0; i < 5; i++) {
		m = message_at(place, 50 + i, i == 1 ? span_make(large, sizeof(large)) : SPAN("\xff\0"), NULL);
		m->attrs = attrs;
		m->attr_count = i < 3 ? 2 : 0;
		m->id = i ? SPAN("41") : (struct span){ 0 };
		m->key = i == 2 ? SPAN("k\0") : (struct span){ 0 };
		m->publish = i == 3 ? SPAN("2026-01-05T03:10:00.123Z") : (struct span){ 0 };
		m->kept = i == 4 ? SPAN("kept") : (struct span){ 0 };
		m->big = i == 3 ? &big : NULL;
		m->body_is_null = i == 4;
		sent[i] = *m;
	}
	assert_true(dlq_begin(place->dlq, &err) && dlq_park_begin(place->dlq, m - 4, m, true, &err));
	for (size_t i = 0; i < 5; i++)
		assert_true(dlq_park(place->dlq, m - 4 + i, "shop.orders", NULL, NULL, &err));
	end_parking(place);
	check_parked(place, NULL, 5, sizeof(large) + 3 * 2 + 5000000000 + 4);
	batch_reset(place->batch);
	assert_true(dlq_unpark_begin(place->dlq, 0, NULL, &id, &err));
	for (size_t i = 0; i < 5; i++) {
		assert_true(dlq_unpark_next(place->dlq, place->batch, &id, &err));
		check_same(&place->batch->messages[i], &sent[i]);
	}
	dlq_unpark_end(place->dlq);
}

/* What is kept beside a message takes room as its body does, whichever way it is summed up. */
static void what_is_kept_beside_parked_messages_counts(void **state)
{
	static const struct refusal why = { "write", "table_waits", "nothing enters the table", { NULL, 0 }, { NULL, 0 } };
	struct place *place = *state;
	struct error err = { 0 };

	for (uint64_t round = 0; round < 2; round++) {
		struct message *m = message_at(place, 300 + round, SPAN("{}"), NULL);

		m->kept = SPAN("0123456789");
		assert_true(dlq_begin(place->dlq, &err));
		if (round)
			assert_true(dlq_park_begin(place->dlq, m, m, true, &err));
		assert_true(dlq_park(place->dlq, m, "shop.orders", &why, NULL, &err));
		assert_true(!round || dlq_park_end(place->dlq, &err));
		assert_true(dlq_commit(place->dlq, &err));
		check_parked(place, "shop.orders", round + 1, (round + 1) * 12);
	}
	assert_true(dlq_unpark_done(place->dlq, 1, &err));
	check_parked(place, "shop.orders", 1, 12);
}

static void parked_message_that_is_refused_later_keeps_its_origin(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	struct message *m;
	int64_t id;

	keep_simple(place, 7, &type_mismatch);
	assert_true(dlq_begin(place->dlq, &err));
	assert_true(dlq_park(place->dlq, message_at(place, 8, SPAN("{}"), NULL), "shop.orders", NULL, NULL, &err));
	assert_true(dlq_commit(place->dlq, &err));

	open_store(place, DLQ_WRITE, "feed-2");
	keep_simple(place, 8, &type_mismatch);
	batch_reset(place->batch);
	assert_true(dlq_unpark_begin(place->dlq, 0, NULL, &id, &err) && dlq_unpark_next(place->dlq, place->batch, &id, &err));
	dlq_unpark_end(place->dlq);
	m = &place->batch->messages[0];
	m->refusal = &type_mismatch;
	m->fate = MESSAGE_REFUSED;
	keep(place, m, "shop.orders");
	assert_int_equal(look(place, LIST, (struct dlq_filter){ 0 }), 3);
}

/* by what the letters say, backwards and from the middle, over more than the numbers that are found at once */
static void choice_is_listed_in_the_order_of_numbers(void **state)
{
	static const char *const tables[] = { "shop.orders", "shop.items", "-" };
	struct place *place = *state;
	struct error err = { 0 };
	struct dlq_filter filter = { 0 };
	const int64_t groups[] = { 2, 4 };
	const int letters = 6000;
	int64_t last = 0;

	assert_true(dlq_begin(place->dlq, &err));
	for (int i = 0; i < letters; i++) {
		batch_reset(place->batch);
		assert_true(dlq_keep(place->dlq, place->batch,
		                     message_at(place, (uint64_t)i, SPAN("{}"), i % 2 ? &type_mismatch : &unknown_column),
		                     tables[i % 3], &err));
	}
	assert_true(dlq_commit(place->dlq, &err));
	assert_int_equal(look(place, LIST, (struct dlq_filter){ .choice = { .table = "shop.items" } }), letters / 3);
	for (size_t i = 0; i < (size_t)letters / 3; i++) {
		member_is(place, i, "table", "shop.items");
		assert_true(json_integer_value(member(place, i, "id")) > last);
		last = json_integer_value(member(place, i, "id"));
	}
	assert_int_equal(look(place, LIST, (struct dlq_filter){ .choice = { .table = "items", .code = "type_mismatch" } }),
	                 letters / 6);
	assert_int_equal(look(place, LIST, (struct dlq_filter){ .choice = { .table = "tems" } }), 0);
	filter.choice = (struct letter_choice){ .groups = groups, .group_count = 2, .states = 1 };
	assert_int_equal(look(place, LIST, filter), letters / 3);
	filter.before = 3001;
	assert_int_equal(look(place, LIST, filter), letters / 6);
	assert_true(json_integer_value(member(place, 0, "id")) <= 3000);
	assert_true(json_integer_value(member(place, 0, "id")) > json_integer_value(member(place, 1, "id")));
	filter.before = 0;
	filter.after = 3000;
	assert_int_equal(look(place, LIST, filter), letters / 6);
	filter.choice.states = 1u << 3;
	assert_int_equal(look(place, LIST, filter), 0);
	filter.choice = (struct letter_choice){ .groups = groups, .group_count = 0 };
	assert_int_equal(look(place, LIST, filter), 0);
	assert_int_equal(look(place, GROUPS, (struct dlq_filter){ .choice = { .table = "orders" } }), 2);
	member_is_number(place, 0, "count", letters / 6);
	assert_true(dlq_discard(place->dlq, &(struct letter_choice){ .table = "items", .code = "type_mismatch" }, 0,
	                        (uint64_t)letters / 6, &err));
	assert_int_equal(look(place, LIST, chosen(0, "discarded")), letters / 6);
	counts_are(place, "shop.items", (uint64_t)letters / 6, (uint64_t)letters / 6);
}

/* one transaction of many letters: a page is 256 */
static void long_list_is_complete_and_ascending(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	const int letters = 100000;

	assert_true(dlq_begin(place->dlq, &err));
	for (int i = 0; i < letters; i++) {
		struct message *m;

		batch_reset(place->batch);
		m = message_at(place, (uint64_t)i, SPAN("{}"), i % 100 ? &type_mismatch : &unknown_column);
		assert_true(dlq_keep(place->dlq, place->batch, m, "shop.orders", &err));
	}
	assert_true(dlq_commit(place->dlq, &err));
	assert_int_equal(look(place, LIST, (struct dlq_filter){ 0 }), letters);
	for (int i = 0; i < letters; i++)
		assert_int_equal(json_integer_value(json_object_get(json_array_get(place->lines, (size_t)i), "id")), i + 1);
	assert_int_equal(look(place, LIST, chosen(1, NULL)), letters / 100);
	place->wanted = 300;
	assert_int_equal(look(place, LIST, (struct dlq_filter){ 0 }), 300);
	look(place, GROUPS, (struct dlq_filter){ 0 });
	member_is_number(place, 0, "count", letters / 100);
	member_is_number(place, 1, "count", letters - letters / 100);
}

static void stream_that_invents_columns_makes_no_group_a_letter(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	const int groups = 10000;

	assert_true(dlq_begin(place->dlq, &err));
	for (int i = 0; i < groups + 50; i++) {
		struct refusal why = unknown_column;
		char name[16];

		snprintf(name, sizeof(name), "c%d", i);
		why.column = span_of(name);
		batch_reset(place->batch);
		assert_true(dlq_keep(place->dlq, place->batch, message_at(place, (uint64_t)i, SPAN("{}"), &why),
		                     i == groups + 1 ? "shop.items" : "shop.orders", &err));
	}
	assert_true(dlq_commit(place->dlq, &err));
	assert_int_equal(look(place, GROUPS, (struct dlq_filter){ 0 }), groups + 1);
	member_is(place, (size_t)groups, "code", "unknown_column");
	member_is(place, (size_t)groups, "table", "-");
	member_is_number(place, (size_t)groups, "count", 50);
	counts_are(place, "shop.orders", (uint64_t)groups + 49, (uint64_t)groups + 49);
	/* What the group does not say its letters say. */
	assert_int_equal(look(place, GROUPS, (struct dlq_filter){ .choice = { .table = "items" } }), 1);
	member_is_number(place, 0, "count", 1);
	assert_int_equal(look(place, LIST, (struct dlq_filter){ .choice = { .table = "items" } }), 1);
	member_is_number(place, 0, "id", groups + 2);
}

static void timeline_and_notes_are_kept_once(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	const struct column columns[] = { { .name = SPAN("id"), .source_name = SPAN("id"), .key_ordinal = 1 } };
	const struct table_schema schema = { .version = 2, .count = 1, .columns = columns };
	const struct message *by = message_at(place, 5, SPAN("{}"), NULL);
	const struct schema_change added = { .schema = &schema, .why = "new column id", .steps = "[{\"column\":\"id\"}]" };
	const struct schema_change dropped = { .why = "dropped" };
	char *json;

	for (int i = 0; i < 2; i++) {
		assert_true(dlq_schema_changed(place->dlq, "shop.orders", &added, by, &err));
		assert_true(dlq_note(place->dlq, "shop.orders", SPAN("until"), "stored_as_null", 6, "values outside", &err));
	}
	assert_true(dlq_schema_changed(place->dlq, "shop.orders", &dropped, NULL, &err));
	json = dlq_timeline_json(place->dlq, "shop.orders", &err);
	json_decref(place->lines);
	assert_non_null(place->lines = json_loads(json, 0, NULL));
	free(json);
	assert_int_equal(json_array_size(place->lines), 2);
	member_is(place, 0, "change", "new column id");
	member_is_number(place, 0, "version", 2);
	assert_int_equal(json_array_size(member(place, 0, "columns")), 1);
	assert_int_equal(json_integer_value(json_object_get(member(place, 0, "source"), "offset")), 5);
	assert_true(json_is_null(member(place, 1, "source")));
	assert_int_equal(json_array_size(member(place, 0, "steps")), 1);
	assert_int_equal(json_array_size(member(place, 1, "steps")), 0);

	json = dlq_notes_json(place->dlq, "shop.orders", &err);
	json_decref(place->lines);
	assert_non_null(place->lines = json_loads(json, 0, NULL));
	free(json);
	assert_int_equal(json_array_size(place->lines), 1);
	member_is_number(place, 0, "count", 12);
	member_is(place, 0, "code", "stored_as_null");
	member_is(place, 0, "column", "until");
	json = dlq_notes_json(place->dlq, "shop.other", &err);
	assert_string_equal(json, "[]");
	free(json);
}

static void identity_and_job_state_survive_a_restart(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	char incarnation[64], word[32], code[40], sentence[512];

	assert_true(dlq_job_state(place->dlq, word, code, sentence, &err));
	assert_string_equal(word, "");
	snprintf(incarnation, sizeof(incarnation), "%s", dlq_incarnation(place->dlq));
	assert_int_equal(strlen(incarnation), 32);
	assert_int_equal(strspn(incarnation, "0123456789abcdef"), 32);
	assert_true(dlq_set_job_state(place->dlq, "needs you", "feed_changed", "the feed is another file", &err));
	open_store(place, DLQ_READ, "feed-1");
	assert_string_equal(dlq_incarnation(place->dlq), incarnation);
	assert_true(dlq_job_state(place->dlq, word, code, sentence, &err));
	assert_string_equal(word, "needs you");
	assert_string_equal(code, "feed_changed");
	assert_string_equal(sentence, "the feed is another file");
}

static void reader_looks_while_a_writer_keeps(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	struct dlq *reader = dlq_open(place->path, DLQ_READ, &err);
	uint64_t open, needs;

	assert_non_null(reader);
	assert_true(dlq_begin(place->dlq, &err));
	assert_true(dlq_keep(place->dlq, place->batch, message_at(place, 0, SPAN("{}"), &type_mismatch), "-", &err));
	assert_true(dlq_open_count(reader, NULL, &open, &needs, &err));
	assert_int_equal(open, 0);
	assert_true(dlq_commit(place->dlq, &err));
	assert_true(dlq_open_count(reader, NULL, &open, &needs, &err));
	assert_int_equal(open, 1);
	dlq_close(reader);
}

static void list_remembered(void *context, struct span table, struct span identity, int64_t level)
{
	text_add_format(context, "%.*s/%.*s/%d ", SPAN_ARG(table), SPAN_ARG(identity), (int)level);
}

static void assert_remembered(struct place *place, const char *dataset, const char *expected)
{
	struct error err = { 0 };
	OWNED(text) all = text_new(1024);

	assert_true(dlq_remembered(place->dlq, dataset, list_remembered, all, &err));
	assert_string_equal(all->at, expected);
}

static void what_is_remembered_survives_a_restart_and_is_sorted(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };

	assert_remembered(place, "shop", "");
	assert_true(dlq_remember(place->dlq, "shop", "orders", "old", 7, &err));
	assert_true(dlq_remember(place->dlq, "shop", "orders", "new", 3, &err));
	assert_true(dlq_remember(place->dlq, "shop", "", "", 12, &err));
	assert_true(dlq_remember(place->dlq, "shop", "carts", "c", 1, &err));
	assert_true(dlq_remember(place->dlq, "shop_log", "", "", 13, &err));
	open_store(place, DLQ_WRITE, "feed-1");
	assert_remembered(place, "shop", "//12 carts/c/1 orders/new/3 ");
	assert_true(dlq_forget(place->dlq, "shop", "", &err));
	assert_remembered(place, "shop", "carts/c/1 orders/new/3 ");
	assert_remembered(place, "shop_log", "//13 ");
}

static void missing_and_damaged_stores_are_said(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	char path[160];

	snprintf(path, sizeof(path), "%s/none.db", place->folder);
	assert_null(dlq_open(path, DLQ_READ, &err));
	assert_string_equal(err.code, "no_such_file");
	dlq_close(place->dlq);
	place->dlq = NULL;
	assert_int_equal(truncate(place->path, 5000), 0);
	assert_null(dlq_open(place->path, DLQ_WRITE, &err));
	assert_string_equal(err.code, "state_damaged");
	assert_int_equal(err.kind, ERROR_BUG);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, place_make, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(letter_keeps_bytes_attributes_and_reason),
		TEST(nul_and_newline_are_text),
		TEST(control_and_bidi_characters_are_escaped),
		TEST(bytes_that_are_no_text_are_base64),
		TEST(null_and_empty_bodies_differ),
		TEST(long_payload_is_cut_but_bytes_are_whole),
		TEST(line_too_long_to_hold_shows_its_head_and_gives_all),
		TEST(monstrous_key_does_not_stop_a_listing),
		TEST(what_is_shown_of_a_letter_fits_into_a_line),
		TEST(envelope_has_every_attribute),
		TEST(message_met_twice_is_one_letter),
		TEST(same_place_in_another_feed_is_another_letter),
		TEST(nothing_is_left_after_a_rollback),
		TEST(letters_that_fail_alike_are_one_group),
		TEST(letter_that_fails_otherwise_moves_to_the_other_group),
		TEST(states_decide_what_is_open_and_who_needs_you),
		TEST(group_shows_its_most_urgent_state),
		TEST(unknown_words_and_numbers_are_refused),
		TEST(done_letter_met_again_has_failed_again),
		TEST(first_letter_is_the_oldest_that_needs_you),
		TEST(key_change_names_the_refused_half),
		TEST(newer_is_asked_of_a_table_at_once),
		TEST(parked_messages_come_back_in_order),
		TEST(parked_messages_of_tables_that_are_left_out_are_stepped_over),
		TEST(many_parked_messages_are_summed_up_once),
		TEST(messages_that_were_parked_together_come_back_among_the_others),
		TEST(of_messages_that_were_parked_together_the_last_are_forgotten),
		TEST(messages_that_were_parked_together_are_whole),
		TEST(what_is_kept_beside_parked_messages_counts),
		TEST(parked_message_that_is_refused_later_keeps_its_origin),
		TEST(choice_is_listed_in_the_order_of_numbers),
		TEST(long_list_is_complete_and_ascending),
		TEST(stream_that_invents_columns_makes_no_group_a_letter),
		TEST(timeline_and_notes_are_kept_once),
		TEST(identity_and_job_state_survive_a_restart),
		TEST(reader_looks_while_a_writer_keeps),
		TEST(what_is_remembered_survives_a_restart_and_is_sorted),
		TEST(missing_and_damaged_stores_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
