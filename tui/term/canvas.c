/*
 * The canvas itself: cells, their copies and what they look like as text. What is
 * drawn on it stands in draw.c.
 */
#include "term/canvas.h"

#include "base/arena.h"

#include <stdlib.h>

static size_t canvas_cells(const struct canvas *canvas)
{
	return (size_t)canvas->rows * (size_t)canvas->cols;
}

static int within(int number, int least, int most)
{
	return number < least ? least : number > most ? most : number;
}

struct canvas *canvas_new(int rows, int cols)
{
	struct canvas *canvas = memory_zalloc(sizeof(*canvas));

	canvas->rows = within(rows, 1, CANVAS_ROWS_MAX);
	canvas->cols = within(cols, 1, CANVAS_COLS_MAX);
	canvas->cells = memory_alloc(canvas_cells(canvas) * sizeof(*canvas->cells));
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

void canvas_clear(struct canvas *canvas)
{
	static const struct cell blank = { .text = " ", .width = 1, .role = ROLE_text };

	for (size_t i = 0; i < canvas_cells(canvas); i++)
		canvas->cells[i] = blank;
	canvas->cursor_row = canvas->cursor_col = -1;
	canvas->pick_from = canvas->pick_to = 0;
}

void canvas_copy(struct canvas *to, const struct canvas *from)
{
	if (to == from)
		return;
	if (canvas_cells(to) != canvas_cells(from)) {
		free(to->cells);
		to->cells = memory_alloc(canvas_cells(from) * sizeof(*to->cells));
	}
	struct cell *cells = to->cells;

	*to = *from;
	to->cells = cells;
	memcpy(cells, from->cells, canvas_cells(from) * sizeof(*cells));
}

bool canvas_equal(const struct canvas *a, const struct canvas *b)
{
	if (a->rows != b->rows || a->cols != b->cols || a->cursor_row != b->cursor_row || a->cursor_col != b->cursor_col)
		return false;
	/* Bytes behind the end of a cell's text are zero, and a cell has no gaps. */
	_Static_assert(sizeof(struct cell) == CELL_BYTES + 2, "cells compare as bytes");
	return memcmp(a->cells, b->cells, canvas_cells(a) * sizeof(*a->cells)) == 0;
}

static bool cell_is_blank(const struct cell *cell)
{
	return cell->width == 1 && cell->text[0] == ' ' && !cell->text[1];
}

static const struct cell *row_cells(const struct canvas *canvas, int row)
{
	return &canvas->cells[(size_t)row * (size_t)canvas->cols];
}

bool canvas_text(const struct canvas *canvas, struct text *out)
{
	for (int row = 0; row < canvas->rows; row++) {
		const struct cell *cells = row_cells(canvas, row);
		int end = canvas->cols;

		while (end && cell_is_blank(&cells[end - 1]))
			end--;
		for (int col = 0; col < end; col++)
			text_add(out, cells[col].text); /* a right half has none */
		text_add_char(out, '\n');
	}
	return !out->is_full;
}

static char role_letter(unsigned role)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	_Static_assert(ROLES < sizeof(letters), "each role has a letter");
	return role < ROLES ? letters[role] : '?';
}

bool canvas_roles(const struct canvas *canvas, struct text *out)
{
	for (int row = 0; row < canvas->rows; row++) {
		const struct cell *cells = row_cells(canvas, row);
		int end = canvas->cols;

		while (end && cell_is_blank(&cells[end - 1]) && cells[end - 1].role == ROLE_text)
			end--;
		for (int col = 0; col < end; col++)
			text_add_char(out, role_letter(cells[col].role));
		text_add_char(out, '\n');
	}
	return !out->is_full;
}
