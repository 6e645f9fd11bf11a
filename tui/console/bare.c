/* What was copied last, from edge to edge of a bare screen, for the terminal's own selection. */
#include "console/console_private.h"
#include "term/cells.h"

#include <stdlib.h>

void bare_open(struct console *console)
{
	if (!console->copied) {
		console_say(console, "nothing was copied yet; y copies what is selected, Y all about it");
		return;
	}
	console->is_bare = true;
	console->bare_from = console->bare_to = 0;
}

/* A further screen while there is more; anything else leaves. */
void bare_take(struct console *console, const struct key_event *event)
{
	uint32_t code = event->key.code;
	bool is_further = code == ' ' || code == KEY_PAGE_DOWN_ || code == KEY_ENTER_;

	if (is_further && console->copied[console->bare_to])
		console->bare_from = console->bare_to;
	else
		console->is_bare = false;
}

void bare_draw(struct console *console, struct area area)
{
	size_t at = console->bare_from;
	const char *text = console->copied;

	for (int row = 0; row < area.rows - 1 && text[at]; row++) {
		size_t len = strcspn(text + at, "\n");
		int taken;
		size_t fit = cells_fit(span_make(text + at, len), area.cols, &taken);

		if (!fit)
			fit = len; /* a column that no character fits into */
		draw_span(area, row, 0, ROLE_text, span_make(text + at, fit));
		at += fit;
		at += text[at] == '\n' && fit == len;
	}
	console->bare_to = at;
	draw_text(area, area.rows - 1, 0, ROLE_hint, text[at] ? "Space more, another key back" : "any key goes back");
}
