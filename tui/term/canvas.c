/* Cells in rows; see canvas.h. */
#include "term/canvas.h"
#include "base/arena.h"

#include <stdlib.h>

static int within(int value, int most)
{
	return value < 1 ? 1 : value > most ? most : value;
}

static struct cell *cell_at(const struct canvas *canvas, int row, int col)
{
	return &canvas->cells[(size_t)row * (size_t)canvas->cols + (size_t)col];
}

void canvas_clear(struct canvas *canvas)
{
	size_t count = (size_t)canvas->rows * (size_t)canvas->cols;

	memset(canvas->cells, 0, count * sizeof(*canvas->cells));
	for (size_t i = 0; i < count; i++) {
		canvas->cells[i].text[0] = ' ';
		canvas->cells[i].width = 1;
		canvas->cells[i].role = ROLE_text;
	}
	canvas->cursor_row = canvas->cursor_col = -1;
}

struct canvas *canvas_new(int rows, int cols)
{
	struct canvas *canvas = memory_zalloc(sizeof(*canvas));

	canvas->rows = within(rows, CANVAS_ROWS_MAX);
	canvas->cols = within(cols, CANVAS_COLS_MAX);
	canvas->cells = memory_alloc((size_t)canvas->rows * (size_t)canvas->cols * sizeof(*canvas->cells));
	canvas_clear(canvas);
	return canvas;
}

void canvas_free(struct canvas *canvas)
{
	if (!canvas)
		return;
	free(canvas->cells);
	free(canvas);
}

void canvas_copy(struct canvas *to, const struct canvas *from)
{
	size_t bytes = (size_t)from->rows * (size_t)from->cols * sizeof(*from->cells);

	if (to->rows != from->rows || to->cols != from->cols)
		to->cells = memory_grow(to->cells, bytes);
	memcpy(to->cells, from->cells, bytes);
	to->rows = from->rows;
	to->cols = from->cols;
	to->cursor_row = from->cursor_row;
	to->cursor_col = from->cursor_col;
}

bool canvas_equal(const struct canvas *a, const struct canvas *b)
{
	size_t bytes = (size_t)a->rows * (size_t)a->cols * sizeof(*a->cells);

	return a->rows == b->rows && a->cols == b->cols && a->cursor_row == b->cursor_row && a->cursor_col == b->cursor_col &&
	       memcmp(a->cells, b->cells, bytes) == 0;
}

static int last_used(const struct canvas *canvas, int row, bool by_role)
{
	int col = canvas->cols;

	while (col > 0) {
		const struct cell *cell = cell_at(canvas, row, col - 1);

		if (by_role ? cell->role != ROLE_text : strcmp(cell->text, " ") != 0 || !cell->width)
			break;
		col--;
	}
	return col;
}

bool canvas_text(const struct canvas *canvas, struct text *out)
{
	for (int row = 0; row < canvas->rows; row++) {
		int used = last_used(canvas, row, false);

		for (int col = 0; col < used; col++)
			text_add(out, cell_at(canvas, row, col)->text);
		text_add(out, "\n");
	}
	return !out->is_full;
}

bool canvas_roles(const struct canvas *canvas, struct text *out)
{
	for (int row = 0; row < canvas->rows; row++) {
		int used = last_used(canvas, row, true);

		for (int col = 0; col < used; col++) {
			int role = cell_at(canvas, row, col)->role;

			text_add_char(out, (char)(role < 26 ? 'a' + role : 'A' + role - 26));
		}
		text_add(out, "\n");
	}
	return !out->is_full;
}

struct area area_whole(struct canvas *canvas)
{
	return (struct area){ canvas, 0, 0, canvas->rows, canvas->cols };
}

static int cut(int begin, int length, int room)
{
	if (begin > room)
		return 0;
	return length < 0 ? 0 : length > room - begin ? room - begin : length;
}

struct area area_part(struct area area, int row, int col, int rows, int cols)
{
	if (row < 0) {
		rows += row;
		row = 0;
	}
	if (col < 0) {
		cols += col;
		col = 0;
	}
	return (struct area){ area.canvas, area.row + row, area.col + col, cut(row, rows, area.rows), cut(col, cols, area.cols) };
}
