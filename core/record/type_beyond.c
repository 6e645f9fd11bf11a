/*
 * Values beyond every typed column in a column of text, which holds them all:
 * dates with more digits of year, times of day of any length, the sources' words
 * for infinity. What no source can hold stands as it was written.
 */
#include "record/type_decimal_private.h"
#include "record/type_time_private.h"

#define YEAR_LEAST (-4713) /* PostgreSQL's, and about Oracle's */
#define YEAR_MOST 5874897
#define TEXT_BYTES 48

/* How connectors write infinity where a number is meant (seen with Debezium 3.6.1; spec/types.md 5.3 and 5.4). */
static const struct {
	enum bq_kind kind;
	int64_t unit;
	int64_t number;
	const char *word;
} infinities[] = {
	{ BQ_DATE, 0, INT64_C(-622191234), "infinity" },
	{ BQ_DATE, 0, INT64_C(-2147472691), "-infinity" },
	{ BQ_DATETIME, 1000, INT64_C(9223372036825200), "infinity" },
	{ BQ_DATETIME, 1000, INT64_C(-9223372036832400), "-infinity" },
	{ BQ_DATETIME, 1000000, INT64_C(9223372036825200000), "infinity" },
	{ BQ_DATETIME, 1000000, INT64_C(-9223372036832400000), "-infinity" },
};

/* The same where text is meant. */
static const struct {
	const char *text, *word;
} infinite_texts[] = {
	{ "+292278994-08-16Z", "infinity" },
	{ "-5877611-06-22Z", "-infinity" },
};

static const char *infinity_of(const struct source_type *from, int64_t number)
{
	for (size_t i = 0; i < sizeof(infinities) / sizeof(infinities[0]); i++) {
		if (infinities[i].kind == from->row->kind && infinities[i].number == number &&
		    (!infinities[i].unit || infinities[i].unit == from->row->unit))
			return infinities[i].word;
	}
	return NULL;
}

static char *put_two(int64_t number, char *at)
{
	*at++ = (char)('0' + number / 10 % 10);
	*at++ = (char)('0' + number % 10);
	return at;
}

/* Four digits at least; more of them have a sign, as in ISO 8601. */
static char *put_year(int64_t year, char *at)
{
	int64_t size = year < 0 ? -year : year;

	if (year < 0)
		*at++ = '-';
	else if (year > 9999)
		*at++ = '+';
	for (int64_t least = 1000; least > size && least > 1; least /= 10)
		*at++ = '0';
	return int_print(size, at);
}

static bool put_date(int64_t days, char **at)
{
	const int64_t least = civil_days(&(struct civil){ YEAR_LEAST, 1, 1 });
	struct civil c;

	if (days < least || days > civil_days(&(struct civil){ YEAR_MOST, 12, 31 }))
		return false;
	/* The calendar's own sums are for years from 1 on: it comes again after 400 years. */
	int64_t eras = days < 0 ? 1 + -days / 146097 : 0;

	c = civil_from_days(days + eras * 146097);
	*at = put_year(c.year - eras * 400, *at);
	*(*at)++ = '-';
	*at = put_two(c.month, *at);
	*(*at)++ = '-';
	*at = put_two(c.day, *at);
	return true;
}

static bool put_stamp(int64_t number, int64_t unit, char **at)
{
	int64_t us = number, days, rest;

	if (!time_to_micro(&us, unit))
		return false;
	days = us / DAY_US - (us % DAY_US < 0);
	rest = us % DAY_US + (us % DAY_US < 0 ? DAY_US : 0); /* days times that may not fit */
	if (!put_date(days, at))
		return false;
	*(*at)++ = 'T';
	*at = clock_print(rest, *at);
	return true;
}

/* MySQL's TIME: a sign, and hours without end. */
static bool put_duration(int64_t number, int64_t unit, char **at)
{
	int64_t us = number;

	if (!time_to_micro(&us, unit) || us == INT64_MIN)
		return false;
	if (us < 0)
		*(*at)++ = '-';
	us = us < 0 ? -us : us;
	*at = us < 100 * HOUR_US ? put_two(us / HOUR_US, *at) : int_print(us / HOUR_US, *at);
	*at = minutes_print(us % HOUR_US, *at);
	return true;
}

static bool number_beyond(struct reading *r, uint32_t token, struct cell *out)
{
	const struct type_row *row = r->from->row;
	char *text = arena_bytes(r->arena, TEXT_BYTES), *at = text;
	const char *word;
	int64_t number;
	bool is_told;

	if (!json_is(r->doc, token, JSON_NUMBER) || !json_int64(r->doc, token, &number))
		return false;
	if (row->kind != BQ_TIME && (word = infinity_of(r->from, number))) {
		out->text = span_of(word);
		return true;
	}
	if (row->kind == BQ_DATE)
		is_told = put_date(number, &at);
	else if (row->kind == BQ_TIME)
		is_told = put_duration(number, row->unit, &at);
	else
		is_told = put_stamp(number, row->unit, &at);
	arena_shrink(r->arena, text, TEXT_BYTES, (size_t)(at - text));
	out->text = span_make(text, (size_t)(at - text));
	return is_told;
}

/* Each element as text, those too that would have fitted. */
static bool array_beyond(struct reading *r, uint32_t token, struct cell *out)
{
	const struct bq_type *to = r->to;
	const struct bq_type texts = { .kind = BQ_STRING, .is_array = true };
	enum convert_result result;

	r->to = &texts;
	result = read_array(r, token, out);
	r->to = to;
	out->kind = CELL_TEXT;
	out->number = 0;
	return result == CONVERT_OK;
}

bool reading_beyond(struct reading *r, uint32_t token, struct cell *out)
{
	const struct type_row *row = r->from->row;
	struct span raw = json_is(r->doc, token, JSON_STRING) ? json_text(r->doc, token, r->arena)
	                                                      : json_slice(r->doc, token);

	if (row->read == read_decimal || row->read == read_variable_decimal)
		return false; /* longer than any text of ours */
	*out = (struct cell){ .kind = CELL_TEXT };
	r->got = (struct bq_type){ .kind = BQ_STRING };
	if (row->read == read_array)
		return array_beyond(r, token, out);
	if ((row->read == read_days || row->read == read_clock || row->read == read_stamp) &&
	    number_beyond(r, token, out))
		return true;
	out->text = raw;
	for (size_t i = 0; row->read == read_time_text && i < sizeof(infinite_texts) / sizeof(infinite_texts[0]); i++) {
		if (span_is(raw, infinite_texts[i].text))
			out->text = span_of(infinite_texts[i].word);
	}
	return true;
}
