/*
 * DDL into tokens: words, names in back-quotes, texts, literals of bytes, numbers,
 * signs. Comments are passed over, but for those that the server executes
 * (slash, star, exclamation mark): their inside is code.
 */
#include "transform/ddl_private.h"

#include <stdlib.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
	return c && strchr(" \t\r\n\f\v", c);
}

/* Names are made of these without quotes; whatever is not ASCII belongs to a name. */
static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static size_t left(const struct ddl_scan *scan)
{
	return (size_t)(scan->end - scan->at);
}

static bool begins(const struct ddl_scan *scan, const char *with)
{
	size_t len = strlen(with);

	return left(scan) >= len && memcmp(scan->at, with, len) == 0;
}

static bool skip_line(struct ddl_scan *scan)
{
	while (scan->at < scan->end && *scan->at != '\n')
		scan->at++;
	return true;
}

static void skip_digits(struct ddl_scan *scan)
{
	while (scan->at < scan->end && is_digit(*scan->at))
		scan->at++;
}

/* The begin of a comment that is code, with the version from which on it is. */
static bool take_executable(struct ddl_scan *scan)
{
	if (!begins(scan, "/*!") && !begins(scan, "/*M!"))
		return false;
	scan->at += begins(scan, "/*!") ? 3 : 4;
	skip_digits(scan);
	scan->is_executable = true;
	return true;
}

static bool skip_comment(struct ddl_scan *scan)
{
	for (scan->at += 2; left(scan) >= 2; scan->at++) {
		if (begins(scan, "*/")) {
			scan->at += 2;
			return true;
		}
	}
	scan->at = scan->end;
	scan->now = (struct ddl_token){ .kind = DDL_BROKEN, .begin = scan->end, .end = scan->end };
	return false;
}

/* One piece of what is no token. *out_found: there was one. */
static bool skip_piece(struct ddl_scan *scan, bool *out_found)
{
	*out_found = true;
	if (scan->at < scan->end && (is_space(*scan->at) || *scan->at == '\0'))
		return scan->at++, true;
	if (begins(scan, "#") || (begins(scan, "--") && (left(scan) == 2 || is_space(scan->at[2]))))
		return skip_line(scan);
	if (take_executable(scan))
		return true;
	if (begins(scan, "/*"))
		return skip_comment(scan);
	if (scan->is_executable && begins(scan, "*/")) {
		scan->is_executable = false;
		return scan->at += 2, true;
	}
	*out_found = false;
	return true;
}

static bool skip_between(struct ddl_scan *scan)
{
	bool is_found = true;

	while (is_found) {
		if (!skip_piece(scan, &is_found))
			return false;
	}
	return true;
}

static char escaped(char c)
{
	static const char from[] = "ntrb0Z", to[] = "\n\t\r\b\0\x1a";
	const char *at = c ? strchr(from, c) : NULL;

	return at ? to[at - from] : c;
}

/* \% and \_ keep their backslash: only LIKE reads them as other signs. */
static bool is_escape(char c)
{
	return c != '%' && c != '_';
}

/* Up to the closing quote; doubled, it stands for itself. */
static bool take_quoted(struct ddl_scan *scan, bool has_escapes, struct span *out)
{
	char quote = *scan->at;
	char *text = arena_bytes(scan->arena, left(scan) + 1);
	size_t len = 0, room = left(scan) + 1;

	for (scan->at++; scan->at < scan->end; scan->at++) {
		if (has_escapes && *scan->at == '\\' && scan->at + 1 < scan->end && is_escape(scan->at[1])) {
			text[len++] = escaped(*++scan->at);
			continue;
		}
		if (*scan->at == quote && (left(scan) < 2 || scan->at[1] != quote))
			break;
		scan->at += *scan->at == quote;
		text[len++] = *scan->at;
	}
	arena_shrink(scan->arena, text, room, len);
	*out = span_make(text, len);
	return scan->at < scan->end && scan->at++;
}

static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* Digits of base 2 or 16 into bytes; the first may be incomplete. */
static bool bytes_of(struct ddl_scan *scan, struct span digits, unsigned bits, struct span *out)
{
	size_t count = (digits.len * bits + 7) / 8;
	char *bytes = arena_zalloc(scan->arena, count + 1);

	for (size_t i = 0; i < digits.len; i++) {
		int value = digit_value(digits.at[digits.len - 1 - i]);

		if (value >= 1 << bits)
			return false;
		bytes[count - 1 - i * bits / 8] |= (char)(value << (i * bits % 8));
	}
	*out = span_make(bytes, count);
	return true;
}

