/* The frame of every screen: title, hints, status; and what is shown where it is too small. */
#include "console/console_private.h"
#include "term/cells.h"
#include "view/names.h"
#include "view/totals.h"
#include "widget/chart.h"

#define ROWS_LEAST 16
#define COLS_LEAST 60
#define BOX_COLS_LEAST 40
#define FILTER_COLS_MIN 8
#define LINE_BYTES 2048

/* "03:08:14Z ~1s": while nothing runs a quiet screen sends nothing, so the clock has no seconds then. */
static void clock_add(const struct console *console, const struct totals *totals, struct text *out)
{
	bool is_running = totals->running || console_is_blind(console);
	int64_t age = model_age_ms(console->model, console->now_ms);

	frame_clock(console, console->now_us, is_running, out);
	if (age < 0) {
		text_add(out, " -");
	} else if (console_is_blind(console) || age >= 4000) {
		text_add(out, " ~");
		frame_age(age, out);
	} else {
		text_add(out, " ~1s");
	}
}

static void marks_add(struct console *console, const struct view *view, struct text *out)
{
	/* What is tried out must not be taken for the real thing, nor the other way round. */
	if (totals_emulated(console, view->argument))
		text_add(out, "EMULATOR  ");
	if (model_reach(console->model).greeting->is_production)
		text_add(out, "PROD  ");
	if (console_may_only_look(console))
		text_add(out, "READ-ONLY  ");
}

/* What the list is filtered by, until Esc takes it away; not where the view's own title says it. */
static void draw_filter(struct view *view, struct area area, int at, int room, const struct text *title)
{
	const char *filter = view->ops->filter_text ? view->ops->filter_text(view) : "";

	if (!*filter || strstr(title->at, filter) || room - at < FILTER_COLS_MIN)
		return;
	draw_text(area, 0, at, ROLE_title, "/");
	draw_field(area, 0, at + 1, room - at - 1, -1, ROLE_title, span_of(filter));
}

/* Facts stand two blanks apart, the best first: what has no room leaves whole, but for the place itself. */
static struct span title_fitting(struct span title, size_t kept, int room)
{
	while (cells_width(title) > room) {
		size_t cut = 0;

		for (size_t at = kept; at + 1 < title.len; at++) {
			if (title.at[at] == ' ' && title.at[at + 1] == ' ')
				cut = at;
		}
		if (!cut)
			return title;
		title.len = cut;
	}
	return title;
}

static void draw_title(struct console *console, struct area area, const struct totals *totals)
{
	struct view *view = console_view(console);
	bool has_verdict = false;
	OWNED(text) left = text_new(LINE_BYTES);
	OWNED(text) right = text_new(LINE_BYTES);
	enum role role = totals_role(totals);

	text_add_format(left, "weir  %s  ", console->name);
	size_t kept = left->len;

	view->ops->title(view, left, &has_verdict);
	marks_add(console, view, right);
	clock_add(console, totals, right);
	int room = area.cols - cells_width(text_span(right)) - 1;
	struct span title = has_verdict ? text_span(left) : title_fitting(text_span(left), kept, room);
	int at = cells_width(title) + 2;

	draw_field(area_part(area, 0, 0, 1, room), 0, 0, room, -1, ROLE_title, title);
	if (!has_verdict) {
		OWNED(text) verdict = text_new(LINE_BYTES);

		totals_verdict(totals, false, verdict);
		if (at + cells_width(text_span(verdict)) <= room) {
			draw_span(area, 0, at, role, text_span(verdict));
			at += cells_width(text_span(verdict)) + 2;
		}
	}
	draw_filter(view, area, at, room, left);
	draw_span(area, 0, area.cols - cells_width(text_span(right)), ROLE_title, text_span(right));
}

static const struct message *shown_message(const struct console *console)
{
	return console->says && console->message_count ?
		       &console->messages[(console->message_count - 1) % MESSAGES_KEPT] :
		       NULL;
}

static enum role message_role(const struct message *message)
{
	return message->is_error ? ROLE_error : ROLE_text;
}

