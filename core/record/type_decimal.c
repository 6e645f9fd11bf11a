/*
 * Decimal arithmetic of the type table: text and two's complement to digits,
 * digits to plain text, and the ranges of NUMERIC and BIGNUMERIC.
 */
#include "record/type_decimal_private.h"

#define LIMB UINT64_C(1000000000)
#define LIMB_DIGITS 9
#define EXPONENT_MAX INT64_C(1000000000)

static void decimal_trim(struct decimal *d)
{
	while (d->count && *d->digits == '0') {
		d->digits++;
		d->count--;
	}
	while (d->count && d->digits[d->count - 1] == '0') {
		d->count--;
		d->scale--;
	}
	if (!d->count) {
		d->scale = 0;
		d->is_negative = false;
	}
}

static size_t digit_run(struct span text, size_t at)
{
	size_t n = at;

	while (n < text.len && text.at[n] >= '0' && text.at[n] <= '9')
		n++;
	return n - at;
}

/* "e-12" at `at`; absurd exponents stop at EXPONENT_MAX, where no column follows. */
static bool parse_exponent(struct span text, size_t at, int64_t *out)
{
	bool is_negative = false;
	int64_t value = 0;

	*out = 0;
	if (at == text.len)
		return true;
	if ((text.at[at] | 32) != 'e')
		return false;
	at++;
	if (at < text.len && (text.at[at] == '-' || text.at[at] == '+'))
		is_negative = text.at[at++] == '-';
	if (at == text.len || digit_run(text, at) != text.len - at)
		return false;
	for (; at < text.len; at++)
		value = value < EXPONENT_MAX ? value * 10 + (text.at[at] - '0') : EXPONENT_MAX;
	*out = is_negative ? -value : value;
	return true;
}

bool decimal_parse(struct span text, struct arena *arena, struct decimal *out)
{
	size_t sign = text.len && (*text.at == '-' || *text.at == '+');
	size_t whole = digit_run(text, sign), end = sign + whole;
	size_t fraction = end < text.len && text.at[end] == '.' ? digit_run(text, end + 1) : 0;
	struct decimal d = { .is_negative = sign && *text.at == '-' };
	int64_t exponent;
	char *digits;

	if (end < text.len && text.at[end] == '.')
		end += 1 + fraction;
	if (whole + fraction == 0 || !parse_exponent(text, end, &exponent))
		return false;
	digits = arena_bytes(arena, whole + fraction);
	memcpy(digits, text.at + sign, whole);
	if (fraction)
		memcpy(digits + whole, text.at + sign + whole + 1, fraction);
	d.digits = digits;
	d.count = whole + fraction;
	d.scale = (int64_t)fraction - exponent;
	decimal_trim(&d);
	*out = d;
	return true;
}

/* Up to 8 bytes: one machine number. */
static void from_small(struct span bytes, struct arena *arena, struct decimal *d)
{
	uint64_t value = (signed char)*bytes.at < 0 ? UINT64_MAX : 0;
	char *end = arena_bytes(arena, 20) + 20;

	for (size_t i = 0; i < bytes.len; i++)
		value = value << 8 | (unsigned char)bytes.at[i];
	if (d->is_negative)
		value = 0 - value;
	d->count = 0;
	for (; value; value /= 10) {
		*--end = (char)('0' + value % 10);
		d->count++;
	}
	d->digits = end;
}

/* Limbs of nine digits, lowest first; each 32 bits of input multiply them all. */
static size_t limbs_make(struct span bytes, bool is_negative, uint32_t *limbs)
{
	size_t count = 0, head = bytes.len % 4;
	uint64_t borrow = is_negative; /* the magnitude is the complement plus one; added at the end */

	for (size_t i = 0; i < bytes.len;) {
		size_t step = i == 0 && head ? head : 4;
		uint64_t carry = 0;

		for (size_t k = 0; k < step; k++)
			carry = carry << 8 | ((unsigned char)bytes.at[i + k] ^ (is_negative ? 255u : 0u));
		for (size_t k = 0; k < count; k++) {
			carry += (uint64_t)limbs[k] << (8 * step);
			limbs[k] = (uint32_t)(carry % LIMB);
			carry /= LIMB;
		}
		for (; carry; carry /= LIMB)
			limbs[count++] = (uint32_t)(carry % LIMB);
		i += step;
	}
	for (size_t k = 0; borrow; k++) {
		limbs[k] = k < count ? limbs[k] + 1 : 1;
		count = k < count ? count : k + 1;
		borrow = limbs[k] == LIMB;
		limbs[k] = borrow ? 0 : limbs[k];
	}
	return count;
}

