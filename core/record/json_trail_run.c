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

/* With or without a fraction; NULL: looked at by others. */
JSON_ALWAYS_INLINE const char *run_number(const char *at, const char *end, uint8_t *flags)
{
	const char *digits = at + (*at == '-');
	json_mask mask = json_block_no_digit(digits);
	const char *behind = json_likely(mask) ? digits + json_mask_first(mask) : digits_end(digits + JSON_BLOCK, end);

	if (json_unlikely(behind == digits || behind == end || (*digits == '0' && behind - digits > 1)))
		return NULL;
	if (*behind == '.') {
		const char *fraction = behind + 1;

		behind = digits_end(fraction, end);
		if (behind == fraction || behind == end)
			return NULL;
		*flags = JSON_IS_FRACTION;
	}
	return ends_number(*behind) ? behind : NULL;
}

/* From where a string is no longer simple. */
static __attribute__((noinline)) const char *run_string_rest(const char *at, const char *end, uint8_t *flags)
{
	struct json_end ended = json_string_end(at, end);

	*flags |= (uint8_t)ended.flags;
	return ended.fault == JSON_FINE ? ended.at : NULL;
}

/* Text and escapes of one letter are read here; a block and a byte are there. */
JSON_ALWAYS_INLINE const char *run_string(const char *at, const char *end, uint8_t *flags)
{
	do {
		json_mask mask = json_block_special(at);

		if (json_likely(mask)) {
			at += json_mask_first(mask);
			if (json_likely(*at == '"'))
				return at;
			if (*at != '\\' || !json_is_letter_escape(at[1]))
				return run_string_rest(at, end, flags);
			*flags = JSON_HAS_ESCAPES;
			at += 2;
		} else {
			at += JSON_BLOCK;
		}
	} while (end - at > JSON_BLOCK);
	return run_string_rest(at, end, flags);
}

JSON_ALWAYS_INLINE const char *run_word(const char *at, uint8_t *kind)
{
	*kind = *at == 'n' ? JSON_NULL : *at == 't' ? JSON_TRUE : JSON_FALSE;
	if (*at == 'n')
		return memcmp(at, "null", 4) == 0 ? at + 4 : NULL;
	if (*at == 't')
		return memcmp(at, "true", 4) == 0 ? at + 4 : NULL;
	return memcmp(at, "false", 5) == 0 ? at + 5 : NULL;
}

/* Does the step's text come next? Behind it there are RUN_BYTES more, so blocks may be read whole. */
JSON_ALWAYS_INLINE bool run_matches(const struct step *step, const char *at)
{
#if defined(__SSE2__)
	size_t done = 0;

	do {
		__m128i text = _mm_loadu_si128((const __m128i *)(const void *)(step->text + done));
		__m128i block = _mm_loadu_si128((const __m128i *)(const void *)(at + done));
		uint64_t differs = 0xffffu ^ (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(text, block));

		if (differs & ((UINT64_C(1) << (step->len - done)) - 1))
			return false;
		done += JSON_BLOCK;
	} while (done < step->len);
	return true;
#else
	return bytes_equal(at, step->text, step->len);
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
	uint32_t index;       /* its number */
	uint32_t open, depth;
	bool is_inside;       /* an object was opened, and no member of it was read */
};

/* An object is opened as soon as its bracket is met; where its first member is not read here, it was too early. */
JSON_ALWAYS_INLINE void run_open(struct run *run, const char *begin)
{
	uint32_t start = (uint32_t)(run->at - begin);

	*run->t++ = (struct json_token){ .start = start, .end = start + 1, .next = run->open, .kind = JSON_OBJECT };
	run->open = run->index++;
	run->depth++;
	run->is_inside = true;
}

JSON_ALWAYS_INLINE void run_unopen(struct run *run)
{
	run->t--;
	run->open = run->t->next;
	run->index--;
	run->depth--;
}

JSON_ALWAYS_INLINE void run_close(struct run *run, struct json_token *tokens, const char *begin, unsigned closes)
{
	const char *at = run->at;

	run->depth -= closes;
	for (; closes; closes--) {
		struct json_token *t = &tokens[run->open];

		run->open = t->next;
		t->next = run->index;
		t->end = (uint32_t)(++at - begin);
	}
}

JSON_ALWAYS_INLINE bool run_may_open(const struct run *run, const struct step *step, const char *at)
{
	return *at == '{' && run->depth - step->closes < TRAIL_DEPTH && !step->is_known && at[1] != '}';
}

/* One long function, or its state would go through memory. */
uint32_t json_trail_run(struct json_reader *reader, const struct step *steps, uint32_t node, struct json_doc *doc,
                        bool *is_inside)
{
	const uint32_t most = run_most(reader, doc);

	if (!most) /* so there may be no tokens at all */
		return node;

	const char *const begin = reader->begin, *const end = reader->end;
	uint32_t *place = doc->places + doc->place_count, *const place_end = place + most;
	const struct step *step = &steps[node];
	struct run run = {
		reader->at, reader->tokens + reader->count, reader->count, reader->open, reader->depth, false,
	};

	if (*is_inside)
		run_open(&run, begin);
	while (place < place_end) {
		const struct step *next = &steps[step->child];
		const char *start = run.at + next->len, *behind;
		uint32_t name = (uint32_t)(run.at - begin) + next->name_at;
		uint8_t flags = 0, quote = 0;

		if (end - run.at < next->len + RUN_BYTES || next->opens != run.is_inside || !next->len || !run_matches(next, run.at))
			break;
		run.t[1].unused = 0;
		if (*start == '"') {
			behind = run_string(++start, end, &flags);
			run.t[1].kind = JSON_STRING;
			run.t[1].flags = flags;
			quote = 1;
		} else if (json_is_digit(*start) || *start == '-') {
			behind = run_number(start, end, &flags);
			run.t[1].kind = JSON_NUMBER;
			run.t[1].flags = flags;
		} else if (*start == '{') {
			behind = run_may_open(&run, next, start) ? start : NULL;
		} else {
			behind = run_word(start, &run.t[1].kind);
			run.t[1].flags = 0;
		}
		if (!behind)
			break;
		if (json_unlikely(next->closes))
			run_close(&run, reader->tokens, begin, next->closes);
		run.t[0] = (struct json_token){ name, name + next->name_len, ++run.index, JSON_STRING, 0, 0 };
		*place++ = run.index;
		run.t[1].start = (uint32_t)(start - begin);
		run.t[1].end = (uint32_t)(behind - begin);
		step = next;
		run.is_inside = false;
		if (json_unlikely(behind == start && !quote)) {
			run.t++;
			run.at = start;
			run_open(&run, begin);
			continue;
		}
		run.t[1].next = ++run.index;
		run.t += 2;
		run.at = behind + quote;
	}
	if (run.is_inside)
		run_unopen(&run);
	reader->at = run.at;
	reader->count = run.index;
	reader->open = run.open;
	reader->depth = run.depth;
	doc->place_count = (uint32_t)(place - doc->places);
	*is_inside = run.is_inside;
	return (uint32_t)(step - steps);
}
