/* The views that were opened, as a history to go back and forward in. */
#include "action/places.h"
#include "base/arena.h"
#include "console/console_private.h"

#include <stdlib.h>

struct view *console_view(const struct console *console)
{
	return console->views[console->view_at];
}

static void view_free(struct view *view)
{
	if (view->ops->close)
		view->ops->close(view);
	free(view->argument);
	free(view);
}

void stack_free(struct console *console)
{
	while (console->view_count)
		view_free(console->views[--console->view_count]);
}

/* What lay forward goes; the oldest goes when there are too many, but never the first. */
static void stack_push(struct console *console, struct view *view)
{
	while (console->view_count > console->view_at + 1)
		view_free(console->views[--console->view_count]);
	if (console->view_count == VIEWS_KEPT) {
		view_free(console->views[1]);
		memmove(console->views + 1, console->views + 2, (VIEWS_KEPT - 2) * sizeof(*console->views));
		console->view_count--;
	}
	console->views[console->view_count++] = view;
	console->view_at = console->view_count - 1;
	ahead_view(console);
	console->is_dirty = true;
}

static struct view *view_open(struct console *console, const struct view_ops *ops, const char *argument,
                              struct error *err)
{
	struct view *view = memory_zalloc(sizeof(*view));

	view->ops = ops;
	view->console = console;
	view->argument = strdup(argument);
	if (!ops->open || ops->open(view, err))
		return view;
	free(view->argument);
	free(view);
	return NULL;
}

/* The same screen again is no new view. */
static bool is_shown(const struct console *console, const struct view_ops *ops, const char *argument)
{
	const struct view *view = console->view_count ? console_view(console) : NULL;

	return view && view->ops == ops && strcmp(view->argument, argument) == 0;
}

bool console_go(struct console *console, const char *place, const char *argument)
{
	const struct view_ops *ops = view_find(place);
	struct error err = { 0 };
	struct view *view;

	if (!ops) {
		const struct place *known = place_find(span_of(place));

		console_say(console, known ? "%s: not in this version" : "'%s' is no place; :help places lists them", place);
		return false;
	}
	if (is_shown(console, ops, argument))
		return true;
	view = view_open(console, ops, argument, &err);
	if (!view) {
		console_complain(console, &err);
		return false;
	}
	stack_push(console, view);
	return true;
}

void stack_move(struct console *console, int by)
{
	if ((by < 0 && !console->view_at) || (by > 0 && console->view_at + 1 == console->view_count)) {
		console_say(console, by < 0 ? "this is the first view" : "this is the newest view");
		return;
	}
	console->view_at = by < 0 ? console->view_at - 1 : console->view_at + 1;
	console->is_dirty = true;
}

void console_back(struct console *console)
{
	if (console->view_at)
		stack_move(console, -1);
}
