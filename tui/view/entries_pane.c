/* The selected letter under its list: why it is here, where it came from, and the piece of it that the error points at. */
#include "base/arena.h"
#include "view/entries_private.h"

#include <inttypes.h>

#define LINE_BYTES 4096

static void add_time(const struct console *console, const json_t *row, const char *label, const char *member, struct text *out)
{
	if (!*member_text(row, member))
		return;
	text_add_format(out, "%s%s ", out->len ? "  " : "", label);
	console_time(console, member_text(row, member), true, out);
}

static void add_word(struct text *out, const char *label, const char *word)
{
	if (*word)
		text_add_format(out, "%s%s %s", out->len ? "  " : "", label, word);
}

static void draw_what(const json_t *row, struct area area)
{
	OWNED(text) what = text_new(LINE_BYTES);

	text_add(what, member_text(row, "code"));
	add_word(what, "table", member_text(row, "table"));
	add_word(what, "column", member_text(row, "column"));
	add_word(what, "path", member_text(row, "path"));
	draw_field(area, 2, 1, area.cols - 2, -1, ROLE_text, text_span(what));
}

static void draw_where(const struct console *console, const json_t *row, struct area area)
{
	const json_t *source = json_object_get(row, "source");
	OWNED(text) where = text_new(LINE_BYTES);
	OWNED(text) times = text_new(LINE_BYTES);

	if (member_int(source, "line"))
		text_add_format(where, "line %" PRId64, member_int(source, "line"));
	add_word(where, "message id", member_text(source, "message_id"));
	add_word(where, "position", member_text(row, "position"));
	draw_field(area, 3, 1, area.cols - 2, -1, ROLE_text, text_span(where));
	add_time(console, row, "commit", "commit", times);
	add_time(console, row, "published", "publish", times);
	add_time(console, row, "received", "first", times);
	text_add_format(times, "%ssha256 %.12s..", times->len ? "  " : "", member_text(row, "sha256"));
	draw_field(area, 4, 1, area.cols - 2, -1, ROLE_text, text_span(times));
}

static void draw_value(const json_t *row, struct area area)
{
	OWNED(text) line = text_new(LINE_BYTES);

	add_word(line, "key", member_text(row, "key"));
	if (member_bool(row, "newer"))
		text_add_format(line, "%sa newer row is there: a replay has no effect", line->len ? "  " : "");
	draw_field(area, 5, 1, area.cols - 2, -1, ROLE_text, text_span(line));
	draw_field(area, 6, 1, area.cols - 2, -1, ROLE_text, span_of(member_text(row, "value")));
}

void entries_pane(struct view *view, const json_t *row, struct area area)
{
	OWNED(text) title = text_new(LINE_BYTES);

	text_add_format(title, "letter %" PRId64, member_int(row, "id"));
	draw_rule(area, 0, title->at, "Enter opens it");
	draw_field(area, 1, 1, area.cols - 2, -1, ROLE_error, span_of(member_text(row, "message")));
	draw_what(row, area);
	draw_where(view->console, row, area);
	draw_value(row, area);
}
