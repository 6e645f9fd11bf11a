/* Bytes as offset, hex and text, sixteen a row; a part of them may be pointed at. */
#ifndef WEIR_TUI_WIDGET_HEX_H
#define WEIR_TUI_WIDGET_HEX_H

#include "action/action.h"
#include "term/canvas.h"

struct hex {
	struct span bytes;     /* borrowed */
	size_t top;            /* first row */
	size_t from, to;       /* pointed at: [from, to), or both 0 */
	int page;
};

void hex_draw(struct hex *hex, struct area area);
bool hex_act(struct hex *hex, enum action_id action);
/* Goes to the next place of `word` behind what is pointed at (from the beginning at the end). False: none. */
bool hex_search(struct hex *hex, struct span word);

#endif
