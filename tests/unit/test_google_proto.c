/* Protobuf on the wire: what the encoding guide says, at its edges. Google's own library is asked in tests/e2e/test_google.py. */
#include "google/proto.h"

#include "base/arena.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static bool is_whole(struct span bytes)
{
	struct proto_reader r = proto_open(bytes);
	struct proto_field field;

	while (proto_next(&r, &field))
		;
	return !r.is_broken;
}

static void what_is_written_is_read(void **state)
{
	OWNED(text) t = text_new(1000);
	struct proto_field f;
	struct proto_reader r;

	(void)state;
	proto_put_int(t, 1, -1);
	proto_put_uint(t, 2, UINT64_MAX);
	proto_put_sint(t, 3, INT64_MIN);
	proto_put_bool(t, 4, true);
	proto_put_double(t, 5, -0.5);
	proto_put_float(t, 6, 1.5f);
	proto_put_fixed64(t, 7, 0x0102030405060708);
	proto_put_fixed32(t, 8, 0xdeadbeef);
	proto_put_text(t, 9, "text");
	proto_put_bytes(t, PROTO_NUMBER_MAX, SPAN("\0b"));
	assert_false(t->is_full);
	r = proto_open(text_span(t));
	assert_true(proto_next(&r, &f) && f.number == 1 && proto_int64(&f) == -1 && proto_int32(&f) == -1);
	assert_true(proto_next(&r, &f) && proto_uint64(&f) == UINT64_MAX);
	assert_true(proto_next(&r, &f) && proto_sint64(&f) == INT64_MIN);
	assert_true(proto_next(&r, &f) && proto_bool(&f));
	assert_true(proto_next(&r, &f) && proto_double(&f) == -0.5);
	assert_true(proto_next(&r, &f) && proto_float(&f) == 1.5f);
	assert_true(proto_next(&r, &f) && proto_uint64(&f) == 0x0102030405060708);
	assert_true(proto_next(&r, &f) && proto_uint64(&f) == 0xdeadbeef);
	assert_true(proto_next(&r, &f) && span_is(proto_bytes(&f), "text"));
	assert_true(proto_next(&r, &f) && f.number == PROTO_NUMBER_MAX && span_equal(proto_bytes(&f), SPAN("\0b")));
	assert_false(proto_next(&r, &f));
	assert_false(r.is_broken);
}

/* The examples of the encoding guide. */
static void bytes_are_those_of_the_guide(void **state)
{
	OWNED(text) t = text_new(100);
	size_t mark;

	(void)state;
	proto_put_int(t, 1, 150);
	assert_true(span_equal(text_span(t), SPAN("\x08\x96\x01")));
	text_clear(t);
	proto_put_text(t, 2, "testing");
	assert_true(span_equal(text_span(t), SPAN("\x12\x07testing")));
	text_clear(t);
	mark = proto_begin(t, 3);
	proto_put_int(t, 1, 150);
	proto_end(t, mark);
	assert_true(span_equal(text_span(t), SPAN("\x1a\x03\x08\x96\x01")));
	text_clear(t);
	proto_put_packed(t, 6, (const uint64_t[]){ 3, 270, 86942 }, 3);
	assert_true(span_equal(text_span(t), SPAN("\x32\x06\x03\x8e\x02\x9e\xa7\x05")));
	text_clear(t);
	proto_put_sint(t, 1, -2);
	assert_true(span_equal(text_span(t), SPAN("\x08\x03")));
}

/* The length of a message takes one to three bytes; each time its contents move. */
static void a_message_within_keeps_its_contents_whatever_its_length(void **state)
{
	static const size_t lengths[] = { 0, 1, 124, 125, 126, 127, 128, 16380, 16381, 16382, 16384, 70000 };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		OWNED(text) t = text_new(200000);
		char *filler = memory_alloc(lengths[i] + 1);
		size_t outer = proto_begin(t, 1), inner;
		struct proto_reader a = { 0 }, b, c;
		struct proto_field f;

		for (size_t k = 0; k < lengths[i]; k++)
			filler[k] = (char)(k * 7);
		inner = proto_begin(t, 2);
		proto_put_bytes(t, 3, span_make(filler, lengths[i]));
		proto_end(t, inner);
		proto_put_int(t, 4, 7);
		proto_end(t, outer);
		a = proto_open(text_span(t));
		assert_true(proto_next(&a, &f));
		b = proto_enter(&a, &f);
		assert_true(proto_next(&b, &f) && f.number == 2);
		c = proto_enter(&b, &f);
		assert_true(proto_next(&c, &f) && span_equal(f.bytes, span_make(filler, lengths[i])));
		assert_true(proto_next(&b, &f) && f.number == 4 && proto_int64(&f) == 7);
		assert_false(proto_next(&a, &f) || a.is_broken || b.is_broken || c.is_broken);
		free(filler);
	}
}

