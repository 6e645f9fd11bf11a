/* The menu of acts on the selected thing, from acts.def. */
#include "base/arena.h"
#include "base/clean.h"
#include "view/box.h"

#include <stdlib.h>

enum applies { ON_JOB = 1, ON_TABLE = 2, ON_GROUP = 4, ON_LETTER = 8 };

struct menu_act {
	char letter;
	const char *label;
	unsigned applies;
	const char *command, *off_states, *off_why, *effect, *undo;
};

static const struct menu_act acts[] = {
#define ACT(letter, label, applies, command, off_states, off_why, effect, undo) \
	{ letter, label, applies, command, off_states, off_why, effect, undo },
#include "view/acts.def"
#undef ACT
};

#define ACTS_COUNT (sizeof(acts) / sizeof(*acts))
#define MENU_COLS 70
#define LABEL_COLS 20
#define LINE_BYTES 2048

struct menu {
	struct subject subject;
	const struct menu_act *act[ACTS_COUNT];
	const char *off[ACTS_COUNT]; /* why it cannot be done now; NULL: it can */
	size_t count, at;
};

static unsigned kind_of(const struct subject *subject)
{
	if (subject->letter)
		return ON_LETTER | ON_GROUP;
	if (subject->group)
		return ON_GROUP;
	return subject->table[0] && strcmp(subject->table, "-") != 0 ? ON_TABLE : ON_JOB;
}

static bool states_have(const char *states, const char *state)
{
	size_t len = strlen(state);

	for (const char *at = states; len && (at = strstr(at, state)); at += len) {
		if ((at == states || at[-1] == '|') && (at[len] == '\0' || at[len] == '|'))
			return true;
	}
	return false;
}

static const char *off_why(const struct box *box, const struct menu_act *act)
{
	const struct menu *menu = box->state;

	if (!*act->command)
		return act->off_why;
	if (console_is_blind(box->console))
		return "the engine is not reachable";
	return states_have(act->off_states, menu->subject.is_paused ? "paused" : menu->subject.state) ? act->off_why : NULL;
}

static void menu_fill(struct box *box, bool is_off)
{
	struct menu *menu = box->state;
	unsigned kind = kind_of(&menu->subject);

	for (size_t i = 0; i < ACTS_COUNT; i++) {
		const char *why = acts[i].applies & kind ? off_why(box, &acts[i]) : NULL;

		if (!(acts[i].applies & kind) || (why != NULL) != is_off)
			continue;
		menu->act[menu->count] = &acts[i];
		menu->off[menu->count++] = why;
	}
}

/* "pause J T" with the subject's names. */
static void command_text(const struct subject *subject, const char *command, struct text *out)
{
	char number[24];

	for (const char *at = command; *at; at++) {
		bool is_word = (at == command || at[-1] == ' ') && (at[1] == '\0' || at[1] == ' ');

		if (is_word && *at == 'J') {
			shell_quote(out, span_of(subject->job));
		} else if (is_word && *at == 'T') {
			shell_quote(out, span_of(subject->table));
		} else if (is_word && (*at == 'G' || *at == 'I')) {
			snprintf(number, sizeof(number), "%lld", (long long)(*at == 'G' ? subject->group : subject->letter));
			text_add(out, number);
		} else {
			text_add_char(out, *at);
		}
	}
}

static void menu_size(const struct box *box, int *out_rows, int *out_cols)
{
	*out_rows = (int)((const struct menu *)box->state)->count + 3;
	*out_cols = MENU_COLS;
}

static void draw_act(const struct menu *menu, struct area area, int row, size_t at)
{
	const struct menu_act *act = menu->act[at];
	enum role role = menu->off[at] ? ROLE_dim : ROLE_popup;
	char letter[2] = { act->letter, '\0' };

	draw_text(area, row, 0, role, at == menu->at ? ">" : " ");
	draw_text(area, row, 2, role, letter);
	draw_field(area, row, 5, LABEL_COLS, -1, role, span_of(act->label));
	draw_field(area, row, 6 + LABEL_COLS, area.cols - 6 - LABEL_COLS, -1, role,
	           span_of(menu->off[at] ? menu->off[at] : act->effect));
	if (at == menu->at)
		draw_role(area, row, 0, area.cols, ROLE_selection);
}

