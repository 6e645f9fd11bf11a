/*
 * Types of parameters that are a text of a certain look: datasets, paths,
 * subscriptions, durations. The look is a small function per type; what it
 * allows stands in words in `form`, which every refusal shows.
 */
#include "base/arena.h"
#include "base/file.h"
#include "base/name.h"
#include "options/option_type_private.h"

#include <stdlib.h>
#include <unistd.h>

#define NAME_MAX_BYTES 200

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
static bool is_alnum(char c) { return is_letter(c) || is_digit(c); }

/* All of `text` are letters, digits or one of `also`. */
static bool is_made_of(struct span text, const char *also, size_t most)
{
	for (size_t i = 0; i < text.len; i++) {
		if (!is_alnum(text.at[i]) && !strchr(also, text.at[i]))
			return false;
	}
	return text.len > 0 && text.len <= most;
}

static struct span span_from(struct span text, size_t from)
{
	return span_make(text.at + from, text.len - from);
}

static bool starts_with(struct span text, const char *head)
{
	size_t len = strlen(head);

	return text.len >= len && memcmp(text.at, head, len) == 0;
}

static bool ends_in_alnum(struct span text)
{
	return text.len > 0 && is_alnum(text.at[text.len - 1]);
}

bool is_dataset(struct span text)
{
	return name_is_allowed(NAME_DATASET, text);
}

static bool is_project(struct span text)
{
	return text.len > 0 && is_lower(text.at[0]) && is_made_of(text, "-.:", 100) && ends_in_alnum(text);
}

static bool is_function(struct span text)
{
	return is_made_of(text, "_", NAME_MAX_BYTES);
}

static bool is_instance(struct span text)
{
	return text.len >= 3 && is_lower(text.at[0]) && is_made_of(text, "-", 64) && ends_in_alnum(text);
}

static bool is_profile(struct span text)
{
	return text.len >= 3 && is_lower(text.at[0]) && is_made_of(text, "-_", 64) && ends_in_alnum(text);
}

static bool is_gcs_path(struct span text)
{
	return starts_with(text, "gs://") && text.len > 5 && text.at[5] != '/';
}

/* projects/P/subscriptions/S */
static bool is_subscription(struct span text)
{
	const char *project, *name;
	size_t head = sizeof "projects/" - 1, middle = sizeof "/subscriptions/" - 1;

	if (!starts_with(text, "projects/"))
		return false;
	project = text.at + head;
	name = memmem(project, text.len - head, "/subscriptions/", middle);
	if (!name || !is_project(span_make(project, (size_t)(name - project))))
		return false;
	return is_made_of(span_from(text, (size_t)(name - text.at) + middle), "-._~+%", 255);
}

/* project:dataset.table, or project.dataset.table; the project may be left out. */
static bool is_table_spec(struct span text)
{
	const char *table = memrchr(text.at, '.', text.len);
	const char *dataset = text.at;

	if (!table)
		return false;
	for (const char *p = text.at; p < table; p++)
		if (*p == ':' || *p == '.')
			dataset = p + 1;
	if (dataset > text.at && !is_project(span_make(text.at, (size_t)(dataset - text.at - 1))))
		return false;
	return is_dataset(span_make(dataset, (size_t)(table - dataset))) &&
	       is_made_of(span_from(text, (size_t)(table - text.at) + 1), "_-$ ", 1024);
}

/* Seconds, minutes, hours, in this order because the template reads no other;
 * what it would ignore without a word is refused here. */
static bool is_duration(struct span text)
{
	static const char units[] = "smh";
	size_t unit = 0, i = 0;
	bool is_positive = false;

	while (i < text.len) {
		size_t digits = i;

		for (; i < text.len && is_digit(text.at[i]); i++)
			is_positive = is_positive || text.at[i] != '0';
		if (i == digits || i - digits > 9 || i == text.len)
			return false;
		while (units[unit] && (text.at[i] | 0x20) != units[unit])
			unit++;
		if (!units[unit++])
			return false;
		i++;
	}
	return is_positive;
}

static bool digits_match(struct span text, const char *picture)
{
	size_t len = strlen(picture);

	if (text.len < len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (picture[i] == '0' ? !is_digit(text.at[i]) : (text.at[i] & ~0x20) != (picture[i] & ~0x20))
			return false;
	}
	return true;
}

static int two_digits(const char *at)
{
	return (at[0] - '0') * 10 + at[1] - '0';
}

/* RFC 3339: 2026-11-30T02:37:30[.123]Z or with +01:00 in place of Z. */
static bool is_timestamp(struct span text)
{
	static const char days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	size_t i = 19;
	int month;

	if (!digits_match(text, "0000-00-00T00:00:00"))
		return false;
	month = two_digits(text.at + 5);
	if (month < 1 || month > 12 || two_digits(text.at + 8) < 1 || two_digits(text.at + 8) > days[month - 1])
		return false;
	if (two_digits(text.at + 11) > 23 || two_digits(text.at + 14) > 59 || two_digits(text.at + 17) > 60)
		return false;
	if (i < text.len && text.at[i] == '.')
		for (i++; i < text.len && is_digit(text.at[i]); i++)
			;
	if (text.at[i - 1] == '.' || i > 29)
		return false;
	text = span_from(text, i);
	if (text.len == 1)
		return (text.at[0] | 0x20) == 'z';
	return text.len == 6 && (text.at[0] == '+' || text.at[0] == '-') && digits_match(span_from(text, 1), "00:00") &&
	       two_digits(text.at + 1) < 24 && two_digits(text.at + 4) < 60;
}

