/* The two clocks, and a time as text. */
#include "base/clock.h"

#include <stdatomic.h>
#include <time.h>

#define US_PER_SECOND INT64_C(1000000)
#define FIRST_SECOND INT64_C(-62167219200) /* 0000-01-01T00:00:00Z */
#define LAST_SECOND INT64_C(253402300799)  /* 9999-12-31T23:59:59Z */

/* The only state: tests set it, every thread reads it. */
static _Atomic int64_t shift_us;

int64_t clock_utc_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000 + atomic_load(&shift_us);
}

int64_t clock_mono_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void clock_shift_us(int64_t delta_us)
{
	atomic_store(&shift_us, delta_us);
}

/* Writes `width` digits and then `mark`; returns the place behind it. */
static char *digits_put(char *at, int width, int64_t number, char mark)
{
	for (int i = width - 1; i >= 0; i--) {
		at[i] = (char)('0' + number % 10);
		number /= 10;
	}
	at[width] = mark;
	return at + width + 1;
}

/* Years outside 0000 to 9999 do not fit the form; they are shown as its ends. */
static int64_t seconds_fit(int64_t seconds)
{
	if (seconds < FIRST_SECOND)
		return FIRST_SECOND;
	return seconds > LAST_SECOND ? LAST_SECOND : seconds;
}

void clock_text(int64_t utc_us, char out[CLOCK_TEXT_BYTES])
{
	int64_t us = utc_us % US_PER_SECOND;
	int64_t seconds = utc_us / US_PER_SECOND;

	if (us < 0) {
		us += US_PER_SECOND;
		seconds--;
	}

	struct tm tm = { 0 };
	time_t fitting = (time_t)seconds_fit(seconds);

	gmtime_r(&fitting, &tm);
	out = digits_put(out, 4, tm.tm_year + 1900, '-');
	out = digits_put(out, 2, tm.tm_mon + 1, '-');
	out = digits_put(out, 2, tm.tm_mday, 'T');
	out = digits_put(out, 2, tm.tm_hour, ':');
	out = digits_put(out, 2, tm.tm_min, ':');
	out = digits_put(out, 2, tm.tm_sec, '.');
	out = digits_put(out, 6, us, 'Z');
	*out = '\0';
}

void clock_sleep_ms(int64_t ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	while (ms > 0 && nanosleep(&left, &left) != 0)
		continue;
}

void clock_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}
