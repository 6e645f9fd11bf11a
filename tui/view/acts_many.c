/* One act on many: which of them it can be done to, one question that says the count, then one command each. */
#include "base/arena.h"
#include "view/acts_table.h"
#include "view/box.h"

#include <stdlib.h>

#define LINE_BYTES 2048

void act_lines_free(struct act_lines *lines)
{
	while (lines->count)
		free(lines->line[--lines->count]);
}

/* Those that it cannot be done to are left out, and counted. */
static bool lines_make(const struct menu_act *act, const struct subjects *on, struct act_lines *out)
{
	for (size_t i = 0; i < on->count; i++) {
		const struct subject *subject = &on->subject[i];
		const struct menu_act *its = act_same(act, subject);
		OWNED(text) line = text_new(LINE_BYTES);

		if (!its || act_off(its, subject)) {
			out->left_out++;
			continue;
		}
		if (out->count == ACTS_AT_ONCE)
			return false;
		act_command(its, subject, line);
		out->letters[out->count] = subject->letter ? 1 : subject->count;
		out->line[out->count++] = text_take(line);
	}
	return true;
}

/* "pause 3 tables", "replay 12 filtered groups": the label without a noun that the count brings anyway. */
static void title_make(const struct menu_act *act, const struct subjects *on, size_t count, char *out, size_t room)
{
	const char *noun = act_noun(&on->subject[0]);
	size_t label = strlen(act->label), len = strlen(noun);

	for (size_t i = 1; i < on->count; i++) {
		if (strcmp(act_noun(&on->subject[i]), noun) != 0)
			noun = "row"; /* jobs and tables */
	}
	if (label > len + 1 && strcmp(act->label + label - len, noun) == 0)
		label -= len + 1;
	snprintf(out, room, "%.*s %zu%s %s%s", (int)label, act->label, count, on->how == CHOSEN_FILTERED ? " filtered" : "", noun,
	         count == 1 ? "" : "s");
}

void box_many_open(struct console *console, const struct menu_act *act, const struct subjects *on)
{
	struct act_lines *lines = memory_zalloc(sizeof(*lines));

	if (strncmp(act->command, "job delete", strlen("job delete")) == 0) {
		console_say(console, "jobs are deleted one at a time: each name is to be typed");
	} else if (!lines_make(act, on, lines)) {
		console_say(console, "at most %d at once: mark fewer", ACTS_AT_ONCE);
	} else {
		title_make(act, on, lines->count, lines->title, sizeof(lines->title));
		if (!box_confirm_many(console, lines))
			box_ask_open(console, lines);
		return; /* the box has them now */
	}
	act_lines_free(lines);
	free(lines);
}
