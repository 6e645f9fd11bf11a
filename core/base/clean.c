/*
 * Makes text from strangers visible: for terminals (clean_text) and inside JSON
 * (json_quote). Both copy whole runs of harmless characters and look closely
 * only at the others. What does not fit is not added at all.
 */
#include "base/clean.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>

/* Writes what stands for one character that may not stay as it is. */
typedef bool escape_writer(struct text *out, uint32_t code);

struct cleaner {
	bool (*is_harmful)(uint32_t code);
	escape_writer *write_code;
	escape_writer *write_byte; /* one byte of invalid UTF-8 */
};

/* Puts `out` back to where it was; that it was too full stays known. */
static bool text_cut(struct text *out, size_t len)
{
	out->len = len;
	out->at[len] = '\0';
	return false;
}

static bool clean_one(struct text *out, const struct cleaner *cleaner, size_t length, uint32_t code)
{
	return length ? cleaner->write_code(out, code) : cleaner->write_byte(out, code);
}

static bool clean_with(struct text *out, struct span text, const struct cleaner *cleaner)
{
	size_t mark = out->len;
	size_t run = 0; /* where the harmless run began */

	for (size_t i = 0; i < text.len;) {
		uint32_t code = (unsigned char)text.at[i];
		size_t length = utf8_step(span_make(text.at + i, text.len - i), &code);

		if (length && !cleaner->is_harmful(code)) {
			i += length;
			continue;
		}
		if (!text_add_span(out, span_make(text.at + run, i - run)) ||
		    !clean_one(out, cleaner, length, code))
			return text_cut(out, mark);
		i += length ? length : 1;
		run = i;
	}
	if (run == text.len)
		return true;
	return text_add_span(out, span_make(text.at + run, text.len - run)) || text_cut(out, mark);
}

static bool terminal_is_harmful(uint32_t code)
{
	return code_is_control(code) || code_is_bidi(code) || code_is_unseen(code);
}

bool clean_may_stay(uint32_t code, size_t length)
{
	return length && !terminal_is_harmful(code);
}

size_t clean_escape(uint32_t code, size_t length, char out[CLEAN_ESCAPE_BYTES])
{
	/* C1 has two bytes in UTF-8: \x9b would claim that there was one. */
	if (length > 1)
		return (size_t)snprintf(out, CLEAN_ESCAPE_BYTES, "\\u%04" PRIx32, code);
	return (size_t)snprintf(out, CLEAN_ESCAPE_BYTES, "\\x%02" PRIx32, code);
}

static bool terminal_write_code(struct text *out, uint32_t code)
{
	char escape[CLEAN_ESCAPE_BYTES];

	return text_add_span(out, span_make(escape, clean_escape(code, code < 0x80 ? 1 : 2, escape)));
}

static bool terminal_write_byte(struct text *out, uint32_t byte)
{
	char escape[CLEAN_ESCAPE_BYTES];

	return text_add_span(out, span_make(escape, clean_escape(byte, 0, escape)));
}

bool clean_text(struct text *out, struct span text)
{
	static const struct cleaner terminal = { terminal_is_harmful, terminal_write_code, terminal_write_byte };

	return clean_with(out, text, &terminal);
}

static bool json_is_harmful(uint32_t code)
{
	return code == '"' || code == '\\' || code_is_control(code) || code_is_bidi(code);
}

static bool json_write_code(struct text *out, uint32_t code)
{
	if (code == '"')
		return text_add(out, "\\\"");
	if (code == '\\')
		return text_add(out, "\\\\");
	return text_add_format(out, "\\u%04" PRIx32, code);
}

static bool json_write_byte(struct text *out, uint32_t byte)
{
	(void)byte; /* JSON has no way to say it */
	return text_add(out, "\\ufffd");
}

bool json_quote(struct text *out, struct span text)
{
	static const struct cleaner json = { json_is_harmful, json_write_code, json_write_byte };
	size_t mark = out->len;

	if (text_add_char(out, '"') && clean_with(out, text, &json) && text_add_char(out, '"'))
		return true;
	return text_cut(out, mark);
}

/* U+2028 and U+2029 are escaped on the socket only (frame.c). */
static size_t json_cost(uint32_t code, size_t length)
{
	if (code == '"' || code == '\\')
		return 2;
	return !length || json_is_harmful(code) || code == 0x2028 || code == 0x2029 ? 6 : length;
}

struct span json_fit(struct span text, size_t *room)
{
	size_t len = 0;

	while (len < text.len) {
		uint32_t code = (unsigned char)text.at[len];
		size_t length = utf8_step(span_make(text.at + len, text.len - len), &code);
		size_t cost = json_cost(code, length);

		if (cost > *room)
			break;
		*room -= cost;
		len += length ? length : 1;
	}
	return span_make(text.at, len);
}