/* Every {word} is one of db, schema, table; {table} must be there, or all tables would be one. */
static bool is_table_pattern(struct span text)
{
	static const char *const words[] = { "{db}", "{schema}", "{table}" };
	size_t i = 0, w;
	bool has_table = false;

	while (i < text.len) {
		struct span rest = span_from(text, i);

		for (w = 0; w < 3 && !starts_with(rest, words[w]); w++)
			;
		has_table = has_table || w == 2;
		if (w == 3 && !is_alnum(text.at[i]) && !strchr("_-", text.at[i]))
			return false;
		i += w < 3 ? strlen(words[w]) : 1;
	}
	return has_table && text.len <= NAME_MAX_BYTES;
}

/* A secret of the vault by its name (vault.h has the same look), or a file of the engine's machine. */
static bool is_credentials(struct span text)
{
	if (!starts_with(text, "vault:"))
		return text.len > 1 && text.at[0] == '/';
	text = span_from(text, sizeof "vault:" - 1);
	return text.len > 0 && is_alnum(text.at[0]) && is_made_of(text, "_.-", 64);
}

/* The look of the whole text decides; it is kept as it was written. */
static json_t *word_accept(const struct option *option, const json_t *value, const char *base,
                           struct complaint *complaint)
{
	const char *word = json_string_value(value);
	char room[SHOWN_MAX];

	(void)base;
	if (!word)
		return text_value(option, value, complaint);
	if (!option->type->is_word(span_of(word)))
		return complain(complaint, "bad_parameter", "%s is not allowed, %s is", shown(word, room),
		                option->type->form);
	return json_string(word);
}

#define WORD_TYPE(noun, words, look) \
	const struct option_type type_##noun = { \
		.name = #noun, .form = words, .accept = word_accept, .print = text_print, \
		.store = text_store, .release = text_release, .is_word = look, \
	}

WORD_TYPE(dataset, "a dataset name of 1 to 200 letters, digits and underscores", is_dataset);
WORD_TYPE(project, "a Google Cloud project id such as acme-data", is_project);
WORD_TYPE(function, "a function name of letters, digits and underscores", is_function);
WORD_TYPE(instance, "3 or more lower case letters, digits and '-', a letter first", is_instance);
WORD_TYPE(profile, "3 or more lower case letters, digits, '-' and '_', a letter first", is_profile);
WORD_TYPE(subscription, "a full name projects/PROJECT/subscriptions/NAME", is_subscription);
WORD_TYPE(table_spec, "PROJECT:DATASET.TABLE", is_table_spec);
WORD_TYPE(gcs_path, "a Cloud Storage path gs://BUCKET/NAME", is_gcs_path);
/* Kept as it was written, stored in milliseconds. Nine digits a part cannot overflow. */
static void duration_store(const struct option *option, const json_t *canonical, struct job_options *options)
{
	int64_t sum_ms = 0, number = 0;

	for (const char *at = json_string_value(canonical); *at; at++) {
		if (is_digit(*at)) {
			number = number * 10 + (*at - '0');
			continue;
		}
		sum_ms += number * ((*at | 0x20) == 's' ? 1000 : (*at | 0x20) == 'm' ? 60000 : 3600000);
		number = 0;
	}
	memcpy(member_of(option, options), &sum_ms, sizeof sum_ms);
}

const struct option_type type_duration = {
	.name = "duration", .form = "seconds, minutes, hours in this order, more than 0, such as 5s, 12m or 30m1h",
	.accept = word_accept, .print = text_print, .store = duration_store, .release = nothing_released,
	.is_word = is_duration,
};
WORD_TYPE(timestamp, "a time such as 2026-11-30T02:37:30Z (RFC 3339)", is_timestamp);
WORD_TYPE(table_pattern, "letters, digits, '_', '-' and {db}, {schema}, {table}, with {table} in it", is_table_pattern);
WORD_TYPE(credentials, "vault:NAME, or the absolute path of a file", is_credentials);

/*
 * Paths.
 */
static json_t *path_below(const char *base, const char *path)
{
	char *whole = path_resolve(base, strncmp(path, "./", 2) == 0 ? path + 2 : path);
	json_t *value = json_string(whole);

	free(whole);
	return value;
}

static json_t *path_accept(const struct option *option, const json_t *value, const char *base,
                           struct complaint *complaint)
{
	const char *path = json_string_value(value);

	if (!path)
		return text_value(option, value, complaint);
	if (strncmp(path, "gs://", 5) == 0)
		return json_string(path);
	return path_below(base, path);
}

static json_t *feed_accept(const struct option *option, const json_t *value, const char *base,
                           struct complaint *complaint)
{
	if (json_is_string(value) && strcmp(json_string_value(value), "-") == 0)
		return json_string("-");
	return path_accept(option, value, base, complaint);
}

const struct option_type type_path = {
	.name = "path", .form = "the path of a file", .accept = path_accept, .print = text_print,
	.store = text_store, .release = text_release,
};

const struct option_type type_feed = {
	.name = "feed", .form = "the path of a file, or '-' for standard input", .accept = feed_accept,
	.print = text_print, .store = text_store, .release = text_release,
};
