/*
 * What the files of the JSON reader share: where a scan ended, and blocks of
 * bytes that are looked at together. SSE2 belongs to every x86-64; other
 * machines take eight bytes at a time in an ordinary register.
 */
#ifndef WEIR_RECORD_JSON_PRIVATE_H
#define WEIR_RECORD_JSON_PRIVATE_H

#include "record/json.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define JSON_ALWAYS_INLINE static inline __attribute__((always_inline))
#define json_likely(condition) __builtin_expect(!!(condition), 1)
#define json_unlikely(condition) __builtin_expect(!!(condition), 0)

/* Sixteen bytes, so that it travels in two registers: the reader's own state
 * must never have its address taken, or every byte costs a trip to memory. */
struct json_end {
	const char *at; /* behind what was read; on a fault the offending byte */
	uint32_t flags;
	enum json_fault fault;
};

/* From a byte of a string, behind its opening quote, to the closing one. */
struct json_end json_string_end(const char *at, const char *end);

/* From the first byte of a number ('-' or a digit) to the byte behind it. */
struct json_end json_number_end(const char *at, const char *end);

/* The length of the UTF-8 sequence that begins with a byte from 0x80 on; 0: there
 * is none; -1: the text ends inside it. */
int json_utf8_length(const char *at, const char *end);

/* One escape of a checked string as UTF-8; *at moves from the backslash to behind it. */
size_t json_escape_decode(const char **at, char out[4]);

JSON_ALWAYS_INLINE struct json_end json_ended(const char *at, uint32_t flags)
{
	return (struct json_end){ at, flags, JSON_FINE };
}

JSON_ALWAYS_INLINE struct json_end json_broken(const char *at, enum json_fault fault)
{
	return (struct json_end){ at, 0, fault };
}

/* A missing byte is a cut, a wrong one is a mistake. */
JSON_ALWAYS_INLINE struct json_end json_unexpected(const char *at, const char *end)
{
	return json_broken(at, at == end ? JSON_CUT : JSON_SYNTAX);
}

JSON_ALWAYS_INLINE bool json_is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* Does a backslash and this letter make an escape of two bytes? */
JSON_ALWAYS_INLINE bool json_is_letter_escape(char c)
{
	return c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' || c == 't';
}

/* So many decimal digits fit 64 bits, signed too, whatever they are. */
#define JSON_DIGITS_SURE 18

