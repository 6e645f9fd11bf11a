/*
 * Keys pressed before a view has its first answer: they are kept and act on what
 * comes, in their order. What would change something is not done to a thing that
 * nobody has seen: it is refused in words, and what was typed behind it forgotten.
 */
#include "console/console_private.h"

#define AHEAD_MS 3000 /* longer than that nobody remembers what he has typed */

static bool is_bound(struct console *console, const struct key_event *event, enum action_id action)
{
	struct sequence keys = { .keys = { event->key }, .count = 1 };
	const struct binding *binding;

	return keymap_find(console->keymap, console_view(console)->ops->table, &keys, &binding) == KEY_FOUND && !binding->is_run &&
	       binding->action == action;
}

/* Who leaves, or stops to wait, does not wait for it. */
static bool is_way_out(struct console *console, const struct key_event *event)
{
	static const enum action_id out[] = { ACTION_cancel, ACTION_back, ACTION_quit, ACTION_stop_waiting };

	for (size_t i = 0; i < sizeof(out) / sizeof(*out); i++) {
		if (is_bound(console, event, out[i]))
			return true;
	}
	return false;
}

static bool is_waiting(struct console *console)
{
	return console->is_arriving && !console->box.ops && !console->is_bare && !prompt_is_open(console->prompt);
}

/* A sequence of more bytes than these is no text: the prompt gets nothing of it. */
static void key_keep(struct console *console, const struct key_event *event)
{
	struct key_ahead *key = &console->ahead[console->ahead_count++];
	struct span raw = input_raw(console->input);

	*key = (struct key_ahead){ .event = *event };
	if (raw.len > sizeof(key->raw))
		return;
	key->raw_len = raw.len;
	memcpy(key->raw, raw.at, raw.len);
}

struct span ahead_raw(const struct console *console)
{
	if (!console->is_ahead)
		return input_raw(console->input);
	return span_make(console->ahead_now.raw, console->ahead_now.raw_len);
}

bool ahead_keeps(struct console *console, const struct key_event *event)
{
	if (!console->ahead_count && !is_waiting(console))
		return false;
	if (!console->ahead_count && (is_way_out(console, event) || event->key.code >= KEY_PASTE_))
		return false;
	if (is_way_out(console, event)) {
		console_say(console, "what was typed ahead is forgotten");
		console->ahead_count = 0;
	} else if (event->key.code >= KEY_PASTE_ || console->ahead_count == KEYS_AHEAD_MOST) {
		console_say(console, "not taken: the view is not there yet");
	} else {
		key_keep(console, event);
		console_say(console, "%zu key%s for what comes; Esc forgets", console->ahead_count,
		            console->ahead_count == 1 ? "" : "s");
	}
	return true;
}

void ahead_view(struct console *console)
{
	console->is_arriving = true;
	console->arriving_ms = console->now_ms;
}

void ahead_drawn(struct console *console)
{
	if (!console->is_arriving)
		return;
	if (console_is_blind(console) || model_is_answered(console->model)) {
		console->is_arriving = false;
	} else if (console->now_ms - console->arriving_ms >= AHEAD_MS) {
		console->is_arriving = false;
		if (console->ahead_count)
			console_say(console, "no answer yet; what was typed ahead is forgotten");
		console->ahead_count = 0;
	}
}

void ahead_step(struct console *console)
{
	while (console->ahead_count && !is_waiting(console)) {
		console->ahead_now = console->ahead[0];
		memmove(console->ahead, console->ahead + 1, --console->ahead_count * sizeof(*console->ahead));
		console->is_ahead = true;
		keys_do(console, &console->ahead_now.event);
		console->is_ahead = false;
	}
}

/* Nobody has seen yet what it would be done to. */
bool ahead_refuses(struct console *console, const char *what)
{
	if (!console->is_ahead)
		return false;
	console->ahead_count = 0;
	console_say(console, "%s was pressed before the view was there; look, then press it again", what);
	return true;
}
