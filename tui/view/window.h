/*
 * A part of a long list of letters, WINDOW_ROWS of them, that moves with the
 * selection: asked from the engine by `dlq list --after` and `--before`. While
 * the next part is on its way the one before is shown, so that a list never goes
 * blank under the hand that moves in it.
 */
#ifndef WEIR_TUI_VIEW_WINDOW_H
#define WEIR_TUI_VIEW_WINDOW_H

#include "view/view.h"

#define WINDOW_ROWS 1000

struct window_part {
	int64_t after, before; /* ids; before 0: those behind `after` */
	int64_t place;         /* rows before the first one; -1: told by `below` when it has come */
	int64_t below;         /* rows that lie before the id `before`; -1: all there are */
};

struct window {
	const char *job;       /* "-": all jobs; then it is the first part only, since each job numbers its letters */
	int64_t group;         /* 0: all */
	char state[24];        /* "": all */
	struct window_part shown, wanted;
	bool is_moving;        /* `wanted` is on its way */
	enum action_id then;   /* what to do with the selection when it has come: first, last, or ACTIONS */
};

/* The answer to show. *out_came: another part than at the last call; `then` says what is to be selected. */
const struct answer *window_ask(struct view *view, struct window *window, bool *out_came);
/* Letters that the window is a part of; -1: not known yet. */
int64_t window_total(struct view *view, const struct window *window);
/* Rows of the list before the first of the part; -1: not known yet. */
int64_t window_place(struct view *view, const struct window *window);
bool window_is_back(const struct window *window); /* the answer's rows are newest first */
/* Has it all letters? */
bool window_is_whole(struct view *view, const struct window *window);
/* Follows the selection, which is row `at` of `count` (oldest first). */
void window_follow(struct view *view, struct window *window, size_t at, size_t count);
/* To one end: ACTION_first or ACTION_last. False: it is there already. */
bool window_end(struct view *view, struct window *window, enum action_id end);
/* Other letters from now on: begins at the first. "" for all states. */
void window_state(struct window *window, const char *state);

#endif
