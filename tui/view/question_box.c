/* "pause 3 tables? Enter / Esc": the question before an act on many that can be undone. */
#include "base/arena.h"
#include "view/box.h"

#include <stdlib.h>

#define BOX_COLS 70
#define LINES_SHOWN 6

static void question_size(const struct box *box, int *out_rows, int *out_cols)
{
	const struct act_lines *lines = box->state;

	*out_rows = 3 + (int)(lines->count < LINES_SHOWN ? lines->count : LINES_SHOWN + 1);
	*out_cols = BOX_COLS;
}

static void question_draw(struct box *box, struct area area)
{
	const struct act_lines *lines = box->state;
	int room = area.rows - 3;

	draw_text(area, 0, 0, ROLE_popup, "Enter does it, Esc leaves it.");
	if (lines->left_out)
		draw_format(area, 1, 0, ROLE_popup, "%zu more %s left out: it cannot be done to %s now.", lines->left_out,
		            lines->left_out == 1 ? "is" : "are", lines->left_out == 1 ? "it" : "them");
	draw_rule(area, 2, "Same as", "");
	for (int row = 0; row < room && (size_t)row < lines->count; row++) {
		size_t more = lines->count - (size_t)row;

		if (row == room - 1 && more > 1)
			draw_format(area, 3 + row, 0, ROLE_popup, "and %zu more", more);
		else
			draw_format(area, 3 + row, 0, ROLE_popup, "weir %s", lines->line[row]);
	}
}

static void question_close(struct box *box)
{
	act_lines_free(box->state);
	free(box->state);
}

static enum box_fate question_key(struct box *box, const struct key_event *event)
{
	if (event->key.code == KEY_ESC_ || event->key.code == 'q')
		return BOX_CLOSES;
	if (event->key.code == KEY_ENTER_)
		console_run_lines(box->console, box->state);
	return event->key.code == KEY_ENTER_ ? BOX_CLOSES : BOX_STAYS;
}

static void question_hints(const struct box *box, struct text *out)
{
	(void)box;
	text_add(out, "Enter do it  Esc leave, nothing done");
}

static const struct box_ops question_ops = { "question", question_size, question_draw, question_key, question_hints,
	                                     question_close };

void box_ask_open(struct console *console, struct act_lines *lines)
{
	struct box box = { .ops = &question_ops, .state = lines };

	snprintf(box.title, sizeof(box.title), "%.100s?", lines->title);
	console_box(console, &box);
}
