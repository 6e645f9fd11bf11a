/* Colours by name, hint and index, and the nearest ones of a smaller palette. */
#ifndef WEIR_TUI_TERM_COLOUR_PRIVATE_H
#define WEIR_TUI_TERM_COLOUR_PRIVATE_H

#include "base/span.h"

#define COLOUR_DEFAULT (-1)
/* Colours inside of a theme before it is asked: an index of the palette, or a hint with this bit. */
#define COLOUR_HINT 0x1000000

/* "#e06c75", "203", "bright-red", "default"; false: none of these. */
bool colour_parse(struct span word, int32_t *out_colour);
/* Any colour as an index of 256, or of the 16 that have names. */
int16_t colour_to_256(int32_t colour);
int16_t colour_to_16(int32_t colour);

#endif
