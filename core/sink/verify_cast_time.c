/* Dates and times, as the verification does them: seconds of the C library's calendar, and microseconds. */
#include "sink/verify_cast_private.h"

#include <stdio.h>
#include <time.h>

struct clock_text {
	struct tm tm;
	long us;
	bool has_date, has_time, has_zone;
};

/* Signs and blanks, which sscanf would pass over, stand nowhere in a number. */
static bool has_form(const char *text, const char *form)
{
	for (; *form; form++, text++) {
		if (*form == '#' ? *text < '0' || *text > '9' : *text != *form)
			return false;
	}
	return true;
}

static bool day_exists(struct tm day)
{
	int number = day.tm_mday;

	timegm(&day);
	return day.tm_mday == number;
}

static bool clock_read(const struct casting *c, struct clock_text *out)
{
	char text[TEXT_MAX], separator = 0, fraction[8] = "", rest[TEXT_MAX] = "";
	struct tm *tm = &out->tm;
	int used = 0;
	size_t at = 0;

	*out = (struct clock_text){ .tm = { .tm_mday = 1, .tm_year = 70 } };
	if (c->text.len >= 60 || memchr(c->text.at, '\0', c->text.len))
		return false;
	snprintf(text, sizeof(text), "%.*s", SPAN_ARG(c->text));
	if (has_form(text, "####-##-##") && sscanf(text, "%4d-%2d-%2d%n", &tm->tm_year, &tm->tm_mon, &tm->tm_mday, &used) == 3 && used == 10) {
		out->has_date = tm->tm_mon >= 1 && tm->tm_mon <= 12 && tm->tm_mday >= 1 && tm->tm_mday <= 31;
		tm->tm_year -= 1900;
		tm->tm_mon--;
		out->has_date = out->has_date && day_exists(*tm);
		separator = text[10];
		at = separator ? 11 : 10;
		if (!out->has_date || !separator)
			return out->has_date;
	}
	if (separator && separator != 'T' && separator != ' ')
		return false;
	used = 0;
	if (!has_form(text + at, "##:##:##") || sscanf(text + at, "%2d:%2d:%2d%n", &tm->tm_hour, &tm->tm_min, &tm->tm_sec, &used) != 3 ||
	    used != 8 || tm->tm_hour < 0 || tm->tm_hour > 23 || tm->tm_min < 0 || tm->tm_min > 59 || tm->tm_sec < 0 || tm->tm_sec > 59)
		return false;
	at += 8;
	if (text[at] == '.') {
		size_t count = strspn(text + at + 1, "0123456789");

		snprintf(fraction, sizeof(fraction), "%.*s", (int)(count < 6 ? count : 6), text + at + 1);
		out->us = cast_argument(fraction);
		for (size_t i = strlen(fraction); i < 6; i++)
			out->us *= 10;
		at += 1 + count;
	}
	snprintf(rest, sizeof(rest), "%s", text + at);
	out->has_zone = strcmp(rest, "+00") == 0;
	out->has_time = true;
	return !*rest || out->has_zone;
}

static void clock_give(struct casting *c, const struct clock_text *clock, bool has_time)
{
	char date[40] = "", fraction[12] = "";

	if (clock->tm.tm_year > 8099 || (!clock->has_date && clock->tm.tm_mday > 1)) {
		c->text = (struct span){ NULL, 0 };
		return;
	}
	if (clock->has_date)
		snprintf(date, sizeof(date), "%04d-%02d-%02d", clock->tm.tm_year + 1900, clock->tm.tm_mon + 1, clock->tm.tm_mday);
	if (!has_time) {
		cast_give(c, date);
		return;
	}
	if (clock->us)
		snprintf(fraction, sizeof(fraction), ".%06ld", clock->us);
	cast_give(c, arena_printf(c->arena, "%s%s%02d:%02d:%02d%s%s", date, !clock->has_date ? "" : clock->has_zone ? " " : "T",
	                     clock->tm.tm_hour, clock->tm.tm_min, clock->tm.tm_sec, fraction, clock->has_zone ? "+00" : ""));
}

/* To whole units, the half upwards or down. */
static void clock_round(struct clock_text *clock, long unit, bool is_up)
{
	time_t seconds = timegm(&clock->tm);

	clock->us = (clock->us + (is_up ? unit / 2 : 0)) / unit * unit;
	if (clock->us < 1000000)
		return;
	clock->us -= 1000000;
	seconds++;
	gmtime_r(&seconds, &clock->tm);
}

static void cut_date(struct casting *c, bool is_up)
{
	struct clock_text clock;

	if (!clock_read(c, &clock) || !clock.has_date || !clock.has_time)
		return;
	clock_round(&clock, 1000000, is_up);
	clock_give(c, &clock, false);
}

void verify_date(struct casting *c)
{
	cut_date(c, false);
}

void verify_dateup(struct casting *c)
{
	cut_date(c, true);
}

void verify_datetime(struct casting *c)
{
	struct clock_text clock;

	if (clock_read(c, &clock) && clock.has_date)
		clock_give(c, &clock, true);
}

static void cut_fraction(struct casting *c, bool is_up)
{
	struct clock_text clock;
	long unit = 1000000;

	if (!clock_read(c, &clock) || !clock.has_time)
		return;
	for (long i = cast_argument(c->argument); i > 0 && unit > 1; i--)
		unit /= 10;
	clock_round(&clock, unit, is_up);
	clock_give(c, &clock, true);
}

void verify_fraction(struct casting *c)
{
	cut_fraction(c, false);
}

void verify_fractionup(struct casting *c)
{
	cut_fraction(c, true);
}

void verify_digits(struct casting *c)
{
	struct clock_text clock;

	if (clock_read(c, &clock) && clock.has_date && !clock.has_time)
		cast_give(c, arena_printf(c->arena, "%ld", (clock.tm.tm_year + 1900) * 10000L + (clock.tm.tm_mon + 1) * 100 + clock.tm.tm_mday));
}
