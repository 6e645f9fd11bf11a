/* Results and errors in words, for stdout and stderr of both programs. */
#include "base/clean.h"
#include "base/page.h"
#include "base/reason.h"
#include "control/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long long number(const json_t *object, const char *name)
{
	return (long long)json_integer_value(json_object_get(object, name));
}

/* "" if it is missing: an answer may come from another version. */
static const char *word(const json_t *object, const char *name)
{
	const char *found = json_string_value(json_object_get(object, name));

	return found ? found : "";
}

/* A line of its own behind what stands there, folded to the page. */
static void add_folded(struct text *out, const char *text, size_t page, size_t indent)
{
	OWNED(text) clean = text_new(1u << 20);

	clean_text(clean, span_of(text));
	text_add_format(out, "%*s", (int)indent, "");
	page_fold(out, clean->at, page, indent, indent);
	text_add_char(out, '\n');
}

static void add_notes(struct text *out, const json_t *notes, size_t page)
{
	size_t i;
	json_t *note;

	json_array_foreach(notes, i, note) {
		OWNED(text) line = text_new(1u << 20);

		text_add_format(line, "%s: %s", word(note, "code"), word(note, "text"));
		add_folded(out, line->at, page, 2);
	}
}

static const struct page_column result_columns[] = {
	{ "TABLE", 5, 16, 0, false },    { "RECEIVED", 10, 8, 3, true }, { "WRITTEN", 10, 8, 4, true },
	{ "FILTERED", 9, 8, 1, true },   { "LETTERS", 8, 7, 0, true },   { "PARKED", 7, 6, 2, true },
	{ " STATE", 12, 10, 0, false },
};
#define RESULT_COLUMNS (sizeof(result_columns) / sizeof(result_columns[0]))

/* The first column is as wide as the longest name, within reason. */
static int name_width(const json_t *tables)
{
	int width = result_columns[0].width;
	size_t i;
	json_t *table;

	json_array_foreach(tables, i, table) {
		int length = (int)json_string_length(json_object_get(table, "table"));

		width = length > width && length <= 40 ? length : width;
	}
	return width;
}

static void add_table(struct text *out, const struct page_list *list, const json_t *table)
{
	static const char *const members[] = { "received", "written", "filtered", "dead_lettered", "parked" };
	const char *state = word(table, "state");
	char numbers[5][24], shown[64];
	const char *cells[RESULT_COLUMNS] = { word(table, "table"), [RESULT_COLUMNS - 1] = shown };

	for (size_t i = 0; i < 5; i++) {
		snprintf(numbers[i], sizeof(numbers[i]), "%lld", number(table, members[i]));
		cells[i + 1] = numbers[i];
	}
	snprintf(shown, sizeof(shown), " %s", strcmp(state, "needs you") == 0 ? "NEEDS YOU" : state);
	page_list_row(list, cells, out);
	add_notes(out, json_object_get(table, "notes"), list->page);
}

static void add_ledger(struct text *out, const json_t *result, size_t page)
{
	OWNED(text) line = text_new(1024);

	text_add_format(line,
	                "ledger %s: received %lld = written %lld + filtered %lld + dead-lettered %lld + parked %lld "
	                "+ in flight %lld",
	                json_is_true(json_object_get(result, "balanced")) ? "balanced" : "DOES NOT BALANCE",
	                number(result, "received"), number(result, "written"), number(result, "filtered"),
	                number(result, "dead_lettered"), number(result, "parked"), number(result, "in_flight"));
	add_folded(out, line->at, page, 0);
}

bool run_result_text(const json_t *result, size_t page, struct text *out)
{
	const json_t *tables = json_object_get(result, "tables");
	struct page_column columns[RESULT_COLUMNS];
	struct page_list list;
	OWNED(text) verdict = text_new(4096);
	size_t i;
	json_t *table;

	memcpy(columns, result_columns, sizeof(columns));
	columns[0].width = name_width(tables);
	if (columns[0].width < columns[0].least)
		columns[0].least = columns[0].width;
	page_list_fit(&list, columns, RESULT_COLUMNS, page);
	page_list_head(&list, out);
	json_array_foreach(tables, i, table)
		add_table(out, &list, table);
	text_add_format(verdict, "job %s: %s", word(result, "job"), word(result, "state"));
	text_add_char(out, '\n');
	add_folded(out, verdict->at, page, 0);
	add_notes(out, json_object_get(result, "notes"), page);
	add_ledger(out, result, page);
	return !out->is_full;
}

char *error_line(const struct error *err, const char *program, bool is_json)
{
	const struct reason *reason = reason_find(err->code);
	OWNED(text) out = text_new(65536);
	json_t *object;
	char *line;

	if (is_json) {
		object = json_pack("{s:{s:s, s:o, s:s}}", "error", "code", err->code, "message", error_message_to_json(err),
		                   "next", reason ? reason->next : "");
		line = json_line(object);
		json_decref(object);
		return line;
	}
	text_add_format(out, "%s: %s: ", program, err->code);
	clean_text(out, span_of(err->message));
	text_add_format(out, "\n%s%s%s", reason ? "next: " : "", reason ? reason->next : "", reason ? "\n" : "");
	return text_take(out);
}
