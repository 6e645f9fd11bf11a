/* Names of subscriptions, topics and snapshots: short and full, and lists of them. */
#include "source/subscription.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>

static const struct kind {
	const char *word, *folder;
} kinds[] = {
	[PUBSUB_SUBSCRIPTION] = { "subscription", "/subscriptions/" },
	[PUBSUB_TOPIC] = { "topic", "/topics/" },
	[PUBSUB_SNAPSHOT] = { "snapshot", "/snapshots/" },
};

static const char projects[] = "projects/";

const char *pubsub_kind_word(enum pubsub_kind kind)
{
	return kinds[kind].word;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool has_only(struct span text, const char *others)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.at[i];

		if (!is_letter(c) && !(c >= '0' && c <= '9') && !(c && strchr(others, c)))
			return false;
	}
	return text.len > 0;
}

static bool is_short(struct span text)
{
	return text.len >= PUBSUB_SHORT_LEAST && text.len <= PUBSUB_SHORT_MAX && is_letter(text.at[0]) &&
	       has_only(text, "-_.~+%") && (text.len < 4 || memcmp(text.at, "goog", 4) != 0);
}

/* Ids, numbers, and ids within a domain ("example.com:shop"). */
static bool is_project(struct span text)
{
	return text.len <= 100 && has_only(text, "-.:");
}

static bool refuse(enum pubsub_kind kind, struct span given, struct error *err)
{
	return fail(err, ERROR_CONFIG, "bad_parameter",
	            "'%.*s' is no name of a %s; allowed: %d to %d characters that begin with a letter (letters, digits, - _ . "
	            "~ + %%, not 'goog' first), alone or behind projects/PROJECT%s", (int)(given.len < 300 ? given.len : 300),
	            given.at ? given.at : "", kinds[kind].word, PUBSUB_SHORT_LEAST, PUBSUB_SHORT_MAX, kinds[kind].folder);
}

/* "projects/P/topics/T" into its two parts; false: it is not of that form. */
static bool split(enum pubsub_kind kind, struct span full, struct span *out_project, struct span *out_short)
{
	size_t head = sizeof(projects) - 1, middle = strlen(kinds[kind].folder);
	const char *folder;

	if (full.len <= head || memcmp(full.at, projects, head) != 0)
		return false;
	folder = memmem(full.at + head, full.len - head, kinds[kind].folder, middle);
	if (!folder)
		return false;
	*out_project = span_make(full.at + head, (size_t)(folder - full.at) - head);
	*out_short = span_make(folder + middle, full.len - (size_t)(folder - full.at) - middle);
	return true;
}

bool pubsub_full_name(enum pubsub_kind kind, struct span given, const char *project, char out[PUBSUB_NAME_BYTES],
                      struct error *err)
{
	struct span of = span_of(project), name = given;
	bool is_full = split(kind, given, &of, &name);

	if (!is_short(name) || (is_full && !is_project(of)))
		return refuse(kind, given, err);
	if (!of.len)
		return fail(err, ERROR_CONFIG, "project_missing",
		            "%s '%.*s': a short name needs a project, and none is known; give the job a project, or the name as "
		            "projects/PROJECT%s%.*s", kinds[kind].word, SPAN_ARG(name), kinds[kind].folder, SPAN_ARG(name));
	if (!is_project(of))
		return fail(err, ERROR_CONFIG, "bad_parameter", "'%.*s' is no name of a project",
		            (int)(of.len < 200 ? of.len : 200), of.at);
	snprintf(out, PUBSUB_NAME_BYTES, "%s%.*s%s%.*s", projects, SPAN_ARG(of), kinds[kind].folder, SPAN_ARG(name));
	return true;
}

const char *pubsub_short_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

struct span pubsub_project(const char *full_name)
{
	size_t head = sizeof(projects) - 1;

	if (strncmp(full_name, projects, head) != 0)
		return span_make("", 0);
	return span_make(full_name + head, strcspn(full_name + head, "/"));
}

const char *pubsub_shown_name(const char *full_name, const char *project)
{
	return project && span_is(pubsub_project(full_name), project) ? pubsub_short_name(full_name) : full_name;
}

/*
 * Lists
 */

static bool has_name(const struct pubsub_names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->items[i], name) == 0)
			return true;
	}
	return false;
}

static bool add_name(enum pubsub_kind kind, struct span given, const char *project, struct pubsub_names *names,
                     struct error *err)
{
	char full[PUBSUB_NAME_BYTES];

	if (!pubsub_full_name(kind, given, project, full, err))
		return false;
	if (has_name(names, full))
		return fail(err, ERROR_CONFIG, "bad_parameter", "%s %s is named twice", kinds[kind].word, full);
	if (names->count == PUBSUB_SUBSCRIPTIONS_MAX)
		return fail(err, ERROR_CONFIG, "bad_parameter", "a job has at most %d %ss", PUBSUB_SUBSCRIPTIONS_MAX,
		            kinds[kind].word);
	names->items = memory_grow(names->items, (names->count + 1) * sizeof(*names->items));
	memcpy(names->items[names->count++], full, sizeof(full));
	return true;
}

static struct span trimmed(const char *at, size_t len)
{
	while (len && (*at == ' ' || *at == '\t'))
		at++, len--;
	while (len && (at[len - 1] == ' ' || at[len - 1] == '\t'))
		len--;
	return span_make(at, len);
}

bool pubsub_names_read(enum pubsub_kind kind, const char *list, const char *project, struct pubsub_names *out,
                       struct error *err)
{
	struct pubsub_names names = { 0 };

	while (list) {
		size_t len = strcspn(list, ",");

		if (!add_name(kind, trimmed(list, len), project, &names, err)) {
			pubsub_names_free(&names);
			return false;
		}
		list = list[len] ? list + len + 1 : NULL;
	}
	*out = names;
	return true;
}

void pubsub_names_free(struct pubsub_names *names)
{
	free(names->items);
	*names = (struct pubsub_names){ 0 };
}

/* Slashes stay, as in the official clients; '%' and '+' are part of names and would be read as something else. */
bool pubsub_params(struct text *out, const char *key, const char *full_name)
{
	text_add_format(out, "%s=", key);
	for (const char *at = full_name; *at; at++) {
		if (is_letter(*at) || (*at >= '0' && *at <= '9') || strchr("-_.~/", *at))
			text_add_char(out, *at);
		else
			text_add_format(out, "%%%02X", (unsigned)(unsigned char)*at);
	}
	return !out->is_full;
}
