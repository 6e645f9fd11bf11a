/*
 * Text in lines, each of one role, made anew for each frame and scrolled: what pages of
 * words are (explain, why it is here). Paragraphs are broken to the width they are
 * drawn at. A search marks the lines that have it.
 */
#ifndef WEIR_TUI_WIDGET_LINES_H
#define WEIR_TUI_WIDGET_LINES_H

#include "action/action.h"
#include "term/canvas.h"

#define LINES_MAX 20000

struct lines;

struct lines *lines_new(void);
void lines_free(struct lines *lines);

/* A new page of that width; the place and the search stay. */
void lines_begin(struct lines *lines, int cols);
void lines_add(struct lines *lines, enum role role, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Broken between words, each line indented; newlines in the text break as well. */
void lines_paragraph(struct lines *lines, enum role role, int indent, const char *text);
/* "-- title ---- note --" */
void lines_rule(struct lines *lines, const char *title, const char *note);

size_t lines_count(const struct lines *lines);
void lines_draw(struct lines *lines, struct area area);
/* Scrolling; and next and previous hit. True: it was one of these. */
bool lines_act(struct lines *lines, enum action_id action, struct text *say);
/* A word to look for, case does not count; "" for none. Gives how many lines have it. */
size_t lines_search(struct lines *lines, const char *word);
const char *lines_searched(const struct lines *lines);
void lines_status(const struct lines *lines, struct text *out); /* "1-20 of 64" */
/* All lines as text, for copying. */
bool lines_text(const struct lines *lines, struct text *out);

#endif
