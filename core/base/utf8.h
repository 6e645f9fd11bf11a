/* One step through UTF-8 that may be broken, and which characters people must not be sent as they are. */
#ifndef WEIR_BASE_UTF8_H
#define WEIR_BASE_UTF8_H

#include "base/span.h"

#include <stdint.h>

/* Length of the character that `rest` (not empty) begins with and its number;
 * 0: the first byte begins no valid character. */
size_t utf8_step(struct span rest, uint32_t *out_code);

/* Writes `code` as 1 to 4 bytes and returns how many. */
size_t utf8_put(uint32_t code, char out[4]);

/* C0, DEL and C1. */
static inline bool code_is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* Marks that change the direction of the text around them. */
static inline bool code_is_bidi(uint32_t code)
{
	return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
	       code == 0x200e || code == 0x200f || code == 0x061c;
}

/* Takes no place or cannot be seen, though it is no combining mark: joiners, fillers, selectors of variants, tags, marks
 * of other formats. Two names that differ only in these look the same, and terminals disagree about their width. */
bool code_is_unseen(uint32_t code);

#endif
