/* The table of acts (acts.def): which of them means something for a subject, whether it can be done, as which command. */
#ifndef WEIR_TUI_VIEW_ACTS_TABLE_H
#define WEIR_TUI_VIEW_ACTS_TABLE_H

#include "view/view.h"

enum applies { ON_JOB = 1, ON_TABLE = 2, ON_GROUP = 4, ON_LETTER = 8 };

struct menu_act {
	char letter;
	const char *label;
	unsigned applies;
	const char *command, *off_states, *off_why, *effect, *undo;
};

#define ACTS_MOST 32 /* in a menu */
extern const struct menu_act acts_table[];
extern const size_t acts_count;

/* NULL: a subject of that kind has no such act. */
const struct menu_act *act_of_letter(char letter, const struct subject *subject);
/* The act of that letter for another subject: pausing a job is another row than pausing a table. NULL: it has none. */
const struct menu_act *act_same(const struct menu_act *act, const struct subject *subject);
/* Why it cannot be done in the subject's state; NULL: it can. */
const char *act_off(const struct menu_act *act, const struct subject *subject);
/* "pause J T" with the subject's names. */
void act_command(const struct menu_act *act, const struct subject *subject, struct text *out);
/* "job", "table", "group", "letter" */
const char *act_noun(const struct subject *subject);

#endif