static void broken_bytes_are_broken(void **state)
{
	static const struct {
		struct span bytes;
		bool is_whole;
	} cases[] = {
		{ SPAN(""), true },
		{ SPAN("\x08"), false },                                         /* a tag alone */
		{ SPAN("\x08\x96"), false },                                     /* half a varint */
		{ SPAN("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), true },  /* 64 bits */
		{ SPAN("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), false }, /* 65 */
		{ SPAN("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), false },
		{ SPAN("\x08\x80\x00"), true },                                  /* longer than needed is allowed */
		{ SPAN("\x00\x01"), false },                                     /* field 0 */
		{ SPAN("\x0e\x01"), false },                                     /* wire type 6 */
		{ SPAN("\x0f\x01"), false },
		{ SPAN("\xf8\xff\xff\xff\x0f\x01"), true },                      /* the highest number */
		{ SPAN("\x80\x80\x80\x80\x10\x01"), false },                     /* one more */
		{ SPAN("\x12\x02" "a"), false },                                 /* bytes that are not there */
		{ SPAN("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), false },
		{ SPAN("\x0d\x01\x02\x03"), false },
		{ SPAN("\x09\x01\x02\x03\x04\x05\x06\x07"), false },
		{ SPAN("\x0b\x08\x01\x0c"), true },                              /* a group */
		{ SPAN("\x0b\x08\x01"), false },
		{ SPAN("\x0b\x14"), false },                                     /* the end of another */
		{ SPAN("\x0c"), false },
		{ SPAN("\x0b\x13\x0b\x0c\x14\x0c"), true },
		{ SPAN("\x0b\x13\x0c\x14"), false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (is_whole(cases[i].bytes) != cases[i].is_whole)
			fail_msg("case %zu", i);
	}
}

static void nesting_has_an_end(void **state)
{
	char groups[2 * (PROTO_DEPTH + 1)];

	(void)state;
	memset(groups, 0x0b, PROTO_DEPTH);
	memset(groups + PROTO_DEPTH, 0x0c, PROTO_DEPTH);
	assert_true(is_whole(span_make(groups, 2 * PROTO_DEPTH)));
	memset(groups, 0x0b, PROTO_DEPTH + 1);
	memset(groups + PROTO_DEPTH + 1, 0x0c, PROTO_DEPTH + 1);
	assert_false(is_whole(span_make(groups, 2 * (PROTO_DEPTH + 1))));

	/* Messages in messages: the same limit, and the outermost learns of it. */
	struct proto_reader levels[PROTO_DEPTH + 2];
	struct proto_field f = { .wire = WIRE_BYTES, .bytes = SPAN("\x0a\x00") };

	levels[0] = proto_open(SPAN("\x0a\x00"));
	for (int i = 0; i < PROTO_DEPTH; i++) {
		levels[i + 1] = proto_enter(&levels[i], &f);
		assert_false(levels[i + 1].is_broken);
	}
	levels[PROTO_DEPTH + 1] = proto_enter(&levels[PROTO_DEPTH], &f);
	assert_true(levels[PROTO_DEPTH + 1].is_broken && levels[PROTO_DEPTH].is_broken);
	for (int i = PROTO_DEPTH; i > 0; i--)
		assert_false(proto_leave(&levels[i - 1], &levels[i]));
	assert_true(levels[0].is_broken);
}

/* Packed, one by one, and mixed give the same numbers; a value of another type is none. */
static void lists_come_in_both_forms(void **state)
{
	struct span bytes = SPAN("\x08\x05\x0a\x03\x06\xac\x02\x0a\x00\x08\x07\x0d\x01\x00\x00\x00");
	static const uint64_t expected[] = { 5, 6, 300, 7 };
	struct proto_reader r = proto_open(bytes);
	struct proto_field f;
	uint64_t value;
	size_t count = 0;

	(void)state;
	while (proto_next(&r, &f)) {
		size_t cursor = 0;

		while (proto_element(&r, &f, WIRE_VARINT, &cursor, &value)) {
			assert_true(count < 4);
			assert_int_equal(value, expected[count++]);
		}
	}
	assert_int_equal(count, 4);
	assert_false(r.is_broken);

	size_t cursor = 0;

	r = proto_open(SPAN("\x0a\x03\x06\xac\x82"));
	assert_true(proto_next(&r, &f) && proto_element(&r, &f, WIRE_VARINT, &cursor, &value));
	assert_false(proto_element(&r, &f, WIRE_VARINT, &cursor, &value));
	assert_true(r.is_broken);
}

static void what_does_not_fit_makes_the_text_full(void **state)
{
	OWNED(text) t = text_new(130);
	char filler[126] = { 0 };
	size_t mark;

	(void)state;
	mark = proto_begin(t, 1);
	proto_put_bytes(t, 1, span_make(filler, sizeof(filler)));
	assert_false(t->is_full);
	proto_end(t, mark); /* its length would take a second byte */
	assert_true(t->is_full);
	text_clear(t);
	proto_put_bytes(t, 1, span_make(filler, 129));
	assert_true(t->is_full);
	assert_int_equal(t->len, 0);
}

static void times_have_seconds_and_nanos(void **state)
{
	struct proto_reader r = proto_open(SPAN("\x0a\x0d\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x05\x12\x00\x1a\x01\x08"));
	struct proto_time time = { 9, 9 };
	struct proto_field f;

	(void)state;
	assert_true(proto_next(&r, &f) && proto_time(&r, &f, &time));
	assert_true(time.seconds == -1 && time.nanos == 5);
	assert_true(proto_next(&r, &f) && proto_time(&r, &f, &time));
	assert_true(time.seconds == 0 && time.nanos == 0);
	assert_true(proto_next(&r, &f));
	assert_false(proto_time(&r, &f, &time));
	assert_true(r.is_broken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(bytes_are_those_of_the_guide),
		cmocka_unit_test(a_message_within_keeps_its_contents_whatever_its_length),
		cmocka_unit_test(broken_bytes_are_broken),
		cmocka_unit_test(nesting_has_an_end),
		cmocka_unit_test(lists_come_in_both_forms),
		cmocka_unit_test(what_does_not_fit_makes_the_text_full),
		cmocka_unit_test(times_have_seconds_and_nanos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
