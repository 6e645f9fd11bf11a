/* Versions of tables as changes of columns; see schema_changes.h. */
#include "view/schema_changes.h"
#include "base/arena.h"
#include "view/console.h"

#include <stdlib.h>

#define LINE_BYTES 2048

static const json_t *column_of(const json_t *columns, const char *name)
{
	const json_t *column;
	size_t i;

	json_array_foreach(columns, i, column) {
		if (strcmp(member_text(column, "name"), name) == 0)
			return column;
	}
	return NULL;
}

static void change_add(json_t *out, const json_t *table, const json_t *version, const char *column, const char *change,
                       const char *did)
{
	const json_t *source = json_object_get(version, "source");
	json_t *row = json_object();
	OWNED(text) where = text_new(LINE_BYTES);

	if (member_int(source, "line"))
		text_add_format(where, "line %lld", (long long)member_int(source, "line"));
	if (*member_text(source, "message_id"))
		text_add_format(where, "%smessage id %s", where->len ? ", " : "", member_text(source, "message_id"));
	json_object_set(row, "job", json_object_get(table, "job"));
	json_object_set(row, "table", json_object_get(table, "table"));
	json_object_set(row, "time", json_object_get(version, "time"));
	json_object_set(row, "version", json_object_get(version, "version"));
	json_object_set_new(row, "column", json_string(column));
	json_object_set_new(row, "change", json_string(change));
	json_object_set_new(row, "did", json_string(did));
	json_object_set_new(row, "where", json_string(where->at));
	json_array_append_new(out, row);
}

static void columns_compare(json_t *out, const json_t *table, const json_t *before, const json_t *after)
{
	const json_t *old = json_object_get(before, "columns"), *new = json_object_get(after, "columns"), *column;
	size_t i, had = json_array_size(out);

	json_array_foreach(new, i, column) {
		const json_t *was = column_of(old, member_text(column, "name"));
		OWNED(text) change = text_new(LINE_BYTES);

		if (!was)
			text_add_format(change, "new, %s", member_text(column, "type"));
		else if (strcmp(member_text(was, "type"), member_text(column, "type")) != 0)
			text_add_format(change, "%s -> %s", member_text(was, "type"), member_text(column, "type"));
		if (change->len)
			change_add(out, table, after, member_text(column, "name"), change->at, "");
	}
	json_array_foreach(old, i, column) {
		if (!column_of(new, member_text(column, "name")))
			change_add(out, table, after, member_text(column, "name"), "gone from the source", "");
	}
	if (json_array_size(out) == had)
		change_add(out, table, after, "", member_text(after, "change"), "");
}

/* As the engine tells it. False: it does not. */
static bool steps_take(json_t *out, const json_t *table, const json_t *version)
{
	const json_t *steps = json_object_get(version, "steps"), *step;
	size_t i;

	json_array_foreach(steps, i, step) {
		OWNED(text) did = text_new(LINE_BYTES);

		text_add(did, member_text(step, "did"));
		if (json_object_get(step, "rows"))
			text_add_format(did, ", %lld %s", (long long)member_int(step, "rows"),
			                member_int(step, "rows") == 1 ? "row" : "rows");
		change_add(out, table, version, member_text(step, "column"), member_text(step, "change"), did->at);
	}
	return json_array_size(steps) > 0;
}

static void table_compare(json_t *out, const json_t *table)
{
	const json_t *timeline = json_object_get(table, "timeline"), *version;
	size_t i, count;

	json_array_foreach(timeline, i, version) {
		OWNED(text) change = text_new(LINE_BYTES);

		if (steps_take(out, table, version))
			continue;
		if (i) {
			columns_compare(out, table, json_array_get(timeline, i - 1), version);
			continue;
		}
		count = json_array_size(json_object_get(version, "columns"));
		text_add_format(change, "first seen, %zu column%s", count, count == 1 ? "" : "s");
		change_add(out, table, version, "", change->at, "made");
	}
}

static int newest_first(const void *left, const void *right)
{
	const json_t *a = *(json_t *const *)left, *b = *(json_t *const *)right;

	return strcmp(member_text(b, "time"), member_text(a, "time"));
}

json_t *schema_changes(const json_t *tables)
{
	json_t *out = json_array(), *sorted = json_array();
	const json_t *table;
	size_t i, count;
	json_t **rows;

	json_array_foreach(tables, i, table)
		table_compare(out, table);
	count = json_array_size(out);
	rows = memory_alloc((count + 1) * sizeof(*rows));
	for (i = 0; i < count; i++)
		rows[i] = json_array_get(out, i);
	qsort(rows, count, sizeof(*rows), newest_first);
	for (i = 0; i < count; i++)
		json_array_append(sorted, rows[i]);
	free(rows);
	json_decref(out);
	return sorted;
}
