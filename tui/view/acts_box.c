/* The menu of acts on the selected thing, from acts.def. */
#include "base/arena.h"
#include "view/acts_table.h"
#include "view/box.h"

#include <stdlib.h>

#define MENU_COLS 70
#define LABEL_COLS 20
#define LINE_BYTES 2048

struct menu {
	struct subjects on;
	const struct menu_act *act[ACTS_MOST];
	const char *off[ACTS_MOST]; /* why it cannot be done now; NULL: it can */
	size_t count, at;
};

static const struct subject *subject_of(const struct menu *menu)
{
	return &menu->on.subject[0];
}

/* Why it cannot be done to any of them. */
static const char *off_why(const struct box *box, const struct menu_act *act)
{
	const struct menu *menu = box->state;
	const char *why = NULL;

	if (!*act->command)
		return act->off_why;
	if (console_is_blind(box->console))
		return "the engine is not reachable";
	for (size_t i = 0; i < menu->on.count; i++) {
		const struct menu_act *its = act_same(act, &menu->on.subject[i]);

		why = its ? act_off(its, &menu->on.subject[i]) : why;
		if (its && !why)
			return NULL;
	}
	return why;
}

/* What means something for the first of them; off ones last. */
static void menu_fill(struct box *box, bool is_off)
{
	struct menu *menu = box->state;

	for (size_t i = 0; i < acts_count; i++) {
		const struct menu_act *act = act_same(&acts_table[i], subject_of(menu));
		const char *why = act == &acts_table[i] ? off_why(box, act) : NULL;

		if (act != &acts_table[i] || (why != NULL) != is_off || menu->count == ACTS_MOST)
			continue;
		menu->act[menu->count] = act;
		menu->off[menu->count++] = why;
	}
}

/* In a narrow box the effects are cut, and that of the selected act stands whole below. */
static int foot_rows(int cols)
{
	return cols < MENU_COLS ? 4 : 3;
}

static void menu_size(const struct box *box, int *out_rows, int *out_cols)
{
	*out_rows = (int)((const struct menu *)box->state)->count + foot_rows(console_cols(box->console) - 4);
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
	int foot = foot_rows(area.cols), rows = area.rows - foot;
	size_t top = menu->at >= (size_t)rows ? menu->at - (size_t)rows + 1 : 0;
	OWNED(text) line = text_new(LINE_BYTES);

	for (int row = 0; row < rows && top + (size_t)row < menu->count; row++)
		draw_act(menu, area, row, top + (size_t)row);
	draw_rule(area, area.rows - foot, "", "");
	if (foot > 3)
		draw_text(area, area.rows - 3, 0, ROLE_popup, menu->off[menu->at] ? menu->off[menu->at] : act->effect);
	draw_format(area, area.rows - 2, 0, ROLE_popup, "Undo: %s", *act->undo ? act->undo : "-");
	text_add(line, menu->on.how == CHOSEN_ONE ? "Same as:  weir " :
	               menu->on.letters           ? "For the first group:  weir " :
	                                            "For the first of them:  weir ");
	act_command(act, subject_of(menu), line);
	draw_span(area, area.rows - 1, 0, ROLE_popup, *act->command ? text_span(line) : span_of("-"));
	cursor_put(area, (int)(menu->at - top), 0);
}

static void menu_free(struct menu *menu)
{
	free(menu->on.subject);
	free(menu);
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
	act_command(menu->act[at], subject_of(menu), line);
	/* What it runs may open a box of its own in place of this one. */
	box->ops = NULL;
	if (menu->on.how == CHOSEN_ONE)
		console_run(console, line->at);
	else
		box_many_open(console, menu->act[at], &menu->on);
	menu_free(menu);
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

	act_command(menu->act[menu->at], subject_of(menu), line);
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
	text_add(out, "Enter or its letter does it  : to the line  Esc leave");
}

static void menu_close(struct box *box)
{
	menu_free(box->state);
}

static const struct box_ops menu_ops = { "acts", menu_size, menu_draw, menu_key, menu_hints, menu_close };

static void title_of(const struct subjects *on, char *out, size_t room)
{
	const struct subject *first = &on->subject[0];

	if (on->letters)
		letters_text(on, "acts on ", out, room);
	else if (on->gone)
		snprintf(out, room, "acts on %zu marked; %zu more are not in the list now", on->count, on->gone);
	else if (on->how != CHOSEN_ONE)
		snprintf(out, room, "acts on %zu %s", on->count, on->how == CHOSEN_MARKED ? "marked" : "filtered");
	else if (first->letter)
		snprintf(out, room, "acts on letter %lld", (long long)first->letter);
	else if (first->group)
		snprintf(out, room, "acts on group %lld", (long long)first->group);
	else
		snprintf(out, room, "acts on %s %.90s", first->table[0] ? "table" : "job", first->table[0] ? first->table : first->job);
}

void box_acts_open(struct console *console, const struct subjects *on)
{
	struct menu *menu = memory_zalloc(sizeof(*menu));
	struct box box = { .ops = &menu_ops, .console = console, .state = menu };

	menu->on = *on;
	menu_fill(&box, false);
	menu_fill(&box, true);
	title_of(on, box.title, sizeof(box.title));
	console_box(console, &box);
}
