/*
 * Types of parameters that are numbers: plain ones, sizes with K, M or G, and
 * days with "for ever". The range stands in the row of the table.
 */
#include "options/option_type_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

static bool number_read(const char *word, int64_t *out_number, const char **out_rest)
{
	char *end;
	int64_t number;

	if (*word != '-' && (*word < '0' || *word > '9'))
		return false;
	errno = 0;
	number = strtoll(word, &end, 10);
	if (errno || end == word)
		return false;
	*out_number = number;
	*out_rest = end;
	return true;
}

static json_t *number_in_range(const struct option *option, int64_t number, struct complaint *complaint)
{
	if (number >= option->least && number <= option->most)
		return json_integer(number);
	return complain(complaint, "out_of_range", "%" PRId64 " is out of range, %" PRId64 " to %" PRId64 " is allowed",
	                number, option->least, option->most);
}

static json_t *number_accept(const struct option *option, const json_t *value, const char *base,
                             struct complaint *complaint)
{
	const char *word = json_string_value(value), *rest = "";
	int64_t number = json_integer_value(value);
	char room[SHOWN_MAX];

	(void)base;
	if (!json_is_integer(value) && (!word || !number_read(word, &number, &rest) || *rest))
		return complain(complaint, "bad_parameter",
		                "%s is given, a whole number from %" PRId64 " to %" PRId64 " is allowed",
		                word ? shown(word, room) : json_kind(value), option->least, option->most);
	return number_in_range(option, number, complaint);
}

static bool number_print(const struct option *option, const json_t *canonical, struct text *out)
{
	(void)option;
	return text_add_int(out, json_integer_value(canonical));
}

static void number_store(const struct option *option, const json_t *canonical, struct job_options *options)
{
	int64_t number = json_integer_value(canonical);

	memcpy(member_of(option, options), &number, sizeof number);
}

const struct option_type type_number = {
	.name = "number", .form = "a whole number", .accept = number_accept, .print = number_print,
	.store = number_store, .release = nothing_released,
};

/* Bytes, with K, M or G for powers of 1,024. */
static const struct unit {
	const char *name;
	int64_t bytes;
} units[] = { { "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 } };

static bool size_read(const char *word, int64_t *out_bytes)
{
	const char *rest;
	int64_t number, bytes;

	if (!number_read(word, &number, &rest))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcasecmp(rest, units[i].name) == 0 && !__builtin_mul_overflow(number, units[i].bytes, &bytes)) {
			*out_bytes = bytes;
			return true;
		}
	}
	return false;
}

static bool size_print(const struct option *option, const json_t *canonical, struct text *out)
{
	int64_t bytes = json_integer_value(canonical);
	size_t unit = sizeof units / sizeof *units - 1;

	(void)option;
	while (bytes % units[unit].bytes)
		unit--;
	return text_add_int(out, bytes / units[unit].bytes) && text_add(out, units[unit].name);
}

static json_t *size_accept(const struct option *option, const json_t *value, const char *base,
                           struct complaint *complaint)
{
	const char *word = json_string_value(value);
	int64_t bytes = json_integer_value(value);
	char room[SHOWN_MAX];

	(void)base;
	if (!json_is_integer(value) && (!word || !size_read(word, &bytes)))
		return complain(complaint, "bad_parameter",
		                "%s is given, a number of bytes is allowed, also with K, M or G behind it",
		                word ? shown(word, room) : json_kind(value));
	return number_in_range(option, bytes, complaint);
}

const struct option_type type_size = {
	.name = "size", .form = "a number of bytes, also with K, M or G behind it", .accept = size_accept,
	.print = size_print, .store = number_store, .release = nothing_released,
};

/* Days, or for ever (-1). */
static json_t *days_accept(const struct option *option, const json_t *value, const char *base,
                           struct complaint *complaint)
{
	const char *word = json_string_value(value);

	if (word && (strcasecmp(word, "for ever") == 0 || strcasecmp(word, "forever") == 0))
		return json_string("for ever");
	if (json_is_integer(value) || (word && (*word == '-' || (*word >= '0' && *word <= '9'))))
		return number_accept(option, value, base, complaint);
	return complain(complaint, "bad_parameter", "%s is given, a number of days or 'for ever' is allowed",
	                json_kind(value));
}

static bool days_print(const struct option *option, const json_t *canonical, struct text *out)
{
	if (json_is_string(canonical))
		return text_add(out, json_string_value(canonical));
	return number_print(option, canonical, out);
}

static void days_store(const struct option *option, const json_t *canonical, struct job_options *options)
{
	int64_t days = json_is_string(canonical) ? -1 : json_integer_value(canonical);

	memcpy(member_of(option, options), &days, sizeof days);
}

const struct option_type type_days = {
	.name = "days", .form = "a number of days or 'for ever'", .accept = days_accept, .print = days_print,
	.store = days_store, .release = nothing_released,
};
