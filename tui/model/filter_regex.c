/* The regexes of a filter: within limits, and timed. */
#include "model/filter_private.h"

static bool is_allowed(const char *regex, size_t column, struct error *err)
{
	char why[REGEX_WHY_BYTES];

	return regex_is_allowed(regex, why) || fail(err, ERROR_USAGE, "bad_filter", "column %zu: %s", column, why);
}

bool filter_regex(struct filter *filter, struct term *term, size_t column, struct error *err)
{
	char why[120];
	int64_t since = filter_cpu_ns();
	int status;

	if (!is_allowed(term->word, column, err))
		return false;
	status = regcomp(&term->regex, term->word, REG_EXTENDED | REG_NOSUB);
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
