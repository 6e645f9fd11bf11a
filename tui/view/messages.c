/* What the status row has said, newest first; and (`:acts`, `@`) what was done from this console, as commands. */
#include "base/arena.h"
#include "base/clock.h"
#include "view/rows_view.h"

#include <stdlib.h>

struct messages {
	struct rows *rows;
	json_t *made;
};

enum column { TIME, WHAT };

static const struct list_column columns[] = {
	[TIME] = { "TIME", NULL, 8, -1, 0, 0, false, 0 },
	[WHAT] = { "WHAT", "what", 20, -1, 0, 0, true, 0 },
};

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	if (column == TIME)
		console_time(console, member_text(row, "time"), true, out);
	else
		text_add(out, member_text(row, "text"));
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%lld", (long long)member_int(row, "number"));
}

static enum role row_role(const struct console *console, const json_t *row, size_t column)
{
	(void)console;
	(void)column;
	return member_bool(row, "error") ? ROLE_error : ROLE_text;
}

static void add(struct messages *messages, struct rows *rows, int64_t us, bool is_error, const char *text, size_t number)
{
	char time[CLOCK_TEXT_BYTES];
	json_t *row;

	clock_text(us, time);
	row = json_pack("{s:s, s:b, s:s%, s:I}", "time", time, "error", is_error, "text", text, (int)strlen(text), "number",
	                (json_int_t)number);
	if (!row)
		return; /* not UTF-8: every message of ours is */
	json_array_append_new(messages->made, row);
	rows_add(rows, row);
}

static void collect_messages(struct view *view, struct rows *rows)
{
	struct messages *messages = view->state;
	size_t count = console_message_count(view->console);

	json_array_clear(messages->made);
	for (size_t i = 0; i < count; i++) {
		int64_t us;
		bool is_error;
		const char *text = console_message(view->console, i, &us, &is_error);

		add(messages, rows, us, is_error, text, count - i);
	}
}

static void collect_acts(struct view *view, struct rows *rows)
{
	struct messages *messages = view->state;
	const struct model *model = console_model(view->console);

	json_array_clear(messages->made);
	for (unsigned number = model_act_last(model); number; number--) {
		const struct act *act = model_act_of(model, number);
		OWNED(text) text = text_new(4096);

		if (!act)
			return;
		text_add_format(text, "weir %s%s", act->line, !act->is_done ? "   ..." : "");
		if (act->error.kind != ERROR_NONE)
			text_add_format(text, "   %s: %s", act->error.code, act->error.message);
		add(messages, rows, act->begun_us, act->error.kind != ERROR_NONE, text->at, number);
	}
}

static const struct rows_spec spec_messages = { columns, 2, cell_text, NULL, row_key, row_role, collect_messages };
static const struct rows_spec spec_acts = { columns, 2, cell_text, NULL, row_key, row_role, collect_acts };

static bool is_acts(const struct view *view);

/* A row has room for the beginning; the selected one stands whole below, as far as half the screen. */
static void messages_draw(struct view *view, struct area area)
{
	struct rows *rows = rows_view_rows(view);
	const json_t *row = rows_selected(view, rows);
	int whole = row ? paragraph_rows(span_of(member_text(row, "text")), area.cols - 2) : 0, pane;

	whole = whole < area.rows / 2 ? whole : area.rows / 2;
	pane = whole ? whole + 1 : 0;
	rows_draw(view, rows, area_part(area, 0, 0, area.rows - pane, area.cols), true);
	row = rows_selected(view, rows); /* made anew meanwhile */
	if (pane && row) {
		draw_rule(area, area.rows - pane, "the whole of it", "");
		draw_paragraph(area, area.rows - whole, 1, area.cols - 2, whole, row_role(view->console, row, WHAT),
		               span_of(member_text(row, "text")));
	}
	if (!rows_count(rows))
		draw_text(area, 1, 1, ROLE_text, is_acts(view) ? "nothing was done from this console" : "no message yet");
}

static void messages_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	(void)out_has_verdict;
	text_add(out, is_acts(view) ? "what was done here" : "messages");
}

static void messages_status(struct view *view, struct text *left, struct text *right)
{
	text_add(left, is_acts(view) ? "newest first, as commands; the journal has what others did" : "newest first");
	rows_status(view, rows_view_rows(view), right);
}

static const enum action_id *messages_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_copy, ACTION_filter, ACTION_zone, ACTION_back, ACTIONS };

	(void)view;
	return hints;
}

static bool messages_act(struct view *view, enum action_id action, const char *argument)
{
	return rows_act(view, rows_view_rows(view), action, argument);
}

static bool messages_copy(struct view *view, bool is_finding, struct text *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	(void)is_finding;
	return row && text_add(out, member_text(row, "text"));
}

static bool messages_open(struct view *view, struct error *err)
{
	struct messages *messages = memory_zalloc(sizeof(*messages));

	(void)err;
	messages->rows = rows_new(is_acts(view) ? &spec_acts : &spec_messages);
	messages->made = json_array();
	view->state = messages;
	return true;
}

static void messages_close(struct view *view)
{
	json_decref(((struct messages *)view->state)->made);
	rows_view_close(view);
}

#define MESSAGES_OPS(place, words) \
	{ .name = place, .table = "messages", .help = words, .open = messages_open, .close = messages_close, .draw = messages_draw, \
	  .title = messages_title, .status = messages_status, .hints = messages_hints, .act = messages_act, .copy = messages_copy, \
	  .fields = rows_view_fields, .filter = rows_view_filter, .filter_text = rows_view_filter_text }

const struct view_ops view_messages = MESSAGES_OPS("messages", "what the status row has said");
const struct view_ops view_acts = MESSAGES_OPS("acts", "what was done from this console, as commands");

static bool is_acts(const struct view *view)
{
	return view->ops == &view_acts;
}
