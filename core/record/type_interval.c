/*
 * Intervals: Debezium's ISO form with a sign on each part, and BigQuery's
 * canonical Y-M D H:M:S[.F].
 */
#include "record/type_time_private.h"

#define MONTHS_MOST INT64_C(120000)
#define DAYS_RANGE INT64_C(3660000)
#define CLOCK_MOST (INT64_C(87840000) * 3600 * 1000000)
#define PART_MAX INT64_C(1000000000000) /* beyond every range */

struct scan {
	const char *at, *end;
};

/* A signed number with an optional fraction (microseconds), then its letter. */
static bool scan_part(struct scan *s, int64_t *whole, int64_t *us, bool *is_negative)
{
	int64_t unit = 100000;
	const char *from;

	*whole = *us = 0;
	*is_negative = s->at < s->end && *s->at == '-';
	s->at += s->at < s->end && (*s->at == '-' || *s->at == '+');
	for (from = s->at; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
		*whole = *whole < PART_MAX ? *whole * 10 + (*s->at - '0') : PART_MAX;
	if (s->at == from)
		return false;
	if (s->at < s->end && *s->at == '.') {
		for (from = ++s->at; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++, unit /= 10)
			*us += (*s->at - '0') * unit;
		return s->at > from;
	}
	return true;
}

static const struct part {
	char letter;
	bool is_clock; /* behind the T */
	enum { MONTHS, DAYS, CLOCK } into;
	int64_t unit;
} parts[] = {
	{ 'Y', false, MONTHS, 12 },
	{ 'M', false, MONTHS, 1 },
	{ 'W', false, DAYS, 7 },
	{ 'D', false, DAYS, 1 },
	{ 'H', true, CLOCK, INT64_C(3600000000) },
	{ 'M', true, CLOCK, INT64_C(60000000) },
	{ 'S', true, CLOCK, INT64_C(1000000) },
};

int64_t interval_add(int64_t sum, int64_t amount, int64_t unit)
{
	int64_t product;

	if (sum == INT64_MAX || sum == INT64_MIN)
		return sum;
	if (__builtin_mul_overflow(amount, unit, &product) || __builtin_add_overflow(sum, product, &sum))
		return amount < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

/* Months, days and microseconds so far. */
struct sums {
	int64_t of[3];
};

static bool add_part(struct sums *sums, char letter, bool is_clock, int64_t whole, int64_t us, bool is_negative)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct part *part = &parts[i];
		int64_t *sum = &sums->of[part->into];

		if (part->letter != letter || part->is_clock != is_clock)
			continue;
		*sum = interval_add(*sum, is_negative ? -whole : whole, part->unit);
		*sum = interval_add(*sum, is_negative ? -us : us, 1);
		return us == 0 || letter == 'S';
	}
	return false;
}

static struct interval sums_take(const struct sums *sums)
{
	return (struct interval){ sums->of[MONTHS], sums->of[DAYS], sums->of[CLOCK] };
}

static enum time_fault parse_iso(struct scan s, struct interval *out)
{
	struct sums sums = { { 0, 0, 0 } };
	bool is_clock = false, is_negative;
	int64_t whole, us;

	if (++s.at == s.end) /* the P */
		return TIME_SYNTAX;
	while (s.at < s.end) {
		if (*s.at == 'T' && !is_clock) {
			is_clock = true;
			s.at++;
			continue;
		}
		if (!scan_part(&s, &whole, &us, &is_negative) || s.at == s.end ||
		    !add_part(&sums, *s.at++, is_clock, whole, us, is_negative))
			return TIME_SYNTAX;
	}
	*out = sums_take(&sums);
	return interval_clamp(out);
}

static bool scan_char(struct scan *s, char c)
{
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

/* "-1-2 3 -4:5:6.78" */
static enum time_fault parse_canonical(struct scan s, struct interval *out)
{
	int64_t part[6], us, none;
	bool months_negative, days_negative, clock_negative, minus;
	struct sums sums = { { 0, 0, 0 } };

	if (!scan_part(&s, &part[0], &none, &months_negative) || none || !scan_char(&s, '-') ||
	    !scan_part(&s, &part[1], &none, &minus) || minus || none || !scan_char(&s, ' ') ||
	    !scan_part(&s, &part[2], &none, &days_negative) || none || !scan_char(&s, ' ') ||
	    !scan_part(&s, &part[3], &none, &clock_negative) || none || !scan_char(&s, ':') ||
	    !scan_part(&s, &part[4], &none, &minus) || minus || none || !scan_char(&s, ':') ||
	    !scan_part(&s, &part[5], &us, &minus) || minus || s.at != s.end)
		return TIME_SYNTAX;
	add_part(&sums, 'Y', false, part[0], 0, months_negative);
	add_part(&sums, 'M', false, part[1], 0, months_negative);
	add_part(&sums, 'D', false, part[2], 0, days_negative);
	add_part(&sums, 'H', true, part[3], 0, clock_negative);
	add_part(&sums, 'M', true, part[4], 0, clock_negative);
	add_part(&sums, 'S', true, part[5], us, clock_negative);
	*out = sums_take(&sums);
	return interval_clamp(out);
}

enum time_fault interval_parse(struct span text, struct interval *out)
{
	struct scan s = { text.at, text.at + text.len };

	if (!text.len)
		return TIME_SYNTAX;
	return *s.at == 'P' ? parse_iso(s, out) : parse_canonical(s, out);
}

static enum time_fault part_clamp(int64_t *part, int64_t most)
{
	enum time_fault fault = *part > most ? TIME_ABOVE : *part < -most ? TIME_BELOW : TIME_FINE;

	if (fault != TIME_FINE)
		*part = fault == TIME_ABOVE ? most : -most;
	return fault;
}

enum time_fault interval_clamp(struct interval *i)
{
	enum time_fault months = part_clamp(&i->months, MONTHS_MOST);
	enum time_fault days = part_clamp(&i->days, DAYS_RANGE);
	enum time_fault clock = part_clamp(&i->us, CLOCK_MOST);

	return months ? months : days ? days : clock;
}

static uint64_t size_of(int64_t part)
{
	return part < 0 ? 0 - (uint64_t)part : (uint64_t)part;
}

static char *print_fraction(unsigned us, char *at)
{
	unsigned unit = 100000;

	if (!us)
		return at;
	*at++ = '.';
	for (; us; us %= unit, unit /= 10)
		*at++ = (char)('0' + us / unit);
	return at;
}

char *interval_print(const struct interval *i, char *at)
{
	uint64_t months = size_of(i->months), us = size_of(i->us), seconds = us / 1000000;

	if (i->months < 0)
		*at++ = '-';
	at = int_print((int64_t)(months / 12), at);
	*at++ = '-';
	at = int_print((int64_t)(months % 12), at);
	*at++ = ' ';
	at = int_print(i->days, at);
	*at++ = ' ';
	if (i->us < 0)
		*at++ = '-';
	at = int_print((int64_t)(seconds / 3600), at);
	*at++ = ':';
	at = int_print((int64_t)(seconds / 60 % 60), at);
	*at++ = ':';
	at = int_print((int64_t)(seconds % 60), at);
	return print_fraction((unsigned)(us % 1000000), at);
}