/* x'4D', b'101', N'text', _utf8mb4'text'. False: it is a word like others. */
static bool take_prefixed(struct ddl_scan *scan, struct span word)
{
	char c = word.len == 1 ? (char)(*word.at | 0x20) : 0;
	struct span text;

	if (scan->at >= scan->end || *scan->at != '\'' || (*word.at != '_' && c != 'x' && c != 'b' && c != 'n'))
		return false;
	scan->now.kind = take_quoted(scan, true, &text) ? DDL_TEXT : DDL_BROKEN;
	if (scan->now.kind == DDL_TEXT && (c == 'x' || c == 'b'))
		scan->now.kind = bytes_of(scan, text, c == 'x' ? 4 : 1, &text) ? DDL_BLOB : DDL_BROKEN;
	scan->now.text = text;
	return true;
}

static bool is_number(struct span text)
{
	size_t i = 0, dots = 0;

	for (; i < text.len && (is_digit(text.at[i]) || text.at[i] == '.'); i++)
		dots += text.at[i] == '.';
	if (i && i + 1 < text.len && (text.at[i] | 0x20) == 'e')
		i += text.at[i + 1] == '+' || text.at[i + 1] == '-' ? 2 : 1;
	while (i < text.len && is_digit(text.at[i]))
		i++;
	return i == text.len && dots < 2 && is_digit(text.at[text.len - 1] == '.' ? '0' : text.at[text.len - 1]);
}

/* A word, or a number: names may begin with a digit. */
static void take_word(struct ddl_scan *scan)
{
	const char *begin = scan->at;
	bool is_numeric = is_digit(*begin) || *begin == '.';

	while (scan->at < scan->end &&
	       (is_word_char(*scan->at) || (is_numeric && *scan->at == '.') ||
	        (is_numeric && (*scan->at == '+' || *scan->at == '-') && (scan->at[-1] | 0x20) == 'e')))
		scan->at++;
	struct span word = span_make(begin, (size_t)(scan->at - begin));
	struct span rest = word.len > 2 ? span_make(word.at + 2, word.len - 2) : SPAN("");

	scan->now.text = word;
	if (is_numeric && rest.len && (word.at[1] == 'x' || word.at[1] == 'b') && *word.at == '0' &&
	    bytes_of(scan, rest, word.at[1] == 'x' ? 4 : 1, &rest)) {
		scan->now.kind = DDL_BLOB;
		scan->now.text = rest;
	} else if (is_numeric && is_number(word)) {
		scan->now.kind = DDL_NUMBER;
	} else if (!take_prefixed(scan, word)) {
		scan->now.kind = DDL_WORD;
	}
}

static void take_token(struct ddl_scan *scan)
{
	char c = *scan->at;

	if (c == '`' || c == '\'' || c == '"') {
		scan->now.kind = take_quoted(scan, c != '`', &scan->now.text) ? c == '`' ? DDL_NAME : DDL_TEXT : DDL_BROKEN;
	} else if (is_word_char(c) || (c == '.' && left(scan) > 1 && is_digit(scan->at[1]) &&
	                               scan->now.kind != DDL_WORD && scan->now.kind != DDL_NAME)) {
		take_word(scan);
	} else {
		scan->now.kind = DDL_SIGN;
		scan->now.text = span_make(scan->at++, 1);
	}
}

void ddl_next(struct ddl_scan *scan)
{
	if (scan->now.kind == DDL_BROKEN || !skip_between(scan))
		return;
	scan->last_end = scan->now.end;
	scan->now.begin = scan->at;
	if (scan->at == scan->end)
		scan->now = (struct ddl_token){ .kind = scan->is_executable ? DDL_BROKEN : DDL_END, .begin = scan->at };
	else
		take_token(scan);
	scan->now.end = scan->at;
}

void ddl_scan_begin(struct ddl_scan *scan, struct span text, struct arena *arena)
{
	if (!text.at)
		text = SPAN("");
	*scan = (struct ddl_scan){ .arena = arena, .at = text.at, .end = text.at + text.len, .now = { .kind = DDL_SIGN } };
	ddl_next(scan);
}
