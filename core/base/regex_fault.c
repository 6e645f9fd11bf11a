/* What is wrong with a regex that somebody typed, in weir's words. */
#include "base/regex_private.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <string.h>

static const struct {
	int number;
	const char *why;
} faults[] = {
	{ PCRE2_ERROR_END_BACKSLASH, "a backslash stands at its end" },
	{ PCRE2_ERROR_UNKNOWN_ESCAPE, "no such escape; \\\\ is a backslash" },
	{ PCRE2_ERROR_QUANTIFIER_OUT_OF_ORDER, "the repeat's second number is smaller than its first" },
	{ PCRE2_ERROR_QUANTIFIER_TOO_BIG, "the repeat's number is larger than 65535" },
	{ PCRE2_ERROR_MISSING_SQUARE_BRACKET, "a [ has no ]" },
	{ PCRE2_ERROR_ESCAPE_INVALID_IN_CLASS, "that escape cannot stand in [...]" },
	{ PCRE2_ERROR_CLASS_RANGE_ORDER, "the range's second letter comes before its first" },
	{ PCRE2_ERROR_CLASS_INVALID_RANGE, "the range begins or ends with a class" },
	{ PCRE2_ERROR_QUANTIFIER_INVALID, "there is nothing to repeat; a repeat of a repeat is (a+){2}" },
	{ PCRE2_ERROR_POSIX_CLASS_NOT_IN_CLASS, "a class stands in [...]: [[:digit:]]" },
	{ PCRE2_ERROR_POSIX_NO_SUPPORT_COLLATING, "[.a.] and [=a=] are not known" },
	{ PCRE2_ERROR_UNKNOWN_POSIX_CLASS, "no class is called so" },
	{ PCRE2_ERROR_MISSING_CLOSING_PARENTHESIS, "a ( has no )" },
	{ PCRE2_ERROR_UNMATCHED_CLOSING_PARENTHESIS, "a ) has no (" },
	{ PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP, "groups stand too deep in each other" },
	{ PCRE2_ERROR_BAD_SUBPATTERN_REFERENCE, "back-references (\\1 to \\9) and calls of groups are not allowed" },
	{ PCRE2_ERROR_PATTERN_TOO_LARGE, "with its repeats written out it is too large" },
	{ PCRE2_ERROR_HEAP_FAILED, "with its repeats written out it is too large" },
	{ PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH, "what looks behind needs a fixed length" },
	{ PCRE2_ERROR_BACKSLASH_C_CALLER_DISABLED, "\\C is not allowed" },
};

/* What grep and other programs of the C library take, and PCRE2 takes for something else without a word. */
static const struct {
	const char *signs, *why;
} foreign[] = {
	{ "\\<", "\\< is not known; the edge of a word is \\b, the sign itself <" },
	{ "\\>", "\\> is not known; the edge of a word is \\b, the sign itself >" },
	{ "\\`", "\\` is not known; the beginning is ^, the sign itself `" },
	{ "\\'", "\\' is not known; the end is $, the sign itself '" },
	{ "{,", "a repeat needs its first number, as {0,3}" },
};

static size_t letters_in(const char *text, size_t bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < bytes; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

static void fault_say(struct regex_fault *out, size_t letter, const char *why)
{
	out->letter = letter;
	snprintf(out->why, sizeof(out->why), "the regex cannot be read: %s", why);
}

/* Behind a [class]; names ([:alpha:]) inside it may hold its closing sign. */
static const char *skip_class(const char *at)
{
	at += 1 + (at[1] == '^');
	at += *at == ']';
	while (*at && *at != ']') {
		const char *end = at[0] == '[' && at[1] == ':' ? strstr(at, ":]") : NULL;

		at += *at == '\\' && at[1];
		at = end ? end + 2 : at + 1;
	}
	return at + (*at == ']');
}

static bool is_foreign(const char *text, struct regex_fault *out_fault)
{
	const char *at = text;

	while (*at) {
		for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
			if (strncmp(at, foreign[i].signs, strlen(foreign[i].signs)) != 0)
				continue;
			if (*at == '{' && (at == text || at[2 + strspn(at + 2, "0123456789")] != '}'))
				continue; /* a brace of the text */
			fault_say(out_fault, letters_in(text, (size_t)(at - text)) + 1, foreign[i].why);
			return true;
		}
		at = *at == '[' ? skip_class(at) : at + 1 + (*at == '\\' && at[1]);
	}
	return false;
}

bool regex_is_allowed(const char *text, struct regex_fault *out_fault)
{
	size_t bytes = strlen(text), letters = letters_in(text, bytes);

	out_fault->letter = 0;
	if (!*text)
		snprintf(out_fault->why, sizeof(out_fault->why), "nothing stands in the regex");
	else if (letters > REGEX_CHARACTERS_MAX || bytes > 4 * REGEX_CHARACTERS_MAX) /* bytes that begin no letter */
		snprintf(out_fault->why, sizeof(out_fault->why), "a regex has at most %d characters, this one has %zu",
		         REGEX_CHARACTERS_MAX, letters > REGEX_CHARACTERS_MAX ? letters : bytes);
	else
		return !is_foreign(text, out_fault);
	return false;
}

void regex_fault_fill(struct regex_fault *out, const char *text, int number, size_t byte)
{
	PCRE2_UCHAR words[REGEX_WHY_BYTES - 40] = "";

	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		if (faults[i].number == number) {
			fault_say(out, letters_in(text, byte) + 1, faults[i].why);
			return;
		}
	}
	/* What is seldom met is said in the library's words; negative: broken letters. */
	pcre2_get_error_message(number, words, sizeof(words));
	fault_say(out, letters_in(text, byte) + 1, number < 0 ? "it is not UTF-8" : (const char *)words);
}
