/*
 * The fast half of following a trail: member by member in one loop whose state
 * stays in registers. It says no to whatever it is not sure of, and leaves the
 * reader in front of that member (json_trail.c reads it).
 */
#include "record/json_trail_private.h"
#include "record/json_walk_private.h"

/* A quote or sign, a first block, and one byte behind it: so much must be left of the text behind a name. */
#define RUN_BYTES (JSON_BLOCK + 2)

/* Tokens of one member: the object that it opens, name, value. */
#define RUN_TOKENS 3

/* Behind the digits from `at` on; the text may end in them. */
JSON_ALWAYS_INLINE const char *digits_end(const char *at, const char *end)
{
	while (end - at >= JSON_BLOCK) {
		json_mask mask = json_block_no_digit(at);

		if (mask)
			return at + json_mask_first(mask);
		at += JSON_BLOCK;
	}
	while (at < end && json_is_digit(*at))
		at++;
	return at;
}

/* What a value's token says beside its place: kind and flags, as they lie in struct json_token. */
#define WORD_OF(kind, flags) ((uint32_t)(kind) | (uint32_t)(flags) << 8)

/* In two registers: behind the value, NULL where it is looked at by others. */
struct ran {
	const char *behind;
	uint32_t word;
};

#define NOT_RUN ((struct ran){ NULL, 0 })

/* A number that has a fraction, more digits than a block or nothing that could be one; `digits` is behind its sign. */
static __attribute__((noinline)) struct ran run_long_number(const char *digits, const char *end)
{
	const char *behind = digits_end(digits, end), *fraction = behind + 1;

	if (behind == digits || behind == end || (*digits == '0' && behind - digits > 1))
		return NOT_RUN;
	if (*behind != '.')
		return ends_number(*behind) ? (struct ran){ behind, WORD_OF(JSON_NUMBER, 0) } : NOT_RUN;
	behind = digits_end(fraction, end);
	if (behind == fraction || behind == end || !ends_number(*behind))
		return NOT_RUN;
	return (struct ran){ behind, WORD_OF(JSON_NUMBER, JSON_IS_FRACTION) };
}

/* A block and a byte are there. Times in micro- and nanoseconds are longer than a block. */
JSON_ALWAYS_INLINE struct ran run_number(const char *at, const char *end)
{
	const char *digits = at + (*at == '-'), *behind = digits;
	json_mask mask = json_block_no_digit(digits);

	if (json_unlikely(!mask) && end - digits > 2 * JSON_BLOCK) {
		behind += JSON_BLOCK;
		mask = json_block_no_digit(behind);
	}
	behind += mask ? json_mask_first(mask) : 0;
	if (json_likely(*behind == ',' && *digits != '0' && behind != digits))
		return (struct ran){ behind, WORD_OF(JSON_NUMBER, 0) };
	return run_long_number(digits, end);
}

/* From where a string is no longer simple, or has no whole block left. */
static __attribute__((noinline)) struct ran run_string_rest(const char *at, const char *end, uint32_t flags)
{
	struct json_end ended = json_string_end(at, end);

	return ended.fault == JSON_FINE ? (struct ran){ ended.at, WORD_OF(JSON_STRING, flags | ended.flags) } : NOT_RUN;
}

/* Long texts, and escapes of one letter. */
static __attribute__((noinline)) struct ran run_long_string(const char *at, const char *end)
{
	uint32_t flags = 0;

	while (end - at > JSON_BLOCK) {
		json_mask mask = json_block_special(at);

		if (!mask) {
			at += JSON_BLOCK;
			continue;
		}
		at += json_mask_first(mask);
		if (json_likely(*at == '"'))
			return (struct ran){ at, WORD_OF(JSON_STRING, flags) };
		if (*at != '\\' || !json_is_letter_escape(at[1]))
			break;
		flags = JSON_HAS_ESCAPES;
		at += 2;
	}
	return run_string_rest(at, end, flags);
}

