/*
 * Quick readers: what nearly every value of a pair of source type and column
 * looks like, and nothing else. Where anything is unusual they say no, and
 * type_convert decides. They never give another answer than it would.
 */
#include "record/type_decimal_private.h"
#include "record/type_time_private.h"

#include "base/hash.h"
#include "record/json_private.h"

#define EXACT_INT (INT64_C(1) << 53)
#define SMALL_BYTES 8   /* of a decimal: one machine number */
#define SMALL_SCALE 9   /* NUMERIC's */
#define SMALL_DIGITS 20

/* Integer digits that fit 64 bits whatever they are. */
static inline bool quick_number(const struct json_doc *doc, const struct json_token *t, int64_t *out)
{
	const char *at = doc->text.at + t->start;
	bool is_negative = *at == '-';
	size_t len = t->end - t->start - is_negative;

	if (t->kind != JSON_NUMBER || t->flags & JSON_IS_FRACTION || len > JSON_DIGITS_SURE)
		return false;
	int64_t number = (int64_t)json_digits(at + is_negative, len);

	*out = is_negative ? -number : number;
	return true;
}

static bool quick_int(const struct type_quick *quick, const struct json_doc *doc, uint32_t token, struct arena *arena,
                      struct cell *out)
{
	int64_t number;

	(void)quick;
	(void)arena;
	/* Beyond 2^53 the column must learn of it. */
	if (!quick_number(doc, &doc->tokens[token], &number) || number > EXACT_INT || number < -EXACT_INT)
		return false;
	*out = (struct cell){ .kind = CELL_INT, .number = number };
	return true;
}

static bool quick_bool(const struct type_quick *quick, const struct json_doc *doc, uint32_t token, struct arena *arena,
                       struct cell *out)
{
	int kind = doc->tokens[token].kind;

	(void)quick;
	(void)arena;
	*out = (struct cell){ .kind = CELL_INT, .number = kind == JSON_TRUE };
	return kind == JSON_TRUE || kind == JSON_FALSE;
}

static bool quick_text(const struct type_quick *quick, const struct json_doc *doc, uint32_t token, struct arena *arena,
                       struct cell *out)
{
	const struct json_token *t = &doc->tokens[token];

	(void)quick;
	(void)arena;
	if (t->kind != JSON_STRING)
		return false;
	*out = (struct cell){ .kind = CELL_TEXT, .is_escaped = true, .is_plain = !(t->flags & JSON_HAS_ESCAPES),
		.text = json_raw(doc, token) };
	return true;
}

/* number: the flags that the number must have, for columns whose type was guessed from fractions. */
static bool quick_real(const struct type_quick *quick, const struct json_doc *doc, uint32_t token, struct arena *arena,
                       struct cell *out)
{
	const struct json_token *t = &doc->tokens[token];
	struct span text = json_raw(doc, token);
	double real;

	(void)arena;
	if (t->kind != JSON_NUMBER || (t->flags & quick->number) != quick->number || !real_parse_short(text, &real) ||
	    real == 0)
		return false;
	*out = (struct cell){ .kind = CELL_REAL, .real = real, .text = text };
	return true;
}

static bool quick_days(const struct type_quick *quick, const struct json_doc *doc, uint32_t token, struct arena *arena,
                       struct cell *out)
{
	int64_t days;

	(void)quick;
	(void)arena;
	if (!quick_number(doc, &doc->tokens[token], &days) || days < DAYS_LEAST || days > DAYS_MOST)
		return false;
	*out = (struct cell){ .kind = CELL_INT, .number = days };
	return true;
}

/* Milliseconds or microseconds; number: how many microseconds in one. */
static bool quick_stamp(const struct type_quick *quick, const struct json_doc *doc, uint32_t token,
                        struct arena *arena, struct cell *out)
{
	int64_t number, least = STAMP_LEAST, most = STAMP_MOST;

	(void)arena;
	if (!quick_number(doc, &doc->tokens[token], &number) || number < least / quick->number ||
	    number > most / quick->number)
		return false;
	*out = (struct cell){ .kind = CELL_INT, .number = number * quick->number };
	return true;
}

static bool quick_time_text(const struct type_quick *quick, const struct json_doc *doc, uint32_t token,
                            struct arena *arena, struct cell *out)
{
	int64_t us;

	(void)quick;
	(void)arena;
	if (doc->tokens[token].kind != JSON_STRING || !time_parse_plain(json_raw(doc, token), &us))
		return false;
	*out = (struct cell){ .kind = CELL_INT, .number = us };
	return true;
}

