/* What one can do about a table, as commands with a word on each: for screens that put one of them on a line. */
#include "engine/why_steps.h"
#include "base/clean.h"

#include <stdlib.h>
#include <string.h>

enum subject { OF_GROUP, OF_JOB, OF_TABLE, OF_CODE, OF_PARAMETER, OF_COLUMN };

struct step {
	const char *code;    /* of this reason only; NULL: of all */
	const char *verb;
	enum subject subject;
	const char *words;
	bool is_lossy;
};

/* In the order in which a careful person tries them. */
static const struct step of_letters[] = {
	{ "unknown_column", "job set", OF_PARAMETER, "let new columns in, then replay", false },
	{ "type_mismatch", "job set", OF_COLUMN, "let the column hold any text", false },
	{ "decimal_out_of_range", "job set", OF_COLUMN, "let the column hold any number", false },
	{ NULL, "dlq replay", OF_GROUP, "write them again, once mended", false },
	{ NULL, "dlq list", OF_GROUP, "look at each of them", false },
	{ NULL, "pause", OF_TABLE, "stop it growing, park the rest", false },
	{ NULL, "dlq discard", OF_GROUP, "drop the letters (lossy)", true },
	{ NULL, "explain", OF_CODE, "what the code means", false },
};
static const struct step of_paused[] = {
	{ NULL, "resume", OF_TABLE, "go on, with what is parked", false },
	{ NULL, "explain", OF_CODE, "what paused means", false },
};
static const struct step of_others[] = {
	{ "bigquery_denied", "check", OF_JOB, "every right by its name, with the grant", false },
	{ "dataset_missing", "check", OF_JOB, "what is missing, with the command that makes it", false },
	{ "column_type_differs", "check", OF_JOB, "all tables beside what would be written", false },
	{ "replica_lost", "merge", OF_TABLE, "make the replica again", false },
	{ NULL, "explain", OF_CODE, "what the code means", false },
};

/* What was set of other columns stays: the parameter is set as a whole. */
static void types_add(const struct why_subject *of, struct text *out)
{
	const char *dot = strchr(of->table, '.');
	json_t *types = json_is_object(of->types) ? json_copy((json_t *)of->types) : json_object();
	OWNED(text) name = text_new(2048);
	OWNED(text) word = text_new(16384);
	char *text;

	text_add_format(name, "%s.%s", dot ? dot + 1 : of->table, of->column);
	json_object_set_new(types, name->at, json_string("STRING"));
	text = json_dumps(types, JSON_COMPACT);
	text_add_format(word, "columnTypes=%s", text ? text : "");
	shell_quote(out, text_span(word));
	free(text);
	json_decref(types);
}

/* Names are data: quoted, so that the line can be typed as it is. */
static void command_add(const struct step *step, const struct why_subject *of, struct text *out)
{
	text_add_format(out, "%s ", step->verb);
	switch (step->subject) {
	case OF_GROUP:
		text_add_format(out, "--group %lld --job ", (long long)of->group);
		shell_quote(out, span_of(of->job));
		return;
	case OF_JOB:
		shell_quote(out, span_of(of->job));
		return;
	case OF_TABLE:
		shell_quote(out, span_of(of->job));
		text_add_char(out, ' ');
		shell_quote(out, span_of(of->table));
		text_add(out, strcmp(step->verb, "merge") == 0 ? " --rebuild" : "");
		return;
	case OF_PARAMETER:
		shell_quote(out, span_of(of->job));
		text_add(out, of->is_append ? " autoMapTables=true" : " schemaChanges=add");
		return;
	case OF_COLUMN:
		shell_quote(out, span_of(of->job));
		text_add_char(out, ' ');
		types_add(of, out);
		return;
	case OF_CODE: text_add(out, of->code); return;
	}
}

static bool is_meant(const struct step *step, const struct why_subject *of)
{
	if (step->code && strcmp(step->code, of->code) != 0)
		return false;
	if (step->subject == OF_TABLE && strcmp(of->table, "-") == 0)
		return false; /* what belongs to no table cannot be paused */
	if (step->subject == OF_COLUMN && (!*of->column || of->has_own_name || of->is_append || strcmp(of->table, "-") == 0))
		return false;
	return !(of->is_paused && strcmp(step->verb, "pause") == 0);
}

static json_t *steps_of(const struct step *steps, size_t count, const struct why_subject *of)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		OWNED(text) command = text_new(4096);

		if (!is_meant(&steps[i], of))
			continue;
		command_add(&steps[i], of, command);
		json_array_append_new(list, json_pack("{s:s, s:s%, s:b}", "text", steps[i].words, "command", command->at,
		                                      (int)command->len, "lossy", steps[i].is_lossy));
	}
	return list;
}

json_t *why_steps(const struct why_subject *of)
{
	if (!*of->code)
		return json_array();
	if (of->group)
		return steps_of(of_letters, sizeof(of_letters) / sizeof(*of_letters), of);
	if (strcmp(of->code, "paused") == 0)
		return steps_of(of_paused, sizeof(of_paused) / sizeof(*of_paused), of);
	return steps_of(of_others, sizeof(of_others) / sizeof(*of_others), of);
}
