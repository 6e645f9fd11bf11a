/*
 * Names with places: "cdc_{table}" and the values of one message make "cdc_orders".
 * The rules are those of the original's substitutor: prefix {, suffix }, escape $,
 * a default behind :-, and what is filled in is filled in again.
 */
#ifndef WEIR_TRANSFORM_NAME_TEMPLATE_H
#define WEIR_TRANSFORM_NAME_TEMPLATE_H

#include "base/arena.h"

#define NAME_FILLED_MAX 4096 /* no destination's name is as long */

enum template_fault {
	TEMPLATE_FINE,
	TEMPLATE_LOOP,     /* a value leads back to itself */
	TEMPLATE_TOO_LONG, /* values that grow without end, or beyond every name */
};

struct name_values {
	/* The value of that name; false: there is none. */
	bool (*find)(void *context, struct span name, struct span *out);
	void *context;
};

/* *out_missing: the first place for which there was neither value nor default, and which stands in the result as it is;
 * empty: none. Texts lie in the arena. */
enum template_fault name_template_fill(struct span template, const struct name_values *values, struct arena *arena,
                                       struct span *out, struct span *out_missing);

#endif
