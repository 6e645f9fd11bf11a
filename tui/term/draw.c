/* Drawing on an area; see canvas.h. */
#include "term/canvas.h"
#include "term/cells.h"
#include "term/term.h"

#define FORMAT_BYTES 4096

static const char cut_mark[] = "..";

static bool is_inside(struct area area, int row)
{
	return row >= 0 && row < area.rows;
}

static struct cell *cell_of(struct area area, int row, int col)
{
	return &area.canvas->cells[(size_t)(area.row + row) * (size_t)area.canvas->cols + (size_t)(area.col + col)];
}

/* A half of a wide character that loses its other half becomes a blank. */
static void cell_release(struct area area, int row, int col)
{
	struct cell *cell = cell_of(area, row, col);
	int whole = area.col + col;

	if (!cell->width && whole > 0) {
		cell[-1].text[0] = ' ';
		cell[-1].text[1] = '\0';
		cell[-1].width = 1;
	}
	if (cell->width == 2 && whole + 1 < area.canvas->cols) {
		memset(cell[1].text, 0, CELL_BYTES);
		cell[1].text[0] = ' ';
		cell[1].width = 1;
	}
}

static void cell_put(struct area area, int row, int col, enum role role, const char *text, size_t len, int width)
{
	struct cell *cell;

	for (int i = 0; i < width; i++) {
		cell_release(area, row, col + i);
		cell = cell_of(area, row, col + i);
		memset(cell->text, 0, CELL_BYTES);
		cell->width = 0;
		cell->role = (uint8_t)role;
	}
	cell = cell_of(area, row, col);
	memcpy(cell->text, text, len < CELL_BYTES ? len : CELL_BYTES - 1);
	cell->width = (uint8_t)width;
}

/* An escape is several cells of one byte each. */
static void glyph_put(struct area area, int row, int col, enum role role, const struct glyph *glyph)
{
	if (!glyph->is_escape) {
		cell_put(area, row, col, role, glyph->text, glyph->len, glyph->width);
		return;
	}
	for (int i = 0; i < glyph->width; i++)
		cell_put(area, row, col + i, role, glyph->text + i, 1, 1);
}

int draw_span(struct area area, int row, int col, enum role role, struct span text)
{
	struct glyph glyph;
	int at = col;

	if (!is_inside(area, row) || col < 0)
		return 0;
	for (size_t i = 0; glyph_next(text, i, &glyph) && at + glyph.width <= area.cols; i += glyph.taken) {
		glyph_put(area, row, at, role, &glyph);
		at += glyph.width;
	}
	return at - col;
}

int draw_text(struct area area, int row, int col, enum role role, const char *text)
{
	return draw_span(area, row, col, role, span_of(text));
}

int draw_format(struct area area, int row, int col, enum role role, const char *format, ...)
{
	char text[FORMAT_BYTES];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	return draw_text(area, row, col, role, text);
}

void draw_blank(struct area area, int row, int col, int width, enum role role)
{
	for (int i = col < 0 ? 0 : col; is_inside(area, row) && i < col + width && i < area.cols; i++)
		cell_put(area, row, i, role, " ", 1, 1);
}

void draw_role(struct area area, int row, int col, int width, enum role role)
{
	for (int i = col < 0 ? 0 : col; is_inside(area, row) && i < col + width && i < area.cols; i++)
		cell_of(area, row, i)->role = (uint8_t)role;
}

int draw_field(struct area area, int row, int col, int width, int align, enum role role, struct span text)
{
	struct area field = area_part(area, row, col, 1, width);
	int whole = cells_width(text), taken;

	if (!is_inside(area, row) || field.cols <= 0)
		return 0;
	draw_blank(field, 0, 0, field.cols, role);
	if (whole <= field.cols) {
		draw_span(field, 0, align > 0 ? field.cols - whole : 0, role, text);
		return field.cols;
	}
	if (field.cols <= (int)sizeof(cut_mark) - 1) {
		draw_span(field, 0, 0, role, text);
		return field.cols;
	}
	size_t fit = cells_fit(text, field.cols - (int)sizeof(cut_mark) + 1, &taken);

	draw_span(field, 0, 0, role, span_make(text.at, fit));
	draw_text(field, 0, taken, role, cut_mark);
	return field.cols;
}

void draw_rule(struct area area, int row, const char *title, const char *note)
{
	const char *line = glyph_text(GLYPH_RULE);
	int at = 0, note_cols = cells_width(span_of(note)), end;

	for (int col = 0; is_inside(area, row) && col < area.cols; col++)
		draw_text(area, row, col, ROLE_rule, line);
	if (*title) {
		at = 2;
		draw_text(area, row, at, ROLE_rule, " ");
		at += 1 + draw_text(area_part(area, row, 0, 1, area.cols - 1), 0, at + 1, ROLE_rule, title);
		draw_text(area, row, at, ROLE_rule, " ");
	}
	end = area.cols - note_cols - 4;
	if (*note && end > at + 1) {
		draw_text(area, row, end, ROLE_rule, " ");
		draw_text(area, row, end + 1, ROLE_rule, note);
		draw_text(area, row, end + 1 + note_cols, ROLE_rule, " ");
	}
}

/* Whole words, or as much of one as fits. */
static size_t words_fit(struct span text, int cols)
{
	int taken;
	size_t fit = cells_fit(text, cols, &taken), end = fit;

	if (fit >= text.len)
		return text.len;
	while (end && text.at[end] != ' ')
		end--;
	return end ? end : fit;
}

int draw_paragraph(struct area area, int row, int col, int width, int rows, enum role role, struct span text)
{
	int used = 0;

	for (; used < rows && text.len && width > 0; used++) {
		size_t fit = words_fit(text, width);

		if (!fit)
			break;
		if (used == rows - 1 && fit < text.len) {
			draw_field(area, row + used, col, width, -1, role, text);
			return rows;
		}
		draw_span(area, row + used, col, role, span_make(text.at, fit));
		text = span_make(text.at + fit, text.len - fit);
		while (text.len && *text.at == ' ')
			text = span_make(text.at + 1, text.len - 1);
	}
	return used;
}

void cursor_put(struct area area, int row, int col)
{
	area.canvas->cursor_row = is_inside(area, row) ? area.row + row : -1;
	area.canvas->cursor_col = area.col + (col < area.cols ? col : area.cols - 1);
}
