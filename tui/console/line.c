/* The prompt while it is open: completion over the line, a filter that holds while it is typed, and what Enter does. */
#include "console/console_private.h"
#include "term/cells.h"
#include "view/known_names.h"

#define POPUP_ROWS_MOST 10
#define NOTE_BYTES 512
#define EFFECT_ROWS_MOST 3

static bool is_key(const struct key_event *event, uint32_t code)
{
	return event->key.code == code && !event->key.mods;
}

static const char *const *filter_fields(struct console *console)
{
	struct view *view = console_view(console);

	return view->ops->fields ? view->ops->fields(view) : NULL;
}

static void complete(struct console *console)
{
	struct prompt_names names = { known_names_each, console };
	const char *text = prompt_text(console->prompt);
	size_t point = prompt_point(console->prompt);

	matches_clear(&console->matches);
	console->match_at = 0;
	if (console->is_palette)
		complete_palette(console->prompt, &console->matches);
	else if (prompt_kind(console->prompt) == PROMPT_LINE)
		complete_line(text, point, &names, &console->matches);
	else if (filter_fields(console))
		complete_filter(text, point, filter_fields(console), &names, &console->matches);
}

/* The first Tab takes what is shown first; further ones walk. */
static void take_match(struct console *console, int by)
{
	struct matches *matches = &console->matches;

	if (!matches->count) {
		console_say(console, "nothing begins like this");
		return;
	}
	console->match_at = (console->match_at + matches->count + (size_t)by) % matches->count;
	prompt_take(console->prompt, matches->from, matches->match[console->match_at].text);
	console->is_palette = false; /* from here on it is a line as any other */
}

/* The list narrows while it is typed; the last good filter stays. */
static void filter_typed(struct console *console, bool is_taken)
{
	struct view *view = console_view(console);
	struct error err = { 0 };

	if (!view->ops->filter(view, prompt_text(console->prompt), is_taken, &err))
		console_say(console, "%s", err.message);
}

static void line_left(struct console *console)
{
	if (prompt_kind(console->prompt) == PROMPT_FILTER) {
		struct view *view = console_view(console);
		struct error err = { 0 };

		view->ops->filter(view, "", true, &err);
	}
	prompt_close(console->prompt);
	matches_clear(&console->matches);
	console->is_palette = false;
}

/* Up, Down and their like choose, Enter takes: it goes to a place, and anything else is put onto the line for a second Enter. */
static bool palette_key(struct console *console, const struct key_event *event)
{
	const struct matches *matches = &console->matches;
	bool is_ctrl = event->key.mods == KEY_CTRL;
	const char *line;

	if (!console->is_palette || !matches->count)
		return false;
	if (is_key(event, KEY_DOWN_) || (is_ctrl && event->key.code == 'n')) {
		console->match_at = (console->match_at + 1) % matches->count;
		return true;
	}
	if (is_key(event, KEY_UP_) || (is_ctrl && event->key.code == 'p')) {
		console->match_at = (console->match_at + matches->count - 1) % matches->count;
		return true;
	}
	if (!is_key(event, KEY_ENTER_))
		return false;
	line = matches->match[console->match_at].text;
	if (view_find(line)) {
		char *place = strdup(line);

		line_left(console);
		console_run(console, place);
		free(place);
		return true;
	}
	prompt_move_end(console->prompt);
	take_match(console, 0);
	complete(console);
	return true;
}

static void line_entered(struct console *console)
{
	char *line = strdup(prompt_text(console->prompt));
	enum prompt_kind kind = prompt_kind(console->prompt);

	prompt_close(console->prompt);
	matches_clear(&console->matches);
	console->is_palette = false;
	if (kind == PROMPT_FILTER) {
		struct view *view = console_view(console);
		struct error err = { 0 }, none = { 0 };

		/* What was typed up to the mistake is no filter that anybody asked for: the last one that was taken is. */
		if (!view->ops->filter(view, line, true, &err)) {
			view->ops->filter(view, console->filter_was, true, &none);
			console_complain(console, &err);
		}
	} else if (*line) {
		console_run(console, line);
	}
	free(line);
}

