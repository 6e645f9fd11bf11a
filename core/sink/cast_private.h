/* Steps of casts, for the rooms that do them: local_cast.c chooses, the others each do a few. A text that a step cannot
 * read it gives back as it is. */
#ifndef WEIR_SINK_CAST_PRIVATE_H
#define WEIR_SINK_CAST_PRIVATE_H

#include "sink/local_private.h"

#define CAST_DIGITS_MAX 200

/* `argument`: what stands behind the step's colon; empty: nothing. */
typedef struct span cast_step(struct span text, struct span argument, struct arena *arena);

/* local_cast_number.c */
cast_step cast_decimal, cast_rint, cast_int, cast_uint, cast_double, cast_float, cast_single, cast_gtext, cast_fixed,
	cast_truth, cast_year;
/* local_cast_time.c */
cast_step cast_date, cast_dateup, cast_datetime, cast_fraction, cast_fractionup, cast_digits;
/* local_cast_list.c */
cast_step cast_cut, cast_trim, cast_enum, cast_set, cast_index;

#endif
