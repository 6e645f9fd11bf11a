/*
 * Readers of numbers and truth, and how numbers are read and printed without
 * the locale and without losing a digit.
 */
#include "record/type_decimal_private.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static enum convert_result integer_slow(struct reading *r, uint32_t token, const char *code, int64_t *out)
{
	struct span text = json_raw(r->doc, token);
	struct decimal d;

	if (!decimal_parse(text, r->arena, &d) || d.scale > 0)
		return reading_mismatch(r, "a fraction where a whole number is meant");
	if (decimal_int64(&d, out))
		return CONVERT_OK;
	*out = d.is_negative ? INT64_MIN : INT64_MAX;
	return reading_out_of_range(r, code, "a number beyond 64 bits");
}

enum convert_result reading_integer(struct reading *r, uint32_t token, const char *code, int64_t *out)
{
	if (!json_is(r->doc, token, JSON_NUMBER))
		return reading_mismatch(r, "no number where a whole number is meant");
	if (json_int64(r->doc, token, out))
		return CONVERT_OK;
	return integer_slow(r, token, code, out);
}

enum convert_result read_int(struct reading *r, uint32_t token, struct cell *out)
{
	out->kind = CELL_INT;
	return reading_integer(r, token, "integer_out_of_range", &out->number);
}

enum convert_result read_bool(struct reading *r, uint32_t token, struct cell *out)
{
	if (!json_is(r->doc, token, JSON_TRUE) && !json_is(r->doc, token, JSON_FALSE))
		return reading_mismatch(r, "neither true nor false where a boolean is meant");
	out->kind = CELL_INT;
	out->number = json_is(r->doc, token, JSON_TRUE);
	return CONVERT_OK;
}

static const double powers_of_ten[] = {
	1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* Their number; what more than 15 digits make of the sum is of no use to anybody. */
static inline size_t digits_add(struct span text, size_t *at, uint64_t *sum)
{
	size_t from = *at, i = from;

	for (; i < text.len && (unsigned char)(text.at[i] - '0') < 10; i++)
		*sum = *sum * 10 + (uint64_t)(text.at[i] - '0');
	*at = i;
	return i - from;
}

/* At most 15 digits and a power of ten that a double holds exactly: one rounding, so it is the right one. */
bool real_parse_short(struct span text, double *out)
{
	size_t at = text.len && *text.at == '-', digits = 0;
	int64_t exponent = 0, written = 0;
	uint64_t mantissa = 0;
	bool is_exponent_negative = false;

	digits = digits_add(text, &at, &mantissa);
	if (at < text.len && text.at[at] == '.') {
		size_t point = at++;

		digits += digits_add(text, &at, &mantissa);
		exponent = -(int64_t)(at - point - 1);
	}
	if (digits > 15 || (at < text.len && (text.at[at] | 32) != 'e'))
		return false;
	if (at < text.len) {
		at++;
		if (at < text.len && (text.at[at] == '-' || text.at[at] == '+'))
			is_exponent_negative = text.at[at++] == '-';
		if (at == text.len)
			return false;
		for (; at < text.len; at++) {
			if (text.at[at] < '0' || text.at[at] > '9' || written > 99)
				return false;
			written = written * 10 + (text.at[at] - '0');
		}
	}
	exponent += is_exponent_negative ? -written : written;
	if (!digits || exponent < -22 || exponent > 22)
		return false;
	*out = (double)mantissa;
	*out = exponent < 0 ? *out / powers_of_ten[-exponent] : *out * powers_of_ten[exponent];
	if (text.at[0] == '-' && mantissa)
		*out = -*out; /* BigQuery keeps no -0 */
	return true;
}

bool real_parse(struct span text, struct arena *arena, double *out)
{
	const char *allowed = "0123456789+-.eE";
	char *copy, *end;
	double value;

	if (real_parse_short(text, out))
		return true;
	for (size_t i = 0; i < text.len; i++) {
		if (!memchr(allowed, text.at[i], 15))
			return false;
	}
	if (!text.len)
		return false;
	copy = arena_string(arena, text);
	value = strtod_l(copy, &end, newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* a constant of glibc: not to be freed */
	if (*end)
		return false;
	*out = value == 0 ? 0 : value;
	return true;
}

static const struct {
	const char *text;
	double value;
} words[] = {
	{ "NaN", NAN },       { "Infinity", INFINITY }, { "-Infinity", -INFINITY }, { "nan", NAN },
	{ "inf", INFINITY },  { "-inf", -INFINITY },    { "+inf", INFINITY },       { "infinity", INFINITY },
	{ "NAN", NAN },       { "-infinity", -INFINITY },
};

bool real_parse_words(struct span text, double *out)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (span_is(text, words[i].text)) {
			*out = words[i].value;
			return true;
		}
	}
	return false;
}

