/*
 * The notes of a table: what its schema knows for good, what was counted while
 * rows came, and which types are only guesses.
 */
#include "engine/result_private.h"

#include <stdlib.h>
#include <string.h>

#define UNSURE_MAX 1000  /* columns in an answer */
#define UNSURE_NAMED 8   /* in a sentence */
#define UNSURE_WORDS 8192

static const struct note_text {
	uint32_t bit;
	const char *code;
	const char *text;
} note_texts[] = {
	{ NOTE_NO_KEY, "no_key", "the table has no key: it has a changelog and no replica; name columns in primaryKey" },
	{ NOTE_ORDER_BY_TIME, "order_by_time", "messages carry no log position: publish time is the order" },
	{ NOTE_ORDER_BY_LINE, "order_by_line", "messages carry no log position and no time: the line is the order" },
	{ NOTE_ORDER_BY_ARRIVAL, "order_by_arrival",
	  "changes of one transaction share their position: inside it, their order is that of arrival" },
	{ NOTE_HISTORY_CHANGED, "history_changed",
	  "positions of another server, or of a log that began anew, have come: they win over all earlier ones" },
	{ NOTE_RENAMED, "renamed", "a name was changed because it is reserved or not allowed" },
	{ NOTE_NAME_COLLISION, "name_collision", "another source table has this name; its records are parked" },
	{ NOTE_PLACEHOLDERS, "placeholders", "unchanged large values are taken from earlier changes of the row" },
};

static const char *text_of(const json_t *object, const char *member)
{
	const char *text = json_string_value(json_object_get(object, member));

	return text ? text : "";
}

/* "12 values of until outside TIMESTAMP, stored as NULL": a note that counts begins with its number. */
static json_t *kept_note(const json_t *kept)
{
	const char *code = json_string_value(json_object_get(kept, "code"));
	const char *text = json_string_value(json_object_get(kept, "text"));
	json_int_t count = json_integer_value(json_object_get(kept, "count"));
	OWNED(text) words = text_new(16384);

	if (strncmp(text ? text : "", "values of ", 10) == 0)
		text_add_format(words, "%lld %s", (long long)count, count == 1 ? "value of " : "values of ");
	text_add(words, text && words->len ? text + 10 : text ? text : "");
	return json_pack("{s:s, s:s, s:O, s:I}", "code", code ? code : "", "text", words->at, "column",
	                 json_object_get(kept, "column"), "count", count);
}

static bool has_note(const json_t *notes, const char *code)
{
	size_t i;
	json_t *note;

	json_array_foreach(notes, i, note) {
		if (strcmp(json_string_value(json_object_get(note, "code")), code) == 0)
			return true;
	}
	return false;
}

/* Why the type is only a guess, or NULL: it was told, or the rule is sure. */
const char *result_column_guess(const struct column *column)
{
	if (!column->is_inferred)
		return NULL;
	return column->is_provisional ? "only NULL so far" : type_guess(&column->type);
}

static json_t *unsure_columns(const struct table_schema *schema)
{
	json_t *unsure = json_array();

	for (size_t i = 0; schema && i < schema->count && json_array_size(unsure) < UNSURE_MAX; i++) {
		const struct column *column = &schema->columns[i];
		const char *why = result_column_guess(column);
		OWNED(text) type = text_new(4096);

		if (!why)
			continue;
		bq_type_print(type, &column->type);
		json_array_append_new(unsure, json_pack("{s:s%, s:s, s:s}", "column", column->name.at, (int)column->name.len,
		                                        "type", type->at, "why", why));
	}
	return unsure;
}

/* How the guesses stand now: what was told when they were made may have changed. */
static json_t *unsure_note(const struct table_schema *schema)
{
	json_t *unsure = unsure_columns(schema), *column;
	OWNED(text) words = text_new(UNSURE_WORDS);
	size_t i;

	text_add(words, "guessed from values, which a sourceSchema would make sure: ");
	json_array_foreach(unsure, i, column) {
		if (i == UNSURE_NAMED) {
			text_add_format(words, ", %zu more", json_array_size(unsure) - i);
			break;
		}
		text_add_format(words, "%s%s %s", i ? ", " : "", text_of(column, "column"), text_of(column, "type"));
	}
	if (i)
		return json_pack("{s:s, s:s, s:o}", "code", "types_inferred", "text", words->at, "columns", unsure);
	json_decref(unsure);
	return NULL;
}

static void add_kept_notes(struct dlq *dlq, const char *table, json_t *notes)
{
	struct error ignored = { 0 };
	char *kept = dlq ? dlq_notes_json(dlq, table, &ignored) : NULL;
	json_t *list = kept ? json_loads(kept, 0, NULL) : NULL;
	size_t i;
	json_t *note;

	json_array_foreach(list, i, note) {
		if (strcmp(text_of(note, "code"), "types_inferred") != 0)
			json_array_append_new(notes, kept_note(note));
	}
	json_decref(list);
	free(kept);
}

json_t *result_notes(struct dlq *dlq, const char *table, const struct table_schema *schema)
{
	json_t *notes = json_array();

	add_kept_notes(dlq, table, notes);
	for (size_t i = 0; schema && i < sizeof(note_texts) / sizeof(note_texts[0]); i++) {
		if ((schema->notes & note_texts[i].bit) && !has_note(notes, note_texts[i].code))
			json_array_append_new(notes, json_pack("{s:s, s:s}", "code", note_texts[i].code, "text",
			                                       note_texts[i].text));
	}
	json_t *unsure = unsure_note(schema);

	if (unsure)
		json_array_append_new(notes, unsure);
	return notes;
}
