/*
 * What the terminal shows, as one line of JSON a row: runs of cells that look the same,
 *   [[FOREGROUND, BACKGROUND, "ATTRIBUTES", ["a", "b", "", ...]], ...]
 * A colour is an index, -1 the default, or 1000000 + RGB. One text a column: "" is the right half of a wide character.
 */
#ifndef WEIR_TESTS_SCREEN_PICTURE_H
#define WEIR_TESTS_SCREEN_PICTURE_H

#include <stdio.h>
#include <vterm.h>

void picture_print(VTermScreen *screen, int rows, int cols, FILE *to);

#endif
