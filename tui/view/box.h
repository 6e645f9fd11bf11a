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

#define ACTS_AT_ONCE 100 /* half of what the model keeps */

/* Commands to run one after the other; on the heap, a box owns it. */
struct act_lines {
	char title[120];                  /* "pause 3 tables" */
	char *line[ACTS_AT_ONCE];         /* without --confirm */
	int64_t letters[ACTS_AT_ONCE];    /* open letters that each would discard */
	size_t count, left_out;           /* to how many it cannot be done */
};
void act_lines_free(struct act_lines *lines);

struct menu_act;

/* The menu of acts for what is chosen (acts_box.c); `on` has one at least and is the menu's then. */
void box_acts_open(struct console *console, const struct subjects *on);
/* "acts on 4,896 marked letters in 2 groups", behind what comes before it. */
void letters_text(const struct subjects *on, const char *before, char *out, size_t room);
/* One question for all of them (acts_many.c). */
void box_many_open(struct console *console, const struct menu_act *act, const struct subjects *on);
/* The question before a lossy act (confirm_box.c). */
/* Is it an act that takes something away, and lacks only what the box asks for? */
bool box_is_lossy(const char *line);
/* Such a line as a call that does nothing: count 0. For the engine to refuse. The caller owns out->args. */
bool box_lossy_parse(const char *line, struct command_line *out);
/* `line` as typed without --confirm and --yes; gives false if it is no lossy act or is confirmed already. */
bool box_confirm_open(struct console *console, const char *line);
/* Asks for the count of letters of all lines together. False: they are not lossy. Takes the lines when true. */
bool box_confirm_many(struct console *console, struct act_lines *lines);
/* "pause 3 tables? Enter / Esc", then the lines run (question_box.c). Takes them. */
void box_ask_open(struct console *console, struct act_lines *lines);
/* Runs them, and says at their end how it went. */
void console_run_lines(struct console *console, const struct act_lines *lines);

#endif
