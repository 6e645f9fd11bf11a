/*
 * Frames: roles to what curses takes, rows that differ, and characters of which a
 * terminal may think otherwise than this machine's tables of widths. Those are sent
 * one by one, each with the cursor put where it belongs behind it: what follows them
 * stands in its column whatever the terminal makes of them.
 */
#include "term/screen_private.h"
#include "term/cells.h"

#include <poll.h>
#include <stdlib.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

/*
 * Colours.
 */
static attr_t curses_attributes(const struct look *look)
{
	static const struct {
		uint8_t ours;
		attr_t theirs;
	} table[] = { { LOOK_BOLD, A_BOLD }, { LOOK_DIM, A_DIM }, { LOOK_UNDERLINE, A_UNDERLINE },
		      { LOOK_REVERSE, A_REVERSE }, { LOOK_ITALIC, A_ITALIC } };
	attr_t attributes = A_NORMAL;

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (look->attributes & table[i].ours)
			attributes |= table[i].theirs;
	}
	return attributes;
}

/* A terminal of 8 colours has no bright ones: bold stands for them in the foreground. */
static int colour_here(int colour, attr_t *attributes, bool is_foreground)
{
	if (colour < COLORS)
		return colour;
	if (is_foreground && colour < 16)
		*attributes |= A_BOLD;
	return colour < 16 ? colour - 8 : -1;
}

static void role_begin(struct terminal *term, enum role role)
{
	struct look look = theme_look(term->theme, role, term->level);
	attr_t attributes = curses_attributes(&look);
	int pair = 0;

	if (term->level != COLOUR_NONE && (look.fg >= 0 || look.bg >= 0)) {
		int fg = colour_here(look.fg, &attributes, true), bg = colour_here(look.bg, &attributes, false);

		pair = alloc_pair(fg, bg);
	}
	term->pairs[role] = pair > 0 ? pair : 0;
	term->attributes[role] = attributes;
}

void colours_begin(struct terminal *term, const struct term_wishes *wishes)
{
	const char *no_color = getenv("NO_COLOR");

	term->level = COLOUR_NONE;
	if (!wishes->no_color && !(no_color && *no_color) && has_colors() && start_color() == OK && COLORS >= 8) {
		use_default_colors();
		term->level = COLORS >= 256 ? COLOUR_256 : COLOUR_16;
	}
	for (enum role role = 0; role < ROLES; role++)
		role_begin(term, role);
}

void term_theme(struct terminal *term, const struct theme *theme)
{
	term->theme = theme;
	for (enum role role = 0; role < ROLES; role++)
		role_begin(term, role);
	term->is_new = true;
}

/*
 * Frames.
 */
static void cell_show(const struct terminal *term, int row, int col, const struct cell *cell)
{
	wchar_t wide[CELL_BYTES] = { L' ' };
	cchar_t shown;
	mbstate_t state = { 0 };
	const char *from = cell->text;

	if (cell->text[0] && mbsrtowcs(wide, &from, CELL_BYTES - 1, &state) == (size_t)-1)
		wide[0] = L'?', wide[1] = L'\0';
	setcchar(&shown, wide[0] ? wide : L" ", term->attributes[cell->role], (short)term->pairs[cell->role],
	         &term->pairs[cell->role]);
	mvadd_wch(row, col, &shown);
}

static void blank_show(const struct terminal *term, int row, int col, const struct cell *cell)
{
	static const struct cell blank = { .text = " ", .width = 1 };
	struct cell shown = blank;

	shown.role = cell->role;
	for (int i = 0; i < cell->width; i++)
		cell_show(term, row, col + i, &shown);
}

/*
 * Doubtful widths. A row that has some is first drawn with blanks in place of them and of what stands right behind each;
 * then they come from left to right, so that a glyph wider than was thought loses its half and not the text behind it.
 */
static bool is_doubtful(const struct canvas *canvas, int row, int col)
{
	return col >= 0 && cell_is_doubtful(&canvas_row(canvas, row)[col]);
}

/* The cell before this one, over the half of a wide one. */
static int col_before(const struct canvas *canvas, int row, int col)
{
	const struct cell *cells = canvas_row(canvas, row);

	while (--col >= 0 && !cells[col].width)
		continue;
	return col;
}

static bool is_held_back(const struct canvas *canvas, int row, int col)
{
	return is_doubtful(canvas, row, col) || is_doubtful(canvas, row, col_before(canvas, row, col));
}

