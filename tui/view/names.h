/* Arguments of places, from what is selected: one spelling for the views, the keys and the `:` line. */
#ifndef WEIR_TUI_VIEW_NAMES_H
#define WEIR_TUI_VIEW_NAMES_H

#include "view/view.h"

/*
 *   job JOB   tables [JOB]   why TABLE[ of JOB]   dlq [JOB [TABLE]]   entries JOB GROUP [FILTER]   letter JOB ID
 *   balance [JOB]   schema [JOB [TABLE]]   journal [JOB [TABLE]]   logs [JOB]
 * Names are separated by a blank; a name with blanks is the last.
 */
#define NAME_WORDS 3
struct name_words {
	char word[NAME_WORDS][300];
};
/* Splits an argument; words that are not there are empty, the last takes the rest. */
void name_words(const char *argument, int most, struct name_words *out);

/* Is "shop.orders" meant by what is typed: whole, or without its dataset? */
bool name_is_table(const char *typed, const char *full);

void letters_argument(const struct subject *subject, struct text *out);
/* The letter that came first for the subject; false: none known. */
bool first_bad_argument(struct console *console, const struct subject *subject, struct text *out);
/* What a place takes of the subject. */
void place_argument(const char *place, const struct subject *subject, struct text *out);

/* A place that g opens shows only what was selected: "only shop.orders; g j shows all". Nothing: it shows all there is. */
void place_narrowed(struct view *view, struct text *out);

/* What follows the name of the job, if one is given: " GROUP FILTER" of the options of `dlq list`, else "- GROUP FILTER". */
void entries_argument(const json_t *args, struct text *out);

#endif
