/*
 * Times as structs (time.precision.mode=structured): parts that may be missing
 * or null, and specialValue for infinities.
 */
#include "record/type_time_private.h"

enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, NANOS, OFFSET, YEARS, MONTHS, DAYS, HOURS, MINUTES, SECONDS, PARTS };

static const char *const part_names[PARTS] = {
	[YEAR] = "year",     [MONTH] = "month",   [DAY] = "day",     [HOUR] = "hour",   [MINUTE] = "minute",
	[SECOND] = "second", [NANOS] = "nanos",   [OFFSET] = "offsetSeconds", [YEARS] = "years", [MONTHS] = "months",
	[DAYS] = "days",     [HOURS] = "hours",   [MINUTES] = "minutes", [SECONDS] = "seconds",
};

struct parts {
	int64_t of[PARTS];
	bool has[PARTS];
};

/* Bound so that no sum of parts can leave 64 bits unseen. */
#define PART_MAX INT64_C(1000000000000)

static enum convert_result read_parts(struct reading *r, uint32_t object, struct parts *out)
{
	for (size_t i = 0; i < PARTS; i++) {
		uint32_t token = json_member(r->doc, object, span_of(part_names[i]));
		enum convert_result result;

		out->of[i] = 0;
		out->has[i] = token && !json_is(r->doc, token, JSON_NULL);
		if (!out->has[i])
			continue;
		result = reading_integer(r, token, "timestamp_out_of_range", &out->of[i]);
		if (result == CONVERT_MISMATCH)
			return result;
		out->of[i] = out->of[i] > PART_MAX ? PART_MAX : out->of[i] < -PART_MAX ? -PART_MAX : out->of[i];
	}
	return CONVERT_OK;
}

/* Infinity goes beyond the range by the word's sign. */
static bool read_special(struct reading *r, uint32_t object, enum bq_kind kind, struct cell *out)
{
	uint32_t token = json_member(r->doc, object, SPAN("specialValue"));
	struct span word;

	if (!token || !json_is(r->doc, token, JSON_STRING))
		return false;
	word = json_text(r->doc, token, r->arena);
	out->kind = CELL_INT;
	out->number = word.len && (*word.at == '-' || *word.at == 'N' || *word.at == 'n') ? INT64_MIN : INT64_MAX;
	time_clamp(kind, &out->number);
	return true;
}

static bool has_date(const struct parts *p)
{
	return p->has[YEAR] && p->has[MONTH] && p->has[DAY];
}

static enum time_fault make_days(const struct parts *p, int64_t *out)
{
	struct civil date = { p->of[YEAR], (unsigned)p->of[MONTH], (unsigned)p->of[DAY] };

	if (p->of[MONTH] < 1 || p->of[MONTH] > 12 || p->of[DAY] < 1 ||
	    p->of[DAY] > (int64_t)civil_month_days(date.year, date.month))
		return TIME_SYNTAX;
	if (date.year < 1 || date.year > 9999) {
		*out = date.year < 1 ? DAYS_LEAST : DAYS_MOST;
		return date.year < 1 ? TIME_BELOW : TIME_ABOVE;
	}
	*out = civil_days(&date);
	return TIME_FINE;
}

static enum time_fault make_clock(const struct parts *p, int64_t *out)
{
	if (p->of[HOUR] < 0 || p->of[HOUR] > 24 || p->of[MINUTE] < 0 || p->of[MINUTE] > 59 || p->of[SECOND] < 0 ||
	    p->of[SECOND] > 60 || p->of[NANOS] < 0 || p->of[NANOS] > 999999999)
		return TIME_SYNTAX;
	*out = ((p->of[HOUR] * 60 + p->of[MINUTE]) * 60 + p->of[SECOND]) * 1000000 + p->of[NANOS] / 1000;
	return TIME_FINE;
}

static enum time_fault make_time(const struct parts *p, enum bq_kind kind, int64_t *out)
{
	int64_t days = 0, us;
	enum time_fault fault;

	if (kind == BQ_TIME) {
		fault = make_clock(p, out);
		return fault ? fault : time_clamp(kind, out);
	}
	fault = make_days(p, &days);
	if (kind == BQ_DATE || fault == TIME_SYNTAX) {
		*out = days;
		return fault;
	}
	if (make_clock(p, &us) != TIME_FINE)
		return TIME_SYNTAX;
	*out = days * DAY_US + us - p->of[OFFSET] * 1000000;
	if (fault)
		*out = fault == TIME_BELOW ? INT64_MIN : INT64_MAX;
	return time_clamp(kind, out);
}

/* "10:15:30.500000+01:00" */
static enum convert_result zoned_clock(struct reading *r, const struct parts *p, struct cell *out)
{
	int64_t us, offset = p->of[OFFSET] / 60;
	char *text = arena_bytes(r->arena, TIME_TEXT_BYTES), *at;

	if (make_clock(p, &us) != TIME_FINE || offset < -1439 || offset > 1439)
		return reading_mismatch(r, "parts that are no time of day");
	at = clock_print(us, text);
	*at++ = offset < 0 ? '-' : '+';
	offset = offset < 0 ? -offset : offset;
	memcpy(at, (char[]){ (char)('0' + offset / 600), (char)('0' + offset / 60 % 10), ':',
	                     (char)('0' + offset % 60 / 10), (char)('0' + offset % 10) }, 5);
	out->kind = CELL_TEXT;
	out->text = span_make(text, (size_t)(at + 5 - text));
	return CONVERT_OK;
}

static enum convert_result duration(struct reading *r, const struct parts *p, struct cell *out)
{
	struct interval interval = { p->of[YEARS] * 12 + p->of[MONTHS], p->of[DAYS], p->of[NANOS] / 1000 };
	enum time_fault fault;

	interval.us = interval_add(interval.us, p->of[SECONDS], INT64_C(1000000));
	interval.us = interval_add(interval.us, p->of[MINUTES], INT64_C(60000000));
	interval.us = interval_add(interval.us, p->of[HOURS], INT64_C(3600000000));
	fault = interval_clamp(&interval);
	return reading_interval(r, &interval, fault, out);
}

enum convert_result read_structured(struct reading *r, uint32_t token, struct cell *out)
{
	enum bq_kind kind = r->from->row->kind;
	struct parts p;

	if (!json_is(r->doc, token, JSON_OBJECT))
		return reading_mismatch(r, "no object where the parts of a time are meant");
	if (read_parts(r, token, &p) != CONVERT_OK)
		return CONVERT_MISMATCH;
	if (kind == BQ_INTERVAL)
		return duration(r, &p, out);
	if (kind == BQ_STRING)
		return zoned_clock(r, &p, out);
	if (kind != BQ_TIME && read_special(r, token, kind, out))
		return reading_time(r, kind, TIME_ABOVE);
	if (kind != BQ_TIME && !has_date(&p) && r->to->kind == BQ_STRING)
		return read_object(r, token, out); /* an incomplete date stays as it was written */
	if (kind != BQ_TIME && !has_date(&p))
		return reading_mismatch(r, "a date without its year, month or day");
	out->kind = CELL_INT;
	return reading_time(r, kind, make_time(&p, kind, &out->number));
}
