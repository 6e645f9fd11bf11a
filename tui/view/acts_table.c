/* The table of acts; see acts_table.h. */
#include "view/acts_table.h"
#include "base/clean.h"

const struct menu_act acts_table[] = {
#define ACT(letter, label, applies, command, off_states, off_why, effect, undo) \
	{ letter, label, applies, command, off_states, off_why, effect, undo },
#include "view/acts.def"
#undef ACT
};

const size_t acts_count = sizeof(acts_table) / sizeof(*acts_table);

/* A letter's own acts, and those of its group. */
static unsigned kind_of(const struct subject *subject)
{
	if (subject->letter)
		return ON_LETTER | ON_GROUP;
	if (subject->group)
		return ON_GROUP;
	return subject->table[0] && strcmp(subject->table, "-") != 0 ? ON_TABLE : ON_JOB;
}

const char *act_noun(const struct subject *subject)
{
	return subject->letter ? "letter" : subject->group ? "group" : kind_of(subject) == ON_TABLE ? "table" : "job";
}

const struct menu_act *act_of_letter(char letter, const struct subject *subject)
{
	for (size_t i = 0; i < acts_count; i++) {
		if (acts_table[i].letter == letter && acts_table[i].applies & kind_of(subject))
			return &acts_table[i];
	}
	return NULL;
}

const struct menu_act *act_same(const struct menu_act *act, const struct subject *subject)
{
	return act_of_letter(act->letter, subject);
}

static bool states_have(const char *states, const char *state)
{
	size_t len = strlen(state);

	for (const char *at = states; len && (at = strstr(at, state)); at += len) {
		if ((at == states || at[-1] == '|') && (at[len] == '\0' || at[len] == '|'))
			return true;
	}
	return false;
}

const char *act_off(const struct menu_act *act, const struct subject *subject)
{
	if (!*act->command)
		return act->off_why;
	/* A letter's state is not its group's: others may be open, and who does it is told if none is. */
	if (act->applies == ON_GROUP && subject->letter)
		return NULL;
	if (act->applies == ON_GROUP && !*subject->states && !subject->count)
		return act->off_why;
	return states_have(act->off_states, subject->is_paused ? "paused" : subject->state) ? act->off_why : NULL;
}

void act_command(const struct menu_act *act, const struct subject *subject, struct text *out)
{
	for (const char *at = act->command; *at; at++) {
		bool is_word = (at == act->command || at[-1] == ' ') && (at[1] == '\0' || at[1] == ' ');

		if (is_word && *at == 'J')
			shell_quote(out, span_of(subject->job));
		else if (is_word && *at == 'T')
			shell_quote(out, span_of(subject->table));
		else if (is_word && (*at == 'G' || *at == 'I'))
			text_add_int(out, *at == 'G' ? subject->group : subject->letter);
		else
			text_add_char(out, *at);
	}
	if (*subject->states && subject->group) {
		text_add(out, " --state ");
		shell_quote(out, span_of(subject->states));
	}
}
