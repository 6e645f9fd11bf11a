/*
 * Limits of a regex that somebody typed, before anything is compiled: a repeat of a
 * repeat of a repeat takes memory beyond all bounds, a back-reference time.
 */
#include "base/regex_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Behind a [bracket expression]; classes ([:alpha:]) inside it may hold its closing sign. */
static const char *skip_bracket(const char *at)
{
	at += 1 + (at[1] == '^');
	at += *at == ']';
	while (*at && *at != ']') {
		if (*at == '[' && at[1] && strchr(":.=", at[1])) {
			const char end[] = { at[1], ']', '\0' };
			const char *found = strstr(at + 2, end);

			at = found ? found + 1 : at;
		}
		at++;
	}
	return *at ? at + 1 : at;
}

/* How many copies a repeat makes of what stands before it: n of {m,n}, one more than m of {m,}, two of +. */
static double copies(const char *at)
{
	const char *comma = at + 1 + strspn(at + 1, "0123456789");
	double least = strtod(at + 1, NULL);

	if (*at == '+')
		return 2;
	if (*at != '{')
		return 1;
	if (*comma != ',')
		return least > 1 ? least : 1;
	return comma[1] == '}' ? least + 1 : strtod(comma + 1, NULL) > 1 ? strtod(comma + 1, NULL) : 1;
}

/*
 * How large the regex is when all its repeats are laid out, as the library does. Those that stand behind or inside each
 * other multiply: sixty plus signs in a row take more memory than there is.
 */
static double laid_out(const char *at)
{
	double sums[REGEX_CHARACTERS_MAX + 1] = { 0 }, last = 0;
	size_t level = 0;

	while (*at) {
		const char *next = at + 1 + (*at == '\\' && at[1]);

		if (strchr("*?+{", *at)) {
			sums[level] += last * (copies(at) - 1);
			last *= copies(at);
			next = *at == '{' ? at + 1 + strspn(at + 1, "0123456789,}") : next;
		} else if (*at == '(' && level < REGEX_CHARACTERS_MAX) {
			sums[++level] = 0;
			last = 0;
		} else {
			last = 1;
			if (*at == ')' && level)
				last += sums[level--];
			else if (*at == '[')
				next = skip_bracket(at);
			sums[level] += last;
		}
		at = next;
	}
	while (level--)
		sums[0] += sums[level + 1];
	return sums[0];
}

/* How many repeats stand behind or around each other at the most: the library takes twice as long for each of them. */
static int repeat_depth(const char *at)
{
	int inside[REGEX_CHARACTERS_MAX + 1] = { 0 }, last = 0, most = 0; /* `inside`: the deepest of each open group */
	size_t level = 0;

	while (*at) {
		const char *next = at + 1 + (*at == '\\' && at[1]);

		if (strchr("*?+{", *at)) {
			last++;
			next = *at == '{' ? at + 1 + strspn(at + 1, "0123456789,}") : next;
		} else if (*at == '(' && level < REGEX_CHARACTERS_MAX) {
			inside[++level] = 0;
			last = 0;
		} else if (*at == ')' && level) {
			last = inside[level--];
		} else {
			last = 0;
			next = *at == '[' ? skip_bracket(at) : next;
		}
		inside[level] = last > inside[level] ? last : inside[level];
		most = last > most ? last : most;
		at = next;
	}
	return most;
}

bool regex_is_allowed(const char *regex, char out_why[REGEX_WHY_BYTES])
{
	if (!*regex)
		snprintf(out_why, REGEX_WHY_BYTES, "nothing stands in the regex");
	else if (characters(regex) > REGEX_CHARACTERS_MAX)
		snprintf(out_why, REGEX_WHY_BYTES, "a regex has at most %d characters, this one has %zu", REGEX_CHARACTERS_MAX,
		         characters(regex));
	else if (has_back_reference(regex))
		snprintf(out_why, REGEX_WHY_BYTES, "back-references (\\1 to \\9) are not allowed in a regex");
	else if (repeat_depth(regex) > REGEX_REPEATS_MAX)
		snprintf(out_why, REGEX_WHY_BYTES, "more than %d repeats of one thing in a regex", REGEX_REPEATS_MAX);
	else if (laid_out(regex) > REGEX_LAID_OUT_MAX)
		snprintf(out_why, REGEX_WHY_BYTES, "the repeats of the regex come to more than %d", REGEX_LAID_OUT_MAX);
	else
		return true;
	return false;
}
