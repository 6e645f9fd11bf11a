/*
 * Dates and times as MySQL takes them in a literal: any punctuation between the
 * parts, parts of one digit, years of two, or no punctuation at all. Into the one
 * form that values have.
 */
#include "transform/ddl_private.h"

#include <stdlib.h>

#define PARTS_MAX 6

struct parts {
	unsigned numbers[PARTS_MAX]; /* year, month, day, hour, minute, second */
	size_t digits[PARTS_MAX];
	size_t count;
	struct span fraction;        /* digits behind the point */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static size_t digits_take(struct span text, size_t *at, unsigned *out)
{
	size_t begin = *at;

	for (*out = 0; *at < text.len && is_digit(text.at[*at]) && *at - begin < 9; ++*at)
		*out = *out * 10 + (unsigned)(text.at[*at] - '0');
	return *at - begin;
}

/* Signs between two parts; a letter is none, but for the T in front of the time. */
static bool between_take(struct span text, size_t *at, bool may_be_t)
{
	size_t begin = *at;

	if (may_be_t && *at < text.len && (text.at[*at] == 'T' || text.at[*at] == 't'))
		return ++*at;
	while (*at < text.len && !is_digit(text.at[*at]) && !is_letter(text.at[*at]))
		++*at;
	return *at > begin;
}

/* Behind the seconds: .123456 */
static bool fraction_take(struct span text, size_t *at, struct parts *out)
{
	size_t begin = *at + 1;

	if (*at == text.len)
		return true;
	if (text.at[*at] != '.')
		return false;
	for (++*at; *at < text.len && is_digit(text.at[*at]);)
		++*at;
	out->fraction = span_make(text.at + begin, *at - begin);
	return *at == text.len;
}

/* `t_part`: the part that a T may stand in front of; PARTS_MAX: none. */
static bool parts_read(struct span text, size_t most, size_t t_part, struct parts *out)
{
	size_t at = 0;

	*out = (struct parts){ .fraction = SPAN("") };
	while (out->count < most) {
		size_t i = out->count;

		out->digits[i] = digits_take(text, &at, &out->numbers[i]);
		if (!out->digits[i])
			return false;
		out->count++;
		if (at == text.len || out->count == most)
			break;
		if (!between_take(text, &at, out->count == t_part))
			return false;
	}
	return fraction_take(text, &at, out);
}

static bool is_all_digits(struct span text)
{
	size_t i = 0;

	while (i < text.len && is_digit(text.at[i]))
		i++;
	return i == text.len && i > 0;
}

/* 20200102, 200102030405: parts of two digits, but for a year of four. */
static bool packed_read(struct span text, struct parts *out)
{
	size_t year = text.len == 8 || text.len == 14 ? 4 : 2, at = 0;

	*out = (struct parts){ .fraction = SPAN("") };
	if (text.len != 6 && text.len != 8 && text.len != 12 && text.len != 14)
		return false;
	while (at < text.len) {
		size_t len = out->count ? 2 : year, from = 0;

		digits_take(span_make(text.at + at, len), &from, &out->numbers[out->count]);
		out->digits[out->count++] = len;
		at += len;
	}
	return true;
}

/* A number may have lost the zeros in front of it. */
static struct span number_filled(struct span text, struct arena *arena)
{
	static const size_t lengths[] = { 6, 8, 12, 14 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		if (text.len > lengths[i])
			continue;
		return span_of(arena_printf(arena, "%.*s%.*s", (int)(lengths[i] - text.len), "00000000000000", SPAN_ARG(text)));
	}
	return text;
}

static unsigned year_of(const struct parts *p)
{
	if (p->digits[0] > 2)
		return p->numbers[0];
	return p->numbers[0] + (p->numbers[0] < 70 ? 2000 : 1900);
}

static const char *fraction_of(const struct parts *p, struct arena *arena)
{
	return p->fraction.len ? arena_printf(arena, ".%.*s", SPAN_ARG(p->fraction)) : "";
}

bool ddl_read_date(struct span text, bool has_time, struct arena *arena, struct span *out)
{
	struct parts p;
	bool is_packed = is_all_digits(text);

	if (is_packed)
		text = number_filled(text, arena);
	if (!(is_packed ? packed_read(text, &p) : parts_read(text, PARTS_MAX, 3, &p)) || p.count < 3 || p.digits[0] > 4)
		return false;
	/* All zeros are a zero date, whatever the century. */
	if (!p.numbers[0] && !p.numbers[1] && !p.numbers[2])
		p.digits[0] = 4;
	if (!has_time)
		*out = span_of(arena_printf(arena, "%04u-%02u-%02u", year_of(&p), p.numbers[1], p.numbers[2]));
	else
		*out = span_of(arena_printf(arena, "%04u-%02u-%02uT%02u:%02u:%02u%s", year_of(&p), p.numbers[1], p.numbers[2],
		                            p.numbers[3], p.numbers[4], p.numbers[5], fraction_of(&p, arena)));
	return true;
}

/* hh:mm, hh:mm:ss; digits alone are hhmmss, from the right. */
bool ddl_read_time(struct span text, struct arena *arena, struct span *out)
{
	struct parts p = { .fraction = SPAN("") };
	unsigned number;
	size_t at = 0;

	if (is_all_digits(text) && text.len <= 6) {
		digits_take(text, &at, &number);
		p.numbers[0] = number / 10000;
		p.numbers[1] = number / 100 % 100;
		p.numbers[2] = number % 100;
	} else if (!memchr(text.at, ':', text.len) || !parts_read(text, 3, PARTS_MAX, &p) || p.count < 2) {
		return false;
	}
	*out = span_of(arena_printf(arena, "%02u:%02u:%02u%s", p.numbers[0], p.numbers[1], p.numbers[2], fraction_of(&p, arena)));
	return true;
}
