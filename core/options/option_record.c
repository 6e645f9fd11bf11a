/*
 * Types that have a grammar of their own: a BigQuery type in words, and objects
 * with fixed members (enrichment, deadLetters), whose members are rows of a table.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "options/option_type_private.h"

#include <stdlib.h>
#include <strings.h>

#define TYPE_DEPTH_MAX 15 /* BigQuery's limit of nested records */

static struct span skip_blanks(struct span text)
{
	while (text.len && text.at[0] == ' ')
		text.at++, text.len--;
	return text;
}

static size_t word_length(struct span text)
{
	size_t n = 0;

	while (n < text.len && text.at[n] != '\0' &&
	       strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_", text.at[n]))
		n++;
	return n;
}

static bool skip_char(struct span *text, char c)
{
	*text = skip_blanks(*text);
	if (text->len == 0 || text->at[0] != c)
		return false;
	text->at++, text->len--;
	return true;
}

static bool skip_type(struct span *text, int depth);

static bool skip_fields(struct span *text, int depth)
{
	do {
		size_t n;

		*text = skip_blanks(*text);
		n = word_length(*text);
		if (n == 0)
			return false;
		text->at += n, text->len -= n;
		if (!skip_type(text, depth))
			return false;
	} while (skip_char(text, ','));
	return skip_char(text, '>');
}

static bool skip_range(struct span *text)
{
	static const char *const elements[] = { "DATE", "DATETIME", "TIMESTAMP" };
	struct span word;

	if (!skip_char(text, '<'))
		return false;
	*text = skip_blanks(*text);
	word = span_make(text->at, word_length(*text));
	text->at += word.len, text->len -= word.len;
	for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
		if (span_is(word, elements[i]))
			return skip_char(text, '>');
	}
	return false;
}

static bool skip_type(struct span *text, int depth)
{
	static const char *const scalars[] = { "STRING",     "INT64",    "FLOAT64",   "BOOL",     "BYTES", "NUMERIC",
		                               "BIGNUMERIC", "DATE",     "TIME",      "DATETIME", "TIMESTAMP",
		                               "INTERVAL",   "JSON",     "GEOGRAPHY" };
	struct span word;

	*text = skip_blanks(*text);
	word = span_make(text->at, word_length(*text));
	text->at += word.len, text->len -= word.len;
	for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
		if (span_is(word, scalars[i]))
			return true;
	}
	if (span_is(word, "RANGE"))
		return skip_range(text);
	if (depth == 0 || (!span_is(word, "ARRAY") && !span_is(word, "STRUCT")) || !skip_char(text, '<'))
		return false;
	if (span_is(word, "STRUCT"))
		return skip_fields(text, depth - 1);
	*text = skip_blanks(*text);
	if (text->len >= 5 && memcmp(text->at, "ARRAY", 5) == 0)
		return false; /* BigQuery has no arrays of arrays */
	return skip_type(text, depth - 1) && skip_char(text, '>');
}

bool is_bigquery_type(struct span text)
{
	return text.len <= 4096 && skip_type(&text, TYPE_DEPTH_MAX) && skip_blanks(text).len == 0;
}

/*
 * Objects with fixed members.
 */
enum member_kind { MEMBER_TEXT, MEMBER_TABLE, MEMBER_NAMES, MEMBER_COUNT, MEMBER_EMPTY_RESULT };

static const struct record_member {
	const char *option, *name;
	enum member_kind kind;
} record_members[] = {
	{ "deadLetters", "folder", MEMBER_TEXT },
	{ "deadLetters", "gcs", MEMBER_TEXT },
	{ "deadLetters", "table", MEMBER_TABLE },
	{ "deadLetters", "topic", MEMBER_TEXT },
	{ "enrichment", "columnNames", MEMBER_NAMES },
	{ "enrichment", "conditionValueFn", MEMBER_TEXT },
	{ "enrichment", "emptyResult", MEMBER_EMPTY_RESULT },
	{ "enrichment", "fields", MEMBER_NAMES },
	{ "enrichment", "maxBatchSize", MEMBER_COUNT },
	{ "enrichment", "minBatchSize", MEMBER_COUNT },
	{ "enrichment", "project", MEMBER_TEXT },
	{ "enrichment", "queryFn", MEMBER_TEXT },
	{ "enrichment", "rowRestrictionTemplate", MEMBER_TEXT },
	{ "enrichment", "tableName", MEMBER_TEXT },
};
#define RECORD_MEMBERS (sizeof record_members / sizeof *record_members)

static const struct record_member *member_find(const struct option *option, const char *name)
{
	for (size_t i = 0; i < RECORD_MEMBERS; i++) {
		if (strcmp(record_members[i].option, option->name) == 0 && strcmp(record_members[i].name, name) == 0)
			return &record_members[i];
	}
	return NULL;
}

