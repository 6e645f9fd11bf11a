/*
 * Types of parameters that are JSON objects: primaryKey, columnTypes and
 * onUnrepresentable. After NAME= and on Dataflow they are written as JSON text.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "options/option_type_private.h"

#include <stdlib.h>
#include <strings.h>

#define MEMBERS_MAX 10000 /* of one object */

json_t *json_of_text(const json_t *value)
{
	const char *text = json_string_value(value);

	if (!text || !strchr("{[", text[strspn(text, " \t\r\n")]))
		return NULL;
	return json_loads(text, JSON_REJECT_DUPLICATES, NULL);
}

static bool begins_like_json(const char *text)
{
	text += strspn(text, " \t\r\n");
	return *text == '{' || *text == '[';
}

bool is_broken_json(const json_t *value)
{
	json_t *parsed = json_of_text(value);

	json_decref(parsed);
	return json_is_string(value) && begins_like_json(json_string_value(value)) && !parsed;
}

json_t *complain_json(const struct option *option, const json_t *value, struct complaint *complaint)
{
	OWNED(text) such = text_new(200);

	if (option->type->example)
		text_add_format(such, ", as in '%s=%s'", option->name, option->type->example);
	return complain(complaint, "bad_parameter", "%s is given, %s is allowed%s%s",
	                is_broken_json(value) ? "a text that is no JSON" : json_kind(value), option->type->form, such->at,
	                is_broken_json(value) ? "; a shell takes the quotes out of it unless all of it stands in single quotes" : "");
}

static bool is_small(const json_t *object, struct complaint *complaint)
{
	if (json_object_size(object) <= MEMBERS_MAX)
		return true;
	return complain(complaint, "out_of_range", "%zu members are given, at most %d are allowed",
	                json_object_size(object), MEMBERS_MAX);
}

/*
 * primaryKey: names for every table, or an object from table to names. Kept as
 * a list or as an object of lists.
 */
static json_t *keys_by_table(const json_t *value, struct complaint *complaint)
{
	json_t *keys = json_object();
	const char *table;
	json_t *names;

	json_object_foreach((json_t *)value, table, names) {
		json_t *list = *table && !name_has_control(span_of(table))
		                       ? name_list(names, table, complaint)
		                       : complain(complaint, "bad_parameter", "a table name is given that is empty or has a control "
		                                  "character, allowed are TABLE, SCHEMA.TABLE and DATABASE.SCHEMA.TABLE");

		if (!list) {
			json_decref(keys);
			return NULL;
		}
		json_object_set_new(keys, table, list);
	}
	return keys;
}

static json_t *primary_key_accept(const struct option *option, const json_t *value, const char *base,
                                  struct complaint *complaint)
{
	json_t *parsed = json_of_text(value), *keys = NULL;
	const json_t *given = parsed ? parsed : value;

	(void)base;
	if (!is_broken_json(given) && (json_is_array(given) || json_is_string(given)))
		keys = name_list(given, "", complaint);
	else if (!json_is_object(given))
		complain_json(option, given, complaint);
	else if (is_small(given, complaint))
		keys = keys_by_table(given, complaint);
	json_decref(parsed);
	return keys;
}

static void primary_key_fill(struct primary_key *key, const char *table, const json_t *names)
{
	key->table = memory_string(table);
	key->count = json_array_size(names);
	key->columns = memory_zalloc(key->count * sizeof *key->columns);
	for (size_t i = 0; i < key->count; i++)
		key->columns[i] = memory_string(json_string_value(json_array_get(names, i)));
}

static void primary_key_store(const struct option *option, const json_t *canonical, struct job_options *options)
{
	const char *table;
	json_t *names;
	size_t count = json_is_array(canonical) ? 1 : json_object_size(canonical);

	(void)option;
	if (count == 0)
		return;
	options->primary_keys = memory_zalloc(count * sizeof *options->primary_keys);
	if (json_is_array(canonical))
		primary_key_fill(&options->primary_keys[options->primary_key_count++], "", canonical);
	json_object_foreach((json_t *)canonical, table, names)
		primary_key_fill(&options->primary_keys[options->primary_key_count++], table, names);
}

