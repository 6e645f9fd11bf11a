/* The columns of a list of letters, and what stands in them. */
#include "view/entries_private.h"
#include "widget/chart.h"

#include <stdlib.h>

enum column { ID, COMMIT, FIRST, KEY, STATE, TRIES, BYTES, NEWER, VALUE, REASON, TABLE, COLUMN, STAGE, JOB, GROUP };

static const struct list_column columns[ENTRIES_COLUMNS] = {
	[ID] = { "ID", "id", 8, 1, 0, 0, false, 'i' },
	[COMMIT] = { "COMMIT", NULL, 8, -1, 5, 0, false, 'c' },
	[FIRST] = { "RECEIVED", NULL, 8, -1, 2, 110, false, 'f' },
	[KEY] = { "KEY", "key", 12, -1, 0, 0, false, 'k' },
	[STATE] = { "STATE", "state", 12, -1, 6, 0, false, 's' },
	[TRIES] = { "TRIES", "tries", 5, 1, 4, 0, false, 't' },
	[BYTES] = { "BYTES", "bytes", 6, 1, 3, 0, false, 'b' },
	[NEWER] = { "NEWER", "newer", 5, -1, 1, 120, false, 'n' },
	[VALUE] = { "VALUE", "value", 12, -1, 0, 0, true, 'v' },
	[REASON] = { "REASON", "code", 18, -1, 4, LIST_HIDDEN, false, 'r' },
	[TABLE] = { "TABLE", "table", 18, ALIGN_NAME, 1, LIST_HIDDEN, false, 'a' },
	[COLUMN] = { "COLUMN", "column", 8, -1, 1, LIST_HIDDEN, false, 0 },
	[STAGE] = { "STAGE", "stage", 6, -1, 1, LIST_HIDDEN, false, 0 },
	[JOB] = { "JOB", "job", 10, -1, 1, LIST_HIDDEN, false, 'j' },
	[GROUP] = { "GROUP", "group", 5, 1, 1, LIST_HIDDEN, false, '#' },
};

/* Letters of one group have their reason and table in common. */
void entries_columns(bool is_of_group, bool is_of_job, struct list_column out[ENTRIES_COLUMNS])
{
	memcpy(out, columns, sizeof(columns));
	if (is_of_group)
		return;
	out[VALUE].is_flex = false;
	out[VALUE].width = 24;
	out[VALUE].leave = 2;
	out[VALUE].wide = 110;
	out[KEY].is_flex = true;
	out[REASON].wide = out[TABLE].wide = 0;
	out[TABLE].leave = 9;
	out[REASON].leave = 10;
	out[TABLE].width = 14;
	out[JOB].wide = is_of_job ? LIST_HIDDEN : 0;
	out[JOB].leave = 11;
}

/* What the error points at is named by it: "phone" says more than "value". */
void entries_name_value(struct list_column list_columns[ENTRIES_COLUMNS], const json_t *row, char *head, size_t room)
{
	const char *name = *member_text(row, "path") ? member_text(row, "path") : member_text(row, "column");
	const char *dot = strrchr(name, '.');

	if (!*name)
		return;
	snprintf(head, room, "%s", dot && dot[1] ? dot + 1 : name);
	list_columns[VALUE].head = head;
}

bool entries_number(const json_t *row, size_t column, double *out)
{
	static const char *const members[] = { [ID] = "id", [TRIES] = "attempts", [BYTES] = "bytes", [GROUP] = "group" };
	static const char *const times[] = { [COMMIT] = "commit", [FIRST] = "first" };

	if (column < sizeof(times) / sizeof(*times) && times[column]) {
		*out = (double)time_us_of(member_text(row, times[column]));
		return true;
	}
	if (column >= sizeof(members) / sizeof(*members) || !members[column])
		return false;
	*out = member_number(row, members[column]);
	return true;
}

/* {"id":88121} is 88121; a key of several columns their values in order. */
static void key_cell(const json_t *row, struct text *out)
{
	const char *key = member_text(row, "key"), *name;
	json_t *object = *key == '{' ? json_loads(key, JSON_ALLOW_NUL, NULL) : NULL, *value;
	size_t count = 0;

	json_object_foreach(object, name, value) {
		char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

		text_add_format(out, "%s%s", count++ ? ", " : "", text ? text : json_is_string(value) ? json_string_value(value) : "");
		free(text);
	}
	if (!json_object_size(object))
		text_add(out, key);
	json_decref(object);
}

/* Unknown where the letter was refused before its key was made. */
static const char *newer_word(const json_t *row)
{
	return member_bool(row, "newer") ? "yes" : json_is_false(json_object_get(row, "newer")) ? "no" : "?";
}

static void time_cell(const struct console *console, const json_t *row, const char *member, struct text *out)
{
	if (*member_text(row, member))
		console_time(console, member_text(row, member), true, out);
	else
		text_add(out, "-");
}

void entries_cell(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	static const char *const members[] = { [STATE] = "state",   [VALUE] = "value", [REASON] = "code", [TABLE] = "table",
		                               [COLUMN] = "column", [STAGE] = "stage", [JOB] = "job" };

	switch ((enum column)column) {
	case ID: text_add_int(out, member_int(row, "id")); return;
	case COMMIT: time_cell(console, row, "commit", out); return;
	case FIRST: time_cell(console, row, "first", out); return;
	case TRIES: text_add_int(out, member_int(row, "attempts")); return;
	case BYTES: number_short(member_number(row, "bytes"), out); return;
	case NEWER: text_add(out, newer_word(row)); return;
	case GROUP: text_add_int(out, member_int(row, "group")); return;
	case KEY: key_cell(row, out); return;
	case STATE:
	case VALUE:
	case REASON:
	case TABLE:
	case COLUMN:
	case STAGE:
	case JOB: text_add(out, member_text(row, members[column])); return;
	}
}