static json_t *member_unknown(const struct option *option, const char *name, struct complaint *complaint)
{
	const char *names[RECORD_MEMBERS], *near;
	OWNED(text) list = text_new(WHY_MAX);
	size_t count = 0;
	char room[SHOWN_MAX];

	for (size_t i = 0; i < RECORD_MEMBERS; i++) {
		if (strcmp(record_members[i].option, option->name) != 0)
			continue;
		text_add_format(list, "%s%s", count ? ", " : "", record_members[i].name);
		names[count++] = record_members[i].name;
	}
	near = nearest_word(name, names, count);
	return complain_inside(complaint, name, "unknown_member", "%s is no member of it, one of %s is%s%s%s",
	                       shown(name, room), list->at, near ? "; did you mean '" : "", near ? near : "",
	                       near ? "'" : "");
}

static json_t *member_count(const char *name, const json_t *value, struct complaint *complaint)
{
	if (json_is_integer(value) && json_integer_value(value) >= 1 && json_integer_value(value) <= 10000)
		return json_integer(json_integer_value(value));
	return complain_inside(complaint, name, "out_of_range", "a whole number from 1 to 10000 is allowed for %s", name);
}

static json_t *member_accept(const struct record_member *member, const json_t *value, struct complaint *complaint)
{
	const char *word = json_string_value(value);

	if (member->kind == MEMBER_NAMES)
		return name_list(value, member->name, complaint);
	if (member->kind == MEMBER_COUNT)
		return member_count(member->name, value, complaint);
	if (!word || !*word)
		return complain_inside(complaint, member->name, "bad_parameter", "%s is given for %s, a text is allowed",
		                       word ? "an empty text" : json_kind(value), member->name);
	if (member->kind == MEMBER_EMPTY_RESULT && strcmp(word, "pass") != 0 && strcmp(word, "drop") != 0 &&
	    strcmp(word, "dead_letter") != 0)
		return complain_inside(complaint, member->name, "bad_parameter",
		                       "pass, drop or dead_letter is allowed for %s", member->name);
	if (member->kind == MEMBER_TABLE && !type_table_spec.is_word(span_of(word)))
		return complain_inside(complaint, member->name, "bad_parameter", "%s is allowed for %s", type_table_spec.form, member->name);
	return json_string(word);
}

/* What an enrichment asks is either a query function, or a table with a restriction. */
static bool enrichment_holds(const json_t *record, struct complaint *complaint)
{
	bool has_query = json_object_get(record, "queryFn"), has_table = json_object_get(record, "tableName");
	bool has_fields = json_object_get(record, "fields"), has_values = json_object_get(record, "conditionValueFn");
	bool has_restriction = json_object_get(record, "rowRestrictionTemplate");

	if (has_query && (has_table || has_restriction || has_fields || has_values))
		return complain(complaint, "exclusive_parameters", "queryFn stands beside tableName, "
		                "rowRestrictionTemplate, fields or conditionValueFn, only one way of asking is allowed");
	if (!has_query && (!has_table || !has_restriction))
		return complain(complaint, "missing_parameter",
		                "tableName and rowRestrictionTemplate are both needed, or queryFn");
	if (!has_query && has_fields == has_values)
		return complain(complaint, has_fields ? "exclusive_parameters" : "missing_parameter",
		                "exactly one of fields and conditionValueFn is needed");
	return true;
}

static json_t *record_accept(const struct option *option, const json_t *value, const char *base,
                             struct complaint *complaint)
{
	json_t *parsed = json_of_text(value), *record = json_object(), *each;
	bool is_fine = true;
	const char *name;

	(void)base;
	value = parsed ? parsed : value;
	if (!json_is_object(value))
		is_fine = complain_json(option, value, complaint);
	json_object_foreach((json_t *)value, name, each) {
		const struct record_member *member = member_find(option, name);
		json_t *kept = NULL;

		if (is_fine)
			kept = member ? member_accept(member, each, complaint)
			              : member_unknown(option, name, complaint);
		is_fine = kept && json_object_set_new(record, name, kept) == 0;
	}
	if (is_fine && strcmp(option->name, "enrichment") == 0)
		is_fine = enrichment_holds(record, complaint);
	json_decref(parsed);
	if (is_fine)
		return record;
	json_decref(record);
	return NULL;
}

const struct option_type type_record = {
	.name = "object", .form = "an object", .accept = record_accept, .print = object_print,
	.store = nothing_stored, .release = nothing_released,
};

/* Labels of a Dataflow job: an object of texts. */
static json_t *labels_accept(const struct option *option, const json_t *value, const char *base,
                             struct complaint *complaint)
{
	json_t *parsed = json_of_text(value), *labels, *each;
	const char *name;

	(void)base;
	value = parsed ? parsed : value;
	labels = json_is_object(value) ? json_copy((json_t *)value) : NULL;
	if (!labels)
		complain_json(option, value, complaint);
	json_object_foreach((json_t *)value, name, each) {
		if (json_is_string(each))
			continue;
		json_decref(labels);
		labels = complain_inside(complaint, name, "bad_parameter", "%s is given for a label, a text is allowed",
		                         json_kind(each));
		break;
	}
	json_decref(parsed);
	return labels;
}

const struct option_type type_labels = {
	.name = "labels", .form = "an object from label to text", .example = "{\"team\":\"shop\"}",
	.accept = labels_accept, .print = object_print,
	.store = nothing_stored, .release = nothing_released,
};
