/*
 * Types of parameters that are a list of names: written as a comma list, as the
 * templates want it, or as a JSON list; kept as a comma list without spaces.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "options/option_type_private.h"

#include <stdlib.h>
#include <strings.h>

#define LIST_MAX 1000 /* names in one list */

static struct span trimmed(const char *at, size_t len)
{
	while (len && strchr(" \t\r\n", *at))
		at++, len--;
	while (len && strchr(" \t\r\n", at[len - 1]))
		len--;
	return span_make(at, len);
}

static bool list_has(const json_t *list, struct span name)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (span_is(name, json_string_value(json_array_get(list, i))))
			return true;
	}
	return false;
}

bool name_has_control(struct span name)
{
	for (size_t i = 0; i < name.len; i++) {
		if ((unsigned char)name.at[i] < ' ' || name.at[i] == 0x7f)
			return true;
	}
	return false;
}

/* False: the name is empty, has a control character, comes twice, or is one too many. */
static bool list_add(json_t *list, struct span name, const char *inside, struct complaint *complaint)
{
	char room[SHOWN_MAX];

	if (name.len == 0)
		return complain_inside(complaint, inside, "bad_parameter", "an empty name stands in the list, "
		                       "allowed are names with one comma between them");
	if (name_has_control(name)) {
		char *copy = memory_string_of(name);

		complain_inside(complaint, inside, "bad_parameter", "%s has a control character, no name may have one",
		                shown(copy, room));
		free(copy);
		return false;
	}
	if (json_array_size(list) == LIST_MAX)
		return complain_inside(complaint, inside, "out_of_range", "the list is longer than %d names", LIST_MAX);
	if (list_has(list, name)) {
		char *copy = memory_string_of(name);

		complain_inside(complaint, inside, "bad_parameter", "%s stands twice in the list", shown(copy, room));
		free(copy);
		return false;
	}
	return json_array_append_new(list, json_stringn(name.at, name.len)) == 0;
}

static json_t *list_of_text(const char *text, const char *inside, struct complaint *complaint)
{
	json_t *list = json_array();

	for (const char *at = text;;) {
		const char *end = at + strcspn(at, ",");

		/* One comma at the end is harmless, as in the templates. */
		if (!*end && json_array_size(list) && trimmed(at, (size_t)(end - at)).len == 0)
			return list;
		if (!list_add(list, trimmed(at, (size_t)(end - at)), inside, complaint)) {
			json_decref(list);
			return NULL;
		}
		if (!*end)
			return list;
		at = end + 1;
	}
}

static json_t *list_of_json(const json_t *value, const char *inside, struct complaint *complaint)
{
	json_t *list = json_array();

	for (size_t i = 0; i < json_array_size(value); i++) {
		const json_t *item = json_array_get(value, i);
		const char *name = json_string_value(item);
		char at[256];

		snprintf(at, sizeof at, "%s%s%zu", inside, *inside ? "." : "", i);
		if (!name)
			complain_inside(complaint, at, "bad_parameter", "%s stands in the list, names are allowed",
			                json_kind(item));
		if (!name || !list_add(list, trimmed(name, strlen(name)), at, complaint)) {
			json_decref(list);
			return NULL;
		}
	}
	if (json_array_size(list))
		return list;
	json_decref(list);
	return complain_inside(complaint, inside, "bad_parameter", "the list is empty, at least one name is allowed");
}

json_t *name_list(const json_t *value, const char *inside, struct complaint *complaint)
{
	if (json_is_string(value))
		return list_of_text(json_string_value(value), inside, complaint);
	if (json_is_array(value))
		return list_of_json(value, inside, complaint);
	return complain_inside(complaint, inside, "bad_parameter", "%s is given, a list of names is allowed",
	                       json_kind(value));
}

static json_t *list_joined(const json_t *list)
{
	json_t *value;
	size_t size = 1;
	char *joined, *at;

	for (size_t i = 0; i < json_array_size(list); i++)
		size += json_string_length(json_array_get(list, i)) + 1;
	at = joined = memory_alloc(size);
	for (size_t i = 0; i < json_array_size(list); i++) {
		size_t len = json_string_length(json_array_get(list, i));

		if (i)
			*at++ = ',';
		memcpy(at, json_string_value(json_array_get(list, i)), len);
		at += len;
	}
	value = json_stringn(joined, (size_t)(at - joined));
	free(joined);
	return value;
}

/* The first name that the type (or its list of choices) does not take, or NULL. */
static const char *list_stranger(const struct option *option, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));

		if (strchr(name, ',') || (option->type->is_word && !option->type->is_word(span_of(name))))
			return name;
	}
	return NULL;
}

static json_t *list_accept(const struct option *option, const json_t *value, const char *base,
                           struct complaint *complaint)
{
	json_t *list = name_list(value, "", complaint), *joined = NULL;
	const char *stranger;
	char room[SHOWN_MAX];

	(void)base;
	if (!list)
		return NULL;
	stranger = list_stranger(option, list);
	if (stranger)
		complain(complaint, "bad_parameter", "%s is not allowed, %s is", shown(stranger, room),
		         option->type->form);
	else
		joined = list_joined(list);
	json_decref(list);
	return joined;
}

/* Short, or projects/P/subscriptions/S; what else a name may have in it is the source's to say. */
static bool is_subscription_name(struct span text)
{
	if (text.len > 0 && text.len <= 255 && !memchr(text.at, '/', text.len))
		return true;
	return type_subscription.is_word(text);
}

static bool is_topic(struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.at[i], lower = (char)(c | 0x20);

		if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && !strchr("._-", c))
			return false;
	}
	return text.len > 0 && text.len <= 255;
}

/* Columns 1 to 9 of the Bigtable changelog carry the change itself; these six do not. */
static const char *const ignorable[] = { "big_query_commit_timestamp", "is_gc", "source_cluster", "source_instance",
	                                     "source_table", "tiebreaker" };

static bool is_ignorable(struct span text)
{
	for (size_t i = 0; i < sizeof ignorable / sizeof *ignorable; i++) {
		if (strlen(ignorable[i]) == text.len && strncasecmp(ignorable[i], text.at, text.len) == 0)
			return true;
	}
	return false;
}

#define LIST_TYPE(noun, title, words, look) \
	const struct option_type type_##noun = { \
		.name = title, .form = words, .accept = list_accept, .print = text_print, \
		.store = text_store, .release = text_release, .is_word = look, \
	}

LIST_TYPE(list, "names", "a list of names with commas between them", NULL);
LIST_TYPE(subscriptions, "subscriptions",
          "a list of subscription names, short (their project is the job's) or projects/PROJECT/subscriptions/NAME",
          is_subscription_name);
LIST_TYPE(topics, "topics", "a list of short topic names of letters, digits, '.', '_' and '-' (their project is the job's)",
          is_topic);
LIST_TYPE(changelog_fields, "columns", "a list of big_query_commit_timestamp, is_gc, source_cluster, source_instance, "
          "source_table and tiebreaker (the other columns carry the change)", is_ignorable);
