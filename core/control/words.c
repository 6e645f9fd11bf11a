/* Results and errors in words, for stdout and stderr of both programs. */
#include "base/clean.h"
#include "base/reason.h"
#include "control/control.h"

#include <stdlib.h>

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

static void add_word(struct text *out, const json_t *object, const char *name)
{
	clean_text(out, span_of(word(object, name)));
}

static void add_notes(struct text *out, const json_t *notes, const char *indent)
{
	size_t i;
	json_t *note;

	json_array_foreach(notes, i, note) {
		text_add(out, indent);
		add_word(out, note, "code");
		text_add(out, ": ");
		add_word(out, note, "text");
		text_add_char(out, '\n');
	}
}

static void add_table(struct text *out, const json_t *table, int width)
{
	size_t before = out->len;

	add_word(out, table, "table");
	while (out->len - before < (size_t)width)
		text_add_char(out, ' ');
	text_add_format(out, " %10lld %10lld %9lld %8lld %7lld  ", number(table, "received"), number(table, "written"),
	                number(table, "filtered"), number(table, "dead_lettered"), number(table, "parked"));
	if (strcmp(word(table, "state"), "needs you") == 0)
		text_add(out, "NEEDS YOU");
	else
		add_word(out, table, "state");
	text_add_char(out, '\n');
	add_notes(out, json_object_get(table, "notes"), "  ");
}

bool run_result_text(const json_t *result, struct text *out)
{
	const json_t *tables = json_object_get(result, "tables");
	int width = 5;
	size_t i;
	json_t *table;

	json_array_foreach(tables, i, table) {
		int length = (int)json_string_length(json_object_get(table, "table"));

		width = length > width && length <= 40 ? length : width;
	}
	text_add_format(out, "%-*s %10s %10s %9s %8s %7s  %s\n", width, "TABLE", "RECEIVED", "WRITTEN", "FILTERED",
	                "LETTERS", "PARKED", "STATE");
	json_array_foreach(tables, i, table)
		add_table(out, table, width);
	text_add(out, "\njob ");
	add_word(out, result, "job");
	text_add(out, ": ");
	add_word(out, result, "state");
	text_add_char(out, '\n');
	add_notes(out, json_object_get(result, "notes"), "  ");
	return text_add_format(out,
	                       "ledger %s: received %lld = written %lld + filtered %lld + dead-lettered %lld + parked %lld "
	                       "+ in flight %lld\n",
	                       json_is_true(json_object_get(result, "balanced")) ? "balanced" : "DOES NOT BALANCE",
	                       number(result, "received"), number(result, "written"), number(result, "filtered"),
	                       number(result, "dead_lettered"), number(result, "parked"), number(result, "in_flight"));
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
