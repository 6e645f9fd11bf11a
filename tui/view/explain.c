/* A reason code explained, from the table that is compiled in: it works without an engine. */
#include "base/arena.h"
#include "base/reason.h"
#include "view/view.h"
#include "widget/lines.h"

#include <stdlib.h>

#define LINE_BYTES 2048

static void page_make(struct view *view, int cols)
{
	const struct reason *reason = reason_find(view->argument);
	struct lines *lines = view->state;

	lines_begin(lines, cols - 1);
	lines_paragraph(lines, ROLE_text, 1, reason->summary);
	lines_rule(lines, "likely causes", "");
	lines_paragraph(lines, ROLE_text, 1, reason->causes);
	lines_rule(lines, "what to check", "");
	lines_paragraph(lines, ROLE_text, 1, reason->checks);
	lines_rule(lines, "the next safe step", "");
	lines_paragraph(lines, ROLE_text, 1, reason->next);
}

static void explain_draw(struct view *view, struct area area)
{
	page_make(view, area.cols);
	lines_draw(view->state, area);
}

static void explain_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	(void)out_has_verdict;
	text_add_format(out, "explain %s", view->argument);
}

static void explain_status(struct view *view, struct text *left, struct text *right)
{
	text_add_format(left, "the same as: weir explain %s", view->argument);
	lines_status(view->state, right);
}

static const enum action_id *explain_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_down, ACTION_up, ACTION_filter, ACTION_copy_finding, ACTION_back, ACTIONS };

	(void)view;
	return hints;
}

static bool explain_act(struct view *view, enum action_id action, const char *argument)
{
	OWNED(text) say = text_new(LINE_BYTES);
	bool is_mine = lines_act(view->state, action, say);

	(void)argument;
	if (say->len)
		console_say(view->console, "%s", say->at);
	return is_mine;
}

static bool explain_copy(struct view *view, bool is_finding, struct text *out)
{
	if (!is_finding)
		return text_add(out, view->argument);
	page_make(view, 100);
	return lines_text(view->state, out);
}

static bool explain_filter(struct view *view, const char *text, bool is_taken, struct error *err)
{
	(void)is_taken;
	(void)err;
	lines_search(view->state, text);
	return true;
}

static const char *explain_filter_text(struct view *view)
{
	return lines_searched(view->state);
}

static bool explain_open(struct view *view, struct error *err)
{
	if (!reason_find(view->argument))
		return fail(err, ERROR_USAGE, "unknown_code", "'%s' is no reason code", view->argument);
	view->state = lines_new();
	return true;
}

static void explain_close(struct view *view)
{
	lines_free(view->state);
}

const struct view_ops view_explain = {
	.name = "explain",
	.table = "explain",
	.help = "a reason code: meaning, causes, checks, the next safe step",
	.open = explain_open,
	.close = explain_close,
	.draw = explain_draw,
	.title = explain_title,
	.status = explain_status,
	.hints = explain_hints,
	.act = explain_act,
	.copy = explain_copy,
	.filter = explain_filter,
	.filter_text = explain_filter_text,
};
