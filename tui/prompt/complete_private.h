/* How matches are gathered, and what parts of a line are one word. For complete*.c, matches.c and words.c only. */
#ifndef WEIR_TUI_PROMPT_COMPLETE_PRIVATE_H
#define WEIR_TUI_PROMPT_COMPLETE_PRIVATE_H

#include "prompt/prompt.h"

struct completing {
	const struct prompt_names *names;
	struct matches *out;
	const char *word;      /* what is typed of the word, without quotes */
	const char *command;   /* "pause", or "" */
	const char *kind;      /* of the names that are asked for now */
};

/* Adds it if it begins with the word, case does not count. Quoted where words_split needs it. */
void match_add(struct completing *completing, const char *text, const char *note, bool is_off);
/* A whole line, as it is. */
void match_add_line(struct completing *completing, const char *line, const char *note);
/* The names of a kind, each with its note; those that the command cannot take now are off. */
void match_add_names(struct completing *completing, const char *kind, const char *job);
/* What a slot of a usage text may be: names, codes, parameters, choices. */
void match_add_values(struct completing *completing, const char *slot, const char *job);

/* Does a JSON value begin here, behind NAME=? And where it ends; NULL: it is not closed. (words.c) */
bool words_json_begins(char before, const char *at);
const char *words_json_end(const char *at);

#endif
