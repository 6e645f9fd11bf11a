/* From a key to what it does: the box or the prompt first, then the view's table of keys. */
#include "console/console_private.h"

#include <ctype.h>

#define WHEEL_ROWS 3

static bool is_key(const struct key_event *event, uint32_t code, uint8_t mods)
{
	return event->key.code == code && event->key.mods == mods;
}

/* The letter after `o` is no binding: it names a column. */
static bool sort_letter(struct console *console, const struct key_event *event)
{
	const struct binding *binding;
	char letter[2] = { (char)event->key.code, '\0' };

	if (console->pending.count != 1 || event->key.code >= 0x80 || event->key.mods ||
	    keymap_find(console->keymap, console_view(console)->ops->table, &console->pending, &binding) != KEY_FOUND ||
	    binding->action != ACTION_sort)
		return false;
	console->pending.count = 0;
	console_do(console, ACTION_sort, letter);
	return true;
}

static void unknown_key(struct console *console)
{
	OWNED(text) keys = text_new(64);

	sequence_text(&console->pending, keys);
	console_say(console, "%s means nothing here; ? lists the keys", keys->at);
}

/* What acts, or puts an act onto the line for an Enter that may have been typed already. */
static bool is_act(const struct binding *binding)
{
	return binding->is_run || binding->action == ACTION_toggle_pause || binding->action == ACTION_step;
}

static void binding_run(struct console *console, const struct binding *binding, const char *keys)
{
	if (is_act(binding) && ahead_refuses(console, keys))
		return;
	if (binding->is_run)
		console_run(console, binding->argument);
	else
		console_do(console, binding->action, binding->argument);
}

static void sequence_take(struct console *console, const struct key_event *event)
{
	const char *table = console_view(console)->ops->table;
	const struct binding *binding;
	OWNED(text) keys = text_new(64);

	if (sort_letter(console, event))
		return;
	if (console->pending.count && is_key(event, KEY_ESC_, 0)) {
		console->pending.count = 0;
		return;
	}
	console->pending.keys[console->pending.count++] = event->key;
	switch (keymap_find(console->keymap, table, &console->pending, &binding)) {
	case KEY_PREFIX:
		if (console->pending.count < SEQUENCE_KEYS_MAX)
			return;
		break;
	case KEY_FOUND:
		if (binding->action == ACTION_sort && !binding->is_run && !*binding->argument) {
			console_do(console, ACTION_sort, ""); /* says which letters there are, */
			return;                               /* and waits for one */
		}
		sequence_text(&console->pending, keys);
		console->pending.count = 0;
		binding_run(console, binding, keys->at);
		return;
	case KEY_UNKNOWN:
		unknown_key(console);
		break;
	}
	console->pending.count = 0;
}

static void box_take(struct console *console, const struct key_event *event)
{
	struct box *box = &console->box;

	/* Pressed before it could be read; leaving it does nothing that would have to be. */
	if (event->key.code == KEY_MOUSE_ || (!box->is_drawn && !is_key(event, KEY_ESC_, 0)))
		return;
	if (box->ops->key(box, event) == BOX_STAYS)
		return;
	if (box->ops->close)
		box->ops->close(box);
	box->ops = NULL;
}

static bool is_for_all(struct console *console, const struct key_event *event)
{
	if (event->key.code == KEY_SYNC_) {
		snprintf(console->token, sizeof(console->token), "%.*s", SPAN_ARG(event->text));
		console->has_token = true;
		console->sync_asked = false;
		return true;
	}
	if (event->key.code == KEY_REPORT_) {
		console_heard(console, event->text);
		return true;
	}
	if (is_key(event, 'l', KEY_CTRL) || is_key(event, 'z', KEY_CTRL)) {
		console_do(console, event->key.code == 'l' ? ACTION_redraw : ACTION_suspend, "");
		return true;
	}
	return false;
}

/* As many steps as a hand would take; what lies under a click is what was drawn last. */
static void mouse_take(struct console *console, const struct key_event *event)
{
	const struct canvas *canvas = console->canvas;
	bool is_row = canvas && event->row >= canvas->pick_from && event->row < canvas->pick_to;
	int steps = event->mouse == MOUSE_WHEEL_UP ? -WHEEL_ROWS : event->mouse == MOUSE_WHEEL_DOWN ? WHEEL_ROWS : 0;

	if (event->mouse == MOUSE_CLICK && is_row)
		steps = event->row - canvas->cursor_row;
	else if (event->mouse == MOUSE_CLICK)
		console_say(console, "a click selects a row; there is none");
	for (; steps > 0; steps--)
		console_do(console, ACTION_down, "");
	for (; steps < 0; steps++)
		console_do(console, ACTION_up, "");
}

void keys_take(struct console *console, const struct key_event *event)
{
	if (is_for_all(console, event))
		return;
	console->is_dirty = true;
	if (!ahead_keeps(console, event))
		keys_do(console, event);
}

void keys_do(struct console *console, const struct key_event *event)
{
	console->says = false;
	if (console->is_bare) {
		bare_take(console, event);
	} else if (console->box.ops) {
		box_take(console, event);
	} else if (prompt_is_open(console->prompt)) {
		line_take(console, event);
	} else if (event->key.code == KEY_PASTE_) {
		console_say(console, "paste dropped: it would have run as keys; open : or / first");
	} else if (event->key.code == KEY_MOUSE_) {
		mouse_take(console, event);
	} else {
		sequence_take(console, event);
	}
}

void console_box(struct console *console, const struct box *box)
{
	if (console->box.ops && console->box.ops->close)
		console->box.ops->close(&console->box);
	console->box = *box;
	console->box.console = console;
	console->box.is_drawn = false;
	console->is_dirty = true;
}
