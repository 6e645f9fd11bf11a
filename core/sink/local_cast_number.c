/* Numbers that become others, or text, as MySQL's fields store each other's values. */
#include "sink/cast_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPONENT_MAX 100      /* of a decimal */
#define REAL_EXPONENT_MAX 400 /* of a double, and more */
#define POINT_MAX 15 /* MySQL writes reals plainly from 1e-15 up to here, beyond with an exponent */
#define WHOLE_MAX 9.2e18

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A plain number as its digits: value = 0.digits * 10^point. */
struct number {
	bool is_minus;
	char digits[CAST_DIGITS_MAX * 2 + 2];
	size_t count;
	long point;
};

static struct span trimmed(struct span text)
{
	while (text.len && strchr(" \t\r\n", text.at[text.len - 1]) && text.at[text.len - 1])
		text.len--;
	while (text.len && strchr(" \t\r\n", *text.at) && *text.at)
		text = span_make(text.at + 1, text.len - 1);
	return text;
}

static bool exponent_read(struct span text, long most, long *out)
{
	char copy[8] = "";
	size_t sign = text.len && (*text.at == '-' || *text.at == '+');

	if (text.len <= sign || text.len >= sizeof(copy))
		return false;
	for (size_t i = sign; i < text.len; i++) {
		if (!is_digit(text.at[i]))
			return false;
	}
	memcpy(copy, text.at, text.len);
	*out = strtol(copy, NULL, 10);
	return labs(*out) <= most;
}

static bool number_read(struct span text, long most, struct number *out)
{
	bool has_point = false;
	long exponent = 0;
	size_t i = 0;

	text = trimmed(text);
	*out = (struct number){ .is_minus = text.len && *text.at == '-' };
	if (!text.len || text.len > CAST_DIGITS_MAX)
		return false;
	i = *text.at == '-' || *text.at == '+';
	for (; i < text.len && (is_digit(text.at[i]) || (text.at[i] == '.' && !has_point)); i++) {
		if (text.at[i] == '.') {
			has_point = true;
			continue;
		}
		out->digits[out->count++] = text.at[i];
		out->point += !has_point;
	}
	if (i < text.len && ((text.at[i] | 0x20) != 'e' || !exponent_read(span_make(text.at + i + 1, text.len - i - 1), most, &exponent)))
		return false;
	out->point += exponent;
	return out->count > 0;
}

/* No zeros in front of the first digit, none behind the last. */
static void number_tidy(struct number *n)
{
	size_t zeros = 0;

	while (n->count && n->digits[n->count - 1] == '0')
		n->count--;
	while (zeros < n->count && n->digits[zeros] == '0')
		zeros++;
	memmove(n->digits, n->digits + zeros, n->count - zeros);
	n->count -= zeros;
	n->point -= (long)zeros;
	if (!n->count)
		*n = (struct number){ 0 };
}

/* Half away from zero, to `scale` digits behind the point. */
static void number_round(struct number *n, size_t scale)
{
	long keep = n->point + (long)scale;
	bool is_up = keep >= 0 && keep < (long)n->count && n->digits[keep] >= '5';

	if (keep >= (long)n->count)
		return;
	n->count = keep > 0 ? (size_t)keep : 0;
	for (size_t i = n->count; is_up && i--;) {
		is_up = n->digits[i] == '9';
		n->digits[i] = is_up ? '0' : (char)(n->digits[i] + 1);
	}
	if (is_up) {
		memmove(n->digits + 1, n->digits, n->count);
		n->digits[0] = '1';
		n->count++;
		n->point++;
	}
}

/* With at least `least` digits behind the point. */
static struct span number_text(const struct number *n, size_t least, struct arena *arena)
{
	long fraction = (long)n->count - n->point > (long)least ? (long)n->count - n->point : (long)least;
	char *out = arena_bytes(arena, n->count + (size_t)labs(n->point) + least + 8);
	size_t len = 0;

	if (n->is_minus)
		out[len++] = '-';
	if (n->point <= 0)
		out[len++] = '0';
	for (long i = 0; i < n->point; i++)
		out[len++] = i < (long)n->count ? n->digits[i] : '0';
	for (long i = n->point; i < n->point + fraction; i++) {
		if (i == n->point)
			out[len++] = '.';
		out[len++] = i >= 0 && i < (long)n->count ? n->digits[i] : '0';
	}
	return span_make(out, len);
}

static size_t argument_number(struct span argument, size_t most)
{
	uint64_t number;

	return span_uint64(argument, &number) && number <= most ? (size_t)number : most;
}

struct span cast_decimal(struct span text, struct span argument, struct arena *arena)
{
	struct number n;

	if (!number_read(text, EXPONENT_MAX, &n))
		return text;
	number_tidy(&n);
	number_round(&n, argument_number(argument, CAST_DIGITS_MAX));
	number_tidy(&n);
	return number_text(&n, 0, arena);
}

struct span cast_fixed(struct span text, struct span argument, struct arena *arena)
{
	struct number n;

	if (!number_read(text, EXPONENT_MAX, &n))
		return text;
	number_tidy(&n);
	return number_text(&n, argument_number(argument, CAST_DIGITS_MAX), arena);
}

