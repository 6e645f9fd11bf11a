/* Bytes as offset, hex and text, sixteen a row, eight where it is narrow; a part of them may be pointed at. */
#ifndef WEIR_TUI_WIDGET_HEX_H
#define WEIR_TUI_WIDGET_HEX_H

#include "action/action.h"
#include "term/canvas.h"

struct hex {
	struct span bytes;     /* borrowed */
	size_t top;            /* first row */
	size_t from, to;       /* pointed at: [from, to), or both 0 */
	int page;
	int row_bytes;         /* as drawn last; 0: not yet, sixteen */
};

void hex_draw(struct hex *hex, struct area area);
/* Points at a part, and goes to it. */
void hex_point(struct hex *hex, size_t from, size_t to);
bool hex_act(struct hex *hex, enum action_id action);
/* Goes to the next place of `word` behind what is pointed at (from the beginning at the end). False: none. */
bool hex_search(struct hex *hex, struct span word);

#endif
