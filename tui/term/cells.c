/*
 * Text as columns; see cells.h. What may reach a terminal is decided here and nowhere
 * else: a character that it would obey, or that has no column of its own, is shown as
 * an escape.
 */
#include "term/cells.h"
#include "base/utf8.h"

#include <wchar.h>

#define MARKS_MOST 4 /* combining marks on one character; more are escapes */

static bool is_utf8_terminal = true;

void cells_set_utf8(bool is_utf8)
{
	is_utf8_terminal = is_utf8;
}

bool cells_is_utf8(void)
{
	return is_utf8_terminal;
}

/* Controls, bidi marks, zero widths that are no combining marks: what clean_text escapes, and what has no column. */
static bool is_hostile(uint32_t code)
{
	return code_is_control(code) || code_is_bidi(code) || code == 0xad || (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
	       (code >= 0xfff9 && code <= 0xfffb) || (code >= 0xe0000 && code <= 0xe0fff) || (code >= 0xfe00 && code <= 0xfe0f);
}

static int code_width(uint32_t code)
{
	return code < 0x7f ? 1 : wcwidth((wchar_t)code);
}

static bool is_mark(uint32_t code)
{
	return code >= 0x300 && !is_hostile(code) && code_width(code) == 0;
}

static void escape(uint32_t code, bool is_byte, struct glyph *out)
{
	int len = snprintf(out->text, sizeof(out->text), is_byte || code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%06x",
	                   (unsigned)code);

	out->len = out->width = (uint8_t)len;
	out->is_escape = true;
}

static void marks_add(struct span text, size_t at, struct glyph *out)
{
	uint32_t mark;

	for (int i = 0; i < MARKS_MOST && at + out->taken < text.len; i++) {
		size_t len = utf8_step(span_make(text.at + at + out->taken, text.len - at - out->taken), &mark);

		if (!len || !is_mark(mark) || out->len + len >= 14)
			return;
		memcpy(out->text + out->len, text.at + at + out->taken, len);
		out->len = (uint8_t)(out->len + len);
		out->text[out->len] = '\0';
		out->taken += len;
	}
}

bool glyph_next(struct span text, size_t at, struct glyph *out)
{
	uint32_t code = 0;
	size_t len;
	int width;

	if (at >= text.len)
		return false;
	memset(out, 0, sizeof(*out));
	len = utf8_step(span_make(text.at + at, text.len - at), &code);
	out->taken = len ? len : 1;
	width = len && !is_hostile(code) ? code_width(code) : -1;
	if (!len || width < 1 || (code >= 0x80 && !is_utf8_terminal)) {
		escape(len ? code : (unsigned char)text.at[at], !len, out);
		return true;
	}
	memcpy(out->text, text.at + at, len);
	out->len = (uint8_t)len;
	out->width = (uint8_t)width;
	if (is_utf8_terminal)
		marks_add(text, at, out);
	return true;
}

int cells_width(struct span text)
{
	struct glyph glyph;
	int width = 0;

	for (size_t at = 0; glyph_next(text, at, &glyph); at += glyph.taken)
		width += glyph.width;
	return width;
}

size_t cells_fit(struct span text, int cols, int *out_cols)
{
	struct glyph glyph;
	size_t at = 0;
	int width = 0;

	for (; glyph_next(text, at, &glyph) && width + glyph.width <= cols; at += glyph.taken)
		width += glyph.width;
	*out_cols = width;
	return at;
}
