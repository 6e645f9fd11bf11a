/* Why a dead letter is here, where it came from, and what was tried. */
#include "base/arena.h"
#include "view/letter_private.h"

#include <inttypes.h>

static void line_add(struct lines *lines, const char *name, const char *value)
{
	if (*value)
		lines_add(lines, ROLE_text, " %-14s %s", name, value);
}

static void why_source(struct view *view, const json_t *shown, struct lines *lines)
{
	const json_t *source = json_object_get(shown, "source");
	OWNED(text) first = text_new(LINE_BYTES);
	OWNED(text) published = text_new(LINE_BYTES);
	OWNED(text) committed = text_new(LINE_BYTES);
	char number[32];

	lines_rule(lines, "where it came from", "");
	line_add(lines, "job", member_text(shown, "job"));
	line_add(lines, "file", member_text(source, "file"));
	line_add(lines, "subscription", member_text(source, "subscription"));
	snprintf(number, sizeof(number), "%" PRId64, member_int(source, "line"));
	line_add(lines, "line", member_int(source, "line") ? number : "");
	line_add(lines, "message id", member_text(source, "message_id"));
	if (*member_text(shown, "publish")) {
		console_moment(view->console, member_text(shown, "publish"), published);
		line_add(lines, "published", published->at);
	}
	console_moment(view->console, member_text(shown, "first"), first);
	line_add(lines, "first here", first->at);
	if (*member_text(shown, "commit"))
		console_moment(view->console, member_text(shown, "commit"), committed);
	if (committed->len && *member_text(shown, "position"))
		text_add_format(committed, ", at %s", member_text(shown, "position"));
	line_add(lines, committed->len ? "commit" : "position", committed->len ? committed->at : member_text(shown, "position"));
	line_add(lines, "ordering key", member_text(shown, "ordering_key"));
	line_add(lines, "table", member_text(shown, "table"));
	line_add(lines, "key", member_text(shown, "key"));
	line_add(lines, "sha256", member_text(shown, "sha256"));
}

static void why_attributes(const json_t *shown, struct lines *lines)
{
	const json_t *attributes = json_object_get(shown, "attrs"), *value;
	const char *name;
	char count[32];

	snprintf(count, sizeof(count), "%zu", json_object_size(attributes));
	lines_rule(lines, "attributes", count);
	json_object_foreach((json_t *)attributes, name, value)
		line_add(lines, name, json_string_value(value) ? json_string_value(value) : "");
}

static void why_attempts(struct view *view, const json_t *shown, struct lines *lines)
{
	const json_t *tries = json_object_get(shown, "tries"), *try;
	OWNED(text) last = text_new(LINE_BYTES);
	char count[32];
	size_t i;

	snprintf(count, sizeof(count), "%" PRId64, member_int(shown, "attempts"));
	lines_rule(lines, "attempts", count);
	json_array_foreach(tries, i, try) {
		OWNED(text) time = text_new(LINE_BYTES);

		console_moment(view->console, member_text(try, "time"), time);
		lines_add(lines, ROLE_text, " %" PRId64 "  %s  %s  %s", member_int(try, "attempt"), time->at, member_text(try, "code"),
		          member_text(try, "message"));
	}
	if (json_array_size(tries))
		return;
	console_moment(view->console, member_text(shown, "last"), last);
	line_add(lines, "last", last->at);
}

void letter_why(struct view *view, const json_t *shown, struct area area)
{
	struct letter *letter = view->state;
	struct lines *lines = letter->lines;

	lines_begin(lines, area.cols - 1);
	lines_rule(lines, "why it is here", "");
	lines_add(lines, ROLE_error, " %s   stage %s   state %s", member_text(shown, "code"), member_text(shown, "stage"),
	          member_text(shown, "state"));
	lines_paragraph(lines, ROLE_text, 1, member_text(shown, "message"));
	if (*member_text(shown, "column") && *member_text(shown, "path"))
		lines_add(lines, ROLE_text, " %-14s %s, path %s", "column", member_text(shown, "column"), member_text(shown, "path"));
	else
		line_add(lines, *member_text(shown, "path") ? "path" : "column",
		         *member_text(shown, "path") ? member_text(shown, "path") : member_text(shown, "column"));
	if (member_bool(shown, "newer"))
		lines_paragraph(lines, ROLE_warn, 1, "the replica has a newer row for this key: a replay has no effect");
	else if (json_is_null(json_object_get(shown, "newer")))
		lines_paragraph(lines, ROLE_dim, 1, "whether the replica has a newer row is unknown: it was refused before it became a row");
	why_source(view, shown, lines);
	why_attributes(shown, lines);
	why_attempts(view, shown, lines);
	letter_row(letter, shown, lines);
	lines_draw(lines, area);
}
