/*
 * From what the source wrote to a column of another type, where that is exact:
 * a table of pairs. Whatever is not in it is a mismatch.
 */
#include "record/type_decimal_private.h"
#include "record/type_time_private.h"

#include "base/hash.h"

#include <math.h>

#define EXACT_INT (INT64_C(1) << 53) /* doubles hold every integer up to here */

static enum convert_result to_text(struct reading *r, struct cell *cell)
{
	struct span text;

	if (cell->kind == CELL_TEXT)
		return CONVERT_OK;
	cell_text(cell, &r->got, r->arena, &text);
	*cell = (struct cell){ .kind = CELL_TEXT, .text = text };
	return CONVERT_OK;
}

static enum convert_result text_to_json(struct reading *r, struct cell *cell)
{
	return reading_json_text(r, cell_plain(cell, r->arena));
}

/* Numbers and truth are JSON as they stand; NaN is none. */
static enum convert_result scalar_to_json(struct reading *r, struct cell *cell)
{
	if (cell->kind == CELL_REAL && !isfinite(cell->real))
		return reading_mismatch(r, "NaN or infinity where JSON is meant");
	return to_text(r, cell);
}

static enum convert_result text_to_decimal(struct reading *r, struct cell *cell)
{
	struct span text = cell_plain(cell, r->arena);

	*cell = (struct cell){ .kind = CELL_TEXT };
	return reading_decimal_text(r, text, cell);
}

static enum convert_result int_to_decimal(struct reading *r, struct cell *cell)
{
	return to_text(r, cell);
}

/* By the digits that the source wrote, not by the double made of them. */
static enum convert_result real_to_decimal(struct reading *r, struct cell *cell)
{
	struct span text = cell->text;

	if (!text.len)
		cell_text(cell, &r->got, r->arena, &text);
	*cell = (struct cell){ .kind = CELL_TEXT };
	return reading_decimal_text(r, text, cell);
}

static enum convert_result decimal_to_int(struct reading *r, struct cell *cell)
{
	struct decimal d;
	int64_t number;

	if (!decimal_parse(cell_plain(cell, r->arena), r->arena, &d))
		return reading_mismatch(r, "text that is no number where a whole number is meant");
	if (d.scale > 0)
		return reading_mismatch(r, "a fraction where a whole number is meant");
	if (decimal_int64(&d, &number)) {
		*cell = (struct cell){ .kind = CELL_INT, .number = number };
		return CONVERT_OK;
	}
	*cell = (struct cell){ .kind = CELL_INT, .number = d.is_negative ? INT64_MIN : INT64_MAX };
	return reading_out_of_range(r, "integer_out_of_range", "a number beyond 64 bits");
}

/* 15 digits survive the way into a double and back. */
static enum convert_result decimal_to_real(struct reading *r, struct cell *cell)
{
	struct span text = cell_plain(cell, r->arena);
	struct decimal d;
	double number;

	if (!decimal_parse(text, r->arena, &d) || !real_parse(text, r->arena, &number))
		return reading_mismatch(r, "no number where a number is meant");
	if (!isfinite(number) || (d.count && number == 0)) {
		*cell = (struct cell){ .kind = CELL_REAL, .real = number ? copysign(REAL_MOST, number) : 0 };
		return reading_out_of_range(r, "float_out_of_range", "a number beyond 1.8e308");
	}
	if (d.count > 15)
		return reading_mismatch(r, "more than 15 digits, which FLOAT64 cannot hold exactly");
	*cell = (struct cell){ .kind = CELL_REAL, .real = number };
	return CONVERT_OK;
}

/* Text of a number column was a number to begin with: the nearest double is what it means. */
static enum convert_result text_to_real(struct reading *r, struct cell *cell)
{
	struct span text = cell_plain(cell, r->arena);
	double number;