static void primary_key_release(const struct option *option, struct job_options *options)
{
	(void)option;
	for (size_t i = 0; i < options->primary_key_count; i++) {
		struct primary_key *key = &options->primary_keys[i];

		for (size_t c = 0; c < key->count; c++)
			free(key->columns[c]);
		free(key->columns);
		free(key->table);
	}
	free(options->primary_keys);
}

const struct option_type type_primary_key = {
	.name = "key columns", .form = "column names, or an object from table to column names",
	.example = "{\"orders\":[\"id\"]}",
	.accept = primary_key_accept, .print = object_print, .store = primary_key_store,
	.release = primary_key_release,
};

/*
 * columnTypes: "table.column" to a type, or to {"type","encoding"}. The column is
 * what stands behind the last dot.
 */
static const char *const encodings[] = { "base64", "base64-url-safe", "hex" };

static bool is_encoding(const char *word)
{
	for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
		if (strcmp(word, encodings[i]) == 0)
			return true;
	}
	return false;
}

/* The first member of `object` that is neither `one` nor `two`, or NULL. */
static const char *other_member(const json_t *object, const char *one, const char *two)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value) {
		if (strcmp(name, one) != 0 && strcmp(name, two) != 0)
			return name;
	}
	return NULL;
}

static json_t *column_type(const char *column, const json_t *value, struct complaint *complaint)
{
	const json_t *type_given = json_is_object(value) ? json_object_get(value, "type") : value;
	const char *type = json_string_value(type_given);
	json_t *encoding = json_is_object(value) ? json_object_get(value, "encoding") : NULL;
	char room[SHOWN_MAX], name[SHOWN_MAX];

	if (json_is_object(value) && other_member(value, "type", "encoding"))
		return complain_inside(complaint, column, "bad_parameter", "%s is no member of a column type, type and "
		                       "encoding are", shown(other_member(value, "type", "encoding"), room));
	if (!type || !is_bigquery_type(span_of(type)))
		return complain_inside(complaint, column, "bad_parameter", "%s is given for %s, a BigQuery type such as "
		                       "INT64, NUMERIC or ARRAY<STRING> is allowed",
		                       type ? shown(type, room) : json_kind(type_given), shown(column, name));
	if (encoding && (!json_is_string(encoding) || !is_encoding(json_string_value(encoding))))
		return complain_inside(complaint, column, "bad_parameter", "%s is no encoding, base64, base64-url-safe and hex are",
		                       json_is_string(encoding) ? shown(json_string_value(encoding), room)
		                                                : json_kind(encoding));
	return encoding ? json_pack("{s:s,s:O}", "type", type, "encoding", encoding) : json_string(type);
}

static json_t *column_types_accept(const struct option *option, const json_t *value, const char *base,
                                   struct complaint *complaint)
{
	json_t *parsed = json_of_text(value), *types = json_object(), *each, *type = types;
	const char *column;
	char room[SHOWN_MAX];

	(void)base;
	value = parsed ? parsed : value;
	if (!json_is_object(value))
		type = complain_json(option, value, complaint);
	else if (!is_small(value, complaint))
		type = NULL;
	json_object_foreach((json_t *)value, column, each) {
		const char *dot = strrchr(column, '.');

		if (!type)
			break;
		type = dot && dot > column && dot[1]
		               ? column_type(column, each, complaint)
		               : complain_inside(complaint, column, "bad_parameter",
		                                 "%s is given, TABLE.COLUMN is allowed", shown(column, room));
		if (type)
			json_object_set_new(types, column, type);
	}
	json_decref(parsed);
	if (type)
		return types;
	json_decref(types);
	return NULL;
}

static void column_types_store(const struct option *option, const json_t *canonical, struct job_options *options)
{
	struct column_override *override;
	const char *column;
	json_t *value;

	(void)option;
	if (json_object_size(canonical) == 0)
		return;
	override = options->column_types = memory_zalloc(json_object_size(canonical) * sizeof *override);
	options->column_type_count = json_object_size(canonical);
	json_object_foreach((json_t *)canonical, column, value) {
		const char *dot = strrchr(column, '.');
		bool is_object = json_is_object(value);

		override->table = memory_string_of(span_make(column, (size_t)(dot - column)));
		override->column = memory_string(dot + 1);
		override->type = memory_string(json_string_value(is_object ? json_object_get(value, "type") : value));
		override->encoding =
			memory_string(is_object ? json_string_value(json_object_get(value, "encoding")) : "");
		override++;
	}
}

