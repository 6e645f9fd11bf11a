/* Numbers as the screens write them; see chart.h. */
#include "widget/chart.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void number_text(int64_t number, struct text *out)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);

	if (number < 0)
		text_add_char(out, '-');
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text_add_char(out, ',');
		text_add_char(out, digits[i]);
	}
}

/* 0.4, 940, 6.0k, 12k, 1.2M: one unit up as soon as it would take more than three digits. What is above zero is never
 * written as 0. */
static void scaled(double number, const char *const *units, size_t count, struct text *out)
{
	size_t unit = 0;

	if (isnan(number)) {
		text_add_char(out, '-');
		return;
	}
	while (fabs(number) >= 999.5 && unit + 1 < count) {
		number /= 1000;
		unit++;
	}
	if (fabs(number) >= 999.5)
		text_add_format(out, "%s999%s", number < 0 ? "<-" : ">", units[unit]);
	else if (fabs(number) >= 9.95 || number == 0 || (!unit && fabs(number) >= 0.95))
		text_add_format(out, "%.0f%s", number, units[unit]);
	else
		text_add_format(out, "%.1f%s", fabs(number) < 0.05 ? copysign(0.1, number) : number, units[unit]);
}

void number_short(double number, struct text *out)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P" };

	scaled(number, units, sizeof(units) / sizeof(*units), out);
}

void number_fit(struct text *number, int cols)
{
	int64_t value = 0;

	/* A number without marks is somebody's name: it is typed into commands. */
	if ((int)number->len <= cols || !strchr(number->at, ',') || number->at[strspn(number->at, "0123456789,")])
		return;
	for (const char *at = number->at; *at; at++) {
		if (*at != ',' && __builtin_mul_overflow(value, 10, &value))
			return;
		value += *at == ',' ? 0 : *at - '0';
	}
	text_clear(number);
	number_short((double)value, number);
}

void bytes_rate_text(double bytes_a_second, struct text *out)
{
	static const char *const units[] = { " B/s", " kB/s", " MB/s", " GB/s" };

	scaled(bytes_a_second, units, sizeof(units) / sizeof(*units), out);
}

void duration_text(int64_t ms, struct text *out)
{
	int64_t seconds = ms / 1000, minutes = seconds / 60, hours = minutes / 60;

	if (ms < 0)
		text_add(out, "-");
	else if (ms < 1000)
		text_add_format(out, "0.%" PRId64 "s", ms / 100);
	else if (seconds < 60)
		text_add_format(out, "%" PRId64 "s", seconds);
	else if (minutes < 60)
		text_add_format(out, "%" PRId64 "m%02" PRId64 "s", minutes, seconds % 60);
	else if (hours < 24)
		text_add_format(out, "%" PRId64 "h%02" PRId64 "m", hours, minutes % 60);
	else
		text_add_format(out, "%" PRId64 "d", hours / 24);
}

void age_text(int64_t ms, struct text *out)
{
	int64_t minutes = ms / 60000, hours = minutes / 60;

	/* Five columns hold "9m59s" and "9h59m" and no more. */
	if (ms >= 0 && ms < 1000)
		text_add(out, "0s");
	else if (minutes >= 10 && !hours)
		text_add_format(out, "%" PRId64 "m", minutes);
	else if (hours >= 10 && hours < 24)
		text_add_format(out, "%" PRId64 "h", hours);
	else
		duration_text(ms, out);
}