	if (real_parse_words(text, &number)) {
		*cell = (struct cell){ .kind = CELL_REAL, .real = number };
		return CONVERT_OK;
	}
	if (!real_parse(text, r->arena, &number))
		return reading_mismatch(r, "text that is no number where a number is meant");
	*cell = (struct cell){ .kind = CELL_REAL, .real = number };
	if (isfinite(number))
		return CONVERT_OK;
	cell->real = copysign(REAL_MOST, number);
	return reading_out_of_range(r, "float_out_of_range", "a number beyond 1.8e308");
}

static enum convert_result int_to_real(struct reading *r, struct cell *cell)
{
	int64_t number = cell->number;

	if (number > EXACT_INT || number < -EXACT_INT)
		return reading_mismatch(r, "a whole number beyond 2^53, which FLOAT64 cannot hold exactly");
	*cell = (struct cell){ .kind = CELL_REAL, .real = (double)number };
	return CONVERT_OK;
}

static enum convert_result real_to_int(struct reading *r, struct cell *cell)
{
	if (!isfinite(cell->real) || cell->real != floor(cell->real))
		return reading_mismatch(r, "a fraction where a whole number is meant");
	if (cell->text.len) {
		cell->kind = CELL_TEXT;
		return decimal_to_int(r, cell);
	}
	if (fabs(cell->real) > (double)EXACT_INT)
		return reading_mismatch(r, "a number beyond 2^53 where a whole number is meant");
	*cell = (struct cell){ .kind = CELL_INT, .number = (int64_t)cell->real };
	return CONVERT_OK;
}

static enum convert_result int_to_bool(struct reading *r, struct cell *cell)
{
	if (cell->number != 0 && cell->number != 1)
		return reading_mismatch(r, "a number other than 0 and 1 where a boolean is meant");
	return CONVERT_OK;
}

static enum convert_result keep(struct reading *r, struct cell *cell)
{
	(void)r;
	(void)cell;
	return CONVERT_OK;
}

static enum convert_result text_to_bool(struct reading *r, struct cell *cell)
{
	struct span text = cell_plain(cell, r->arena);
	bool is_true = span_is(text, "true") || span_is(text, "t");

	if (!is_true && !span_is(text, "false") && !span_is(text, "f"))
		return reading_mismatch(r, "text that is neither true nor false where a boolean is meant");
	*cell = (struct cell){ .kind = CELL_INT, .number = is_true };
	return CONVERT_OK;
}

static enum convert_result text_to_bytes(struct reading *r, struct cell *cell)
{
	struct span text = cell_plain(cell, r->arena);
	char *bytes = arena_bytes(r->arena, text.len / 4 * 3 + 1);
	size_t len;

	if (!base64_decode(text, bytes, &len))
		return reading_mismatch(r, "text that is no base64 where bytes are meant");
	*cell = (struct cell){ .kind = CELL_BYTES, .text = span_make(bytes, len) };
	return CONVERT_OK;
}

static enum convert_result text_to_time(struct reading *r, struct cell *cell)
{
	struct span text = cell_plain(cell, r->arena);

	*cell = (struct cell){ .kind = CELL_INT };
	return reading_time(r, r->to->kind, time_parse(r->to->kind, text, &cell->number));
}

static enum convert_result text_to_interval(struct reading *r, struct cell *cell)
{
	struct interval interval;
	enum time_fault fault = interval_parse(cell_plain(cell, r->arena), &interval);

	return reading_interval(r, &interval, fault, cell);
}

static enum convert_result date_to_stamp(struct reading *r, struct cell *cell)
{
	(void)r;
	cell->number *= DAY_US;
	return CONVERT_OK;
}

static enum convert_result stamp_to_date(struct reading *r, struct cell *cell)
{
	if (cell->number % DAY_US)
		return reading_mismatch(r, "a time of day where a date alone is meant");
	cell->number /= DAY_US;
	return CONVERT_OK;
}

#define ANY BQ_KINDS