/* A message that its row cannot hold has the hints' row too, until the next key; what even both cannot is whole in :messages. */
static void draw_long_message(struct area area, const struct message *message)
{
	static const char where[] = " :messages has all of it";
	struct span text = span_of(message->text);
	int width = area.cols - 2;

	draw_blank(area, area.rows - 2, 0, area.cols, ROLE_text);
	draw_blank(area, area.rows - 1, 0, area.cols, ROLE_text);
	if (paragraph_rows(text, width) <= 2) {
		draw_paragraph(area, area.rows - 2, 1, width, 2, message_role(message), text);
		return;
	}
	draw_paragraph(area, area.rows - 2, 1, width - (int)strlen(where), 2, message_role(message), text);
	draw_text(area, area.rows - 1, area.cols - (int)strlen(where), ROLE_dim, where);
}

/* A sentence about the selected row that is cut says which key shows all of it. */
static void sentence_cut(const struct view *view, int room, const struct text *left, struct text *right)
{
	OWNED(text) rest = text_new(LINE_BYTES);

	if (!view->ops->open_tells_all || cells_width(text_span(left)) <= room)
		return;
	text_add_format(rest, "Enter: all  %s", right->at);
	text_clear(right);
	text_add(right, rest->at);
}

static int room_beside(struct area area, const struct text *right)
{
	return area.cols - 2 - (right->len ? cells_width(text_span(right)) + 2 : 0);
}

/* Of a place that shows only a part that is said first, and alone where there is no room for more. */
static void status_text(struct view *view, struct area area, struct text *left, struct text *right)
{
	size_t narrowed;

	place_narrowed(view, left);
	narrowed = left->len;
	if (narrowed)
		text_add(left, "   ");
	view->ops->status(view, left, right);
	if (narrowed && cells_width(text_span(left)) > room_beside(area, right))
		left->at[left->len = narrowed] = '\0';
}

static void draw_status(struct console *console, struct area area, int row)
{
	const struct message *message = shown_message(console);
	struct view *view = console_view(console);
	OWNED(text) left = text_new(LINE_BYTES);
	OWNED(text) right = text_new(LINE_BYTES);

	status_text(view, area, left, right);
	if (message && cells_width(span_of(message->text)) > room_beside(area, right)) {
		draw_long_message(area, message);
		return;
	}
	if (!message)
		sentence_cut(view, room_beside(area, right), left, right);
	draw_field(area, row, 1, room_beside(area, right), -1, message ? message_role(message) : ROLE_text,
	           message ? span_of(message->text) : text_span(left));
	draw_span(area, row, area.cols - cells_width(text_span(right)), ROLE_dim, text_span(right));
}

static void draw_box(struct console *console, struct area middle)
{
	struct box *box = &console->box;
	int rows, cols;
	struct area outer, inner;

	box->ops->size(box, &rows, &cols);
	rows = rows + 2 < middle.rows ? rows + 2 : middle.rows;
	cols = cols + 4 < middle.cols ? cols + 4 : middle.cols;
	outer = area_part(middle, (middle.rows - rows) / 2, (middle.cols - cols) / 2, rows, cols);
	for (int row = 0; row < rows; row++) {
		bool is_top = row == 0, is_bottom = row == rows - 1;

		draw_blank(outer, row, 0, cols, ROLE_popup);
		if (is_top || is_bottom) {
			for (int col = 1; col < cols - 1; col++)
				draw_text(outer, row, col, ROLE_popup_border, glyph_text(GLYPH_RULE));
		}
		draw_text(outer, row, 0, ROLE_popup_border,
		          glyph_text(is_top ? GLYPH_TOP_LEFT : is_bottom ? GLYPH_BOTTOM_LEFT : GLYPH_VERTICAL));
		draw_text(outer, row, cols - 1, ROLE_popup_border,
		          glyph_text(is_top ? GLYPH_TOP_RIGHT : is_bottom ? GLYPH_BOTTOM_RIGHT : GLYPH_VERTICAL));
	}
	console->canvas->cursor_row = -1;
	inner = area_part(outer, 1, 2, rows - 2, cols - 4);
	box->ops->draw(box, inner); /* may learn a count that the title tells */
	draw_format(area_part(outer, 0, 2, 1, cols - 4), 0, 0, ROLE_popup_border, " %s ", box->title);
	console->has_box = true;
}

