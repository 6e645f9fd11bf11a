/*
 * What becomes of a stored value when the source gives its column another type: steps
 * over its canonical text, one after the other. "decimal:2" rounds to so many digits,
 * "datetime" gives a date its midnight, "cut:9+trim" is what a CHAR(9) keeps.
 */
#include "sink/cast_private.h"

#define SPEC_BYTES_MAX (64u << 10)

static const struct cast {
	const char *name;
	cast_step *step;
} casts[] = {
	{ "decimal", cast_decimal },   { "rint", cast_rint },       { "int", cast_int },           { "uint", cast_uint },
	{ "double", cast_double },     { "float", cast_float },     { "single", cast_single },     { "gtext", cast_gtext },
	{ "fixed", cast_fixed },       { "truth", cast_truth },     { "year", cast_year },         { "date", cast_date },
	{ "dateup", cast_dateup },     { "datetime", cast_datetime }, { "fraction", cast_fraction }, { "fractionup", cast_fractionup },
	{ "digits", cast_digits },     { "cut", cast_cut },         { "trim", cast_trim },         { "enum", cast_enum },
	{ "set", cast_set },           { "index", cast_index },
};

/* Also what may stand between quotes in SQL. */
bool cast_is_fine(struct span spec)
{
	for (size_t i = 0; i < spec.len; i++) {
		char c = spec.at[i];

		if ((c < '0' || c > '9') && c != ':' && c != '+' && (c < 'a' || c > 'z'))
			return false;
	}
	return spec.len > 0 && spec.len < SPEC_BYTES_MAX;
}

static struct span step_do(struct span step, struct span text, struct arena *arena)
{
	const char *colon = memchr(step.at, ':', step.len);
	struct span name = span_make(step.at, colon ? (size_t)(colon - step.at) : step.len);
	struct span argument = colon ? span_make(colon + 1, step.len - name.len - 1) : SPAN("");

	for (size_t i = 0; i < sizeof(casts) / sizeof(*casts); i++) {
		if (span_is(name, casts[i].name))
			return casts[i].step(text, argument, arena);
	}
	return text;
}

struct span cast_text(struct span spec, struct span text, struct arena *arena)
{
	while (spec.len) {
		const char *plus = memchr(spec.at, '+', spec.len);
		struct span step = span_make(spec.at, plus ? (size_t)(plus - spec.at) : spec.len);

		text = step_do(step, text, arena);
		spec = plus ? span_make(plus + 1, spec.len - step.len - 1) : SPAN("");
	}
	return text;
}
