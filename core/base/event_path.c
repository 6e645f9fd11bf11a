/* Paths of errors in the text of an event; see event_path.h. */
#include "base/event_path.h"

#include "base/arena.h"
#include "base/json_path.h"

#include <string.h>

#define PATH_BYTES 2048

static const char *const rows[] = { "after", "payload.after", "before", "payload.before" };
#define ROWS (sizeof(rows) / sizeof(*rows))

static bool is_in(struct span event, struct text *room, const char *row, const char *member)
{
	text_clear(room);
	text_add_format(room, "%s.%s", row, member);
	return json_path_value(event, room->at).len > 0;
}

/* A letter of a column that its table does not take names the column alone. */
static const char *column_in(struct span event, const char *column, struct text *room)
{
	for (size_t i = 0; *column && i < ROWS; i++) {
		if (is_in(event, room, rows[i], column))
			return room->at;
	}
	return NULL;
}

const char *event_path(struct span event, const char *path, const char *column, struct text *room)
{
	if (!event.len)
		return NULL;
	if (!*path)
		return column_in(event, column, room);
	if (json_path_value(event, path).len)
		return path;
	return is_in(event, room, "payload", path) ? room->at : NULL;
}

struct span event_row(struct span event, const char *path)
{
	OWNED(text) parent = text_new(PATH_BYTES);
	const char *dot = path ? strrchr(path, '.') : NULL;

	if (dot) {
		text_add_span(parent, span_make(path, (size_t)(dot - path)));
		return json_path_value(event, parent->at);
	}
	for (size_t i = 0; !path && i < ROWS; i++) {
		struct span row = json_path_value(event, rows[i]);

		if (row.len && *row.at == '{')
			return row;
	}
	return event;
}
