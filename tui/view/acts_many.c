/* One act on many: which of them it can be done to, one question that says the count, then one command each. */
#include "base/arena.h"
#include "base/clean.h"
#include "view/acts_table.h"
#include "view/box.h"
#include "widget/chart.h"

#include <stdlib.h>

#define LINE_BYTES 2048
#define GROUPS_BYTES 65536

void act_lines_free(struct act_lines *lines)
{
	while (lines->count)
		free(lines->line[--lines->count]);
}

/* "1,7-9": the groups of one job that a lossy act is on, in one command. */
static void groups_add(struct text *line, const struct subjects *on, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		size_t last = i;

		while (last + 1 < to && on->subject[last + 1].group == on->subject[last].group + 1)
			last++;
		text_add_format(line, "%s%lld", i > from ? "," : "", (long long)on->subject[i].group);
		if (last > i)
			text_add_format(line, "-%lld", (long long)on->subject[last].group);
		i = last;
	}
}

static size_t end_of_job(const struct subjects *on, size_t from)
{
	size_t to = from;

	while (to < on->count && strcmp(on->subject[to].job, on->subject[from].job) == 0)
		to++;
	return to;
}

/* Letters of many groups are discarded at once, and counted at once: all of them or none. */
static bool discards_make(const struct subjects *on, struct act_lines *out)
{
	for (size_t from = 0, to; from < on->count; from = to) {
		OWNED(text) line = text_new(GROUPS_BYTES);

		to = end_of_job(on, from);
		if (out->count == ACTS_AT_ONCE)
			return false;
		text_add(line, "dlq discard --group ");
		groups_add(line, on, from, to);
		text_add(line, " --job ");
		shell_quote(line, span_of(on->subject[from].job));
		if (*on->subject[from].states) {
			text_add(line, " --state ");
			shell_quote(line, span_of(on->subject[from].states));
		}
		for (size_t i = from; i < to; i++)
			out->letters[out->count] += on->subject[i].count;
		if (out->letters[out->count])
			out->line[out->count++] = text_take(line);
	}
	return true;
}

static bool is_discard(const struct menu_act *act)
{
	return strncmp(act->command, "dlq discard", strlen("dlq discard")) == 0;
}

/* "-" alone stands for its job; who has marked it among tables means none of the job's acts. */
static bool is_no_table(const struct subjects *on, size_t i)
{
	const struct subject *subject = &on->subject[i];

	/* Its groups and letters are as any others. */
	return on->count > 1 && !subject->group && !subject->letter && strcmp(subject->table, "-") == 0;
}

/* Those that it cannot be done to are left out, and counted. */
static bool lines_make(const struct menu_act *act, const struct subjects *on, struct act_lines *out)
{
	if (on->letters && is_discard(act))
		return discards_make(on, out);
	for (size_t i = 0; i < on->count; i++) {
		const struct subject *subject = &on->subject[i];
		const struct menu_act *its = is_no_table(on, i) ? NULL : act_same(act, subject);
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

void letters_text(const struct subjects *on, const char *before, char *out, size_t room)
{
	OWNED(text) text = text_new(LINE_BYTES);

	text_add(text, before);
	number_text(on->letters, text);
	text_add_format(text, " %s letters in %zu group%s", on->how == CHOSEN_FILTERED ? "filtered" : "marked", on->count,
	                on->count == 1 ? "" : "s");
	snprintf(out, room, "%s", text->at);
}

/* "pause 3 tables", "replay 12 filtered groups": the label without a noun that the count brings anyway. */
static void title_make(const struct menu_act *act, const struct subjects *on, size_t count, char *out, size_t room)
{
	const char *noun = act_noun(&on->subject[0]);
	size_t label = strlen(act->label), len = strlen(noun);

	if (on->letters) {
		snprintf(out, room, "%s: ", act->label);
		letters_text(on, out, out, room);
		return;
	}

	for (size_t i = 1; i < on->count; i++) {
		if (!is_no_table(on, i) && strcmp(act_noun(&on->subject[i]), noun) != 0)
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
		console_say(console, on->letters ? "at most %d groups at once: narrow the filter" : "at most %d at once: mark fewer",
		            ACTS_AT_ONCE);
	} else if (!lines->count) {
		console_say(console, "none of them can be: %s", act->off_why);
	} else {
		title_make(act, on, lines->count, lines->title, sizeof(lines->title));
		if (!box_confirm_many(console, lines))
			box_ask_open(console, lines);
		return; /* the box has them now */
	}
	act_lines_free(lines);
	free(lines);
}
