/* Actions that are the same on every screen; the view is asked first. */
#include "console/console_private.h"
#include "base/arena.h"
#include "base/clean.h"
#include "view/acts_table.h"
#include "view/names.h"

#include <stdlib.h>

#define COPIED_BYTES_MAX COPY_BYTES_MAX

static bool subject_get(struct console *console, struct subject *out)
{
	struct view *view = console_view(console);

	memset(out, 0, sizeof(*out));
	return view->ops->subject && view->ops->subject(view, out);
}

/* Of several that are marked it asks first; what the selected row needs is done to all that can have it. */
static bool toggle_marked(struct console *console, bool is_paused)
{
	struct view *view = console_view(console);
	const struct menu_act *act = NULL;
	struct subjects on = { 0 };

	if (!view->ops->chosen)
		return false;
	view->ops->chosen(view, &on);
	if (on.how == CHOSEN_MARKED && on.count && !on.subject[0].group)
		act = act_of_letter(is_paused ? 'r' : 'p', &on.subject[0]);
	if (act)
		box_many_open(console, act, &on);
	free(on.subject);
	return act != NULL;
}

static void toggle_pause(struct console *console)
{
	struct subject subject;
	OWNED(text) line = text_new(1024);

	if (!subject_get(console, &subject) || !subject.job[0]) {
		console_say(console, "nothing is selected that can be paused");
		return;
	}
	if (toggle_marked(console, subject.is_paused))
		return;
	if (strcmp(subject.table, "-") == 0) {
		console_say(console, "\"-\" is what belongs to no table: it cannot be paused, its job can (:pause %s)", subject.job);
		return;
	}
	text_add(line, subject.is_paused ? "resume " : "pause ");
	shell_quote(line, span_of(subject.job));
	if (subject.table[0]) {
		text_add(line, " ");
		shell_quote(line, span_of(subject.table));
	}
	console_run(console, line->at);
}

static void go_letters(struct console *console)
{
	struct subject subject;
	OWNED(text) argument = text_new(1024);

	if (subject_get(console, &subject))
		letters_argument(&subject, argument);
	console_go(console, "dlq", argument->at);
}

static void go_explain(struct console *console)
{
	struct subject subject;

	if (subject_get(console, &subject) && subject.code[0])
		console_go(console, "explain", subject.code);
	else
		console_say(console, "no reason code here to explain");
}

static void go_first_bad(struct console *console)
{
	struct subject subject;
	OWNED(text) argument = text_new(1024);

	if (!subject_get(console, &subject) || !first_bad_argument(console, &subject, argument)) {
		console_say(console, "no bad event is known here");
		return;
	}
	console_go(console, "letter", argument->at);
}

static void go_logs(struct console *console)
{
	struct subject subject;

	console_go(console, "logs", subject_get(console, &subject) ? subject.job : "");
}

static void open_acts(struct console *console)
{
	struct view *view = console_view(console);
	struct subjects on = { .how = CHOSEN_ONE };

	if (view->ops->chosen) {
		view->ops->chosen(view, &on);
	} else {
		on.subject = memory_zalloc(sizeof(*on.subject));
		on.count = subject_get(console, &on.subject[0]);
	}
	if (on.count) {
		box_acts_open(console, &on);
		return;
	}
	free(on.subject);
	console_say(console, "nothing is selected to act on");
}

static void copy(struct console *console, bool is_finding)
{
	struct view *view = console_view(console);
	OWNED(text) what = text_new(COPIED_BYTES_MAX);

	if (!view->ops->copy || !view->ops->copy(view, is_finding, what)) {
		console_say(console, "nothing here to copy");
		return;
	}
	free(console->copied);
	console->copied = memory_string(what->at);
	if (term_copy(console->term, text_span(what)))
		console_say(console, "sent to the clipboard (%zu bytes); :copy shows it, for terminals without OSC 52", what->len);
	else
		console_say(console, "too long for the clipboard; :copy shows it");
}

static void take_step(struct console *console, const char *argument)
{
	struct view *view = console_view(console);
	int number = (int)strtol(argument, NULL, 10);
	OWNED(text) line = text_new(2048);

	if (view->ops->step && view->ops->step(view, number, line))
		console_line(console, line->at);
	else
		console_say(console, "no step %d here", number);
}

