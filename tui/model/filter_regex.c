/*
 * The regexes of a filter, with limits before anything is compiled: a repeat of a
 * repeat of a repeat takes memory beyond all bounds, a back-reference time.
 */
#include "base/arena.h"
#include "model/filter_private.h"

static size_t characters(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

static bool has_back_reference(const char *text)
{
	for (; *text; text++) {
		if (*text != '\\')
			continue;
		text++;
		if (!*text)
			return false;
		if (*text >= '1' && *text <= '9')
			return true;
	}
	return false;
}

/* The upper bounds of all {m,n} multiplied: as many copies may be laid out of the innermost. */
static double repeats(const char *text)
{
	double product = 1;

	for (; *text; text++) {
		const char *comma;
		double most;

		if (*text == '\\' && text[1])
			text++;
		else if (*text == '{') {
			comma = text + 1 + strspn(text + 1, "0123456789");
			most = strtod(*comma == ',' && comma[1] != '}' ? comma + 1 : text + 1, NULL);
			product *= most > 1 ? most : 1;
		}
	}
	return product;
}

static bool is_allowed(const char *regex, size_t column, struct error *err)
{
	if (!*regex)
		return fail(err, ERROR_USAGE, "bad_filter", "column %zu: nothing stands in the regex", column);
	if (characters(regex) > REGEX_CHARACTERS_MAX)
		return fail(err, ERROR_USAGE, "bad_filter", "column %zu: a regex has at most %d characters, this one has %zu",
		            column, REGEX_CHARACTERS_MAX, characters(regex));
	if (has_back_reference(regex))
		return fail(err, ERROR_USAGE, "bad_filter", "column %zu: back-references (\\1 to \\9) are not allowed in a regex",
		            column);
	if (repeats(regex) > REGEX_REPEATS_MAX)
		return fail(err, ERROR_USAGE, "bad_filter", "column %zu: the repeats {..} of the regex come to more than %d", column,
		            REGEX_REPEATS_MAX);
	return true;
}

bool filter_regex(struct filter *filter, struct term *term, size_t column, struct error *err)
{
	char why[120];
	int64_t since = filter_cpu_ns();
	int status;

	if (!is_allowed(term->word, column, err))
		return false;
	status = regcomp(&term->regex, term->word, REG_EXTENDED);
	*filter->cpu_ns += filter_cpu_ns() - since;
	if (status) {
		regerror(status, &term->regex, why, sizeof(why));
		return fail(err, ERROR_USAGE, "bad_filter", "column %zu: the regex cannot be read: %s", column, why);
	}
	term->kind = TERM_REGEX; /* from here on regfree is owed */
	if (filter_is_too_slow(filter))
		return fail(err, ERROR_USAGE, "regex_too_slow", "column %zu: reading the regex took more than %d ms", column,
		            REGEX_CPU_NS_MAX / 1000000);
	return true;
}
