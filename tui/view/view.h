/*
 * A view is one screen: it asks the model for what it shows, draws it, and says what
 * a key means there. One file a view; the table of them is views.c. The frame
 * around it - title, hints, status, prompt, boxes - is the console's
 * (console.h), and so is every act: a view names its subject, and the console knows
 * what can be done to it.
 */
#ifndef WEIR_TUI_VIEW_VIEW_H
#define WEIR_TUI_VIEW_VIEW_H

#include "action/action.h"
#include "term/canvas.h"
#include "view/console.h"
#include "widget/list.h"

struct view {
	const struct view_ops *ops;
	struct console *console;
	char *argument;       /* what follows the place's name on the `:` line: "shop.orders"; never NULL */
	void *state;          /* the view's own */
};

/* What is selected: for acts, copies and the `:` line. Empty texts and 0 for what does not apply. */
struct subject {
	char job[64];
	char table[300];
	char code[40];
	char state[24];       /* of the table, else of the job, else of the letter */
	int64_t group, letter;
	int64_t first;        /* the letter that came first, if the list knows it */
	int64_t count;        /* open letters of the group */
	char states[120];     /* only its letters in these states are meant; "": all */
	bool is_paused;       /* also while its state is a worse word */
};

/* What an act is on. */
struct subjects {
	struct subject *subject; /* to free() */
	size_t count;
	size_t gone;             /* marked, but not among the rows any more */
	int64_t letters;         /* the subjects are groups, and stand for so many letters that a list holds; 0: they are rows */
	enum chosen how;
};

struct view_ops {
	const char *name;     /* the place: "tables"; `:tables`, `g t` */
	const char *table;    /* of the key file */
	const char *help;     /* one sentence, for `?` and the palette */
	/* Gives false with err where there is nothing such to show; `state` may be made here. */
	bool (*open)(struct view *view, struct error *err);
	void (*close)(struct view *view);             /* frees state; may be NULL */
	/* The middle of the screen. Asks the model each time. */
	void (*draw)(struct view *view, struct area area);
	/* Behind the engine's name: "why shop.orders  NEEDS YOU". *out_has_verdict: the title itself says it. */
	void (*title)(struct view *view, struct text *out, bool *out_has_verdict);
	/* The status row: what just holds (left), the place in the list (right). */
	void (*status)(struct view *view, struct text *left, struct text *right);
	/* Actions of the key tables that only some screens have a meaning for - panes, folds, marks, trouble, wide - and this one
	 * does; ends with ACTIONS. NULL: none. Help leaves the others out. */
	const enum action_id *own;
	/* The likely keys in this state, as actions in order of priority; ends with ACTIONS. At most eight are shown. */
	const enum action_id *(*hints)(struct view *view);
	bool open_tells_all; /* the status is a sentence about the selected row, and `open` shows all of it */
	/* What a key of the hints does here in a word ("why" for Enter); NULL: its usual word. May be NULL. */
	const char *(*hint_word)(struct view *view, enum action_id action);
	/* False: this key means nothing here. */
	bool (*act)(struct view *view, enum action_id action, const char *argument);
	bool (*subject)(struct view *view, struct subject *out); /* NULL or false: nothing is selected */
	/* What is marked, else what a filter shows, else the selected one; NULL: always the selected one. */
	void (*chosen)(struct view *view, struct subjects *out);
	/* Text for y and Y; false: nothing to copy. NULL: none. */
	bool (*copy)(struct view *view, bool is_finding, struct text *out);
	/* The n-th step's command for the `:` line (from 1); NULL: this view has none. */
	bool (*step)(struct view *view, int number, struct text *out);
	/* `/`: names of the filter's fields, NULL after the last; NULL: text search or none. */
	const char *const *(*fields)(struct view *view);
	/* A filter or search while it is typed, and when it is taken. NULL: `/` means nothing here. */
	bool (*filter)(struct view *view, const char *text, bool is_taken, struct error *err);
	const char *(*filter_text)(struct view *view);  /* what is filtered by now, "" for nothing; NULL: none */
};

/* Does this action mean something on such a screen? */
bool view_means(const struct view_ops *ops, enum action_id action);

extern const struct view_ops *const views[];
extern const size_t view_count;
const struct view_ops *view_find(const char *name);

#endif
