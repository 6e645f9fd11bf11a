/*
 * The in-place JSON reader of the hot path. One pass checks every byte of the
 * text (RFC 8259, UTF-8) and leaves a flat list of tokens that point into it;
 * numbers stay text until a type is known, strings stay escaped until somebody
 * wants them.
 *
 * Rules
 * - Exactly one value; white space around it is fine, anything else is JSON_TRAILING.
 * - Text must be UTF-8; overlong forms, surrogates in UTF-8 and a byte order mark are refused.
 * - A lone surrogate escape (\ud800 without its half) is refused: it cannot become UTF-8.
 * - \u0000 is legal, a raw NUL or control character in a string is not.
 * - Depth of nesting at most JSON_DEPTH_MAX; at most JSON_TEXT_MAX bytes.
 * - Duplicate members are kept in order; whoever reads an object decides. json_member
 *   gives the first. Objects whose meaning we know (envelope, source, row) refuse them.
 */
#ifndef WEIR_RECORD_JSON_H
#define WEIR_RECORD_JSON_H

#include "base/arena.h"
#include "base/span.h"

#include <jansson.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 512
#define JSON_TEXT_MAX (256u << 20)

/* The kind of a token is jansson's json_type (JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_STRING,
 * JSON_OBJECT, JSON_ARRAY): many files need both readers, and two sets of the same words
 * cannot live in one file. Only numbers differ, since they have no type here. */
enum {
	JSON_NUMBER = JSON_NULL + 1
};

enum json_flag {
	JSON_HAS_ESCAPES = 1,  /* string: has at least one backslash */
	JSON_IS_FRACTION = 2,  /* number: has a '.', or an exponent */
};

/* 16 bytes; index 0 is the root. Members of an object are pairs of tokens, name then value. */
struct json_token {
	uint32_t start; /* string: the byte behind the opening quote; else the first byte */
	uint32_t end;   /* string: the closing quote; else the byte behind the last */
	uint32_t next;  /* index of the token behind this value and everything inside it */
	uint8_t kind;   /* json_type or JSON_NUMBER */
	uint8_t flags;
	uint16_t unused;
};

struct json_doc {
	struct span text;
	struct json_token *tokens;
	uint32_t count;
	uint32_t room; /* the doc owns tokens and reuses them from text to text */
	uint32_t trail;       /* not 0: every text that one trail gave this number has the same members in the same
	                         order, down to three objects deep (see json_trail_new) */
	uint64_t block;       /* not 0: the value of "schema" is a known block, and so is every one of this number */
	uint32_t place_count; /* of these members */
	uint32_t *places;     /* the tokens of their values; JSON_PLACES_MAX of room, or NULL */
};

#define JSON_PLACES_MAX 512

enum json_fault {
	JSON_FINE,
	JSON_EMPTY,       /* nothing but white space */
	JSON_SYNTAX,
	JSON_CUT,         /* the text ends inside the value */
	JSON_TRAILING,    /* text behind the value */
	JSON_TOO_DEEP,
	JSON_TOO_LONG,
	JSON_NOT_UTF8,
	JSON_SURROGATE,
};

void json_doc_free(struct json_doc *doc); /* the tokens; the struct is the caller's */

/* Lends `text` to the doc. On a fault *out_at is the offset of the offending byte. */
enum json_fault json_parse(struct json_doc *doc, struct span text, size_t *out_at);

/* The same, but with a known block: if the value of member "schema" of the root object begins
 * with exactly the bytes of one of `known` (see struct json_known), it gets one token of kind
 * JSON_OBJECT without children, is not looked into, and *out_known tells which. */
struct json_known {
	/* Called with the text from the value's first byte to the end of the message. Returns the
	 * length of the block it recognised, or 0. *out_id is handed back by json_parse_known. */
	size_t (*recognise)(void *context, struct span rest, void **out_id);
	void *context;
	struct json_trail *trail; /* or NULL */
};

/* A memory of the names in earlier texts: texts like them are read faster, and get a number. */
struct json_trail;
struct json_trail *json_trail_new(void);
void json_trail_free(struct json_trail *trail);
enum json_fault json_parse_known(struct json_doc *doc, struct span text, const struct json_known *known,
                                 void **out_id, size_t *out_at);

/* The same for the value at the front of `text`, whose end nobody has looked for, in a text of lines: its length. 0: it does
 * not follow the trail to its end, or not on its line; nothing is known of it then, nor of the doc's tokens. */
size_t json_parse_front(struct json_doc *doc, struct span text, const struct json_known *known, void **out_id);

/* Index of the value of the first member called `name` (plain ASCII), or 0 if there is none
 * (0 is the root, never a member). `object` must be of kind JSON_OBJECT. */
uint32_t json_member(const struct json_doc *doc, uint32_t object, struct span name);

/* The bytes as they stand: of a string without quotes and still escaped, of any other the whole text. */
static inline struct span json_raw(const struct json_doc *doc, uint32_t token)
{
	const struct json_token *t = &doc->tokens[token];

	return (struct span){ doc->text.at + t->start, t->end - t->start };
}

/* The text of the whole value, strings with their quotes. */
static inline struct span json_slice(const struct json_doc *doc, uint32_t token)
{
	const struct json_token *t = &doc->tokens[token];
	uint32_t quote = t->kind == JSON_STRING;

	return (struct span){ doc->text.at + t->start - quote, t->end - t->start + 2 * quote };
}

static inline bool json_is(const struct json_doc *doc, uint32_t token, int kind)
{
	return doc->tokens[token].kind == kind;
}

/* A string's characters, unescaped: a look into the text if it has no escapes, else a copy in the arena.
 * (Not json_string: jansson has that, with another meaning.) */
struct span json_text(const struct json_doc *doc, uint32_t token, struct arena *arena);

/* The closing quote of a string of ASCII and escapes of one letter, from behind its opening quote; NULL: there is anything
 * else in it, json_parse must be asked. *out_escapes becomes true where it has escapes. */
const char *json_plain_end(const char *at, const char *end, bool *out_escapes);

/* Checks the inside of a string and unescapes it into `out` (never longer) in one go: ASCII and escapes of one letter
 * only, as JSON in JSON has them. False: anything else, json_parse must be asked. */
bool json_unescape_plain(struct span inside, char *out, size_t *out_len);

/* An integer number that fits (no fraction, no exponent). */
bool json_int64(const struct json_doc *doc, uint32_t token, int64_t *out);
bool span_int64(struct span text, int64_t *out);    /* "-12"; JSON's grammar */
bool span_uint64(struct span text, uint64_t *out);  /* digits only, zeros in front are fine */

/* Sentence for a fault, lower case, no full stop. And its reason code. */
const char *json_fault_text(enum json_fault fault);
const char *json_fault_code(enum json_fault fault); /* not_json, not_utf8, too_deep, record_too_large, empty_message */

#endif
