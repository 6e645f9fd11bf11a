/*
 * Text from strangers on its way to people. Everything that reaches a terminal
 * passes clean_text; everything that is printed to be pasted passes shell_quote.
 */
#ifndef WEIR_BASE_CLEAN_H
#define WEIR_BASE_CLEAN_H

#include "base/text.h"

/* Control characters, bidi marks, what cannot be seen (zero width) and invalid
 * UTF-8 become visible escapes (\x1b, \u202e, \xff); everything else stays. */
bool clean_text(struct text *out, struct span text);
/* The same for one character of so many bytes, or one byte of invalid UTF-8 (length 0): may it stay, and what stands for
 * it otherwise; gives the escape's length. For the cells of the console, which count columns besides. */
#define CLEAN_ESCAPE_BYTES 12
bool clean_may_stay(uint32_t code, size_t length);
size_t clean_escape(uint32_t code, size_t length, char out[CLEAN_ESCAPE_BYTES]);

/* One shell word: bare if harmless, 'quoted', or $'..' with control characters. */
bool shell_quote(struct text *out, struct span word);

/* A quoted SQL identifier: the only way a name reaches a statement. Fails on
 * NUL, back-quote and control characters (false, nothing added). */
bool sql_identifier(struct text *out, struct span name);
bool sql_string(struct text *out, struct span value);

/* A JSON string with quotes; control and bidi characters as \u escapes,
 * invalid UTF-8 as \ufffd. */
bool json_quote(struct text *out, struct span text);
/* The longest beginning of `text`, of whole characters, that takes at most *room bytes between the quotes, also after a
 * JSON library and the socket's own escapes have been over it; what it takes is taken off *room. */
struct span json_fit(struct span text, size_t *room);

bool utf8_is_valid(struct span text);

/* Nearest of `count` words to `word`, or NULL when none is near ("did you mean"). */
const char *nearest_word(const char *word, const char *const *words, size_t count);

#endif