/* Half a question is none: its fields may be the other half. */
static bool box_fits(const struct console *console, struct area area)
{
	int rows, cols;

	if (!console->box.ops || area.cols < BOX_COLS_LEAST)
		return false;
	console->box.ops->size(&console->box, &rows, &cols);
	return rows + 2 <= area.rows;
}

static void message_row(struct area area, enum role role, const char *text)
{
	draw_blank(area, area.rows - 1, 0, area.cols, role);
	draw_field(area, area.rows - 1, 0, area.cols, -1, role, span_of(text));
}

static void draw_verdict(struct console *console, struct area area, const struct totals *totals)
{
	OWNED(text) out = text_new(LINE_BYTES);

	text_add_format(out, "weir %s ", console->name);
	totals_verdict(totals, true, out);
	totals_worst(console, totals, out);
	text_add(out, ". ");
	clock_add(console, totals, out);
	text_add_format(out, " (%dx%d is under %dx%d. q leaves, the engine goes on. ':' works.)", console->canvas->cols,
	                console->canvas->rows, COLS_LEAST, ROWS_LEAST);
	draw_paragraph(area, 0, 0, area.cols, area.rows, ROLE_text, text_span(out));
}

/* One text with the verdict, but for what asks for keys, which must be seen, and for help. */
static void draw_too_small(struct console *console, struct area area, const struct totals *totals)
{
	const struct message *message = shown_message(console);
	struct view *view = console_view(console);
	OWNED(text) out = text_new(LINE_BYTES);

	if (area.rows < 2 || area.cols < 20) {
		totals_verdict(totals, false, out);
		draw_span(area, 0, 0, totals_role(totals), text_span(out));
		return;
	}
	if (box_fits(console, area)) {
		draw_box(console, area);
		return;
	}
	if (strcmp(view->ops->table, "help") == 0)
		view->ops->draw(view, area_part(area, 0, 0, area.rows - 1, area.cols));
	else
		draw_verdict(console, area, totals);
	if (console->box.ops)
		message_row(area, ROLE_warn, "a question is open: a larger window shows it, Esc leaves it");
	else if (prompt_is_open(console->prompt))
		prompt_draw(console->prompt, area, area.rows - 1, "");
	else if (message)
		message_row(area, message->is_error ? ROLE_error : ROLE_text, message->text);
}

static void draw_whole(struct console *console, struct area area, const struct totals *totals)
{
	struct view *view = console_view(console);
	int bar = console_is_blind(console) || model_reach(console->model).is_other ? 2 : 0;
	struct area middle = area_part(area, 1 + bar, 0, area.rows - 3 - bar, area.cols);
	OWNED(text) hints = text_new(LINE_BYTES);

	draw_title(console, area, totals);
	if (bar)
		bar_draw(console, area_part(area, 1, 0, 2, area.cols));
	view->ops->draw(view, middle);
	if (console->box.ops)
		draw_box(console, middle);
	frame_hints(console, hints);
	draw_field(area, area.rows - 2, 1, area.cols - 1, -1, ROLE_hint, text_span(hints));
	if (prompt_is_open(console->prompt))
		line_draw(console, area);
	else
		draw_status(console, area, area.rows - 1);
}

void frame_draw(struct console *console)
{
	struct area area = area_whole(console->canvas);
	struct totals totals;

	canvas_clear(console->canvas);
	console->has_box = false;
	totals_ask(console, &totals);
	if (console->is_bare)
		bare_draw(console, area);
	else if (area.rows < ROWS_LEAST || area.cols < COLS_LEAST)
		draw_too_small(console, area, &totals);
	else
		draw_whole(console, area, &totals);
	ahead_drawn(console);
	model_frame_done(console->model);
}
