/* Bytes to keys: what terminals send, in pieces and with pauses, and names of keys. */
#include "base/text.h"
#include "term/term.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define WHOLE(text) text, sizeof(text) - 1

static void note_event(struct text *out, const struct key_event *event)
{
	char name[KEY_NAME_BYTES];
	static const struct {
		uint32_t code;
		const char *name;
	} others[] = { { KEY_PASTE_, "paste:" }, { KEY_SYNC_, "sync:" }, { KEY_REPORT_, "report:" }, { KEY_MOUSE_, "mouse:" } };

	key_to_name(event->key, name);
	text_add_format(out, "%s%s", out->len ? " " : "", name);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (others[i].code == event->key.code)
			text_add(out, others[i].name);
	}
	text_add_span(out, event->text);
	if (event->key.code == KEY_MOUSE_)
		text_add_format(out, "%d,%d,%d", (int)event->mouse, event->row, event->col);
}

static void drain(struct input *input, int64_t now_ms, struct text *out)
{
	struct key_event event;

	while (input_next(input, now_ms, &event))
		note_event(out, &event);
}

/* The keys of `bytes`, in pieces of `piece`, all at one time; then those that only a pause makes whole. */
static struct text *keys_of(const char *bytes, size_t len, size_t piece)
{
	struct input *input = input_new();
	struct text *out = text_new(1u << 20);

	for (size_t at = 0; at < len; at += piece) {
		input_feed(input, bytes + at, len - at < piece ? len - at : piece, 1000);
		drain(input, 1000, out);
	}
	drain(input, 100000, out);
	assert_int_equal(input_due_ms(input), -1);
	input_free(input);
	return out;
}

static void check(const char *bytes, size_t len, const char *expected)
{
	OWNED(text) whole = keys_of(bytes, len, len);
	OWNED(text) bitwise = keys_of(bytes, len, 1);

	assert_string_equal(whole->at, expected);
	assert_string_equal(bitwise->at, expected);
}

static void characters_and_controls(void **state)
{
	(void)state;
	check(WHOLE("aZ1 ~"), "a Z 1 Space ~");
	check(WHOLE("\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80"), "\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80");
	check(WHOLE("\t\r\x7f\b\0\x01\x1a\x1c\x1d\x1e\x1f\n"),
	      "Tab Enter Backspace Backspace C-Space C-a C-z C-\\ C-] C-^ C-_ Enter");
	check(WHOLE("\xff" "a\xc3" "b\xe6\xbc" "c\xc2\x9b" "d\xed\xa0\x80"), "\ufffd a \ufffd b \ufffd \ufffd c d \ufffd \ufffd \ufffd");
}

