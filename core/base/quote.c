/*
 * Names from strangers in front of a machine: one shell word, one SQL identifier,
 * one SQL string. What does not fit or may not be said is not added at all.
 */
#include "base/clean.h"

#include "base/utf8.h"

/* Harmless anywhere in a word of any shell. */
static bool shell_is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("_./:=@%+,-", c));
}

static bool word_is_bare(struct span word)
{
	/* A leading '=' is an expansion in zsh. */
	if (word.len == 0 || word.at[0] == '=')
		return false;
	for (size_t i = 0; i < word.len; i++) {
		if (!shell_is_bare(word.at[i]))
			return false;
	}
	return true;
}

/* Bytes of the character at the front, and whether they may be pasted as they are. */
static size_t char_look(struct span rest, bool *out_is_plain)
{
	uint32_t code = 0;
	size_t length = utf8_step(rest, &code);

	*out_is_plain = length > 0 && !code_is_control(code) && !code_is_bidi(code);
	return length ? length : 1;
}

static bool word_is_plain(struct span word)
{
	bool is_plain = true;

	for (size_t i = 0; i < word.len && is_plain;)
		i += char_look(span_make(word.at + i, word.len - i), &is_plain);
	return is_plain;
}

/* 'it'\''s' */
static bool single_quote(struct text *out, struct span word)
{
	bool is_fine = text_add_char(out, '\'');

	for (size_t i = 0; i < word.len && is_fine; i++)
		is_fine = word.at[i] == '\'' ? text_add(out, "'\\''") : text_add_char(out, word.at[i]);
	return is_fine && text_add_char(out, '\'');
}

/* Octal, because it has a fixed width in every shell that knows $'..'. */
static bool octal_add(struct text *out, struct span bytes)
{
	bool is_fine = true;

	for (size_t i = 0; i < bytes.len && is_fine; i++)
		is_fine = text_add_format(out, "\\%03o", (unsigned)(unsigned char)bytes.at[i]);
	return is_fine;
}

static bool dollar_quote(struct text *out, struct span word)
{
	bool is_fine = text_add(out, "$'");

	for (size_t i = 0; i < word.len && is_fine;) {
		bool is_plain;
		size_t length = char_look(span_make(word.at + i, word.len - i), &is_plain);
		struct span one = span_make(word.at + i, length);

		if (!is_plain)
			is_fine = octal_add(out, one);
		else if (one.at[0] == '\'' || one.at[0] == '\\')
			is_fine = text_add_char(out, '\\') && text_add_span(out, one);
		else
			is_fine = text_add_span(out, one);
		i += length;
	}
	return is_fine && text_add_char(out, '\'');
}

static bool undo_unless(bool is_fine, struct text *out, size_t len)
{
	if (is_fine)
		return true;
	out->len = len;
	out->at[len] = '\0';
	return false;
}

static bool has_byte(struct span text, char c)
{
	return text.len && memchr(text.at, c, text.len);
}

bool shell_quote(struct text *out, struct span word)
{
	size_t mark = out->len;

	if (has_byte(word, '\0')) /* no program can be given one */
		return false;
	if (word_is_bare(word))
		return text_add_span(out, word);
	if (word_is_plain(word))
		return undo_unless(single_quote(out, word), out, mark);
	return undo_unless(dollar_quote(out, word), out, mark);
}

bool sql_identifier(struct text *out, struct span name)
{
	size_t mark = out->len;

	for (size_t i = 0; i < name.len;) {
		uint32_t code = 0;
		size_t length = utf8_step(span_make(name.at + i, name.len - i), &code);

		if (length == 0 || code_is_control(code) || code == '`')
			return false;
		i += length;
	}
	/* Back-quotes, not double quotes: SQLite takes "name" for a string when
	 * there is no such column, and a statement would go on with a wrong value. */
	return undo_unless(text_add_char(out, '`') && text_add_span(out, name) && text_add_char(out, '`'), out, mark);
}

bool sql_string(struct text *out, struct span value)
{
	size_t mark = out->len;

	/* SQLite would take NUL for the end of the statement. */
	if (has_byte(value, '\0'))
		return false;

	bool is_fine = text_add_char(out, '\'');

	for (size_t i = 0; i < value.len && is_fine; i++)
		is_fine = value.at[i] == '\'' ? text_add(out, "''") : text_add_char(out, value.at[i]);
	return undo_unless(is_fine && text_add_char(out, '\''), out, mark);
}
