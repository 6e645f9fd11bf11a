/*
 * Numbers of a job or table that several lists show, by the name that their column has in
 * the filter: lag, replica, in, out, errors, dlq, parked. From objects of `weir status`
 * and `weir tables`, as they are in --json.
 */
#ifndef WEIR_TUI_VIEW_FACTS_H
#define WEIR_TUI_VIEW_FACTS_H

#include "view/console.h"

/* Seconds, a second, a minute (errors) or a count. False: `field` (may be NULL) is none of these, or it is not known. */
bool fact_number(const json_t *thing, const char *field, double *out);
/* As a cell, "-" while it is not known. False: `field` is none of these. */
bool fact_text(const json_t *thing, const char *field, struct text *out);

#endif
