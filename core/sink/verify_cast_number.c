/* Numbers that become others, as the verification does them: over their text, digit by digit. */
#include "sink/verify_cast_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A copy without blanks around it, if it looks like a decimal number. */
static bool numeral(const struct casting *c, long most, char out[TEXT_MAX])
{
	size_t from = 0, to = c->text.len, digits, point;

	while (from < to && c->text.at[from] && strchr(" \t\r\n", c->text.at[from]))
		from++;
	while (from < to && c->text.at[to - 1] && strchr(" \t\r\n", c->text.at[to - 1]))
		to--;
	if (from == to || to - from > 200)
		return false;
	snprintf(out, TEXT_MAX, "%.*s", (int)(to - from), c->text.at + from);
	from = *out == '-' || *out == '+';
	digits = strspn(out + from, "0123456789");
	point = from + digits;
	if (out[point] == '.')
		point += 1 + strspn(out + point + 1, "0123456789");
	if (point == from || (point == from + 1 && !digits))
		return false;
	if (out[point] == 'e' || out[point] == 'E') {
		point += 1 + (out[point + 1] == '-' || out[point + 1] == '+');
		if (labs(cast_argument(out + point)) > most || !strspn(out + point, "0123456789") || strlen(out + point) > 6)
			return false;
		point += strspn(out + point, "0123456789");
	}
	return !out[point] && point == strlen(out);
}

static bool real(const struct casting *c, double *out)
{
	char text[TEXT_MAX];

	if (!numeral(c, 400, text))
		return false;
	*out = strtod(text, NULL);
	return isfinite(*out);
}

/* Without its exponent: the point goes so many digits to the right or left, over zeros. */
static void flatten(char text[TEXT_MAX])
{
	char digits[TEXT_MAX] = "", *e = strpbrk(text, "eE");
	size_t sign = *text == '-' || *text == '+';
	long shift = e ? cast_argument(e + 1) : 0, point;
	bool is_minus = *text == '-';

	if (e)
		*e = '\0';
	point = (long)strcspn(text + sign, ".");
	snprintf(digits, sizeof(digits), "%.*s%s", (int)point, text + sign, text[sign + (size_t)point] ? text + sign + point + 1 : "");
	for (point += shift; point < 1; point++) {
		memmove(digits + 1, digits, strlen(digits) + 1);
		*digits = '0';
	}
	while (point > (long)strlen(digits))
		strncat(digits, "0", 2);
	snprintf(text, TEXT_MAX, "%s%.*s.%.400s", is_minus ? "-" : "", (int)point, digits, digits + point);
}

/* At most so many digits behind the point, raised where the rest is a half or more; at least `least`. */
static void point_text(char text[TEXT_MAX], long most, long least)
{
	size_t sign = *text == '-';
	char *point = strchr(text, '.'), *end;
	long fraction = (long)strlen(point + 1);
	bool is_up = fraction > most && point[1 + most] >= '5';

	if (fraction > most)
		point[1 + most] = '\0';
	for (end = text + strlen(text); is_up && end-- > text + sign;) {
		if (*end == '.')
			continue;
		is_up = *end == '9';
		*end = is_up ? '0' : (char)(*end + 1);
	}
	if (is_up) {
		memmove(text + sign + 1, text + sign, strlen(text + sign) + 1);
		text[sign] = '1';
	}
	while (text[sign] == '0' && text[sign + 1] != '.')
		memmove(text + sign, text + sign + 1, strlen(text + sign));
	for (point = strchr(text, '.'), end = text + strlen(text); end - point - 1 > least && end[-1] == '0';)
		*--end = '\0';
	while (strlen(point + 1) < (size_t)least)
		strncat(text, "0", 2);
	if (!point[1])
		*point = '\0';
	if (sign && strspn(text + 1, "0.") == strlen(text + 1))
		memmove(text, text + 1, strlen(text));
}

void verify_decimal(struct casting *c)
{
	char text[TEXT_MAX];

	if (!numeral(c, 100, text))
		return;
	flatten(text);
	point_text(text, cast_argument(c->argument), 0);
	cast_give(c, text);
}

void verify_fixed(struct casting *c)
{
	char text[TEXT_MAX];

	if (!numeral(c, 100, text))
		return;
	flatten(text);
	point_text(text, TEXT_MAX, cast_argument(c->argument));
	cast_give(c, text);
}

