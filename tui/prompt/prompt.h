/*
 * The line at the bottom: `:` for commands, `/` for filters, and questions. GNU
 * readline edits it inside our loop (console.md 5): it reads only the bytes that
 * are handed to it and draws nothing; the console draws its text on the canvas.
 */
#ifndef WEIR_TUI_PROMPT_PROMPT_H
#define WEIR_TUI_PROMPT_PROMPT_H

#include "base/text.h"
#include "term/canvas.h"

#include <jansson.h>

enum prompt_kind { PROMPT_LINE, PROMPT_FILTER };
#define PROMPT_BYTES_MAX 4096

/* One thing that may come next. */
struct match {
	char *text;      /* what the word becomes */
	char *note;      /* one-line help, or why it cannot be chosen now */
	bool is_off;
};
#define MATCHES_MAX 200

struct matches {
	char *title;     /* usage of the command ("pause JOB [TABLE]"), or "" */
	char *effect;    /* what the command does, or "" */
	size_t from;     /* the word that is completed begins here (bytes) */
	struct match *match;
	size_t count, all; /* `all`: how many there would be */
};
void matches_clear(struct matches *matches);

/* What completion asks of the console: names as the model knows them. */
struct prompt_names {
	/* Calls `add` for each name of that kind ("JOB", "TABLE", "GROUP", "CODE", "PLACE", "PARAMETER", a field of the
	 * filter); `job` narrows tables and groups, or is "". */
	void (*each)(void *context, const char *kind, const char *job, void (*add)(void *to, const char *name, const char *note),
	             void *to);
	void *context;
};

/* What may come at the end of `line` (its first `point` bytes), from commands.def, the option table and the names. Pure
 * but for the names. */
void complete_line(const char *line, size_t point, const struct prompt_names *names, struct matches *out);
void complete_filter(const char *line, size_t point, const char *const *fields, const struct prompt_names *names,
                     struct matches *out);

struct prompt;

/* What was typed last, commands and places that have each word of the prompt's text; whole lines. */
void complete_palette(const struct prompt *prompt, struct matches *out);
/* The n-th line that was typed last, the newest first, while the prompt is open; NULL: there are no more. */
const char *prompt_recent(const struct prompt *prompt, size_t n);

/* history_folder: where history files are kept (0600), or NULL. */
struct prompt *prompt_new(const char *history_folder);
void prompt_free(struct prompt *prompt);

void prompt_open(struct prompt *prompt, enum prompt_kind kind, const char *text);
bool prompt_is_open(const struct prompt *prompt);
enum prompt_kind prompt_kind(const struct prompt *prompt);
void prompt_close(struct prompt *prompt);

enum prompt_end { PROMPT_GOES_ON, PROMPT_TAKEN, PROMPT_LEFT };
/* The bytes of one key (input_raw). PROMPT_TAKEN: Enter; the line is prompt_text until the next open. A lone Esc, C-c and
 * C-d on an empty line leave. */
enum prompt_end prompt_feed(struct prompt *prompt, struct span bytes);
/* A paste goes in as text; newlines become blanks. */
void prompt_insert(struct prompt *prompt, struct span text);
const char *prompt_text(const struct prompt *prompt);
size_t prompt_point(const struct prompt *prompt);
/* The cursor behind the text. */
void prompt_move_end(struct prompt *prompt);
/* Puts the chosen match in place of the word. */
void prompt_take(struct prompt *prompt, size_t from, const char *word);

/* Draws ":text" in the row (scrolled sideways where it is long), puts the cursor, and the note at the right. */
void prompt_draw(const struct prompt *prompt, struct area area, int row, const char *note);

/* Splits a line into words as a shell would, with '..', ".." and backslash, but nothing is ever run by a shell; and JSON behind
 * NAME= is taken whole, with its quotes and blanks. Words are freed by words_free. False: a quote or a bracket is not closed. */
bool words_split(const char *line, char ***out_words, size_t *out_count);
void words_free(char **words, size_t count);

#endif
