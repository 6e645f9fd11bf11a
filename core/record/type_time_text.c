/*
 * Times from text: ISO 8601 as Debezium and databases write it, with years of
 * any length, so that a date outside BigQuery's range is told from no date.
 */
#include "record/json_private.h"
#include "record/type_time_private.h"

#define YEAR_DIGITS_MAX 12
#define PLAIN_BAD UINT64_C(0x8080808080808080) /* a byte that does not fit; see pairs_at */

/* What is left of the text. */
struct scan {
	const char *at, *end;
};

static bool scan_char(struct scan *s, const char *any_of)
{
	if (s->at == s->end || !*s->at || !strchr(any_of, *s->at))
		return false;
	s->at++;
	return true;
}

static bool scan_two(struct scan *s, unsigned most, unsigned *out)
{
	unsigned high, low;

	if (s->end - s->at < 2)
		return false;
	high = (unsigned char)s->at[0] - '0';
	low = (unsigned char)s->at[1] - '0';
	if (high > 9 || low > 9 || high * 10 + low > most)
		return false;
	*out = high * 10 + low;
	s->at += 2;
	return true;
}

/* Four digits, or more with or without a sign. */
static bool scan_year(struct scan *s, int64_t *out)
{
	bool is_negative = s->at < s->end && *s->at == '-';
	const char *from;
	int64_t year = 0;

	scan_char(s, "+-");
	from = s->at;
	while (s->at < s->end && *s->at >= '0' && *s->at <= '9' && s->at - from < YEAR_DIGITS_MAX)
		year = year * 10 + (*s->at++ - '0');
	*out = is_negative ? -year : year;
	return s->at - from >= 4;
}

static bool scan_date(struct scan *s, struct civil *out)
{
	if (!scan_year(s, &out->year) || !scan_char(s, "-") || !scan_two(s, 12, &out->month) || !scan_char(s, "-") ||
	    !scan_two(s, 31, &out->day))
		return false;
	return out->month > 0 && out->day > 0 && out->day <= civil_month_days(out->year, out->month);
}

/* Digits behind the sixth are cut off. */
static bool scan_fraction(struct scan *s, int64_t *us)
{
	const char *from;
	int64_t unit = 100000;

	if (!scan_char(s, "."))
		return true;
	for (from = s->at; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++, unit /= 10)
		*us += (*s->at - '0') * unit;
	return s->at > from;
}

/* 24:00:00 is the end of the day, 23:59:60 a leap second: both become the next moment. */
static bool scan_clock(struct scan *s, int64_t *out)
{
	unsigned hour, minute, second = 0;
	int64_t us = 0;

	if (!scan_two(s, 24, &hour) || !scan_char(s, ":") || !scan_two(s, 59, &minute))
		return false;
	if (scan_char(s, ":") && (!scan_two(s, 60, &second) || !scan_fraction(s, &us)))
		return false;
	*out = ((hour * INT64_C(60) + minute) * 60 + second) * 1000000 + (second == 60 ? 0 : us);
	return hour < 24 || *out == DAY_US;
}

/* Z, +01, +01:00, +0100, +01:00:30; nothing is UTC. */
static bool scan_offset(struct scan *s, int64_t *out_us)
{
	unsigned hours = 0, minutes = 0, seconds = 0;
	bool is_negative = s->at < s->end && *s->at == '-';

	*out_us = 0;
	if (scan_char(s, "Zz") || s->at == s->end)
		return true;
	if (!scan_char(s, "+-") || !scan_two(s, 23, &hours))
		return false;
	if (s->at < s->end) {
		scan_char(s, ":");
		if (!scan_two(s, 59, &minutes) || (scan_char(s, ":") && !scan_two(s, 59, &seconds)))
			return false;
	}
	*out_us = ((hours * INT64_C(60) + minutes) * 60 + seconds) * 1000000;
	if (is_negative)
		*out_us = -*out_us;
	return true;
}

static enum time_fault parse_words(enum bq_kind kind, struct span text, int64_t *out)
{
	if (kind == BQ_TIME)
		return TIME_SYNTAX;
	if (span_is(text, "infinity") || span_is(text, "Infinity"))
		*out = INT64_MAX;
	else if (span_is(text, "-infinity") || span_is(text, "-Infinity"))
		*out = INT64_MIN;
	else
		return TIME_SYNTAX;
	return time_clamp(kind, out);
}

static enum time_fault parse_clock(struct scan s, int64_t *out)
{
	int64_t offset, us;

	if (!scan_clock(&s, &us) || !scan_offset(&s, &offset) || s.at != s.end)
		return TIME_SYNTAX;
	us -= offset;
	if (offset) /* a time of day in UTC: the day does not count */
		us = (us % DAY_US + DAY_US) % DAY_US;
	*out = us;
	return time_clamp(BQ_TIME, out);
}

static enum time_fault date_range(int64_t year)
{
	return year < 1 ? TIME_BELOW : year > 9999 ? TIME_ABOVE : TIME_FINE;
}

