/*
 * Any bytes drawn at any place of a small canvas: glyphs take what they say, every
 * cell is whole and holds nothing that a terminal would obey. Reaches term/cells.c,
 * term/draw.c and term/canvas.c.
 */
#include "term/canvas.h"

#include "base/clean.h"
#include "term/cells.h"

#include <assert.h>
#include <locale.h>

#define HEAD_BYTES 6

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check_glyphs(struct span text)
{
	struct glyph glyph;
	size_t at = 0;
	int cols = 0, taken;

	for (; glyph_next(text, at, &glyph); at += glyph.taken) {
		assert(glyph.taken > 0 && glyph.len == strlen(glyph.text));
		assert(glyph.is_escape ? glyph.width == glyph.len && glyph.len >= 4 : glyph.width == 1 || glyph.width == 2);
		assert(glyph.is_escape || glyph.len < CELL_BYTES);
		assert(cells_is_utf8() || (unsigned char)glyph.text[0] < 0x80);
		cols += glyph.width;
	}
	assert(at == text.len && cols == cells_width(text));
	for (int width = 0; width < 20; width++) {
		size_t fit = cells_fit(text, width, &taken);

		assert(fit <= text.len && taken <= width && taken == cells_width(span_make(text.at, fit)));
	}
}

static void check_cells(const struct canvas *canvas)
{
	for (int i = 0; i < canvas->rows * canvas->cols; i++) {
		const struct cell *cell = &canvas->cells[i];
		int col = i % canvas->cols;

		assert(cell->width <= 2 && strlen(cell->text) < CELL_BYTES);
		assert(cell->width != 2 || (col + 1 < canvas->cols && cell[1].width == 0));
		assert(cell->width != 0 || (col > 0 && cell[-1].width == 2 && !cell->text[0]));
		assert(cell->width == 0 || cell->text[0]);
	}
}

/* What the cleaner would change is not there any more. */
static void check_text(const struct canvas *canvas)
{
	OWNED(text) text = text_new(1u << 20);
	OWNED(text) clean = text_new(1u << 22);
	size_t from = 0;

	assert(canvas_text(canvas, text));
	for (size_t i = 0; i < text->len; i++) {
		if (text->at[i] != '\n')
			continue;
		clean_text(clean, span_make(text->at + from, i - from));
		text_add_char(clean, '\n');
		from = i + 1;
	}
	assert(span_equal(text_span(text), text_span(clean)));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct canvas *canvas;
	struct area area;
	struct span text;
	int row, col;

	if (size < HEAD_BYTES)
		return 0;
	setlocale(LC_CTYPE, "C.UTF-8");
	cells_set_utf8(data[0] & 1);
	text = span_make((const char *)data + HEAD_BYTES, size - HEAD_BYTES);
	check_glyphs(text);
	canvas = canvas_new(data[1] % 8, data[2] % 40);
	area = area_part(area_whole(canvas), data[0] % 4 - 1, data[3] % 16 - 4, data[4] % 8, data[5] % 40);
	row = data[3] % 9 - 1;
	col = data[4] % 40 - 8;
	draw_span(area, row, col, ROLE_ok, text);
	draw_field(area, row + 1, col, data[5] % 30, data[1] % 3 - 1, ROLE_dim, text);
	draw_paragraph(area, row - 1, col, data[2] % 20, data[3] % 6, ROLE_text, text);
	draw_text(area_whole(canvas), row, col + 1, ROLE_mark, "\xe6\xbc\xa2");
	check_cells(canvas);
	check_text(canvas);
	canvas_free(canvas);
	return 0;
}
