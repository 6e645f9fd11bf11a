/* What a regex may be that comes from outside, in a filter or a search: security.md, Names. */
#ifndef WEIR_BASE_REGEX_LIMITS_H
#define WEIR_BASE_REGEX_LIMITS_H

#include <stdbool.h>

#define REGEX_CHARACTERS_MAX 256
#define REGEX_LAID_OUT_MAX 1000 /* characters, with all repeats written out */
#define REGEX_REPEATS_MAX 4     /* behind or around each other, as in ((a+)?)* */
#define REGEX_CPU_NS_MAX 200000000
#define REGEX_TEXT_BYTES_MAX 16384 /* of one text; what comes behind it is not searched */
#define REGEX_WHY_BYTES 120

/* False: not to be compiled, and why, in words. */
bool regex_is_allowed(const char *regex, char out_why[REGEX_WHY_BYTES]);

#endif
