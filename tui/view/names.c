/* Arguments of places; see names.h. */
#include "view/names.h"
#include "action/places.h"
#include "keymap/keymap.h"

#include <stdlib.h>

void name_words(const char *argument, int most, struct name_words *out)
{
	const char *at = argument;

	memset(out, 0, sizeof(*out));
	for (int i = 0; i < most && *at; i++) {
		size_t len = i == most - 1 ? strlen(at) : strcspn(at, " ");

		snprintf(out->word[i], sizeof(out->word[i]), "%.*s", (int)len, at);
		at += len + (at[len] == ' ');
	}
}

bool name_is_table(const char *typed, const char *full)
{
	const char *dot = strchr(full, '.');

	return strcmp(typed, full) == 0 || (dot && strcmp(typed, dot + 1) == 0);
}

void letters_argument(const struct subject *subject, struct text *out)
{
	text_add(out, subject->job);
	if (subject->table[0])
		text_add_format(out, " %s", subject->table);
}

/* The groups tell their first letter ("sample"); the smallest number came first. */
bool first_bad_argument(struct console *console, const struct subject *subject, struct text *out)
{
	const struct answer *answer;
	const json_t *group;
	int64_t first = 0;
	size_t i;

	if (subject->letter || subject->first) {
		text_add_format(out, "%s %lld", subject->job, (long long)(subject->letter ? subject->letter : subject->first));
		return true;
	}
	answer = model_ask(console_model(console), LANE_LETTERS, "dlq.groups", NULL, "jobs");
	json_array_foreach(answer->lines, i, group) {
		int64_t sample = member_int(group, "sample");

		if (strcmp(member_text(group, "job"), subject->job) != 0 ||
		    (subject->table[0] && strcmp(member_text(group, "table"), subject->table) != 0) ||
		    (subject->group && member_int(group, "group") != subject->group))
			continue;
		if (!first || sample < first)
			first = sample;
	}
	if (first)
		text_add_format(out, "%s %lld", subject->job, (long long)first);
	return first;
}

static const char *const of_job[] = { "balance", "logs", "job", NULL };
static const char *const of_table[] = { "dlq", "schema", "journal", NULL };

static bool has_place(const char *const *places, const char *place)
{
	while (*places && strcmp(*places, place) != 0)
		places++;
	return *places;
}

void place_argument(const char *place, const struct subject *subject, struct text *out)
{
	if (has_place(of_job, place))
		text_add(out, subject->job);
	if (has_place(of_table, place))
		letters_argument(subject, out);
}

/* The place's name as key files have it ("dead-letters" of the view "dlq"). */
static const char *place_name(const char *view)
{
	const struct place *place = place_find(span_of(view));

	return place ? place->name : view;
}

void place_narrowed(struct view *view, struct text *out)
{
	static const char *const places[] = { "balance", "logs", "tables", "dlq", "schema", "journal", NULL };
	struct name_words words;
	const char *of = words.word[1];
	OWNED(text) key = text_new(64);

	if (!*view->argument || !has_place(places, view->ops->name))
		return;
	name_words(view->argument, 2, &words);
	keymap_key_of(console_keymap(view->console), view->ops->table, ACTION_go, place_name(view->ops->name), key);
	if (!key->len)
		text_add_format(key, ":%s", view->ops->name);
	if (!*of)
		of = words.word[0];
	text_add_format(out, "only %s; %s shows all", strcmp(of, "-") == 0 ? "what belongs to no table" : of, key->at);
}

#define RANGE_MAX 100 /* a filter is no longer than a person reads */

/* "1,7-9" as `field:/^(1|7|8|9)$/`, one word as `field:"word"`. */
static void add_alternatives(struct text *out, const char *field, const char *list, bool has_ranges)
{
	if (!strchr(list, ',') && !has_ranges) {
		text_add_format(out, " %s:\"%s\"", field, list);
		return;
	}
	text_add_format(out, " %s:/^(", field);
	for (const char *at = list; *at;) {
		size_t len = strcspn(at, ",");
		const char *dash = has_ranges ? memchr(at, '-', len) : NULL;
		long first = dash ? strtol(at, NULL, 10) : 0, last = dash ? strtol(dash + 1, NULL, 10) : 0;

		if (!dash)
			text_add_span(out, span_make(at, len));
		for (long number = first; dash && number <= last && number - first < RANGE_MAX; number++)
			text_add_format(out, "%s%ld", number > first ? "|" : "", number);
		at += len;
		if (*at == ',') {
			text_add_char(out, '|');
			at++;
		}
	}
	text_add(out, ")$/");
}

/* What a command chooses by its options a list does by its filter: `--code C --state 'failed again'`. */
void entries_argument(const json_t *args, struct text *out)
{
	static const char *const fields[] = { "table", "code" };
	const json_t *group = json_object_get(args, "group");

	text_add_format(out, "%s%" JSON_INTEGER_FORMAT, *member_text(args, "job") ? " " : "- ", json_integer_value(group));
	if (json_is_string(group))
		add_alternatives(out, "group", member_text(args, "group"), true);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (*member_text(args, fields[i]))
			text_add_format(out, " %s:\"%s\"", fields[i], member_text(args, fields[i]));
	}
	if (*member_text(args, "state"))
		add_alternatives(out, "state", member_text(args, "state"), false);
}