/* Gives whether something was held back. */
static bool row_show(const struct terminal *term, const struct canvas *canvas, int row)
{
	const struct cell *cells = canvas_row(canvas, row);
	bool has_doubts = false;

	for (int col = 0; col < canvas->cols && col < COLS; col++) {
		if (!cells[col].width)
			continue;
		if (is_held_back(canvas, row, col)) {
			blank_show(term, row, col, &cells[col]);
			has_doubts = true;
		} else {
			cell_show(term, row, col, &cells[col]);
		}
	}
	return has_doubts;
}

/* By its place alone, which curses itself would not do: it counts on where the terminal has stopped. */
static struct {
	char bytes[64];
	size_t len;
} place;

static int place_add(int byte)
{
	if (place.len < sizeof(place.bytes))
		place.bytes[place.len++] = (char)byte;
	return byte;
}

static void cursor_to(int row, int col)
{
	place.len = 0;
	tputs(tparm(cursor_address, (long)row, (long)col), 1, place_add);
	bytes_out(STDOUT_FILENO, place.bytes, place.len);
}

/* In the last column a glyph that is wider than was thought would go on in the next row: it stays a blank. */
static void doubtful_show(const struct terminal *term, int row, int col, const struct cell *cell)
{
	int behind = col + cell->width;

	if (behind >= COLS && cell->width == 1)
		return;
	cell_show(term, row, col, cell);
	move(row, behind < COLS ? behind : COLS - 1);
	refresh();
	cursor_to(row, behind < COLS ? behind : COLS - 1);
}

static void doubts_show(const struct terminal *term, const struct canvas *canvas, int row)
{
	const struct cell *cells = canvas_row(canvas, row);

	for (int col = 0; col < canvas->cols && col < COLS; col++) {
		if (is_doubtful(canvas, row, col))
			doubtful_show(term, row, col, &cells[col]);
		else if (cells[col].width && is_held_back(canvas, row, col))
			cell_show(term, row, col, &cells[col]);
	}
}

static bool row_equal(const struct canvas *a, const struct canvas *b, int row)
{
	return memcmp(canvas_row(a, row), canvas_row(b, row), (size_t)a->cols * sizeof(*a->cells)) == 0;
}

/* A terminal that takes nothing gets no frame: the next one is newer. */
static bool takes_output(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) > 0 && (out.revents & POLLOUT);
}

static void cursor_show(const struct canvas *canvas)
{
	curs_set(canvas->cursor_row >= 0);
	if (canvas->cursor_row >= 0)
		move(canvas->cursor_row, canvas->cursor_col);
}

static bool row_differs(const struct terminal *term, const struct canvas *canvas, int row)
{
	bool is_same_size = canvas->rows == term->shown->rows && canvas->cols == term->shown->cols;

	return term->is_new || !is_same_size || !row_equal(canvas, term->shown, row);
}

static void rows_show(const struct terminal *term, const struct canvas *canvas)
{
	static bool has_doubts[CANVAS_ROWS_MAX];
	bool is_any = false;

	for (int row = 0; row < canvas->rows && row < LINES; row++) {
		has_doubts[row] = row_differs(term, canvas, row) && row_show(term, canvas, row);
		is_any |= has_doubts[row];
	}
	cursor_show(canvas);
	/* Letters that are moved to make room would move by the terminal's widths, in later frames too. */
	if (is_any)
		idcok(stdscr, FALSE);
	refresh();
	for (int row = 0; is_any && row < canvas->rows && row < LINES; row++) {
		if (has_doubts[row])
			doubts_show(term, canvas, row);
	}
	if (!is_any)
		return;
	cursor_show(canvas);
	refresh();
}

bool term_show(struct terminal *term, const struct canvas *canvas)
{
	if (!term->is_new && canvas_equal(canvas, term->shown))
		return true;
	if (!takes_output())
		return false;
	if (term->is_new)
		clearok(curscr, TRUE);
	if (term->has_frames)
		bytes_out(STDOUT_FILENO, FRAME_BEGIN, sizeof(FRAME_BEGIN) - 1);
	rows_show(term, canvas);
	if (term->has_frames)
		bytes_out(STDOUT_FILENO, FRAME_END, sizeof(FRAME_END) - 1);
	canvas_copy(term->shown, canvas);
	term->is_new = false;
	return true;
}

void term_redraw(struct terminal *term)
{
	term->is_new = true;
}