void line_take(struct console *console, const struct key_event *event)
{
	if (palette_key(console, event))
		return;
	if (is_key(event, KEY_TAB_) && console->matches.count) {
		take_match(console, 0);
		complete(console);
		return;
	}
	if (console->matches.count > 1 && event->key.code == KEY_TAB_ && event->key.mods == KEY_SHIFT) {
		console->match_at = (console->match_at + 1) % console->matches.count;
		return;
	}
	if (event->key.code == KEY_MOUSE_)
		return;
	if (event->key.code == KEY_PASTE_) {
		prompt_insert(console->prompt, event->text);
	} else {
		switch (prompt_feed(console->prompt, ahead_raw(console))) {
		case PROMPT_TAKEN: line_entered(console); return;
		case PROMPT_LEFT: line_left(console); return;
		case PROMPT_GOES_ON: break;
		}
	}
	complete(console);
	if (prompt_kind(console->prompt) == PROMPT_FILTER)
		filter_typed(console, false);
}

void line_palette(struct console *console)
{
	prompt_open(console->prompt, PROMPT_LINE, "");
	console->is_palette = true;
	complete(console);
	console->is_dirty = true;
}

void console_line(struct console *console, const char *text)
{
	console->is_palette = false;
	prompt_open(console->prompt, PROMPT_LINE, text);
	complete(console);
	console->is_dirty = true;
}

static void draw_match(const struct console *console, struct area area, int row, size_t at)
{
	const struct match *match = &console->matches.match[at];
	enum role role = at == console->match_at ? ROLE_selection : match->is_off ? ROLE_dim : ROLE_popup;
	int width = area.cols / 3;

	draw_blank(area, row, 0, area.cols, role);
	draw_field(area, row, 1, width, -1, role, span_of(match->text));
	draw_field(area, row, width + 2, area.cols - width - 3, -1, role, span_of(match->note ? match->note : ""));
}

/* What a value may be has an example at its end, which is wanted whole. */
static int effect_rows(const struct matches *matches, int cols)
{
	int rows = paragraph_rows(span_of(matches->effect ? matches->effect : ""), cols - 2);

	return rows < EFFECT_ROWS_MOST ? rows : EFFECT_ROWS_MOST;
}

/* Above the line while it is typed: usage, what may come, what the command does. */
static void draw_popup(struct console *console, struct area screen)
{
	const struct matches *matches = &console->matches;
	size_t shown = matches->count < POPUP_ROWS_MOST ? matches->count : POPUP_ROWS_MOST;
	size_t top = console->match_at >= shown ? console->match_at - shown + 1 : 0;
	int effect = effect_rows(matches, screen.cols), rows = (int)shown + 1 + effect;
	struct area area = area_part(screen, screen.rows - 2 - rows, 0, rows, screen.cols);

	if (!shown && !(matches->title && *matches->title))
		return;
	for (int row = 0; row < rows; row++)
		draw_blank(area, row, 0, area.cols, ROLE_popup);
	draw_rule(area, 0, matches->title ? matches->title : "", "");
	for (size_t i = 0; i < shown; i++)
		draw_match(console, area, (int)i + 1, top + i);
	if (effect)
		draw_paragraph(area, rows - effect, 1, area.cols - 2, effect, ROLE_popup, span_of(matches->effect));
}

void line_draw(struct console *console, struct area screen)
{
	struct view *view = console_view(console);
	OWNED(text) left = text_new(NOTE_BYTES);
	OWNED(text) note = text_new(NOTE_BYTES);

	draw_popup(console, screen);
	if (console->says && console->message_count)
		text_add(note, console->messages[(console->message_count - 1) % MESSAGES_KEPT].text);
	else if (prompt_kind(console->prompt) == PROMPT_FILTER)
		view->ops->status(view, left, note);
	draw_blank(screen, screen.rows - 2, 0, screen.cols, ROLE_text);
	draw_text(screen, screen.rows - 2, 1, ROLE_hint,
	          console->is_palette                            ? "Up Down choose  Enter take  Tab onto the line  Esc leave" :
	          prompt_kind(console->prompt) == PROMPT_LINE ? "Tab complete  Up history  C-r search  Enter run  Esc leave" :
	                                                        "Enter keep  Tab complete  Esc clear");
	prompt_draw(console->prompt, screen, screen.rows - 1, note->at);
}
