/* The row of hints: keys of the view, the box or the sequence that is typed, as many as fit, the best first. */
#include "action/places.h"
#include "base/clean.h"
#include "console/console_private.h"
#include "term/cells.h"

#define LINE_BYTES 2048
#define HINTS_MOST 8

static void text_cut(struct text *text, size_t len)
{
	text->len = len;
	text->at[len] = '\0';
}

/* A word or two for the row of hints, and a shorter one for a narrow screen; the notes of the key table are whole sentences. */
static const struct hint_words {
	const char *words, *narrow;
} hint_table[ACTIONS] = {
	[ACTION_toggle_pause] = { "pause", "pause" },
	[ACTION_letters] = { "dead letters", "letters" },
	[ACTION_first_bad] = { "first bad event", "first" },
	[ACTION_pane_next] = { "pane", "pane" },
	[ACTION_copy_finding] = { "copy finding", "finding" },
	[ACTION_zone] = { "time zone", "zone" },
	[ACTION_trouble] = { "trouble only", "trouble" },
	[ACTION_acts_log] = { "done here", "done" },
	[ACTION_view_last] = { "last view", "last" },
};

static const char *hint_word(struct console *console, enum action_id action, bool is_narrow)
{
	struct view *view = console_view(console);
	const struct hint_words *words = &hint_table[action];
	struct subject subject = { 0 };

	if (action == ACTION_toggle_pause && view->ops->subject && view->ops->subject(view, &subject) &&
	    subject.is_paused)
		return "resume";
	if (words->words)
		return is_narrow ? words->narrow : words->words;
	return action_table[action].name;
}

/* Who may only look gets no hint of what he may not; the keys still answer. */
static bool is_off(const struct console *console, enum action_id action)
{
	bool may_act = !console_may_only_look(console) && !model_reach(console->model).is_other;

	return !may_act && (action == ACTION_toggle_pause || action == ACTION_acts);
}

static bool hint_add(struct console *console, enum action_id action, bool is_narrow, struct text *out)
{
	struct view *view = console_view(console);
	OWNED(text) key = text_new(64);
	const char *word = view->ops->hint_word ? view->ops->hint_word(view, action) : NULL;

	if (is_off(console, action))
		return false;

	if (action == ACTION_step)
		text_add(key, "1-9");
	else
		keymap_key_of(console->keymap, view->ops->table, action, NULL, key);
	if (!key->len)
		return false;
	text_add_format(out, "%s%s %s", out->len ? "  " : "", key->at, word ? word : hint_word(console, action, is_narrow));
	return true;
}

/* Of a place its name, the short one if it has two; of one that is not there yet nothing: its room is wanted by those that are. */
static const char *next_word(const struct binding *binding)
{
	const struct place *place = binding->action == ACTION_go ? place_find(span_of(binding->argument)) : NULL;

	if (!place)
		return binding->note;
	return !place->exists ? NULL : *place->alias ? place->alias : place->name;
}

static void hints_of_sequence(struct console *console, struct text *out)
{
	const char *table = console_view(console)->ops->table;
	const struct binding *binding;

	sequence_text(&console->pending, out);
	for (size_t i = 0; (binding = keymap_continue(console->keymap, table, &console->pending, i)); i++) {
		const char *word = next_word(binding);
		char name[KEY_NAME_BYTES];

		if (!word)
			continue;
		key_to_name(binding->keys.keys[console->pending.count], name);
		text_add_format(out, "  %s %s", name, word);
	}
}

/* False: not all of them fit. A hint is shown whole or not at all. */
static bool hints_fit(struct console *console, bool is_narrow, struct text *out)
{
	struct view *view = console_view(console);
	const enum action_id *hints = view->ops->hints(view);
	OWNED(text) help = text_new(LINE_BYTES);
	bool fits = true;
	int count = 0;

	hint_add(console, ACTION_help, is_narrow, help);
	for (; fits && *hints != ACTIONS && count < HINTS_MOST - 1; hints++) {
		size_t before = out->len;

		count += hint_add(console, *hints, is_narrow, out);
		fits = cells_width(text_span(out)) + 2 + cells_width(text_span(help)) <= console->canvas->cols - 1;
		if (!fits)
			text_cut(out, before);
	}
	text_add_format(out, "%s%s", out->len ? "  " : "", help->at);
	return fits;
}

void frame_hints(struct console *console, struct text *out)
{
	if (console->box.ops) {
		console->box.ops->hints(&console->box, out);
	} else if (console->pending.count) {
		hints_of_sequence(console, out);
	} else if (!hints_fit(console, false, out)) {
		text_cut(out, 0);
		hints_fit(console, true, out);
	}
}