static void shortest(struct casting *c, double number)
{
	char text[40];

	if (number == trunc(number) && fabs(number) < 9.2e18) {
		snprintf(text, sizeof(text), "%.0f", number == 0 ? 0 : number);
	} else {
		for (int digits = 15; digits <= 17; digits++) {
			snprintf(text, sizeof(text), "%.*g", digits, number);
			if (strtod(text, NULL) == number)
				break;
		}
	}
	cast_give(c, text);
}

void verify_double(struct casting *c)
{
	double number;

	if (real(c, &number))
		shortest(c, number);
}

void verify_single(struct casting *c)
{
	double number;

	if (real(c, &number) && isfinite((float)number))
		shortest(c, (double)(float)number);
}

void verify_float(struct casting *c)
{
	char text[40] = "";
	double number;
	int digits = 6;

	if (!real(c, &number) || !isfinite((float)number))
		return;
	do
		snprintf(text, sizeof(text), "%.*g", digits, (double)(float)number);
	while (digits++ < 9 && strtof(text, NULL) != (float)number);
	shortest(c, strtod(text, NULL));
}

void verify_rint(struct casting *c)
{
	double number, low;

	if (!real(c, &number) || fabs(number) >= 9.2e18)
		return;
	low = floor(number);
	number = number - low > 0.5 || (number - low == 0.5 && fmod(low, 2) != 0) ? low + 1 : low;
	cast_give(c, arena_printf(c->arena, "%lld", (long long)number));
}

void verify_gtext(struct casting *c)
{
	char text[TEXT_MAX], plain[TEXT_MAX];
	int most = *c->argument ? (int)cast_argument(c->argument) : 17, digits = most < 15 ? most : 15;
	double number;
	long exponent;
	char *e;

	if (!real(c, &number))
		return;
	do
		snprintf(text, 64, "%.*e", digits - 1, number);
	while (digits++ < most && strtod(text, NULL) != number);
	snprintf(plain, sizeof(plain), "%s", text);
	e = strchr(text, 'e');
	exponent = cast_argument(e + 1);
	*e = '\0';
	if (exponent < 15 && exponent >= -15) {
		flatten(plain);
		point_text(plain, TEXT_MAX, 0);
		cast_give(c, plain);
		return;
	}
	while (strchr(text, '.') && (text[strlen(text) - 1] == '0' || text[strlen(text) - 1] == '.')) {
		bool is_point = text[strlen(text) - 1] == '.';

		text[strlen(text) - 1] = '\0';
		if (is_point)
			break;
	}
	cast_give(c, arena_printf(c->arena, "%s" "e%ld", text, exponent));
}

static bool is_whole(struct span text)
{
	size_t sign = text.len && (*text.at == '-' || *text.at == '+');

	for (size_t i = sign; i < text.len; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
	}
	return text.len > sign;
}

static void clamp(struct casting *c, long double low, long double high, const char *low_text, const char *high_text)
{
	char copy[TEXT_MAX];
	long double number;

	if (!is_whole(c->text) || c->text.len >= TEXT_MAX)
		return;
	snprintf(copy, sizeof(copy), "%.*s", SPAN_ARG(c->text));
	number = strtold(copy, NULL);
	if (number < low || number > high)
		cast_give(c, number < low ? low_text : high_text);
}

void verify_int(struct casting *c)
{
	int bits = (int)cast_argument(c->argument) * 8 - 1;
	uint64_t high = (UINT64_C(1) << bits) - 1;

	clamp(c, -ldexpl(1, bits), ldexpl(1, bits) - 1, arena_printf(c->arena, "-%" PRIu64, high + 1),
	      arena_printf(c->arena, "%" PRIu64, high));
}

void verify_uint(struct casting *c)
{
	int bits = (int)cast_argument(c->argument) * 8;
	uint64_t high = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

	clamp(c, 0, ldexpl(1, bits) - 1, "0", arena_printf(c->arena, "%" PRIu64, high));
}

void verify_truth(struct casting *c)
{
	if (span_is(c->text, "true") || span_is(c->text, "false"))
		cast_give(c, span_is(c->text, "true") ? "1" : "0");
}

void verify_year(struct casting *c)
{
	long year = is_whole(c->text) && c->text.len < 3 && *c->text.at != '+' ? cast_argument(arena_string(c->arena, c->text)) : 0;

	if (year > 0)
		cast_give(c, arena_printf(c->arena, "%ld", year < 70 ? year + 2000 : year + 1900));
}