static void column_types_release(const struct option *option, struct job_options *options)
{
	(void)option;
	for (size_t i = 0; i < options->column_type_count; i++) {
		struct column_override *override = &options->column_types[i];

		free(override->table);
		free(override->column);
		free(override->type);
		free(override->encoding);
	}
	free(options->column_types);
}

const struct option_type type_column_types = {
	.name = "column types", .form = "an object from TABLE.COLUMN to a BigQuery type",
	.example = "{\"orders.quantity\":\"STRING\"}",
	.accept = column_types_accept, .print = object_print, .store = column_types_store,
	.release = column_types_release,
};

/*
 * onUnrepresentable: one word for all kinds of values, or an object by kind.
 * Kept whole, so that a word and an object that say the same are equal.
 */
static const struct value_kind {
	const char *name;
	enum unrepresentable fallback;
} value_kinds[] = {
	/* in the order of enum value_group */
	{ "number", UNREPRESENTABLE_DEAD_LETTER },
	{ "time", UNREPRESENTABLE_NULL },
	{ "other", UNREPRESENTABLE_DEAD_LETTER },
};
#define VALUE_KINDS (sizeof value_kinds / sizeof *value_kinds)

static size_t word_index(const struct option *option, const char *word)
{
	size_t i = 0;

	while (option->choices[i] && strcasecmp(option->choices[i], word) != 0)
		i++;
	return i;
}

static bool kind_set(const struct option *option, json_t *all, const char *kind, const json_t *value,
                     struct complaint *complaint)
{
	const char *word = json_string_value(value);
	size_t k = 0;
	char room[SHOWN_MAX];

	while (k < VALUE_KINDS && strcmp(value_kinds[k].name, kind) != 0)
		k++;
	if (k == VALUE_KINDS)
		return complain_inside(complaint, kind, "bad_parameter",
		                       "%s is no kind of value, number, time and other are", shown(kind, room));
	if (!word || !option->choices[word_index(option, word)])
		return complain_inside(complaint, kind, "bad_parameter",
		                       "%s is not allowed, one of \"null\", \"clamp\", \"text\", \"dead_letter\" is",
		                       word ? shown(word, room) : json_kind(value));
	json_object_set_new(all, kind, json_string(option->choices[word_index(option, word)]));
	return true;
}

static json_t *unrepresentable_accept(const struct option *option, const json_t *value, const char *base,
                                      struct complaint *complaint)
{
	json_t *parsed = json_of_text(value), *all = json_object(), *each;
	const char *kind;
	bool is_fine = true;

	(void)base;
	value = parsed ? parsed : value;
	if (is_broken_json(value)) {
		complain_json(option, value, complaint);
		is_fine = false;
	}
	for (size_t k = 0; k < VALUE_KINDS && is_fine; k++) {
		json_object_set_new(all, value_kinds[k].name, json_string(option->choices[value_kinds[k].fallback]));
		if (!json_is_object(value))
			is_fine = kind_set(option, all, value_kinds[k].name, value, complaint);
	}
	/* Said of the whole, not of a member that does not stand there. */
	if (!is_fine)
		free(complaint->inside), complaint->inside = NULL;
	json_object_foreach((json_t *)value, kind, each)
		is_fine = is_fine && kind_set(option, all, kind, each, complaint);
	json_decref(parsed);
	if (is_fine)
		return all;
	json_decref(all);
	return NULL;
}

static void unrepresentable_store(const struct option *option, const json_t *canonical, struct job_options *options)
{
	for (size_t k = 0; k < VALUE_KINDS; k++) {
		const char *word = json_string_value(json_object_get(canonical, value_kinds[k].name));

		options->on_unrepresentable[k] = (enum unrepresentable)word_index(option, word);
	}
}

const struct option_type type_unrepresentable = {
	.name = "choice by kind", .form = "null, clamp, text or dead_letter, or an object by kind of value",
	.example = "{\"number\":\"text\"}",
	.accept = unrepresentable_accept, .print = object_print, .store = unrepresentable_store,
	.release = nothing_released,
};
