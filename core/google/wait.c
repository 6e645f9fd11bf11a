/* How long to wait: the words in which others ask for it, and our own back-off. */
#include "google/wait.h"

#include <time.h>

#define MS_A_SECOND INT64_C(1000)
#define US_A_MS INT64_C(1000)
#define US_A_SECOND INT64_C(1000000)

static struct span trimmed(struct span text)
{
	while (text.len && (text.at[0] == ' ' || text.at[0] == '\t'))
		text = span_make(text.at + 1, text.len - 1);
	while (text.len && (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\t'))
		text.len--;
	return text;
}

/* Digits at the front; more than fit are the longest wait, not an error. Gives how many there were. */
static size_t read_digits(struct span text, int64_t *out)
{
	int64_t number = 0;
	size_t i = 0;

	for (; i < text.len && text.at[i] >= '0' && text.at[i] <= '9'; i++)
		number = number > WAIT_LONGEST_MS ? number : number * 10 + (text.at[i] - '0');
	*out = number;
	return i;
}

static int64_t within_a_day(int64_t ms)
{
	return ms < 0 ? 0 : ms > WAIT_LONGEST_MS ? WAIT_LONGEST_MS : ms;
}

bool wait_read_retry_after(struct span value, int64_t now_utc_us, int64_t *out_ms)
{
	struct span text = trimmed(value);
	int64_t number;

	if (text.len && read_digits(text, &number) == text.len) {
		*out_ms = within_a_day(number > WAIT_LONGEST_MS / MS_A_SECOND ? WAIT_LONGEST_MS : number * MS_A_SECOND);
		return true;
	}
	if (!wait_read_date(text, now_utc_us, &number))
		return false;
	*out_ms = within_a_day(number * MS_A_SECOND - now_utc_us / US_A_MS);
	return true;
}

bool wait_read_duration(struct span value, int64_t *out_ms)
{
	struct span text = value;
	bool is_negative = text.len && text.at[0] == '-';
	int64_t seconds, fraction = 0, scale = 100;
	size_t digits;

	if (is_negative)
		text = span_make(text.at + 1, text.len - 1);
	digits = read_digits(text, &seconds);
	if (!digits || digits == text.len)
		return false;
	text = span_make(text.at + digits, text.len - digits);
	if (text.at[0] == '.') {
		size_t i = 1;

		for (; i < text.len && text.at[i] >= '0' && text.at[i] <= '9'; i++, scale /= 10)
			fraction += (text.at[i] - '0') * scale;
		if (i == 1)
			return false;
		text = span_make(text.at + i, text.len - i);
	}
	if (!span_is(text, "s"))
		return false;
	if (seconds > WAIT_LONGEST_MS / MS_A_SECOND)
		seconds = WAIT_LONGEST_MS / MS_A_SECOND;
	*out_ms = is_negative ? 0 : within_a_day(seconds * MS_A_SECOND + fraction);
	return true;
}

/*
 * Dates. A pattern stands for one of the three forms: letters as below, all else for itself.
 *   a name of a day, short or long   d two digits of the day   e the day, padded by a blank
 *   b name of the month   Y four digits of the year   y two   H M S two digits each
 */
static const char *const date_patterns[] = { "a, d b Y H:M:S GMT", "a, d-b-y H:M:S GMT", "a b e H:M:S Y" };

static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
static const char *const days[] = { "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday" };

/* Exactly so many digits. */
static bool take_number(struct span *text, size_t digits, int *out)
{
	int64_t number;

	if (text->len < digits || read_digits(span_make(text->at, digits), &number) != digits)
		return false;
	*out = (int)number;
	*text = span_make(text->at + digits, text->len - digits);
	return true;
}

static bool take_padded(struct span *text, int *out)
{
	if (!text->len || text->at[0] != ' ')
		return take_number(text, 2, out);
	*text = span_make(text->at + 1, text->len - 1);
	return take_number(text, 1, out);
}

static bool take_month(struct span *text, int *out)
{
	for (int i = 0; i < 12; i++) {
		if (text->len >= 3 && memcmp(text->at, months[i], 3) == 0) {
			*out = i;
			*text = span_make(text->at + 3, text->len - 3);
			return true;
		}
	}
	return false;
}

/* Which day it was says nothing that the date does not: it only has to be one. */
static bool take_day_name(struct span *text)
{
	size_t len = 0;

	while (len < text->len && ((text->at[len] | 32) >= 'a' && (text->at[len] | 32) <= 'z'))
		len++;
	for (size_t i = 0; i < sizeof(days) / sizeof(days[0]); i++) {
		if ((len == 3 || len == strlen(days[i])) && memcmp(text->at, days[i], len) == 0) {
			*text = span_make(text->at + len, text->len - len);
			return true;
		}
	}
	return false;
}

static bool take_sign(struct span *text, char sign)
{
	if (!text->len || text->at[0] != sign)
		return false;
	*text = span_make(text->at + 1, text->len - 1);
	return true;
}

/* RFC 9110: what would be more than 50 years ahead was meant a hundred years before. */
static int whole_year(int two_digits, int64_t now_utc_us)
{
	time_t now = (time_t)(now_utc_us / US_A_SECOND);
	struct tm utc;
	int year;

	if (!gmtime_r(&now, &utc))
		return 1970 + two_digits;
	year = (utc.tm_year + 1900) / 100 * 100 + two_digits;
	return year > utc.tm_year + 1900 + 50 ? year - 100 : year;
}

static bool take_part(char letter, struct span *text, int64_t now_utc_us, struct tm *date)
{
	switch (letter) {
	case 'a':
		return take_day_name(text);
	case 'b':
		return take_month(text, &date->tm_mon);
	case 'd':
		return take_number(text, 2, &date->tm_mday);
	case 'e':
		return take_padded(text, &date->tm_mday);
	case 'H':
		return take_number(text, 2, &date->tm_hour);
	case 'M':
		return take_number(text, 2, &date->tm_min);
	case 'S':
		return take_number(text, 2, &date->tm_sec);
	case 'Y':
		return take_number(text, 4, &date->tm_year);
	case 'y':
		if (!take_number(text, 2, &date->tm_year))
			return false;
		date->tm_year = whole_year(date->tm_year, now_utc_us);
		return true;
	default:
		return take_sign(text, letter);
	}
}

static int days_of_month(int month, int year)
{
	static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return lengths[month] + (month == 1 && is_leap);
}

static bool date_exists(const struct tm *date)
{
	return date->tm_mday >= 1 && date->tm_mday <= days_of_month(date->tm_mon, date->tm_year) && date->tm_hour < 24 &&
	       date->tm_min < 60 && date->tm_sec <= 60;
}

/* "GMT" of a pattern stands for itself, although it has an M: letters of a word are no parts. */
static bool pattern_fits(const char *pattern, struct span text, int64_t now_utc_us, struct tm *out)
{
	struct tm date = { 0 };

	for (; *pattern; pattern++) {
		if (strcmp(pattern, "GMT") == 0) {
			if (!span_is(text, "GMT"))
				return false;
			text.len = 0;
			break;
		}
		if (!take_part(*pattern, &text, now_utc_us, &date))
			return false;
	}
	if (text.len || !date_exists(&date))
		return false;
	*out = date;
	return true;
}

bool wait_read_date(struct span value, int64_t now_utc_us, int64_t *out_utc_s)
{
	struct span text = trimmed(value);
	struct tm date;

	for (size_t i = 0; i < sizeof(date_patterns) / sizeof(date_patterns[0]); i++) {
		if (!pattern_fits(date_patterns[i], text, now_utc_us, &date))
			continue;
		date.tm_year -= 1900;
		*out_utc_s = (int64_t)timegm(&date);
		return true;
	}
	return false;
}
