/*
 * libvterm's cells as JSON: see picture.h.
 */
#include "screen/picture.h"

#define RIGHT_HALF ((uint32_t)-1)

static int colour_number(VTermColor colour)
{
	if (VTERM_COLOR_IS_DEFAULT_FG(&colour) || VTERM_COLOR_IS_DEFAULT_BG(&colour))
		return -1;
	if (VTERM_COLOR_IS_INDEXED(&colour))
		return colour.indexed.idx;
	return 1000000 + (colour.rgb.red << 16 | colour.rgb.green << 8 | colour.rgb.blue);
}

/* One letter each: bold, underline, italic, blink, reverse, strike. */
static void attributes(const VTermScreenCell *cell, char out[8])
{
	size_t len = 0;

	if (cell->attrs.bold)
		out[len++] = 'b';
	if (cell->attrs.underline)
		out[len++] = 'u';
	if (cell->attrs.italic)
		out[len++] = 'i';
	if (cell->attrs.blink)
		out[len++] = 'k';
	if (cell->attrs.reverse)
		out[len++] = 'r';
	if (cell->attrs.strike)
		out[len++] = 's';
	out[len] = '\0';
}

/* One code point as JSON's text: escaped, so that it needs no UTF-8 from us. */
static void print_point(uint32_t point, FILE *to)
{
	if (point >= 0x10000)
		fprintf(to, "\\u%04x\\u%04x", 0xd800 + ((point - 0x10000) >> 10), 0xdc00 + (point & 0x3ff));
	else if (point < ' ' || point >= 0x7f || point == '"' || point == '\\')
		fprintf(to, "\\u%04x", point);
	else
		fputc((int)point, to);
}

static void print_text(const VTermScreenCell *cell, FILE *to)
{
	fputc('"', to);
	if (cell->chars[0] == 0)
		fputc(' ', to);
	for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell->chars[i] && cell->chars[0] != RIGHT_HALF; i++)
		print_point(cell->chars[i], to);
	fputc('"', to);
}

static bool looks_same(const VTermScreenCell *a, const VTermScreenCell *b)
{
	char left[8], right[8];

	attributes(a, left);
	attributes(b, right);
	return colour_number(a->fg) == colour_number(b->fg) && colour_number(a->bg) == colour_number(b->bg) && strcmp(left, right) == 0;
}

static void print_row(VTermScreen *screen, int row, int cols, FILE *to)
{
	VTermScreenCell before, cell;
	char letters[8];

	for (int col = 0; col < cols; col++) {
		vterm_screen_get_cell(screen, (VTermPos){ .row = row, .col = col }, &cell);
		if (col == 0 || !looks_same(&before, &cell)) {
			attributes(&cell, letters);
			fprintf(to, "%s[%d,%d,\"%s\",[", col ? "]]," : "[", colour_number(cell.fg), colour_number(cell.bg), letters);
		} else {
			fputc(',', to);
		}
		print_text(&cell, to);
		before = cell;
	}
	fputs("]]]\n", to);
}

void picture_print(VTermScreen *screen, int rows, int cols, FILE *to)
{
	for (int row = 0; row < rows; row++)
		print_row(screen, row, cols, to);
}