static void open_filter(struct console *console)
{
	struct view *view = console_view(console);

	if (!view->ops->filter) {
		console_say(console, "nothing here to filter or search");
		return;
	}
	free(console->filter_was);
	console->filter_was = strdup(view->ops->filter_text ? view->ops->filter_text(view) : "");
	prompt_open(console->prompt, PROMPT_FILTER, console->filter_was);
}

static void leave_or_back(struct console *console)
{
	if (console->view_at)
		console_back(console);
	else
		console->is_ending = true;
}

/* Esc: first what was typed over the view goes, then the view; never the console. */
static void cancel(struct console *console)
{
	struct view *view = console_view(console);
	struct error err = { 0 };

	if (view->ops->filter_text && *view->ops->filter_text(view))
		view->ops->filter(view, "", true, &err);
	else if (console->view_at)
		console_back(console);
	else
		console_say(console, "this is the first view; q leaves, the engine goes on");
}

static void go(struct console *console, const char *place)
{
	struct subject subject;
	OWNED(text) argument = text_new(1024);
	OWNED(text) narrowed = text_new(1024);

	if (strcmp(place, "letters") == 0)
		place = "dlq";
	/* The same place again, where it shows only what was selected: all of it is wanted. */
	place_narrowed(console_view(console), narrowed);
	if (!(narrowed->len && view_find(place) == console_view(console)->ops) && subject_get(console, &subject))
		place_argument(place, &subject, argument);
	console_go(console, place, argument->at);
}

static void toggle(struct console *console, bool *setting, const char *on, const char *off)
{
	*setting = !*setting;
	console_say(console, "%s", *setting ? on : off);
}

static void stop_waiting(struct console *console)
{
	if (model_is_idle(console->model)) {
		console_say(console, "nothing is waited for; q leaves, the engine goes on");
		return;
	}
	model_cancel(console->model);
	console_say(console, "no longer waited for; the engine goes on");
}

void console_do(struct console *console, enum action_id action, const char *argument)
{
	struct view *view = console_view(console);

	console->is_dirty = true;
	if (view->ops->act && view->ops->act(view, action, argument))
		return;
	if (!view_means(view->ops, action)) {
		console_say(console, "'%s' means nothing here; ? lists the keys", action_table[action].name);
		return;
	}
	switch ((int)action) {
	case ACTION_quit: console->is_ending = true; break;
	case ACTION_back: leave_or_back(console); break;
	case ACTION_cancel: cancel(console); break;
	case ACTION_view_last:
	case ACTION_view_back: stack_move(console, -1); break;
	case ACTION_view_forward: stack_move(console, 1); break;
	case ACTION_help: console_go(console, "help", view->ops->table); break;
	case ACTION_line: console_line(console, argument); break;
	case ACTION_palette: line_palette(console); break;
	case ACTION_filter: open_filter(console); break;
	case ACTION_go: go(console, argument); break;
	case ACTION_letters: go_letters(console); break;
	case ACTION_explain: go_explain(console); break;
	case ACTION_first_bad: go_first_bad(console); break;
	case ACTION_logs: go_logs(console); break;
	case ACTION_acts: open_acts(console); break;
	case ACTION_acts_log: console_go(console, "acts", ""); break;
	case ACTION_toggle_pause: toggle_pause(console); break;
	case ACTION_step: take_step(console, argument); break;
	case ACTION_copy: copy(console, false); break;
	case ACTION_copy_finding: copy(console, true); break;
	case ACTION_wide: toggle(console, &console->is_wide, "wide", "narrow"); break;
	case ACTION_trouble: toggle(console, &console->is_trouble, "only trouble is shown", "all is shown"); break;
	case ACTION_zone: toggle(console, &console->is_local, "times are local", "times are UTC"); break;
	case ACTION_redraw: term_redraw(console->term); break;
	case ACTION_suspend: term_suspend(console->term); break;
	case ACTION_stop_waiting: stop_waiting(console); break;
	default: console_say(console, "'%s' means nothing here; ? lists the keys", action_table[action].name);
	}
}