/* A block and a byte are there. */
JSON_ALWAYS_INLINE struct ran run_string(const char *at, const char *end)
{
	json_mask mask = json_block_special(at);

	if (json_likely(mask)) {
		const char *behind = at + json_mask_first(mask);

		if (json_likely(*behind == '"'))
			return (struct ran){ behind, WORD_OF(JSON_STRING, 0) };
	}
	return run_long_string(at, end);
}

JSON_ALWAYS_INLINE struct ran run_word(const char *at)
{
	if (memcmp(at, "null", 4) == 0)
		return (struct ran){ at + 4, WORD_OF(JSON_NULL, 0) };
	if (memcmp(at, "true", 4) == 0)
		return (struct ran){ at + 4, WORD_OF(JSON_TRUE, 0) };
	return memcmp(at, "false", 5) == 0 ? (struct ran){ at + 5, WORD_OF(JSON_FALSE, 0) } : NOT_RUN;
}

#if defined(__SSE2__)
/* Bit i: byte i of the blocks differs. */
JSON_ALWAYS_INLINE uint32_t block_differs(const char *a, const char *b)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)a), y = _mm_loadu_si128((const __m128i *)(const void *)b);

	return 0xffffu ^ (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y));
}
#endif

/* Does the step's text come next? Behind it there are RUN_BYTES more, so blocks may be read whole. */
JSON_ALWAYS_INLINE bool run_matches(const struct step *step, const char *at, unsigned len)
{
#if defined(__SSE2__)
	uint32_t differs = block_differs(at, step->text);

	if (json_unlikely(len > JSON_BLOCK)) {
		differs |= block_differs(at + JSON_BLOCK, step->text + JSON_BLOCK) << JSON_BLOCK;
		if (len > 2 * JSON_BLOCK)
			return bytes_equal(at, step->text, len);
	}
	return !(differs << (-len & 31));
#else
	return bytes_equal(at, step->text, len);
#endif
}

static uint32_t run_most(const struct json_reader *r, const struct json_doc *doc)
{
	uint32_t tokens = (r->room - r->count) / RUN_TOKENS, places = JSON_PLACES_MAX - doc->place_count;

	return tokens < places ? tokens : places;
}

/* What the loop keeps in registers. */
struct run {
	const char *at;
	struct json_token *t; /* the next token */
	uint32_t *place;      /* the next of doc->places */
	uint32_t index;       /* of the next token */
	bool is_inside;       /* an object was opened, and no member of it was read */
};

/* What it needs only at brackets. */
struct nest {
	struct json_token *tokens;
	const char *begin;
	uint32_t open, depth;
};

/* An object is opened as soon as its bracket is met; where its first member is not read here, it was too early. */
static __attribute__((noinline)) void nest_open(struct nest *nest, const char *at, uint32_t index)
{
	uint32_t start = (uint32_t)(at - nest->begin);

	nest->tokens[index] = (struct json_token){ .start = start, .end = start + 1, .next = nest->open, .kind = JSON_OBJECT };
	nest->open = index;
	nest->depth++;
}

static void nest_unopen(struct nest *nest)
{
	nest->open = nest->tokens[nest->open].next;
	nest->depth--;
}

/* So many brackets from `at` on, in front of token `index`. */
static __attribute__((noinline)) void nest_close(struct nest *nest, const char *at, uint32_t index, unsigned closes)
{
	nest->depth -= closes;
	for (; closes; closes--) {
		struct json_token *t = &nest->tokens[nest->open];

		nest->open = t->next;
		t->next = index;
		t->end = (uint32_t)(++at - nest->begin);
	}
}

static bool nest_may_open(const struct nest *nest, const struct step *step, const char *at)
{
	return nest->depth - step->closes < TRAIL_DEPTH && !step->is_known && at[1] != '}';
}

JSON_ALWAYS_INLINE void put_token(struct json_token *t, uint32_t start, uint32_t end, uint32_t next, uint32_t word)
{
	t->start = start;
	t->end = end;
	t->next = next;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&t->kind, &word, sizeof(word));
