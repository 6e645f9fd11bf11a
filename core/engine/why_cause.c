/* The cause that `weir why` gives for a table: a sentence, since when, and the commands that lead on. */
#include "engine/why_cause.h"

#include "base/clean.h"
#include "base/reason.h"
#include "sink/bigquery.h"

#include <string.h>

static json_t *next_steps(const struct job_options *options, const char *code, const json_t *letter)
{
	const struct reason *reason = reason_find(code);
	json_t *next = json_array();
	OWNED(text) line = text_new(4096);

	if (letter) {
		text_add_format(line, "weir dlq show %lld --job %s",
		                (long long)json_integer_value(json_object_get(letter, "id")), options->name);
		json_array_append_new(next, json_string(line->at));
		text_clear(line);
		text_add_format(line, "weir dlq list --job %s --group %lld", options->name,
		                (long long)json_integer_value(json_object_get(letter, "group")));
		json_array_append_new(next, json_string(line->at));
		text_clear(line);
	}
	text_add_format(line, "weir explain %s", code);
	json_array_append_new(next, json_string(line->at));
	if (reason)
		json_array_append_new(next, json_string(reason->next));
	return next;
}

void cause_letter(json_t *answer, const struct job_options *options, const json_t *letter)
{
	const char *code = json_string_value(json_object_get(letter, "code"));
	const struct reason *reason = reason_find(code ? code : "");
	OWNED(text) sentence = text_new(8192);

	text_add_format(sentence, "%s%s%s", reason ? reason->summary : "", reason ? " " : "",
	                "The first bad event says: ");
	text_add(sentence, json_string_value(json_object_get(letter, "message")));
	json_object_set_new(answer, "code", json_string(code));
	json_object_set_new(answer, "sentence", json_string(sentence->at));
	json_object_set(answer, "since", json_object_get(letter, "first"));
	json_object_set(answer, "first", (json_t *)letter);
	json_object_set_new(answer, "next", next_steps(options, code ? code : "", letter));
}

void cause_paused(json_t *answer, const struct job_options *options, const json_t *paused)
{
	const char *who = json_string_value(json_object_get(paused, "who"));
	const char *why = json_string_value(json_object_get(paused, "why"));
	const char *table = strchr(json_string_value(json_object_get(answer, "table")), '.');
	OWNED(text) text = text_new(65536);

	text_add(text, "The table is paused");
	text_add_format(text, "%s%s", who ? " by " : "", who ? who : "");
	text_add_format(text, "%s%s%s", why ? " (" : "", why ? why : "", why ? ")" : "");
	text_add(text, "; its messages are parked and come back in order when it goes on.");
	json_object_set_new(answer, "code", json_string("paused"));
	json_object_set_new(answer, "sentence", json_string(text->at));
	json_object_set(answer, "since", json_object_get(paused, "since"));
	json_object_set_new(answer, "first", json_null());
	text_clear(text);
	text_add_format(text, "weir resume %s %s", options->name, table ? table + 1 : "");
	json_object_set_new(answer, "next", json_pack("[s, s]", text->at, "weir explain paused"));
}

/* The command that mends it. Whose account it is the job's own thread knows, and says where it can. */
static bool trouble_fix(const json_t *answer, const struct job_options *options, const char *code, struct text *out)
{
	const char *name = json_string_value(json_object_get(answer, "table")), *dot = strchr(name, '.');
	OWNED(text) dataset = text_new(2048);
	OWNED(text) table = text_new(2048);
	struct bigquery_names names = { .project = options->project ? options->project : "PROJECT", .location = options->location };

	if (!dot)
		return false;
	text_add_span(dataset, span_make(name, (size_t)(dot - name)));
	text_add_format(table, "%s_changelog", dot + 1);
	names.dataset = dataset->at;
	names.table = table->at;
	return bigquery_fix(code, &names, out);
}

void cause_trouble(json_t *answer, const struct job_options *options, const json_t *row)
{
	const char *code = json_string_value(json_object_get(row, "code"));
	const char *said = json_string_value(json_object_get(row, "sentence"));
	const struct reason *reason = reason_find(code ? code : "");
	json_t *since = json_object_get(row, "since"), *until = json_object_get(row, "until");
	OWNED(text) sentence = text_new(8192);
	OWNED(text) fix = text_new(2048);
	size_t len = said ? strlen(said) : 0;

	while (len && said[len - 1] == '.')
		len--;
	text_add_format(sentence, "%s%s%.*s", reason ? reason->summary : "", reason ? " BigQuery's answer: " : "", (int)len, said ? said : "");
	if (said && !strstr(said, "; try: ") && trouble_fix(answer, options, code ? code : "", fix))
		text_add_format(sentence, "; try: %s", fix->at);
	text_add(sentence, ". Its records are parked, and come in order as soon as it is over.");
	json_object_set_new(answer, "trouble", json_true());
	json_object_set_new(answer, "code", json_string(code ? code : ""));
	json_object_set_new(answer, "sentence", json_string(sentence->at));
	json_object_set_new(answer, "since", since ? json_incref(since) : json_null());
	json_object_set_new(answer, "first", json_null());
	if (until)
		json_object_set(answer, "until", until);
	json_object_set_new(answer, "next", next_steps(options, code ? code : "", NULL));
}

static const char *note_of(const json_t *row, const char *code)
{
	size_t i;
	json_t *note;

	json_array_foreach(json_object_get(row, "notes"), i, note) {
		if (strcmp(json_string_value(json_object_get(note, "code")), code) == 0)
			return json_string_value(json_object_get(note, "text"));
	}
	return NULL;
}

void cause_other(json_t *answer, const struct job_options *options, bool needs, const char *lost, const json_t *row)
{
	const char *code = lost ? "replica_lost" : needs ? "name_collision" : "";
	const char *own = lost ? lost : needs ? note_of(row, code) : NULL;
	const struct reason *reason = reason_find(code);
	OWNED(text) sentence = text_new(8192);

	text_add(sentence, reason ? reason->summary : "Nothing is wrong with this table.");
	if (own)
		text_add_format(sentence, " Of this one: %s.", own);
	json_object_set_new(answer, "code", json_string(code));
	json_object_set_new(answer, "sentence", json_string(sentence->at));
	json_object_set_new(answer, "since", json_null());
	json_object_set_new(answer, "first", json_null());
	json_object_set_new(answer, "next", needs ? next_steps(options, code, NULL) : json_array());
}
