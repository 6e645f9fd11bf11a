/*
 * Drawing on a part of a canvas. All text is taken apart by glyph_next, so what
 * stands in a cell is safe and has the width that the cell says. Columns are
 * counted also left of the edge, where nothing is visible: so lines scroll sideways.
 */
#include "term/canvas.h"

#include "term/cells.h"
#include "term/term.h"

#include <stdio.h>

#define FORMAT_BYTES (CANVAS_COLS_MAX * 4 + 1)
#define DOTS ".."

struct area area_whole(struct canvas *canvas)
{
	return (struct area){ canvas, 0, 0, canvas->rows, canvas->cols };
}

/* Cuts the stretch from *at, of *len, to 0 .. size. */
static void stretch_cut(int *at, int *len, int size)
{
	int64_t begin = *at < 0 ? 0 : *at, end = (int64_t)*at + (*len < 0 ? 0 : *len);

	if (end > size)
		end = size;
	if (begin > size)
		begin = size;
	*at = (int)begin;
	*len = end > begin ? (int)(end - begin) : 0;
}

struct area area_part(struct area area, int row, int col, int rows, int cols)
{
	stretch_cut(&row, &rows, area.rows);
	stretch_cut(&col, &cols, area.cols);
	return (struct area){ area.canvas, area.row + row, area.col + col, rows, cols };
}

/* NULL outside of the area, or of a canvas that has become smaller than the area. */
static struct cell *cell_at(struct area area, int row, int col)
{
	if (row < 0 || row >= area.rows || col < 0 || col >= area.cols)
		return NULL;
	row += area.row;
	col += area.col;
	if (row < 0 || row >= area.canvas->rows || col < 0 || col >= area.canvas->cols)
		return NULL;
	return &area.canvas->cells[(size_t)row * (size_t)area.canvas->cols + (size_t)col];
}

static void cell_blank(struct cell *cell)
{
	memset(cell->text, 0, CELL_BYTES);
	cell->text[0] = ' ';
	cell->width = 1;
}

/* Whoever stood in this cell and reached over its edge loses the other half as well, also when that lies outside of
 * the area: half a wide character would move the rest of the row. */
static void cell_clear(struct area area, int row, int col)
{
	struct area all = area_whole(area.canvas);
	struct cell *cell = cell_at(area, row, col);

	row += area.row;
	col += area.col;
	if (cell->width == 0)
		cell_blank(cell_at(all, row, col - 1));
	else if (cell->width == 2)
		cell_blank(cell_at(all, row, col + 1));
	cell_blank(cell);
}

static void cell_put(struct area area, int row, int col, enum role role, const char *text, size_t len)
{
	struct cell *cell = cell_at(area, row, col);

	if (!cell)
		return;
	cell_clear(area, row, col);
	memcpy(cell->text, text, len);
	memset(cell->text + len, 0, CELL_BYTES - len);
	cell->role = (uint8_t)role;
}

/* A wide character of which one half is not visible leaves a blank. */
static void wide_put(struct area area, int row, int col, enum role role, const struct glyph *glyph)
{
	struct cell *left = cell_at(area, row, col), *right = cell_at(area, row, col + 1);

	cell_put(area, row, col, role, " ", 1);
	cell_put(area, row, col + 1, role, " ", 1);
	if (!left || !right)
		return;
	memcpy(left->text, glyph->text, glyph->len + 1u);
	left->width = 2;
	memset(right->text, 0, CELL_BYTES);
	right->width = 0;
}

static void glyph_put(struct area area, int row, int col, enum role role, const struct glyph *glyph)
{
	if (glyph->is_escape) {
		for (int i = 0; i < glyph->width; i++)
			cell_put(area, row, col + i, role, glyph->text + i, 1);
	} else if (glyph->width == 2) {
		wide_put(area, row, col, role, glyph);
	} else {
		cell_put(area, row, col, role, glyph->text, glyph->len);
	}
}

int draw_span(struct area area, int row, int col, enum role role, struct span text)
{
	struct glyph glyph;
	int at = col;

	for (size_t i = 0; at < area.cols && glyph_next(text, i, &glyph); i += glyph.taken) {
		if (glyph.width > area.cols - at) {
			draw_blank(area, row, at, area.cols - at, role);
			at = area.cols;
			break;
		}
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
	va_list args;

	va_start(args, format);
	int len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len < 0)
		return 0;
	/* What does not fit is wider than the widest screen. */
	return draw_span(area, row, col, role, span_make(text, strlen(text)));
}

void draw_blank(struct area area, int row, int col, int width, enum role role)
{
	stretch_cut(&col, &width, area.cols);
	for (int i = 0; i < width; i++)
		cell_put(area, row, col + i, role, " ", 1);
}

void draw_role(struct area area, int row, int col, int width, enum role role)
{
	stretch_cut(&col, &width, area.cols);
	for (int i = 0; i < width; i++) {
		struct cell *cell = cell_at(area, row, col + i);

		if (cell)
			cell->role = (uint8_t)role;
	}
}

#define NAME_CUT_COLS 9 /* narrower, a name's beginning says more than its two ends */

