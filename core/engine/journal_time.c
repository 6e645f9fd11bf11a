/* Moments as operators type them: a clock time, a day, or how long ago. */
#include "engine/journal_private.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND_US INT64_C(1000000)
#define DAY_S INT64_C(86400)

static const struct unit {
	char letter;
	int64_t seconds;
} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', DAY_S } };

/* "90s", "15m", "2h", "7d" ago. */
static bool read_ago(const char *text, int64_t now_us, int64_t *out_us)
{
	long long number;
	int end = 0;

	if (sscanf(text, "%9lld%n", &number, &end) != 1 || number < 0 || !text[end] || text[end + 1])
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (units[i].letter == text[end]) {
			*out_us = now_us - number * units[i].seconds * SECOND_US;
			return true;
		}
	}
	return false;
}

static bool is_clock(int hour, int minute, int second)
{
	return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60;
}

/* "02:30" or "02:30:15": the last time that the clock stood there. */
static bool read_clock(const char *text, int64_t now_us, int64_t *out_us)
{
	int hour, minute, second = 0, end = 0;
	int64_t day_us = DAY_S * SECOND_US;

	if (sscanf(text, "%2d:%2d%n", &hour, &minute, &end) != 2)
		return false;
	if (text[end] && (sscanf(text + end, ":%2d%n", &second, &(int){ 0 }) != 1 || strlen(text + end) != 3))
		return false;
	if (!is_clock(hour, minute, second))
		return false;
	*out_us = now_us - now_us % day_us + (hour * INT64_C(3600) + minute * 60 + second) * SECOND_US;
	if (*out_us > now_us)
		*out_us -= day_us;
	return true;
}

/* ".123456" behind the seconds. */
static int64_t read_fraction(const char **at)
{
	int64_t us = 0, place = SECOND_US / 10;

	if (**at != '.')
		return 0;
	for ((*at)++; **at >= '0' && **at <= '9'; (*at)++, place /= 10)
		us += (**at - '0') * place;
	return us;
}

/* "2026-11-30", "2026-11-30T02:30", "2026-11-30T02:30:15.5Z"; a blank may stand for the T. */
static bool read_date(const char *text, int64_t *out_us)
{
	int year, month, day, hour = 0, minute = 0, second = 0, end = 0, more = 0;
	struct tm tm;
	const char *at;
	int64_t us;

	if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &end) != 3 || month < 1 || month > 12 || day < 1 ||
	    day > 31)
		return false;
	at = text + end;
	if (*at == 'T' || *at == ' ') {
		if (sscanf(at + 1, "%2d:%2d%n", &hour, &minute, &more) != 2)
			return false;
		at += 1 + more;
		if (sscanf(at, ":%2d%n", &second, &more) == 1)
			at += more;
	}
	us = read_fraction(&at);
	if (strcmp(at, "") != 0 && strcmp(at, "Z") != 0)
		return false;
	if (!is_clock(hour, minute, second))
		return false;
	tm = (struct tm){ .tm_year = year - 1900,
		          .tm_mon = month - 1,
		          .tm_mday = day,
		          .tm_hour = hour,
		          .tm_min = minute,
		          .tm_sec = second };
	*out_us = (int64_t)timegm(&tm) * SECOND_US + us;
	return true;
}

bool journal_time(const char *text, int64_t now_us, int64_t *out_us, struct error *err)
{
	int64_t us;

	if (!read_date(text, &us) && !read_clock(text, now_us, &us) && !read_ago(text, now_us, &us))
		return fail(err, ERROR_USAGE, "bad_argument",
		            "'%.40s' is no time; write 02:30, 2026-11-30, 2026-11-30T02:30:00Z, or 90s, 15m, 2h, 7d for how "
		            "long ago (UTC)",
		            text);
	*out_us = us;
	return true;
}
