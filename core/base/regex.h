/*
 * A regex that somebody typed, in a filter or a search (security.md, Names): Perl's syntax as PCRE2 has it, of which POSIX
 * extended regexes are a part. Neither reading one nor searching with it takes long, whatever it and the text are.
 *
 * It is UTF-8: "." is a letter, [[:alpha:]], \w and \b know all letters, and "." matches a newline. A byte of a text that
 * belongs to no letter matches nothing. "$" is the end of the text alone. Groups are not remembered: there are no
 * back-references.
 */
#ifndef WEIR_BASE_REGEX_H
#define WEIR_BASE_REGEX_H

#include "base/span.h"

#include <stdint.h>

#define REGEX_CHARACTERS_MAX 256
#define REGEX_CPU_NS_MAX 200000000
#define REGEX_TEXT_BYTES_MAX 16384 /* of one text; what comes behind it is not searched */
#define REGEX_WHY_BYTES 160

struct regex;

/* Why a regex cannot be read, in words, and the letter of it (from 1) where that shows; 0: as a whole. */
struct regex_fault {
	size_t letter;
	char why[REGEX_WHY_BYTES];
};

/* NULL: it cannot be read, and why. */
struct regex *regex_new(const char *text, struct regex_fault *out_fault);
void regex_free(struct regex *regex);

/* Is it found in the text? Adds the CPU of this thread that it took to `used_ns`. Once that is over REGEX_CPU_NS_MAX the
 * search was given up, for its time or for its memory, and false says nothing. One thread at a time. */
bool regex_finds(struct regex *regex, struct span text, int64_t *used_ns);

#endif