/* Sign and digits of a whole number; false: it is none. */
static bool whole_read(struct span text, bool *out_minus, struct span *out_digits)
{
	struct span digits = text;

	*out_minus = text.len && *text.at == '-';
	if (text.len && (*text.at == '-' || *text.at == '+'))
		digits = span_make(text.at + 1, text.len - 1);
	while (digits.len > 1 && *digits.at == '0')
		digits = span_make(digits.at + 1, digits.len - 1);
	for (size_t i = 0; i < digits.len; i++) {
		if (!is_digit(digits.at[i]))
			return false;
	}
	*out_digits = digits;
	return digits.len > 0;
}

/* Its nearest value between -low and high. */
static struct span clamped(struct span text, uint64_t low, uint64_t high, struct arena *arena)
{
	struct span digits;
	bool is_minus;
	uint64_t number, most;

	if (!whole_read(text, &is_minus, &digits))
		return text;
	most = is_minus ? low : high;
	if (span_uint64(digits, &number) && number <= most)
		return text;
	return span_of(arena_printf(arena, "%s%" PRIu64, is_minus && most ? "-" : "", most));
}

static unsigned bits_of(struct span argument)
{
	size_t bytes = argument_number(argument, 8);

	return bytes ? (unsigned)bytes * 8 : 64;
}

struct span cast_int(struct span text, struct span argument, struct arena *arena)
{
	uint64_t low = UINT64_C(1) << (bits_of(argument) - 1);

	return clamped(text, low, low - 1, arena);
}

struct span cast_uint(struct span text, struct span argument, struct arena *arena)
{
	return clamped(text, 0, UINT64_MAX >> (64 - bits_of(argument)), arena);
}

/* Only what is wholly a number. */
static bool real_of(struct span text, struct arena *arena, double *out)
{
	struct number n;
	char *copy = arena_string(arena, trimmed(text));
	char *end;

	if (!number_read(text, REAL_EXPONENT_MAX, &n))
		return false;
	*out = strtod(copy, &end);
	return end > copy && !*end && isfinite(*out);
}

/* Half to even, as the server's C library rounds. */
struct span cast_rint(struct span text, struct span argument, struct arena *arena)
{
	double number;

	(void)argument;
	if (!real_of(text, arena, &number) || fabs(number) >= WHOLE_MAX)
		return text;
	return span_of(arena_printf(arena, "%" PRId64, (int64_t)rint(number)));
}

static struct span real_span(double number, struct arena *arena)
{
	char text[32];
	size_t len = real_text(number, text);

	return arena_copy(arena, span_make(text, len));
}

struct span cast_double(struct span text, struct span argument, struct arena *arena)
{
	double number;

	(void)argument;
	return real_of(text, arena, &number) ? real_span(number, arena) : text;
}

/* The fewest digits that are this number of four bytes and no other. */
struct span cast_float(struct span text, struct span argument, struct arena *arena)
{
	char digits[32];
	double number;

	(void)argument;
	if (!real_of(text, arena, &number) || !isfinite((float)number))
		return text;
	for (int precision = 6; precision <= 9; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, (double)(float)number);
		if (strtof(digits, NULL) == (float)number)
			break;
	}
	return real_span(strtod(digits, NULL), arena);
}

/* As the double that the four bytes are. */
struct span cast_single(struct span text, struct span argument, struct arena *arena)
{
	double number;

	(void)argument;
	if (!real_of(text, arena, &number) || !isfinite((float)number))
		return text;
	return real_span((double)(float)number, arena);
}

/* "1.25e-20" as MySQL writes it: no plus, no zeros in front of the exponent. */
static struct span exponent_text(const struct number *n, struct arena *arena)
{
	return span_of(arena_printf(arena, "%s%c%s%.*se%ld", n->is_minus ? "-" : "", n->digits[0], n->count > 1 ? "." : "",
	                            n->count > 1 ? (int)n->count - 1 : 0, n->digits + 1, n->point - 1));
}

/* With an argument so many digits: a number of four bytes. */
struct span cast_gtext(struct span text, struct span argument, struct arena *arena)
{
	int most = argument.len ? (int)argument_number(argument, 17) : 17;
	char digits[40];
	struct number n;
	double number;

	if (!real_of(text, arena, &number))
		return text;
	for (int precision = most < 15 ? most : 15; precision <= most; precision++) {
		snprintf(digits, sizeof(digits), "%.*e", precision - 1, number);
		if (strtod(digits, NULL) == number)
			break;
	}
	if (!number_read(span_of(digits), REAL_EXPONENT_MAX, &n))
		return text;
	number_tidy(&n);
	if (n.point > POINT_MAX || n.point <= -POINT_MAX)
		return exponent_text(&n, arena);
	return number_text(&n, 0, arena);
}

struct span cast_truth(struct span text, struct span argument, struct arena *arena)
{
	(void)argument, (void)arena;
	if (span_is(text, "true"))
		return SPAN("1");
	return span_is(text, "false") ? SPAN("0") : text;
}

/* 1 to 69 are of this century, 70 to 99 of the last. */
struct span cast_year(struct span text, struct span argument, struct arena *arena)
{
	uint64_t year;

	(void)argument;
	if (text.len > 2 || !span_uint64(text, &year) || !year)
		return text;
	return span_of(arena_printf(arena, "%" PRIu64, year + (year < 70 ? 2000 : 1900)));
}