static bool quick_decimal_text(const struct type_quick *quick, const struct json_doc *doc, uint32_t token,
                               struct arena *arena, struct cell *out)
{
	struct cell cell = { .kind = CELL_TEXT };

	(void)arena;
	if (doc->tokens[token].kind != quick->number || !decimal_is_plain(json_raw(doc, token), &cell.text))
		return false;
	*out = cell;
	return true;
}

/* The digits of `value`, with a point before the last `scale` of them, without zeros at the end. */
static char *put_scaled(uint64_t value, int64_t scale, char *at)
{
	char digits[SMALL_DIGITS + SMALL_SCALE], *end = digits + sizeof(digits), *from = end;

	while (scale && value % 10 == 0 && value) {
		value /= 10;
		scale--;
	}
	for (int64_t i = 0; i < scale; i++, value /= 10)
		*--from = (char)('0' + value % 10);
	at = int_print((int64_t)value, at);
	if (from == end)
		return at;
	*at++ = '.';
	memcpy(at, from, (size_t)(end - from));
	return at + (end - from);
}

/* base64 of a few bytes; number: the scale. Zero and the far ends are left to the slow way. */
static bool quick_decimal(const struct type_quick *quick, const struct json_doc *doc, uint32_t token,
                          struct arena *arena, struct cell *out)
{
	struct span text = json_raw(doc, token);
	char bytes[SMALL_BYTES / 2 * 3];
	size_t len;

	if (doc->tokens[token].kind != JSON_STRING || !text.len || text.len > 12 || !base64_decode(text, bytes, &len) ||
	    len > SMALL_BYTES)
		return false;
	uint64_t value = (signed char)bytes[0] < 0 ? UINT64_MAX : 0;

	for (size_t i = 0; i < len; i++)
		value = value << 8 | (unsigned char)bytes[i];
	if (value == 0 || value == (uint64_t)INT64_MIN)
		return false;
	char *start = arena_bytes(arena, 2 * SMALL_DIGITS), *at = start;

	if (value > INT64_MAX) {
		*at++ = '-';
		value = 0 - value;
	}
	at = put_scaled(value, quick->number, at);
	arena_shrink(arena, start, 2 * SMALL_DIGITS, (size_t)(at - start));
	*out = (struct cell){ .kind = CELL_TEXT, .text = { start, (size_t)(at - start) } };
	return true;
}

static bool is_decimal(enum bq_kind kind)
{
	return kind == BQ_NUMERIC || kind == BQ_BIGNUMERIC;
}

struct type_quick type_quick(const struct source_type *from, const struct bq_type *to)
{
	const struct type_row *row = from->row;
	const struct type_quick none = { NULL, 0 };

	if (to->is_array)
		return none;
	if (row->read == read_decimal && is_decimal(to->kind) && from->scale >= 0 && from->scale <= SMALL_SCALE)
		return (struct type_quick){ quick_decimal, from->scale };
	if (row->read == read_text && is_decimal(to->kind))
		return (struct type_quick){ quick_decimal_text, JSON_STRING };
	if (row->kind != to->kind)
		return none;
	if (row->read == read_text && to->kind == BQ_STRING)
		return (struct type_quick){ quick_text, 0 };
	if (row->read == read_int)
		return (struct type_quick){ quick_int, 0 };
	if (row->read == read_real)
		return (struct type_quick){ quick_real, 0 };
	if (row->read == read_bool)
		return (struct type_quick){ quick_bool, 0 };
	if (row->read == read_days)
		return (struct type_quick){ quick_days, 0 };
	if (row->read == read_stamp && row->unit <= 1000000)
		return (struct type_quick){ quick_stamp, 1000000 / row->unit };
	if (row->read == read_time_text && (to->kind == BQ_TIMESTAMP || to->kind == BQ_DATETIME))
		return (struct type_quick){ quick_time_text, 0 };
	return none;
}

struct type_quick type_quick_untold(const struct bq_type *to)
{
	static const struct type_quick quicks[BQ_KINDS] = {
		[BQ_STRING] = { quick_text, 0 },
		[BQ_INT64] = { quick_int, 0 },
		[BQ_FLOAT64] = { quick_real, JSON_IS_FRACTION },
		[BQ_BOOL] = { quick_bool, 0 },
	};

	return to->is_array ? (struct type_quick){ NULL, 0 } : quicks[to->kind];
}
