/*
 * Text as a terminal shows it: columns, cuts, and nothing that the terminal would
 * obey. Pure functions of bytes and of one setting, whether the terminal takes
 * UTF-8 (set once at start, before anything is drawn).
 */
#ifndef WEIR_TUI_TERM_CELLS_H
#define WEIR_TUI_TERM_CELLS_H

#include "base/span.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* What comes next in a text, made safe: a character with its combining marks, or the visible escape of one that
 * must not reach a terminal (control, C1, bidi, zero width, invalid UTF-8: as clean_text shows them; without UTF-8 all
 * that is not ASCII). A tab and a newline are escapes as well. */
struct glyph {
	char text[16];   /* NUL-terminated; an escape such as \u202e is as long as its width */
	uint8_t len;     /* bytes of text */
	uint8_t width;   /* columns: 1 or 2, of an escape 2 to 10 */
	bool is_escape;
	size_t taken;    /* bytes of the source */
};

/* May terminals and this machine's tables disagree on how wide it is? Pictographs, scripts whose signs join, private signs,
 * all that comes with marks. */
struct cell;
bool cell_is_doubtful(const struct cell *cell);

void cells_set_utf8(bool is_utf8);
bool cells_is_utf8(void);

/* False at the end of the text. */
bool glyph_next(struct span text, size_t at, struct glyph *out);
/* Columns of the whole text. */
int cells_width(struct span text);
/* The longest beginning of the text that fits into `cols` columns: bytes; *out_cols its columns. */
size_t cells_fit(struct span text, int cols, int *out_cols);

#endif