static void every_common_form_of_a_key(void **state)
{
	static const struct {
		const char *bytes, *name;
	} forms[] = {
		{ "\033[A", "Up" },        { "\033OA", "Up" },        { "\033[1;5A", "C-Up" },   { "\033[1;2B", "S-Down" },
		{ "\033[1;3C", "M-Right" }, { "\033[1;8D", "C-M-S-Left" }, { "\033O5A", "C-Up" }, { "\033[H", "Home" },
		{ "\033OH", "Home" },      { "\033[1~", "Home" },     { "\033[7~", "Home" },     { "\033[F", "End" },
		{ "\033OF", "End" },       { "\033[4~", "End" },      { "\033[8~", "End" },      { "\033[5~", "PgUp" },
		{ "\033[6~", "PgDn" },     { "\033[6;5~", "C-PgDn" }, { "\033[2~", "Insert" },   { "\033[3~", "Delete" },
		{ "\033[3$", "S-Delete" }, { "\033[7^", "C-Home" },   { "\033[8@", "C-S-End" },  { "\033[a", "S-Up" },
		{ "\033Ob", "C-Down" },    { "\033OP", "F1" },        { "\033[[A", "F1" },       { "\033[11~", "F1" },
		{ "\033[P", "F1" },        { "\033[1;2P", "S-F1" },   { "\033O1;5S", "C-F4" },   { "\033[[E", "F5" },
		{ "\033[15~", "F5" },      { "\033[17~", "F6" },      { "\033[21~", "F10" },     { "\033[23~", "F11" },
		{ "\033[24;3~", "M-F12" }, { "\033[Z", "S-Tab" },     { "\033OM", "Enter" },     { "\033Op", "0" },
		{ "\033Ok", "+" },         { "\033x", "M-x" },        { "\033X", "M-X" },        { "\033\001", "C-M-a" },
		{ "\033\r", "M-Enter" },   { "\033\xc3\xa9", "M-\xc3\xa9" }, { "\033\033[A", "M-Up" }, { "\033\033OB", "M-Down" },
		{ "\033[105;5u", "Tab" },  { "\033[27;5;107~", "C-k" }, { "\033[97;2u", "A" },   { "\033[13;2u", "S-Enter" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		check(forms[i].bytes, strlen(forms[i].bytes), forms[i].name);
}

static void an_unknown_sequence_is_swallowed_whole(void **state)
{
	(void)state;
	check(WHOLE("a\033[99~b\033[?1;2hc\033[1 qd\033[Ie\033[Mq!!f\033[[Zg"), "a b c d e f g");
	check(WHOLE("a\033]0;title\ab\033Pq#1\033\\c\033_Gi=1\033\\d\033]10;rgb:0/0/0\033\\e"), "a b c d e");
	check(WHOLE("a\033[12\033[Ab"), "a Up b");
	check(WHOLE("a\033[12\rb"), "a Enter b");
	check(WHOLE("a\033]0;\033[Ab"), "a Up b");
	check(WHOLE("a\033[12"), "a");
	check(WHOLE("a\033]7717;x"), "a");
}

static void a_sequence_without_end_takes_little_memory_and_no_key(void **state)
{
	OWNED(text) bytes = text_new(100000);

	(void)state;
	text_add(bytes, "a\033[");
	for (int i = 0; i < 20000; i++)
		text_add(bytes, "1;");
	text_add(bytes, "mb\033]0;");
	for (int i = 0; i < 20000; i++)
		text_add(bytes, "q");
	text_add(bytes, "\033\\c");
	check(bytes->at, bytes->len, "a b c");
}

static void a_lone_esc_is_a_key_after_its_delay(void **state)
{
	struct input *input = input_new();
	OWNED(text) out = text_new(1000);

	(void)state;
	input_feed(input, "\033", 1, 1000);
	drain(input, 1000 + INPUT_ESC_MS - 1, out);
	assert_string_equal(out->at, "");
	assert_int_equal(input_due_ms(input), 1000 + INPUT_ESC_MS);
	drain(input, 1000 + INPUT_ESC_MS, out);
	assert_string_equal(out->at, "Esc");
	assert_int_equal(input_due_ms(input), -1);
	input_free(input);
	check(WHOLE("\033\033"), "Esc Esc");
	check(WHOLE("\033["), "M-[");
	check(WHOLE("\033\033x"), "Esc M-x");
}

static void the_delay_of_an_esc_can_be_chosen_within_bounds(void **state)
{
	static const struct {
		int chosen, holds;
	} rows[] = { { 80, 80 }, { 0, 1 }, { -5, 1 }, { 5000, INPUT_ESC_MS_MAX } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct input *input = input_new();
		OWNED(text) out = text_new(1000);

		input_set_esc_ms(input, rows[i].chosen);
		input_feed(input, "\033", 1, 1000);
		assert_int_equal(input_due_ms(input), 1000 + rows[i].holds);
		drain(input, 1000 + rows[i].holds - 1, out);
		assert_string_equal(out->at, "");
		input_feed(input, "[A", 2, 1000 + rows[i].holds - 1);
		drain(input, 1000 + rows[i].holds - 1, out);
		assert_string_equal(out->at, "Up");
		input_free(input);
	}
}

static void bytes_after_a_pause_are_not_joined_to_the_esc_before_it(void **state)
{
	struct input *input = input_new();
	OWNED(text) out = text_new(1000);

	(void)state;
	input_feed(input, "\033", 1, 1000);
	input_feed(input, "x", 1, 1100);
	drain(input, 1100, out);
	assert_string_equal(out->at, "Esc x");
	input_free(input);
}

/* On a slow link the Esc of an arrow key comes alone. */
static void an_arrow_that_comes_late_is_no_bracket_and_no_letter(void **state)
{
	struct input *input = input_new();
	OWNED(text) out = text_new(1000);

	(void)state;
	input_feed(input, "\033", 1, 1000);
	drain(input, 1100, out);
	input_feed(input, "[A", 2, 1200);
	drain(input, 1200, out);
	assert_string_equal(out->at, "Esc Up");
	text_clear(out);
	input_feed(input, "\033", 1, 2000);
	drain(input, 2100, out);
	input_feed(input, "[", 1, 2200);
	drain(input, 2200, out);
	assert_string_equal(out->at, "Esc");
	drain(input, 2200 + INPUT_ESC_MS, out);
	assert_string_equal(out->at, "Esc [");
	input_free(input);
	check(WHOLE("[AOA"), "[ A O A");
}

static void a_paste_is_one_event_however_it_is_cut(void **state)
{
	(void)state;
	check(WHOLE("a\033[200~q\r\033[A:\033[201\033[201~b"), "a paste:q\r\033[A:\033[201 b");
	check(WHOLE("\033[200~\033[201~"), "paste:");
	check(WHOLE("\033[200~no end"), "paste:no end");
}

static void a_paste_is_bounded_and_cut_between_characters(void **state)
{
	OWNED(text) bytes = text_new(1u << 20);
	struct input *input = input_new();
	struct key_event event;

	(void)state;
	text_add(bytes, "\033[200~x");
	for (size_t i = 0; i < PASTE_BYTES_MAX; i++)
		text_add(bytes, "\xc3\xa9");
	text_add(bytes, "\033[201~k");
	input_feed(input, bytes->at, bytes->len, 0);
	assert_true(input_next(input, 0, &event));
	assert_int_equal(event.key.code, KEY_PASTE_);
	assert_int_equal(event.text.len, PASTE_BYTES_MAX - 1);
	assert_true(input_next(input, 0, &event));
	assert_int_equal(event.key.code, 'k');
	assert_true(span_is(input_raw(input), "k"));
	input_free(input);
}

static void sync_reports_and_the_mouse(void **state)
{
	(void)state;
	check(WHOLE("\033]7717;tok-1\a\033]7717;tok-2\033\\"), "sync:tok-1 sync:tok-2");
	check(WHOLE("\033]7717;\a\033]7717;a b\a\033]7718;x\a\033]7717;0123456789012345678901234567890123\a"), "");
	check(WHOLE("\033]7717;01234567890123456789012345678901\a"), "sync:01234567890123456789012345678901");
	check(WHOLE("\033[12;40R\033[?62;22c\033[?2004;1$y"), "report:12;40R report:?62;22c report:?2004;1$y");
	check(WHOLE("\033[<0;10;5M\033[<0;10;5m\033[<64;1;1M\033[<65;2;3M\033[<35;1;1M\033[<0;0;5M"), "mouse:0,4,9 mouse:1,0,0 mouse:2,2,1");
}

static void raw_bytes_are_those_of_the_last_key(void **state)
{
	struct input *input = input_new();
	struct key_event event;

	(void)state;
	input_feed(input, "\033[1;5Ax", 7, 0);
	assert_true(input_next(input, 0, &event));
	assert_true(span_is(input_raw(input), "\033[1;5A"));
	assert_true(input_next(input, 0, &event));
	assert_true(span_is(input_raw(input), "x"));
	assert_true(span_is(input_key_text(&event), "x"));
	input_free(input);
}

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16;
}

static void bytes_one_by_one_are_the_keys_of_all_at_once(void **state)
{
	static const char alphabet[] = "\033\033\033[[O]P_0127;;<$^~AMRuZ \\\a\r\x18\xc3\xa9\xff" "200~201~7717;";
	unsigned seed = 7;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char bytes[200];
		size_t len = 1 + next_random(&seed) % (sizeof(bytes) - 1);

		for (size_t i = 0; i < len; i++)
			bytes[i] = alphabet[next_random(&seed) % (sizeof(alphabet) - 1)];
		OWNED(text) whole = keys_of(bytes, len, len);
		OWNED(text) bitwise = keys_of(bytes, len, 1);
		OWNED(text) some = keys_of(bytes, len, 7);

		assert_string_equal(whole->at, bitwise->at);
		assert_string_equal(whole->at, some->at);
	}
}