/* The last characters of the text that fit into so many columns. */
static struct span tail_that_fits(struct span text, int room)
{
	while (text.len && cells_width(text) > room) {
		size_t step = 1;

		while (step < text.len && ((unsigned char)text.at[step] & 0xC0) == 0x80)
			step++;
		text = span_make(text.at + step, text.len - step);
	}
	return text;
}

/* "shop.or..ine_items": a third of the room for how it begins. */
static void draw_cut_name(struct area area, int row, int col, int room, enum role role, struct span text)
{
	int head = (room - 2) / 3, cols;
	struct span tail = tail_that_fits(text, room - 2 - head), front = span_make(text.at, cells_fit(text, head, &cols));

	draw_span(area, row, col, role, front);
	draw_span(area, row, col + cols, role, span_of(DOTS));
	draw_span(area, row, col + cols + 2, role, tail);
}

int draw_field(struct area area, int row, int col, int width, int align, enum role role, struct span text)
{
	int cols, room = width;

	if (width <= 0 || col >= area.cols)
		return width < 0 ? 0 : width;
	if (room > area.cols - col)
		room = area.cols - col; /* the dots shall be seen */
	draw_blank(area, row, col, room, role);
	if (cells_fit(text, room, &cols) < text.len) {
		int dots = room < 2 ? room : 2;

		if (align == ALIGN_NAME && room >= NAME_CUT_COLS) {
			draw_cut_name(area, row, col, room, role, text);
			return width;
		}
		text.len = cells_fit(text, room - dots, &cols);
		draw_span(area, row, col, role, text);
		draw_span(area, row, col + cols, role, span_make(DOTS, (size_t)dots));
		return width;
	}
	int before = align < 0 ? 0 : align > 0 ? room - cols : (room - cols) / 2;

	draw_span(area, row, col + before, role, text);
	return width;
}

/* " note --" at the right end. */
static void rule_note(struct area area, int row, struct span note, int cols)
{
	int col = area.cols - cols - 4;

	draw_blank(area, row, col, cols + 2, ROLE_rule);
	draw_span(area, row, col + 1, ROLE_rule, note);
}

void draw_rule(struct area area, int row, const char *title, const char *note)
{
	struct span head = span_of(title), tail = span_of(note);
	int head_cols = head.len ? cells_width(head) : 0, tail_cols = tail.len ? cells_width(tail) : 0;
	int room = area.cols - 4;

	for (int col = 0; col < area.cols; col++)
		draw_text(area, row, col, ROLE_rule, glyph_text(GLYPH_RULE));
	/* Where both have no room the title stays. */
	if (tail_cols && (head_cols ? head_cols + 4 : 0) + tail_cols <= room)
		rule_note(area, row, tail, tail_cols);
	if (!head_cols || room <= 0)
		return;
	if (head_cols > room)
		head_cols = room;
	draw_blank(area, row, 2, head_cols + 2, ROLE_rule);
	draw_field(area, row, 3, head_cols, -1, ROLE_rule, head);
}

/* How much of the text the next row of a paragraph takes: up to the last blank that fits, else what fits. */
static size_t line_break(struct span text, int width)
{
	struct glyph first;
	int cols;
	size_t fit = cells_fit(text, width, &cols), at = fit;

	if (fit == text.len)
		return fit;
	if (!fit && glyph_next(text, 0, &first))
		return first.taken; /* wider than the row */
	while (at && text.at[at] != ' ')
		at--;
	return at ? at : fit;
}

static struct span blanks_skip(struct span text)
{
	while (text.len && *text.at == ' ')
		text = span_make(text.at + 1, text.len - 1);
	return text;
}

int draw_paragraph(struct area area, int row, int col, int width, int rows, enum role role, struct span text)
{
	int taken = 0;

	if (width <= 0)
		return 0;
	for (text = blanks_skip(text); text.len && taken < rows; taken++) {
		size_t len = line_break(text, width);

		if (taken == rows - 1 && blanks_skip(span_make(text.at + len, text.len - len)).len) {
			draw_field(area, row + taken, col, width, -1, role, text);
			return taken + 1;
		}
		/* Cut to the width too: the first glyph may be wider than all of it. */
		draw_span(area_part(area, row + taken, 0, 1, col + width), 0, col, role, span_make(text.at, len));
		text = blanks_skip(span_make(text.at + len, text.len - len));
	}
	return taken;
}

int paragraph_rows(struct span text, int width)
{
	int rows = 0;

	for (text = blanks_skip(text); width > 0 && text.len; rows++) {
		size_t len = line_break(text, width);

		text = blanks_skip(span_make(text.at + len, text.len - len));
	}
	return rows;
}

void pick_rows(struct area area, int row, int rows)
{
	struct area picked = area_part(area, row, 0, rows, area.cols);

	area.canvas->pick_from = picked.row;
	area.canvas->pick_to = picked.row + picked.rows;
}

void cursor_put(struct area area, int row, int col)
{
	if (!cell_at(area, row, col))
		return;
	area.canvas->cursor_row = area.row + row;
	area.canvas->cursor_col = area.col + col;
}
