/*
 * The plain types of parameters (text, choice, switch) and what all types share. Every type takes a JSON value of its own kind or a text
 * in Dataflow's spelling ("300", "true"), because both mean the same.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "options/option_type_private.h"

#include <stdlib.h>
#include <strings.h>

__attribute__((format(printf, 3, 0)))
static void complaint_set(struct complaint *complaint, const char *code, const char *format, va_list args)
{
	char line[WHY_MAX];

	vsnprintf(line, sizeof line, format, args);
	complaint->code = code;
	text_clear(complaint->why);
	text_add(complaint->why, line);
}

json_t *complain(struct complaint *complaint, const char *code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complaint_set(complaint, code, format, args);
	va_end(args);
	return NULL;
}

json_t *complain_inside(struct complaint *complaint, const char *inside, const char *code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complaint_set(complaint, code, format, args);
	va_end(args);
	free(complaint->inside);
	complaint->inside = memory_string(inside);
	return NULL;
}

/* Values come from strangers and go to terminals: cleaned, and cut so that the
 * sentence around them stays readable. */
const char *shown(const char *value, char room[SHOWN_MAX])
{
	const size_t most = 60;
	size_t len = strlen(value);
	bool is_cut = len > most;
	OWNED(text) clean = text_new((size_t)SHOWN_MAX * 8);

	if (is_cut)
		for (len = most; len > 0 && ((unsigned char)value[len] & 0xC0) == 0x80; len--)
			;
	clean_text(clean, span_make(value, len));
	snprintf(room, SHOWN_MAX, "'%.80s%s'", clean->at ? clean->at : "", is_cut ? "..." : "");
	return room;
}

const char *json_kind(const json_t *value)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",   [JSON_STRING] = "a text", [JSON_INTEGER] = "a number",
		[JSON_REAL] = "a fraction",  [JSON_TRUE] = "true",      [JSON_FALSE] = "false",   [JSON_NULL] = "null",
	};

	return value ? names[json_typeof(value)] : "nothing";
}

json_t *text_value(const struct option *option, const json_t *value, struct complaint *complaint)
{
	if (!json_is_string(value))
		return complain(complaint, "bad_parameter", "%s is given, allowed is %s", json_kind(value),
		                option->type->form);
	return json_string(json_string_value(value));
}

bool text_print(const struct option *option, const json_t *canonical, struct text *out)
{
	(void)option;
	return text_add(out, json_string_value(canonical));
}

bool object_print(const struct option *option, const json_t *canonical, struct text *out)
{
	char *json = json_dumps(canonical, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	bool is_added = json && text_add(out, json);

	(void)option;
	free(json);
	return is_added;
}

void *member_of(const struct option *option, struct job_options *options)
{
	return (char *)options + option->at;
}

void text_store(const struct option *option, const json_t *canonical, struct job_options *options)
{
	char *copy = memory_string(json_string_value(canonical));

	memcpy(member_of(option, options), &copy, sizeof copy);
}

void text_release(const struct option *option, struct job_options *options)
{
	char *old;

	memcpy(&old, member_of(option, options), sizeof old);
	free(old);
}

void nothing_stored(const struct option *option, const json_t *canonical, struct job_options *options)
{
	(void)option, (void)canonical, (void)options;
}

void nothing_released(const struct option *option, struct job_options *options)
{
	(void)option, (void)options;
}

static json_t *text_accept(const struct option *option, const json_t *value, const char *base,
                           struct complaint *complaint)
{
	(void)base;
	return text_value(option, value, complaint);
}

const struct option_type type_text = {
	.name = "text", .form = "a text", .accept = text_accept, .print = text_print,
	.store = text_store, .release = text_release,
};

/*
 * Choices. Capitals do not matter, since people know the same words in both
 * forms; the table's spelling is kept.
 */
static json_t *choice_refused(const struct option *option, const char *word, struct complaint *complaint)
{
	char room[SHOWN_MAX];
	OWNED(text) list = text_new(WHY_MAX);
	const char *near;
	size_t count = 0;

	for (; option->choices[count]; count++)
		text_add_format(list, "%s%s", count ? ", " : "", option->choices[count]);
	near = nearest_word(word, option->choices, count);
	if (near)
		return complain(complaint, "bad_parameter", "%s is not allowed, one of %s is; did you mean '%s'",
		                shown(word, room), list->at, near);
	return complain(complaint, "bad_parameter", "%s is not allowed, one of %s is", shown(word, room), list->at);
}

static json_t *choice_accept(const struct option *option, const json_t *value, const char *base,
                             struct complaint *complaint)
{
	(void)base;
	if (!json_is_string(value))
		return choice_refused(option, json_kind(value), complaint);
	for (size_t i = 0; option->choices[i]; i++) {
		if (strcasecmp(option->choices[i], json_string_value(value)) == 0)
			return json_string(option->choices[i]);
	}
	return choice_refused(option, json_string_value(value), complaint);
}

/* The lists of choices stand in the order of their enums. */
static void choice_store(const struct option *option, const json_t *canonical, struct job_options *options)
{
	unsigned number = 0;

	while (strcmp(option->choices[number], json_string_value(canonical)) != 0)
		number++;
	memcpy(member_of(option, options), &number, sizeof number);
}

const struct option_type type_choice = {
	.name = "choice", .form = "one of the words listed", .accept = choice_accept, .print = text_print,
	.store = choice_store, .release = nothing_released,
};

static json_t *switch_accept(const struct option *option, const json_t *value, const char *base,
                             struct complaint *complaint)
{
	const char *word = json_string_value(value);
	char room[SHOWN_MAX];

	(void)base, (void)option;
	if (json_is_boolean(value))
		return json_boolean(json_is_true(value));
	if (word && strcasecmp(word, "true") == 0)
		return json_true();
	if (word && strcasecmp(word, "false") == 0)
		return json_false();
	return complain(complaint, "bad_parameter", "%s is given, true or false is allowed",
	                word ? shown(word, room) : json_kind(value));
}

static bool switch_print(const struct option *option, const json_t *canonical, struct text *out)
{
	(void)option;
	return text_add(out, json_is_true(canonical) ? "true" : "false");
}

static void switch_store(const struct option *option, const json_t *canonical, struct job_options *options)
{
	bool is_on = json_is_true(canonical);

	memcpy(member_of(option, options), &is_on, sizeof is_on);
}

const struct option_type type_switch = {
	.name = "switch", .form = "true or false", .accept = switch_accept, .print = switch_print,
	.store = switch_store, .release = nothing_released,
};