static void from_large(struct span bytes, struct arena *arena, struct decimal *d)
{
	uint32_t *limbs = arena_alloc(arena, (bytes.len * 8 / 29 + 3) * sizeof(*limbs));
	size_t count = limbs_make(bytes, d->is_negative, limbs);
	char *digits = arena_bytes(arena, count * LIMB_DIGITS + 1);

	for (size_t i = 0; i < count; i++) {
		uint32_t limb = limbs[count - 1 - i];

		for (size_t k = LIMB_DIGITS; k-- > 0; limb /= 10)
			digits[i * LIMB_DIGITS + k] = (char)('0' + limb % 10);
	}
	d->digits = digits;
	d->count = count * LIMB_DIGITS;
}

bool decimal_from_bytes(struct span bytes, int64_t scale, struct arena *arena, struct decimal *out)
{
	struct decimal d = { .digits = "", .scale = scale };

	if (bytes.len > DECIMAL_BYTES_MAX)
		return false;
	d.is_negative = bytes.len && (signed char)*bytes.at < 0;
	if (bytes.len && bytes.len <= 8)
		from_small(bytes, arena, &d);
	else if (bytes.len)
		from_large(bytes, arena, &d);
	decimal_trim(&d);
	*out = d;
	return true;
}

static char *put_zeros(char *at, int64_t count)
{
	memset(at, '0', (size_t)count);
	return at + count;
}

static char *put(char *at, const char *digits, size_t count)
{
	memcpy(at, digits, count);
	return at + count;
}

/* The longest text: every digit, all zeros between them and the point, sign, "0.". */
static int64_t print_room(const struct decimal *d)
{
	return (int64_t)d->count + (d->scale < 0 ? -d->scale : d->scale) + 3;
}

bool decimal_print(const struct decimal *d, struct arena *arena, struct span *out)
{
	int64_t whole = (int64_t)d->count - d->scale, room = print_room(d);
	char *piece, *at;

	if (room > DECIMAL_TEXT_MAX)
		return false;
	piece = at = arena_bytes(arena, (size_t)room);
	if (d->is_negative)
		*at++ = '-';
	if (!d->count) {
		*at++ = '0';
	} else if (d->scale <= 0) {
		at = put(at, d->digits, d->count);
		at = put_zeros(at, -d->scale);
	} else if (whole > 0) {
		at = put(at, d->digits, (size_t)whole);
		*at++ = '.';
		at = put(at, d->digits + whole, (size_t)d->scale);
	} else {
		at = put(at, "0.", 2);
		at = put_zeros(at, -whole);
		at = put(at, d->digits, d->count);
	}
	arena_shrink(arena, piece, (size_t)room, (size_t)(at - piece));
	*out = span_make(piece, (size_t)(at - piece));
	return true;
}

/* BIGNUMERIC is a 256 bit number of 10^-38: its ends are not all nines. */
#define BIG_MOST "57896044618658097711785492504343953926634992332820282019728792003956564819967"
#define BIG_LEAST "57896044618658097711785492504343953926634992332820282019728792003956564819968"
#define BIG_DIGITS 77

static bool fits_big(const struct decimal *d)
{
	const char *limit = d->is_negative ? BIG_LEAST : BIG_MOST;
	int64_t whole = (int64_t)d->count - d->scale;
	char scaled[BIG_DIGITS];

	if (d->scale > 38 || whole > 39)
		return false;
	if (whole < 39)
		return true;
	memset(scaled, '0', sizeof(scaled));
	memcpy(scaled, d->digits, d->count); /* count <= 39 + 38 */
	return memcmp(scaled, limit, BIG_DIGITS) <= 0;
}

bool decimal_fits(const struct decimal *d, enum bq_kind kind)
{
	if (kind == BQ_BIGNUMERIC)
		return fits_big(d);
	return d->scale <= 9 && (int64_t)d->count - d->scale <= 29;
}

bool decimal_int64(const struct decimal *d, int64_t *out)
{
	uint64_t limit = (uint64_t)INT64_MAX + d->is_negative, value = 0;

	if (d->scale > 0 || (int64_t)d->count - d->scale > 19)
		return false;
	for (size_t i = 0; i < d->count; i++)
		value = value * 10 + (uint64_t)(d->digits[i] - '0');
	for (int64_t i = d->scale; i < 0; i++)
		value *= 10;
	if (value > limit)
		return false;
	*out = d->is_negative ? (int64_t)(0 - value) : (int64_t)value;
	return true;
}