static void menu_draw(struct box *box, struct area area)
{
	struct menu *menu = box->state;
	const struct menu_act *act = menu->act[menu->at];
	int rows = area.rows - 3;
	size_t top = menu->at >= (size_t)rows ? menu->at - (size_t)rows + 1 : 0;
	OWNED(text) line = text_new(LINE_BYTES);

	for (int row = 0; row < rows && top + (size_t)row < menu->count; row++)
		draw_act(menu, area, row, top + (size_t)row);
	draw_rule(area, area.rows - 3, "", "");
	draw_format(area, area.rows - 2, 0, ROLE_popup, "Undo: %s", *act->undo ? act->undo : "-");
	text_add(line, "Same as:  weir ");
	command_text(&menu->subject, act->command, line);
	draw_span(area, area.rows - 1, 0, ROLE_popup, *act->command ? text_span(line) : span_of("-"));
	cursor_put(area, (int)(menu->at - top), 0);
}

static enum box_fate menu_do(struct box *box, size_t at)
{
	struct menu *menu = box->state;
	struct console *console = box->console;
	OWNED(text) line = text_new(LINE_BYTES);

	if (menu->off[at]) {
		console_say(console, "%s: %s", menu->act[at]->label, menu->off[at]);
		return BOX_STAYS;
	}
	command_text(&menu->subject, menu->act[at]->command, line);
	/* What it runs may open a box of its own in place of this one. */
	struct box mine = *box;

	box->ops = NULL;
	console_run(console, line->at);
	free(mine.state);
	return BOX_STAYS;
}

static enum box_fate menu_letter(struct box *box, uint32_t letter)
{
	struct menu *menu = box->state;

	for (size_t i = 0; i < menu->count; i++) {
		if ((uint32_t)menu->act[i]->letter == letter)
			return menu_do(box, i);
	}
	console_say(box->console, "no act has that letter");
	return BOX_STAYS;
}

static enum box_fate menu_to_line(struct box *box)
{
	struct menu *menu = box->state;
	OWNED(text) line = text_new(LINE_BYTES);

	command_text(&menu->subject, menu->act[menu->at]->command, line);
	console_line(box->console, line->at);
	return BOX_CLOSES;
}

static enum box_fate menu_key(struct box *box, const struct key_event *event)
{
	struct menu *menu = box->state;

	switch (event->key.code) {
	case KEY_ESC_:
	case 'q': return BOX_CLOSES;
	case KEY_DOWN_:
	case 'j': menu->at += menu->at + 1 < menu->count; return BOX_STAYS;
	case KEY_UP_: menu->at -= menu->at > 0; return BOX_STAYS;
	case KEY_ENTER_: return menu_do(box, menu->at);
	case ':': return menu_to_line(box);
	default: break;
	}
	if (event->key.code == 'k' && menu->act[menu->at]->letter != 'k') {
		menu->at -= menu->at > 0;
		return BOX_STAYS;
	}
	return menu_letter(box, event->key.code);
}

static void menu_hints(const struct box *box, struct text *out)
{
	(void)box;
	text_add(out, "j/k move  Enter do it  a letter does it  : put it on the line  Esc leave");
}

static void menu_close(struct box *box)
{
	free(box->state);
}

static const struct box_ops menu_ops = { "acts", menu_size, menu_draw, menu_key, menu_hints, menu_close };

void box_acts_open(struct console *console, const struct subject *subject)
{
	struct menu *menu = memory_zalloc(sizeof(*menu));
	struct box box = { .ops = &menu_ops, .console = console, .state = menu };

	menu->subject = *subject;
	menu_fill(&box, false);
	menu_fill(&box, true);
	if (subject->letter)
		snprintf(box.title, sizeof(box.title), "acts on letter %lld", (long long)subject->letter);
	else if (subject->group)
		snprintf(box.title, sizeof(box.title), "acts on group %lld", (long long)subject->group);
	else
		snprintf(box.title, sizeof(box.title), "acts on %s %.90s", subject->table[0] ? "table" : "job",
		         subject->table[0] ? subject->table : subject->job);
	console_box(console, &box);
}
