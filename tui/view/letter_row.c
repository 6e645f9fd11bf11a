/* The row that the replica holds now for the key of a dead letter, column by column beside what the letter has. */
#include "base/arena.h"
#include "view/letter_private.h"

#include <inttypes.h>
#include <stdlib.h>

/* The row after the change, in an envelope or under a schema block; a flattened event is the row. */
static const json_t *row_of(const json_t *payload)
{
	const json_t *inner = json_object_get(payload, "payload"), *event = json_is_object(inner) ? inner : payload;
	const json_t *after = json_object_get(event, "after");

	return json_is_object(after) ? after : json_object_get(event, "before") ? json_object_get(event, "before") : event;
}

static void value_add(const json_t *value, struct text *out)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	text_add(out, text ? text : "");
	free(text);
}

/* A value is written in another way than it is stored: only what both have in the same kind can be said to differ. */
static bool differs(const json_t *stored, const json_t *sent)
{
	return sent && stored && !json_is_object(sent) && !json_is_array(sent) && json_typeof(stored) == json_typeof(sent) &&
	       !json_equal(stored, sent);
}

/* The value that was refused is what one looks for: it is shown beside the stored one whatever its kind, also where the replica
 * has no such column. */
static void column_add(const char *name, const json_t *stored, const json_t *sent, bool is_refused, struct lines *lines)
{
	OWNED(text) now = text_new(LINE_BYTES);
	OWNED(text) letter = text_new(LINE_BYTES);

	if (stored)
		value_add(stored, now);
	else
		text_add(now, "no such column");
	if (!differs(stored, sent) && !(is_refused && sent)) {
		lines_add(lines, ROLE_text, " %-14s %s", name, now->at);
		return;
	}
	value_add(sent, letter);
	lines_add(lines, ROLE_warn, " %-14s %s -> %s%s", name, now->at, letter->at, is_refused ? "   refused" : "");
}

static void columns_add(const struct letter *letter, const json_t *shown, const json_t *row, struct lines *lines)
{
	const json_t *sent = row_of(letter->payload), *stored;
	const char *name, *refused = member_text(shown, "column");

	json_object_foreach((json_t *)row, name, stored)
		column_add(name, stored, json_object_get(sent, name), strcmp(name, refused) == 0, lines);
	if (*refused && !json_object_get(row, refused) && json_object_get(sent, refused))
		column_add(refused, NULL, json_object_get(sent, refused), true, lines);
}

void letter_row(const struct letter *letter, const json_t *shown, struct lines *lines)
{
	const json_t *replica = json_object_get(shown, "replica"), *row = json_object_get(replica, "row");

	lines_rule(lines, "row now in the replica", member_text(replica, "position"));
	if (!json_is_object(replica))
		lines_add(lines, ROLE_text, " no replica of this table");
	else if (*member_text(replica, "problem"))
		lines_paragraph(lines, ROLE_error, 1, member_text(replica, "problem"));
	else if (member_bool(replica, "cut"))
		lines_add(lines, ROLE_text, " there is one, too long to be shown here");
	else if (member_bool(replica, "key_unknown"))
		lines_add(lines, ROLE_text, " unknown: the letter was refused before its key was read");
	else if (!json_is_object(row))
		lines_add(lines, ROLE_text, " none with this key");
	else
		columns_add(letter, shown, row, lines);
	if (member_bool(shown, "newer"))
		lines_paragraph(lines, ROLE_warn, 1, "it is newer than the letter: a replay has no effect");
}
