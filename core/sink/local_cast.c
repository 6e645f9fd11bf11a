/*
 * What becomes of a stored text when the source gives its column another type:
 * "decimal:2" rounds half away from zero to so many digits, "datetime" gives a
 * date its midnight, "date" takes the time of day away. Other texts stay.
 */
#include "sink/local_private.h"

#define DIGITS_MAX 200

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool cast_is_fine(struct span spec)
{
	for (size_t i = 0; i < spec.len; i++) {
		if (!is_digit(spec.at[i]) && spec.at[i] != ':' && (spec.at[i] < 'a' || spec.at[i] > 'z'))
			return false;
	}
	return spec.len > 0 && spec.len < 32;
}

/* Sign, digits before and behind the point. False: no plain decimal. */
static bool decimal_split(struct span text, bool *out_minus, struct span *out_whole, struct span *out_fraction)
{
	size_t at = 0, point;

	*out_minus = text.len && *text.at == '-';
	at += text.len && (*text.at == '-' || *text.at == '+');
	for (point = at; point < text.len && is_digit(text.at[point]); point++)
		;
	*out_whole = span_make(text.at + at, point - at);
	*out_fraction = point < text.len ? span_make(text.at + point + 1, text.len - point - 1) : SPAN("");
	for (size_t i = 0; i < out_fraction->len; i++) {
		if (!is_digit(out_fraction->at[i]))
			return false;
	}
	return text.len < DIGITS_MAX && out_whole->len && (point == text.len || text.at[point] == '.');
}

/* One more in the last place; the first digit is a zero that takes the carry. */
static void digits_raise(char *digits, size_t count)
{
	while (count-- && digits[count] == '9')
		digits[count] = '0';
	digits[count]++;
}

static struct span decimal_round(struct span text, size_t scale, struct arena *arena)
{
	char digits[DIGITS_MAX * 2 + 2] = "0", *out = arena_bytes(arena, DIGITS_MAX * 2 + 4);
	struct span whole, fraction;
	bool is_minus;
	size_t kept, count, len = 0, first = 0;

	if (!decimal_split(text, &is_minus, &whole, &fraction))
		return text;
	kept = fraction.len < scale ? fraction.len : scale;
	memcpy(digits + 1, whole.at, whole.len);
	if (kept)
		memcpy(digits + 1 + whole.len, fraction.at, kept);
	count = 1 + whole.len + kept;
	if (fraction.len > kept && fraction.at[kept] >= '5')
		digits_raise(digits, count);
	while (kept && digits[count - 1] == '0')
		count--, kept--;
	while (first + 1 < count - kept && digits[first] == '0')
		first++;
	if (is_minus && (count - first > 1 || digits[first] != '0'))
		out[len++] = '-';
	for (size_t i = first; i < count; i++) {
		if (i == count - kept)
			out[len++] = '.';
		out[len++] = digits[i];
	}
	return span_make(out, len);
}

static bool is_date(struct span text)
{
	return text.len >= 10 && text.at[4] == '-' && text.at[7] == '-' && is_digit(text.at[0]) && is_digit(text.at[9]);
}

struct span cast_text(struct span spec, struct span text, struct arena *arena)
{
	uint64_t scale;

	if (spec.len > 8 && memcmp(spec.at, "decimal:", 8) == 0 && span_uint64(span_make(spec.at + 8, spec.len - 8), &scale) &&
	    scale <= DIGITS_MAX)
		return decimal_round(text, (size_t)scale, arena);
	if (span_is(spec, "datetime") && is_date(text) && text.len == 10)
		return span_of(arena_printf(arena, "%.*sT00:00:00", SPAN_ARG(text)));
	/* A last second with a fraction belongs to the next day for one server and to this one for another. */
	if (span_is(spec, "date") && is_date(text) && text.len >= 19 && text.at[10] == 'T' &&
	    (text.len == 19 || memcmp(text.at + 11, "23:59:59", 8) != 0))
		return span_make(text.at, 10);
	return text;
}
