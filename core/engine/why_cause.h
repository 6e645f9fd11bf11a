/* Why a table is as it is: each sets "code", "sentence", "since", "first" and "next" of an answer of `weir why`. */
#ifndef WEIR_ENGINE_WHY_CAUSE_H
#define WEIR_ENGINE_WHY_CAUSE_H

#include "options/options.h"

#include <jansson.h>

/* Its first dead letter. */
void cause_letter(json_t *answer, const struct job_options *options, const json_t *letter);
/* Somebody has paused it: who wanted it, and how it goes on. */
void cause_paused(json_t *answer, const struct job_options *options, const json_t *paused);
/* Nothing enters it, as its row says ("code", "sentence", "since"): its records are parked. */
void cause_trouble(json_t *answer, const struct job_options *options, const json_t *row);
/* A lost replica (`lost` says why, or is NULL), a name that another table has, or nothing. */
void cause_other(json_t *answer, const struct job_options *options, bool needs, const char *lost, const json_t *row);

#endif
