/* What is wrong with a regex, before it is read and by the library's number. For regex*.c only. */
#ifndef WEIR_BASE_REGEX_PRIVATE_H
#define WEIR_BASE_REGEX_PRIVATE_H

#include "base/regex.h"

/* False: not to be read, and why: too long, or meant for another library, to which it would say something else. */
bool regex_is_allowed(const char *text, struct regex_fault *out_fault);

/* `number` is the library's own, `byte` where in the text it stopped. */
void regex_fault_fill(struct regex_fault *out, const char *text, int number, size_t byte);

#endif
