/*
 * Text from anybody as glyphs of known width. The rules of what may stay are the
 * cleaner's (base/clean.h); here comes what only a screen must know: columns, and
 * combining marks, which stay with their base or get one of their own.
 */
#include "term/cells.h"

#include "base/clean.h"
#include "base/utf8.h"
#include "term/canvas.h"

#include <wchar.h>

/* The base of marks that have none: after nothing, after an escape, or too many for one cell. One column wide in every
 * table of widths, also where East Asian widths hold. */
#define DOTTED_CIRCLE "\xe2\x97\x8c"

_Static_assert(sizeof(((struct glyph *)0)->text) >= CELL_BYTES, "a glyph holds what a cell holds");
_Static_assert(sizeof(((struct glyph *)0)->text) >= CLEAN_ESCAPE_BYTES, "a glyph holds an escape");

static bool is_utf8 = true;

void cells_set_utf8(bool utf8)
{
	is_utf8 = utf8;
}

bool cells_is_utf8(void)
{
	return is_utf8;
}

/* Columns of a character that may stay; 0: a combining mark; -1: this terminal's tables do not know it. */
static int code_width(uint32_t code)
{
	return code < 0x7f ? 1 : wcwidth((wchar_t)code);
}

static void glyph_escape(struct glyph *out, uint32_t code, size_t length)
{
	out->len = (uint8_t)clean_escape(code, length, out->text);
	out->width = out->len;
	out->is_escape = true;
	out->taken = length ? length : 1;
}

static void glyph_add(struct glyph *out, const char *at, size_t len)
{
	memcpy(out->text + out->len, at, len);
	out->len = (uint8_t)(out->len + len);
	out->text[out->len] = '\0';
}

/* Takes the marks that follow, as many as a cell holds. */
static void glyph_take_marks(struct glyph *out, struct span text, size_t at)
{
	size_t from = at, length;
	uint32_t code;

	for (; at < text.len && (unsigned char)text.at[at] >= 0x80; at += length) {
		length = utf8_step(span_make(text.at + at, text.len - at), &code);
		if (!clean_may_stay(code, length) || code_width(code) != 0 || out->len + length >= CELL_BYTES)
			break;
		glyph_add(out, text.at + at, length);
	}
	out->taken += at - from;
}

bool glyph_next(struct span text, size_t at, struct glyph *out)
{
	if (at >= text.len)
		return false;
	uint32_t code = (unsigned char)text.at[at];
	size_t length = utf8_step(span_make(text.at + at, text.len - at), &code);
	int width = -1;

	out->len = 0;
	out->is_escape = false;
	if (clean_may_stay(code, length) && (code < 0x80 || is_utf8))
		width = code_width(code);
	if (width < 0 || width > 2) {
		glyph_escape(out, code, length);
		return true;
	}
	out->taken = 0;
	out->width = width ? (uint8_t)width : 1;
	glyph_add(out, width ? text.at + at : DOTTED_CIRCLE, width ? length : sizeof(DOTTED_CIRCLE) - 1);
	if (width)
		out->taken = length;
	if (is_utf8)
		glyph_take_marks(out, text, at + out->taken);
	return true;
}

size_t cells_fit(struct span text, int cols, int *out_cols)
{
	struct glyph glyph;
	size_t at = 0;
	int taken = 0;

	for (; glyph_next(text, at, &glyph) && glyph.width <= cols - taken; at += glyph.taken)
		taken += glyph.width;
	*out_cols = taken;
	return at;
}

int cells_width(struct span text)
{
	int cols;

	/* Ten columns for one byte at most: texts of the screen are far from overflowing an int, a huge one ends here. */
	cells_fit(text, INT32_MAX, &cols);
	return cols;
}

bool cell_is_doubtful(const struct cell *cell)
{
	/* Blocks in which emulators of today give different answers; the rest of the first plane and the ideographs agree. */
	static const struct {
		uint32_t from, to;
	} blocks[] = {
		{ 0x0900, 0x0dff }, { 0x1000, 0x109f }, { 0x1100, 0x11ff }, { 0x1780, 0x17ff }, { 0x231a, 0x23ff },
		{ 0x25fd, 0x25fe }, { 0x2600, 0x27bf }, { 0x2b00, 0x2bff }, { 0x2e3a, 0x2e3b }, { 0x3030, 0x3030 },
		{ 0x303d, 0x303d }, { 0x3297, 0x3299 }, { 0xa960, 0xa97f }, { 0xd7b0, 0xd7ff }, { 0xe000, 0xf8ff },
		{ 0xfdfa, 0xfdfd }, { 0x10000, 0x1ffff }, { 0xe0000, 0x10ffff },
	};
	struct span text = span_of(cell->text);
	uint32_t code;

	if (!cell->width || (unsigned char)text.at[0] < 0x80)
		return cell->width && text.len > 1;
	if (utf8_step(text, &code) < text.len)
		return true;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		if (code >= blocks[i].from && code <= blocks[i].to)
			return true;
	}
	return false;
}