static void a_name_is_read_as_the_key_it_names(void **state)
{
	static const char *const names[] = { "Space", "Enter", "Esc", "Tab", "S-Tab", "Backspace", "Up", "PgUp", "PgDn", "F1", "F12",
		                             "C-x", "M-x", "C-M-x", "M--", "C-_", "-", ":", "\xc3\xa9", "C-Up", "C-M-S-F5", "C-Space" };
	struct key key;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char again[KEY_NAME_BYTES];

		assert_true(key_parse(span_of(names[i]), &key));
		key_to_name(key, again);
		assert_string_equal(again, names[i]);
	}
	assert_true(key_parse(SPAN("C-I"), &key) && key.code == KEY_TAB_ && !key.mods);
	assert_true(key_parse(SPAN("S-a"), &key) && key.code == 'A' && !key.mods);
	assert_true(key_parse(SPAN("Hash"), &key) && key.code == '#');
}

static void what_is_no_key_has_no_name(void **state)
{
	static const char *const bad[] = { "", "C-", "F0", "F13", "ab", "Escape!", "C-C-x", "\033", "X-a", "down", "\xff", "\xe2\x80\xae" };
	struct key key = { .code = 7 };
	char name[KEY_NAME_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(key_parse(span_of(bad[i]), &key));
	assert_int_equal(key.code, 7);
	key_to_name((struct key){ KEY_PASTE_, KEY_CTRL }, name);
	assert_string_equal(name, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_and_controls),
		cmocka_unit_test(every_common_form_of_a_key),
		cmocka_unit_test(an_unknown_sequence_is_swallowed_whole),
		cmocka_unit_test(a_sequence_without_end_takes_little_memory_and_no_key),
		cmocka_unit_test(a_lone_esc_is_a_key_after_its_delay),
		cmocka_unit_test(the_delay_of_an_esc_can_be_chosen_within_bounds),
		cmocka_unit_test(bytes_after_a_pause_are_not_joined_to_the_esc_before_it),
		cmocka_unit_test(an_arrow_that_comes_late_is_no_bracket_and_no_letter),
		cmocka_unit_test(a_paste_is_one_event_however_it_is_cut),
		cmocka_unit_test(a_paste_is_bounded_and_cut_between_characters),
		cmocka_unit_test(sync_reports_and_the_mouse),
		cmocka_unit_test(raw_bytes_are_those_of_the_last_key),
		cmocka_unit_test(bytes_one_by_one_are_the_keys_of_all_at_once),
		cmocka_unit_test(a_name_is_read_as_the_key_it_names),
		cmocka_unit_test(what_is_no_key_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
