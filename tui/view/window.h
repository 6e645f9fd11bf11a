/*
 * A part of a long list of letters, WINDOW_ROWS of them, that moves with the
 * selection: asked from the engine by `dlq list --after` and `--before`. While
 * the next part is on its way the one before is shown, so that a list never goes
 * blank under the hand that moves in it.
 */
#ifndef WEIR_TUI_VIEW_WINDOW_H
#define WEIR_TUI_VIEW_WINDOW_H

#include "view/asked.h"

#define WINDOW_ROWS 1000
#define WINDOW_FIRST_ROWS 100 /* asked first where nothing is shown yet: a screen full at once, the rest behind it */

/* Where a letter stands: jobs in the order of their names, letters of a job in that of their numbers. */
struct place {
	char job[64];
	int64_t id;
};

struct window_part {
	struct place at;       /* behind it, or before it; an empty job: from the first on, or from the last back */
	bool is_back;          /* before it: its rows come newest first */
	int64_t place;         /* rows before the first one; -1: told by `below` when it has come */
	int64_t below;         /* rows that lie before `at`; -1: all there are */
	bool is_first;         /* only WINDOW_FIRST_ROWS of it; all of it comes next */
};

struct window {
	struct asked *asked;   /* lent: the letters that it is a part of */
	struct window_part shown, wanted;
	bool is_moving;        /* `wanted` is on its way */
	bool is_growing;       /* and is the same part, all of it */
	enum action_id then;   /* what to do with the selection when it has come: first, last, or ACTIONS */
};

/* The answer to show. *out_came: another part than at the last call; `then` says what is to be selected. */
const struct answer *window_ask(struct view *view, struct window *window, bool *out_came);
/* Letters that the window is a part of; -1: not known yet. */
int64_t window_total(const struct window *window);
/* Rows of the list before the first of the part; -1: not known yet. */
int64_t window_place(struct view *view, const struct window *window);
bool window_is_back(const struct window *window); /* the answer's rows are newest first */
/* Has it all letters? */
bool window_is_whole(struct view *view, const struct window *window);
/* Follows the selection, which is row `at` of `count` (oldest first). */
void window_follow(struct view *view, struct window *window, size_t at, size_t count);
/* To one end: ACTION_first or ACTION_last. False: it is there already. */
bool window_end(struct view *view, struct window *window, enum action_id end);
/* Other letters are asked for from now on: begins at the first. */
void window_begin(struct window *window);

#endif