#else
	t->kind = (uint8_t)word;
	t->flags = (uint8_t)(word >> 8);
	t->unused = 0;
#endif
}

/* The step's brackets and name; the token that comes now is its value. */
JSON_ALWAYS_INLINE void run_name(struct run *run, struct nest *nest, const struct step *step)
{
	uint32_t name = (uint32_t)(run->at - nest->begin) + step->name_at;

	if (json_unlikely(step->closes))
		nest_close(nest, run->at, run->index, step->closes);
	put_token(run->t, name, name + step->name_len, run->index + 1, WORD_OF(JSON_STRING, 0));
	*run->place++ = run->index + 1;
}

/* A member whose value has no inside. `quote`: 1 where one stands around it. False: it is for others. */
JSON_ALWAYS_INLINE bool run_member(struct run *run, struct nest *nest, const struct step *step, const char *start,
                                   struct ran ran, unsigned quote)
{
	if (json_unlikely(!ran.behind))
		return false;
	run_name(run, nest, step);
	run->index += 2;
	put_token(run->t + 1, (uint32_t)(start - nest->begin), (uint32_t)(ran.behind - nest->begin), run->index, ran.word);
	run->t += 2;
	run->at = ran.behind + quote;
	run->is_inside = false;
	return true;
}

static bool run_object(struct run *run, struct nest *nest, const struct step *step, const char *start)
{
	if (!nest_may_open(nest, step, start))
		return false;
	run_name(run, nest, step);
	nest_open(nest, start, run->index + 1);
	run->index += 2;
	run->t += 2;
	run->at = start;
	run->is_inside = true;
	return true;
}

/* The copy gives the compiler back its registers. */
JSON_ALWAYS_INLINE bool run_nested(struct run *run, struct nest *nest, const struct step *step, const char *start)
{
	struct run copy = *run;

	if (!run_object(&copy, nest, step, start))
		return false;
	*run = copy;
	return true;
}

JSON_ALWAYS_INLINE bool run_value(struct run *run, struct nest *nest, const struct step *step, const char *start,
                                  const char *end)
{
	if (*start == '"')
		return run_member(run, nest, step, start + 1, run_string(start + 1, end), 1);
	if (json_is_digit(*start) || *start == '-')
		return run_member(run, nest, step, start, run_number(start, end), 0);
	if (*start == '{')
		return run_nested(run, nest, step, start);
	return run_member(run, nest, step, start, run_word(start), 0);
}

/* One long function, or its state would go through memory. */
uint32_t json_trail_run(struct json_reader *reader, const struct step *steps, uint32_t node, struct json_doc *doc,
                        bool *is_inside)
{
	const uint32_t most = run_most(reader, doc);

	if (!most) /* so there may be no tokens at all */
		return node;

	const char *const end = reader->end;
	const struct step *step = &steps[node];
	struct nest nest = { reader->tokens, reader->begin, reader->open, reader->depth };
	struct run run = {
		reader->at, reader->tokens + reader->count, doc->places + doc->place_count, reader->count, false,
	};
	uint32_t *const place_end = run.place + most;

	if (*is_inside) {
		nest_open(&nest, run.at, run.index);
		run.index++;
		run.t++;
		run.is_inside = true;
	}
	while (run.place < place_end) {
		const struct step *next = &steps[step->child];
		unsigned len = next->len;
		const char *start = run.at + len;

		/* The start has no text, and is nobody's child. */
		if (end - start < RUN_BYTES || next->opens != run.is_inside || !len || !run_matches(next, run.at, len) ||
		    !run_value(&run, &nest, next, start, end))
			break;
		step = next;
	}
	if (run.is_inside) {
		nest_unopen(&nest);
		run.index--;
	}
	reader->at = run.at;
	reader->count = run.index;
	reader->open = nest.open;
	reader->depth = nest.depth;
	doc->place_count = (uint32_t)(run.place - doc->places);
	*is_inside = run.is_inside;
	return (uint32_t)(step - steps);
}