static const struct {
	enum bq_kind from, to;
	enum convert_result (*run)(struct reading *r, struct cell *cell);
} coercions[] = {
	{ ANY, BQ_STRING, to_text },
	{ BQ_STRING, BQ_NUMERIC, text_to_decimal },
	{ BQ_STRING, BQ_BIGNUMERIC, text_to_decimal },
	{ BQ_STRING, BQ_INT64, decimal_to_int },
	{ BQ_STRING, BQ_FLOAT64, text_to_real },
	{ BQ_STRING, BQ_BOOL, text_to_bool },
	{ BQ_STRING, BQ_BYTES, text_to_bytes },
	{ BQ_STRING, BQ_DATE, text_to_time },
	{ BQ_STRING, BQ_TIME, text_to_time },
	{ BQ_STRING, BQ_DATETIME, text_to_time },
	{ BQ_STRING, BQ_TIMESTAMP, text_to_time },
	{ BQ_STRING, BQ_INTERVAL, text_to_interval },
	{ BQ_STRING, BQ_RANGE_DATE, reading_range },
	{ BQ_STRING, BQ_RANGE_DATETIME, reading_range },
	{ BQ_STRING, BQ_RANGE_TIMESTAMP, reading_range },
	{ BQ_STRING, BQ_JSON, text_to_json },
	{ BQ_STRING, BQ_GEOGRAPHY, keep },
	{ BQ_GEOGRAPHY, BQ_GEOGRAPHY, keep },
	{ BQ_INT64, BQ_FLOAT64, int_to_real },
	{ BQ_INT64, BQ_NUMERIC, int_to_decimal },
	{ BQ_INT64, BQ_BIGNUMERIC, int_to_decimal },
	{ BQ_INT64, BQ_BOOL, int_to_bool },
	{ BQ_INT64, BQ_JSON, scalar_to_json },
	{ BQ_BOOL, BQ_INT64, keep },
	{ BQ_BOOL, BQ_JSON, scalar_to_json },
	{ BQ_FLOAT64, BQ_INT64, real_to_int },
	{ BQ_FLOAT64, BQ_NUMERIC, real_to_decimal },
	{ BQ_FLOAT64, BQ_BIGNUMERIC, real_to_decimal },
	{ BQ_FLOAT64, BQ_JSON, scalar_to_json },
	{ BQ_NUMERIC, BQ_BIGNUMERIC, keep },
	{ BQ_BIGNUMERIC, BQ_NUMERIC, text_to_decimal },
	{ BQ_BIGNUMERIC, BQ_INT64, decimal_to_int },
	{ BQ_BIGNUMERIC, BQ_FLOAT64, decimal_to_real },
	{ BQ_BIGNUMERIC, BQ_JSON, scalar_to_json },
	{ BQ_DATE, BQ_DATETIME, date_to_stamp },
	{ BQ_DATE, BQ_TIMESTAMP, date_to_stamp },
	{ BQ_DATETIME, BQ_TIMESTAMP, keep },
	{ BQ_TIMESTAMP, BQ_DATETIME, keep },
	{ BQ_DATETIME, BQ_DATE, stamp_to_date },
	{ BQ_STRUCT, BQ_JSON, to_text },
};

enum convert_result reading_coerce(struct reading *r, struct cell *cell)
{
	enum bq_kind from = r->got.is_array ? BQ_JSON : r->got.kind;

	if (r->to->is_array)
		return reading_mismatch(r, "a single value where an array is meant");
	if (r->got.is_array && r->to->kind == BQ_JSON)
		return to_text(r, cell);
	for (size_t i = 0; i < sizeof(coercions) / sizeof(coercions[0]); i++) {
		if ((coercions[i].from == from || coercions[i].from == ANY) && coercions[i].to == r->to->kind)
			return coercions[i].run(r, cell);
	}
	return reading_mismatch(r, "a value of another kind than the column's");
}
