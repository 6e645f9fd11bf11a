/*
 * A canvas: what the screen shall show, as cells of text and role. Views draw on
 * it and know no terminal; screen.c sends what differs from the last one, tests
 * and :save-screen write it down. Everything that is drawn passes the cleaner
 * (cells.c): a payload can move neither cursor nor border.
 */
#ifndef WEIR_TUI_TERM_CANVAS_H
#define WEIR_TUI_TERM_CANVAS_H

#include "base/span.h"
#include "base/text.h"

#include <stdarg.h>

enum role {
#define ROLE(id, name, meaning) ROLE_##id,
#include "term/roles.def"
#undef ROLE
	ROLES
};

#define CELL_BYTES 14
#define CANVAS_ROWS_MAX 500
#define CANVAS_COLS_MAX 1000

/* One column of one row. The right half of a wide character has width 0 and no text. */
struct cell {
	char text[CELL_BYTES]; /* UTF-8: one character and its combining marks, NUL-terminated */
	uint8_t width;         /* 1 or 2; 0 for the right half */
	uint8_t role;
};

struct canvas {
	int rows, cols;
	int cursor_row, cursor_col; /* where the terminal's cursor stands; -1: hidden */
	int pick_from, pick_to;     /* rows [from, to) of which the cursor stands on one and a click picks another; 0, 0: none */
	struct cell *cells;         /* rows x cols */
};

static inline const struct cell *canvas_row(const struct canvas *canvas, int row)
{
	return canvas->cells + (size_t)row * (size_t)canvas->cols;
}

struct canvas *canvas_new(int rows, int cols); /* limits above; all blank, role text */
void canvas_free(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);
void canvas_copy(struct canvas *to, const struct canvas *from); /* takes its size too */
bool canvas_equal(const struct canvas *a, const struct canvas *b);
/* The screen as lines of text, trailing blanks left out. */
bool canvas_text(const struct canvas *canvas, struct text *out);
/* One letter a cell, by role (roles.def in order: a, b, .. z, A, ..); trailing `a`s of blank cells left out. */
bool canvas_roles(const struct canvas *canvas, struct text *out);

/* A part of a canvas. Rows and columns count from its own corner; what lies outside is not drawn. Passed by value. */
struct area {
	struct canvas *canvas;
	int row, col, rows, cols;
};

struct area area_whole(struct canvas *canvas);
/* A part of an area, cut to it; may be empty. */
struct area area_part(struct area area, int row, int col, int rows, int cols);

/* Text from `col` on, cut at the area's edge, never inside a character; gives the columns taken. */
int draw_text(struct area area, int row, int col, enum role role, const char *text);
int draw_span(struct area area, int row, int col, enum role role, struct span text);
int draw_format(struct area area, int row, int col, enum role role, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* In exactly `width` columns: filled up with blanks, or cut and ended in "..". align < 0 left, > 0 right (cut too). */
#define ALIGN_NAME (-2) /* left, and cut in the middle: names that begin alike differ at their ends */
int draw_field(struct area area, int row, int col, int width, int align, enum role role, struct span text);
/* Gives every cell of the row (or a part of it) another role, keeping its text. */
void draw_role(struct area area, int row, int col, int width, enum role role);
void draw_blank(struct area area, int row, int col, int width, enum role role);
/* "-- title ---- note --": parts two panes. The glyph is the session's. */
void draw_rule(struct area area, int row, const char *title, const char *note);
/* A paragraph, broken between words, at most `rows` rows; gives the rows taken. The last one ends in ".." if cut. */
int draw_paragraph(struct area area, int row, int col, int width, int rows, enum role role, struct span text);
/* How many rows it would take whole. */
int paragraph_rows(struct span text, int width);
/* Rows of the area that a click picks from: the cursor goes there by as many steps up or down. */
void pick_rows(struct area area, int row, int rows);
void cursor_put(struct area area, int row, int col);

#endif
