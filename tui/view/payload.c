/* The piece of a payload that an error points at; see payload.h. */
#include "view/payload.h"
#include "base/arena.h"
#include "base/json_path.h"
#include "term/cells.h"
#include "view/view.h"

#include <string.h>

#define PATH_BYTES 2048
#define CUT ".."
#define CUT_COLS 2

static const char *const rows[] = { "after", "payload.after", "before", "payload.before" };
#define ROWS (sizeof(rows) / sizeof(*rows))

static struct span text_of(const json_t *letter)
{
	const json_t *payload = json_object_get(letter, "payload");

	return span_make(json_string_value(payload), json_string_length(payload));
}

static bool is_in(struct span payload, struct text *room, const char *row, const char *member)
{
	text_clear(room);
	text_add_format(room, "%s.%s", row, member);
	return json_path_value(payload, room->at).len > 0;
}

/* A letter of a column that its table does not take names the column alone. */
static const char *column_in(struct span payload, const char *column, struct text *room)
{
	for (size_t i = 0; *column && i < ROWS; i++) {
		if (is_in(payload, room, rows[i], column))
			return room->at;
	}
	return NULL;
}

static const char *path_in(const json_t *letter, struct span payload, struct text *room)
{
	const char *path = member_text(letter, "path");

	if (!payload.len)
		return NULL;
	if (!*path)
		return column_in(payload, member_text(letter, "column"), room);
	if (json_path_value(payload, path).len)
		return path;
	return is_in(payload, room, "payload", path) ? room->at : NULL;
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

/* The object around the value; without a value the row after the change, else all. */
static struct span row_of(struct span payload, const char *path)
{
	OWNED(text) parent = text_new(PATH_BYTES);
	const char *dot = path ? strrchr(path, '.') : NULL;

	if (dot) {
		text_add_span(parent, span_make(path, (size_t)(dot - path)));
		return json_path_value(payload, parent->at);
	}
	for (size_t i = 0; !path && i < ROWS; i++) {
		struct span row = json_path_value(payload, rows[i]);

		if (row.len && *row.at == '{')
			return row;
	}
	return payload;
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
	row = row_of(payload, path);
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