/* Eight bytes, the first of them the lowest. */
JSON_ALWAYS_INLINE uint64_t json_load_bytes(const char *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

/* Eight digits that were checked, less '0' each. */
JSON_ALWAYS_INLINE uint64_t json_load_digits(const char *at)
{
	return json_load_bytes(at) - UINT64_C(0x3030303030303030);
}

/* Their number. */
JSON_ALWAYS_INLINE uint64_t json_eight_digits(uint64_t v)
{
	v = v * 10 + (v >> 8); /* pairs, in every other byte */
	return ((v & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
	        (v >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001)) >> 32;
}

/* Four to seven: two looks that overlap are joined, and zeros put in front. */
JSON_ALWAYS_INLINE uint64_t json_few_digits(const char *at, size_t len)
{
	uint32_t head, tail;

	memcpy(&head, at, sizeof(head));
	memcpy(&tail, at + len - sizeof(tail), sizeof(tail));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	head = __builtin_bswap32(head);
	tail = __builtin_bswap32(tail);
#endif
	head -= 0x30303030;
	tail -= 0x30303030;
	return json_eight_digits(((uint64_t)head | (uint64_t)tail << 8 * (len - 4)) << 8 * (8 - len));
}

/* At most JSON_DIGITS_SURE digits that were checked. */
JSON_ALWAYS_INLINE uint64_t json_digits(const char *at, size_t len)
{
	uint64_t value = 0;

	if (len >= 8 && len <= 16) {
		/* The first of them, with zeros in front, and the last eight. */
		if (len > 8)
			value = json_eight_digits(json_load_digits(at) << 8 * (16 - len)) * 100000000;
		return value + json_eight_digits(json_load_digits(at + len - 8));
	}
	if (len >= 4 && len < 8)
		return json_few_digits(at, len);
	for (; len; at++, len--)
		value = value * 10 + (uint64_t)(*at - '0');
	return value;
}

/* The masks have something set for each byte that was sought; the lowest is always right. */
#if defined(__SSE2__)

#define JSON_BLOCK 16

typedef uint32_t json_mask;

JSON_ALWAYS_INLINE unsigned json_mask_first(json_mask mask)
{
	return (unsigned)__builtin_ctz(mask);
}

/* Bytes that end a run of plain text: quote, backslash, below 0x20, from 0x80 on. Flipping
 * one bit brings the quote down to 0x20, so that one signed comparison finds three of the
 * four; it is a saturating subtraction, whose sign movemask takes as it is. */
JSON_ALWAYS_INLINE json_mask json_block_special(const char *at)
{
	__m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
	__m128i slash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
	__m128i other = _mm_subs_epi8(_mm_xor_si128(block, _mm_set1_epi8('"' ^ 0x20)), _mm_set1_epi8(0x21));

	return (json_mask)_mm_movemask_epi8(_mm_or_si128(slash, other));
}

/* '0' to '9' become 0 to 9, all else something that does not stay below 0x80 here. */
JSON_ALWAYS_INLINE json_mask json_block_no_digit(const char *at)
{
	__m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
	__m128i value = _mm_xor_si128(block, _mm_set1_epi8('0'));

	return (json_mask)_mm_movemask_epi8(_mm_adds_epu8(value, _mm_set1_epi8(0x76)));
}

#else

#define JSON_BLOCK 8
#define JSON_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
#define JSON_HIGH JSON_EACH(0x80)

typedef uint64_t json_mask;

JSON_ALWAYS_INLINE unsigned json_mask_first(json_mask mask)
{
	return (unsigned)__builtin_ctzll(mask) / 8;
}

/* A borrow can mark a byte above a true one, never below it. */
JSON_ALWAYS_INLINE uint64_t json_block_below(uint64_t block, unsigned char limit)
{
	return (block - JSON_EACH(limit)) & ~block;
}

JSON_ALWAYS_INLINE json_mask json_block_special(const char *at)
{
	uint64_t block = json_load_bytes(at);
	uint64_t quote = json_block_below(block ^ JSON_EACH('"'), 1);
	uint64_t slash = json_block_below(block ^ JSON_EACH('\\'), 1);

	return (quote | slash | json_block_below(block, 0x20) | block) & JSON_HIGH;
}

JSON_ALWAYS_INLINE json_mask json_block_no_digit(const char *at)
{
	uint64_t value = json_load_bytes(at) ^ JSON_EACH('0');

	return (((value & ~JSON_HIGH) + JSON_EACH(0x76)) | value) & JSON_HIGH;
}

#endif

/* The special bytes of the next 64, lowest bit first; fewer where the text ends. A byte that is not
 * special may have a bit too, above one that is, so whoever uses a bit looks at its byte. */
#define JSON_STRIDE 64

uint64_t json_stride_marks(const char *at, const char *end);

JSON_ALWAYS_INLINE const char *json_white_end(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
		at++;
	return at;
}

/* While a container is open its token's `next` is the container around it: the
 * list of tokens is its own stack. */
struct json_reader {
	const char *at;
	const char *end;
	const char *begin;
	const char *stride; /* the bytes that `marks` speaks of */
	uint64_t marks;     /* special bytes not yet met */
	struct json_token *tokens;
	uint32_t count;
	uint32_t room;
	uint32_t open;      /* innermost open container, or JSON_NO_TOKEN */
	uint32_t depth;
	enum json_fault fault;
	bool is_front;      /* something follows the value, and a line break ends it: see json_parse_front */
};

#define JSON_NO_TOKEN UINT32_MAX

#define JSON_SCHEMA_NAME "schema"

/* From the value's first byte, or from behind one inside of the text, to behind the whole value, or to a fault, which
 * stays in the reader. */
void json_walk(struct json_reader *reader, const struct json_known *known, void **out_id, bool is_behind);

enum json_followed {
	JSON_FOLLOWED,      /* to the end, or to a fault */
	JSON_LEFT_AT_VALUE, /* the ordinary walk goes on at a value */
	JSON_LEFT_BEHIND,   /* behind a value */
};
enum json_followed json_trail_follow(struct json_reader *reader, struct json_doc *doc, const struct json_known *known,
                                     void **out_id);
/* `doc` was not, or not wholly, on the trail. */
void json_trail_learn(struct json_trail *trail, const struct json_doc *doc);

#endif