/* Whatever its exponent: no digit in front of it but zeros. */
static bool is_zero(struct span text)
{
	for (size_t i = 0; i < text.len && (text.at[i] | 32) != 'e'; i++) {
		if (text.at[i] >= '1' && text.at[i] <= '9')
			return false;
	}
	return true;
}

enum convert_result read_real(struct reading *r, uint32_t token, struct cell *out)
{
	struct span text = json_raw(r->doc, token);

	out->kind = CELL_REAL;
	if (json_is(r->doc, token, JSON_STRING)) {
		if (real_parse_words(text, &out->real))
			return CONVERT_OK;
		return reading_mismatch(r, "text that is neither NaN, Infinity nor -Infinity where a number is meant");
	}
	if (!json_is(r->doc, token, JSON_NUMBER) || !real_parse(text, r->arena, &out->real))
		return reading_mismatch(r, "no number where a number is meant");
	if (isinf(out->real)) {
		out->real = copysign(REAL_MOST, out->real);
		return reading_out_of_range(r, "float_out_of_range", "a number beyond 1.8e308");
	}
	if (out->real == 0 && !is_zero(text))
		return reading_out_of_range(r, "float_out_of_range", "a number so small that FLOAT64 holds it as 0");
	out->text = *text.at == '-' && out->real == 0 ? SPAN("0") : text;
	return CONVERT_OK;
}

/* 15 digits are always exact, 17 always enough. */
char *real_print(double number, char *at)
{
	double word;

	if (isnan(number) || isinf(number)) {
		struct span text = isnan(number) ? SPAN("NaN") : number < 0 ? SPAN("-Infinity") : SPAN("Infinity");

		memcpy(at, text.at, text.len);
		return at + text.len;
	}
	if (number == (double)(int64_t)(fabs(number) < 1e15 ? number : 0.5))
		return int_print((int64_t)number, at);
	for (int digits = 15; digits <= 17; digits++) {
		char text[REAL_TEXT_BYTES];
		int len = snprintf(text, sizeof(text), "%.*g", digits, number);

		for (int i = 0; i < len; i++)
			text[i] = text[i] == ',' ? '.' : text[i]; /* the locale's point */
		word = strtod_l(text, NULL, newlocale(LC_ALL_MASK, "C", (locale_t)0));
		memcpy(at, text, (size_t)len);
		if (word == number || digits == 17)
			return at + len;
	}
	return at;
}

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
			    "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
			    "9899";

/* Of a decimal number; the powers grow by tens, so most are found at once. */
static inline unsigned digits_count(uint64_t number)
{
	unsigned count = 1;

	for (; number >= 10000; number /= 10000)
		count += 4;
	return count + (number >= 10) + (number >= 100) + (number >= 1000);
}

char *int_print(int64_t number, char *at)
{
	uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
	char *end, *from;

	if (number < 0)
		*at++ = '-';
	end = from = at + digits_count(left);
	for (; left >= 100; left /= 100)
		memcpy(from -= 2, &pairs[left % 100 * 2], 2);
	if (left >= 10)
		memcpy(from - 2, &pairs[left * 2], 2);
	else
		from[-1] = (char)('0' + left);
	return end;
}
