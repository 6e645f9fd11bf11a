/* Steps of casts, for the rooms of the verification that do them. */
#ifndef WEIR_SINK_VERIFY_CAST_PRIVATE_H
#define WEIR_SINK_VERIFY_CAST_PRIVATE_H

#include "sink/verify_private.h"

#define TEXT_MAX 512 /* of a number or a time */

struct casting {
	struct arena *arena;
	struct span text;     /* no address: NULL */
	const char *argument; /* behind the step's colon, or "" */
};

typedef void verify_step(struct casting *c);

void cast_give(struct casting *c, const char *text);
long cast_argument(const char *argument);

/* verify_cast_number.c */
verify_step verify_decimal, verify_fixed, verify_double, verify_single, verify_float, verify_rint, verify_gtext, verify_int, verify_uint, verify_truth, verify_year;
/* verify_cast_time.c */
verify_step verify_date, verify_dateup, verify_datetime, verify_fraction, verify_fractionup, verify_digits;

#endif
