/* Why a table is as it is, for lists and screens: a reason of a few words, since when, and a sentence. */
#include "base/reason.h"
#include "base/text.h"
#include "engine/result_private.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 2048

static const char *text_of(const json_t *object, const char *member)
{
	const char *text = json_string_value(json_object_get(object, member));

	return text ? text : "";
}

/* The largest group of a table comes last, and stays. */
bool table_facts_read(struct job_files *files, struct error *err)
{
	char *text = files->dlq ? dlq_troubles_json(files->dlq, NULL, err) : NULL;
	json_t *list = text ? json_loads(text, 0, NULL) : NULL;
	size_t i;
	json_t *trouble;

	files->troubles = json_object();
	files->trouble_count = json_array_size(list);
	json_array_foreach(list, i, trouble)
		json_object_set(files->troubles, text_of(trouble, "table"), trouble);
	json_decref(list);
	free(text);
	return text || !files->dlq;
}

static void set_text(json_t *object, const char *member, const struct text *text)
{
	json_object_set_new(object, member, json_stringn(text->at, text->len));
}

/* "unknown_column phone"; "4,182 messages were refused: ...". */
static void add_trouble(json_t *object, const json_t *trouble)
{
	const char *code = text_of(trouble, "code"), *column = text_of(trouble, "column");
	const struct reason *reason = reason_find(code);
	json_int_t count = json_integer_value(json_object_get(trouble, "count"));
	OWNED(text) words = text_new(WORDS_MAX);
	OWNED(text) sentence = text_new(WORDS_MAX);

	text_add_format(words, "%s%s%s%s", json_object_get(object, "paused") ? "paused, " : "", code, *column ? " " : "", column);
	text_add_format(sentence, "%" JSON_INTEGER_FORMAT " message%s refused, all others written: %s", count,
	                count == 1 ? "" : "s", reason ? reason->summary : code);
	json_object_set(object, "since", json_object_get(trouble, "since"));
	json_object_set(object, "code", json_object_get(trouble, "code"));
	json_object_set(object, "column", json_object_get(trouble, "column"));
	json_object_set(object, "first_letter", json_object_get(trouble, "sample"));
	set_text(object, "reason", words);
	set_text(object, "sentence", sentence);
}

/* "ops2: carts backfill", and without why "by ops2": a bare name would explain nothing. */
static void add_pause(json_t *object, const json_t *paused)
{
	const char *who = text_of(paused, "who"), *why = text_of(paused, "why");
	OWNED(text) words = text_new(WORDS_MAX);
	OWNED(text) sentence = text_new(WORDS_MAX);

	text_add_format(words, "%s%s%s%s", *why ? "" : "by ", *who ? who : "somebody", *why ? ": " : "", why);
	text_add_format(sentence, "paused by %s%s%s%s; its messages are parked", *who ? who : "somebody", *why ? " \"" : "", why,
	                *why ? "\"" : "");
	json_object_set(object, "since", json_object_get(paused, "since"));
	set_text(object, "reason", words);
	set_text(object, "sentence", sentence);
}

/* What else makes a table need somebody stands in its notes. */
static void add_note(json_t *object)
{
	const json_t *note = json_array_get(json_object_get(object, "notes"), 0);

	if (!note)
		return;
	json_object_set(object, "code", json_object_get(note, "code"));
	json_object_set(object, "reason", json_object_get(note, "code"));
	json_object_set(object, "sentence", json_object_get(note, "text"));
}

bool table_facts_add(json_t *object, const struct job_files *files, const char *name, struct error *err)
{
	const json_t *trouble = json_object_get(files->troubles, name), *paused = json_object_get(files->paused, name);
	uint64_t open = 0, needs = 0;

	if (files->dlq && !dlq_open_count(files->dlq, name, &open, &needs, err))
		return false;
	json_object_set_new(object, "open_letters", json_integer((json_int_t)open));
	if (json_object_get(object, "trouble"))
		return true;
	if (trouble)
		add_trouble(object, trouble);
	else if (strcmp(text_of(object, "state"), "needs you") == 0)
		add_note(object);
	else if (paused)
		add_pause(object, paused);
	return true;
}
