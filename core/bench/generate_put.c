/* Writing numbers and times by hand: a generator on printf would take longer than what it is to measure. */
#include "bench/generate_private.h"

#include <time.h>

char *put(char *at, const char *text)
{
	size_t len = strlen(text);

	memcpy(at, text, len);
	return at + len;
}

char *put_text(char *at, const struct text *text)
{
	memcpy(at, text->at, text->len);
	return at + text->len;
}

char *put_digits(char *at, uint64_t number, int digits)
{
	for (int i = digits - 1; i >= 0; i--) {
		at[i] = (char)('0' + number % 10);
		number /= 10;
	}
	return at + digits;
}

char *put_number(char *at, uint64_t number)
{
	int digits = 1;

	for (uint64_t rest = number / 10; rest; rest /= 10)
		digits++;
	return put_digits(at, number, digits);
}

char *put_utc(char *at, int64_t utc_us)
{
	time_t seconds = (time_t)(utc_us / 1000000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	at = put_digits(at, (uint64_t)tm.tm_year + 1900, 4);
	*at++ = '-';
	at = put_digits(at, (uint64_t)tm.tm_mon + 1, 2);
	*at++ = '-';
	at = put_digits(at, (uint64_t)tm.tm_mday, 2);
	*at++ = 'T';
	at = put_digits(at, (uint64_t)tm.tm_hour, 2);
	*at++ = ':';
	at = put_digits(at, (uint64_t)tm.tm_min, 2);
	*at++ = ':';
	at = put_digits(at, (uint64_t)tm.tm_sec, 2);
	*at++ = '.';
	at = put_digits(at, (uint64_t)(utc_us % 1000000), 6);
	*at++ = 'Z';
	return at;
}
