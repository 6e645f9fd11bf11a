/*
 * The calendar, and times as text: printing by tables of two digits, because
 * every row of every table has dates.
 */
#include "record/type_time_private.h"

#define YEAR_DAYS_400 146097u
#define SHIFT_DAYS 719468 /* from 0000-03-01 to 1970-01-01: years that begin in March end with the leap day */

unsigned civil_month_days(int64_t year, unsigned month)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month == 2 && is_leap ? 29 : days[month - 1];
}

int64_t civil_days(const struct civil *c)
{
	int64_t year = c->year - (c->month <= 2);
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	int64_t in_era = year - era * 400;
	int64_t in_year = (153 * (int64_t)(c->month > 2 ? c->month - 3 : c->month + 9) + 2) / 5 + c->day - 1;

	return era * YEAR_DAYS_400 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - SHIFT_DAYS;
}

struct civil civil_from_days(int64_t days)
{
	uint32_t shifted = (uint32_t)(days + SHIFT_DAYS);
	uint32_t era = shifted / YEAR_DAYS_400, in_era = shifted % YEAR_DAYS_400;
	uint32_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	uint32_t in_year = in_era - (365 * year + year / 4 - year / 100);
	uint32_t march = (5 * in_year + 2) / 153;
	struct civil c = { .day = in_year - (153 * march + 2) / 5 + 1, .month = march < 10 ? march + 3 : march - 9 };

	c.year = (int64_t)year + era * 400 + (c.month <= 2);
	return c;
}

static inline char *put_two(unsigned value, char *at)
{
	unsigned tens = value * 103 >> 10; /* of numbers below 100 */

	at[0] = (char)('0' + tens);
	at[1] = (char)('0' + value - 10 * tens);
	return at + 2;
}

char *date_print(int64_t days, char *at)
{
	struct civil c = civil_from_days(days);

	at = put_two((unsigned)c.year / 100, at);
	at = put_two((unsigned)c.year % 100, at);
	*at++ = '-';
	at = put_two(c.month, at);
	*at++ = '-';
	return put_two(c.day, at);
}

char *minutes_print(int64_t us, char *at)
{
	unsigned seconds = (unsigned)(us / 1000000), fraction = (unsigned)(us % 1000000);

	*at++ = ':';
	at = put_two(seconds / 60, at);
	*at++ = ':';
	at = put_two(seconds % 60, at);
	if (!fraction)
		return at;
	*at++ = '.';
	at = put_two(fraction / 10000, at);
	at = put_two(fraction / 100 % 100, at);
	return put_two(fraction % 100, at);
}

char *clock_print(int64_t us, char *at)
{
	return minutes_print(us % HOUR_US, put_two((unsigned)(us / HOUR_US), at));
}

char *time_print(enum bq_kind kind, int64_t number, char *at)
{
	int64_t days = number / DAY_US, us = number % DAY_US;

	if (kind == BQ_DATE)
		return date_print(number, at);
	if (kind == BQ_TIME)
		return clock_print(number, at);
	if (us < 0) {
		us += DAY_US;
		days--;
	}
	at = date_print(days, at);
	*at++ = kind == BQ_DATETIME ? 'T' : ' ';
	at = clock_print(us, at);
	if (kind == BQ_TIMESTAMP) {
		memcpy(at, "+00", 3);
		at += 3;
	}
	return at;
}

enum time_fault time_clamp(enum bq_kind kind, int64_t *number)
{
	int64_t least = kind == BQ_TIME ? 0 : kind == BQ_DATE ? DAYS_LEAST : STAMP_LEAST;
	int64_t most = kind == BQ_TIME ? DAY_US - 1 : kind == BQ_DATE ? DAYS_MOST : STAMP_MOST;

	if (*number < least) {
		*number = least;
		return TIME_BELOW;
	}
	if (*number > most) {
		*number = most;
		return TIME_ABOVE;
	}
	return TIME_FINE;
}

bool time_to_micro(int64_t *number, int64_t unit)
{
	int64_t divisor = unit / 1000000;

	if (unit <= 1000000)
		return !__builtin_mul_overflow(*number, 1000000 / unit, number);
	*number = *number / divisor - (*number % divisor < 0);
	return true;
}
