/* The piece of a payload that an error points at; see payload.h. */
#include "view/payload.h"
#include "base/arena.h"
#include "base/event_path.h"
#include "base/json_path.h"
#include "term/cells.h"
#include "view/view.h"

#include <string.h>

#define PATH_BYTES 2048
#define CUT ".."
#define CUT_COLS 2

static struct span text_of(const json_t *letter)
{
	const json_t *payload = json_object_get(letter, "payload");

	return span_make(json_string_value(payload), json_string_length(payload));
}

static const char *path_in(const json_t *letter, struct span payload, struct text *room)
{
	return event_path(payload, member_text(letter, "path"), member_text(letter, "column"), room);
}

const char *payload_path(const json_t *letter, struct text *room)
{
	return path_in(letter, text_of(letter), room);
}

struct span payload_spot(const json_t *letter, struct span payload)
{
	OWNED(text) room = text_new(PATH_BYTES);
	const char *path = path_in(letter, payload, room);

	return path ? json_path_value(payload, path) : span_make(NULL, 0);
}

/* Where the line begins: at the row, or, so that the value stands on it, at the value's own name. */
static const char *begin_of(struct span payload, struct span row, struct span spot, const char *path, int cols)
{
	OWNED(text) name = text_new(PATH_BYTES);
	struct span member;

	if (!spot.len || cells_width(span_make(row.at, (size_t)(spot.at + spot.len - row.at))) <= cols - CUT_COLS)
		return row.at;
	text_add_format(name, "@%s", path);
	member = json_path_value(payload, name->at);
	return member.len && member.at > row.at ? member.at : spot.at;
}

static void marks_add(struct span before, struct span spot, int indent, int cols, struct text *out)
{
	int from = indent + cells_width(before), width = cells_width(spot);

	if (from >= cols)
		return;
	for (int col = 0; col < from; col++)
		text_add_char(out, ' ');
	for (int col = from; col < from + width && col < cols; col++)
		text_add_char(out, '^');
}

bool payload_excerpt(const json_t *letter, int cols, struct text *out_line, struct text *out_marks)
{
	struct span payload = text_of(letter);
	OWNED(text) room = text_new(PATH_BYTES);
	const char *path = path_in(letter, payload, room), *begin;
	struct span spot = path ? json_path_value(payload, path) : span_make(NULL, 0), row, shown;
	int taken, indent;
	size_t fit;

	if (!payload.len || cols < 10)
		return false;
	row = event_row(payload, path);
	begin = begin_of(payload, row, spot, path, cols);
	indent = begin > row.at ? CUT_COLS : 0;
	shown = span_make(begin, (size_t)(row.at + row.len - begin));
	fit = cells_fit(shown, cols - indent, &taken);
	if (fit < shown.len)
		fit = cells_fit(shown, cols - indent - CUT_COLS, &taken);
	text_add(out_line, indent ? CUT : "");
	text_add_span(out_line, span_make(shown.at, fit));
	text_add(out_line, fit < shown.len ? CUT : "");
	if (spot.len)
		marks_add(span_make(begin, (size_t)(spot.at - begin)), spot, indent, cols, out_marks);
	return true;
}
