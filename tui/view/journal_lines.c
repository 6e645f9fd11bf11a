/* Lines of the journal in a pane; see journal_lines.h. */
#include "view/journal_lines.h"

#define LINE_BYTES 4096
#define WHO_COLS 8
#define CHANGE_LINES 4 /* a change is two lines, and one may have failed */

/* An act that told its count and waited for a yes: nothing has failed. */
static bool is_question(const char *code)
{
	return strcmp(code, "replay_not_confirmed") == 0 || strcmp(code, "not_confirmed") == 0;
}

bool journal_has_failed(const json_t *line)
{
	const char *phase = member_text(line, "phase");

	return (strcmp(phase, "failed") == 0 || strcmp(phase, "refused") == 0) && !is_question(member_text(line, "code"));
}

/* What came of an act; nothing where it simply was done. */
static void end_add(const json_t *line, struct text *out)
{
	const char *phase = member_text(line, "phase");

	if (strcmp(phase, "before") == 0)
		text_add(out, ": begun, no end yet");
	else if (strcmp(phase, "after") == 0 && member_int(line, "exit"))
		text_add_format(out, ": done, exit %d", (int)member_int(line, "exit"));
	else if (is_question(member_text(line, "code")))
		text_add_format(out, ": asked, not done: %s", member_text(line, "message"));
	else if (strcmp(phase, "after") != 0)
		text_add_format(out, ": %s: %s: %s", phase, member_text(line, "code"), member_text(line, "message"));
}

/* "set shop schemaChanges: add -> reject", where one setting was changed. False: it is something else. */
static bool setting_add(const json_t *line, const char *before, const char *after, struct text *out)
{
	size_t name = strcspn(before, ":");

	if (strcmp(member_text(line, "what"), "job set") != 0 || before[name] != ':' || strncmp(before, after, name + 1) != 0 ||
	    strchr(before, '\n') || strchr(after, '\n'))
		return false;
	text_add_format(out, "set %s %s ->%s", member_text(line, "job"), before, after + name + 1);
	return true;
}

void journal_sentence(const json_t *line, struct text *out)
{
	const char *job = member_text(line, "job"), *table = member_text(line, "table");
	const char *named = *table && strcmp(table, "-") != 0 ? table : job;
	const json_t *change = json_object_get(line, "change");
	const char *before = member_text(change, "before"), *after = member_text(change, "after");

	if (strcmp(member_text(line, "kind"), "act") != 0) {
		bool is_note = strcmp(member_text(line, "kind"), "note") == 0;

		text_add_format(out, is_note ? "%s%s\"%s\"" : "%s%s%s", named, *named ? ": " : "", member_text(line, "text"));
		return;
	}
	if (!setting_add(line, before, after, out))
		text_add(out, member_text(line, "text"));
	else
		before = after = "";
	if (*before || *after)
		text_add_format(out, " (%s -> %s)", *before ? before : "nothing", *after ? after : "nothing");
	if (*member_text(line, "why"))
		text_add_format(out, ": \"%s\"", member_text(line, "why"));
	end_add(line, out);
}

static void line_draw(const struct console *console, const json_t *line, struct area area, int row)
{
	OWNED(text) time = text_new(LINE_BYTES);
	OWNED(text) what = text_new(LINE_BYTES * 4);

	console_time(console, member_text(line, "time"), false, time);
	journal_sentence(line, what);
	draw_field(area, row, 1, 6, -1, console_role(console, ROLE_dim), text_span(time));
	draw_field(area, row, 7, WHO_COLS, -1, console_role(console, ROLE_text), span_of(member_text(line, "who")));
	draw_field(area, row, 8 + WHO_COLS, area.cols - 8 - WHO_COLS, -1, console_role(console, ROLE_text), text_span(what));
}

/* The newest change of the job's settings: the likely cause of its trouble. NULL: none, or not known yet. */
static const json_t *change_of(struct console *console, const char *job)
{
	json_t *args;
	const json_t *lines;

	if (!*job)
		return NULL;
	args = json_pack("{s:s, s:s, s:i}", "job", job, "what", "job set", "limit", CHANGE_LINES);
	lines = model_ask(console_model(console), LANE_LOOK, "journal", args, "journal")->lines;
	for (size_t i = json_array_size(lines); i > 0; i--) {
		const json_t *line = json_array_get(lines, i - 1);

		if (!member_bool(line, "ended") && json_object_get(line, "change"))
			return line;
	}
	return NULL;
}

static bool is_same(const json_t *a, const json_t *b)
{
	return strcmp(member_text(a, "time"), member_text(b, "time")) == 0;
}

const struct answer *journal_ask(struct model *model, const char *job, int lines)
{
	json_t *args = json_pack("{s:i, s:s*}", "limit", lines, "job", *job ? job : NULL);

	return model_ask(model, LANE_LOOK, "journal", args, "journal");
}

void journal_draw(struct console *console, const char *job, const char *troubled, int lines, struct area area)
{
	const struct answer *answer;
	const json_t *change;
	int row = 1;

	if (area.rows < 2)
		return;
	change = change_of(console, troubled);
	answer = journal_ask(console_model(console), job, lines);
	draw_rule(area, 0, "journal", "g j");
	for (size_t i = json_array_size(answer->lines); i > 0 && row < area.rows; i--) {
		const json_t *line = json_array_get(answer->lines, i - 1);
		bool is_last = row == area.rows - 1;

		if (member_bool(line, "ended")) /* an act that has ended is told by its end */
			continue;
		if (change && is_same(change, line))
			change = NULL;
		line_draw(console, is_last && change ? change : line, area, row++);
	}
}
