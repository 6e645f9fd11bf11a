/*
 * The console as a view sees it: the model, the clock, and what a view may ask for.
 * One in a process; owned by app.c.
 */
#ifndef WEIR_TUI_VIEW_CONSOLE_H
#define WEIR_TUI_VIEW_CONSOLE_H

#include "keymap/keymap.h"
#include "model/model.h"
#include "term/term.h"

struct console;
struct view;
struct subject;

struct model *console_model(struct console *console);
const struct keymap *console_keymap(struct console *console);
const char *console_state_folder(const struct console *console);
int64_t console_now_ms(const struct console *console);     /* mono; the same during a frame */
int64_t console_now_us(const struct console *console);     /* wall */
bool console_is_local(const struct console *console);      /* `T` */
int console_cols(const struct console *console);            /* of the screen */
bool console_is_far(const struct console *console);        /* a slow link: no preview panes */
bool console_is_wide(const struct console *console);       /* `w` */
#define CHART_RANGE_S 600
int console_range_s(const struct console *console);          /* `:range`: how long a time charts show */
bool console_is_trouble_only(const struct console *console); /* `!` */
/* Is the engine away, so that numbers are old and dimmed? */
bool console_is_blind(const struct console *console);
/* Text role of numbers: dim while they are old. */
enum role console_role(const struct console *console, enum role role);
enum role state_role(const char *state);                    /* of one of the eight words */
#define STATE_RANKS 8
int state_rank(const char *state);                          /* 0: the worst of the eight; one that is new is watched */
/* "NEEDS YOU" for a column; other states as they are. */
const char *state_column(const char *state);

/* Goes to a place, with its argument ("" for none); the status row says why not. */
bool console_go(struct console *console, const char *place, const char *argument);
void console_back(struct console *console);
/* What the status row says until the next key; kept for :messages. */
void console_say(struct console *console, const char *format, ...) __attribute__((format(printf, 2, 3)));
void console_complain(struct console *console, const struct error *err);
/* What was said, newest from 0; kept for :messages. */
size_t console_message_count(const struct console *console);
const char *console_message(const struct console *console, size_t newest, int64_t *out_us, bool *out_is_error);
/* Opens the `:` line with a text in it; nothing runs before Enter. */
void console_line(struct console *console, const char *text);
/* Runs a command as if it had been typed: `pause shop shop.orders`. Lossy ones ask first. */
void console_run(struct console *console, const char *line);

/* Times as the screens write them, in UTC or local time (`T`). `text` is RFC 3339, or NULL. */
void console_time(const struct console *console, const char *text, bool with_seconds, struct text *out);   /* 02:27, Mon, 9 Aug */
void console_moment(const struct console *console, const char *text, struct text *out);  /* 2026-11-30 02:27:03.551 */
void console_ago(const struct console *console, const char *text, struct text *out);     /* "41m ago" */
int64_t time_us_of(const char *text);  /* RFC 3339 to microseconds; -1: none */

/* Members of an object of an answer; "" and 0 where they are missing. */
const char *member_text(const json_t *object, const char *name);
int64_t member_int(const json_t *object, const char *name);
double member_number(const json_t *object, const char *name);
bool member_bool(const json_t *object, const char *name);

#endif
