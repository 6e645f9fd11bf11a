/* Text from strangers on its way to a terminal, a shell, SQL and JSON. */
#include "base/clean.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

typedef bool writer(struct text *out, struct span text);

struct row {
	const char *in;
	size_t len;
	const char *out; /* NULL: refused */
};

#define ROW(in, out) { in, sizeof(in) - 1, out }

static void rows_check(writer *write, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		OWNED(text) t = text_new(1000);

		text_add(t, "> ");

		bool is_fine = write(t, span_make(rows[i].in, rows[i].len));

		assert_int_equal(is_fine, rows[i].out != NULL);
		assert_string_equal(t->at + 2, rows[i].out ? rows[i].out : "");
	}
}

#define ROWS_CHECK(write, rows) rows_check(write, rows, sizeof(rows) / sizeof((rows)[0]))

static void a_terminal_gets_no_control_characters(void **state)
{
	static const struct row rows[] = {
		ROW("", ""),
		ROW("plain text, Z\xc3\xbcrich \xe2\x9c\x93 \xf0\x9f\x98\x80", "plain text, Z\xc3\xbcrich \xe2\x9c\x93 \xf0\x9f\x98\x80"),
		ROW("\x1b]52;c;aGk=\x07", "\\x1b]52;c;aGk=\\x07"),
		ROW("a\nb\tc\r", "a\\x0ab\\x09c\\x0d"),
		ROW("nul\0nul", "nul\\x00nul"),
		ROW("del\x7f", "del\\x7f"),
		ROW("c1 \xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "c1 \\u0080\\u009b\\u009f\xc2\xa0"),
		ROW("back\\slash", "back\\slash"),
	};

	(void)state;
	ROWS_CHECK(clean_text, rows);
}

static void a_terminal_gets_no_direction_marks(void **state)
{
	static const uint32_t marks[] = { 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e,
	                                  0x2066, 0x2067, 0x2068, 0x2069, 0x061c };
	static const struct row neighbours[] = {
		ROW("\xe2\x80\x90", "\xe2\x80\x90"), /* U+2010 */
		ROW("\xe2\x80\xaf", "\xe2\x80\xaf"), /* U+202F */
		ROW("\xe2\x81\xb0", "\xe2\x81\xb0"), /* U+2070 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		OWNED(text) t = text_new(100);
		char in[8], out[8];
		int len = marks[i] < 0x800
		                  ? snprintf(in, sizeof(in), "%c%c", 0xc0 | (int)(marks[i] >> 6), 0x80 | (int)(marks[i] & 63))
		                  : snprintf(in, sizeof(in), "%c%c%c", 0xe0 | (int)(marks[i] >> 12),
		                             0x80 | (int)(marks[i] >> 6 & 63), 0x80 | (int)(marks[i] & 63));

		snprintf(out, sizeof(out), "\\u%04x", (unsigned)marks[i]);
		assert_true(clean_text(t, span_make(in, (size_t)len)));
		assert_string_equal(t->at, out);
	}
	ROWS_CHECK(clean_text, neighbours);
}

static void a_terminal_gets_nothing_that_cannot_be_seen(void **state)
{
	static const struct row rows[] = {
		ROW("zero\xe2\x80\x8bwidth", "zero\\u200bwidth"),
		ROW("\xe2\x80\x8d\xe2\x80\xa9\xe2\x81\xa5", "\\u200d\\u2029\\u2065"),
		ROW("soft\xc2\xadhyphen", "soft\\u00adhyphen"),
		ROW("\xef\xbb\xbf" "bom", "\\ufeffbom"),
		ROW("\xf3\xa0\x81\xa1", "\\ue0061"),
	};

	(void)state;
	ROWS_CHECK(clean_text, rows);
}

static void a_terminal_gets_no_broken_utf8(void **state)
{
	static const struct row rows[] = {
		ROW("\xff", "\\xff"),
		ROW("a\x9b" "b", "a\\x9bb"),
		ROW("\xc3", "\\xc3"),
		ROW("\xc3(", "\\xc3("),
		ROW("\xc0\xaf", "\\xc0\\xaf"),
		ROW("\xe0\x80\xaf", "\\xe0\\x80\\xaf"),
		ROW("\xed\xa0\x80", "\\xed\\xa0\\x80"),
		ROW("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"),
		ROW("\xf0\x9f\x98", "\\xf0\\x9f\\x98"),
		ROW("\xe2\x82\x1b", "\\xe2\\x82\\x1b"),
	};

	(void)state;
	ROWS_CHECK(clean_text, rows);
}

static void what_is_too_long_is_not_added_in_part(void **state)
{
	static writer *const writers[] = { clean_text, shell_quote, sql_identifier, sql_string, json_quote };

	(void)state;
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		for (size_t limit = 1; limit < 7; limit++) {
			OWNED(text) t = text_new(limit);

			text_add(t, ">");
			assert_false(writers[i](t, SPAN("ab 'c d")));
			assert_string_equal(t->at, ">");
			assert_int_equal(t->len, 1);
			assert_true(t->is_full);
		}
	}
}

static void a_shell_gets_one_word(void **state)
{
	static const struct row rows[] = {
		ROW("", "''"),
		ROW("orders-2026_01.json", "orders-2026_01.json"),
		ROW("/a/b:c=d@e%f+g,h", "/a/b:c=d@e%f+g,h"),
		ROW("=ls", "'=ls'"),
		ROW("~root", "'~root'"),
		ROW("two words", "'two words'"),
		ROW("$(reboot)", "'$(reboot)'"),
		ROW("`id`", "'`id`'"),
		ROW("it's", "'it'\\''s'"),
		ROW("Z\xc3\xbcrich", "'Z\xc3\xbcrich'"),
		ROW("a\\b", "'a\\b'"),
		ROW("\x1b[31m'\\", "$'\\033[31m\\'\\\\'"),
		ROW("line\nline", "$'line\\012line'"),
		ROW("\xff" "7", "$'\\3777'"),
		ROW("\xe2\x80\xae" "txt", "$'\\342\\200\\256txt'"),
		ROW("\xc2\x9b", "$'\\302\\233'"),
		ROW("a\0b", NULL),
	};

	(void)state;
	ROWS_CHECK(shell_quote, rows);
}

static void an_sql_statement_gets_one_identifier(void **state)
{
	static const struct row rows[] = {
		ROW("orders", "`orders`"),
		ROW("select", "`select`"),
		ROW("a\"b'c;--", "`a\"b'c;--`"),
		ROW("Z\xc3\xbcrich", "`Z\xc3\xbcrich`"),
		ROW("a`b", NULL),
		ROW("a\0b", NULL),
		ROW("a\nb", NULL),
		ROW("a\x7f", NULL),
		ROW("a\xc2\x85", NULL),
		ROW("a\xff", NULL),
	};

	(void)state;
	ROWS_CHECK(sql_identifier, rows);
}

static void an_sql_statement_gets_one_string(void **state)
{
	static const struct row rows[] = {
		ROW("", "''"),
		ROW("it's", "'it''s'"),
		ROW("''", "''''''"),
		ROW("a`\"\n", "'a`\"\n'"),
		ROW("a\0b", NULL),
	};

	(void)state;
	ROWS_CHECK(sql_string, rows);
}

static void json_stays_on_one_line(void **state)
{
	static const struct row rows[] = {
		ROW("", "\"\""),
		ROW("a\"b\\c/", "\"a\\\"b\\\\c/\""),
		ROW("a\nb\0\x1f", "\"a\\u000ab\\u0000\\u001f\""),
		ROW("\xe2\x80\xae\xe2\x81\xa6", "\"\\u202e\\u2066\""),
		ROW("\xc2\x9b\x7f", "\"\\u009b\\u007f\""),
		ROW("Z\xc3\xbc\xf0\x9f\x98\x80", "\"Z\xc3\xbc\xf0\x9f\x98\x80\""),
		ROW("\xff\xc3", "\"\\ufffd\\ufffd\""),
	};

	(void)state;
	ROWS_CHECK(json_quote, rows);
}

static void a_cut_text_fits_escaped(void **state)
{
	static const struct { struct span text; size_t room, len, left; } rows[] = {
		{ SPAN("abc"), 3, 3, 0 },
		{ SPAN("abc"), 2, 2, 0 },
		{ SPAN("a\x01" "b"), 6, 1, 5 },
		{ SPAN("a\x01" "b"), 8, 3, 0 },
		{ SPAN("\"\\"), 3, 1, 1 },
		{ SPAN("\xc3\xbc\xc3\xbc"), 3, 2, 1 },
		{ SPAN("\xe2\x80\xa8"), 5, 0, 5 }, /* the socket escapes it */
		{ SPAN("\xff"), 6, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t room = rows[i].room;

		assert_int_equal(json_fit(rows[i].text, &room).len, rows[i].len);
		assert_int_equal(room, rows[i].left);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_terminal_gets_no_control_characters),
		cmocka_unit_test(a_terminal_gets_no_direction_marks),
		cmocka_unit_test(a_terminal_gets_nothing_that_cannot_be_seen),
		cmocka_unit_test(a_terminal_gets_no_broken_utf8),
		cmocka_unit_test(what_is_too_long_is_not_added_in_part),
		cmocka_unit_test(a_shell_gets_one_word),
		cmocka_unit_test(an_sql_statement_gets_one_identifier),
		cmocka_unit_test(an_sql_statement_gets_one_string),
		cmocka_unit_test(json_stays_on_one_line),
		cmocka_unit_test(a_cut_text_fits_escaped),
	};

	return cmocka_run_group_tests_name("base_clean", tests, NULL, NULL);
}