/* One year outside is kept: an offset may bring it back. */
static enum time_fault parse_stamp(enum bq_kind kind, struct scan s, const struct civil *date, int64_t *out)
{
	int64_t offset, us = 0;

	if (s.at < s.end && (!scan_char(&s, "Tt ") || !scan_clock(&s, &us)))
		return TIME_SYNTAX;
	scan_char(&s, " ");
	if (!scan_offset(&s, &offset) || s.at != s.end)
		return TIME_SYNTAX;
	if (date->year < 0 || date->year > 10000) {
		*out = date->year < 0 ? STAMP_LEAST : STAMP_MOST;
		return date_range(date->year);
	}
	*out = civil_days(date) * DAY_US + us - offset;
	return time_clamp(kind, out);
}

static enum time_fault parse_date(struct scan s, const struct civil *date, int64_t *out)
{
	scan_char(&s, "Zz"); /* io.debezium.time.IsoDate writes one (spec/types.md 4.2) */
	if (s.at != s.end)
		return TIME_SYNTAX;
	*out = date->year < 1 ? DAYS_LEAST : DAYS_MOST;
	if (date_range(date->year) == TIME_FINE)
		*out = civil_days(date);
	return date_range(date->year);
}

enum time_fault time_parse(enum bq_kind kind, struct span text, int64_t *out)
{
	struct scan s = { text.at, text.at + text.len };
	struct civil date;

	if (!text.len)
		return TIME_SYNTAX;
	if (kind == BQ_TIME)
		return parse_clock(s, out);
	if (!scan_date(&s, &date))
		return parse_words(kind, text, out);
	if (kind == BQ_DATE)
		return parse_date(s, &date, out);
	return parse_stamp(kind, s, &date, out);
}

/* Eight bytes as digits and what stands between them: in `shape` '0' is any digit, all else itself. `most` has 0x76 for
 * each digit and 0x7f for the rest; what does not fit shows in *bad. The sum of a digit and the one behind it, as tens and
 * ones, is in the byte of the first. */
static inline uint64_t pairs_at(const char *at, const char shape[9], uint64_t most, uint64_t *bad)
{
	uint64_t text = json_load_bytes(at) ^ json_load_bytes(shape);

	*bad |= (text + most) | text;
	return text * 10 + (text >> 8);
}

static inline unsigned pair_of(uint64_t pairs, unsigned byte)
{
	return pairs >> 8 * byte & 0xff;
}

/* Two digits; what is none of them shows in *bad. */
static inline unsigned two_at(const char *at, uint64_t *bad)
{
	unsigned high = (unsigned char)at[0] - (unsigned)'0', low = (unsigned char)at[1] - (unsigned)'0';

	*bad |= high > 9 || low > 9 ? PLAIN_BAD : 0;
	return high * 10 + low;
}

/* Between the point and the Z, up to nine digits; those behind the sixth are cut off. */
static bool plain_fraction(const char *at, const char *end, int64_t *out)
{
	int64_t us = 0, unit = 100000;

	if (end - at == 6) { /* with its point and Z: eight bytes, as nearly all have */
		uint64_t text = json_load_bytes(at - 1) ^ json_load_bytes(".000000Z");

		*out = (int64_t)json_eight_digits(text >> 8) / 100;
		return !(((text + UINT64_C(0x7f7676767676767f)) | text) & PLAIN_BAD);
	}
	if (at == end || end - at > 9)
		return false;
	for (; at < end; at++, unit /= 10) {
		unsigned digit = (unsigned char)*at - (unsigned)'0';

		if (digit > 9)
			return false;
		us += digit * unit;
	}
	*out = us;
	return true;
}

bool time_parse_plain(struct span text, int64_t *out_us)
{
	const char *at = text.at, *end = text.at + text.len - 1;
	uint64_t bad = 0;
	int64_t us = 0;

	if (text.len < 20 || *end != 'Z' || at[10] != 'T' || (text.len > 20 && at[19] != '.'))
		return false;
	uint64_t month = pairs_at(at, "0000-00-", UINT64_C(0x7f76767f76767676), &bad);
	uint64_t clock = pairs_at(at + 11, "00:00:00", UINT64_C(0x76767f76767f7676), &bad);
	struct civil date = { .year = pair_of(month, 0) * 100 + pair_of(month, 2), .month = pair_of(month, 5),
		.day = two_at(at + 8, &bad) };
	unsigned hour = pair_of(clock, 0), minute = pair_of(clock, 3), second = pair_of(clock, 6);

	if (bad & PLAIN_BAD || !date.year || date.month - 1 > 11 || date.day - 1 > 30 || hour > 23 || minute > 59 ||
	    second > 59 || (date.day > 28 && date.day > civil_month_days(date.year, date.month)) ||
	    (text.len > 20 && !plain_fraction(at + 20, end, &us)))
		return false;
	*out_us = civil_days(&date) * DAY_US + ((hour * INT64_C(60) + minute) * 60 + second) * 1000000 + us;
	return true;
}
