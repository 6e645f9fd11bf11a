/*
 * Readers of times (spec/types.md 4.2). Values outside the column's range come
 * back as the near end and out of range; the caller decides.
 */
#include "record/type_time_private.h"

static const char *const time_codes[BQ_KINDS] = {
	[BQ_DATE] = "date_out_of_range",
	[BQ_TIME] = "time_out_of_range",
	[BQ_DATETIME] = "timestamp_out_of_range",
	[BQ_TIMESTAMP] = "timestamp_out_of_range",
};

static const char *const time_ranges[BQ_KINDS] = {
	[BQ_DATE] = "DATE holds 0001-01-01 to 9999-12-31",
	[BQ_TIME] = "TIME holds 00:00:00 to 23:59:59.999999",
	[BQ_DATETIME] = "DATETIME holds the years 1 to 9999",
	[BQ_TIMESTAMP] = "TIMESTAMP holds the years 1 to 9999",
};

enum convert_result reading_time(struct reading *r, enum bq_kind kind, enum time_fault fault)
{
	if (fault == TIME_FINE)
		return CONVERT_OK;
	if (fault == TIME_SYNTAX)
		return reading_mismatch(r, "text that is no date or time where one is meant");
	return reading_out_of_range(r, time_codes[kind], time_ranges[kind]);
}

enum convert_result reading_interval(struct reading *r, const struct interval *interval, enum time_fault fault,
                                     struct cell *out)
{
	char *text;

	if (fault == TIME_SYNTAX)
		return reading_mismatch(r, "text that is no interval where one is meant");
	text = arena_bytes(r->arena, INTERVAL_TEXT_BYTES);
	*out = (struct cell){ .kind = CELL_TEXT };
	out->text = span_make(text, (size_t)(interval_print(interval, text) - text));
	arena_shrink(r->arena, text, INTERVAL_TEXT_BYTES, out->text.len);
	r->got = (struct bq_type){ .kind = BQ_INTERVAL };
	if (fault == TIME_FINE)
		return CONVERT_OK;
	return reading_out_of_range(r, "interval_out_of_range",
	                            "INTERVAL holds 10,000 years, 3,660,000 days and 87,840,000 hours either way");
}

/* A whole number that may lie beyond 64 bits: then it is far outside any range of times. */
static enum convert_result read_number(struct reading *r, uint32_t token, enum bq_kind kind, int64_t *out)
{
	enum convert_result result = reading_integer(r, token, time_codes[kind], out);

	if (result == CONVERT_OUT_OF_RANGE)
		time_clamp(kind, out);
	return result;
}

enum convert_result read_days(struct reading *r, uint32_t token, struct cell *out)
{
	enum convert_result result = read_number(r, token, BQ_DATE, &out->number);

	out->kind = CELL_INT;
	return result == CONVERT_OK ? reading_time(r, BQ_DATE, time_clamp(BQ_DATE, &out->number)) : result;
}

static enum convert_result read_scaled(struct reading *r, uint32_t token, enum bq_kind kind, struct cell *out)
{
	enum convert_result result = read_number(r, token, kind, &out->number);
	int64_t number = out->number;

	out->kind = CELL_INT;
	if (result != CONVERT_OK)
		return result;
	if (!time_to_micro(&number, r->from->row->unit))
		number = out->number < 0 ? INT64_MIN : INT64_MAX;
	out->number = number;
	return reading_time(r, kind, time_clamp(kind, &out->number));
}

/* ".1234567Z": a digit behind the sixth that is not 0. */
static bool has_seventh_digit(struct span text)
{
	const char *point = text.len ? memchr(text.at, '.', text.len) : NULL;
	const char *end = text.at + text.len;

	for (const char *at = point ? point + 1 : end; at < end && *at >= '0' && *at <= '9'; at++) {
		if (at > point + 6 && *at != '0')
			return true;
	}
	return false;
}

bool source_time_is_cut(const struct source_type *from, const struct json_doc *doc, uint32_t token)
{
	enum bq_kind kind = from->row->kind;
	int64_t number;

	if (from->row->is_array || (kind != BQ_TIME && kind != BQ_DATETIME && kind != BQ_TIMESTAMP))
		return false;
	if (json_is(doc, token, JSON_STRING))
		return has_seventh_digit(json_raw(doc, token));
	return from->row->unit > 1000000 && json_is(doc, token, JSON_NUMBER) && json_int64(doc, token, &number) &&
	       number % (from->row->unit / 1000000);
}

/* All nanoseconds of it, where the owner chose INT64. */
static enum convert_result read_as_written(struct reading *r, uint32_t token, struct cell *out)
{
	r->got = (struct bq_type){ .kind = BQ_INT64 };
	return read_int(r, token, out);
}

enum convert_result read_clock(struct reading *r, uint32_t token, struct cell *out)
{
	/* MySQL's TIME is a duration; a column for it may be INTERVAL. */
	if (r->to->kind == BQ_INTERVAL && !r->to->is_array)
		return read_duration(r, token, out);
	if (r->to->kind == BQ_INT64 && !r->to->is_array)
		return read_as_written(r, token, out);
	return read_scaled(r, token, BQ_TIME, out);
}

enum convert_result read_stamp(struct reading *r, uint32_t token, struct cell *out)
{
	if (r->to->kind == BQ_INT64 && !r->to->is_array)
		return read_as_written(r, token, out);
	return read_scaled(r, token, BQ_DATETIME, out);
}

enum convert_result read_duration(struct reading *r, uint32_t token, struct cell *out)
{
	struct interval interval = { 0, 0, 0 };
	enum convert_result result;
	enum time_fault fault;

	if (r->to->kind != BQ_INTERVAL || r->to->is_array)
		return read_int(r, token, out);
	result = reading_integer(r, token, "interval_out_of_range", &interval.us);
	if (result == CONVERT_MISMATCH)
		return result;
	if (!time_to_micro(&interval.us, r->from->row->unit))
		interval.us = interval.us < 0 ? INT64_MIN : INT64_MAX;
	fault = interval_clamp(&interval);
	return reading_interval(r, &interval, fault, out);
}

enum convert_result read_time_text(struct reading *r, uint32_t token, struct cell *out)
{
	enum bq_kind kind = r->from->row->kind;

	if (!json_is(r->doc, token, JSON_STRING))
		return reading_mismatch(r, "no text where a date or time in text is meant");
	out->kind = CELL_INT;
	return reading_time(r, kind, time_parse(kind, json_text(r->doc, token, r->arena), &out->number));
}

enum convert_result read_interval(struct reading *r, uint32_t token, struct cell *out)
{
	struct interval interval;

	if (!json_is(r->doc, token, JSON_STRING))
		return reading_mismatch(r, "no text where an interval is meant");
	return reading_interval(r, &interval, interval_parse(json_text(r->doc, token, r->arena), &interval), out);
}
