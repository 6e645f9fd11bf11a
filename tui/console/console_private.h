/* The console's inside, for the files of this folder. */
#ifndef WEIR_TUI_CONSOLE_CONSOLE_PRIVATE_H
#define WEIR_TUI_CONSOLE_CONSOLE_PRIVATE_H

#include "console/app.h"
#include "prompt/prompt.h"
#include "view/box.h"
#include "view/view.h"

#define VIEWS_KEPT 32
#define MESSAGES_KEPT 200
#define MESSAGE_BYTES 512
#define KEYS_AHEAD_MOST 32

struct message {
	int64_t us;
	bool is_error;
	char text[MESSAGE_BYTES];
};

/* A key that waits, and its bytes, which the prompt takes. */
struct key_ahead {
	struct key_event event;
	char raw[32];
	size_t raw_len;
};

/* A typed line, split. */
struct words {
	char **word;
	size_t count;
};

struct console {
	const struct home *home;
	const struct console_wishes *wishes;
	struct terminal *term;
	struct input *input;
	struct model *model;
	struct keymap *keymap;
	struct theme *theme;
	struct prompt *prompt;
	struct matches matches;
	size_t match_at;
	char *filter_was;      /* when the prompt for it was opened */
	struct canvas *canvas;

	struct view *views[VIEWS_KEPT]; /* history; views[at] is shown */
	size_t view_count, view_at;
	struct box box;                 /* ops NULL: none */
	struct sequence pending;        /* keys of a sequence so far */

	struct key_ahead ahead[KEYS_AHEAD_MOST]; /* pressed before the view was there */
	struct key_ahead ahead_now;     /* the one of them that is done now */
	size_t ahead_count;
	bool is_arriving;               /* the view has not had its first answer */
	bool is_ahead;                  /* ahead_now holds */
	int64_t arriving_ms;            /* when it was opened */

	char name[64];                  /* of the engine */
	struct message messages[MESSAGES_KEPT];
	size_t message_count;           /* ever */
	bool says;                      /* the last message is shown */
	bool is_wide, is_trouble, is_local, has_mouse;
	unsigned act_told;              /* acts up to this one were told in the status row */
	unsigned act_to_note;           /* the act that the next note is about; 0: what is selected */
	unsigned many_from, many_to;    /* acts of one on many; 0: none under way */
	char many_title[120];           /* "pause 3 tables" */
	int range_s;                    /* of the charts */
	char *copied;                   /* by y or Y last; NULL: nothing yet */
	bool is_bare;                   /* it is shown, and nothing else */
	size_t bare_from;               /* the byte of it that is first on the screen, */
	size_t bare_to;                 /* and the one behind the last */
	unsigned connections;           /* of the model, seen last */
	bool was_blind;
	int64_t blind_ms, blind_us;
	bool has_box;                   /* the box is on the frame drawn last */

	int64_t now_ms, now_us, begun_ms, drawn_ms;
	bool is_palette; /* the open line finds whole lines by their words */
	bool is_dirty, is_ending;
	char token[SYNC_TOKEN_BYTES];   /* to be answered when all is drawn */
	bool has_token, sync_asked;
	bool is_far;                    /* the terminal answers late: fewer frames, charts that sweep */
	bool has_charts;                /* somebody has chosen how charts move */
	int64_t keyed_ms;               /* the last key */
	bool has_esc_ms;                /* somebody has chosen it: it is not measured */
	bool is_told_to_end;            /* by a signal */
	int resizes;
};

/* facts.c: by its own wish or the engine's word */
bool console_may_only_look(const struct console *console);

/* frame.c */
void frame_draw(struct console *console);

/* hints.c */
void frame_hints(struct console *console, struct text *out);

/* bar.c: two rows while the engine is away; "03:08:14Z", a moment of the wall clock; "44s", whole seconds */
void bar_draw(struct console *console, struct area area);
void frame_clock(const struct console *console, int64_t us, bool with_seconds, struct text *out);
void frame_age(int64_t ms, struct text *out);

/* link.c: an answer of the terminal; the settings of a console that begins; when the next frame may come that no key asked for */
void console_heard(struct console *console, struct span report);
void link_settings(struct console *console);
int64_t link_frame_ms(const struct console *console);

/* keys.c */
void keys_take(struct console *console, const struct key_event *event);
void keys_do(struct console *console, const struct key_event *event); /* one that is not kept for later */

/* ahead.c: keys for a view that is not there yet. True: it was kept, or refused. */
bool ahead_keeps(struct console *console, const struct key_event *event);
void ahead_view(struct console *console);  /* a view was opened */
void ahead_drawn(struct console *console); /* its questions have been asked, before model_frame_done */
void ahead_step(struct console *console);  /* does those whose view is there */
struct span ahead_raw(const struct console *console); /* bytes of the key that is taken now, typed ahead or not */
/* Of what changes something; true: it was typed ahead, so it is not done. */
bool ahead_refuses(struct console *console, const char *what);

/* act.c: actions that are the same everywhere */
void console_do(struct console *console, enum action_id action, const char *argument);

/* stack.c */
struct view *console_view(const struct console *console);
void stack_free(struct console *console);
void stack_move(struct console *console, int by);

/* command.c */
const char *word_at(const struct words *words, size_t i); /* "" behind the last */
const char *arg_text(const json_t *args, const char *name); /* "" where it is not given */

/* outcome.c */
void outcomes_say(struct console *console);

/* say.c */
void console_say_read_only(struct console *console);

/* lines.c: what the console itself does; false: it is no line of its own */
bool line_run(struct console *console, const struct words *words);

/* bare.c: what was copied last, on a screen without anything else */
void bare_open(struct console *console);
void bare_take(struct console *console, const struct key_event *event);
void bare_draw(struct console *console, struct area area);

/* line.c: the prompt while it is open */
/* The `:` line as a palette: lines typed before, commands and places, by any word. */
void line_palette(struct console *console);
void line_take(struct console *console, const struct key_event *event);
void line_draw(struct console *console, struct area screen);

#endif
