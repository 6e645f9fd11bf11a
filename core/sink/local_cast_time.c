/* Dates and times that lose or get a part: a fraction of seconds, the time of day. */
#include "sink/cast_private.h"

#include <inttypes.h>

#define DAY_US INT64_C(86400000000)
#define SECOND_US INT64_C(1000000)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Two or more digits at a place; below 0: there are none. */
static int digits_at(struct span text, size_t at, size_t count)
{
	int number = 0;

	if (at + count > text.len)
		return -1;
	for (size_t i = at; i < at + count; i++) {
		if (!is_digit(text.at[i]))
			return -1;
		number = number * 10 + (text.at[i] - '0');
	}
	return number;
}

struct cast_time {
	bool has_date, has_time;
	int year, month, day;
	int64_t us;       /* of the day */
	struct span zone; /* "+00" */
};

static int month_days(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && is_leap);
}

static bool date_read(struct span text, struct cast_time *out)
{
	out->year = digits_at(text, 0, 4);
	out->month = digits_at(text, 5, 2);
	out->day = digits_at(text, 8, 2);
	out->has_date = text.len >= 10 && text.at[4] == '-' && text.at[7] == '-' && out->year >= 0 && out->month >= 1 &&
	                out->month <= 12 && out->day >= 1 && out->day <= month_days(out->year, out->month);
	return out->has_date;
}

/* HH:MM:SS with up to six digits of a fraction, and a zone. */
static bool time_read(struct span text, struct cast_time *out)
{
	int hours = digits_at(text, 0, 2), minutes = digits_at(text, 3, 2), seconds = digits_at(text, 6, 2);
	int64_t scale = SECOND_US / 10;
	size_t at = 8;

	if (text.len < 8 || text.at[2] != ':' || text.at[5] != ':' || hours < 0 || hours > 23 || minutes < 0 || minutes > 59 ||
	    seconds < 0 || seconds > 59)
		return false;
	out->us = ((hours * 60 + minutes) * INT64_C(60) + seconds) * SECOND_US;
	if (at < text.len && text.at[at] == '.') {
		for (at++; at < text.len && is_digit(text.at[at]); at++, scale /= 10)
			out->us += (text.at[at] - '0') * scale;
	}
	out->zone = span_make(text.at + at, text.len - at);
	out->has_time = true;
	return !out->zone.len || span_is(out->zone, "+00");
}

/* A date, a time, or both with a T or a blank between them. */
static bool moment_read(struct span text, struct cast_time *out)
{
	*out = (struct cast_time){ .zone = SPAN("") };
	if (!date_read(text, out))
		return time_read(text, out);
	if (text.len == 10)
		return true;
	return (text.at[10] == 'T' || text.at[10] == ' ') && time_read(span_make(text.at + 11, text.len - 11), out);
}

static void next_day(struct cast_time *m)
{
	m->us -= DAY_US;
	if (++m->day <= month_days(m->year, m->month))
		return;
	m->day = 1;
	if (++m->month > 12) {
		m->month = 1;
		m->year++;
	}
}

static struct span date_text(const struct cast_time *m, struct arena *arena)
{
	return span_of(arena_printf(arena, "%04d-%02d-%02d", m->year, m->month, m->day));
}

/* Dates beyond year 9999, and 24:00:00 as a time of day, are no values here: NULL. */
static struct span moment_text(const struct cast_time *m, struct arena *arena)
{
	int64_t seconds = m->us / SECOND_US, fraction = m->us % SECOND_US;
	const char *date = !m->has_date ? "" : arena_printf(arena, "%04d-%02d-%02d%c", m->year, m->month, m->day, m->zone.len ? ' ' : 'T');
	const char *part = fraction ? arena_printf(arena, ".%06" PRId64, fraction) : "";

	if (m->year > 9999 || m->us >= DAY_US)
		return (struct span){ NULL, 0 };
	return span_of(arena_printf(arena, "%s%02" PRId64 ":%02" PRId64 ":%02" PRId64 "%s%.*s", date, seconds / 3600,
	                            seconds / 60 % 60, seconds % 60, part, SPAN_ARG(m->zone)));
}

static struct span date_of(struct span text, bool is_rounded, struct arena *arena)
{
	struct cast_time m;

	if (!moment_read(text, &m) || !m.has_date || !m.has_time)
		return text;
	if (is_rounded && m.us + SECOND_US / 2 >= DAY_US)
		next_day(&m);
	return m.year > 9999 ? (struct span){ NULL, 0 } : date_text(&m, arena);
}

struct span cast_date(struct span text, struct span argument, struct arena *arena)
{
	(void)argument;
	return date_of(text, false, arena);
}

struct span cast_dateup(struct span text, struct span argument, struct arena *arena)
{
	(void)argument;
	return date_of(text, true, arena);
}

struct span cast_datetime(struct span text, struct span argument, struct arena *arena)
{
	struct cast_time m;

	(void)argument;
	return moment_read(text, &m) && m.has_date ? moment_text(&m, arena) : text;
}

static struct span fraction_of(struct span text, struct span argument, bool is_rounded, struct arena *arena)
{
	struct cast_time m;
	uint64_t digits;
	int64_t unit = SECOND_US;

	if (!span_uint64(argument, &digits) || !moment_read(text, &m) || !m.has_time)
		return text;
	for (uint64_t i = 0; i < digits && unit > 1; i++)
		unit /= 10;
	m.us = (m.us + (is_rounded ? unit / 2 : 0)) / unit * unit;
	if (m.has_date && m.us >= DAY_US)
		next_day(&m);
	return moment_text(&m, arena);
}

struct span cast_fraction(struct span text, struct span argument, struct arena *arena)
{
	return fraction_of(text, argument, false, arena);
}

struct span cast_fractionup(struct span text, struct span argument, struct arena *arena)
{
	return fraction_of(text, argument, true, arena);
}

/* 2020-01-02 as the number 20200102. */
struct span cast_digits(struct span text, struct span argument, struct arena *arena)
{
	struct cast_time m;

	(void)argument;
	if (!moment_read(text, &m) || !m.has_date || m.has_time)
		return text;
	return span_of(arena_printf(arena, "%d", m.year * 10000 + m.month * 100 + m.day));
}
