/*
 * A box stands over a view and takes all keys until it closes: the menu of acts, a
 * question, the confirmation of a lossy act. One at a time; it is drawn before it
 * may be answered. Where it does not fit it takes the whole middle of the screen.
 */
#ifndef WEIR_TUI_VIEW_BOX_H
#define WEIR_TUI_VIEW_BOX_H

#include "view/view.h"

enum box_fate { BOX_STAYS, BOX_CLOSES };

struct box;

struct box_ops {
	const char *name;
	/* Rows and columns that it would like; it may get less. */
	void (*size)(const struct box *box, int *out_rows, int *out_cols);
	void (*draw)(struct box *box, struct area area);           /* inside of the border */
	enum box_fate (*key)(struct box *box, const struct key_event *event);
	void (*hints)(const struct box *box, struct text *out);    /* the row of hints as text: "Enter discard  Esc leave" */
	void (*close)(struct box *box);                            /* frees state */
};

struct box {
	const struct box_ops *ops;
	struct console *console;
	char title[120];
	void *state;
	bool is_drawn;
};

/* Opens it in place of another one. `box` is a template; its state becomes the console's. */
void console_box(struct console *console, const struct box *box);

/* The menu of acts for the selected thing (acts.c), and the question before a lossy act (confirm.c). */
void box_acts_open(struct console *console, const struct subject *subject);
/* `line` as typed without --confirm and --yes; gives false if it is no lossy act or is confirmed already. */
bool box_confirm_open(struct console *console, const char *line);
/* "QUESTION  Enter / Esc", then `line` runs. */
void box_ask_open(struct console *console, const char *question, const char *line);

#endif
